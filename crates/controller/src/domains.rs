//! The loop over custom domains: Ingresses, what proves their hosts, and the managed hosts beside them.
//!
//! ```text
//! Ingress, DomainVerification ─┐
//! Namespace, Zone, Record ─────┴─ feed ─► Domains ─ due ─► Ingress: claims, rules that come back
//!                                                     ├─► DomainVerification: owners, a look at DNS, status
//!                                                     └─► managed host: Records
//! ```
//!
//! The door is elsewhere (`admission`): this loop works on what is inside. Its own writes to Ingresses pass the door like
//! everybody's, so it cannot let anything in that is not proven.
//!
//! What it leaves to others: what may stand where (`reconcile::domains`), and how DNS is looked at ([`Look`]).

mod inbox;
mod pass;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use provider::Boxed;
use rand::Rng as _;
use rand::rngs::StdRng;
use reconcile::domains::{
    self, Domains, Guid, Key, Keyring, ManagedDomain, Sighting, decide_host, decide_ingress,
};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::info;

use crate::clock::Clock;
use crate::desk::{self, Begun, DeskOf, Ended, NoNews, TELL_WITHIN, Work};
use crate::events::Recorder;
use crate::feed::Fed;
use crate::metrics::Metrics;
use crate::queue::Outcome;
use crate::running::Running;
use crate::surroundings::Surroundings;
use inbox::{Inbox, Watched};
use pass::{Finished, HostPass, IngressPass, VerificationPass};

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

/// How much earlier or later than planned a domain is looked at.
const SPREAD: f64 = 0.2;

type Desk = DeskOf<Shell>;

/// Looks into DNS once.
pub trait Look: Send + Sync {
    /// What is seen.
    fn look<'a>(&'a self, look: &'a domains::Look) -> Boxed<'a, Sighting>;
}

/// What the loop over custom domains is made of.
pub struct CustomDomains {
    /// Where it runs.
    pub around: Surroundings,
    /// What the operator has chosen.
    pub options: Options,
    /// The way to DNS.
    pub look: Arc<dyn Look>,
}

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to look for Ingresses; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Where managed hosts are.
    pub managed: ManagedDomain,
    /// The installation's key.
    pub keyring: Keyring,
    /// How long a managed host whose Ingress has lost its addresses keeps the last ones.
    pub grace: Duration,
}

impl CustomDomains {
    /// Begins to watch, and to do what follows.
    pub fn start(mut self) -> Running {
        let sources = Watched::sources(&self.options.namespaces);
        let inbox = Inbox::new(&sources);
        let shell = Shell::new(&mut self.around, self.options, self.look, inbox);
        desk::start(shell, &sources, self.around)
    }
}

struct Shell {
    client: Client,
    clock: Clock,
    chance: StdRng,
    metrics: Metrics,
    recorder: Recorder,
    look: Arc<dyn Look>,
    grace: Duration,
    domains: Domains,
    inbox: Inbox,
    writers: Arc<Semaphore>,
    /// How often in a row an Ingress was written and did not become what it should.
    in_vain: BTreeMap<Key, u32>,
}

impl Work for Shell {
    type Kind = Watched;
    type Key = Key;
    type Finished = Finished;
    type News = NoNews;

    /// Most of them wait for name servers.
    const PASSES_AT_ONCE: usize = 64;

    /// Nobody waits for name servers that have been asked: they are asked again by whoever comes next.
    const FINISHES: bool = false;

    fn lane(key: &Key) -> String {
        match key {
            Key::Verification(key) | Key::Ingress(key) => key.namespace.clone(),
            Key::Host(guid) => guid.to_string(),
        }
    }

    fn fed(&mut self, fed: Fed<Watched>, desk: &mut Desk) {
        self.metrics.watched(fed.kind.name(), &fed.event);
        let now = self.clock.now();
        let touched = self.inbox.take_in(fed, &mut self.domains, now);
        desk.push(touched);
    }

    fn is_synced(&self) -> bool {
        self.inbox.is_synced()
    }

    fn look_at_all(&mut self, desk: &mut Desk) {
        let keys = self.domains.keys();
        info!(objects = keys.len(), "Looking after every custom domain");
        desk.push(keys);
    }

    fn begin(&mut self, key: &Key, now: Instant) -> Begun<Finished> {
        match key {
            Key::Verification(key) => self.begin_verification(key, now),
            Key::Ingress(key) => self.begin_ingress(key),
            Key::Host(guid) => self.begin_host(guid, now),
        }
    }

    fn finished(&mut self, mut finished: Finished, desk: &mut Desk) -> Ended<Key> {
        self.tell(&finished);
        let key = finished.key.clone();
        let written = std::mem::take(&mut finished.written);
        let wrote = !written.is_empty();
        let now = self.clock.now();
        let mut touched = self.inbox.written(written, &mut self.domains, now);
        // From what it wrote itself nothing follows for it.
        touched.remove(&key);
        desk.push(touched);
        Ended {
            kind: kind(&key),
            outcome: self.conclude(&finished, wrote),
            key,
        }
    }

    async fn close(self) {
        self.recorder.close(TELL_WITHIN).await;
    }
}

