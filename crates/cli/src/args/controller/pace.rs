//! How often the controllers look and write.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::ValueEnum;

use super::value;

/// How often the controllers look and write.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct Pace {
    /// For how long what was last found in a provider's zone is believed.
    #[arg(long, value_name = "DURATION", default_value = "14m", value_parser = value::duration, env = "ZONEWRIGHT_VALID_FOR")]
    pub(crate) valid_for: Duration,

    /// After how long a record that is as it should be is looked at again.
    #[arg(long, visible_alias = "max-requeue-time", value_name = "DURATION", default_value = "15m", value_parser = value::duration, env = "ZONEWRIGHT_REQUEUE_TIME")]
    pub(crate) requeue_time: Duration,

    /// After how long a record that has just changed is looked at again; the time doubles until it
    /// is --requeue-time.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = value::duration, env = "ZONEWRIGHT_MIN_REQUEUE_TIME")]
    pub(crate) min_requeue_time: Duration,

    /// How many writes per second go to the Kubernetes API at most.
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "20",
        env = "ZONEWRIGHT_WRITE_LIMIT"
    )]
    pub(crate) write_limit: NonZeroU32,

    /// What to try again after a provider has failed.
    #[arg(long, value_enum, default_value_t = Retry::Transient, env = "ZONEWRIGHT_RETRY")]
    pub(crate) retry: Retry,

    /// For how long changes are gathered before a zone is published.
    #[arg(long, value_name = "DURATION", default_value = "50ms", value_parser = value::duration, env = "ZONEWRIGHT_DEBOUNCE")]
    pub(crate) debounce: Duration,
}

/// What is tried again.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Retry {
    /// What may go away by itself: timeouts, throttling, servers that are down.
    Transient,
    /// Nothing, until the object changes.
    Never,
}

impl Pace {
    pub(super) fn contradiction(&self) -> Option<String> {
        (self.min_requeue_time > self.requeue_time)
            .then(|| "--min-requeue-time must not be longer than --requeue-time".to_owned())
    }
}
