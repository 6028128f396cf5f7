//! PURE. The way from the roots down to the zone that holds a name, as a machine: a step says what to do, and what came
//! of it makes the next.
//!
//! ```text
//!                       a cut: down, with the servers of the zone below
//!                     ┌───────────────────────────────────────────────┐
//!                     ▼                                               │
//! roots ─► is somebody known to ask? ─ yes ─► is a zone cut at the next name? ─ no: the next name, until the last ─► Arrived
//!             ▲       │ no                            │ no answer
//!             │       ├─► Find: addresses of hosts    └─► the next server
//!             └───────┘ │
//!                       └─► nobody is left: Lost
//! ```
//!
//! At each zone its servers are asked for the NS records of one name after the other, each a label longer, so that no cut
//! is missed, even where one server holds both sides of it. One server is believed about what is below its zone: it is
//! the only one who can know.
//!
//! The border: it asks nobody. All servers of the zone it arrives at are asked by others, for other things.

mod turn;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use dns::{Name, Rtype};
use egress::{Egress, EgressError};

use crate::fault::{Fault, Stop};
use crate::message::{Answer, Question};
use turn::Turn;

/// Thirteen is what the root has, and hardly anybody has more; a referral of hundreds is made to let us ask for each.
const HOSTS_MAX: usize = 16;

/// To go on, one host that answers is enough; two are looked for at a time, in case that the first is lost.
const HOSTS_AT_ONCE: usize = 2;

/// Where name servers that are found may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) egress: &'a Egress,
    pub(crate) port: u16,
}

/// What to do next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Ask a server, and tell what was heard.
    Ask(SocketAddr, Question),
    /// Find the addresses of these hosts, and tell what was found.
    Find(Vec<Name>),
    /// The zone is found.
    Arrived(Place),
    /// There is no way.
    Lost(Stop),
}

/// A zone, and who is known to serve it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) zone: Zone,
    /// Who can be asked about it, best first: enough to go on, and perhaps not everyone.
    pub(crate) reach: Vec<SocketAddr>,
}

/// A zone as it is delegated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Zone {
    pub(crate) apex: Name,
    pub(crate) servers: Servers,
}

/// Who serves a zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Servers {
    /// Those that the walk began with.
    Given(Vec<SocketAddr>),
    /// These hosts, with the addresses that came with them.
    Named(Vec<Host>),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Host {
    pub(crate) name: Name,
    pub(crate) addresses: Vec<IpAddr>,
}

/// What became of finding a host.
pub(crate) type Found = Result<Vec<IpAddr>, Stop>;

/// A walk on its way.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    rules: Rules<'a>,
    name: Name,
    zone: Zone,
    /// How many labels the name has that is asked about next.
    depth: usize,
    /// Who can be asked; who did not answer is no longer among them.
    reach: VecDeque<SocketAddr>,
    /// Hosts that nobody has looked for yet.
    unknown: VecDeque<Name>,
    /// Why those who were tried were of no use.
    stop: Option<Stop>,
}

impl<'a> Walk<'a> {
    /// Begins at the roots.
    pub(crate) fn new(name: &Name, roots: &[SocketAddr], rules: Rules<'a>) -> Walk<'a> {
        Walk {
            rules,
            name: name.clone(),
            zone: Zone {
                apex: Name::root(),
                servers: Servers::Given(roots.to_vec()),
            },
            depth: 1,
            reach: roots.iter().copied().collect(),
            unknown: VecDeque::new(),
            stop: None,
        }
    }

    /// What to do.
    pub(crate) fn step(&mut self) -> Step {
        let Some(server) = self.reach.front() else {
            return self.find();
        };
        match self.next_name() {
            Some(name) => Step::Ask(*server, Question::new(name, Rtype::NS)),
            None => Step::Arrived(Place {
                zone: self.zone.clone(),
                reach: self.reach.iter().copied().collect(),
            }),
        }
    }

    /// Goes on after an answer.
    pub(crate) fn heard(&mut self, answer: Result<Answer, Fault>) -> Step {
        let name = self.next_name().unwrap_or_else(|| self.name.clone());
        let turn = answer.and_then(|answer| turn::read(&answer, &self.zone.apex, &name));
        match turn {
            Ok(Turn::Down { apex, hosts, same }) => self.descend(apex, hosts, same),
            Ok(Turn::Stay) => self.depth += 1,
            Ok(Turn::Bottom) => self.depth = self.name.label_count() + 1,
            Err(fault) => self.give_up_server(fault),
        }
        self.step()
    }

    /// Goes on after hosts were looked for.
    pub(crate) fn found(&mut self, found: Vec<Found>) -> Step {
        for found in found {
            match found {
                Ok(addresses) => self.admit(&addresses),
                Err(stop) => self.remember(stop),
            }
        }
        self.step()
    }

    /// The name that is asked about next; none where the zone holds the whole of it.
    fn next_name(&self) -> Option<Name> {
        let mut names = self.name.ancestors();
        names.find(|name| name.label_count() == self.depth)
    }

    fn find(&mut self) -> Step {
        let count = HOSTS_AT_ONCE.min(self.unknown.len());
        let hosts: Vec<Name> = self.unknown.drain(..count).collect();
        if hosts.is_empty() {
            return Step::Lost(self.stop.take().unwrap_or(Fault::Nobody.into()));
        }
        Step::Find(hosts)
    }

    fn descend(&mut self, apex: Name, mut hosts: Vec<Host>, same: bool) {
        hosts.truncate(HOSTS_MAX);
        let here = self.reach.front().copied();
        self.reach.clear();
        self.stop = None;
        // Whoever speaks for both sides of a cut says nothing of addresses. It can be asked for them.
        self.reach.extend(here.filter(|_| same));
        let known = hosts.iter().flat_map(|host| host.addresses.iter().copied());
        let known: Vec<IpAddr> = known.collect();
        self.admit(&known);
        let unknown = hosts.iter().filter(|host| host.addresses.is_empty());
        self.unknown = unknown.map(|host| host.name.clone()).collect();
        self.depth = apex.label_count() + 1;
        self.zone = Zone {
            apex,
            servers: Servers::Named(hosts),
        };
    }

    fn admit(&mut self, addresses: &[IpAddr]) {
        let (good, refused) = self.rules.admit(addresses);
        for server in good {
            if !self.reach.contains(&server) {
                self.reach.push_back(server);
            }
        }
        if let Some(refused) = refused {
            self.remember(Stop::Refused(refused));
        }
    }

    fn give_up_server(&mut self, fault: Fault) {
        if let Some(server) = self.reach.pop_front() {
            self.remember(Fault::At(server, Box::new(fault)).into());
        }
    }

    fn remember(&mut self, stop: Stop) {
        self.stop = Some(stop.after(self.stop.take()));
    }
}

impl Rules<'_> {
    /// Where these addresses can be asked, those of IPv4 first, which more machines have; and why others cannot.
    pub(crate) fn admit(&self, addresses: &[IpAddr]) -> (Vec<SocketAddr>, Option<EgressError>) {
        let mut good = Vec::new();
        let mut refused = None;
        for address in addresses {
            match self.egress.check_address(*address) {
                Ok(()) => good.push(SocketAddr::new(*address, self.port)),
                Err(error) => refused = Some(error),
            }
        }
        good.sort_by_key(SocketAddr::is_ipv6);
        (good, refused)
    }
}

#[cfg(test)]
mod tests;
