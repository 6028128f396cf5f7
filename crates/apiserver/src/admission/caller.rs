//! Asks webhooks: the one part of admission that waits.
//!
//! Over TLS by URL, or in this process by the name of a Service. Nothing is weighed here: a question goes out, and an
//! answer or the reason why there is none comes back.

use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tower::ServiceExt as _;

use super::hook::Address;
use super::review::{Question, Reply};
use super::services::{AnswerBody, Services, erased};
use super::trust::{self, Trust};
use super::verdict::Answered;
use super::{Admitted, Asking};
use crate::body;
use crate::refusal::Refusal;

/// How long a request may take with everybody who is asked about it: kube-apiserver's bound.
pub(crate) const REQUEST_WITHIN: Duration = Duration::from_secs(34);

/// The longest answer that is read: a patch that replaces the largest object, in base64, and room for the rest.
const ANSWER_BYTES_MAX: usize = 2 * body::BYTES_MAX;

/// The head of an answer: as much as Kubernetes' own client reads.
const HEAD_BYTES_MAX: usize = 1 << 20;

const AGENT: &str = "kube-apiserver-admission";

/// What is said when time is up, as Go says it.
const LATE: &str = "context deadline exceeded";

/// Whoever can be asked.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    services: Services,
    trust: Trust,
}

impl Caller {
    pub(crate) fn new(services: Services) -> Self {
        Self {
            services,
            trust: Trust::default(),
        }
    }

    /// Asks everybody who is to be asked, until `deadline`.
    pub(crate) async fn ask(&self, asking: Asking, deadline: Instant) -> Result<Admitted, Refusal> {
        match asking {
            Asking::Mutating(mut mutation) => {
                while let Some(question) = mutation.question() {
                    let answered = self.question(question, in_time(deadline)?).await;
                    mutation.answer(answered)?;
                    mutation.advance()?;
                }
                Ok(mutation.conclude())
            }
            Asking::Validating(validation) => {
                let left = in_time(deadline)?;
                let questions = validation.questions().iter();
                let answers = join_all(questions.map(|question| self.question(question, left)));
                let answers = answers.await;
                validation.conclude(answers)
            }
        }
    }

    async fn question(&self, question: &Question, left: Duration) -> Answered {
        let within = question.hook.timeout.min(left);
        let uri = place(&question.hook.address, within);
        let post = |why: String| format!("failed to call webhook: Post {uri:?}: {why}");
        let request = request(&uri, question.body.clone());
        let request = request.map_err(|error| post(error.to_string()))?;
        let asked = async {
            match &question.hook.address {
                Address::Service {
                    namespace, name, ..
                } => self
                    .in_process(namespace, name, request)
                    .await
                    .map_err(post),
                Address::Url { authorities, .. } => {
                    let tls = self.trust.tls(authorities.as_ref());
                    let tls = tls.map_err(|why| format!("could not get REST client: {why}"))?;
                    over_tls(&uri, TlsConnector::from(tls), request)
                        .await
                        .map_err(post)
                }
            }
        };
        match timeout(within, asked).await {
            Ok(answered) => answered,
            Err(_late) => Err(post(LATE.to_owned())),
        }
    }

    async fn in_process(
        &self,
        namespace: &str,
        name: &str,
        request: Request<Full<Bytes>>,
    ) -> Result<Reply, String> {
        let service = self.services.find(namespace, name);
        let service = service.ok_or_else(|| format!("service {name:?} not found"))?;
        let response = service.oneshot(request).await;
        reply(response.map_err(|error| error.to_string())?).await
    }
}

/// What is left of the time; a refusal if nothing is.
fn in_time(deadline: Instant) -> Result<Duration, Refusal> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        let why = "request did not complete within requested timeout";
        return Err(Refusal::timeout(why));
    }
    Ok(left)
}

/// Where a question goes.
fn place(address: &Address, within: Duration) -> String {
    let (base, path) = match address {
        Address::Url { url, .. } => {
            let start = url.find("://").map_or(0, |at| at + 3);
            let path = url[start..].find('/').map_or(url.len(), |at| start + at);
            (url[..path].to_owned(), &url[path..])
        }
        Address::Service {
            namespace,
            name,
            path,
            port,
        } => (
            format!("https://{name}.{namespace}.svc:{port}"),
            path.as_str(),
        ),
    };
    let path = path.trim_matches('/');
    // Whole seconds, rounded up.
    let seconds = within.as_millis().div_ceil(1000);
    format!("{base}/{path}?timeout={seconds}s")
}

fn request(uri: &str, body: Bytes) -> http::Result<Request<Full<Bytes>>> {
    Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, */*")
        .header(USER_AGENT, AGENT)
        .body(Full::new(body))
}

/// One request over a connection of its own. A certificate that was taken back is noticed at once, and no webhook
/// keeps a connection that nobody uses.
async fn over_tls(
    uri: &str,
    tls: TlsConnector,
    mut request: Request<Full<Bytes>>,
) -> Result<Reply, String> {
    let uri: Uri = uri.parse().map_err(|error| format!("{error}"))?;
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(443);
    let name = ServerName::try_from(bare.to_owned()).map_err(|error| error.to_string())?;
    let stream = TcpStream::connect((bare, port)).await;
    let stream = stream.map_err(|error| unconnected(host, bare, port, &error))?;
    let stream = tls.connect(name, stream).await;
    let stream = stream.map_err(|error| insecure(&error))?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(&error))?;
    let authority = uri.authority().map(http::uri::Authority::as_str);
    if let Ok(host) = HeaderValue::try_from(authority.unwrap_or_default()) {
        request.headers_mut().insert(HOST, host);
    }
    *request.uri_mut() = match uri.path_and_query() {
        Some(path) => Uri::from(path.clone()),
        None => Uri::from_static("/"),
    };
    let answer = async {
        let response = sender.send_request(request).await;
        reply(response.map_err(|error| broken(&error))?.map(erased)).await
    };
    let mut answer = pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => return answer,
        // Whatever ended the connection is told to whoever waits for the answer.
        _ = connection => {}
    }
    answer.await
}

/// The whole answer, unless it is longer than any that makes sense.
async fn reply(response: Response<AnswerBody>) -> Result<Reply, String> {
    let (head, body) = response.into_parts();
    let collected = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let body = collected.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"),
        None => format!(
            "unexpected error when reading response body. Please retry. Original error: {error}"
        ),
    })?;
    let content_type = head.headers.get(CONTENT_TYPE);
    Ok(Reply {
        code: head.status.as_u16(),
        content_type: content_type
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned),
        body: body.to_bytes(),
    })
}

/// Why nobody could be reached, as Go says it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum may grow, and every error can say what it is"
)]
fn unconnected(host: &str, bare: &str, port: u16, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
        _ if error.raw_os_error().is_none() => {
            return format!("dial tcp: lookup {bare}: no such host");
        }
        _ => format!("connect: {error}"),
    };
    format!("dial tcp {host}:{port}: {why}")
}

fn insecure(error: &io::Error) -> String {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    inner.map_or_else(|| short(error), trust::in_words)
}

fn broken(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return "EOF".to_owned();
    }
    error.to_string()
}

/// A connection that ends in the middle of a handshake.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum may grow, and every error can say what it is"
)]
fn short(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
        _ => error.to_string(),
    }
}
