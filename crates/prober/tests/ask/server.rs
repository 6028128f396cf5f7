//! Servers that behave as a test wants them to, in one way each.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::certificates::Identity;

/// What a server says that speaks no HTTP.
pub(crate) const BABBLE: &str = "GARBAGE";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Behaviour {
    /// Answers with a status, and sends whoever should go elsewhere to itself.
    Answers(u16),
    /// Takes the request and says nothing.
    Hangs,
    /// Says so little at a time that it never comes to the point.
    Trickles,
    /// Begins a body and says no more.
    HangsInBody,
    /// Sends a body for ever.
    NeverEnds,
    /// Sends headers for ever.
    NeverEndingHead,
    /// Breaks the connection.
    Resets,
    /// Closes the connection without a word.
    Closes,
    /// Speaks no HTTP.
    Babbles,
}

/// A server, for as long as it lives.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    task: Option<JoinHandle<()>>,
}

struct Seen {
    requests: Mutex<Vec<String>>,
    sni: Mutex<Vec<Option<String>>>,
    left: watch::Sender<bool>,
}

impl Server {
    pub(crate) async fn start(behaviour: Behaviour) -> Server {
        Server::start_at("127.0.0.1:0", behaviour).await
    }

    pub(crate) async fn start_at(address: &str, behaviour: Behaviour) -> Server {
        Server::listen(address, behaviour, None).await
    }

    pub(crate) async fn start_tls(behaviour: Behaviour, identity: Identity) -> Server {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate], identity.key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        Server::listen("127.0.0.1:0", behaviour, Some(acceptor)).await
    }

    /// Where nobody listens any more.
    pub(crate) async fn gone() -> Server {
        let mut server = Server::start(Behaviour::Closes).await;
        let task = server.task.take().unwrap();
        task.abort();
        let _aborted = task.await;
        server
    }

    async fn listen(address: &str, behaviour: Behaviour, tls: Option<TlsAcceptor>) -> Server {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen {
            requests: Mutex::default(),
            sni: Mutex::default(),
            left: watch::channel(false).0,
        });
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(attend(stream, behaviour, tls.clone(), Arc::clone(&shared)));
            }
        });
        Server {
            address,
            seen,
            task: Some(task),
        }
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Which hosts were asked for in the handshakes so far.
    pub(crate) fn sni(&self) -> Vec<Option<String>> {
        self.seen.sni.lock().unwrap().clone()
    }

    /// Waits until whoever asked has closed the connection.
    pub(crate) async fn until_left(&self) {
        let mut left = self.seen.left.subscribe();
        let waited = timeout(Duration::from_secs(10), left.wait_for(|left| *left)).await;
        waited.unwrap().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn attend(
    stream: TcpStream,
    behaviour: Behaviour,
    tls: Option<TlsAcceptor>,
    seen: Arc<Seen>,
) {
    if let Behaviour::Resets = behaviour {
        // With nothing to linger for, closing breaks the connection.
        stream.set_zero_linger().unwrap();
        return;
    }
    match tls {
        None => behave(stream, behaviour, &seen).await,
        Some(tls) => {
            // Whoever does not believe the certificate goes away.
            let Ok(stream) = tls.accept(stream).await else {
                return;
            };
            let sni = stream.get_ref().1.server_name().map(str::to_owned);
            seen.sni.lock().unwrap().push(sni);
            behave(stream, behaviour, &seen).await;
        }
    }
}

async fn behave<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    behaviour: Behaviour,
    seen: &Seen,
) {
    let babbles = matches!(behaviour, Behaviour::Babbles);
    if !babbles {
        let Some(head) = head(&mut stream).await else {
            return;
        };
        seen.requests.lock().unwrap().push(head);
    }
    // A client that has left ends every one of these.
    let _left = match behaviour {
        Behaviour::Answers(status) => {
            let answer =
                format!("HTTP/1.1 {status} X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await
        }
        Behaviour::Hangs => read_on(&mut stream).await,
        Behaviour::Trickles => repeat(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n").await,
        Behaviour::HangsInBody => {
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
            stream.write_all(answer.as_bytes()).await.unwrap();
            read_on(&mut stream).await
        }
        Behaviour::NeverEnds => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            flood(&mut stream, "more and more ").await
        }
        Behaviour::NeverEndingHead => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
            flood(&mut stream, "x-more: and more\r\n").await
        }
        Behaviour::Resets | Behaviour::Closes => Ok(()),
        Behaviour::Babbles => {
            let babble = BABBLE.repeat(10);
            let told = stream.write_all(babble.as_bytes()).await;
            read_on(&mut stream).await.and(told)
        }
    };
    seen.left.send_replace(true);
}

/// The head of a request.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// Reads until the other side has left.
async fn read_on(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<()> {
    let mut sink = [0; 1024];
    while stream.read(&mut sink).await? > 0 {}
    Ok(())
}

async fn repeat(stream: &mut (impl AsyncWrite + Unpin), text: &str) -> std::io::Result<()> {
    loop {
        stream.write_all(text.as_bytes()).await?;
        stream.flush().await?;
        sleep(Duration::from_millis(20)).await;
    }
}

async fn flood(stream: &mut (impl AsyncWrite + Unpin), text: &str) -> std::io::Result<()> {
    let text = text.repeat(256);
    loop {
        stream.write_all(text.as_bytes()).await?;
    }
}
