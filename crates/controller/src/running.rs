//! A loop that runs: what can be asked of it, and how it is ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::feed::{Feed, Progress, Standing};
use crate::health::{Check, feeds};

/// What has to hold for a process to be ready, at a time.
type Checks = Arc<dyn Fn(Instant) -> Vec<Check> + Send + Sync>;

/// A loop, running. It goes on when this value is dropped.
pub struct Running {
    pub(crate) checks: Checks,
    pub(crate) idle: watch::Receiver<bool>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    /// Waits until there is nothing left to do. Whether it came to that.
    pub async fn settled(&mut self, within: Duration) -> bool {
        let idle = self.idle.wait_for(|idle| *idle);
        matches!(timeout(within, idle).await, Ok(Ok(_)))
    }

    /// Comes when there was nothing left to do for the first time, or after `within`.
    pub fn first_settled(&self, within: Duration) -> impl Future<Output = ()> + use<> {
        let mut idle = self.idle.clone();
        async move {
            // Whether it came to that does not matter.
            let _ = timeout(within, idle.wait_for(|idle| *idle)).await;
        }
    }

    /// What has to hold for this process to be ready: every kind is watched and heard of.
    pub fn checks(&self) -> impl Fn(Instant) -> Vec<Check> + Send + Sync + use<> {
        let checks = Arc::clone(&self.checks);
        move |now| checks(now)
    }

    /// Lets what has begun finish. Whether it did.
    pub async fn shutdown(self, within: Duration) -> bool {
        self.stop.send_replace(true);
        timeout(within, self.task).await.is_ok()
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

/// Whether every kind is watched and heard of, but for those that a cluster need not have and does not.
pub(crate) fn checks_of<K>(feed: &Arc<Feed<K>>, is_optional: fn(&K) -> bool) -> Checks
where
    K: Clone + fmt::Display + PartialEq + Send + Sync + 'static,
{
    let feed = Arc::clone(feed);
    Arc::new(move |now| {
        let mut progress = feed.progress();
        let waived = |kind: &K, it: &Progress| is_optional(kind) && it.standing == Standing::Absent;
        progress.retain(|(kind, it)| !waived(kind, it));
        feeds(&progress, now)
    })
}
