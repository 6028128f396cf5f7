//! Kubernetes Events: what people see under `kubectl describe` (K3).
//!
//! [`Recorder::transitions`] notes those changes of conditions that deserve one; a [`Recorder`] writes notes into the log at
//! once and into the API afterwards. Nobody waits for an Event and nothing fails with it: what cannot be written in time is
//! dropped and counted. What is noted again soon is counted up instead of written anew, and no object gets more than
//! its share.
//!
//! They are written as `events.k8s.io/v1`, which counts in one object; kubectl shows that as it shows the older form.

mod ledger;
mod shares;
mod transition;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use api::Condition;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use rand::rngs::StdRng;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use crate::clock::Clock;
use crate::metrics::Metrics;
use ledger::{Key, Ledger, Subject};
use writer::Writer;

use transition::transitions;

/// Whether an Event tells of trouble.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// All is well, or well again.
    Normal,
    /// Something is wrong.
    Warning,
}

/// What is to be told about an object.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Note {
    /// Whether it is trouble.
    pub severity: Severity,
    /// Why, for programs: a word.
    pub reason: String,
    /// Why, for people: a sentence. Kubernetes keeps the first 1024 bytes.
    pub message: String,
    /// What was being done, for programs: a word.
    pub action: String,
}

/// Takes notes, and writes them as Events. Clones write into the same book; when the last is dropped, writing ends.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    clock: Clock,
    metrics: Metrics,
    _writer: Arc<JoinSet<()>>,
}

/// What the recorder and the writer have in common.
#[derive(Debug, Default)]
struct Shared {
    ledger: Mutex<Ledger>,
    noted: Notify,
    closing: watch::Sender<bool>,
    closed: watch::Sender<bool>,
}

impl Recorder {
    /// A recorder that writes in the name of `instance`, which tells one process from another. Call it on the runtime
    /// that it is to write on.
    pub fn start(
        client: Client,
        instance: String,
        clock: Clock,
        chance: StdRng,
        metrics: Metrics,
    ) -> Self {
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            client,
            instance,
            shared: Arc::clone(&shared),
            chance,
            metrics: metrics.clone(),
        };
        let mut task = JoinSet::new();
        task.spawn(writer.run());
        Self {
            shared,
            clock,
            metrics,
            _writer: Arc::new(task),
        }
    }

    /// Notes an object's ways into and out of a bad state (K3).
    pub fn transitions(&self, object: &ObjectReference, before: &[Condition], after: &[Condition]) {
        for note in transitions(before, after) {
            self.note(object, note);
        }
    }

    /// Takes a note about an object, and writes it into the log. Returns at once.
    pub fn note(&self, object: &ObjectReference, note: Note) {
        log(object, &note);
        let key = Key {
            subject: Subject::of(object),
            note,
        };
        let (now, time) = (Instant::now(), self.clock.now());
        if self.shared.ledger().note(key, now, time) {
            self.metrics.event_dropped();
        }
        self.shared.noted.notify_one();
    }

    /// Writes what can be written now, for at most `within`. Nothing that is noted afterwards is written.
    pub async fn close(self, within: Duration) {
        self.shared.closing.send_replace(true);
        let mut closed = self.shared.closed.subscribe();
        let _in_time = timeout(within, closed.wait_for(|closed| *closed)).await;
    }
}

/// One line for each (C8).
fn log(object: &ObjectReference, note: &Note) {
    let Note {
        severity,
        reason,
        message,
        ..
    } = note;
    let [kind, namespace, name] = [&object.kind, &object.namespace, &object.name]
        .map(|part| part.as_deref().unwrap_or_default());
    let object = format_args!("{kind} {namespace}/{name}");
    match severity {
        Severity::Warning => warn!(%object, reason, "{message}"),
        Severity::Normal => info!(%object, reason, "{message}"),
    }
}

impl Shared {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // The ledger is whole after every step; a note that panicked half way is at worst lost.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Severity {
    fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}
