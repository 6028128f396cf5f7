//! What to look at next, and when.
//!
//! A key stands in the queue at most once, with the time from which it is due. Whoever works takes a key, and says when
//! it is done and how it went. The rules:
//!
//! - Asked for twice, the earlier time counts.
//! - A key that is worked on is not handed out again before it is done. Asked for meanwhile, it comes again.
//! - After a start the same key does not start again within the debounce interval; the first start is at once (Z10).
//! - A key that failed waits, longer each time, until it succeeds. Asked for meanwhile, it comes earlier: what changed
//!   may be what was wrong.
//! - Lanes that have something due take turns, so that a long one does not starve a short one. Within a lane, whoever
//!   has been due for longest comes first.
//!
//! Every operation is logarithmic in the number of keys. Nothing here reads a clock: the time
//! is an argument, and never goes back. Nothing is remembered of a key that has rested for the debounce interval.

mod lanes;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rand::rngs::StdRng;
use tokio::time::Instant;

use crate::backoff::Backoff;
use lanes::Lanes;

/// One version of a zone in this time: short to a person, long enough to gather what a `kubectl apply` of many
/// objects sends (Z10).
pub const DEBOUNCE: Duration = Duration::from_millis(50);

/// The wait after a first failure: a write that lost a race succeeds on the next attempt, which should not be noticed.
pub const BACKOFF_BASE: Duration = Duration::from_millis(100);

/// The longest wait after failures: how late we may notice, unasked, that what was broken is whole again.
pub const BACKOFF_CAP: Duration = Duration::from_mins(1);

/// How long keys wait.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The least time between two starts of one key.
    pub debounce: Duration,
    /// The waits after failures.
    pub backoff: Backoff,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            debounce: DEBOUNCE,
            backoff: Backoff {
                base: BACKOFF_BASE,
                cap: BACKOFF_CAP,
            },
        }
    }
}

/// How work on a key ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Well: there is nothing more to do until someone asks.
    Done,
    /// Well: look again at this time, or earlier if someone asks.
    Again(Instant),
    /// Badly: try again after a wait that grows.
    Failed,
}

/// Keys with the times they are due at.
#[derive(Debug)]
pub struct Queue<K, L> {
    options: Options,
    lane: fn(&K) -> L,
    chance: StdRng,
    entries: BTreeMap<K, Entry>,
    lanes: Lanes<K, L>,
    /// The starts of the last debounce interval, in order: whom to forget, and when.
    starts: VecDeque<(Instant, K)>,
    working: usize,
}

/// What is known of a key.
#[derive(Debug, Default)]
struct Entry {
    state: State,
    started: Option<Instant>,
    /// Failures since the last success.
    failures: u32,
}

/// ```text
///            push              take
/// Resting ─────────► Waiting ─────────► Working
///    ▲                  ▲    done, asked   │
///    │                  └──────────────────┤
///    └─────────────────────────────────────┘ done
/// ```
#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Resting,
    /// In its lane at this time.
    Waiting(Instant),
    /// Handed out, and wanted again from `again` on.
    Working { again: Option<Instant> },
}

impl<K: Ord + Clone, L: Ord + Clone> Queue<K, L> {
    /// An empty queue. `lane` tells which keys stand in one line, such as those of one namespace; `chance` makes waits
    /// differ.
    pub fn new(options: Options, lane: fn(&K) -> L, chance: StdRng) -> Self {
        Self {
            options,
            lane,
            chance,
            entries: BTreeMap::new(),
            lanes: Lanes::default(),
            starts: VecDeque::new(),
            working: 0,
        }
    }

    /// Asks for `key` at `due`, usually now.
    pub fn push(&mut self, key: K, due: Instant) {
        let entry = self.entries.entry(key.clone()).or_default();
        let due = match entry.started {
            Some(started) => due.max(started + self.options.debounce),
            None => due,
        };
        match &mut entry.state {
            State::Resting => {
                entry.state = State::Waiting(due);
                self.lanes.insert(&(self.lane)(&key), key, due);
            }
            State::Waiting(at) if due < *at => {
                let before = std::mem::replace(at, due);
                self.lanes.advance(&(self.lane)(&key), key, before, due);
            }
            State::Waiting(_) => {}
            State::Working { again } => *again = earlier(*again, Some(due)),
        }
    }

    /// A key that is due at `now`, if there is one. It is being worked on until [`done`](Self::done) says otherwise.
    pub fn take(&mut self, now: Instant) -> Option<K> {
        self.forget(now);
        let key = self.lanes.pop(now)?;
        let entry = self.entries.entry(key.clone()).or_default();
        entry.state = State::Working { again: None };
        entry.started = Some(now);
        self.starts.push_back((now, key.clone()));
        self.working += 1;
        Some(key)
    }

    /// Work on `key` has ended. Said of a key that is not being worked on, it changes nothing.
    pub fn done(&mut self, key: &K, now: Instant, outcome: Outcome) {
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        let State::Working { again } = entry.state else {
            return;
        };
        entry.failures = match outcome {
            Outcome::Done | Outcome::Again(_) => 0,
            Outcome::Failed => entry.failures.saturating_add(1),
        };
        let backoff = &self.options.backoff;
        let due = match outcome {
            Outcome::Done => None,
            Outcome::Again(at) => Some(at),
            Outcome::Failed => Some(now + backoff.delay(entry.failures, &mut self.chance)),
        };
        entry.state = State::Resting;
        self.working -= 1;
        match earlier(again, due) {
            Some(due) => self.push(key.clone(), due),
            None => self.forget_if_rested(key, now),
        }
    }

    /// The earliest time at which [`take`](Self::take) has something; it may have passed.
    pub fn next_due(&self) -> Option<Instant> {
        self.lanes.first()
    }

    /// For how long the key that has waited longest has been due.
    pub fn oldest_due(&self, now: Instant) -> Option<Duration> {
        let due = self.lanes.first().filter(|due| *due <= now)?;
        Some(now.duration_since(due))
    }

    /// How many keys wait, whether they are due or not.
    pub fn waiting(&self) -> usize {
        self.lanes.len()
    }

    /// How many keys are being worked on.
    pub fn working(&self) -> usize {
        self.working
    }

    /// Forgets keys whose last start no longer matters.
    fn forget(&mut self, now: Instant) {
        while let Some((_, key)) = self
            .starts
            .pop_front_if(|(started, _)| *started + self.options.debounce <= now)
        {
            self.forget_if_rested(&key, now);
        }
    }

    fn forget_if_rested(&mut self, key: &K, now: Instant) {
        let debounce = self.options.debounce;
        let rested = |entry: &Entry| match entry.state {
            State::Resting => entry.started.is_none_or(|at| at + debounce <= now),
            State::Waiting(_) | State::Working { .. } => false,
        };
        if self.entries.get(key).is_some_and(rested) {
            self.entries.remove(key);
        }
    }
}

/// The earlier of two times that may be missing.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}
