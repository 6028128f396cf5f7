//! Watches: what happens to the objects of many kinds, as one stream.
//!
//! Each kind is watched in the whole cluster or in some namespaces, one watch for each. A watch tells all objects that
//! are there, says when that was all, and goes on with changes. It is never given up: what fails is tried again, what
//! is not there is looked for, what has gone silent is replaced. Objects are passed on as they are; a spec that nobody
//! can read stops nothing here (K4).
//!
//! The border: what objects mean, and what follows when one is no longer told of, is the receiver's.

mod hearing;
mod progress;
mod told;
mod trouble;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kube::api::{ApiResource, DynamicObject};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use progress::{Progress, Standing};
pub(crate) use told::{CLUSTER_NAMESPACE, Happened, Told, built_in, is_newer, key_of};

use progress::Board;
use trouble::Patience;
use watch::Watch;

/// How many events wait for a receiver that is busy, before the watches wait instead: enough to keep it busy, few
/// enough that a large object in each is no burden.
const EVENTS_MAX: usize = 1024;

/// How long a watch may be silent. Kubernetes sends a bookmark about every minute, up to 75 seconds apart: two were
/// missed.
pub const SILENCE_MAX: Duration = Duration::from_secs(150);

/// How often a kind that the cluster does not have is looked for: soon to whoever just installed it, and one small
/// request.
pub const ABSENT_EVERY: Duration = Duration::from_secs(10);

/// A kind to watch.
#[derive(Clone, Debug)]
pub struct Source<K> {
    /// What the receiver calls it.
    pub kind: K,
    /// What the API calls it.
    pub resource: ApiResource,
    /// Where to watch; empty: everywhere.
    pub namespaces: Vec<String>,
    /// Only objects whose fields are so, if not all of them.
    pub fields: Option<String>,
    /// Only objects whose labels are so, if not all of them.
    pub labels: Option<String>,
}

/// Something that happened to objects of a kind.
#[derive(Clone, Debug)]
pub struct Fed<K> {
    /// The kind.
    pub kind: K,
    /// Which of its watches tells, if there is one for each namespace. The event is about this namespace alone.
    pub namespace: Option<Arc<str>>,
    /// What happened.
    pub event: Event,
}

/// What a watch tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// All objects are about to be told anew. What is known stays true until [`Synced`](Self::Synced).
    Restarted,
    /// The object is there, and looks like this.
    Applied(Box<DynamicObject>),
    /// The object is gone; this is how it looked last.
    Deleted(Box<DynamicObject>),
    /// Since [`Restarted`](Self::Restarted) all objects have been told: any other is gone.
    Synced,
    /// The cluster does not have the kind. Said once; when it is installed, the watch begins. Whether objects that were
    /// known are gone with it, or cannot be asked about for a moment, is not known here.
    Absent,
    /// The API answers, but tells nothing: watching is forbidden, or the watch has gone silent.
    Stalled(String),
    /// Asking failed, and will be tried again.
    Failed(String),
}

/// Watches that run for as long as this value lives.
#[derive(Debug)]
pub struct Feed<K> {
    board: Arc<Board<K>>,
    _watches: JoinSet<()>,
}

impl<K: Clone + Send + Sync + 'static> Feed<K> {
    /// Starts watching; what happens comes out of the receiver. Call it on the runtime that it is to run on.
    pub fn start(
        client: &Client,
        sources: &[Source<K>],
        mut chance: StdRng,
    ) -> (Self, mpsc::Receiver<Fed<K>>) {
        let (sender, receiver) = mpsc::channel(EVENTS_MAX);
        let scopes: Vec<_> = sources.iter().flat_map(scopes).collect();
        let kinds = scopes.iter().map(|(source, _)| source.kind.clone());
        let board = Arc::new(Board::new(kinds.collect()));
        let mut watches = JoinSet::new();
        for (place, (source, namespace)) in scopes.into_iter().enumerate() {
            let watch = Watch {
                kind: source.kind.clone(),
                resource: source.resource.clone(),
                fields: source.fields.clone(),
                labels: source.labels.clone(),
                namespace,
                client: hearing::client(client, &board, place),
                board: Arc::clone(&board),
                place,
                sender: sender.clone(),
                chance: StdRng::from_rng(&mut chance),
                patience: Patience::default(),
            };
            watches.spawn(watch.run());
        }
        let feed = Self {
            board,
            _watches: watches,
        };
        (feed, receiver)
    }
}

impl<K: Clone + PartialEq> Feed<K> {
    /// How far each kind has come, in the order of the sources.
    pub fn progress(&self) -> Vec<(K, Progress)> {
        self.board.progress()
    }
}

/// The watches that a source asks for.
fn scopes<K>(source: &Source<K>) -> Vec<(&Source<K>, Option<Arc<str>>)> {
    if source.namespaces.is_empty() {
        return vec![(source, None)];
    }
    let namespaces = source.namespaces.iter();
    namespaces
        .map(|namespace| (source, Some(Arc::from(namespace.as_str()))))
        .collect()
}
