//! HTTPS: connections in, whole requests out to a service.
//!
//! Anybody who reaches us may connect: what a stranger can make us hold, and for how long, is bounded by [`Caps`]. What is handed on is a request
//! with its whole body. The border: paths, methods and what is in the body are the service's business.

mod connection;
mod places;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use rustls::server::ResolvesServerCert;
use rustls::{ServerConfig, crypto};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use connection::Connection;
use places::Places;

/// The pause after an error that the next attempt would meet again, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// An error of a service or a body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What answers requests: the same that the embedded API calls in its own process.
pub trait Answers<B>:
    tower::Service<
        Request<Full<Bytes>>,
        Response = Response<B>,
        Error: Into<BoxError>,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
}

impl<B, S> Answers<B> for S where
    S: tower::Service<
            Request<Full<Bytes>>,
            Response = Response<B>,
            Error: Into<BoxError>,
            Future: Send,
        > + Clone
        + Send
        + 'static
{
}

/// A body that can be sent.
pub trait Sendable: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static {}

impl<B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static> Sendable for B {}

/// What strangers can make us hold, and for how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Caps {
    /// The longest body. Kubernetes takes requests of 3 MiB.
    pub body_bytes: usize,
    /// Requests at once, each with its body: 96 MiB at most with the others as they are.
    pub requests: usize,
    /// Connections at once: far more than a cluster has API servers, and well below the 1024 open files that a process commonly may have.
    pub connections: usize,
    /// Of these from one address, so that nobody has them all.
    pub connections_per_address: usize,
    /// Three packets; whoever needs longer is not there any more.
    pub handshake: Duration,
    /// How long an HTTP/1.1 connection may be idle or in the middle of a request's headers. API servers keep idle connections for 90 seconds; it should be they
    /// who close them, so that no question meets a connection that is just being closed.
    pub headers: Duration,
    /// How long a connection lasts before it is asked to end after the requests that are on it: what is connected for ever has never seen the certificate of
    /// today, and never found the replica of today.
    pub age: Duration,
    /// How long a body may take. Whoever asks waits for 10 seconds in all.
    pub body: Duration,
    /// How long an answer may take, for the same reason.
    pub answer: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            body_bytes: 3 << 20,
            requests: 32,
            connections: 512,
            connections_per_address: 128,
            handshake: Duration::from_secs(10),
            headers: Duration::from_mins(2),
            age: Duration::from_mins(10),
            body: Duration::from_secs(10),
            answer: Duration::from_secs(10),
        }
    }
}

/// A listener at work. Dropping it cuts everything off.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Listener {
    /// Serves what arrives at `listener` until it is told to stop. Call it on the runtime that it is to run on.
    pub fn start<B: Sendable>(
        listener: TcpListener,
        certificates: Arc<dyn ResolvesServerCert>,
        service: impl Answers<B>,
        caps: Caps,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let connection = Connection {
            tls: TlsAcceptor::from(Arc::new(configuration(certificates))),
            service,
            stopped,
            caps,
            requests: Arc::new(Semaphore::new(caps.requests)),
        };
        let serving = tokio::spawn(accept_all(listener, connection));
        Ok(Self {
            address,
            stop,
            serving,
        })
    }

    /// Where it listens, with the port that was picked if none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests that are being answered finish, and cuts off what has not finished in time.
    pub async fn shutdown(mut self, within: Duration) {
        self.stop.send_replace(true);
        if timeout(within, &mut self.serving).await.is_err() {
            tracing::debug!("connections were cut off {within:?} after the stop");
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// TLS 1.2 and 1.3; nobody is asked for a certificate.
fn configuration(certificates: Arc<dyn ResolvesServerCert>) -> ServerConfig {
    let provider = Arc::new(crypto::ring::default_provider());
    let mut configuration = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks the protocol versions that are on by default")
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    configuration
}

/// Accepts until told to stop, then waits for the connections to end. Connections belong to this future: when it is dropped, they are.
async fn accept_all<B: Sendable>(listener: TcpListener, connection: Connection<impl Answers<B>>) {
    let places = Places::new(connection.caps);
    let mut connections = JoinSet::new();
    let mut stopped = connection.stopped.clone();
    let stop = stopped.wait_for(|stopped| *stopped);
    let opened = &mut connections;
    let accepting = async move {
        loop {
            let room = places.room().await;
            let (stream, peer) = accept(&listener).await;
            // Whoever has too many already is turned away; the next one may be an API server.
            if let Some(place) = places.take(room, peer.ip()) {
                let connection = connection.clone();
                opened.spawn(async move {
                    let _place = place;
                    connection.serve(stream).await;
                });
            }
            while opened.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        _ = stop => {}
        () = accepting => {}
    }
    while connections.join_next().await.is_some() {}
}

/// The next connection. Errors are waited out: they are the peer's, or pass when others close files.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!("webhooks: cannot accept a connection: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
