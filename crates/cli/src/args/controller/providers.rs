//! Whose servers the records go to.

use clap::{ArgAction, ValueEnum};

/// What may be used to publish records.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Providers")]
pub(crate) struct Providers {
    /// A provider that may be used. May be given several times, or with commas.
    #[arg(long = "provider", value_enum, value_name = "NAME", value_delimiter = ',', default_values_t = [Provider::Aws, Provider::Rfc2136, Provider::Zone], env = "ZONEWRIGHT_PROVIDER")]
    pub(crate) providers: Vec<Provider>,

    /// Find the zones of a provider by asking it, where a Secret names none.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_ZONE_DISCOVERY")]
    pub(crate) zone_discovery: bool,
}

/// Something that serves zones.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Provider {
    /// Amazon Route 53.
    Aws,
    /// Any name server that takes dynamic updates (RFC 2136), such as BIND and Knot.
    Rfc2136,
    /// Zone objects in the same Kubernetes API.
    Zone,
    /// Nothing but memory, for trying things out.
    Inmemory,
}
