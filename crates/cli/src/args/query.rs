//! The words of `zonewright query`, in whichever order people are used to.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use clap::ArgAction;
use dns::{Name, Rtype};

use super::DNS;
use super::value::{self, DNS_PORT, Endpoint};

const EXAMPLES: &str = "\
Examples:
  zonewright query www.example.org                        the address, from `zonewright up`
  zonewright query example.org mx @192.0.2.53             another type, from another name server
  zonewright query example.org TXT @[2001:db8::53]:5353   with a port of its own";

/// What to write for a name server.
const HOW_TO_WRITE: &str = "write a name server such as @192.0.2.53, @192.0.2.53:5353, @[2001:db8::53]:53 or @ns1.example.org";

/// Ask a name server a question.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "zonewright query [OPTIONS] NAME [TYPE] [@SERVER]",
    after_help = EXAMPLES
)]
pub(crate) struct Query {
    /// The name to ask for, with or without its final dot. The type of record to ask for: a mnemonic
    /// in any case, or TYPE and a number; A without one. The name server to ask, behind an @: a host
    /// or an address, with or without a port; without one 127.0.0.1:1053, where `zonewright up`
    /// answers.
    #[arg(value_name = "NAME [TYPE] [@SERVER]", required = true, num_args = 1..=3, value_parser = word)]
    words: Vec<Word>,

    /// How long to wait for an answer, the attempt over TCP included.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = value::duration, env = "ZONEWRIGHT_TIMEOUT")]
    pub(crate) timeout: Duration,

    /// Ask over TCP at once, not only when the answer over UDP was cut.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_TCP")]
    pub(crate) tcp: bool,
}

/// What to ask, and whom.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Inquiry {
    pub(crate) name: Name,
    pub(crate) rtype: Rtype,
    pub(crate) server: Server,
}

/// A name server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Server {
    pub(crate) host: Endpoint,
    pub(crate) port: u16,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Word {
    Server(Server),
    Plain(String),
}

impl Query {
    /// The words put together; the reason if they make no question.
    pub(crate) fn inquiry(&self) -> Result<Inquiry, String> {
        let mut plain = self.words.iter().filter_map(Word::plain);
        let name = plain.next().ok_or("there is no name to ask for")?;
        let rtype = plain.next().unwrap_or("A");
        if let Some(extra) = plain.next() {
            return Err(format!(
                "\"{extra}\" is one word too many: a name, a type and @ with a server make a question"
            ));
        }
        let mut servers = self.words.iter().filter_map(Word::server);
        let server = servers.next().cloned();
        if let Some(second) = servers.next() {
            return Err(format!("one server is asked, and @{second} is a second"));
        }
        Ok(Inquiry {
            name: value::domain(name)?,
            rtype: question_type(rtype)?,
            server: server.unwrap_or_else(Server::of_up),
        })
    }
}

impl Server {
    /// Where `zonewright up` answers unless it is told otherwise.
    fn of_up() -> Server {
        parse_server(DNS).expect("the default of --dns is an address with a port")
    }

    /// Whether this is where `zonewright up` answers.
    pub(crate) fn is_of_up(&self) -> bool {
        *self == Server::of_up()
    }
}

impl Word {
    fn plain(&self) -> Option<&str> {
        match self {
            Word::Plain(text) => Some(text),
            Word::Server(_) => None,
        }
    }

    fn server(&self) -> Option<&Server> {
        match self {
            Word::Server(server) => Some(server),
            Word::Plain(_) => None,
        }
    }
}

fn word(text: &str) -> Result<Word, String> {
    match text.strip_prefix('@') {
        Some(server) => parse_server(server).map(Word::Server),
        None => Ok(Word::Plain(text.to_owned())),
    }
}

/// `host`, `host:port`, `192.0.2.1:53`, `[::1]`, `[::1]:53` or `::1`.
fn parse_server(text: &str) -> Result<Server, String> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match (bracketed, text.split_once(':')) {
        (Some((address, "")), _) => (six(address)?, None),
        (Some((address, rest)), _) => (
            six(address)?,
            Some(rest.strip_prefix(':').ok_or(HOW_TO_WRITE)?),
        ),
        // More than one colon and no brackets: an address that has them, without a port.
        (None, Some((_, rest))) if rest.contains(':') => (six(text)?, None),
        (None, Some((host, port))) => (host_or_address(host)?, Some(port)),
        (None, None) => (host_or_address(text)?, None),
    };
    let port = match port.map(str::parse) {
        None => DNS_PORT,
        Some(Ok(port)) if port > 0 => port,
        Some(_) => return Err(HOW_TO_WRITE.to_owned()),
    };
    Ok(Server { host, port })
}

fn host_or_address(text: &str) -> Result<Endpoint, String> {
    value::endpoint(text).map_err(|_| HOW_TO_WRITE.to_owned())
}

fn six(text: &str) -> Result<Endpoint, String> {
    let address = text.parse::<Ipv6Addr>().map_err(|_| HOW_TO_WRITE)?;
    Ok(Endpoint::Address(IpAddr::V6(address)))
}

/// A type that can be asked for.
fn question_type(text: &str) -> Result<Rtype, String> {
    let rtype: Rtype = text
        .parse()
        .map_err(|error: dns::RtypeError| error.to_string())?;
    match rtype.to_string().as_str() {
        "AXFR" | "IXFR" => Err(format!("{rtype} is a transfer, not a question")),
        "OPT" | "TSIG" | "TKEY" | "TYPE0" => Err(format!("{rtype} cannot be asked for")),
        _ => Ok(rtype),
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.port;
        match &self.host {
            Endpoint::Name(name) => write!(f, "{}:{port}", name.to_string().trim_end_matches('.')),
            Endpoint::Address(IpAddr::V4(address)) => write!(f, "{address}:{port}"),
            Endpoint::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{port}"),
        }
    }
}

#[cfg(test)]
mod tests;
