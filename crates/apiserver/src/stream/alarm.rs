//! The timer of a watch: cheap to ask over and over while it is not due.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// Goes off once. A watch asks at each event, nearly always in vain; only whoever is new is told to the timer.
#[derive(Debug)]
pub(super) struct Alarm {
    sleep: Pin<Box<Sleep>>,
    /// Whom the timer will wake.
    waits: Option<Waker>,
}

impl Alarm {
    pub(super) fn at(due: Instant) -> Self {
        Self {
            sleep: Box::pin(sleep_until(due)),
            waits: None,
        }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker();
        let waits = self.waits.as_ref();
        if waits.is_some_and(|known| known.will_wake(waker)) && !self.sleep.is_elapsed() {
            return Poll::Pending;
        }
        self.waits = Some(waker.clone());
        // However little is left of the task's turn: a timer that was not asked would wake nobody.
        pin!(unconstrained(self.sleep.as_mut())).poll(context)
    }
}
