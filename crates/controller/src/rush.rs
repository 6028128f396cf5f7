//! Whether others write so much that we should hold back.
//!
//! Whoever creates Records by the thousand shares the API with us, and waits for it; nobody waits for what we tell about
//! each of them in the meantime. Answers do not wait for that either.
//!
//! Every change that someone else made fills a bucket, which drains at a steady rate. A `kubectl apply` of a few dozen
//! objects does not fill it; a program that creates objects as fast as it can does within half a second.

use std::time::Duration;

use tokio::time::Instant;

/// What one change fills: a hundred of them drain in a second.
const CHANGE: Duration = Duration::from_millis(10);

/// What the bucket holds before it is a rush.
const TOLERANCE: Duration = Duration::from_millis(500);

/// How soon after its last change a rush is over, however long it was.
const CALM_AFTER: Duration = Duration::from_millis(200);

/// The bucket, told by when it will have drained.
#[derive(Debug, Default)]
pub(crate) struct Rush {
    drained: Option<Instant>,
}

impl Rush {
    /// Someone else has changed something.
    pub(crate) fn note(&mut self, now: Instant) {
        let filled = self.drained.map_or(now, |drained| drained.max(now)) + CHANGE;
        self.drained = Some(filled.min(now + TOLERANCE + CALM_AFTER));
    }

    /// When the rush will be over, if there is one.
    pub(crate) fn over_at(&self, now: Instant) -> Option<Instant> {
        let over = self.drained.map(|drained| drained - TOLERANCE);
        over.filter(|over| now < *over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// After `count` changes, evenly within `time`: for how long the rush goes on, if there is one.
    fn check(count: u32, time: Duration, expected: Option<u64>) {
        let (mut rush, mut now) = (Rush::default(), Instant::now());
        for _ in 0..count {
            now += time / count;
            rush.note(now);
        }
        let goes_on = rush.over_at(now).map(|over| over - now);
        assert_eq!(
            goes_on,
            expected.map(Duration::from_millis),
            "{count} in {time:?}"
        );
    }

    #[tokio::test]
    async fn a_few_dozen_changes_at_once_are_no_rush() {
        check(1, SECOND, None);
        check(50, Duration::ZERO, None);
    }

    #[tokio::test]
    async fn hundreds_at_once_are_a_rush_that_is_soon_over() {
        check(60, Duration::ZERO, Some(100));
        check(10_000, Duration::ZERO, Some(200));
        check(10_000, SECOND * 4, Some(200));
    }

    #[tokio::test]
    async fn a_steady_stream_of_a_hundred_in_a_second_is_no_rush() {
        check(6_000, SECOND * 60, None);
    }

    #[tokio::test]
    async fn whatever_was_before_is_forgotten() {
        let (mut rush, now) = (Rush::default(), Instant::now());
        for _ in 0..1000 {
            rush.note(now);
        }
        let later = now + SECOND;
        rush.note(later);
        assert_eq!(rush.over_at(later), None);
    }
}
