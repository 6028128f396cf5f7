//! One connection: handshake, then request after request, each with the user it comes from.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Version, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use jiff::Timestamp;
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

use super::{Answers, BoxError, Sendable};
use crate::face::authentication::{Authentication, Papers};
use crate::refusal::Refusal;

/// A handshake is three packets; whoever needs longer is not there any more.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);
/// A connection on which nobody has said who they are is closed after this time, so that strangers
/// cannot use up all connections. kube-apiserver gives a stranger's headers as long.
const KNOWN_WITHIN: Duration = Duration::from_secs(32);
/// How long an HTTP/1.1 connection may be idle or in the middle of a request's headers. Longer than the 90
/// seconds for which common clients keep idle connections, so that it is they who close them
/// and no request meets a connection that is just being closed.
const HEADERS_WITHIN: Duration = Duration::from_mins(2);
/// How often a silent HTTP/2 peer is asked whether it is still there, and how long it may think.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_WITHIN: Duration = Duration::from_secs(20);
/// How much a record of TLS holds.
const RECORD_BYTES: usize = 16 << 10;
/// Requests at the same time on one connection. Clients open another one when they need more.
const STREAMS_MAX: u32 = 250;

/// What every connection needs; cloned for each.
#[derive(Clone)]
pub(super) struct Connection<S> {
    pub(super) tls: TlsAcceptor,
    pub(super) authentication: Arc<Authentication>,
    pub(super) service: S,
    pub(super) stopped: watch::Receiver<bool>,
}

/// The other side of one connection.
struct Peer {
    papers: Papers,
    /// Whether a request has been let in under a name.
    known: AtomicBool,
    /// Told when the connection should end after the requests that are on it.
    unwelcome: Notify,
}

impl<S> Connection<S> {
    /// Serves until the peer leaves, time is up, or the listener stops.
    pub(super) async fn serve<B: Sendable>(self, stream: TcpStream)
    where
        S: Answers<B>,
    {
        let handshake = timeout(HANDSHAKE_WITHIN, handshake(&self.tls, stream));
        let Ok(Some(stream)) = handshake.await else {
            return;
        };
        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let peer = Arc::new(Peer {
            papers: Papers::new(shown),
            known: AtomicBool::new(false),
            unwelcome: Notify::new(),
        });
        let mut stopped = self.stopped.clone();
        let stop = stopped.wait_for(|stopped| *stopped);
        self.answer_all(stream, &peer, async { drop(stop.await) })
            .await;
    }

    async fn answer_all<B: Sendable>(
        self,
        stream: TlsStream<TcpStream>,
        peer: &Arc<Peer>,
        stop: impl Future<Output = ()>,
    ) where
        S: Answers<B>,
    {
        let builder = builder();
        let (connection, sender) = (self, peer.clone());
        let answer = service_fn(move |request| answer(connection.clone(), sender.clone(), request));
        // What several requests have to say at once goes out in one record and one call.
        let stream = BufWriter::with_capacity(RECORD_BYTES, stream);
        let mut requests = pin!(builder.serve_connection(TokioIo::new(stream), answer));
        let mut stranger = pin!(sleep(KNOWN_WITHIN));
        let mut ending = pin!(async {
            tokio::select! {
                () = stop => {}
                () = peer.unwelcome.notified() => {}
            }
        });
        let (mut asked, mut ended) = (false, false);
        loop {
            tokio::select! {
                done = &mut requests => {
                    if let Err(error) = done {
                        tracing::debug!("a connection ended: {error}");
                    }
                    return;
                }
                () = &mut ending, if !ended => {
                    ended = true;
                    requests.as_mut().graceful_shutdown();
                }
                () = &mut stranger, if !asked => {
                    asked = true;
                    if !peer.known.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }
        }
    }
}

/// TLS, or nothing where the peer does not speak it.
async fn handshake(tls: &TlsAcceptor, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
    // Without a delay for small packets; a socket that cannot do this still works.
    let _ = stream.set_nodelay(true);
    let mut first = [0; 5];
    let peeked = stream.peek(&mut first).await;
    if peeked.is_ok_and(|length| is_plain_http(&first[..length])) {
        point_out_tls(stream).await;
        return None;
    }
    let accepted = tls.accept(stream).await;
    accepted
        .inspect_err(|error| tracing::debug!("a TLS handshake failed: {error}"))
        .ok()
}

/// Whether a connection begins with letters: the name of a method. TLS begins with the number 22.
fn is_plain_http(first: &[u8]) -> bool {
    first.first().is_some_and(u8::is_ascii_uppercase)
}

/// The commonest mistake gets an answer that its maker can read.
async fn point_out_tls(mut stream: TcpStream) {
    const ANSWER: &[u8] =
        b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    if stream.write_all(ANSWER).await.is_ok() {
        // The peer may be gone already: there is nobody else to tell.
        let _ = stream.shutdown().await;
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WITHIN)
        .max_concurrent_streams(STREAMS_MAX);
    builder
}

/// One request: to the service if its sender is known, back to its sender otherwise.
async fn answer<B: Sendable, S: Answers<B>>(
    connection: Connection<S>,
    peer: Arc<Peer>,
    request: Request<Incoming>,
) -> Result<Response<Either<B, Full<Bytes>>>, BoxError> {
    let (mut parts, body) = request.into_parts();
    let judged = connection
        .authentication
        .judge(&parts, &peer.papers, Timestamp::now());
    let is_known = judged.as_ref().is_ok_and(|user| !user.is_anonymous());
    if is_known {
        peer.known.store(true, Ordering::Relaxed);
    } else if parts.version == Version::HTTP_2 {
        // Streams that are opened and reset are cheap to send and dear to serve: strangers get
        // one request per connection.
        peer.unwelcome.notify_one();
    }
    match judged {
        Ok(user) => {
            parts.headers.remove(header::AUTHORIZATION);
            parts.extensions.insert(user);
            let request = Request::from_parts(parts, body);
            let response = connection.service.oneshot(request).await;
            response
                .map(|response| response.map(Either::Left))
                .map_err(Into::into)
        }
        Err(refusal) => Ok(refuse(&refusal).map(Either::Right)),
    }
}

fn refuse(refusal: &Refusal) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{}\n", refusal.status())));
    *response.status_mut() =
        StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    let uncached = HeaderValue::from_static("no-cache, private");
    headers.insert(header::CACHE_CONTROL, uncached);
    response
}
