//! The loop over DNSPolicies: what is watched goes into the index of Gateways, what is due is passed over.
//!
//! It makes DNSRecords and reads what became of them; the loop over DNSRecords does the rest. The two meet in the
//! Kubernetes API. One task owns the index and the queue; passes write on their own and come back when they are done.
//! Nothing is written before every kind has been seen once: a Gateway that has not been listed yet is not gone. A cluster
//! without the kind Gateway is one without Gateways until it is installed.

mod inbox;
mod pass;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use api::Condition;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use kube::Client;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::dns_policy::decide;
use reconcile::gateways::Concerned;
use reconcile::{GatewayKey, Gateways, PolicyKey};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};
use tracing::{debug, info, warn};

use crate::clock::Clock;
use crate::events::{Recorder, transitions};
use crate::feed::{Fed, Feed, Standing};
use crate::health::{Check, Pulse, feeds};
use crate::metrics::Metrics;
use crate::queue::{self, Outcome, Queue};
use crate::write::WriteError;
use inbox::{Inbox, Watched};
use pass::{Finished, affect, enforce};

/// How many passes are under way.
const PASSES_AT_ONCE: usize = 64;

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

/// How many events are taken in before what they touch is looked at.
const EVENTS_AT_ONCE: usize = 256;

/// How often the loop turns when nothing happens, so that others can see that it does.
const BEAT: Duration = Duration::from_secs(10);

/// How long the last Events may take to be written: losing one is no harm.
const TELL_WITHIN: Duration = Duration::from_millis(500);

/// What the loop over DNSPolicies is made of.
pub struct DnsPolicies {
    /// The way to the API.
    pub client: Client,
    /// What the operator has chosen.
    pub options: Options,
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
    /// How long what has lost its Gateway, its routes or its addresses is kept.
    pub grace: Duration,
}

/// What is passed over. Gateways come first: what is said about them costs little.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    Gateway(GatewayKey),
    Policy(PolicyKey),
}

impl Key {
    fn namespace(&self) -> String {
        match self {
            Key::Gateway(key) | Key::Policy(key) => key.namespace.clone(),
        }
    }

    /// The kind, as in the API.
    fn kind(&self) -> &'static str {
        match self {
            Key::Gateway(_) => "Gateway",
            Key::Policy(_) => "DNSPolicy",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Gateway(key) | Key::Policy(key) => write!(f, "{} {key}", self.kind()),
        }
    }
}

/// The loop over DNSPolicies, running. It goes on when this value is dropped.
#[derive(Debug)]
pub struct RunningDnsPolicies {
    feed: Arc<Feed<Watched>>,
    idle: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl RunningDnsPolicies {
    /// Waits until nothing is due and every DNSRecord that was made has been looked at. Whether it came to that.
    pub async fn settled(&mut self, within: Duration) -> bool {
        let idle = self.idle.wait_for(|idle| *idle);
        matches!(timeout(within, idle).await, Ok(Ok(_)))
    }

    /// What has to hold for this process to be ready: every kind is watched and heard of, if the cluster has it.
    pub fn checks(&self) -> impl Fn(Instant) -> Vec<Check> + Send + Sync + use<> {
        let feed = Arc::clone(&self.feed);
        move |now| {
            let mut progress = feed.progress();
            progress
                .retain(|(kind, it)| *kind != Watched::Gateway || it.standing != Standing::Absent);
            feeds(&progress, now)
        }
    }

    /// Lets what has begun finish. Whether it did.
    pub async fn shutdown(self, within: Duration) -> bool {
        self.stop.send_replace(true);
        timeout(within, self.task).await.is_ok()
    }
}

impl DnsPolicies {
    /// Begins to watch, and to do what follows.
    pub fn start(mut self) -> RunningDnsPolicies {
        let sources = Watched::sources(&self.options.namespaces);
        let inbox = Inbox::new(&sources);
        let chance = StdRng::from_rng(&mut self.chance);
        let (feed, fed) = Feed::start(&self.client, &sources, chance);
        let (stop, stopped) = watch::channel(false);
        let (report, idle) = watch::channel(false);
        RunningDnsPolicies {
            feed: Arc::new(feed),
            idle,
            stop,
            task: tokio::spawn(self.run(inbox, fed, stopped, report)),
        }
    }

