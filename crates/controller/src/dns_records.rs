//! The loop over DNSRecords: what is watched goes into the index of them, what is due is passed over.
//!
//! It stands beside the loop over Zones and Records and shares nothing with it: the two meet in the Kubernetes API. One
//! task owns the index and the queue; passes ask zones and write on their own and come back when they are done. Nothing is
//! asked of a provider before every kind has been seen once: a Secret that has not been listed yet is not missing.

mod inbox;
mod memory;
mod pass;
mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use api::ZoneKey;
use dns::ownership::short_hash36;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use kube::Client;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use reconcile::dns_record::{Depth, Next, Pace, depth};
use reconcile::hosted::GuardRules;
use reconcile::hosting::HostingPolicy;
use reconcile::{DnsRecordKey, Hosting, ObjectKey};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};
use tracing::{debug, info, warn};

use crate::backoff::Backoff;
use crate::clock::Clock;
use crate::events::{Recorder, transitions};
use crate::feed::{Fed, Feed};
use crate::health::{Check, Pulse, feeds};
use crate::hosted_zone::{self, HostedZoneKey, News};
use crate::hosted_zones::{HostedZones, Open};
use crate::metrics::Metrics;
use crate::queue::{self, Outcome, Queue};
use crate::write::WriteError;
use inbox::{Inbox, Touched, Watched};
use memory::Memory;
use pass::{Finished, Pass, light};

/// How many passes are under way: most of them wait for a zone, and the more wait the fuller its batches.
const PASSES_AT_ONCE: usize = 2_048;

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

/// How many events are taken in before what they touch is looked at.
const EVENTS_AT_ONCE: usize = 256;

/// How much a zone can have to say before it waits.
const NEWS_MAX: usize = 64;

/// How long to wait after a provider has failed.
const BACKOFF: Backoff = Backoff {
    base: Duration::from_secs(5),
    cap: Duration::from_mins(5),
};

/// How often the loop turns when nothing happens, so that others can see that it does.
const BEAT: Duration = Duration::from_secs(10);

/// How long the last Events may take to be written: losing one is no harm.
const TELL_WITHIN: Duration = Duration::from_millis(500);

/// How many characters of a hash stand for a cluster.
const CLUSTER_CHARS: usize = 8;

/// What the loop over DNSRecords is made of.
pub struct DnsRecords {
    /// The way to the API.
    pub client: Client,
    /// What the operator has chosen.
    pub options: Options,
    /// From Secrets to providers.
    pub open: Arc<dyn Open>,
    /// What happens to Zones and to Records of ours.
    pub neighbours: mpsc::Receiver<Neighbour>,
    /// What is waited for before anything is asked: Zones of this cluster have no names before they were looked at.
    pub after: BoxFuture<'static, ()>,
    /// Where wall time comes from.
    pub clock: Clock,
    /// Where chance comes from.
    pub chance: StdRng,
    /// Whether this process may write.
    pub leading: watch::Receiver<bool>,
    /// What is measured.
    pub metrics: Metrics,
    /// The sign of life.
    pub pulse: Pulse,
    /// Who this process is: a name that no other has.
    pub identity: String,
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

/// The loop over DNSRecords, running. It goes on when this value is dropped.
#[derive(Debug)]
pub struct RunningDnsRecords {
    feed: Arc<Feed<Watched>>,
    idle: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl RunningDnsRecords {
    /// Waits until nothing is due. Whether it came to that.
    pub async fn settled(&mut self, within: Duration) -> bool {
        let idle = self.idle.wait_for(|idle| *idle);
        matches!(timeout(within, idle).await, Ok(Ok(_)))
    }

    /// What has to hold for this process to be ready: every kind is watched and heard of.
    pub fn checks(&self) -> impl Fn(Instant) -> Vec<Check> + Send + Sync + use<> {
        let feed = Arc::clone(&self.feed);
        move |now| feeds(&feed.progress(), now)
    }

    /// Lets what has begun finish. Whether it did.
    pub async fn shutdown(self, within: Duration) -> bool {
        self.stop.send_replace(true);
        timeout(within, self.task).await.is_ok()
    }
}

impl DnsRecords {
    /// Begins to watch, and to do what follows.
    pub fn start(mut self) -> RunningDnsRecords {
        let sources = Watched::sources(&self.options.namespaces);
        let inbox = Inbox::new(&sources);
        let chance = StdRng::from_rng(&mut self.chance);
        let (feed, fed) = Feed::start(&self.client, &sources, chance);
        let (stop, stopped) = watch::channel(false);
        let (report, idle) = watch::channel(false);
        RunningDnsRecords {
            feed: Arc::new(feed),
            idle,
            stop,
            task: tokio::spawn(self.run(inbox, fed, stopped, report)),
        }
    }

