//! Real name servers: NSD, Knot and BIND, on loopback, over zone files.
//!
//! [`programs()`] finds them on the machine or fetches them from Debian into the cache; it needs no privileges, and
//! nothing is installed. [`NameServer::start`] runs one in a directory of its own, on a port of its own, and returns
//! when it answers for every zone. All of them are set up alike: authoritative only, minimal responses, no rate limit,
//! no cookies, no transfers, and not a word about themselves. [`NameServer::start_with_key`] lets whoever has a key
//! transfer the zones and change them.
//!
//! A server dies with its value, and with the process however that ends.

mod configuration;
mod programs;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use domain::base::iana::{Rcode, Rtype};
use domain::base::{Message, MessageBuilder, Name};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

pub use programs::{Programs, ProgramsError, programs};

use crate::process::Process;
use crate::start::{self, ATTEMPTS, StartError, system};

/// A start takes a fraction of a second on an idle machine; the rest is for one that is busy building.
const READY_WITHIN: Duration = Duration::from_mins(1);

/// A server that is ready answers at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// Whose name server it is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Software {
    /// NSD, by those who also wrote our DNS library.
    Nsd,
    /// Knot DNS by CZ.NIC.
    Knot,
    /// BIND 9 by ISC.
    Bind,
}

impl Software {
    /// All there are.
    pub const ALL: [Software; 3] = [Software::Nsd, Software::Knot, Software::Bind];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Software::Nsd => "nsd",
            Software::Knot => "knot",
            Software::Bind => "bind",
        }
    }
}

impl fmt::Display for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A zone to serve.
#[derive(Clone, Debug)]
pub struct ZoneFile {
    /// The zone's name, with its final dot.
    pub origin: String,
    /// Its file, which is only read.
    pub path: PathBuf,
}

/// A key that a server takes transfers and updates with (RFC 8945), in the words of its configuration.
#[derive(Clone, Debug)]
pub struct TsigKey {
    /// What both sides call it.
    pub name: String,
    /// How it is used, such as `hmac-sha256`.
    pub algorithm: String,
    /// The key in base64.
    pub secret: String,
}

/// A name server that runs for as long as this value lives.
#[derive(Debug)]
pub struct NameServer {
    _process: Process,
    address: SocketAddr,
    _directory: TempDir,
}

impl NameServer {
    /// Starts a server over these zones, and returns when it answers for each of them.
    pub async fn start(software: Software, zones: &[ZoneFile]) -> Result<Self, StartError> {
        start(software, zones, None).await
    }

    /// The same at an address of the test's choice, which has to be free. All of 127.0.0.0/8 is this machine, so several
    /// servers can share a port, as name servers that find each other do; but BIND takes only addresses that an interface
    /// has, which is 127.0.0.1.
    pub async fn start_at(
        software: Software,
        address: SocketAddr,
        zones: &[ZoneFile],
    ) -> Result<Self, StartError> {
        start_once(&found().await?, software, address, zones, None).await
    }

    /// The same over copies of the zones, which whoever has the key may transfer and update. NSD takes no updates.
    pub async fn start_with_key(
        software: Software,
        zones: &[ZoneFile],
        key: &TsigKey,
    ) -> Result<Self, StartError> {
        start(software, zones, Some(key)).await
    }

    /// Where it answers, over UDP and TCP.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn start(
    software: Software,
    zones: &[ZoneFile],
    key: Option<&TsigKey>,
) -> Result<NameServer, StartError> {
    let programs = found().await?;
    start::start(async || {
        let address = free_address().map_err(system("a free port"))?;
        start_once(&programs, software, address, zones, key).await
    })
    .await
}

async fn found() -> Result<Programs, StartError> {
    let found = spawn_blocking(programs).await;
    found
        .expect("looking for programs does not panic")
        .map_err(StartError::missing)
}

async fn start_once(
    programs: &Programs,
    software: Software,
    address: SocketAddr,
    zones: &[ZoneFile],
    key: Option<&TsigKey>,
) -> Result<NameServer, StartError> {
    let directory = tempfile::Builder::new()
        .prefix("zonewright-name-server-")
        .tempdir()
        .map_err(system("a directory"))?;
    let mut process =
        configuration::spawn(programs, software, directory.path(), address, zones, key)
            .map_err(system(software.name()))?;
    ready(software, address, zones, &mut process).await?;
    Ok(NameServer {
        _process: process,
        address,
        _directory: directory,
    })
}

/// A port that was free for both a moment ago. Who comes too late is told by the program that lost it.
fn free_address() -> io::Result<SocketAddr> {
    let mut tries = ATTEMPTS;
    loop {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        match UdpSocket::bind(address) {
            Ok(_) => return Ok(address),
            Err(_) if tries > 1 => tries -= 1,
            Err(error) => return Err(error),
        }
    }
}

/// Waits until the server speaks for every zone; fails at once when it has ended.
async fn ready(
    software: Software,
    address: SocketAddr,
    zones: &[ZoneFile],
    process: &mut Process,
) -> Result<(), StartError> {
    let what = format!("{software} to answer for its zones");
    start::ready(&what, READY_WITHIN, &mut [process], async || {
        for zone in zones {
            speaks_for(address, &zone.origin).await?;
        }
        Ok(())
    })
    .await
}

async fn speaks_for(address: SocketAddr, origin: &str) -> Result<(), String> {
    let answer = tokio::time::timeout(ANSWER_WITHIN, ask(address, origin));
    let answer = answer.await.map_err(|_| "no answer".to_owned())?;
    let answer = answer.map_err(|error| error.to_string())?;
    let header = Message::from_octets(&answer[..])
        .map_err(|_| "a short answer".to_owned())?
        .header();
    if header.rcode() == Rcode::NOERROR && header.aa() {
        Ok(())
    } else {
        Err(format!("{} for {origin}", header.rcode()))
    }
}

/// Asks for a zone's SOA.
async fn ask(address: SocketAddr, origin: &str) -> io::Result<Vec<u8>> {
    let name: Name<Vec<u8>> = origin.parse().map_err(io::Error::other)?;
    let mut question = MessageBuilder::new_vec().question();
    question
        .push((name, Rtype::SOA))
        .map_err(io::Error::other)?;
    let socket = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    socket.connect(address).await?;
    socket.send(&question.finish()).await?;
    let mut answer = vec![0; 512];
    let length = socket.recv(&mut answer).await?;
    answer.truncate(length);
    Ok(answer)
}
