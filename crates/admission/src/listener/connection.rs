//! One connection: handshake, then request after request.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use super::{Answers, BoxError, Caps, Sendable};

/// How often a silent HTTP/2 peer is asked whether it is still there, and how long it may think.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_WITHIN: Duration = Duration::from_secs(20);
/// Requests at the same time on one connection; an API server opens another one when it needs more.
const STREAMS_MAX: u32 = 100;
/// How much of a body is taken in before anybody asks for it, for each request and for each connection.
const WINDOW_BYTES: u32 = 1 << 16;

/// What every connection needs; cloned for each.
#[derive(Clone)]
pub(super) struct Connection<S> {
    pub(super) tls: TlsAcceptor,
    pub(super) service: S,
    pub(super) stopped: watch::Receiver<bool>,
    pub(super) caps: Caps,
    /// Requests that may still be taken in.
    pub(super) requests: Arc<Semaphore>,
}

/// Why a request does not get to the service, or comes to nothing there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Refusal {
    TooLong,
    TooSlow,
    Broken,
    Busy,
    NoAnswer,
    Failed,
}

impl<S> Connection<S> {
    /// Serves until the peer leaves, time is up, or the listener stops.
    pub(super) async fn serve<B: Sendable>(self, stream: TcpStream)
    where
        S: Answers<B>,
    {
        // Without a delay for small packets; a socket that cannot do this still works.
        let _ = stream.set_nodelay(true);
        let stream = match timeout(self.caps.handshake, self.tls.accept(stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!("webhooks: a TLS handshake failed: {error}");
                return;
            }
            Err(_late) => return,
        };
        let (mut stopped, builder, age) = (self.stopped.clone(), builder(self.caps), self.caps.age);
        let answer = service_fn(move |request| answer(self.clone(), request));
        let mut requests = pin!(builder.serve_connection(TokioIo::new(stream), answer));
        let mut stop = pin!(async {
            tokio::select! {
                _ = stopped.wait_for(|stopped| *stopped) => {}
                () = sleep(age) => {}
            }
        });
        let done = tokio::select! {
            done = &mut requests => done,
            () = &mut stop => {
                requests.as_mut().graceful_shutdown();
                requests.await
            }
        };
        if let Err(error) = done {
            tracing::debug!("webhooks: a connection ended: {error}");
        }
    }
}

fn builder(caps: Caps) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(caps.headers)
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WITHIN)
        .max_concurrent_streams(STREAMS_MAX);
    builder
}

async fn answer<B: Sendable, S: Answers<B>>(
    connection: Connection<S>,
    request: Request<Incoming>,
) -> Result<Response<Either<B, Full<Bytes>>>, BoxError> {
    Ok(match ask(connection, request).await {
        Ok(response) => response.map(Either::Left),
        Err(refusal) => refusal.response().map(Either::Right),
    })
}

/// Takes the whole request in and hands it on.
async fn ask<B: Sendable, S: Answers<B>>(
    connection: Connection<S>,
    request: Request<Incoming>,
) -> Result<Response<B>, Refusal> {
    let Connection {
        service,
        caps,
        requests,
        ..
    } = connection;
    // Before waiting for anything: what is announced as too long need not be sent.
    if request.body().size_hint().lower() > caps.body_bytes as u64 {
        return Err(Refusal::TooLong);
    }
    let room = timeout(caps.body, requests.acquire_owned()).await;
    let _room = room.map_err(|_late| Refusal::Busy)?;
    let (parts, body) = request.into_parts();
    let taken = timeout(caps.body, Limited::new(body, caps.body_bytes).collect()).await;
    let body = match taken.map_err(|_late| Refusal::TooSlow)? {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(Refusal::TooLong),
        Err(_gone) => return Err(Refusal::Broken),
    };
    let request = Request::from_parts(parts, Full::from(body));
    let answered = timeout(caps.answer, service.oneshot(request)).await;
    let answered = answered.map_err(|_late| Refusal::NoAnswer)?;
    answered.map_err(|error| {
        let error: BoxError = error.into();
        tracing::error!("webhooks: a question was not answered: {error}");
        Refusal::Failed
    })
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::NoAnswer => StatusCode::GATEWAY_TIMEOUT,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::TooLong => "the request is too long\n",
            Self::TooSlow => "the request took too long to arrive\n",
            Self::Broken => "the request could not be read\n",
            Self::Busy => "too many requests are being answered\n",
            Self::NoAnswer => "answering took too long\n",
            Self::Failed => "answering failed\n",
        }
    }

    fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::from(self.words()));
        *response.status_mut() = self.status();
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        response
    }
}
