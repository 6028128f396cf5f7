//! HTTPS: connections in, authenticated requests out to a service.
//!
//! Everything a stranger can make us hold is bounded here: how many connections, how long a
//! handshake takes, how long a connection may go without anyone on it saying who they are.

mod connection;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use rustls::server::ResolvesServerCert;
use rustls::{ServerConfig, crypto};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::authentication::Authentication;
use connection::Connection;

/// How many connections are served at once. Each has a few buffers, so that all together stay
/// below a hundred megabytes and below the 1024 open files that a process commonly may have.
const CONNECTIONS_MAX: usize = 768;
/// The pause after an error that the next attempt would meet again, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// An error of a service or a body.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What answers requests. A request carries its [`User`](crate::user::User) in its extensions.
pub(crate) trait Answers<B>:
    tower::Service<Request<Incoming>, Response = Response<B>, Error: Into<BoxError>, Future: Send>
    + Clone
    + Send
    + 'static
{
}

impl<B, S> Answers<B> for S where
    S: tower::Service<
            Request<Incoming>,
            Response = Response<B>,
            Error: Into<BoxError>,
            Future: Send,
        > + Clone
        + Send
        + 'static
{
}

/// A body that can be sent.
pub(crate) trait Sendable:
    http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static
{
}

impl<B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static> Sendable for B {}

/// A listener at work. Dropping it cuts everything off.
#[derive(Debug)]
pub(crate) struct Listening {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Listening {
    /// Serves what arrives at `listener` until it is told to stop.
    pub(super) fn start<B: Sendable>(
        listener: TcpListener,
        certificates: Arc<dyn ResolvesServerCert>,
        authentication: Arc<Authentication>,
        service: impl Answers<B>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let connection = Connection {
            tls: TlsAcceptor::from(Arc::new(configuration(certificates, &authentication))),
            authentication,
            service,
            stopped,
        };
        let serving = tokio::spawn(accept_all(listener, connection));
        Ok(Self {
            address,
            stop,
            serving,
        })
    }

    /// Where it listens, with the port that was picked if none was asked for.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets requests that are being answered finish, and cuts off what
    /// has not finished in time, such as watches that nobody ended.
    pub(crate) async fn shutdown(mut self, within: Duration) {
        self.stop.send_replace(true);
        if timeout(within, &mut self.serving).await.is_err() {
            tracing::debug!("connections were cut off {within:?} after the stop");
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn configuration(
    certificates: Arc<dyn ResolvesServerCert>,
    authentication: &Authentication,
) -> ServerConfig {
    let provider = Arc::new(crypto::ring::default_provider());
    let door = authentication.at_the_door(provider.clone());
    let mut configuration = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks the protocol versions that are on by default")
        .with_client_cert_verifier(door)
        .with_cert_resolver(certificates);
    configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    configuration
}

/// Accepts until told to stop, then waits for the connections to end. Connections belong to this
/// future: when it is dropped, they are.
async fn accept_all<B: Sendable>(listener: TcpListener, connection: Connection<impl Answers<B>>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut stopped = connection.stopped.clone();
    let stop = stopped.wait_for(|stopped| *stopped);
    let opened = &mut connections;
    let accepting = async move {
        loop {
            let slot = slots.clone().acquire_owned().await;
            let stream = accept(&listener).await;
            let connection = connection.clone();
            opened.spawn(async move {
                let _slot = slot;
                connection.serve(stream).await;
            });
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
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                sleep(pause_after(&error)).await;
            }
        }
    }
}

/// How long to wait before accepting again; not at all if only one connection was concerned.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "any other error may last, which is what the pause is for"
)]
fn pause_after(error: &io::Error) -> Duration {
    match error.kind() {
        io::ErrorKind::ConnectionAborted
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::Interrupted => Duration::ZERO,
        _ => ACCEPT_PAUSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_waited_out_and_a_lost_peer_is_not() {
        let too_many_open_files = io::Error::from_raw_os_error(24);
        assert_eq!(pause_after(&too_many_open_files), ACCEPT_PAUSE);
        let lost = io::Error::from(io::ErrorKind::ConnectionAborted);
        assert_eq!(pause_after(&lost), Duration::ZERO);
    }
}
