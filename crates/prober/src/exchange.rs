//! One request to one address, and the status of its answer.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use api::parse::health_check::Protocol;
use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, HOST, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::fault::{Fault, connecting};
use crate::{Asking, bare};

/// A connection that takes longer is asked for once more after a second by every system, and after three by most.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// The head of an answer: as much as most servers let a client send.
const HEAD_OCTETS_MAX: usize = 64 * 1024;

const AGENT: &str = concat!("zonewright/", env!("CARGO_PKG_VERSION"));

/// Asks, and closes the connection.
pub(crate) async fn ask(
    address: SocketAddr,
    asking: &Asking,
    tls: &Arc<ClientConfig>,
) -> Result<u16, Fault> {
    let request = request(asking)?;
    let stream = timeout(CONNECT_WITHIN, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_late| Fault::Unconnected(CONNECT_WITHIN))?;
    let stream = stream.map_err(|error| connecting(&error))?;
    match asking.protocol {
        Protocol::Http => status(TokioIo::new(stream), request).await,
        Protocol::Https => {
            let host = ServerName::try_from(bare(&asking.host)).map_err(|_| Fault::Nameless)?;
            let connector = TlsConnector::from(Arc::clone(tls));
            let stream = connector.connect(host, stream).await;
            let stream = stream.map_err(|error| connecting(&error))?;
            status(TokioIo::new(stream), request).await
        }
    }
}

/// Sends a request. With the status everything is known: the body stays where it is, and the connection ends with the
/// value that is dropped here.
async fn status<S>(stream: S, request: Request<Empty<Bytes>>) -> Result<u16, Fault>
where
    S: Read + Write + Unpin,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_OCTETS_MAX)
        .handshake(stream)
        .await
        .map_err(Fault::Http)?;
    let mut answer = pin!(sender.send_request(request));
    let early = tokio::select! {
        biased;
        answer = &mut answer => Some(answer),
        // Whatever ended the connection is told to whoever waits for the answer.
        _ = connection => None,
    };
    let answer = match early {
        Some(answer) => answer,
        None => answer.await,
    };
    Ok(answer.map_err(Fault::of_http)?.status().as_u16())
}

fn request(asking: &Asking) -> Result<Request<Empty<Bytes>>, Fault> {
    let mut request = Request::builder()
        .method(Method::GET)
        .uri(&asking.path)
        .body(Empty::new())
        .map_err(|_| Fault::Path)?;
    let host = HeaderValue::try_from(authority(asking)).map_err(|_| Fault::Nameless)?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    replace(headers, &asking.headers);
    headers.insert(HOST, host);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

fn replace(headers: &mut HeaderMap, with: &HeaderMap) {
    for (name, value) in with {
        headers.insert(name, value.clone());
    }
}

/// The host, with the port where it is not the protocol's own.
fn authority(asking: &Asking) -> String {
    let host = bare(&asking.host);
    match (asking.protocol, asking.port) {
        (Protocol::Http, 80) | (Protocol::Https, 443) => host,
        (Protocol::Http | Protocol::Https, port) => format!("{host}:{port}"),
    }
}
