//! The loop over hosts that exported sources ask for: what is watched goes into the index of them, what is due is passed over.
//!
//! ```text
//! HTTPProxy, Ingress, … ─┐
//! DomainVerification     │
//! ServiceRecord, Record ─┴─ feed ─► index ─► host ─ due ─► decide ─► ServiceRecord, Records, status
//!                                                             │
//!                                                             └─► somebody left ─► ask live ─► withdraw
//! ```
//!
//! It makes ServiceRecords, and Records that Zones may adopt; the loop over Zones and Records does the rest. The two meet in
//! the Kubernetes API. What somebody has left goes only after the API itself was asked ([`live`]), and only so fast that
//! an index that is wrong about thousands can be stopped.
//!
//! What it leaves to others: whose a host is and what it needs (`reconcile::publishing`).

mod inbox;
mod live;
mod pass;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dns::Name;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use reconcile::domains::{Keyring, Proofs};
use reconcile::publishing::{Note, Policy, Publishing, SourceKey, decide};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::info;

use crate::clock::Clock;
use crate::desk::{self, Begun, DeskOf, Ended, NoNews, TELL_WITHIN, Work};
use crate::events::{self, Recorder, Severity};
use crate::feed::Fed;
use crate::metrics::Metrics;
use crate::queue::{self, Outcome};
use crate::running::Running;
use crate::surroundings::Surroundings;
use inbox::{Inbox, Touched, Watched};
use live::Live;
use pass::{Finished, Pass};

/// How many write to the Kubernetes API at a time.
const WRITES_AT_ONCE: usize = 8;

/// What passes are over, as operators see it.
const KIND: &str = "ServiceRecord";

type Desk = DeskOf<Shell>;

/// What the loop over hosts of exported sources is made of.
pub struct Publisher {
    /// Where it runs.
    pub around: Surroundings,
    /// What the operator has chosen.
    pub options: Options,
    /// The installation's key, where domains can be proven: whoever has proven one has its hosts first.
    pub keyring: Option<Keyring>,
}

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to look for sources; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Where ServiceRecords are put, and what stands in for missing addresses.
    pub policy: Policy,
    /// How long a host that has lost its addresses keeps the last ones.
    pub grace: Duration,
}

impl Publisher {
    /// Begins to watch, and to do what follows.
    pub fn start(mut self) -> Running {
        let sources = Watched::sources(&self.options, self.keyring.is_some());
        let publishing =
            Publishing::new(self.options.policy.clone(), self.keyring.map(Proofs::new));
        let inbox = Inbox::new(&sources);
        let shell = Shell::new(&mut self.around, self.options, publishing, inbox);
        desk::start(shell, &sources, self.around)
    }
}

struct Shell {
    client: Client,
    clock: Clock,
    metrics: Metrics,
    recorder: Recorder,
    grace: Duration,
    publishing: Publishing,
    inbox: Inbox,
    live: Arc<Live>,
    writers: Arc<Semaphore>,
    /// What sources have been told about themselves.
    troubles: BTreeMap<SourceKey, BTreeSet<Note>>,
    /// What sources have been told because of others.
    noted: BTreeMap<Name, BTreeSet<Note>>,
    /// When the loop began: the grace period is counted on a clock that does not jump.
    began: Instant,
}

impl Work for Shell {
    type Kind = Watched;
    type Key = Name;
    type Finished = Finished;
    type News = NoNews;

    const PASSES_AT_ONCE: usize = 64;
    const DEBOUNCE: Duration = queue::DEBOUNCE;

    /// Hosts side by side stand in one line: many of somebody's do not keep others waiting.
    fn lane(host: &Name) -> String {
        host.parent().unwrap_or_else(Name::root).to_string()
    }

    /// A cluster has the kinds that its users have installed. They are switched on when they are.
    fn is_optional(kind: &Watched) -> bool {
        kind.is_optional()
    }

    fn fed(&mut self, fed: Fed<Watched>, desk: &mut Desk) {
        self.metrics.watched(fed.kind.name(), &fed.event);
        let touched = self.inbox.take_in(fed, &mut self.publishing);
        self.follow(touched, desk);
    }

    fn is_synced(&self) -> bool {
        self.inbox.is_synced()
    }

