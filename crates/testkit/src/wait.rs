//! Waiting for something to become true, with a deadline: the one place where it is done.
//!
//! The condition is asked at once and then at a steady pace. When time is up the error says what
//! was waited for and what was seen last, which is nearly always the reason.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

/// The pause between two attempts: short beside anything waited for, long enough not to be a load.
const PACE: Duration = Duration::from_millis(25);

/// Asks `attempt` until it succeeds, for at most `within`.
///
/// An attempt is a `Result`, whose error is what was seen instead, or an `Option`. An attempt that
/// hangs is cut off by the same deadline.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::time::Duration;
///
/// let mut seen = 0;
/// let three = testkit::eventually(Duration::from_secs(5), "a count of three", async || {
///     seen += 1;
///     if seen == 3 { Ok(seen) } else { Err(format!("a count of {seen}")) }
/// });
/// assert_eq!(three.await.unwrap(), 3);
/// # });
/// ```
pub async fn eventually<A: Attempt>(
    within: Duration,
    what: &str,
    mut attempt: impl AsyncFnMut() -> A,
) -> Result<A::Value, Overdue> {
    let mut last = String::from("the first attempt did not return");
    let asking = async {
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            match attempt().await.outcome() {
                Ok(value) => return value,
                Err(seen) => last = seen,
            }
        }
    };
    match timeout(within, asking).await {
        Ok(value) => Ok(value),
        Err(_) => Err(Overdue {
            what: what.to_owned(),
            within,
            last,
        }),
    }
}

/// What one look at the condition came to.
pub trait Attempt {
    /// What is handed out once the condition holds.
    type Value;

    /// The value, or what was seen instead of it.
    fn outcome(self) -> Result<Self::Value, String>;
}

impl<T, E: Display> Attempt for Result<T, E> {
    type Value = T;

    fn outcome(self) -> Result<T, String> {
        self.map_err(|seen| seen.to_string())
    }
}

impl<T> Attempt for Option<T> {
    type Value = T;

    fn outcome(self) -> Result<T, String> {
        self.ok_or_else(|| String::from("nothing"))
    }
}

/// The deadline passed first.
#[derive(Debug, thiserror::Error)]
#[error("waited {within:?} for {what}, last seen: {last}")]
pub struct Overdue {
    /// What was waited for.
    pub what: String,
    /// For how long.
    pub within: Duration,
    /// What the last attempt saw.
    pub last: String,
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_condition_that_holds_is_not_waited_for() {
        let began = Instant::now();
        let value = eventually(MINUTE, "a value", async || Some(7))
            .await
            .unwrap();
        assert_eq!((value, began.elapsed()), (7, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_holds_and_tells_what_was_seen_last() {
        let mut count = 0;
        let began = Instant::now();
        let overdue = eventually(MINUTE, "the moon", async || -> Result<(), String> {
            count += 1;
            Err(format!("cloud {count}"))
        });
        let message = overdue.await.unwrap_err().to_string();
        assert_eq!(began.elapsed(), MINUTE);
        assert_eq!(
            message,
            format!("waited 60s for the moon, last seen: cloud {count}")
        );
        assert!(count > 1, "asked only once");
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_hangs_is_cut_off() {
        let overdue = eventually(MINUTE, "godot", async || pending::<Option<()>>().await).await;
        assert_eq!(
            overdue.unwrap_err().last,
            "the first attempt did not return"
        );
    }
}
