//! What all requests share: the engine behind its lock, the way to the disk, and who waits for what.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::time::Instant;

use crate::admission::{Caller, REQUEST_WITHIN};
use crate::clock::Clock;
use crate::durability::{Commit, Durability};
use crate::engine::{Answer, Call, Engine, Errand, Step};
use crate::feed::{Feeds, Seat};
use crate::key::{Key, Kind};
use crate::metrics::{self, RequestKind, Requests};
use crate::refusal::Refusal;
use crate::resource::Resource;
use crate::storage::Loaded;
use crate::store::Change;

/// The API while it runs.
#[derive(Debug)]
pub(crate) struct Shared {
    engine: Mutex<Engine>,
    durability: Durability,
    /// Whoever is asked about writes.
    webhooks: Caller,
    pub(crate) clock: Clock,
    /// Those who watch read here.
    feeds: Feeds,
    /// The collector waits here.
    work: Notify,
    /// Turns of what it has requested.
    errands: Semaphore,
    /// True when the API stops: watches end.
    stopping: watch::Sender<bool>,
    /// What was asked for objects, and what came of it.
    requests: Requests,
}

/// How often a read that saw what was then taken back is tried again. It takes a writer that fails at the same
/// moment each time, so this many in a row do not happen.
const READS_MAX: usize = 16;

/// How many requests of the collector are under way at once: as many as kube-controller-manager has workers for it.
const ERRANDS_MAX: usize = 20;

/// What is said of a write whose object was changed by others for as long as it may take.
const LATE: &str = "request did not complete within requested timeout - context deadline exceeded";

impl Shared {
    pub(crate) fn new(
        engine: Engine,
        durability: Durability,
        webhooks: Caller,
        clock: Clock,
    ) -> Self {
        Self {
            feeds: Feeds::new(engine.store().revision()),
            engine: Mutex::new(engine),
            durability,
            webhooks,
            clock,
            work: Notify::new(),
            errands: Semaphore::new(ERRANDS_MAX),
            stopping: watch::Sender::new(false),
            requests: Requests::default(),
        }
    }

    /// The engine. A request that panicked has not harmed it: verbs judge first and then write, and what they write
    /// is one object at a time.
    pub(crate) fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a request, and returns when what it wrote or read is durable.
    ///
    /// Whoever has to be asked about it is asked without holding the engine.
    pub(crate) async fn call(&self, call: &Call) -> Result<Answer, Refusal> {
        let deadline = Instant::now() + REQUEST_WITHIN;
        let mut tries = 1;
        let mut admitted = None;
        loop {
            let (step, wrote, ticket) = {
                let mut engine = self.engine();
                let step = match admitted.take() {
                    None => engine.handle(call),
                    Some((suspended, admitted)) => engine.resume(call, suspended, admitted),
                };
                let changes = engine.take_written();
                let wrote = !changes.is_empty();
                (step, wrote, self.submit(&engine, changes))
            };
            match settled(ticket).await {
                Ok(()) => {}
                Err(refusal) if wrote || tries == READS_MAX => return Err(refusal),
                Err(_) => {
                    tries += 1;
                    continue;
                }
            }
            match step? {
                Step::Done(answer) => return Ok(answer),
                Step::Again if Instant::now() < deadline => {}
                Step::Again => return Err(Refusal::timeout(LATE)),
                Step::Ask(asking, suspended) => match self.webhooks.ask(asking, deadline).await {
                    Ok(answered) => admitted = Some((*suspended, answered)),
                    Err(refusal) => return Err(suspended.refused(refusal)),
                },
            }
        }
    }

    /// Does what follows from earlier requests, a step at a time, until nothing is left but [errands](Self::run).
    pub(crate) async fn collect(&self) -> Vec<Errand> {
        loop {
            let (worked, ticket) = {
                let mut engine = self.engine();
                let worked = engine.collect(self.clock.now());
                let changes = engine.take_written();
                (worked, self.submit(&engine, changes))
            };
            // What could not be written was taken back, and the collector has been told to look again.
            let written = settled(ticket).await;
            if !worked || written.is_err() {
                return self.engine().take_errands();
            }
            tokio::task::yield_now().await;
        }
    }

