//! What the server counts: plain numbers, for whoever shows them.
//!
//! Every worker has a tally of its own, so that counting costs no worker a look at another's memory; reading adds them up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::base::iana::OptRcode;

use crate::{Outcome, Transport};

/// The response codes there are, up to BADCOOKIE (RFC 6895 §2.3, RFC 7873 §8).
const RCODES: u16 = 24;

/// A view of the server's counters, which go on while it is held.
#[derive(Clone, Debug)]
pub struct Counters {
    tallies: Arc<[Tally]>,
}

/// The counters at one moment, since the server was opened.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// What came and went in datagrams.
    pub udp: Traffic,
    /// What came and went in streams.
    pub tcp: Traffic,
    /// Answers by response code; codes that never occurred are absent.
    pub rcodes: BTreeMap<OptRcode, u64>,
    /// Connections that were taken.
    pub connections: u64,
    /// Connections that were closed at once, since their client had enough of them.
    pub connections_refused: u64,
    /// Connections that were closed because a deadline passed or a message was too long.
    pub connections_cut: u64,
}

/// Messages of one transport.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    /// Messages that came.
    pub queries: u64,
    /// Octets that came, without what the transport adds.
    pub octets_in: u64,
    /// Octets that were answered.
    pub octets_out: u64,
    /// Answers that said there is more.
    pub truncated: u64,
    /// Messages without an answer: too short, answers themselves, or there was no room to send one.
    pub dropped: u64,
}

/// One worker's counters, on a cache line of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Tally {
    udp: TrafficTally,
    tcp: TrafficTally,
    rcodes: [AtomicU64; RCODES as usize],
    connections: AtomicU64,
    connections_refused: AtomicU64,
    connections_cut: AtomicU64,
}

#[derive(Debug, Default)]
struct TrafficTally {
    queries: AtomicU64,
    octets_in: AtomicU64,
    octets_out: AtomicU64,
    truncated: AtomicU64,
    dropped: AtomicU64,
}

impl Counters {
    pub(crate) fn new(workers: usize) -> Counters {
        Counters {
            tallies: (0..workers).map(|_| Tally::default()).collect(),
        }
    }

    pub(crate) fn tally(&self, worker: usize) -> &Tally {
        &self.tallies[worker]
    }

    /// The sum over all workers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for tally in self.tallies.iter() {
            tally.udp.add_to(&mut counts.udp);
            tally.tcp.add_to(&mut counts.tcp);
            for (rcode, count) in (0..RCODES).zip(&tally.rcodes) {
                let count = get(count);
                if count > 0 {
                    *counts
                        .rcodes
                        .entry(OptRcode::masked_from_int(rcode))
                        .or_default() += count;
                }
            }
            counts.connections += get(&tally.connections);
            counts.connections_refused += get(&tally.connections_refused);
            counts.connections_cut += get(&tally.connections_cut);
        }
        counts
    }
}

impl Tally {
    /// A message came and was answered, or not.
    pub(crate) fn answered(
        &self,
        transport: Transport,
        octets_in: usize,
        outcome: Option<Outcome>,
        octets_out: usize,
    ) {
        let traffic = self.traffic(transport);
        add(&traffic.queries, 1);
        add(&traffic.octets_in, octets_in);
        let Some(outcome) = outcome else {
            add(&traffic.dropped, 1);
            return;
        };
        add(&traffic.octets_out, octets_out);
        add(&traffic.truncated, usize::from(outcome.truncated));
        let code = usize::from(outcome.rcode.to_int());
        if let Some(count) = self.rcodes.get(code) {
            add(count, 1);
        }
    }

    /// An answer could not be sent.
    pub(crate) fn unsent(&self, transport: Transport) {
        add(&self.traffic(transport).dropped, 1);
    }

    pub(crate) fn connection(&self) {
        add(&self.connections, 1);
    }

    pub(crate) fn connection_refused(&self) {
        add(&self.connections_refused, 1);
    }

    pub(crate) fn connection_cut(&self) {
        add(&self.connections_cut, 1);
    }

    fn traffic(&self, transport: Transport) -> &TrafficTally {
        match transport {
            Transport::Udp => &self.udp,
            Transport::Tcp => &self.tcp,
        }
    }
}

impl TrafficTally {
    fn add_to(&self, traffic: &mut Traffic) {
        traffic.queries += get(&self.queries);
        traffic.octets_in += get(&self.octets_in);
        traffic.octets_out += get(&self.octets_out);
        traffic.truncated += get(&self.truncated);
        traffic.dropped += get(&self.dropped);
    }
}

fn add(counter: &AtomicU64, amount: usize) {
    counter.fetch_add(amount as u64, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_workers_count_is_added_up() {
        let counters = Counters::new(2);
        let answered = |rcode, truncated| Some(Outcome { rcode, truncated });
        let (first, second) = (counters.tally(0), counters.tally(1));
        first.answered(Transport::Udp, 30, answered(OptRcode::NOERROR, false), 100);
        second.answered(Transport::Udp, 30, answered(OptRcode::NOERROR, true), 40);
        second.answered(Transport::Tcp, 30, answered(OptRcode::BADVERS, false), 23);
        first.answered(Transport::Udp, 5, None, 0);
        second.unsent(Transport::Tcp);
        let expected = Counts {
            udp: Traffic {
                queries: 3,
                octets_in: 65,
                octets_out: 140,
                truncated: 1,
                dropped: 1,
            },
            tcp: Traffic {
                queries: 1,
                octets_in: 30,
                octets_out: 23,
                truncated: 0,
                dropped: 1,
            },
            rcodes: [(OptRcode::NOERROR, 2), (OptRcode::BADVERS, 1)].into(),
            ..Counts::default()
        };
        assert_eq!(counters.counts(), expected);
    }
}
