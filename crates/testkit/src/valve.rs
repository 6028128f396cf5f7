//! Death between two writes: a way to an API that closes after so many of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use tower::service_fn;

/// What happens to one call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pass {
    /// It goes through.
    Through,
    /// It is never answered, and never gets there.
    Lost,
    /// It gets there, and is never answered.
    Unanswered,
}

/// Counts what is written, and from some time on lets nothing through: whoever writes behind it is dead to the world.
#[derive(Debug)]
pub struct Valve {
    writes: AtomicUsize,
    closes_at: usize,
    /// Whether the last write still gets there.
    arrives: bool,
}

impl Valve {
    /// One that lets so many writes through. Whether the next still gets there is said; nobody hears of it.
    pub fn new(closes_at: usize, arrives: bool) -> Arc<Valve> {
        Arc::new(Valve {
            writes: AtomicUsize::new(0),
            closes_at,
            arrives,
        })
    }

    /// One that never closes.
    pub fn open() -> Arc<Valve> {
        Valve::new(usize::MAX, false)
    }

    /// How many writes have come here.
    pub fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// Whether something was not let through.
    pub fn is_closed(&self) -> bool {
        self.writes() > self.closes_at
    }

    /// Something is written.
    pub fn pass(&self) -> Pass {
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        match number.cmp(&self.closes_at) {
            std::cmp::Ordering::Less => Pass::Through,
            std::cmp::Ordering::Equal if self.arrives => Pass::Unanswered,
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => Pass::Lost,
        }
    }

    /// A client whose writes go through here. What it reads it reads.
    pub fn client(self: &Arc<Valve>, api: &Client) -> Client {
        let (api, valve) = (api.clone(), Arc::clone(self));
        let service = service_fn(move |request: Request<Body>| {
            let (api, valve) = (api.clone(), Arc::clone(&valve));
            async move {
                let is_event = request.uri().path().contains("/events");
                let writes = *request.method() != Method::GET && !is_event;
                let pass = if writes { valve.pass() } else { Pass::Through };
                match pass {
                    Pass::Through => api.send(request).await,
                    Pass::Unanswered => {
                        let _ = api.send(request).await;
                        std::future::pending().await
                    }
                    Pass::Lost => std::future::pending().await,
                }
            }
        });
        Client::new(service, "default")
    }
}
