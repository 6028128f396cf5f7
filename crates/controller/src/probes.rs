//! The loop over DNSHealthCheckProbes: each asks its target at its own pace, and says what it has found (D6).
//!
//! ```text
//! DNSHealthCheckProbe ─ feed ─► nodes ─► queue ─ due ─► ask ─► after ─► status, if anything but the time has changed
//!                                          ▲                     │
//!                                          └──── an interval ────┘
//! ```
//!
//! The first time is a moment after a probe appears, or asks for something else; from then on every interval, a little
//! earlier or later, so that those who began together do not stay together. Whoever has waited longest is asked first, and
//! only so many at a time. The Secret with headers is read when it is used: nobody watches Secrets for that.
//!
//! What it leaves to others: how targets are asked ([`Ask`]), what an answer means (`reconcile::probe`), and what follows
//! for the DNSRecord, which sees the status of its probes like anybody else.

mod headers;
mod node;
mod round;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::parse::dns_health_check_probe as parsed;
use api::{Decoded, DnsHealthCheckProbe, Reason};
use http::HeaderMap;
use kube::Client;
use kube::api::ApiResource;
use provider::Boxed;
use rand::Rng as _;
use rand::rngs::StdRng;
use reconcile::ProbeKey;
use tokio::time::Instant;
use tracing::{info, warn};

use crate::desk::{self, Begun, DeskOf, Ended, NoNews, Work};
use crate::feed::{Fed, Happened, Source, Told};
use crate::metrics::{Metrics, ShownProbe};
use crate::queue::Outcome;
use crate::running::Running;
use crate::surroundings::Surroundings;
use node::Node;
use round::{Finished, Round};

type Desk = DeskOf<Shell>;

/// A probe begins after this time at least, and this much longer at most: as long as the peer waits.
const START_AFTER: Duration = Duration::from_millis(500);
const START_WITHIN: Duration = Duration::from_secs(1);

/// How much earlier or later than its interval a probe is run.
const SPREAD: f64 = 0.05;

const KIND: &str = "DNSHealthCheckProbe";

/// Asks a target once.
pub trait Ask: Send + Sync {
    /// The HTTP status that the target answers with, or why there is none.
    fn ask<'a>(&'a self, question: &'a Question) -> Boxed<'a, Result<u16, String>>;
}

/// What to ask, and whom.
#[derive(Clone, Debug)]
pub struct Question {
    /// What the probe asks for.
    pub probe: parsed::DnsHealthCheckProbe,
    /// What is sent beside it.
    pub headers: HeaderMap,
    /// Whether any certificate is good enough: the probe and the operator say so.
    pub insecure: bool,
}

/// What the loop over DNSHealthCheckProbes is made of.
pub struct Probes {
    /// Where it runs.
    pub around: Surroundings,
    /// Where to look; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Whether a probe may take any certificate.
    pub insecure: bool,
    /// The way to targets.
    pub ask: Arc<dyn Ask>,
}

impl Probes {
    /// Begins to watch, and to ask.
    pub fn start(self) -> Running {
        let sources = [Source {
            kind: KIND,
            resource: ApiResource::erase::<DnsHealthCheckProbe>(&()),
            namespaces: self.namespaces.clone(),
            fields: None,
            labels: None,
        }];
        let (shell, around) = Shell::new(self, Told::new(&sources));
        desk::start(shell, &sources, around)
    }
}

struct Shell {
    client: Client,
    ask: Arc<dyn Ask>,
    insecure: bool,
    chance: StdRng,
    metrics: Metrics,
    nodes: BTreeMap<ProbeKey, Node>,
    /// What operators see of them.
    shown: BTreeMap<ProbeKey, ShownProbe>,
    told: Told<&'static str>,
}

impl Work for Shell {
    type Kind = &'static str;
    type Key = ProbeKey;
    type Finished = Finished;
    type News = NoNews;

    /// Each takes a socket, and a dead one ten seconds.
    const PASSES_AT_ONCE: usize = 256;

    /// Nobody waits for targets that have been asked: they are asked again by whoever comes next.
    const FINISHES: bool = false;

    fn lane(key: &ProbeKey) -> String {
        key.namespace.clone()
    }

