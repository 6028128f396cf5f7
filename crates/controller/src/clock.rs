//! Where wall time comes from. How long something takes is measured on tokio's clock instead.

use std::time::SystemTime;

use jiff::Timestamp;
use tokio::time::Instant;

/// A source of wall time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that goes with tokio's: under a paused runtime it stands still until everyone waits.
    Tokio {
        /// The time at `origin`.
        start: Timestamp,
        /// When it was `start`.
        origin: Instant,
    },
}

impl Clock {
    /// A clock that shows `start` now and goes with tokio's from then on.
    pub fn starting_at(start: Timestamp) -> Self {
        Self::Tokio {
            start,
            origin: Instant::now(),
        }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX),
            Self::Tokio { start, origin } => *start + origin.elapsed(),
        }
    }
}

/// Comes at a time; never, if there is none.
pub(crate) async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_follows_tokio_stands_still_until_time_is_moved() {
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let clock = Clock::starting_at(start);
        assert_eq!(clock.now(), start);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now().to_string(), "2026-01-02T03:04:10Z");
    }
}