    /// Runs until `stop` says so. Passes that have begun are waited for.
    async fn run(
        mut self,
        inbox: Inbox,
        mut fed: mpsc::Receiver<Fed<Watched>>,
        mut stop: watch::Receiver<bool>,
        idle: watch::Sender<bool>,
    ) {
        let mut leading = self.leading.clone();
        let (_, nobody) = mpsc::channel(1);
        let mut neighbours = std::mem::replace(&mut self.neighbours, nobody);
        let mut after = std::mem::replace(&mut self.after, Box::pin(std::future::pending()));
        let (tell, mut news) = mpsc::channel(NEWS_MAX);
        let mut shell = Shell::new(self, inbox, tell);
        let mut beat = interval(BEAT);
        loop {
            shell.turn(&idle);
            let due = shell.next_due();
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                Some(finished) = shell.passes.next() => shell.finished(finished),
                () = &mut after, if !shell.ready => shell.ready = true,
                Some(event) = fed.recv() => shell.fed(event, &mut fed),
                Some(news) = news.recv() => shell.heard(news),
                Some(neighbour) = neighbours.recv() => shell.noticed(&neighbour),
                Ok(()) = leading.changed() => shell.lead(*leading.borrow_and_update()),
                () = until(due) => {}
                _ = beat.tick() => {}
            }
        }
        while let Some(finished) = shell.passes.next().await {
            shell.finished(finished);
        }
        shell.recorder.close(TELL_WITHIN).await;
    }
}

struct Shell {
    client: Client,
    clock: Clock,
    chance: StdRng,
    metrics: Metrics,
    pulse: Pulse,
    recorder: Recorder,
    options: Options,
    hosting: Hosting,
    zones: Arc<HostedZones>,
    inbox: Inbox,
    queue: Queue<DnsRecordKey, String>,
    memory: BTreeMap<DnsRecordKey, Memory>,
    /// Who uses which zone.
    uses: BTreeMap<HostedZoneKey, BTreeSet<DnsRecordKey>>,
    passes: FuturesUnordered<BoxFuture<'static, (Finished, Instant)>>,
    writers: Arc<Semaphore>,
    cluster: Option<String>,
    /// What was waited for has come.
    ready: bool,
    synced: bool,
    leading: bool,
}

impl Shell {
    fn new(parts: DnsRecords, inbox: Inbox, news: mpsc::Sender<News>) -> Shell {
        let DnsRecords {
            client,
            options,
            open,
            neighbours: _,
            after: _,
            clock,
            mut chance,
            leading,
            metrics,
            pulse,
            identity,
        } = parts;
        let client = metrics.counting(&client);
        let zone_options = hosted_zone::Options {
            requeue: options.pace.requeue,
            debounce: options.debounce,
            guard: options.guard,
            clock,
        };
        let recorder_chance = StdRng::from_rng(&mut chance);
        let recorder = Recorder::start(
            client.clone(),
            identity,
            clock,
            recorder_chance,
            metrics.clone(),
        );
        let queue_options = queue::Options {
            debounce: Duration::ZERO,
            ..queue::Options::default()
        };
        let lane = |key: &DnsRecordKey| key.namespace.clone();
        let leading = *leading.borrow();
        Shell {
            hosting: Hosting::new(options.policy.clone()),
            zones: Arc::new(HostedZones::new(open, zone_options, metrics.clone(), news)),
            queue: Queue::new(queue_options, lane, StdRng::from_rng(&mut chance)),
            client,
            clock,
            chance,
            metrics,
            pulse,
            recorder,
            options,
            inbox,
            memory: BTreeMap::new(),
            uses: BTreeMap::new(),
            passes: FuturesUnordered::new(),
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            cluster: None,
            ready: false,
            synced: false,
            leading,
        }
    }

