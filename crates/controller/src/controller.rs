//! The loop: what is watched goes into the world, what the world touches into the queues, what is due is passed over, and
//! what passes wrote goes back into the world.
//!
//! One task owns the world and the queues, so nothing is locked and everything has an order. It never waits for I/O: passes
//! write on their own and come back when they are done. Nothing is written, and nothing told to name servers, before every
//! kind has been seen once: a Record that has not been listed yet is not a Record that is gone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::ZoneKey;
use dns::{Name, Publication, Serial, Sighting};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use kube::Client;
use reconcile::{Consequences, Key, Policy, RecordKey, World};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval};
use tracing::{debug, info};

use crate::clock::{Clock, until};
use crate::desk::{BEAT, EVENTS_AT_ONCE, TELL_WITHIN};
use crate::dns_records::Neighbour;
use crate::events::Recorder;
use crate::feed::{Fed, Feed};
use crate::health::Pulse;
use crate::inbox::{Inbox, Watched};
use crate::metrics::Metrics;
use crate::pass::{Finished, RecordWork, Work, Written, ZoneWork};
use crate::queue::{self, Outcome, Queue};
use crate::running::{Running, checks_of};
use crate::rush::Rush;
use crate::stopwatch::Stopwatch;
use crate::surroundings::Surroundings;
use crate::tap::Tap;

/// How many Zones are written at a time. Each has its own pace; together they must not flood the API.
const ZONES_AT_ONCE: usize = 16;

/// How many Records are written at a time: few, for nobody waits for their labels, and whoever creates Records shares the
/// API with us.
const RECORDS_AT_ONCE: usize = 8;

/// How long events gather while others are in a rush: each look at a few of them is a look less at all.
const GATHER_IN_RUSH: Duration = Duration::from_millis(20);

/// A zone rests for so many times as long as it took to publish it: a large zone in a burst of changes leaves the API
/// half of its time, and in a rush nearly all of it.
const REST: u32 = 1;
const REST_IN_RUSH: u32 = 10;

/// The longest rest: what is written during it waits to be answered.
const REST_MAX: Duration = Duration::from_millis(400);

/// How long a rush of others may keep us from telling about a Record.
const HELD_BACK_MAX: Duration = Duration::from_secs(15);

/// How long a Record that is about to be answered waits before it says that it is not.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a controller is made of.
pub struct Controller {
    /// Where it runs.
    pub around: Surroundings,
    /// What the operator has chosen.
    pub options: Options,
    /// The way to name servers of this process, if there are any.
    pub name_server: Option<NameServer>,
    /// Who is told of Zones, and of Records that belong to DNSRecords.
    pub neighbours: Option<mpsc::Sender<Neighbour>>,
}

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who has authority, and what fits into a status.
    pub policy: Policy,
    /// Where to look; empty: everywhere (Z0).
    pub namespaces: Vec<String>,
    /// The least time between two versions of a zone (Z10).
    pub debounce: Duration,
}

/// The way to name servers and back.
#[derive(Debug)]
pub struct NameServer {
    /// What they are told.
    pub publications: mpsc::Sender<Publication>,
    /// What they have been seen to answer.
    pub sightings: mpsc::Receiver<Sighting>,
    /// What they answered with when they began.
    pub stored: BTreeMap<Name, Serial>,
}

impl Controller {
    /// Begins to watch, and to do what follows.
    pub fn start(mut self) -> Running {
        let sources = Watched::sources(&self.options.namespaces);
        let inbox = Inbox::new(&sources);
        let chance = self.around.draw();
        let (feed, fed) = Feed::start(&self.around.client, &sources, chance);
        let (stop, stopped) = watch::channel(false);
        let (report, idle) = watch::channel(false);
        let feed = Arc::new(feed);
        let checks = checks_of(&feed, |_| false);
        let task = async move {
            self.run(inbox, fed, stopped, report).await;
            drop(feed);
        };
        Running {
            checks,
            idle,
            stop,
            task: tokio::spawn(task),
        }
    }

