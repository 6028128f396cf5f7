//! The order in which waiting keys come: the earliest of each lane, lanes in turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

/// Waiting keys by lane. What may wait, and until when, is decided by the queue.
#[derive(Debug)]
pub(super) struct Lanes<K, L> {
    /// Lanes that have keys.
    by_name: BTreeMap<L, Lane<K>>,
    /// Lanes whose first key was due when last looked at, in the order of their turns.
    turns: VecDeque<L>,
    /// The first times of the lanes in `turns`, and of all others: each lane stands in one of the two.
    awake: BTreeSet<(Instant, L)>,
    asleep: BTreeSet<(Instant, L)>,
    len: usize,
}

#[derive(Debug)]
struct Lane<K> {
    waiting: BTreeSet<(Instant, K)>,
    awake: bool,
}

impl<K> Default for Lane<K> {
    fn default() -> Self {
        Self {
            waiting: BTreeSet::new(),
            awake: false,
        }
    }
}

impl<K: Ord> Lane<K> {
    fn first(&self) -> Option<Instant> {
        self.waiting.first().map(|(due, _)| *due)
    }
}

impl<K, L> Default for Lanes<K, L> {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
            turns: VecDeque::new(),
            awake: BTreeSet::new(),
            asleep: BTreeSet::new(),
            len: 0,
        }
    }
}

impl<K: Ord, L: Ord + Clone> Lanes<K, L> {
    /// Adds a key that does not wait yet.
    pub(super) fn insert(&mut self, lane: &L, key: K, due: Instant) {
        self.len += 1;
        self.change(lane, |waiting| waiting.insert((due, key)));
    }

    /// Makes a key that waits for `before` wait for `due` instead.
    pub(super) fn advance(&mut self, lane: &L, key: K, before: Instant, due: Instant) {
        self.change(lane, |waiting| {
            let mut entry = (before, key);
            waiting.remove(&entry);
            entry.0 = due;
            waiting.insert(entry)
        });
    }

    /// Takes the first key of the lane whose turn it is.
    pub(super) fn pop(&mut self, now: Instant) -> Option<K> {
        self.wake(now);
        let lane = self.turns.pop_front()?;
        let (_, key) = self.change(&lane, BTreeSet::pop_first)?;
        self.len -= 1;
        self.take_turns(lane, now);
        Some(key)
    }

    /// The earliest time that any key waits for.
    pub(super) fn first(&self) -> Option<Instant> {
        let first = [self.awake.first(), self.asleep.first()];
        first.into_iter().flatten().map(|(due, _)| *due).min()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Gives a turn to every lane whose time has come.
    fn wake(&mut self, now: Instant) {
        while let Some((due, name)) = self.asleep.pop_first() {
            if now < due {
                self.asleep.insert((due, name));
                return;
            }
            if let Some(lane) = self.by_name.get_mut(&name) {
                lane.awake = true;
            }
            self.turns.push_back(name.clone());
            self.awake.insert((due, name));
        }
    }

    /// After its turn a lane goes to the end of the line, to sleep, or away.
    fn take_turns(&mut self, name: L, now: Instant) {
        let Some(lane) = self.by_name.get_mut(&name) else {
            return;
        };
        match lane.first() {
            Some(due) if due <= now => self.turns.push_back(name),
            Some(due) => {
                lane.awake = false;
                self.awake.remove(&(due, name.clone()));
                self.asleep.insert((due, name));
            }
            None => drop(self.by_name.remove(&name)),
        }
    }

    /// Edits a lane and keeps its first time right.
    fn change<T>(&mut self, name: &L, edit: impl FnOnce(&mut BTreeSet<(Instant, K)>) -> T) -> T {
        let lane = self.by_name.entry(name.clone()).or_default();
        let before = lane.first();
        let edited = edit(&mut lane.waiting);
        let after = lane.first();
        if before != after {
            let firsts = if lane.awake {
                &mut self.awake
            } else {
                &mut self.asleep
            };
            before.map(|due| firsts.remove(&(due, name.clone())));
            after.map(|due| firsts.insert((due, name.clone())));
        }
        edited
    }
}
