//! How many requests an account may make, by a clock that is handed in.

use std::fmt;
use std::time::Duration;

/// From "Route 53 API request throttling" in the developer guide: five requests a second for each account.
const INTERVAL: Duration = Duration::from_millis(200);
const TOKENS_MAX: u32 = 5;

/// Tokens that come back one by one.
pub(super) struct Bucket {
    clock: Box<dyn Fn() -> Duration + Send>,
    /// When it would be full again.
    full_at: Duration,
}

impl Bucket {
    /// Full.
    pub(super) fn new(clock: impl Fn() -> Duration + Send + 'static) -> Bucket {
        Bucket {
            full_at: clock(),
            clock: Box::new(clock),
        }
    }

    /// Whether there was one to take.
    pub(super) fn take(&mut self) -> bool {
        let now = (self.clock)();
        let full_at = self.full_at.max(now) + INTERVAL;
        let enough = full_at <= now + INTERVAL * TOKENS_MAX;
        if enough {
            self.full_at = full_at;
        }
        enough
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("full_at", &self.full_at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn five_a_second_and_five_at_once() {
        let millis = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&millis);
        let mut bucket = Bucket::new(move || Duration::from_millis(clock.load(Ordering::Relaxed)));
        let mut taken_at = |time: u64| {
            millis.store(time, Ordering::Relaxed);
            (0..10).take_while(|_| bucket.take()).count()
        };
        assert_eq!(
            [0, 100, 200, 999, 60_000].map(&mut taken_at),
            [5, 0, 1, 3, 5]
        );
    }
}
