//! Questions to a name server, one after the other.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use domain::base::iana::{Class, Rcode};
use domain::base::{Message, MessageBuilder, Name};
use domain::rdata::A;

/// A question to a server on this machine that has no answer by then was dropped.
const ANSWERED_WITHIN: Duration = Duration::from_millis(200);

/// How long a name server that has just been told may take to answer, before we give up.
const GIVE_UP_AFTER: Duration = Duration::from_mins(1);

/// Between two questions for something that is not there yet: far below what is promised.
const ASK_EVERY: Duration = Duration::from_millis(1);

pub(crate) struct Asker {
    socket: UdpSocket,
}

impl Asker {
    pub(crate) fn new(server: SocketAddr) -> Result<Asker> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(ANSWERED_WITHIN))?;
        Ok(Asker { socket })
    }

    /// Asks for an address until it is the one that it should be. When that was.
    pub(crate) fn until(&self, name: &str, address: Ipv4Addr) -> Result<Instant> {
        let give_up = Instant::now() + GIVE_UP_AFTER;
        loop {
            if self.ask(name)? == Some(address) {
                return Ok(Instant::now());
            }
            if give_up < Instant::now() {
                bail!("{name} is not {address} after {GIVE_UP_AFTER:?}");
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    /// The first address of a name, if it has one.
    pub(crate) fn ask(&self, name: &str) -> Result<Option<Ipv4Addr>> {
        let name: Name<Vec<u8>> = name.parse().context("a name")?;
        let mut question = MessageBuilder::new_vec().question();
        question.push((name, domain::base::Rtype::A, Class::IN))?;
        self.socket.send(&question.finish())?;
        let mut buffer = [0; 1500];
        let Ok(length) = self.socket.recv(&mut buffer) else {
            return Ok(None);
        };
        let answer = Message::from_octets(&buffer[..length])?;
        if answer.header().rcode() != Rcode::NOERROR {
            return Ok(None);
        }
        let mut records = answer.answer()?.limit_to::<A>();
        Ok(records
            .next()
            .transpose()?
            .map(|record| record.data().addr()))
    }
}
