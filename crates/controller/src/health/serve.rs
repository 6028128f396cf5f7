//! HTTP/1.1 on a listener: enough for probes and scrapes.
//!
//! What a stranger can make us hold is bounded: how many connections, and how long one may take to ask.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tower::Service;
use tracing::{debug, warn};

/// How many connections are served at once: a few scrapers, a kubelet, and people.
const CONNECTIONS_MAX: usize = 64;

/// How long a connection may be idle or in the middle of its headers. Scrapers come back every minute or sooner.
const HEADERS_WITHIN: Duration = Duration::from_secs(90);

/// The pause after an error that the next attempt would meet again, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How long answers that are under way may take at the end.
const SHUTDOWN_WITHIN: Duration = Duration::from_secs(5);

/// Answers what arrives at `listener` until `shutdown` is there.
pub async fn serve<S>(listener: TcpListener, service: S, shutdown: impl Future<Output = ()>)
where
    S: Service<Request<Incoming>, Response = Response<Full<Bytes>>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN);
    let mut shutdown = pin!(shutdown);
    loop {
        let slot = Arc::clone(&slots).acquire_owned();
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = async { (slot.await, accept(&listener).await) } => accepted,
        };
        let (slot, stream) = accepted;
        let answers = TowerToHyperService::new(service.clone());
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), answers));
        tokio::spawn(async move {
            let _slot = slot;
            if let Err(error) = connection.await {
                debug!("a connection ended: {error}");
            }
        });
    }
    drop(listener);
    if timeout(SHUTDOWN_WITHIN, graceful.shutdown()).await.is_err() {
        debug!("connections were cut off {SHUTDOWN_WITHIN:?} after the stop");
    }
}

/// The next connection. Errors are waited out: they are the peer's, or pass when others close files.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use prometheus_client::registry::Registry;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    use super::*;
    use crate::health::{Health, Pulse};

    #[tokio::test]
    async fn requests_are_answered_until_the_end_and_idle_connections_do_not_delay_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let health = Health::new(Registry::default(), Pulse::new(Instant::now()));
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async { drop(stopped.await) };
        let serving = tokio::spawn(serve(listener, health.service(), shutdown));

        let mut idle = TcpStream::connect(address).await.unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nok"), "{answer}");

        stop.send(()).unwrap();
        timeout(SHUTDOWN_WITHIN, serving).await.unwrap().unwrap();
        assert_eq!(idle.read(&mut [0]).await.unwrap(), 0, "the end");
        assert!(TcpStream::connect(address).await.is_err());
    }
}
