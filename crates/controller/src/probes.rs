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

use api::Decoded;
use api::DnsHealthCheckProbe;
use api::parse::dns_health_check_probe as parsed;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use http::HeaderMap;
use kube::Client;
use kube::api::ApiResource;
use provider::Boxed;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use reconcile::ProbeKey;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};
use tracing::{debug, info, warn};

use crate::feed::{Fed, Feed, Happened, Source, Told};
use crate::health::{Check, Pulse, feeds};
use crate::metrics::{Metrics, ShownProbe};
use crate::queue::{self, Outcome, Queue};
use crate::write::WriteError;
use node::Node;
use round::{Finished, Round};

/// How many targets are asked at a time. Each takes a socket, and a dead one ten seconds.
const ASKED_AT_ONCE: usize = 256;

/// A probe begins after this time at least, and this much longer at most: as long as the peer waits.
const START_AFTER: Duration = Duration::from_millis(500);
const START_WITHIN: Duration = Duration::from_secs(1);

/// How much earlier or later than its interval a probe is run.
const SPREAD: f64 = 0.05;

/// How many events are taken in before what they touch is looked at.
const EVENTS_AT_ONCE: usize = 256;

/// How often the loop turns when nothing happens, so that others can see that it does.
const BEAT: Duration = Duration::from_secs(10);

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
    /// The way to the API.
    pub client: Client,
    /// Where to look; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Whether a probe may take any certificate.
    pub insecure: bool,
    /// The way to targets.
    pub ask: Arc<dyn Ask>,
    /// Where chance comes from.
    pub chance: StdRng,
    /// Whether this process may write.
    pub leading: watch::Receiver<bool>,
    /// What is measured.
    pub metrics: Metrics,
    /// The sign of life.
    pub pulse: Pulse,
}

/// The loop over DNSHealthCheckProbes, running. It goes on when this value is dropped.
#[derive(Debug)]
pub struct RunningProbes {
    feed: Arc<Feed<&'static str>>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl RunningProbes {
    /// What has to hold for this process to be ready: the kind is watched and heard of.
    pub fn checks(&self) -> impl Fn(Instant) -> Vec<Check> + Send + Sync + use<> {
        let feed = Arc::clone(&self.feed);
        move |now| feeds(&feed.progress(), now)
    }

    /// Ends it. Whether it did in time. Nobody waits for targets that have been asked: they are asked again by whoever
    /// comes next.
    pub async fn shutdown(self, within: Duration) -> bool {
        self.stop.send_replace(true);
        timeout(within, self.task).await.is_ok()
    }
}

impl Probes {
    /// Begins to watch, and to ask.
    pub fn start(mut self) -> RunningProbes {
        let sources = [Source {
            kind: KIND,
            resource: ApiResource::erase::<DnsHealthCheckProbe>(&()),
            namespaces: self.namespaces.clone(),
            fields: None,
        }];
        let chance = StdRng::from_rng(&mut self.chance);
        let (feed, fed) = Feed::start(&self.client, &sources, chance);
        let (stop, stopped) = watch::channel(false);
        RunningProbes {
            feed: Arc::new(feed),
            stop,
            task: tokio::spawn(self.run(Told::new(&sources), fed, stopped)),
        }
    }

    /// Runs until `stop` says so.
    async fn run(
        self,
        told: Told<&'static str>,
        mut fed: mpsc::Receiver<Fed<&'static str>>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut leading = self.leading.clone();
        let mut shell = Shell::new(self, told);
        let mut beat = interval(BEAT);
        loop {
            shell.turn();
            let due = shell.next_due();
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                Some(finished) = shell.rounds.next() => shell.finished(finished),
                Some(event) = fed.recv() => shell.fed(event, &mut fed),
                Ok(()) = leading.changed() => shell.lead(*leading.borrow_and_update()),
                () = until(due) => {}
                _ = beat.tick() => {}
            }
        }
    }
}

struct Shell {
    client: Client,
    ask: Arc<dyn Ask>,
    insecure: bool,
    chance: StdRng,
    metrics: Metrics,
    pulse: Pulse,
    nodes: BTreeMap<ProbeKey, Node>,
    /// What operators see of them.
    shown: BTreeMap<ProbeKey, ShownProbe>,
    told: Told<&'static str>,
    queue: Queue<ProbeKey, String>,
    rounds: FuturesUnordered<BoxFuture<'static, (Finished, Instant)>>,
    leading: bool,
}