    fn look_at_all(&mut self, desk: &mut Desk) {
        let hosts = self.publishing.hosts();
        info!(hosts = hosts.len(), "Looking after every exported host");
        let sources: BTreeSet<SourceKey> = self.publishing.sources().cloned().collect();
        self.follow(Touched { hosts, sources }, desk);
    }

    /// Whoever leads next tells everybody anew.
    fn step_back(&mut self) {
        self.troubles.clear();
        self.noted.clear();
    }

    fn begin(&mut self, host: &Name, now: Instant) -> Begun<Finished> {
        let view = self.publishing.view(host);
        let decision = decide(&view, self.grace, now - self.began);
        let pass = Pass {
            view,
            decision,
            began: self.clock.now(),
        };
        if pass.is_idle() {
            let finished = pass.into_finished();
            let outcome = self.conclude(&finished);
            return Begun::Over(outcome);
        }
        let (client, live) = (self.client.clone(), Arc::clone(&self.live));
        let writers = Arc::clone(&self.writers);
        Begun::Pass(Box::pin(
            async move { pass.run(&client, &live, &writers).await },
        ))
    }

    fn finished(&mut self, mut finished: Finished, desk: &mut Desk) -> Ended<Name> {
        self.tell(&finished);
        let written = std::mem::take(&mut finished.written);
        let touched = self.inbox.written(written, &mut self.publishing);
        self.follow(touched, desk);
        Ended {
            outcome: self.conclude(&finished),
            key: finished.host,
            kind: KIND,
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
        publishing: Publishing,
        inbox: Inbox,
    ) -> Shell {
        let client = around.counted();
        Shell {
            live: Arc::new(Live::new(client.clone(), options.namespaces)),
            client,
            clock: around.clock,
            metrics: around.metrics.clone(),
            recorder: around.recorder(),
            grace: options.grace,
            publishing,
            inbox,
            writers: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            troubles: BTreeMap::new(),
            noted: BTreeMap::new(),
            began: Instant::now(),
        }
    }

    fn follow(&mut self, touched: Touched, desk: &mut Desk) {
        desk.push(touched.hosts);
        for source in touched.sources.into_iter().filter(|_| desk.is_leading()) {
            let troubles = self.publishing.troubles(&source).into_iter().collect();
            let before = replace(&mut self.troubles, source, troubles);
            self.note(before);
        }
    }

    /// What follows from what a pass came to.
    fn conclude(&mut self, finished: &Finished) -> Outcome {
        let notes = finished.notes.iter().cloned().collect();
        let news = replace(&mut self.noted, finished.host.clone(), notes);
        self.note(news);
        if finished.result.is_ok() {
            self.publishing.passed(&finished.host, finished.lapsing);
        }
        match &finished.result {
            // What could not be seen live is tried again, later and later.
            Ok(()) if finished.unconfirmed => Outcome::Failed,
            Ok(()) => match finished.next {
                Some(next) => Outcome::Again(self.began + next),
                None => Outcome::Done,
            },
            Err(error) => error.outcome(&finished.host),
        }
    }

    /// Tells people of transitions into and out of trouble (K3).
    fn tell(&self, finished: &Finished) {
        for (object, before, after) in finished.transitions() {
            self.recorder.transitions(&object, before, after);
        }
    }

    fn note(&self, notes: Vec<Note>) {
        for note in notes {
            let told = events::Note {
                severity: Severity::Warning,
                reason: note.reason.as_str().to_owned(),
                message: note.message,
                action: "Publish".to_owned(),
            };
            self.recorder
                .note(&reference(&note.source, &note.uid), told);
        }
    }
}

/// Remembers what somebody is told, and gives what of it is new.
fn replace<K: Ord>(
    told: &mut BTreeMap<K, BTreeSet<Note>>,
    of: K,
    now: BTreeSet<Note>,
) -> Vec<Note> {
    let before = told.remove(&of).unwrap_or_default();
    let news = now.difference(&before).cloned().collect();
    if !now.is_empty() {
        told.insert(of, now);
    }
    news
}

fn reference(source: &SourceKey, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some(source.kind.api_version()),
        kind: Some(source.kind.kind().to_owned()),
        namespace: Some(source.key.namespace.clone()),
        name: Some(source.key.name.clone()),
        uid: Some(uid.to_owned()),
        ..ObjectReference::default()
    }
}