    fn fed(&mut self, fed: Fed<&'static str>, desk: &mut Desk) {
        self.metrics.watched(KIND, &fed.event);
        let known = || self.nodes.keys().cloned().collect();
        for happened in self.told.take_in(fed, |_| known()) {
            match happened {
                Happened::Applied { key, object, anew } => {
                    let object = Decoded::of_parts(object.metadata, object.data);
                    self.apply(&key, object, anew, desk);
                }
                Happened::Gone(key) => self.forget(&key),
            }
        }
    }

    /// Probes know nothing of each other.
    fn is_synced(&self) -> bool {
        true
    }

    fn look_at_all(&mut self, desk: &mut Desk) {
        let keys: Vec<ProbeKey> = self.nodes.keys().cloned().collect();
        for key in keys {
            self.start(key, desk);
        }
    }

    fn begin(&mut self, key: &ProbeKey, now: Instant) -> Begun<Finished> {
        let Some(node) = self.nodes.get(key) else {
            return Begun::Over(Outcome::Done);
        };
        let round = Round {
            key: key.clone(),
            node: node.clone(),
            insecure: self.insecure,
            began: now,
        };
        let (client, ask) = (self.client.clone(), Arc::clone(&self.ask));
        Begun::Pass(Box::pin(
            async move { round.run(&client, ask.as_ref()).await },
        ))
    }

    fn finished(&mut self, finished: Finished, desk: &mut Desk) -> Ended<ProbeKey> {
        let key = finished.key;
        if let Some(written) = finished.written
            && self.nodes.contains_key(&key)
        {
            self.apply(&key, written, false, desk);
        }
        let node = self.nodes.get(&key);
        if let Some(status) = node.map(|node| &node.status)
            && status.healthy != finished.before
        {
            let object = format_args!("DNSHealthCheckProbe {key}");
            match (status.healthy, status.reason.as_deref()) {
                (Some(false), why) => {
                    let why = why.unwrap_or_default();
                    warn!(%object, reason = Reason::HealthChecksFailed.as_str(), "{why}");
                }
                (healthy, _) => info!(%object, healthy, "Health has changed"),
            }
        }
        let outcome = match &finished.result {
            Ok(()) => match node.and_then(Node::interval) {
                Some(interval) => {
                    let spread = self.chance.random_range(1.0 - SPREAD..=1.0 + SPREAD);
                    let next = finished.began + interval.mul_f64(spread);
                    Outcome::Again(Instant::now().max(next))
                }
                None => Outcome::Done,
            },
            Err(error) => error.outcome(&key),
        };
        Ended {
            key,
            kind: KIND,
            outcome,
        }
    }
}

impl Shell {
    fn new(parts: Probes, told: Told<&'static str>) -> (Shell, Surroundings) {
        let mut around = parts.around;
        let shell = Shell {
            client: around.counted(),
            ask: parts.ask,
            insecure: parts.insecure,
            chance: around.draw(),
            metrics: around.metrics.clone(),
            nodes: BTreeMap::new(),
            shown: BTreeMap::new(),
            told,
        };
        (shell, around)
    }

    /// A probe as it is now. What is told because everything is told anew is believed whatever its version.
    fn apply(
        &mut self,
        key: &ProbeKey,
        object: Decoded<DnsHealthCheckProbe>,
        anew: bool,
        desk: &mut Desk,
    ) {
        let node = Node::read(object);
        let known = self.nodes.get(key);
        if known.is_some_and(|known| !anew && !node.is_newer_than(known)) {
            return;
        }
        let begins = known.is_none_or(|known| !known.asks_as(&node));
        self.show(key, node.host());
        self.nodes.insert(key.clone(), node);
        if begins {
            self.start(key.clone(), desk);
        }
    }

    fn forget(&mut self, key: &ProbeKey) {
        self.nodes.remove(key);
        self.shown.remove(key);
    }

    fn show(&mut self, key: &ProbeKey, host: &str) {
        let shown = self.shown.get(key);
        if shown.is_none_or(|shown| shown.host() != host) {
            // The one before goes first: it may have the same labels.
            self.shown.remove(key);
            let shown = self.metrics.show_probe(key, host);
            self.shown.insert(key.clone(), shown);
        }
    }

    fn start(&mut self, key: ProbeKey, desk: &mut Desk) {
        let wait = START_AFTER + self.chance.random_range(Duration::ZERO..=START_WITHIN);
        desk.push_at(key, Instant::now() + wait);
    }
}
