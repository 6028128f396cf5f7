//! The loop over DNSRecords: what is watched goes into the index of them, what is due is passed over.
//!
//! It stands beside the loop over Zones and Records and shares nothing with it: the two meet in the Kubernetes API. One
//! task owns the index and the queue; passes ask zones and write on their own and come back when they are done. Nothing is
//! asked of a provider before every kind has been seen once: a Secret that has not been listed yet is not missing.

mod contention;
mod inbox;
mod memory;
mod pass;
mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use api::ZoneKey;
use futures_util::future::BoxFuture;
use k8s_openapi::api::core::v1::{Namespace, ObjectReference};
use kube::{Client, Resource as _};
use rand::Rng as _;
use rand::rngs::StdRng;
use reconcile::dns_record::{Depth, DnsRecordView, LeftBehind, Next, Pace, Wake, depth};
use reconcile::hosted::GuardRules;
use reconcile::hosting::HostingPolicy;
use reconcile::{DnsRecordKey, Hosting, ObjectKey};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tracing::info;

use crate::backoff::Backoff;
use crate::clock::{Clock, until};
use crate::desk::{self, Begun, DeskOf, Ended, TELL_WITHIN, Work};
use crate::events::{Note, Recorder, Severity};
use crate::feed::Fed;
use crate::hosted_zone::{self, HostedZoneKey, News};
use crate::hosted_zones::{HostedZones, Open};
use crate::metrics::Metrics;
use crate::queue::Outcome;
use crate::running::Running;
use crate::surroundings::Surroundings;
use crate::write::WriteError;
use contention::Contention;
use inbox::{Inbox, Touched, Watched};
use memory::Memory;
use pass::{Finished, Pass, light};

type Desk = DeskOf<Shell>;

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

/// How much a zone can have to say before it waits.
const NEWS_MAX: usize = 64;

/// How long to wait after a provider has failed.
const BACKOFF: Backoff = Backoff {
    base: Duration::from_secs(5),
    cap: Duration::from_mins(5),
};

/// What the loop over DNSRecords is made of.
pub struct DnsRecords {
    /// Where it runs.
    pub around: Surroundings,
    /// What the operator has chosen.
    pub options: Options,
    /// From Secrets to providers.
    pub open: Arc<dyn Open>,
    /// What happens to Zones and to Records of ours.
    pub neighbours: mpsc::Receiver<Neighbour>,
    /// What is waited for before anything is asked: Zones of this cluster have no names before they were looked at.
    pub after: BoxFuture<'static, ()>,
}

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to look; empty: everywhere.
    pub namespaces: Vec<String>,
    /// How records are looked after.
    pub pace: Pace,
    /// How long to wait until what was written should show, give or take half.
    pub validation: Duration,
    /// How long changes of a zone are gathered.
    pub debounce: Duration,
    /// Which providers there are.
    pub policy: HostingPolicy,
    /// What is too much.
    pub guard: GuardRules,
}

/// What the loop over Zones and Records has seen and this one should know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Neighbour {
    /// A Zone has appeared, gone, or changed in what it says about itself.
    Zone(ZoneKey),
    /// A Record that belongs to a DNSRecord is not what was written, or is judged otherwise.
    Record(DnsRecordKey),
}

/// What is heard from elsewhere than from watches.
enum Heard {
    /// What was waited for has come.
    Ready,
    /// A zone has something to say.
    Zone(News),
    /// Something has happened to a Zone or a Record.
    Neighbour(Neighbour),
    /// What was kept of a Secret is to be forgotten.
    Expired,
}

impl DnsRecords {
    /// Begins to watch, and to do what follows.
    pub fn start(self) -> Running {
        let sources = Watched::sources(&self.options.namespaces);
        let (shell, around) = Shell::new(self, Inbox::new(&sources));
        desk::start(shell, &sources, around)
    }
}

struct Shell {
    client: Client,
    clock: Clock,
    chance: StdRng,
    metrics: Metrics,
    recorder: Recorder,
    options: Options,
    hosting: Hosting,
    zones: Arc<HostedZones>,
    news: mpsc::Receiver<News>,
    neighbours: mpsc::Receiver<Neighbour>,
    after: BoxFuture<'static, ()>,
    inbox: Inbox,
    memory: BTreeMap<DnsRecordKey, Memory>,
    /// Who uses which zone.
    uses: BTreeMap<HostedZoneKey, BTreeSet<DnsRecordKey>>,
    writers: Arc<Semaphore>,
    /// When this process began to watch.
    began: Instant,
    /// What was waited for has come.
    ready: bool,
}

