//! How often the controllers look and write.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::ValueEnum;

use super::value;

/// How often the controllers look and write.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct Pace {
    /// For how long what was last found in a provider's zone is believed. Shorter than
    /// --requeue-time, or a record that is due again is not read back.
    #[arg(long, value_name = "DURATION", default_value = "14m", value_parser = value::duration, env = "ZONEWRIGHT_VALID_FOR")]
    pub(crate) valid_for: Duration,

    /// After how long a record that is as it should be is looked at again.
    #[arg(long, visible_alias = "max-requeue-time", value_name = "DURATION", default_value = "15m", value_parser = value::duration, env = "ZONEWRIGHT_REQUEUE_TIME")]
    pub(crate) requeue_time: Duration,

    /// After how long a record that was just written is read back, give or take half.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = value::duration, env = "ZONEWRIGHT_MIN_REQUEUE_TIME")]
    pub(crate) min_requeue_time: Duration,

    /// How often a record may be written in a row without becoming what it should be; then it waits
    /// for its manifest to change.
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
    /// Nothing: a record that has failed waits until it, its Secret or the health of its targets
    /// changes, or this program starts anew. Zones at providers are read all the same, once in every
    /// requeue time, for the sake of the other records.
    Never,
}

impl Pace {
    /// What is allowed and hardly meant.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        (self.valid_for >= self.requeue_time).then_some(
            "--valid-for is not shorter than --requeue-time: a record that is due again is still \
             believed and not looked at, until --valid-for is over; make --valid-for shorter",
        )
    }
}
