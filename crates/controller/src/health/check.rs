//! Checks: what was looked at, and what was wrong with it.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use crate::feed::{Progress, SILENCE_MAX, Standing};

/// How long ago the API may have been heard for a kind to count as heard of: a watch that has gone silent has time to
/// be replaced.
const HEARD_WITHIN: Duration = Duration::from_secs(SILENCE_MAX.as_secs() + 60);

/// What to do where one of our kinds is unknown.
const NOT_INSTALLED: &str = "the cluster does not have this kind; install it with: zonewright crds | kubectl apply --server-side -f -";

/// Something that was looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// What is wrong with it, if anything is.
    pub failure: Option<String>,
}

impl Check {
    /// A check of something that is well, or what is wrong with it.
    pub fn new(name: impl Into<String>, outcome: Result<(), String>) -> Self {
        Self {
            name: name.into(),
            failure: outcome.err(),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            None => write!(f, "[+]{} ok", self.name),
            // Text from outside could go on in a line that looks like another check.
            Some(why) => write!(
                f,
                "[-]{} failed: {}",
                self.name,
                why.replace(char::is_control, " ")
            ),
        }
    }
}

/// Every kind is there and known, and was heard of lately.
pub fn feeds<K: fmt::Display>(progress: &[(K, Progress)], now: Instant) -> Vec<Check> {
    let checks = progress.iter();
    checks
        .map(|(kind, progress)| Check::new(format!("watch {kind}"), is_fed(progress, now)))
        .collect()
}

fn is_fed(progress: &Progress, now: Instant) -> Result<(), String> {
    let error = progress.error.as_ref().map(|error| format!(": {error}"));
    let error = error.unwrap_or_default();
    match (progress.standing, progress.heard) {
        (Standing::Absent, _) => Err(NOT_INSTALLED.to_owned()),
        (Standing::Syncing, _) | (Standing::Synced, None) => Err(format!("not yet synced{error}")),
        (Standing::Synced, Some(heard)) if now <= heard + HEARD_WITHIN => Ok(()),
        (Standing::Synced, Some(heard)) => {
            let silent = now.duration_since(heard).as_secs();
            Err(format!("nothing heard for {silent} s{error}"))
        }
    }
}