impl Work for Shell {
    type Kind = Watched;
    type Key = DnsRecordKey;
    type Finished = Finished;
    type News = Heard;

    /// Most of them wait for a zone, and the more wait the fuller its batches.
    const PASSES_AT_ONCE: usize = 2_048;

    fn lane(key: &DnsRecordKey) -> String {
        key.namespace.clone()
    }

    fn fed(&mut self, fed: Fed<Watched>, desk: &mut Desk) {
        self.metrics.watched(fed.kind.name(), &fed.event);
        let now = self.began.elapsed();
        let touched = self.inbox.take_in(fed, &mut self.hosting, now);
        self.follow(touched, desk);
    }

    fn is_synced(&self) -> bool {
        self.ready && self.inbox.is_synced()
    }

    /// What a person did not ask for is looked at when it has expired, what failed at once.
    fn look_at_all(&mut self, desk: &mut Desk) {
        let keys: Vec<DnsRecordKey> = self.hosting.keys().cloned().collect();
        info!(records = keys.len(), "Looking after every DNSRecord");
        for key in &keys {
            let failed = self.hosting.view(key).is_some_and(|view| view.has_failed());
            self.memory.entry(key.clone()).or_default().retry |= failed;
            self.measure(key, desk);
        }
        desk.push(keys);
    }

    /// How records stand is shown by whoever looks after them.
    fn step_back(&mut self) {
        self.memory.values_mut().for_each(Memory::hide);
    }

    fn begin(&mut self, key: &DnsRecordKey, now: Instant) -> Begun<Finished> {
        let Some(view) = self.hosting.view(key) else {
            self.memory.remove(key);
            return Begun::Over(Outcome::Done);
        };
        let memory = self.memory.entry(key.clone()).or_default();
        // The seed's letter: only a change of the record or its Secret wakes what has failed.
        let letter = !self.options.pace.retry && view.has_failed();
        if letter && !memory.asked && !memory.retry {
            memory.begin();
            return Begun::Over(Outcome::Done);
        }
        if !view.is_observed() {
            // Whoever fought with what the spec said before may be content with it now.
            memory.contention = Contention::default();
        }
        let mut wake = self.hosting.wake(key);
        wake.drift = memory.drift;
        wake.retry = memory.retry_due(now) || memory.asked && view.has_failed();
        match depth(&view, wake, self.clock.now()) {
            Depth::Light { valid_for } => self.begin_light(view, valid_for, now),
            Depth::Full => self.begin_full(view, wake, now),
        }
    }

    fn finished(&mut self, mut finished: Finished, desk: &mut Desk) -> Ended<ObjectKey> {
        let key = finished.key.clone();
        self.note(&finished);
        let written = finished.written.take();
        let touched = self.inbox.end(&key, written, &mut self.hosting);
        self.follow(touched, desk);
        let outcome = if finished.superseded {
            // What it was superseded by has just been asked for.
            Outcome::Done
        } else {
            self.conclude(&key, finished, desk)
        };
        Ended {
            key,
            kind: "DNSRecord",
            outcome,
        }
    }

    async fn hear(&mut self) -> Heard {
        let kept_until = self.hosting.kept_until().map(|until| self.began + until);
        tokio::select! {
            biased;
            () = &mut self.after, if !self.ready => Heard::Ready,
            Some(news) = self.news.recv() => Heard::Zone(news),
            Some(neighbour) = self.neighbours.recv() => Heard::Neighbour(neighbour),
            () = until(kept_until) => Heard::Expired,
        }
    }

    fn heard(&mut self, heard: Heard, desk: &mut Desk) {
        match heard {
            Heard::Ready => self.ready = true,
            Heard::Zone(news) => self.told(news, desk),
            Heard::Neighbour(neighbour) => self.noticed(&neighbour, desk),
            Heard::Expired => {
                let keys = self.hosting.expire(self.began.elapsed());
                let gone = Vec::new();
                self.follow(Touched { keys, gone }, desk);
            }
        }
    }

    async fn close(self) {
        self.recorder.close(TELL_WITHIN).await;
    }
}

