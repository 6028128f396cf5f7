//! A client that notes when it last heard from the API.
//!
//! kube's watcher keeps bookmarks to itself, and a watch that its server ends at once is begun again at once. Seen from
//! below, from the bytes of responses and the number of requests, both are easily told.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};
use tower::{ServiceExt as _, service_fn};

use super::progress::Board;

/// How long after the beginning of a watch the next may begin. An ordinary one lasts five minutes.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// A client like `client` for the watch at `place`, which tells the board of everything that it hears.
pub(super) fn client<K: Send + Sync + 'static>(
    client: &Client,
    board: &Arc<Board<K>>,
    place: usize,
) -> Client {
    let (inner, pace) = (client.clone(), Arc::new(Mutex::new(Instant::now())));
    let send = move |request: Request<Body>| {
        let (inner, pace) = (inner.clone(), Arc::clone(&pace));
        async move {
            if is_watch(&request) {
                keep(&pace).await;
            }
            inner.send(request).await
        }
    };
    let board = Arc::clone(board);
    let service = service_fn(send).map_response(move |response: Response<Body>| {
        let board = Arc::clone(&board);
        // A refusal tells nothing about objects.
        let tells = response.status().is_success();
        response.map(|body| {
            body.map_frame(move |frame| {
                if tells {
                    board.heard(place);
                }
                frame
            })
        })
    });
    Client::new(service, client.default_namespace())
}

fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|parameter| parameter == "watch=true")
}

/// Waits for the time at which the next watch may begin, and sets the one after it.
async fn keep(pace: &Mutex<Instant>) {
    let mut next = pace.lock().await;
    sleep_until(*next).await;
    *next = Instant::now() + WATCH_EVERY;
}