impl Shell {
    fn new(parts: Probes, told: Told<&'static str>) -> Shell {
        let mut chance = parts.chance;
        let options = queue::Options {
            debounce: Duration::ZERO,
            ..queue::Options::default()
        };
        let lane = |key: &ProbeKey| key.namespace.clone();
        let leading = *parts.leading.borrow();
        Shell {
            client: parts.metrics.counting(&parts.client),
            ask: parts.ask,
            insecure: parts.insecure,
            queue: Queue::new(options, lane, StdRng::from_rng(&mut chance)),
            chance,
            metrics: parts.metrics,
            pulse: parts.pulse,
            nodes: BTreeMap::new(),
            shown: BTreeMap::new(),
            told,
            rounds: FuturesUnordered::new(),
            leading,
        }
    }

    /// Begins what is due.
    fn turn(&mut self) {
        let now = Instant::now();
        while self.has_room()
            && let Some(key) = self.queue.take(now)
        {
            self.begin(&key, now);
        }
        let oldest = self.queue.oldest_due(now).filter(|_| self.leading);
        self.pulse.turn(now, oldest.map(|age| now - age));
    }

    fn has_room(&self) -> bool {
        self.leading && self.queue.working() < ASKED_AT_ONCE
    }

    fn next_due(&self) -> Option<Instant> {
        self.queue.next_due().filter(|_| self.has_room())
    }

    fn fed(&mut self, event: Fed<&'static str>, more: &mut mpsc::Receiver<Fed<&'static str>>) {
        let waiting = std::iter::from_fn(|| more.try_recv().ok());
        for fed in std::iter::once(event).chain(waiting.take(EVENTS_AT_ONCE)) {
            self.metrics.watched(KIND, &fed.event);
            let known = || self.nodes.keys().cloned().collect();
            for happened in self.told.take_in(fed, |_| known()) {
                match happened {
                    Happened::Applied { key, object, anew } => {
                        let object = Decoded::of_parts(object.metadata, object.data);
                        self.apply(&key, object, anew);
                    }
                    Happened::Gone(key) => self.forget(&key),
                }
            }
        }
    }

    /// A probe as it is now. What is told because everything is told anew is believed whatever its version.
    fn apply(&mut self, key: &ProbeKey, object: Decoded<DnsHealthCheckProbe>, anew: bool) {
        let node = Node::read(object);
        let known = self.nodes.get(key);
        if known.is_some_and(|known| !anew && !node.is_newer_than(known)) {
            return;
        }
        let begins = known.is_none_or(|known| !known.asks_as(&node));
        self.show(key, node.host());
        self.nodes.insert(key.clone(), node);
        if begins {
            self.start(key.clone());
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

    fn start(&mut self, key: ProbeKey) {
        let wait = START_AFTER + self.chance.random_range(Duration::ZERO..=START_WITHIN);
        self.queue.push(key, Instant::now() + wait);
    }

    fn lead(&mut self, leading: bool) {
        self.leading = leading;
        let keys: Vec<ProbeKey> = self.nodes.keys().filter(|_| leading).cloned().collect();
        for key in keys {
            self.start(key);
        }
    }

    fn begin(&mut self, key: &ProbeKey, now: Instant) {
        let Some(node) = self.nodes.get(key) else {
            return self.queue.done(key, now, Outcome::Done);
        };
        let round = Round {
            key: key.clone(),
            node: node.clone(),
            insecure: self.insecure,
        };
        let (client, ask) = (self.client.clone(), Arc::clone(&self.ask));
        let run = async move { (round.run(&client, ask.as_ref()).await, now) };
        self.rounds.push(Box::pin(run));
    }

    fn finished(&mut self, (finished, began): (Finished, Instant)) {
        let now = Instant::now();
        let key = finished.key;
        if let Some(written) = finished.written
            && self.nodes.contains_key(&key)
        {
            self.apply(&key, written, false);
        }
        let node = self.nodes.get(&key);
        if let Some(status) = node.map(|node| &node.status)
            && status.healthy != finished.before
        {
            let (healthy, reason) = (status.healthy, status.reason.as_deref());
            info!(probe = %key, healthy, reason, "Health has changed");
        }
        let outcome = match &finished.result {
            Ok(()) => match node.and_then(Node::interval) {
                Some(interval) => {
                    let spread = self.chance.random_range(1.0 - SPREAD..=1.0 + SPREAD);
                    Outcome::Again(now.max(began + interval.mul_f64(spread)))
                }
                None => Outcome::Done,
            },
            Err(WriteError::Gone) => Outcome::Done,
            Err(WriteError::Stale) => {
                debug!(probe = %key, "Changed meanwhile");
                Outcome::Failed
            }
            Err(WriteError::Failed(error)) => {
                warn!(probe = %key, %error, "Could not read or write");
                Outcome::Failed
            }
        };
        self.pulse.pass_ended(now);
        self.metrics.pass(KIND, outcome, now - began);
        self.queue.done(&key, now, outcome);
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
