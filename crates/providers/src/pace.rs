//! How fast an account may be asked, whoever asks.
//!
//! Providers count the requests of an account, not of a zone or a caller. So everybody who uses an account takes turns
//! here, in the order in which they come, and when the provider says that it was too much, all of them rest.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// The longest rest that a provider can ask for: beyond that it is asked again anyway.
const REST_MAX: Duration = Duration::from_mins(15);

/// Turns that come at a steady rate, a few of them at once after a pause.
#[derive(Debug)]
pub struct Pace {
    interval: Duration,
    burst: u32,
    /// When the bucket would be full again: it is behind by what was used.
    full_at: Mutex<Instant>,
}

impl Pace {
    /// One turn each `interval`, and after a pause up to `burst` of them at once.
    pub fn new(interval: Duration, burst: u32) -> Pace {
        Pace {
            interval,
            burst: burst.max(1),
            full_at: Mutex::new(Instant::now()),
        }
    }

    /// Waits for a turn.
    pub async fn turn(&self) {
        let mut full_at = self.full_at.lock().await;
        let now = Instant::now();
        let full = (*full_at).max(now) + self.interval;
        // Whoever waits keeps the others waiting behind it: turns are in order. It is not used up unless it was had.
        sleep_until(full - self.interval * self.burst).await;
        *full_at = full;
    }

    /// The provider wants nobody to ask for a while.
    pub async fn rest(&self, time: Duration) {
        let mut full_at = self.full_at.lock().await;
        let rested = Instant::now() + time.min(REST_MAX) + self.interval * (self.burst - 1);
        *full_at = rested.max(*full_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of the next turns comes, in milliseconds.
    async fn turns(pace: &Pace, count: usize) -> Vec<u128> {
        let start = Instant::now();
        let mut times = Vec::new();
        for _ in 0..count {
            pace.turn().await;
            times.push(start.elapsed().as_millis());
        }
        times
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_pause_a_few_turns_come_at_once_and_then_one_by_one() {
        let pace = Pace::new(Duration::from_millis(200), 3);
        assert_eq!(turns(&pace, 6).await, [0, 0, 0, 200, 400, 600]);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(turns(&pace, 4).await, [0, 0, 0, 200]);
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_rests_when_the_provider_asks_for_it() {
        // D1: seconds, and absurd ones.
        let pace = Pace::new(Duration::from_millis(200), 3);
        pace.rest(Duration::from_secs(2)).await;
        assert_eq!(turns(&pace, 3).await, [2_000, 2_200, 2_400]);
        pace.rest(Duration::from_secs(1_000_000_000)).await;
        assert_eq!(turns(&pace, 1).await, [900_000]);
    }
}
