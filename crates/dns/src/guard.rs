//! When changes that nobody asked for are too many.
//!
//! What follows from somebody's edit is wished for, however much it is. What follows from a zone that is suddenly another
//! one is more often a mistake: a read that was not whole, a zone that was made anew, a tool let loose. A few such changes
//! are repaired at once; when they become many in a short time, a person should look first (P10).

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::hosted::Change;
use crate::ownership::hash36;

/// How long changes are remembered.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// With fewer sets than this a share of them says nothing.
const OWNED_MIN: usize = 10;

/// How many characters of a hash stand for changes: enough that nobody approves others than those seen.
const HASH_CHARS: usize = 16;

/// Counts the changes of one zone that nobody asked for.
#[derive(Clone, Debug)]
pub struct Guard {
    percent_max: u32,
    recent: VecDeque<(Timestamp, usize)>,
}

impl Guard {
    /// Holds back what is more than so many of a hundred; a hundred holds back nothing.
    pub fn new(percent_max: u32) -> Guard {
        Guard {
            percent_max,
            recent: VecDeque::new(),
        }
    }

    /// Whether so many changes, with those of the last minutes, are too many for so many sets.
    pub fn holds(&self, unasked: usize, owned: usize, now: Timestamp) -> bool {
        let recent = self.recent.iter().filter(|(then, _)| is_recent(*then, now));
        let recent: usize = recent.map(|(_, count)| count).sum();
        let percent_max = usize::try_from(self.percent_max).unwrap_or(usize::MAX);
        let too_many = (recent + unasked).saturating_mul(100) > owned.saturating_mul(percent_max);
        unasked > 0 && owned >= OWNED_MIN && too_many && percent_max < 100
    }

    /// Remembers changes that were let through.
    pub fn let_through(&mut self, unasked: usize, now: Timestamp) {
        self.recent.retain(|(then, _)| is_recent(*then, now));
        if unasked > 0 {
            self.recent.push_back((now, unasked));
        }
    }
}

/// A clock that was set back makes nothing recent for longer than it is.
fn is_recent(then: Timestamp, now: Timestamp) -> bool {
    now.duration_since(then).abs() < WINDOW
}

/// What stands for changes and what they start from: it is another one as soon as either is.
pub fn fingerprint<'a>(changes: impl IntoIterator<Item = &'a Change>) -> String {
    let mut lines: Vec<String> = changes
        .into_iter()
        .map(|change| format!("{} {:?} {:?}", change.key, change.before, change.after))
        .collect();
    lines.sort();
    let mut hash = hash36(&lines.join("\n"));
    hash.truncate(HASH_CHARS);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + 60 * minute).unwrap()
    }

    #[test]
    fn a_share_of_many_sets_is_held_and_of_few_is_not() {
        // P10: above 30 % of at least 10 owned sets.
        let guard = Guard::new(30);
        let cases = [
            (0, 100, false),
            (3, 10, false),
            (4, 10, true),
            (30, 100, false),
            (31, 100, true),
            (9, 9, false),
            (1, 1_000, false),
        ];
        for (unasked, owned, held) in cases {
            assert_eq!(
                guard.holds(unasked, owned, at(0)),
                held,
                "{unasked} of {owned}"
            );
        }
    }

    #[test]
    fn changes_add_up_for_ten_minutes() {
        let mut guard = Guard::new(30);
        guard.let_through(20, at(0));
        guard.let_through(5, at(5));
        assert!(guard.holds(6, 100, at(9)));
        assert!(!guard.holds(5, 100, at(9)));
        assert!(!guard.holds(25, 100, at(10)), "the first are forgotten");
        assert!(guard.holds(26, 100, at(10)));
        assert!(!guard.holds(30, 100, at(15)));
    }

    #[test]
    fn a_clock_that_jumps_does_not_hold_for_ever() {
        let mut guard = Guard::new(30);
        guard.let_through(30, at(1_000_000));
        assert!(!guard.holds(1, 100, at(0)));
    }
}
