//! Signs of life of the main loop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Check;

/// How long the main loop may stand still. It turns at least every few seconds; nothing that it waits for takes a
/// minute. Long enough that a busy machine is not restarted.
pub const LOOP_STUCK_AFTER: Duration = Duration::from_mins(2);

/// How long something may be due while no pass ends. Longer than any pass takes.
pub const QUEUE_STUCK_AFTER: Duration = Duration::from_mins(1);

/// What the main loop last told of itself. Clones share it.
#[derive(Clone, Debug)]
pub struct Pulse {
    /// Whose loop it is, if there are several.
    of: &'static str,
    beat: Arc<Mutex<Beat>>,
}

#[derive(Clone, Copy, Debug)]
struct Beat {
    turned: Instant,
    /// Since when the oldest key that is due has been due.
    due_since: Option<Instant>,
    /// When a pass last ended.
    ended: Option<Instant>,
}

impl Pulse {
    /// A loop that turns for the first time at `now`.
    pub fn new(now: Instant) -> Self {
        let beat = Beat {
            turned: now,
            due_since: None,
            ended: None,
        };
        Self {
            of: "",
            beat: Arc::new(Mutex::new(beat)),
        }
    }

    /// The same for a loop that is called by what it is over, beside another.
    #[must_use]
    pub fn of(self, kind: &'static str) -> Self {
        Self { of: kind, ..self }
    }

    /// The loop turns, while the oldest due key has been due since `due_since`. Where no key may be taken, as by those
    /// who do not lead, none is due. To be called every few seconds even if nothing happens.
    pub fn turn(&self, now: Instant, due_since: Option<Instant>) {
        let mut beat = self.beat();
        beat.turned = now;
        beat.due_since = due_since;
    }

    /// A pass has ended.
    pub fn pass_ended(&self, now: Instant) {
        self.beat().ended = Some(now);
    }

    /// Whether the loop turns.
    pub(super) fn alive(&self, now: Instant) -> Vec<Check> {
        let stood = now.duration_since(self.beat().turned);
        let outcome = if stood <= LOOP_STUCK_AFTER {
            Ok(())
        } else {
            let seconds = stood.as_secs();
            Err(format!("the main loop has not turned for {seconds} s"))
        };
        vec![Check::new(self.named("loop"), outcome)]
    }

    /// Whether passes end, if any are due.
    pub(super) fn moves(&self, now: Instant) -> Check {
        let beat = *self.beat();
        let stuck_since = beat
            .due_since
            .map(|since| beat.ended.map_or(since, |ended| ended.max(since)));
        let stuck = stuck_since.map(|since| now.duration_since(since));
        let outcome = match stuck {
            Some(stuck) if QUEUE_STUCK_AFTER < stuck => Err(format!(
                "something is due, and no pass has ended for {} s",
                stuck.as_secs()
            )),
            Some(_) | None => Ok(()),
        };
        Check::new(self.named("queue"), outcome)
    }

    fn named(&self, what: &str) -> String {
        format!("{} {what}", self.of).trim_start().to_owned()
    }

    fn beat(&self) -> MutexGuard<'_, Beat> {
        // Whoever held the lock when it panicked was replacing single values: what is there is whole.
        self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