    /// Runs until `stop` says so. Passes that have begun are waited for.
    async fn run(
        self,
        inbox: Inbox,
        mut fed: mpsc::Receiver<Fed<Watched>>,
        mut stop: watch::Receiver<bool>,
        idle: watch::Sender<bool>,
    ) {
        let mut leading = self.leading.clone();
        let mut shell = Shell::new(self, inbox);
        let mut beat = interval(BEAT);
        loop {
            shell.turn(&idle);
            let due = shell.next_due();
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                Some(finished) = shell.passes.next() => shell.finished(finished),
                Some(event) = fed.recv() => shell.fed(event, &mut fed),
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
    options: Options,
    gateways: Gateways,
    inbox: Inbox,
    queue: Queue<Key, String>,
    /// What each policy was last seen to say about itself.
    said: BTreeMap<PolicyKey, Vec<Condition>>,
    passes: FuturesUnordered<BoxFuture<'static, (Finished, Instant)>>,
    writers: Arc<Semaphore>,
    /// When the loop began: the grace period is counted on a clock that does not jump.
    began: Instant,
    synced: bool,
    leading: bool,
}

impl Shell {
    fn new(parts: DnsPolicies, inbox: Inbox) -> Shell {
        let DnsPolicies {
            client,
            options,
            clock,
            mut chance,
            leading,
            metrics,
            pulse,
            identity,
        } = parts;
        let client = metrics.counting(&client);
        let recorder_chance = StdRng::from_rng(&mut chance);
        let recorder = Recorder::start(
            client.clone(),
            identity,
            clock,
            recorder_chance,
            metrics.clone(),
        );
        let leading = *leading.borrow();
        Shell {
            queue: Queue::new(queue::Options::default(), Key::namespace, chance),
            client,
            clock,
            metrics,
            pulse,
            recorder,
            options,
            gateways: Gateways::default(),
            inbox,
            said: BTreeMap::new(),
            passes: FuturesUnordered::new(),
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            began: Instant::now(),
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
        let quiet = self.passes.is_empty() && oldest.is_none() && !self.gateways.is_waiting();
        let stands = self.synced && quiet;
        idle.send_if_modified(|before| std::mem::replace(before, stands) != stands);
    }

    fn may_write(&self) -> bool {
        self.synced && self.leading
    }

    fn next_due(&self) -> Option<Instant> {
        let room = self.may_write() && self.queue.working() < PASSES_AT_ONCE;
        self.queue.next_due().filter(|_| room)
    }

    fn fed(&mut self, event: Fed<Watched>, more: &mut mpsc::Receiver<Fed<Watched>>) {
        let waiting = std::iter::from_fn(|| more.try_recv().ok());
        for fed in std::iter::once(event).chain(waiting.take(EVENTS_AT_ONCE)) {
            self.metrics.watched(fed.kind.name(), &fed.event);
            let concerned = self.inbox.take_in(fed, &mut self.gateways);
            self.push(concerned);
        }
        if !self.synced && self.inbox.is_synced() {
            self.synced = true;
            let policies = self.gateways.policies().count();
            info!(policies, "Seen every DNSPolicy");
            self.look_at_all();
        }
        self.forget_gone();
    }

    fn push(&mut self, concerned: Concerned) {
        let now = Instant::now();
        let gateways = concerned.gateways.into_iter().map(Key::Gateway);
        let policies = concerned.policies.into_iter().map(Key::Policy);
        for key in gateways.chain(policies).filter(|_| self.synced) {
            self.queue.push(key, now);
        }
    }

    fn look_at_all(&mut self) {
        let all = Concerned {
            policies: self.gateways.policies().cloned().collect(),
            gateways: self.gateways.gateways().cloned().collect(),
        };
        self.push(all);
    }

    fn lead(&mut self, leading: bool) {
        self.leading = leading;
        if self.may_write() {
            self.look_at_all();
        }
    }

    fn begin(&mut self, key: &Key, now: Instant) {
        let (client, writers) = (self.client.clone(), Arc::clone(&self.writers));
        let began = self.clock.now();
        match key {
            Key::Gateway(gateway) => {
                let Some(view) = self.gateways.affected(gateway) else {
                    return self.queue.done(key, now, Outcome::Done);
                };
                self.inbox.begin(key);
                let gateway = gateway.clone();
                self.passes.push(Box::pin(async move {
                    (affect(gateway, view, began, &client, &writers).await, now)
                }));
            }
            Key::Policy(policy) => {
                let Some(view) = self.gateways.view(policy) else {
                    return self.queue.done(key, now, Outcome::Done);
                };
                self.inbox.begin(key);
                let decision = decide(&view, self.options.grace, now - self.began);
                self.passes.push(Box::pin(async move {
                    (enforce(view, decision, began, &client, &writers).await, now)
                }));
            }
        }
    }

    fn finished(&mut self, (finished, started): (Finished, Instant)) {
        let now = Instant::now();
        self.note(&finished);
        let key = finished.key.clone();
        let concerned = self.inbox.end(&key, finished.written, &mut self.gateways);
        self.push(concerned);
        if let Key::Policy(policy) = &key {
            // What could not be done is due still.
            if finished.result.is_ok() {
                self.gateways.passed(policy, finished.lapsing);
            }
            self.show(policy);
        }
        let outcome = match &finished.result {
            Ok(()) if finished.refused => Outcome::Failed,
            Ok(()) => match finished.next {
                Some(next) => Outcome::Again(self.began + next),
                None => Outcome::Done,
            },
            Err(WriteError::Gone) => Outcome::Done,
            Err(WriteError::Stale) => {
                debug!(%key, "Changed meanwhile");
                Outcome::Failed
            }
            Err(WriteError::Failed(error)) => {
                warn!(%key, %error, "Could not write");
                Outcome::Failed
            }
        };
        self.pulse.pass_ended(now);
        self.metrics.pass(key.kind(), outcome, now - started);
        self.queue.done(&key, now, outcome);
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn note(&self, finished: &Finished) {
        let Some(object) = finished.reference() else {
            return;
        };
        let (before, after) = &finished.conditions;
        for note in transitions(before, after) {
            self.recorder.note(&object, note);
        }
    }

    /// Shows operators how a policy stands.
    fn show(&mut self, policy: &PolicyKey) {
        let now = self.gateways.conditions(policy).map(<[Condition]>::to_vec);
        let before = self.said.remove(policy);
        let name = (policy.namespace.as_str(), policy.name.as_str());
        self.metrics
            .policy_stands(name, before.as_deref(), now.as_deref());
        self.said.extend(now.map(|now| (policy.clone(), now)));
    }

    /// Policies that are gone are shown no longer.
    fn forget_gone(&mut self) {
        for policy in self.inbox.take_gone() {
            self.show(&policy);
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