    /// Runs until `stop` says so. Writes that have begun are waited for.
    async fn run(
        self,
        inbox: Inbox,
        mut fed: mpsc::Receiver<Fed<Watched>>,
        mut stop: watch::Receiver<bool>,
        idle: watch::Sender<bool>,
    ) {
        let mut leading = self.around.leading.clone();
        let (mut shell, publications, mut sightings) = Shell::new(self, inbox);
        let mut beat = interval(BEAT);
        loop {
            shell.turn(&idle);
            let (news, due, listen_from) =
                (shell.has_news(), shell.next_due(), shell.listens_from());
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                Some(finished) = shell.passes.next() => shell.finished(finished),
                Some(sighting) = hear(&mut sightings) => shell.sighted(&sighting),
                Ok(permit) = permit(publications.as_ref()), if news => shell.tell(permit),
                Some(event) = listen(&mut fed, listen_from) => shell.fed(event, &mut fed),
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
    metrics: Metrics,
    pulse: Pulse,
    recorder: Recorder,
    world: World,
    inbox: Inbox,
    tap: Tap,
    zones: Queue<ZoneKey, String>,
    records: Queue<RecordKey, String>,
    /// Records that are about to be answered, and until when they say nothing.
    impatient: BTreeMap<RecordKey, Instant>,
    /// What name servers have not been told yet: the newest for each zone.
    outbox: BTreeMap<Name, Publication>,
    passes: FuturesUnordered<BoxFuture<'static, (Finished, Instant)>>,
    stopwatch: Stopwatch,
    rush: Rush,
    /// When events were last taken in.
    listened: Instant,
    /// Zones that have just been published, and until when they rest.
    resting: BTreeMap<ZoneKey, Instant>,
    synced: bool,
    leading: bool,
}

impl Shell {
    #[allow(
        clippy::type_complexity,
        reason = "what a controller is made of, taken apart once"
    )]
    fn new(
        controller: Controller,
        inbox: Inbox,
    ) -> (
        Shell,
        Option<mpsc::Sender<Publication>>,
        Option<mpsc::Receiver<Sighting>>,
    ) {
        let Controller {
            mut around,
            options,
            name_server,
            neighbours,
        } = controller;
        let policy = Policy {
            name_server: name_server.is_some(),
            ..options.policy
        };
        let (publications, sightings, stored) = match name_server {
            Some(server) => (
                Some(server.publications),
                Some(server.sightings),
                server.stored,
            ),
            None => (None, None, BTreeMap::new()),
        };
        let leading = *around.leading.borrow();
        around.metrics.leads(leading);
        let paced = |debounce| queue::Options {
            debounce,
            ..queue::Options::default()
        };
        let zones = paced(options.debounce);
        let records = paced(Duration::ZERO);
        let shell = Shell {
            client: around.counted(),
            clock: around.clock,
            recorder: around.recorder(),
            world: World::new(policy, stored),
            inbox,
            tap: Tap::new(neighbours),
            zones: Queue::new(zones, |key: &ZoneKey| key.namespace.clone(), around.draw()),
            records: Queue::new(
                records,
                |key: &RecordKey| key.namespace.clone(),
                around.draw(),
            ),
            impatient: BTreeMap::new(),
            outbox: BTreeMap::new(),
            passes: FuturesUnordered::new(),
            stopwatch: Stopwatch::default(),
            rush: Rush::default(),
            listened: Instant::now(),
            resting: BTreeMap::new(),
            synced: false,
            leading,
            metrics: around.metrics,
            pulse: around.pulse,
        };
        (shell, publications, sightings)
    }

    /// Begins what is due, and tells how it stands.
    fn turn(&mut self, idle: &watch::Sender<bool>) {
        let now = Instant::now();
        self.start_due(now);
        let stands = self.is_idle();
        idle.send_if_modified(|before| std::mem::replace(before, stands) != stands);
        let oldest = self.zones.oldest_due(now).max(self.records.oldest_due(now));
        let oldest = oldest.filter(|_| self.may_write());
        self.pulse.turn(now, oldest.map(|age| now - age));
        self.metrics.queue(
            self.zones.waiting() + self.records.waiting(),
            self.zones.working() + self.records.working(),
            oldest,
        );
    }

    /// Nothing waits, nothing is being written, and name servers answer with what they were told.
    fn is_idle(&self) -> bool {
        let waiting = self.zones.waiting() + self.records.waiting();
        let writing = self.passes.len() + self.outbox.len() + self.world.unseen();
        self.synced && waiting == 0 && writing == 0
    }

    /// Tells name servers one of the things they have not been told yet.
    fn tell(&mut self, permit: mpsc::Permit<'_, Publication>) {
        if let Some((_, publication)) = self.outbox.pop_first() {
            permit.send(publication);
        }
    }

