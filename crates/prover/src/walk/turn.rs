//! PURE. What an answer says about the way: down, on, or to its end.

use dns::Name;

use super::Host;
use crate::fault::Fault;
use crate::message::{Answer, Code, Data, Record};

/// Where to go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    /// There is a zone below, with these servers.
    Down {
        apex: Name,
        hosts: Vec<Host>,
        /// Whether the server that says so is one of them.
        same: bool,
    },
    /// There is no cut at this name.
    Stay,
    /// There is nothing below (RFC 8020).
    Bottom,
}

/// Reads what a server of `zone` says about a cut at `name`.
pub(super) fn read(answer: &Answer, zone: &Name, name: &Name) -> Result<Turn, Fault> {
    // The code is about the end of the chain of aliases, and an alias is no cut.
    if answer.alias(name)?.is_some() {
        return spoken(answer, zone, Turn::Stay);
    }
    match &answer.code {
        Code::Other(code) => Err(Fault::Code(code.clone())),
        Code::NxDomain => spoken(answer, zone, Turn::Bottom),
        Code::NoError => match down(answer, zone, name) {
            Some(down) => Ok(down),
            None => spoken(answer, zone, Turn::Stay),
        },
    }
}

/// A server that neither speaks for its zone nor leads below it is no server of it. Upwards is where we come from.
fn spoken(answer: &Answer, zone: &Name, turn: Turn) -> Result<Turn, Fault> {
    if answer.authoritative {
        Ok(turn)
    } else {
        Err(Fault::Lame(zone.clone()))
    }
}

fn down(answer: &Answer, zone: &Name, name: &Name) -> Option<Turn> {
    // The server speaks for the zone below, too.
    let same = answer.authoritative && answer.records.iter().any(|it| server(it, name).is_some());
    let (apex, section) = if same {
        (name, &answer.records)
    } else {
        (referral(answer, zone, name)?, &answer.authority)
    };
    let hosts = section.iter().filter_map(|record| server(record, apex));
    Some(Turn::Down {
        apex: apex.clone(),
        hosts: hosts.map(|host| with_glue(host, answer, zone)).collect(),
        same,
    })
}

/// The zone that a server leads to: below its own, and on the way to the name.
fn referral<'a>(answer: &'a Answer, zone: &Name, name: &Name) -> Option<&'a Name> {
    let owners = answer.authority.iter().filter_map(|record| {
        server(record, &record.owner)?;
        Some(&record.owner)
    });
    owners
        .filter(|owner| owner.is_below(zone) && name.is_at_or_below(owner))
        .max_by_key(|owner| owner.label_count())
}

fn server<'a>(record: &'a Record, owner: &Name) -> Option<&'a Name> {
    match &record.data {
        Data::Server(host) if record.owner == *owner => Some(host),
        Data::Server(_) | Data::Text(_) | Data::Alias(_) | Data::Address(_) => None,
    }
}

/// A server knows the addresses of hosts in its own zone and below. What it says about others is hearsay, and found out
/// from those who know.
fn with_glue(host: &Name, answer: &Answer, zone: &Name) -> Host {
    let glue = answer
        .additional
        .iter()
        .filter_map(|record| match record.data {
            Data::Address(address) if record.owner == *host => Some(address),
            Data::Address(_) | Data::Text(_) | Data::Alias(_) | Data::Server(_) => None,
        });
    let is_known = host.is_at_or_below(zone);
    Host {
        name: host.clone(),
        addresses: glue.filter(|_| is_known).collect(),
    }
}