    /// Begins what is due, and tells how it stands.
    fn turn(&mut self, idle: &watch::Sender<bool>) {
        let now = Instant::now();
        while self.may_write()
            && self.queue.working() < PASSES_AT_ONCE
            && let Some(key) = self.queue.take(now)
        {
            self.begin(&key, now);
        }
        let oldest = self.queue.oldest_due(now).filter(|_| self.may_write());
        self.pulse.turn(now, oldest.map(|age| now - age));
        let stands = self.ready && self.synced && self.passes.is_empty() && oldest.is_none();
        idle.send_if_modified(|before| std::mem::replace(before, stands) != stands);
    }

    fn may_write(&self) -> bool {
        self.ready && self.synced && self.leading
    }

    fn next_due(&self) -> Option<Instant> {
        let room = self.may_write() && self.queue.working() < PASSES_AT_ONCE;
        self.queue.next_due().filter(|_| room)
    }

    fn fed(&mut self, event: Fed<Watched>, more: &mut mpsc::Receiver<Fed<Watched>>) {
        let waiting = std::iter::from_fn(|| more.try_recv().ok());
        for fed in std::iter::once(event).chain(waiting.take(EVENTS_AT_ONCE)) {
            self.metrics.watched(fed.kind.name(), &fed.event);
            let touched = self.inbox.take_in(fed, &mut self.hosting);
            self.follow(touched);
        }
        if !self.synced && self.inbox.is_synced() {
            self.synced = true;
            info!(
                records = self.hosting.keys().count(),
                "Seen every DNSRecord"
            );
            self.look_at_all();
        }
    }

    fn follow(&mut self, touched: Touched) {
        if let Some(uid) = touched.cluster {
            self.cluster = Some(short_hash36(&uid, CLUSTER_CHARS));
        }
        for key in touched.gone {
            self.release(&key, &BTreeSet::new());
            self.memory.remove(&key);
        }
        for key in &touched.keys {
            self.memory.entry(key.clone()).or_default().asked = true;
        }
        self.push(touched.keys);
    }

    fn push(&mut self, keys: impl IntoIterator<Item = DnsRecordKey>) {
        let now = Instant::now();
        for key in keys.into_iter().filter(|_| self.synced) {
            self.queue.push(key, now);
        }
    }

    /// What a person did not ask for is looked at when it has expired, what failed at once.
    fn look_at_all(&mut self) {
        let keys: Vec<DnsRecordKey> = self.hosting.keys().cloned().collect();
        for key in &keys {
            let failed = self.hosting.view(key).is_some_and(|view| view.has_failed());
            self.memory.entry(key.clone()).or_default().retry |= failed;
            self.measure(key);
        }
        self.push(keys);
    }

    fn lead(&mut self, leading: bool) {
        self.leading = leading;
        if self.may_write() {
            self.look_at_all();
        } else {
            // How records stand is shown by whoever looks after them.
            self.memory.values_mut().for_each(Memory::hide);
        }
    }

    /// A zone has something to say.
    fn heard(&mut self, news: News) {
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
        self.push(keys);
    }

    /// Something has happened to a Zone or a Record.
    fn noticed(&mut self, neighbour: &Neighbour) {
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
        self.push(keys);
    }

