//! How often what others changed had to be repaired, and when that is too often (C10).
//!
//! A rival that is quick is seen by the repairs of ten minutes. One that is slow, such as a second cluster with the same owner
//! id, undoes each repair before the next look at the zone: it is seen by looks that never find what the one before left.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// How long repairs are remembered.
const REPAIRS_WITHIN: Duration = Duration::from_mins(10);

/// After so many of them somebody else wants it otherwise.
const REPAIRS_MAX: u32 = 3;

/// The longest that a record is left alone.
const REST_MAX: Duration = Duration::from_hours(4);

/// The repairs of one record.
#[derive(Debug, Default)]
pub(super) struct Contention {
    recent: VecDeque<Instant>,
    /// Looks in a row that found something else than the one before left, those within ten minutes counted as one.
    in_a_row: u32,
    last: Option<Instant>,
}

impl Contention {
    /// What others changed was repaired.
    pub(super) fn repaired(&mut self, now: Instant) {
        self.expire(now);
        if self.recent.is_empty() {
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
        self.recent.push_back(now);
        self.last = Some(now);
    }

    /// Everything was as it had been left.
    pub(super) fn undisturbed(&mut self) {
        self.in_a_row = 0;
    }

    /// Whether a record, which is looked at every so often, is to be left alone for now.
    pub(super) fn is_on(&mut self, now: Instant, requeue: Duration) -> bool {
        self.expire(now);
        let quick = self.recent.len() >= REPAIRS_MAX as usize;
        let rests = self.last.zip(self.rest(requeue));
        quick || rests.is_some_and(|(last, rest)| now < last + rest)
    }

    /// How long it is left alone after the last repair: twice the time between two looks, and longer each time.
    fn rest(&self, requeue: Duration) -> Option<Duration> {
        let more = self.in_a_row.checked_sub(REPAIRS_MAX)?;
        let times = 2_u32.saturating_pow(more.saturating_add(1));
        Some(requeue.saturating_mul(times).min(REST_MAX))
    }

    fn expire(&mut self, now: Instant) {
        let is_over = |then: &mut Instant| *then + REPAIRS_WITHIN <= now;
        while self.recent.pop_front_if(is_over).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEUE: Duration = Duration::from_mins(15);

    fn minutes(minutes: u64) -> Duration {
        Duration::from_mins(minutes)
    }

    #[tokio::test(start_paused = true)]
    async fn three_repairs_in_ten_minutes_are_contention_until_ten_minutes_are_over() {
        let (began, mut contention) = (Instant::now(), Contention::default());
        for minute in 0..3 {
            assert!(!contention.is_on(began + minutes(minute), REQUEUE));
            contention.repaired(began + minutes(minute));
        }
        assert!(contention.is_on(began + minutes(9), REQUEUE));
        assert!(!contention.is_on(began + minutes(10), REQUEUE));
    }

    #[tokio::test(start_paused = true)]
    async fn three_looks_in_a_row_that_repair_are_contention_for_longer_and_longer() {
        let (began, mut contention) = (Instant::now(), Contention::default());
        for look in 0..3 {
            assert!(!contention.is_on(began + REQUEUE * look, REQUEUE));
            contention.repaired(began + REQUEUE * look);
        }
        let mut last = began + REQUEUE * 2;
        for rest in [30, 60, 120, 240, 240] {
            assert!(
                contention.is_on(last + minutes(rest - 1), REQUEUE),
                "{rest}"
            );
            last += minutes(rest);
            assert!(!contention.is_on(last, REQUEUE), "{rest}");
            contention.repaired(last);
        }
        contention.undisturbed();
        assert!(!contention.is_on(last + minutes(1), REQUEUE));
    }
}
