//! How many Events an object may cause: a few at once, then one now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::ledger::Subject;

/// How many Events an object may cause at once.
pub(super) const BURST: u32 = 10;

/// How long it takes until it may cause one more.
pub(super) const EVERY: Duration = Duration::from_secs(30);

/// How many objects are remembered. Beyond, the one that is closest to its whole share is given it.
const OBJECTS_MAX: usize = 10_000;

/// Objects that do not have their whole share, and when they will have it.
#[derive(Debug, Default)]
pub(super) struct Shares {
    whole_at: BTreeMap<Subject, Instant>,
    order: BTreeSet<(Instant, Subject)>,
}

impl Shares {
    /// From when on an object may cause an Event; nothing: it has its whole share.
    pub(super) fn free_at(&self, subject: &Subject) -> Option<Instant> {
        let whole_at = self.whole_at.get(subject)?;
        // With one Event's worth missing less than the burst, there is one to spend.
        whole_at.checked_sub(EVERY * (BURST - 1))
    }

    /// The object has caused one.
    pub(super) fn spend(&mut self, subject: &Subject, now: Instant) {
        let before = self.whole_at.remove(subject);
        if let Some(before) = before {
            self.order.remove(&(before, subject.clone()));
        }
        let whole_at = before.map_or(now, |before| before.max(now)) + EVERY;
        self.whole_at.insert(subject.clone(), whole_at);
        self.order.insert((whole_at, subject.clone()));
    }

    /// How many objects are remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.whole_at.len()
    }

    /// Forgets objects that have their whole share again.
    pub(super) fn forget(&mut self, now: Instant) {
        while let Some((whole_at, _)) = self.order.first()
            && (*whole_at <= now || OBJECTS_MAX < self.order.len())
            && let Some((_, subject)) = self.order.pop_first()
        {
            self.whole_at.remove(&subject);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(number: usize) -> Subject {
        Subject {
            api_version: None,
            kind: None,
            namespace: None,
            name: Some(number.to_string()),
            uid: None,
        }
    }

    #[test]
    fn a_share_is_a_burst_and_then_one_at_a_time() {
        let (mut shares, now, one) = (Shares::default(), Instant::now(), subject(1));
        for _ in 0..BURST {
            assert!(shares.free_at(&one).is_none_or(|at| at <= now));
            shares.spend(&one, now);
        }
        assert_eq!(shares.free_at(&one), Some(now + EVERY));
        shares.spend(&one, now + EVERY);
        assert_eq!(shares.free_at(&one), Some(now + EVERY * 2));
    }

    #[test]
    fn a_share_never_grows_beyond_the_whole() {
        let (mut shares, now, one) = (Shares::default(), Instant::now(), subject(1));
        shares.spend(&one, now);
        let later = now + EVERY * 100;
        for _ in 0..BURST {
            shares.spend(&one, later);
        }
        assert_eq!(shares.free_at(&one), Some(later + EVERY));
    }

    #[test]
    fn objects_with_their_whole_share_and_too_many_others_are_forgotten() {
        let (mut shares, now) = (Shares::default(), Instant::now());
        for number in 0..OBJECTS_MAX + 10 {
            shares.spend(&subject(number), now);
            shares.forget(now);
        }
        assert_eq!(shares.whole_at.len(), OBJECTS_MAX);
        shares.forget(now + EVERY);
        assert!(shares.whole_at.is_empty() && shares.order.is_empty());
    }
}
