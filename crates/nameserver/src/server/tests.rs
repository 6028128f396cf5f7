//! The server from outside: real sockets on loopback, small limits, real files.

mod disk;
mod publications;
mod sockets;
mod streams;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use dns::{Name, Publication, Serial, Sighting, Version, zonefile};
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::MessageBuilder;
use domain::base::{Message, Name as WireName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;

/// How long anything may take before a test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server with the other ends of its channels.
struct Running {
    server: Server,
    publications: mpsc::Sender<Publication>,
    sightings: mpsc::Receiver<Sighting>,
}

fn options() -> Options {
    Options {
        listeners: vec!["127.0.0.1:0".parse().unwrap()],
        workers: Some(2),
        ..Options::default()
    }
}

fn open(options: Options) -> Running {
    try_open(options).unwrap()
}

fn try_open(options: Options) -> Result<Running, OpenError> {
    let (publications, receiver) = mpsc::channel(64);
    let (sender, sightings) = mpsc::channel(64);
    Ok(Running {
        server: Server::open(options, receiver, sender)?,
        publications,
        sightings,
    })
}

fn stored_in(folder: &Path) -> Options {
    Options {
        store: Some(folder.to_owned()),
        ..options()
    }
}

impl Running {
    fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    async fn publish(&mut self, publication: Publication) -> Option<Serial> {
        let origin = publication.origin().clone();
        self.publications.send(publication).await.unwrap();
        let sighting = timeout(PATIENCE, self.sightings.recv()).await;
        let sighting = sighting.expect("a sighting in time").unwrap();
        assert_eq!(sighting.origin, origin);
        sighting.serial
    }

    async fn stop(self) {
        timeout(PATIENCE, self.server.shutdown(PATIENCE))
            .await
            .expect("the server stops");
    }
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn version(text: &str) -> Version {
    let reading = zonefile::parse(text, None);
    assert_eq!(reading.problems, []);
    let (zone, serial) = reading.zone.unwrap();
    Version { zone, serial }
}

/// A zone whose `www` says its serial.
fn example(serial: u32) -> Publication {
    Publication::Version(version(&format!(
        "$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc {serial} 2 3 4 5\n@ NS ns.example.net.\nwww TXT \"{serial}\"\n"
    )))
}

fn query(id: u16, name: &str, rtype: Rtype) -> Vec<u8> {
    let mut builder = MessageBuilder::new_vec();
    builder.header_mut().set_id(id);
    let mut question = builder.question();
    let name: WireName<Vec<u8>> = name.parse().unwrap();
    question.push((name, rtype, Class::IN)).unwrap();
    question.finish()
}

/// Asks over UDP, from a socket that takes answers from the address asked only.
async fn ask(address: SocketAddr, octets: &[u8]) -> Vec<u8> {
    let local = if address.is_ipv4() {
        "127.0.0.1:0"
    } else {
        "[::1]:0"
    };
    let socket = UdpSocket::bind(local).await.unwrap();
    socket.connect(address).await.unwrap();
    socket.send(octets).await.unwrap();
    let mut buffer = vec![0; 65_535];
    let length = timeout(PATIENCE, socket.recv(&mut buffer)).await;
    buffer.truncate(length.expect("an answer in time").unwrap());
    buffer
}

async fn send(stream: &mut TcpStream, message: &[u8]) {
    let length = u16::try_from(message.len()).unwrap();
    let framed = [&length.to_be_bytes()[..], message].concat();
    stream.write_all(&framed).await.unwrap();
}

/// The next answer, or nothing if the server closed the connection.
async fn receive(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let reading = async {
        let mut length = [0; 2];
        stream.read_exact(&mut length).await.ok()?;
        let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut message).await.ok()?;
        Some(message)
    };
    timeout(PATIENCE, reading).await.expect("an answer in time")
}

fn rcode(answer: &[u8]) -> Rcode {
    Message::from_slice(answer).unwrap().header().rcode()
}

/// The text of the one TXT record in an answer.
fn text(answer: &[u8]) -> Option<String> {
    let message = Message::from_slice(answer).unwrap();
    let mut records = message
        .answer()
        .unwrap()
        .limit_to::<domain::rdata::Txt<_>>();
    let record = records.next()?.unwrap();
    let octets = record.data().text::<Vec<u8>>();
    Some(String::from_utf8(octets).unwrap())
}

/// What `www.example.org` says over UDP.
async fn www(address: SocketAddr) -> Option<String> {
    text(&ask(address, &query(1, "www.example.org.", Rtype::TXT)).await)
}
