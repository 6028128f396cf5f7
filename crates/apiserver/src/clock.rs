//! What time it is.

use std::time::SystemTime;

use jiff::Timestamp;
use tokio::time::Instant;

/// Where the API takes the time from.
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