impl Shell {
    fn new(
        around: &mut Surroundings,
        options: Options,
        look: Arc<dyn Look>,
        inbox: Inbox,
    ) -> Shell {
        Shell {
            client: around.counted(),
            clock: around.clock,
            chance: around.draw(),
            metrics: around.metrics.clone(),
            recorder: around.recorder(),
            look,
            grace: options.grace,
            domains: Domains::new(options.managed, options.keyring),
            inbox,
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            in_vain: BTreeMap::new(),
        }
    }

    fn begin_verification(&mut self, key: &reconcile::ObjectKey, now: Instant) -> Begun<Finished> {
        let Some(view) = self.domains.verification(key) else {
            return Begun::Over(Outcome::Done);
        };
        let time = self.clock.now();
        let keyring = self.domains.keyring().clone();
        let decision = domains::decide(&view, &keyring, time);
        let pass = VerificationPass {
            spread: self.chance.random_range(1.0 - SPREAD..=1.0 + SPREAD),
            managed: self.domains.managed().clone(),
            clock: self.clock,
            keyring,
            view,
            decision,
        };
        if pass.is_idle(time) {
            let due = pass.decision.due.map(|due| self.instant(due, now));
            return Begun::Over(due.map_or(Outcome::Done, Outcome::Again));
        }
        if pass.decision.look.is_some() {
            self.domains.looked(key);
        }
        let (client, look) = (self.client.clone(), Arc::clone(&self.look));
        let writers = Arc::clone(&self.writers);
        Begun::Pass(Box::pin(async move {
            pass.run(&client, look.as_ref(), &writers).await
        }))
    }

    fn begin_ingress(&mut self, key: &reconcile::ObjectKey) -> Begun<Finished> {
        let Some(view) = self.domains.ingress(key) else {
            self.in_vain.remove(&Key::Ingress(key.clone()));
            return Begun::Over(Outcome::Done);
        };
        let (managed, keyring) = (self.domains.managed(), self.domains.keyring());
        let drawn = Guid::new(self.chance.random());
        let decision = decide_ingress(&view, managed, keyring, &drawn);
        if decision.update.is_none() && decision.claims.is_empty() {
            self.in_vain.remove(&Key::Ingress(key.clone()));
            return Begun::Over(Outcome::Done);
        }
        let pass = IngressPass {
            key: key.clone(),
            decision,
        };
        let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
        Begun::Pass(Box::pin(async move { pass.run(&client, &writers).await }))
    }

    fn begin_host(&mut self, guid: &Guid, now: Instant) -> Begun<Finished> {
        let Some(view) = self.domains.managed_host(guid) else {
            return Begun::Over(Outcome::Done);
        };
        let time = self.clock.now();
        let (writes, due) = decide_host(&view, self.domains.managed(), self.grace, time);
        if writes.is_empty() {
            let due = due.map(|due| self.instant(due, now));
            return Begun::Over(due.map_or(Outcome::Done, Outcome::Again));
        }
        let pass = HostPass {
            guid: guid.clone(),
            writes,
        };
        let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
        Begun::Pass(Box::pin(async move { pass.run(&client, &writers).await }))
    }

    /// What follows from what a pass came to.
    fn conclude(&mut self, finished: &Finished, wrote: bool) -> Outcome {
        if let Err(error) = &finished.result {
            return error.outcome(&shown(&finished.key));
        }
        let now = Instant::now();
        match &finished.key {
            // It may not be all: what the door made of it is looked at again, but not for ever without a rest.
            Key::Ingress(_) => {
                let times = self.in_vain.entry(finished.key.clone()).or_default();
                *times += 1;
                if wrote && *times == 1 {
                    Outcome::Again(now)
                } else {
                    Outcome::Failed
                }
            }
            // What was made and removed is told by the watch.
            Key::Host(_) => Outcome::Done,
            Key::Verification(_) if finished.unconfirmed => Outcome::Failed,
            Key::Verification(key) => {
                let due = self.domains.verification(key).and_then(|view| {
                    domains::decide(&view, self.domains.keyring(), self.clock.now()).due
                });
                let due = due.map(|due| self.instant(due, now));
                due.map_or(Outcome::Done, Outcome::Again)
            }
        }
    }

    /// A time on the wall, on the clock of the loop.
    fn instant(&self, due: jiff::Timestamp, now: Instant) -> Instant {
        let left = due.duration_since(self.clock.now());
        now + Duration::try_from(left).unwrap_or_default()
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn tell(&self, finished: &Finished) {
        let Some((object, before, after)) = &finished.said else {
            return;
        };
        self.recorder.transitions(object, before, after);
    }
}

/// The kind of a key, as operators see it.
fn kind(key: &Key) -> &'static str {
    match key {
        Key::Verification(_) => "DomainVerification",
        Key::Ingress(_) => "Ingress",
        Key::Host(_) => "ManagedHost",
    }
}

fn shown(key: &Key) -> String {
    match key {
        Key::Verification(key) | Key::Ingress(key) => key.to_string(),
        Key::Host(guid) => guid.to_string(),
    }
}
