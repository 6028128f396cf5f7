//! What lies between a client and its API: mostly nothing, sometimes trouble. A test says which.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::sleep;
use tower::service_fn;

type ResponseBody = UnsyncBoxBody<Bytes, io::Error>;

/// What happens to requests, and to watches that are under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Weather {
    /// Everything goes through.
    Fair,
    /// Connections break and none can be made.
    Down,
    /// Nothing comes, and nothing breaks.
    Silent,
    /// Requests whose URI contains the text are answered with this code and message.
    Refusing(&'static str, u16, &'static str),
    /// Watches are answered, and end at once.
    Abrupt,
    /// Requests take a while to get there, and answers to come back. A request arrives even if nobody waits for the
    /// answer any more.
    Slow(Duration, Duration),
}

/// Makes the weather.
#[derive(Clone, Debug)]
pub(crate) struct Sky {
    weather: Arc<watch::Sender<Weather>>,
    requests: Arc<AtomicUsize>,
}

impl Sky {
    pub(crate) fn new() -> Self {
        Self {
            weather: Arc::new(watch::Sender::new(Weather::Fair)),
            requests: Arc::default(),
        }
    }

    pub(crate) fn turn(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// How many requests have been sent.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// A client that reaches the API through this weather.
    pub(crate) fn client(&self, api: &Client) -> Client {
        let (api, sky) = (api.clone(), self.clone());
        let service = service_fn(move |request: Request<Body>| {
            let (api, sky) = (api.clone(), sky.clone());
            async move { sky.send(&api, request).await }
        });
        Client::new(service, "default")
    }

    async fn send(
        &self,
        api: &Client,
        request: Request<Body>,
    ) -> Result<Response<ResponseBody>, io::Error> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let uri = request.uri().to_string();
        let weather = self.weather.borrow().clone();
        match weather {
            Weather::Down => return Err(io::ErrorKind::ConnectionRefused.into()),
            Weather::Silent => {
                turns(&self.weather.subscribe(), |now| now != Weather::Silent).await;
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Weather::Refusing(what, code, message) if uri.contains(what) => {
                return Ok(refusal(code, message));
            }
            Weather::Abrupt if uri.contains("watch=") => {
                return Ok(Response::new(whole(Bytes::new())));
            }
            Weather::Slow(there, back) => {
                let api = api.clone();
                let under_way = tokio::spawn(async move {
                    sleep(there).await;
                    let response = api.send(request).await;
                    sleep(back).await;
                    response
                });
                let response = under_way.await.map_err(io::Error::other)?;
                let response = response.map_err(io::Error::other)?;
                return Ok(response.map(|body| body.map_err(io::Error::other).boxed_unsync()));
            }
            Weather::Fair | Weather::Refusing(..) | Weather::Abrupt => {}
        }
        let response = api.send(request).await.map_err(io::Error::other)?;
        let weather = self.weather.subscribe();
        Ok(response.map(|body| StreamBody::new(through(body, weather)).boxed_unsync()))
    }
}

fn whole(bytes: Bytes) -> ResponseBody {
    Full::new(bytes)
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

fn refusal(code: u16, message: &str) -> Response<ResponseBody> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": "Because", "code": code,
    });
    let mut response = Response::new(whole(Bytes::from(status.to_string())));
    *response.status_mut() = StatusCode::from_u16(code).expect("a status code");
    response
}

/// The frames of a body, as the weather lets them through.
fn through(
    body: Body,
    weather: watch::Receiver<Weather>,
) -> impl Stream<Item = Result<Frame<Bytes>, io::Error>> {
    stream::unfold((body, weather), |(mut body, weather)| async move {
        let frame = tokio::select! {
            biased;
            () = turns(&weather, |now| now == Weather::Down) => Err(io::ErrorKind::ConnectionReset.into()),
            frame = heard(&mut body, &weather) => frame?.map_err(io::Error::other),
        };
        Some((frame, (body, weather)))
    })
}

async fn heard(
    body: &mut Body,
    weather: &watch::Receiver<Weather>,
) -> Option<Result<Frame<Bytes>, kube::Error>> {
    loop {
        turns(weather, |now| now != Weather::Silent).await;
        tokio::select! {
            biased;
            () = turns(weather, |now| now == Weather::Silent) => {}
            frame = body.frame() => return frame,
        }
    }
}

/// Returns when the weather is like this.
async fn turns(weather: &watch::Receiver<Weather>, like: fn(Weather) -> bool) {
    let mut weather = weather.clone();
    let turned = weather.wait_for(|now| like(now.clone())).await.is_ok();
    if !turned {
        std::future::pending::<()>().await;
    }
}