impl Shell {
    fn new(parts: DnsRecords, inbox: Inbox) -> (Shell, Surroundings) {
        let DnsRecords {
            mut around,
            options,
            open,
            neighbours,
            after,
        } = parts;
        let zone_options = hosted_zone::Options {
            requeue: options.pace.requeue,
            debounce: options.debounce,
            guard: options.guard,
            clock: around.clock,
        };
        let metrics = around.metrics.clone();
        let (tell, news) = mpsc::channel(NEWS_MAX);
        let shell = Shell {
            hosting: Hosting::new(options.policy.clone()),
            zones: Arc::new(HostedZones::new(open, zone_options, metrics.clone(), tell)),
            news,
            neighbours,
            after,
            client: around.counted(),
            clock: around.clock,
            chance: around.draw(),
            metrics,
            recorder: around.recorder(),
            options,
            inbox,
            memory: BTreeMap::new(),
            uses: BTreeMap::new(),
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            began: Instant::now(),
            ready: false,
        };
        (shell, around)
    }

    fn follow(&mut self, touched: Touched, desk: &mut Desk) {
        for key in touched.gone {
            self.release(&key, &BTreeSet::new());
            self.memory.remove(&key);
        }
        for key in &touched.keys {
            self.memory.entry(key.clone()).or_default().asked = true;
        }
        desk.push(touched.keys);
    }

    /// A zone has something to say.
    fn told(&mut self, news: News, desk: &mut Desk) {
        let keys = match news {
            News::Changed(names) => {
                let keys = self.hosting.names_changed(&names);
                info!(
                    names = names.len(),
                    records = keys.len(),
                    "A zone has changed"
                );
                keys
            }
            News::Recovered(keys) => keys,
        };
        for key in &keys {
            self.memory.entry(key.clone()).or_default().drift = true;
        }
        desk.push(keys);
    }

    /// Something has happened to a Zone or a Record.
    fn noticed(&mut self, neighbour: &Neighbour, desk: &mut Desk) {
        let keys = match neighbour {
            Neighbour::Zone(zone) => self.hosting.zone_changed(zone),
            Neighbour::Record(record) => [record.clone()].into(),
        };
        let keys = keys
            .into_iter()
            .filter(|key| self.hosting.resource_version(key).is_some());
        let keys: Vec<ObjectKey> = keys.collect();
        let now = Instant::now();
        for key in &keys {
            let memory = self.memory.entry(key.clone()).or_default();
            memory.drift = true;
            memory.fresh = Some(now);
        }
        desk.push(keys);
    }

    fn begin_light(
        &mut self,
        view: DnsRecordView,
        valid_for: Duration,
        now: Instant,
    ) -> Begun<Finished> {
        let memory = self.memory.entry(view.key.clone()).or_default();
        let due = memory.premature(now, valid_for);
        if view.upkeep().is_none() {
            return Begun::Over(Outcome::Again(due));
        }
        let (zones, next) = (memory.zones.clone(), Next::After(due - now));
        let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
        self.inbox.begin(&view.key, view.generation);
        let run = async move { light(view, zones, next, &client, &writers).await };
        Begun::Pass(Box::pin(run))
    }

    fn begin_full(&mut self, view: DnsRecordView, wake: Wake, now: Instant) -> Begun<Finished> {
        let memory = self.memory.entry(view.key.clone()).or_default();
        let half = self.options.validation / 2;
        let edited = memory.asked && view.has_failed() && view.is_observed();
        let doubted = wake.inputs || edited;
        let pass = Pass {
            // What a person changed is not believed to be as it was.
            fresh: memory.fresh.or(doubted.then_some(now)),
            proof: view.is_awaiting().then_some(now),
            contested: memory.contention.is_on(now, self.options.pace.requeue),
            unreported: memory.unreported,
            inputs: self.hosting.inputs(&view.key),
            began: self.clock.now(),
            deleting_for: memory.deleting_for(view.deleting, now),
            wait: half + self.chance.random_range(Duration::ZERO..=half * 2),
            pace: self.options.pace,
            changed: self.inbox.begin(&view.key, view.generation),
            view,
        };
        memory.begin();
        let (client, zones) = (self.client.clone(), Arc::clone(&self.zones));
        let writers = Arc::clone(&self.writers);
        Begun::Pass(Box::pin(async move {
            pass.run(&client, &zones, &writers).await
        }))
    }