    fn has_news(&self) -> bool {
        self.synced && !self.outbox.is_empty()
    }

    fn may_write(&self) -> bool {
        self.synced && self.leading
    }

    /// When the next key is due that there is room for.
    fn next_due(&self) -> Option<Instant> {
        if !self.may_write() {
            return None;
        }
        let zones = self.zones.next_due();
        let zones = zones.filter(|_| self.zones.working() < ZONES_AT_ONCE);
        let records = self.next_record(Instant::now());
        let records = records.filter(|_| self.records.working() < RECORDS_AT_ONCE);
        zones.into_iter().chain(records).min()
    }

    /// When the next Record is due: later than it would be while others are in a rush.
    fn next_record(&self, now: Instant) -> Option<Instant> {
        let due = self.records.next_due()?;
        let calm = self
            .rush
            .over_at(now)
            .map(|over| over.min(due + HELD_BACK_MAX));
        Some(calm.map_or(due, |calm| calm.max(due)))
    }

    /// From when on events are taken in: at once, but many at a time while others are in a rush.
    fn listens_from(&self) -> Option<Instant> {
        let from = self.listened + GATHER_IN_RUSH;
        self.rush.over_at(Instant::now()).map(|over| over.min(from))
    }

    /// Takes in an event and those that wait behind it.
    fn fed(&mut self, event: Fed<Watched>, more: &mut mpsc::Receiver<Fed<Watched>>) {
        let now = Instant::now();
        self.listened = now;
        let waiting = std::iter::from_fn(|| more.try_recv().ok());
        for fed in std::iter::once(event).chain(waiting.take(EVENTS_AT_ONCE)) {
            self.metrics.watched(fed.kind.name(), &fed.event);
            if self.synced && Inbox::is_foreign(&fed, &self.world) {
                self.rush.note(now);
            }
            self.tap.note(&fed);
            for consequences in self.inbox.take_in(fed, &mut self.world) {
                self.follow(consequences);
            }
        }
        if !self.synced && self.inbox.is_synced() {
            self.begin();
        }
    }

    /// Everything has been seen: whatever was told on the way there was premature.
    fn begin(&mut self) {
        self.synced = true;
        self.outbox.clear();
        let abandoned = self.world.abandoned();
        let keys: Vec<Key> = self.world.keys().collect();
        info!(
            objects = keys.len(),
            abandoned = abandoned.len(),
            "Seen everything"
        );
        self.follow(Consequences {
            keys: keys.into_iter().collect(),
            publications: abandoned,
        });
    }

    fn lead(&mut self, leading: bool) {
        self.leading = leading;
        self.metrics.leads(leading);
        if leading && self.synced {
            let keys = self.world.keys().collect();
            self.follow(Consequences {
                keys,
                publications: Vec::new(),
            });
        }
    }

    fn sighted(&mut self, sighting: &Sighting) {
        if let Some(waited) = self.stopwatch.see(sighting, Instant::now()) {
            self.metrics.answered("Zone", waited);
        }
        let consequences = self.world.sighted(sighting);
        self.follow(consequences);
    }

    /// Queues what is touched, and keeps what name servers are to be told.
    fn follow(&mut self, consequences: Consequences) {
        for publication in consequences.publications {
            self.outbox
                .insert(publication.origin().clone(), publication);
        }
        if !self.synced {
            return;
        }
        let now = Instant::now();
        for key in consequences.keys {
            match key {
                Key::Zone(key) => {
                    self.stopwatch.touch(&key, now);
                    self.zones.push(key, now);
                }
                Key::Record(key) => self.records.push(key, now),
            }
        }
    }

    /// Begins the passes that are due, Zones first.
    fn start_due(&mut self, now: Instant) {
        if !self.may_write() {
            return;
        }
        while self.zones.working() < ZONES_AT_ONCE
            && let Some(key) = self.zones.take(now)
        {
            self.start_zone(&key, now);
        }
        while self.records.working() < RECORDS_AT_ONCE
            && self.next_record(now).is_some_and(|due| due <= now)
            && let Some(key) = self.records.take(now)
        {
            self.start_record(&key, now);
        }
    }

