//! How far each kind has come, for readiness.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// How far the watches of a kind have come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Progress {
    /// Whether all objects have been told.
    pub standing: Standing,
    /// When the API was last heard, by the watch that has waited longest.
    pub heard: Option<Instant>,
    /// What went wrong last, if nothing has been heard since.
    pub error: Option<String>,
}

/// Whether all objects of a kind have been told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Not yet.
    Syncing,
    /// They have been, at least once. This stays true when they are told anew.
    Synced,
    /// The cluster does not have the kind.
    Absent,
}

/// Where watches note how they are doing, each at its place.
#[derive(Debug)]
pub(super) struct Board<K> {
    kinds: Vec<K>,
    watches: Mutex<Vec<Progress>>,
}

impl<K> Board<K> {
    /// A board with a place for each watch, of the kind given for it.
    pub(super) fn new(kinds: Vec<K>) -> Self {
        let new = Progress {
            standing: Standing::Syncing,
            heard: None,
            error: None,
        };
        Self {
            watches: Mutex::new(vec![new; kinds.len()]),
            kinds,
        }
    }

    /// Notes that the API was heard just now: whatever was wrong no longer is.
    pub(super) fn heard(&self, place: usize) {
        let mut watches = self.watches();
        watches[place].heard = Some(Instant::now());
        watches[place].error = None;
    }

    /// Notes that all objects are about to be told. Those who know them all go on knowing them.
    pub(super) fn restarted(&self, place: usize) {
        let standing = &mut self.watches()[place].standing;
        *standing = match standing {
            Standing::Syncing | Standing::Absent => Standing::Syncing,
            Standing::Synced => Standing::Synced,
        };
    }

    /// Whether the kind was not there when last looked for.
    pub(super) fn is_absent(&self, place: usize) -> bool {
        self.watches()[place].standing == Standing::Absent
    }

    /// Notes how far a watch has come.
    pub(super) fn stands(&self, place: usize, standing: Standing) {
        let mut watches = self.watches();
        watches[place].standing = standing;
        watches[place].error = None;
    }

    /// Notes what went wrong, and tells whether it is news.
    pub(super) fn failed(&self, place: usize, why: &str) -> bool {
        let before = self.watches()[place].error.replace(why.to_owned());
        before.is_none_or(|before| before != why)
    }

    /// When the API was last heard.
    pub(super) fn last_heard(&self, place: usize) -> Option<Instant> {
        self.watches()[place].heard
    }

    fn watches(&self) -> MutexGuard<'_, Vec<Progress>> {
        // Whoever held the lock when it panicked was replacing single values: what is there is whole.
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + PartialEq> Board<K> {
    /// The progress of each kind, in the order of their first places.
    pub(super) fn progress(&self) -> Vec<(K, Progress)> {
        let mut kinds: Vec<(K, Progress)> = Vec::new();
        for (kind, watch) in self.kinds.iter().zip(self.watches().iter()) {
            match kinds.iter_mut().find(|(known, _)| known == kind) {
                Some((_, progress)) => progress.join(watch),
                None => kinds.push((kind.clone(), watch.clone())),
            }
        }
        kinds
    }
}

impl Progress {
    /// Adds another watch of the same kind: together they are as far as the one that is behind.
    fn join(&mut self, other: &Self) {
        self.standing = match (self.standing, other.standing) {
            (Standing::Syncing, _) | (_, Standing::Syncing) => Standing::Syncing,
            (Standing::Synced, _) | (_, Standing::Synced) => Standing::Synced,
            (Standing::Absent, Standing::Absent) => Standing::Absent,
        };
        self.heard = self.heard.min(other.heard);
        self.error = self.error.take().or_else(|| other.error.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_as_far_as_the_watch_that_is_behind() {
        use Standing::{Absent, Synced, Syncing};
        let cases = [
            (Synced, Synced, Synced),
            (Synced, Syncing, Syncing),
            (Absent, Syncing, Syncing),
            (Absent, Synced, Synced),
            (Absent, Absent, Absent),
        ];
        for (one, other, both) in cases {
            for (first, second) in [(one, other), (other, one)] {
                let board = Board::new(vec!["a", "a", "b"]);
                board.stands(0, first);
                board.stands(1, second);
                let progress = board.progress();
                assert_eq!(progress.len(), 2);
                assert_eq!(progress[0].1.standing, both, "{first:?} and {second:?}");
                assert_eq!(progress[1].1.standing, Syncing);
            }
        }
    }

    #[test]
    fn what_is_told_anew_is_syncing_unless_it_is_known() {
        use Standing::{Absent, Synced, Syncing};
        for (before, after) in [(Syncing, Syncing), (Absent, Syncing), (Synced, Synced)] {
            let board = Board::new(vec!["a"]);
            board.stands(0, before);
            board.restarted(0);
            assert_eq!(board.progress()[0].1.standing, after);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_was_heard_when_its_quietest_watch_was() {
        let board = Board::new(vec!["a", "a"]);
        let first = Instant::now();
        board.heard(1);
        assert_eq!(board.progress()[0].1.heard, None);
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        board.heard(0);
        assert_eq!(board.progress()[0].1.heard, Some(first));
    }
}
