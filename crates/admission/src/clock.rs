//! Where time comes from.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio::time::Instant;

/// What clocks show at one moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// The time on the wall, which certificates are dated by. It may be set.
    pub wall: Timestamp,
    /// The time that has passed since some beginning. It only grows.
    pub running: Duration,
}

/// A source of time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Moment + Send + Sync>);

impl Clock {
    /// The machine's clocks.
    pub fn system() -> Self {
        let beginning = Instant::now();
        Self::handed_in(move || Moment {
            wall: Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX),
            running: beginning.elapsed(),
        })
    }

    /// A clock of somebody's own.
    pub fn handed_in(now: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What it shows.
    pub fn now(&self) -> Moment {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