    fn start_zone(&mut self, key: &ZoneKey, now: Instant) {
        if let Some(rested) = self.resting.remove(key).filter(|rested| now < *rested) {
            self.resting.insert(key.clone(), rested);
            return self.zones.done(key, now, Outcome::Again(rested));
        }
        self.stopwatch.begin(key);
        let Some(view) = self.world.zone(key) else {
            self.stopwatch.end(key, []);
            return self.zones.done(key, now, Outcome::Done);
        };
        let work = ZoneWork::new(view, self.clock.now());
        if work.is_idle() {
            self.zones.done(key, now, Outcome::Done);
            let version = work.into_version();
            let consequences =
                version.map(|(version, epoch)| self.world.acknowledge(key, version, epoch));
            let consequences = consequences.unwrap_or_default();
            self.stopwatch.end(key, &consequences.publications);
            return self.follow(consequences);
        }
        self.start(Work::Zone(Box::new(work)), now);
    }

    fn start_record(&mut self, key: &RecordKey, now: Instant) {
        let Some(view) = self.world.record(key) else {
            self.impatient.remove(key);
            return self.records.done(key, now, Outcome::Done);
        };
        let patient = self.impatient.get(key).is_none_or(|until| now < *until);
        let (work, waits) = RecordWork::new(view, patient, self.clock.now());
        if waits {
            self.impatient.entry(key.clone()).or_insert(now + PATIENCE);
        } else {
            self.impatient.remove(key);
        }
        if work.is_idle() {
            let outcome = self.after(key);
            return self.records.done(key, now, outcome);
        }
        self.start(Work::Record(Box::new(work)), now);
    }

    /// When to look at a Record again that waits to be answered.
    fn after(&self, key: &RecordKey) -> Outcome {
        let until = self
            .impatient
            .get(key)
            .filter(|until| Instant::now() < **until);
        until.map_or(Outcome::Done, |until| Outcome::Again(*until))
    }

    fn start(&mut self, work: Work, now: Instant) {
        let client = self.client.clone();
        let pass = async move { (work.perform(client).await, now) };
        self.passes.push(Box::pin(pass));
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn note(&self, key: &Key, written: &Written) {
        let (Some((before, after)), Some(object)) = (&written.conditions, written.reference(key))
        else {
            return;
        };
        self.recorder.transitions(&object, before, after);
    }

    fn finished(&mut self, (finished, started): (Finished, Instant)) {
        let Finished {
            key,
            written,
            result,
            writes,
        } = finished;
        self.note(&key, &written);
        let all = self.inbox.written(&key, written, &mut self.world);
        match &key {
            Key::Zone(key) if result.is_err() => self.stopwatch.fail(key),
            Key::Zone(key) => {
                let publications = all.iter().flat_map(|one| &one.publications);
                self.stopwatch.end(key, publications);
            }
            Key::Record(_) => {}
        }
        for consequences in all {
            self.follow(consequences);
        }
        let failed = result.is_err_and(|error| error.outcome(&key) == Outcome::Failed);
        debug!(%key, writes, failed, "Passed");
        let now = Instant::now();
        let took = now - started;
        let outcome = match (&key, failed) {
            (_, true) => Outcome::Failed,
            (Key::Zone(_), false) => Outcome::Done,
            (Key::Record(key), false) => self.after(key),
        };
        self.pulse.pass_ended(now);
        self.metrics.pass(key.kind(), outcome, took);
        match key {
            Key::Zone(key) => {
                self.zones.done(&key, now, outcome);
                let times = self.rush.over_at(now).map_or(REST, |_| REST_IN_RUSH);
                self.resting.insert(key, now + REST_MAX.min(took * times));
            }
            Key::Record(key) => self.records.done(&key, now, outcome),
        }
    }
}

/// The next sighting; never, where no name server runs.
async fn hear(sightings: &mut Option<mpsc::Receiver<Sighting>>) -> Option<Sighting> {
    match sightings {
        Some(sightings) => sightings.recv().await,
        None => std::future::pending().await,
    }
}

/// Leave to tell name servers something; never, where none runs.
async fn permit(
    publications: Option<&mpsc::Sender<Publication>>,
) -> Result<mpsc::Permit<'_, Publication>, mpsc::error::SendError<()>> {
    match publications {
        Some(publications) => publications.reserve().await,
        None => std::future::pending().await,
    }
}

/// The next event, from a time on.
async fn listen<K>(fed: &mut mpsc::Receiver<Fed<K>>, from: Option<Instant>) -> Option<Fed<K>> {
    if let Some(from) = from {
        tokio::time::sleep_until(from).await;
    }
    fed.recv().await
}