    /// What follows from what a pass came to.
    fn conclude(&mut self, key: &DnsRecordKey, finished: Finished, desk: &mut Desk) -> Outcome {
        let now = Instant::now();
        if let (Some(inputs), true) = (finished.inputs, finished.result.is_ok()) {
            self.hosting.passed(key, inputs, finished.reached);
        }
        self.release(key, &finished.zones);
        if finished.wrote {
            self.look_after_sharers(key, desk);
        }
        self.measure(key, desk);
        let memory = self.memory.entry(key.clone()).or_default();
        let untold = matches!(
            &finished.result,
            Err(WriteError::Stale | WriteError::Failed(_))
        );
        memory.unreported = untold && (finished.wrote || memory.unreported);
        memory.retry = untold || finished.failed && finished.next != Next::OnChange;
        if finished.fought {
            memory.contention.repaired(now);
        } else if finished.undisturbed {
            memory.contention.undisturbed();
        }
        if !finished.failed && !untold {
            memory.failures = 0;
        }
        match &finished.result {
            Ok(()) | Err(WriteError::Gone) => self.next(key, finished.next, now),
            Err(error) => error.outcome(key),
        }
    }

    /// When to look again at a record without anybody asking.
    fn next(&mut self, key: &DnsRecordKey, next: Next, now: Instant) -> Outcome {
        let memory = self.memory.entry(key.clone()).or_default();
        let after = match next {
            Next::NotBefore(time) => {
                // Whoever was sent away together does not come back together.
                time + self.chance.random_range(Duration::ZERO..=time / 2)
            }
            Next::After(time) => time,
            Next::Backoff => memory.fail(&BACKOFF, &mut self.chance),
            Next::OnChange => return Outcome::Done,
        };
        Outcome::Again(memory.again(now + after))
    }

    /// Whoever wants something at the same names sees whether it is still there: what two share, one can take away.
    fn look_after_sharers(&mut self, key: &DnsRecordKey, desk: &mut Desk) {
        let sharers = self.hosting.sharers(key);
        for sharer in &sharers {
            self.memory.entry(sharer.clone()).or_default().drift = true;
        }
        desk.push(sharers);
    }

    fn measure(&mut self, key: &DnsRecordKey, desk: &Desk) {
        let Some(stand) = self.hosting.stand(key).filter(|_| desk.is_leading()) else {
            return;
        };
        let memory = self.memory.entry(key.clone()).or_default();
        memory.show(key, &stand, &self.metrics);
    }

    /// Tells people of transitions into and out of trouble (K3), and of what stays behind (P6).
    fn note(&self, finished: &Finished) {
        if let Some(left) = &finished.left_behind {
            self.metrics.left_behind();
            let namespace = namespace(&finished.key, left);
            self.recorder.note(&namespace, note_of(left));
        }
        let (Some((before, after)), Some(object)) = (&finished.conditions, finished.reference())
        else {
            return;
        };
        self.recorder.transitions(&object, before, after);
    }

    /// Lets go of the zones that a record no longer uses.
    fn release(&mut self, key: &DnsRecordKey, used: &BTreeSet<HostedZoneKey>) {
        for zone in used {
            let users = self.uses.entry(zone.clone()).or_default();
            users.insert(key.clone());
        }
        let memory = self.memory.entry(key.clone()).or_default();
        let before = std::mem::replace(&mut memory.zones, used.clone());
        for zone in before.difference(used) {
            let Some(users) = self.uses.get_mut(zone) else {
                continue;
            };
            users.remove(key);
            if users.is_empty() {
                self.uses.remove(zone);
                self.zones.forget(zone);
            }
        }
    }
}

/// The namespace that a record has gone with: the record itself nobody can look at any more.
fn namespace(key: &DnsRecordKey, left: &LeftBehind) -> ObjectReference {
    ObjectReference {
        api_version: Some(Namespace::api_version(&()).into_owned()),
        kind: Some(Namespace::kind(&()).into_owned()),
        name: Some(key.namespace.clone()),
        uid: Some(left.namespace_uid.clone()),
        ..ObjectReference::default()
    }
}

fn note_of(left: &LeftBehind) -> Note {
    Note {
        severity: Severity::Warning,
        reason: "LeftBehind".to_owned(),
        message: left.to_string(),
        action: "Withdraw".to_owned(),
    }
}
