//! Clients that are not alone or not long: others write before them, or after so many writes nothing gets through any
//! more, as when their process is killed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use provider::Boxed;
use tokio::sync::Mutex;
use tower::service_fn;

/// When the last write is cut off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// Before it gets there.
    Before,
    /// After it was done, and before anybody knows.
    After,
}

/// Lets so many writes through.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    writes: usize,
    moment: Moment,
    seen: Arc<AtomicUsize>,
}

impl Cut {
    pub(crate) fn after(writes: usize, moment: Moment) -> Cut {
        Cut {
            writes,
            moment,
            seen: Arc::default(),
        }
    }

    /// Whether anything was cut off.
    pub(crate) fn has_cut(&self) -> bool {
        self.seen.load(Ordering::SeqCst) > self.writes
    }

    /// A client that reaches the API until it is cut off.
    pub(crate) fn client(&self, api: &Client) -> Client {
        let (api, cut) = (api.clone(), self.clone());
        let service = service_fn(move |request: Request<Body>| {
            let (api, cut) = (api.clone(), cut.clone());
            async move { cut.send(&api, request).await }
        });
        Client::new(service, "default")
    }

    async fn send(&self, api: &Client, request: Request<Body>) -> io::Result<Response<Body>> {
        if request.method() == Method::GET {
            return api.send(request).await.map_err(io::Error::other);
        }
        let before = self.seen.fetch_add(1, Ordering::SeqCst);
        match self.moment {
            Moment::Before | Moment::After if before < self.writes => {
                api.send(request).await.map_err(io::Error::other)
            }
            Moment::After if before == self.writes => {
                api.send(request).await.map_err(io::Error::other)?;
                Err(io::ErrorKind::ConnectionReset.into())
            }
            Moment::Before | Moment::After => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
}

/// A client that is overtaken: when it begins to write, somebody else writes first.
pub(crate) fn overtaken(api: &Client, by: Boxed<'static, ()>) -> Client {
    let (api, by) = (api.clone(), Arc::new(Mutex::new(Some(by))));
    let service = service_fn(move |request: Request<Body>| {
        let (api, by) = (api.clone(), Arc::clone(&by));
        async move {
            if request.method() != Method::GET
                && let Some(write) = by.lock().await.take()
            {
                write.await;
            }
            api.send(request).await.map_err(io::Error::other)
        }
    });
    Client::new(service, "default")
}
