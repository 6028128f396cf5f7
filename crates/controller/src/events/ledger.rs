//! What has been noted and not yet written, and what was written lately. Pure: the time is handed in.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;

use super::Note;
use super::shares::Shares;

/// How many notes wait to be written. Beyond, the oldest goes: it is the one that later ones have made stale.
const WAITING_MAX: usize = 1_000;

/// How many notes are remembered in order to count them up: a few megabytes.
const REMEMBERED_MAX: usize = 4_000;

/// How long a note is remembered after it was last made. Kubernetes' own recorders consider a series over after six
/// minutes.
const SERIES_WINDOW: Duration = Duration::from_mins(6);

/// How often an Event is tried to be written.
const ATTEMPTS_MAX: u32 = 5;

/// The object that a note is about.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Subject {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) uid: Option<String>,
}

/// Notes that are counted as one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    pub(super) subject: Subject,
    pub(super) note: Note,
}

/// The notes, and the objects' shares.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<Arc<Key>, Entry>,
    /// Notes that wait to be written, in the order they come.
    line: VecDeque<Arc<Key>>,
    /// Notes that have been written, by when they were last made.
    written: BTreeSet<(Instant, Arc<Key>)>,
    shares: Shares,
}

#[derive(Clone, Debug)]
struct Entry {
    state: State,
    series: Series,
    /// How much of the series is in the API.
    told: i32,
    /// When it was last made, on the clock that does not jump.
    made: Instant,
    attempts: u32,
}

/// ```text
///  note            take               ended
/// ──────► Waiting ─────────► Writing ───────► Written ── forgotten
///            ▲                  │                │
///            └──────────────────┴────────────────┘ noted again, or failed
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Waiting,
    Writing,
    Written,
}

/// When and how often a note was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Series {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) count: i32,
}

/// An Event to be written, as it stood when it was taken.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) key: Arc<Key>,
    pub(super) series: Series,
    /// Whether an Event is there already, and only has to be counted up.
    pub(super) exists: bool,
}

/// What to do next.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Write(Draft),
    /// Nothing before this time: the objects that notes are about have had their share.
    Wait(Instant),
    Nothing,
}

/// How writing ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    Written,
    /// The Event that was to be counted up is not there any more.
    Gone,
    /// The API does not want it.
    Refused,
    /// The API did not answer, or could not.
    Failed,
}

impl Ledger {
    /// Takes a note. Tells whether one had to be dropped for it.
    pub(super) fn note(&mut self, key: Key, now: Instant, time: Timestamp) -> bool {
        self.forget(now);
        let key = Arc::new(key);
        let Some(entry) = self.entries.get_mut(&key) else {
            let entry = Entry::new(now, time);
            self.entries.insert(Arc::clone(&key), entry);
            self.line.push_back(key);
            return self.drop_if_too_many();
        };
        entry.series.last = time;
        entry.series.count = entry.series.count.saturating_add(1);
        let made = std::mem::replace(&mut entry.made, now);
        if entry.state == State::Written {
            entry.state = State::Waiting;
            self.written.remove(&(made, Arc::clone(&key)));
            self.line.push_back(key);
        }
        self.drop_if_too_many()
    }

    /// What to write next: the oldest note about an object that has not had its share.
    pub(super) fn take(&mut self, now: Instant) -> Next {
        let free_at = |key: &Arc<Key>| self.shares.free_at(&key.subject);
        let position = self
            .line
            .iter()
            .position(|key| free_at(key).is_none_or(|at| at <= now));
        let Some(key) = position.and_then(|position| self.line.remove(position)) else {
            let earliest = self.line.iter().filter_map(free_at).min();
            return earliest.map_or(Next::Nothing, Next::Wait);
        };
        let Some(entry) = self.entries.get_mut(&key) else {
            return Next::Nothing;
        };
        entry.state = State::Writing;
        Next::Write(Draft {
            series: entry.series,
            exists: entry.told > 0,
            key,
        })
    }

    /// Writing has ended. Tells whether the note is lost.
    pub(super) fn ended(&mut self, draft: &Draft, now: Instant, end: End) -> bool {
        let key = &draft.key;
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        entry.state = State::Waiting;
        match end {
            End::Written => {
                entry.told = draft.series.count;
                entry.attempts = 0;
                self.shares.spend(&key.subject, now);
                if entry.told == entry.series.count {
                    entry.state = State::Written;
                    self.written.insert((entry.made, Arc::clone(key)));
                } else {
                    self.line.push_back(Arc::clone(key));
                }
                false
            }
            End::Gone => {
                entry.begin_anew();
                self.line.push_front(Arc::clone(key));
                false
            }
            End::Failed if entry.attempts + 1 < ATTEMPTS_MAX => {
                entry.attempts += 1;
                self.line.push_front(Arc::clone(key));
                false
            }
            End::Failed | End::Refused => self.entries.remove(key).is_some(),
        }
    }

    fn drop_if_too_many(&mut self) -> bool {
        if self.line.len() <= WAITING_MAX {
            return false;
        }
        let oldest = self.line.pop_front();
        oldest.is_some_and(|key| self.entries.remove(&key).is_some())
    }

    /// Forgets what is over, and the oldest of what is too much to remember.
    fn forget(&mut self, now: Instant) {
        self.shares.forget(now);
        while let Some((made, _)) = self.written.first()
            && (*made + SERIES_WINDOW <= now || REMEMBERED_MAX < self.written.len())
            && let Some((_, key)) = self.written.pop_first()
        {
            self.entries.remove(&key);
        }
    }
}

impl Entry {
    fn new(now: Instant, time: Timestamp) -> Self {
        Self {
            state: State::Waiting,
            series: Series {
                first: time,
                last: time,
                count: 1,
            },
            told: 0,
            made: now,
            attempts: 0,
        }
    }

    /// What was told is gone: what was not told is a series of its own.
    fn begin_anew(&mut self) {
        self.series.first = self.series.last;
        self.series.count = (self.series.count - self.told).max(1);
        self.told = 0;
    }
}

impl Subject {
    pub(super) fn of(object: &ObjectReference) -> Self {
        Self {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.clone(),
        }
    }

    pub(super) fn reference(&self) -> ObjectReference {
        ObjectReference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            ..ObjectReference::default()
        }
    }
}
