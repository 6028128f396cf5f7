//! What those who watch are told: the newest changes of each kind, and that they are there.
//!
//! A change comes here when it is durable, and not before. Each kind that someone watches has a feed: a short tail of
//! its log, which a watcher that keeps up reads without the engine. One that has fallen behind the tail reads the
//! engine's log until it has caught up.
//!
//! ```text
//! engine ─ storage ─ publish ──► tail ◄── read at each one's own pace ── watchers
//!                       └──────► herald ─────────── wakes ─────────────────┘
//! ```
//!
//! What is durable is learnt in a thread of the disk, and waking a task from there costs a system call on some
//! runtimes. So that thread wakes only the herald, a task, and it wakes the thousand others from beside them.

mod audience;
mod tail;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::Waker;

use tokio::sync::Notify;

use crate::key::Kind;
use crate::store::Change;
use audience::{Audience, Ticket};
use tail::Tail;

pub(crate) use tail::{News, Next};

/// The feeds of all kinds, and how far they have come.
#[derive(Debug)]
pub(crate) struct Feeds {
    /// Everything up to this revision is durable and may be shown. Written with `kinds` held, so that a feed that is
    /// opened begins where it says.
    published: AtomicU64,
    kinds: Mutex<BTreeMap<Kind, Arc<Feed>>>,
    /// Feeds whose watchers have yet to be woken.
    fresh: Mutex<Vec<Arc<Feed>>>,
    /// The herald waits here.
    herald: Notify,
}

/// One kind's newest changes and their readers.
#[derive(Debug)]
struct Feed {
    tail: RwLock<Tail>,
    /// The newest revision in the tail: whoever has come so far need not look into it.
    newest: AtomicU64,
    /// Counts what may end watches: changes to the definition of the kind, the end of the API.
    turns: AtomicU64,
    audience: Audience,
}

/// A place among the readers of a feed.
#[derive(Debug)]
pub(crate) struct Seat {
    feed: Arc<Feed>,
    ticket: Ticket,
}

impl Feeds {
    pub(crate) fn new(published: u64) -> Self {
        Self {
            published: AtomicU64::new(published),
            kinds: Mutex::default(),
            fresh: Mutex::default(),
            herald: Notify::new(),
        }
    }

    /// The newest revision that may be shown.
    pub(crate) fn published(&self) -> u64 {
        self.published.load(Ordering::Acquire)
    }

    /// A seat at the feed of a kind.
    pub(crate) fn join(&self, kind: &Kind) -> Seat {
        let mut kinds = lock(&self.kinds);
        let feed = kinds
            .entry(kind.clone())
            .or_insert_with(|| Arc::new(Feed::new(self.published())));
        Seat {
            ticket: feed.audience.admit(),
            feed: Arc::clone(feed),
        }
    }

    /// How many watch each kind that anybody watches.
    pub(crate) fn watched(&self) -> Vec<(Kind, usize)> {
        let kinds = lock(&self.kinds);
        let counts = kinds
            .iter()
            .map(|(kind, feed)| (kind.clone(), feed.audience.len()));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// Shows changes that are durable. They come in the order of their revisions.
    pub(crate) fn publish(&self, revision: u64, changes: &[Arc<Change>]) {
        let mut kinds = lock(&self.kinds);
        for change in changes {
            self.tell(&mut kinds, &change.key.kind, |feed| feed.push(change));
            if let Some(kind) = defined_kind(change) {
                self.tell(&mut kinds, &kind, Feed::turn);
            }
        }
        self.published.fetch_max(revision, Ordering::AcqRel);
    }

    /// Wakes whoever a change may concern, as long as it is polled.
    pub(crate) async fn herald(&self) {
        loop {
            self.herald.notified().await;
            let fresh = std::mem::take(&mut *lock(&self.fresh));
            for feed in fresh {
                feed.audience.wake();
            }
        }
    }

    /// Has every watch look whether it still may go on.
    pub(crate) fn turn(&self) {
        // Not with the kinds held: whoever is woken may come back here at once.
        let feeds: Vec<_> = lock(&self.kinds).values().cloned().collect();
        for feed in feeds {
            feed.turn();
            feed.audience.wake();
        }
    }

    /// Changes the feed of a kind if someone reads it, and forgets it otherwise.
    fn tell(&self, kinds: &mut BTreeMap<Kind, Arc<Feed>>, kind: &Kind, change: impl FnOnce(&Feed)) {
        let Some(feed) = kinds.get(kind) else {
            return;
        };
        if feed.audience.is_empty() {
            kinds.remove(kind);
            return;
        }
        change(feed);
        let mut fresh = lock(&self.fresh);
        if !fresh.iter().any(|known| Arc::ptr_eq(known, feed)) {
            fresh.push(Arc::clone(feed));
        }
        self.herald.notify_one();
    }
}

impl Feed {
    fn new(floor: u64) -> Self {
        Self {
            tail: RwLock::new(Tail::new(floor)),
            newest: AtomicU64::new(floor),
            turns: AtomicU64::new(0),
            audience: Audience::default(),
        }
    }

    fn push(&self, change: &Arc<Change>) {
        let mut tail = self.tail.write().unwrap_or_else(PoisonError::into_inner);
        tail.push(Arc::clone(change));
        self.newest.store(change.revision, Ordering::Release);
    }

    fn turn(&self) {
        self.turns.fetch_add(1, Ordering::AcqRel);
    }
}

impl Seat {
    /// Has `waker` woken, once, when there is something new. Look again after asking: it may have come before.
    pub(crate) fn wake(&self, waker: &Waker) {
        self.ticket.register(waker);
    }

    /// The newest revision of the kind; not what has been published of others since.
    pub(crate) fn newest(&self) -> u64 {
        self.feed.newest.load(Ordering::Acquire)
    }

    /// Counts what may end a watch.
    pub(crate) fn turns(&self) -> u64 {
        self.feed.turns.load(Ordering::Acquire)
    }

    /// What comes after a revision.
    pub(crate) fn after(&self, revision: u64) -> Next {
        let tail = self.feed.tail.read();
        tail.unwrap_or_else(PoisonError::into_inner).after(revision)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.feed.audience.dismiss(&self.ticket);
    }
}

/// The kind whose definition a change writes or removes.
fn defined_kind(change: &Change) -> Option<Kind> {
    let is_definition = change
        .key
        .kind
        .is("apiextensions.k8s.io", "customresourcedefinitions");
    let (plural, group) = change.key.place.name.split_once('.')?;
    is_definition.then(|| Kind::new(group, plural))
}

/// Nothing here is left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
