//! One question to one address, until an answer or the deadline.
//!
//! Over UDP anybody may send anything, so what is no answer to our question is passed over and the wait goes on; over
//! TCP only the server can speak, and what it says counts.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, interval, sleep_until, timeout_at};

use super::message::{Asked, Reply, Unfit};

/// A datagram may be lost: the question is sent again for as long as there is time. dig waits five seconds; a name
/// server answers from memory.
const SEND_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The longest message there is.
const MESSAGE_OCTETS_MAX: usize = u16::MAX as usize;

/// What carries question and answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Transport {
    Udp,
    Tcp,
}

/// An answer, and how it came.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) reply: Reply,
    pub(super) server: SocketAddr,
    pub(super) transport: Transport,
    /// From the question to the answer, both attempts included where there were two.
    pub(super) elapsed: Duration,
}

/// Who did not answer, and what happened instead.
#[derive(Debug, thiserror::Error)]
#[error("no answer from {server} over {transport}: {why}")]
pub(super) struct Failure {
    server: SocketAddr,
    transport: Transport,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("silence for {0:?}")]
    Silence(Duration),
    #[error("only what is no answer to this question came within {0:?}: {1}")]
    Strangers(Duration, Unfit),
    #[error("nobody listens there")]
    NobodyListens,
    #[error("it closed the connection without a word")]
    Closed,
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error("{0}")]
    Network(io::Error),
}

/// Asks over UDP, and over TCP where the answer did not fit, or over TCP at once.
pub(super) async fn ask(
    server: SocketAddr,
    asked: &Asked,
    transport: Transport,
    within: Duration,
) -> Result<Answered, Failure> {
    let begin = Instant::now();
    let limit = Limit {
        within,
        deadline: begin + within,
    };
    let (reply, transport) = match transport {
        Transport::Tcp => (over_tcp(server, asked, limit).await, Transport::Tcp),
        Transport::Udp => match over_udp(server, asked, limit).await {
            Ok(reply) if reply.truncated => (over_tcp(server, asked, limit).await, Transport::Tcp),
            done => (done, Transport::Udp),
        },
    };
    let reply = reply.map_err(|why| Failure {
        server,
        transport,
        why,
    })?;
    Ok(Answered {
        reply,
        server,
        transport,
        elapsed: begin.elapsed(),
    })
}

/// How long it may take, and until when that is.
#[derive(Clone, Copy)]
struct Limit {
    within: Duration,
    deadline: Instant,
}

async fn over_udp(server: SocketAddr, asked: &Asked, limit: Limit) -> Result<Reply, Why> {
    let socket = UdpSocket::bind(any_like(server)).await?;
    // From here on the system drops what comes from elsewhere, and tells us when nobody listens.
    socket.connect(server).await?;
    let mut again = interval(SEND_AGAIN_AFTER);
    let mut buffer = vec![0; MESSAGE_OCTETS_MAX];
    let mut stranger = None;
    loop {
        tokio::select! {
            _ = again.tick() => drop(socket.send(asked.octets()).await?),
            length = socket.recv(&mut buffer) => match asked.read(&buffer[..length?]) {
                Ok(reply) => return Ok(reply),
                Err(unfit @ Unfit::Malformed(_)) => return Err(unfit.into()),
                Err(unfit) => stranger = Some(unfit),
            },
            () = sleep_until(limit.deadline) => return Err(match stranger {
                Some(unfit) => Why::Strangers(limit.within, unfit),
                None => Why::Silence(limit.within),
            }),
        }
    }
}

async fn over_tcp(server: SocketAddr, asked: &Asked, limit: Limit) -> Result<Reply, Why> {
    let exchange = async {
        let mut stream = TcpStream::connect(server).await?;
        let length = u16::try_from(asked.octets().len()).expect("a question is short");
        let framed = [&length.to_be_bytes(), asked.octets()].concat();
        stream.write_all(&framed).await?;
        let mut buffer = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut buffer).await?;
        Ok(asked.read(&buffer)?)
    };
    let done = timeout_at(limit.deadline, exchange).await;
    done.unwrap_or(Err(Why::Silence(limit.within)))
}

/// Any port of ours that can reach an address.
fn any_like(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Why {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "other errors speak for themselves"
        )]
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Why::NobodyListens,
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Why::Closed,
            _ => Why::Network(error),
        }
    }
}

impl std::fmt::Display for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Transport::Udp => "UDP",
            Transport::Tcp => "TCP",
        })
    }
}
