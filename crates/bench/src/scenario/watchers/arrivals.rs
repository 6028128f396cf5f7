//! When the line of a write has arrived at everyone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Longer than any line takes that arrives at all.
const ARRIVES_WITHIN: Duration = Duration::from_secs(30);

/// Counts lines, each once, of one write after the other.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    missing: AtomicUsize,
    last: Mutex<Option<Instant>>,
    complete: Notify,
}

impl Arrivals {
    /// From now on this many lines are to come.
    pub(super) fn expect(&self, lines: usize) {
        self.missing.store(lines, Ordering::Release);
    }

    /// When the last of them came, waiting for it if it has not.
    pub(super) async fn last(&self) -> Result<Instant> {
        let complete = timeout(ARRIVES_WITHIN, self.complete.notified()).await;
        complete.with_context(|| {
            let missing = self.missing.load(Ordering::Acquire);
            format!("{missing} watchers were not told within {ARRIVES_WITHIN:?}")
        })?;
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.context("nothing was expected")
    }

    /// Reads a watch to its end. There is one write at a time, so a part that ends a line ends the line of that write.
    pub(super) async fn read<B: Body<Data = Bytes> + Unpin>(self: Arc<Self>, mut watch: B) {
        while let Some(Ok(frame)) = watch.frame().await {
            if frame.data_ref().is_some_and(|part| part.ends_with(b"\n")) {
                self.note();
            }
        }
    }

    fn note(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            self.complete.notify_one();
        }
    }
}