    fn begin(&mut self, key: &DnsRecordKey, now: Instant) {
        let Some(view) = self.hosting.view(key) else {
            self.memory.remove(key);
            return self.queue.done(key, now, Outcome::Done);
        };
        let memory = self.memory.entry(key.clone()).or_default();
        // The seed's letter: only a change of the record or its Secret wakes what has failed.
        let letter = !self.options.pace.retry && view.has_failed();
        if letter && !memory.asked && !memory.retry {
            memory.begin();
            return self.queue.done(key, now, Outcome::Done);
        }
        if !view.is_observed() {
            // Whoever fought with what the spec said before may be content with it now.
            memory.fights.clear();
        }
        let mut wake = self.hosting.wake(key);
        wake.drift = memory.drift;
        wake.retry = memory.retry_due(now);
        match depth(&view, wake, self.clock.now()) {
            Depth::Light { valid_for } => {
                let due = memory.premature(now, valid_for);
                if view.is_kept() || view.deleting || !view.can_ask() {
                    return self.queue.done(key, now, Outcome::Again(due));
                }
                let (zones, next) = (memory.zones.clone(), Next::After(due - now));
                let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
                self.inbox.begin(key);
                let run = async move { (light(view, zones, next, &client, &writers).await, now) };
                self.passes.push(Box::pin(run));
            }
            Depth::Full => {
                let inputs = self.hosting.inputs(key);
                let half = self.options.validation / 2;
                let wait = half + self.chance.random_range(Duration::ZERO..=half * 2);
                // What a person changed is not believed to be as it was.
                let pass = Pass {
                    fresh: memory.fresh.or(wake.inputs.then_some(now)),
                    proof: view.is_awaiting().then_some(now),
                    contested: memory.is_contested(now),
                    unreported: memory.unreported,
                    inputs,
                    began: self.clock.now(),
                    wait,
                    pace: self.options.pace,
                    cluster: self.cluster.clone(),
                    view,
                };
                memory.begin();
                self.inbox.begin(key);
                let (client, zones) = (self.client.clone(), Arc::clone(&self.zones));
                let writers = Arc::clone(&self.writers);
                let run = async move { (pass.run(&client, &zones, &writers).await, now) };
                self.passes.push(Box::pin(run));
            }
        }
    }

    fn finished(&mut self, (finished, started): (Finished, Instant)) {
        let now = Instant::now();
        let key = finished.key.clone();
        self.note(&finished);
        let touched = self.inbox.end(&key, finished.written, &mut self.hosting);
        self.follow(touched);
        if let (Some(inputs), true) = (finished.inputs, finished.result.is_ok()) {
            self.hosting.passed(&key, inputs);
        }
        self.release(&key, &finished.zones);
        if finished.wrote {
            self.look_after_sharers(&key);
        }
        self.measure(&key);
        let memory = self.memory.entry(key.clone()).or_default();
        let untold = matches!(
            &finished.result,
            Err(WriteError::Stale | WriteError::Failed(_))
        );
        memory.unreported = untold && (finished.wrote || memory.unreported);
        memory.retry = untold || finished.failed && finished.next != Next::OnChange;
        if finished.fought {
            memory.fights.push_back(now);
        }
        let outcome = match &finished.result {
            Ok(()) | Err(WriteError::Gone) => match finished.next {
                Next::NotBefore(time) => {
                    // Whoever was sent away together does not come back together.
                    let more = self.chance.random_range(Duration::ZERO..=time / 2);
                    Outcome::Again(memory.again(now + time + more))
                }
                Next::After(time) => Outcome::Again(memory.again(now + time)),
                Next::Backoff => {
                    let delay = memory.fail(&BACKOFF, &mut self.chance);
                    Outcome::Again(memory.again(now + delay))
                }
                Next::OnChange => Outcome::Done,
            },
            Err(WriteError::Stale) => {
                debug!(%key, "Changed meanwhile");
                Outcome::Failed
            }
            Err(WriteError::Failed(error)) => {
                warn!(%key, %error, "Could not write");
                Outcome::Failed
            }
        };
        if !finished.failed && !untold {
            memory.failures = 0;
        }
        self.pulse.pass_ended(now);
        self.metrics.pass("DNSRecord", outcome, now - started);
        self.queue.done(&key, now, outcome);
    }

    /// Whoever wants something at the same names sees whether it is still there: what two share, one can take away.
    fn look_after_sharers(&mut self, key: &DnsRecordKey) {
        let sharers = self.hosting.sharers(key);
        for sharer in &sharers {
            self.memory.entry(sharer.clone()).or_default().drift = true;
        }
        self.push(sharers);
    }

    fn measure(&mut self, key: &DnsRecordKey) {
        let Some(stand) = self.hosting.stand(key).filter(|_| self.leading) else {
            return;
        };
        let memory = self.memory.entry(key.clone()).or_default();
        memory.show(key, &stand, &self.metrics);
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn note(&self, finished: &Finished) {
        let (Some((before, after)), Some(object)) = (&finished.conditions, finished.reference())
        else {
            return;
        };
        for note in transitions(before, after) {
            self.recorder.note(&object, note);
        }
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

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
