//! A control plane of its own, because webhooks and policies are for all of it, and webhooks that allow everything.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use admission::certificates::{Terms, fresh_key};
use admission::keeper::Options;
use admission::listener::{Caps, Listener};
use admission::{Clock, Installation, Keeper, Moment, Serving, Target};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use serde_json::{Value, json};
use testkit::control_plane::{ControlPlane, Identity};
use testkit::manifest;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;
use tower::service_fn;

pub(crate) const NAMESPACE: &str = "zonewright-system";
pub(crate) const SOON: Duration = Duration::from_mins(1);
const RBAC: &str = include_str!("../../../../deploy/rbac.yaml");

/// The machine's time, and what is added to it. Two minutes of it pass in a second for those who wait.
#[derive(Clone)]
pub(crate) struct Time {
    beginning: Instant,
    ahead: Arc<Mutex<Duration>>,
}

impl Time {
    fn new() -> Self {
        Self {
            beginning: Instant::now(),
            ahead: Arc::default(),
        }
    }

    /// The keeper's clock is set forward. API servers verify by the machine's.
    pub(crate) fn set_forward(&self, time: Duration) {
        *self.ahead.lock().unwrap() += time;
    }

    fn clock(&self) -> Clock {
        let time = self.clone();
        Clock::handed_in(move || {
            let now = Timestamp::try_from(SystemTime::now()).unwrap();
            Moment {
                wall: now + *time.ahead.lock().unwrap(),
                running: time.beginning.elapsed(),
            }
        })
    }
}

/// A control plane and somebody to ask.
pub(crate) struct Stage {
    pub(crate) plane: ControlPlane,
    pub(crate) time: Time,
    pub(crate) questions: Arc<AtomicU64>,
    pub(crate) listener: Listener,
    serving: Arc<Serving>,
}

impl Stage {
    pub(crate) async fn open() -> Self {
        let plane = ControlPlane::start().await.unwrap();
        let admin = plane.client(Identity::Admin);
        for object in manifest::read(RBAC).unwrap() {
            manifest::apply(&admin, NAMESPACE, &object).await.unwrap();
        }
        plane.install(&api::crds::all()).await.unwrap();
        let (serving, questions) = (Arc::new(Serving::default()), Arc::new(AtomicU64::new(0)));
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let counted = Arc::clone(&questions);
        let service = service_fn(move |request| {
            counted.fetch_add(1, Ordering::SeqCst);
            allow(request)
        });
        // Connections do not last, so that there are handshakes all the time.
        let caps = Caps {
            age: Duration::from_millis(250),
            ..Caps::default()
        };
        let listener = Listener::start(socket, serving.clone(), service, caps).unwrap();
        Self {
            plane,
            time: Time::new(),
            questions,
            listener,
            serving,
        }
    }

    /// Our keeper, with our rights.
    pub(crate) fn keeper(&self) -> Keeper {
        let options = Options {
            installation: Installation {
                namespace: NAMESPACE.to_owned(),
                user: Identity::ServiceAccount.user().to_owned(),
                target: Target::Url(format!("https://{}", self.listener.address())),
                ingresses: true,
            },
            terms: Terms {
                // Clocks are set forward by years here, and the API server's is not.
                backdated: jiff::SignedDuration::from_hours(20 * 365 * 24),
                heard_after: Duration::from_secs(3),
                overlap: Duration::from_secs(3),
                ..Terms::default()
            },
            clock: self.time.clock(),
            keys: fresh_key,
        };
        let client = self.plane.client(Identity::ServiceAccount);
        Keeper::new(client, options, watch::channel(true).1).showing_at(self.serving.clone())
    }
}

async fn allow(request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": { "uid": review["request"]["uid"], "allowed": true },
    });
    Ok(Response::new(Full::from(answer.to_string())))
}
