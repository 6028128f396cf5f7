//! The flags of the controllers, the same for every command that runs them.

pub(crate) mod domains;
mod health;
pub(crate) mod pace;
pub(crate) mod providers;
pub(crate) mod sources;
pub(crate) mod zones;

use clap::ValueEnum;

use super::value;

/// How the controllers work.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Controller {
    #[command(flatten)]
    pub(crate) pace: pace::Pace,
    #[command(flatten)]
    pub(crate) zones: zones::Zones,
    #[command(flatten)]
    pub(crate) providers: providers::Providers,
    #[command(flatten)]
    pub(crate) sources: sources::Sources,
    #[command(flatten)]
    pub(crate) domains: domains::Domains,
    #[command(flatten)]
    pub(crate) health: health::Health,

    /// How to write the log.
    #[arg(
        long,
        value_enum,
        default_value_t = LogFormat::Text,
        help_heading = "Log",
        env = "ZONEWRIGHT_LOG_FORMAT"
    )]
    pub(crate) log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line for people.
    Text,
    /// A line of JSON.
    Json,
}
