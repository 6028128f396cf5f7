//! One question to one server: over UDP, and over TCP where the answer did not fit.
//!
//! Over UDP anybody may send anything, so what is no answer to our question is passed over and the wait goes on; over
//! TCP only the server can speak, and what it says counts. Whoever asks decides how long.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::interval;

use crate::check::Network;
use crate::fault::Fault;
use crate::message::{Answer, Question, Reply};

/// A datagram may be lost: the question is sent again for as long as there is time.
const SEND_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The longest datagram there is; a server may send more than it was asked to.
const DATAGRAM_OCTETS_MAX: usize = u16::MAX as usize;

/// The network of this machine.
#[derive(Debug)]
pub(crate) struct Sockets;

impl Network for Sockets {
    async fn ask(&self, server: SocketAddr, question: &Question) -> Result<Answer, Fault> {
        match over_udp(server, question).await? {
            Reply::Whole(answer) => Ok(answer),
            Reply::Truncated => over_tcp(server, question).await,
        }
    }
}

/// Each question has a socket of its own, so that the system draws another port for each.
async fn over_udp(server: SocketAddr, question: &Question) -> Result<Reply, Fault> {
    let socket = UdpSocket::bind(any_like(server)).await?;
    // From here on the system drops what comes from elsewhere, and tells us when nobody listens.
    socket.connect(server).await?;
    let id = rand::random();
    let octets = question.compose(id);
    let mut again = interval(SEND_AGAIN_AFTER);
    let mut buffer = vec![0; DATAGRAM_OCTETS_MAX];
    loop {
        tokio::select! {
            _ = again.tick() => drop(socket.send(&octets).await?),
            length = socket.recv(&mut buffer) => {
                if let Ok(reply) = question.read(id, &buffer[..length?]) {
                    return reply;
                }
            }
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &Question) -> Result<Answer, Fault> {
    let mut stream = TcpStream::connect(server).await?;
    let id = rand::random();
    let octets = question.compose(id);
    let length = u16::try_from(octets.len()).expect("a question is short");
    let framed = [&length.to_be_bytes(), octets.as_slice()].concat();
    stream.write_all(&framed).await?;
    let mut buffer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut buffer).await?;
    match question.read(id, &buffer) {
        Ok(Ok(Reply::Whole(answer))) => Ok(answer),
        Ok(Err(fault)) => Err(fault),
        Ok(Ok(Reply::Truncated)) | Err(_) => Err(Fault::Garbage),
    }
}

/// Any port of ours that can reach an address.
fn any_like(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}