    /// Carries out what the collector wants to be requested. If it is refused, it is taken up again after a pause.
    pub(crate) async fn run(&self, errand: Errand) {
        let refusal = {
            let _turn = self.errands.acquire().await;
            self.call(&errand.call).await.err()
        };
        let later = self.engine().conclude(errand, refusal.as_ref());
        if let Some((pause, later)) = later {
            tokio::time::sleep(pause).await;
            self.engine().take_up(later);
        }
    }

    /// Waits until there may be something to collect.
    pub(crate) async fn work(&self) {
        self.work.notified().await;
    }

    /// The newest revision that may be shown.
    pub(crate) fn published(&self) -> u64 {
        self.feeds.published()
    }

    /// A seat among those who watch a kind.
    pub(crate) fn join(&self, kind: &Kind) -> Seat {
        self.feeds.join(kind)
    }

    /// Whether a kind is served in the version of this description.
    pub(crate) fn serves(&self, resource: &Resource) -> bool {
        let names = &resource.names;
        let engine = self.engine();
        let served = engine
            .catalog()
            .find(&names.group, &resource.version, &names.plural);
        served.is_some()
    }

    /// Shows changes that are durable.
    pub(crate) fn publish(&self, revision: u64, changes: &[Arc<Change>]) {
        self.feeds.publish(revision, changes);
        if !changes.is_empty() {
            self.work.notify_one();
        }
    }

    /// Wakes those who watch, as long as it is polled.
    pub(crate) async fn herald(&self) {
        self.feeds.herald().await;
    }

    /// Every object, at one revision. What is not durable yet is in it: a backup is none the worse for it.
    pub(crate) fn snapshot(&self) -> Loaded {
        let engine = self.engine();
        let store = engine.store();
        let objects = store
            .all()
            .map(|(key, stored)| (key, stored.revision(), stored.json().clone()))
            .collect();
        Loaded {
            revision: store.revision(),
            objects,
        }
    }

    /// Whether there is a service account of this name with this uid.
    pub(crate) fn has_service_account(&self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = Key::new("", "serviceaccounts", namespace, name);
        let engine = self.engine();
        engine
            .store()
            .get(&key)
            .is_some_and(|stored| &**stored.uid() == uid && !stored.is_deleting())
    }

    /// Counts a request that has been answered.
    pub(crate) fn count(&self, kind: RequestKind, code: u16) {
        self.requests.count(kind, code);
    }

    /// What this API tells Prometheus.
    pub(crate) fn metrics(&self) -> Result<String, fmt::Error> {
        let stored: Vec<_> = {
            let engine = self.engine();
            let store = engine.store();
            let counts = store.kinds().map(|kind| (kind.clone(), store.count(kind)));
            counts.collect()
        };
        metrics::text(&stored, &self.feeds.watched(), &self.requests)
    }

    /// Ends all watches, now and from now on.
    pub(crate) fn end_watches(&self) {
        self.stopping.send_replace(true);
        self.feeds.turn();
    }

    /// Ends watches, and takes no more writes.
    pub(crate) fn stop(&self) {
        self.end_watches();
        self.durability.close();
    }

    /// Turns true when the API stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Hands over what was written. The engine is held meanwhile, so that changes arrive in their order.
    fn submit(&self, engine: &Engine, changes: Vec<Arc<Change>>) -> Ticket {
        let revision = engine.store().revision();
        match &self.durability {
            Durability::Ephemeral => {
                self.publish(revision, &changes);
                None
            }
            Durability::Disk(_) if changes.is_empty() && revision <= self.published() => None,
            Durability::Disk(queue) => {
                let (done, ticket) = oneshot::channel();
                let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                // When the queue is closed the sender is dropped, which the ticket then tells.
                let _stopped = queue.as_ref().map(|queue| {
                    queue.send(Commit {
                        revision,
                        changes,
                        done,
                    })
                });
                Some(ticket)
            }
        }
    }
}

/// Tells when a request's changes are durable; nothing if they already are.
type Ticket = Option<oneshot::Receiver<Result<(), Refusal>>>;

async fn settled(ticket: Ticket) -> Result<(), Refusal> {
    match ticket {
        None => Ok(()),
        Some(ticket) => ticket
            .await
            .unwrap_or_else(|_| Err(Refusal::unavailable("the API is stopping"))),
    }
}
