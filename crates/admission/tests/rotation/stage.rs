//! An embedded API, time that is handed in, and a way to the API that ends between any two writes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use admission::certificates::{self, Found, Holding, Terms, fresh_key};
use admission::keeper::Options;
use admission::{Clock, Installation, Keeper, Moment, Target};
use apiserver::Apiserver;
use http::{Method, Request};
use jiff::Timestamp;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use kube::client::Body;
use kube::{Api, Client};
use tokio::sync::watch;
use tower::service_fn;

/// The namespace of the installation: one that is there in every cluster.
pub(crate) const NAMESPACE: &str = "default";
/// What clients know us as.
pub(crate) const HOST: &str = "localhost";

/// Time that passes when it is told to.
#[derive(Clone)]
pub(crate) struct Time(Arc<Mutex<Moment>>);

impl Time {
    pub(crate) fn new() -> Self {
        let wall = "2030-01-01T12:00:00Z".parse().unwrap();
        let running = Duration::ZERO;
        Self(Arc::new(Mutex::new(Moment { wall, running })))
    }

    pub(crate) fn pass(&self, time: Duration) {
        let mut moment = self.0.lock().unwrap();
        moment.wall += time;
        moment.running += time;
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.lock().unwrap().wall
    }

    pub(crate) fn clock(&self) -> Clock {
        let moment = Arc::clone(&self.0);
        Clock::handed_in(move || *moment.lock().unwrap())
    }
}

/// An API, and what is installed there.
pub(crate) struct Stage {
    _apiserver: Apiserver,
    pub(crate) client: Client,
    pub(crate) time: Time,
    pub(crate) terms: Terms,
}

impl Stage {
    pub(crate) async fn open() -> Self {
        let apiserver = Apiserver::open(apiserver::Options::default())
            .await
            .unwrap();
        Self {
            client: apiserver.client(),
            _apiserver: apiserver,
            time: Time::new(),
            terms: Terms::default(),
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            installation: installation(),
            terms: self.terms,
            clock: self.time.clock(),
            keys: fresh_key,
        }
    }

    pub(crate) fn leader(&self, client: Client) -> Keeper {
        Keeper::new(client, self.options(), watch::channel(true).1)
    }

    pub(crate) fn follower(&self) -> Keeper {
        Keeper::new(self.client.clone(), self.options(), watch::channel(false).1)
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) async fn secret(&self) -> Option<Secret> {
        self.secrets().get_opt("zonewright-webhook").await.unwrap()
    }

    /// What the Secret holds.
    pub(crate) async fn held(&self) -> Option<Box<Holding>> {
        let secret = self.secret().await?;
        match certificates::read(secret.data.as_ref()) {
            Found::Whole(holding) => Some(holding),
            Found::Missing | Found::Damaged(_) => None,
        }
    }

    pub(crate) async fn mutating(&self) -> Option<MutatingWebhookConfiguration> {
        let all: Api<MutatingWebhookConfiguration> = Api::all(self.client.clone());
        all.get_opt("zonewright-ingresses").await.unwrap()
    }

    pub(crate) async fn validating(&self) -> Option<ValidatingWebhookConfiguration> {
        let all: Api<ValidatingWebhookConfiguration> = Api::all(self.client.clone());
        all.get_opt("zonewright").await.unwrap()
    }
}

pub(crate) fn installation() -> Installation {
    Installation {
        namespace: NAMESPACE.to_owned(),
        user: "system:serviceaccount:default:zonewright".to_owned(),
        target: Target::Url(format!("https://{HOST}:9443")),
        ingresses: true,
    }
}

/// Death in the middle of a write: from then on nothing gets through.
pub(crate) struct Fuse {
    writes_left: AtomicUsize,
    /// Whether the write that it burns at gets there.
    arrives: bool,
    blown: AtomicBool,
}

impl Fuse {
    pub(crate) fn new(writes: usize, arrives: bool) -> Arc<Self> {
        Arc::new(Self {
            writes_left: AtomicUsize::new(writes),
            arrives,
            blown: AtomicBool::new(false),
        })
    }

    pub(crate) fn endless() -> Arc<Self> {
        Self::new(usize::MAX, true)
    }

    pub(crate) fn writes(&self) -> usize {
        usize::MAX - self.writes_left.load(Ordering::SeqCst)
    }

    pub(crate) fn client(self: &Arc<Self>, api: &Client) -> Client {
        let (api, fuse) = (api.clone(), Arc::clone(self));
        let service = service_fn(move |request: Request<Body>| {
            let (api, fuse) = (api.clone(), Arc::clone(&fuse));
            async move {
                let dead = || kube::Error::Service("dead".into());
                if fuse.blown.load(Ordering::SeqCst) {
                    return Err(dead());
                }
                if *request.method() == Method::GET {
                    return api.send(request).await;
                }
                if fuse.writes_left.load(Ordering::SeqCst) > 0 {
                    fuse.writes_left.fetch_sub(1, Ordering::SeqCst);
                    return api.send(request).await;
                }
                fuse.blown.store(true, Ordering::SeqCst);
                if fuse.arrives {
                    api.send(request).await?;
                }
                Err(dead())
            }
        });
        Client::new(service, NAMESPACE)
    }
}
