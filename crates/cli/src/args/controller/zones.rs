//! Who may put names into zones, and what is never done to them without asking.

use clap::{ArgAction, ValueEnum};

/// What zones allow.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Zones")]
pub(crate) struct Zones {
    /// Who has authority over a name when two Zones of different namespaces lie one below the other.
    #[arg(long, value_enum, default_value_t = ZoneAuthority::Strict, env = "ZONEWRIGHT_ZONE_AUTHORITY")]
    pub(crate) zone_authority: ZoneAuthority,

    /// How many entries a zone may have and still be kept in one object; larger zones are kept in
    /// slices.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1000,
        env = "ZONEWRIGHT_INLINE_ENTRIES_MAX"
    )]
    pub(crate) inline_entries_max: u32,

    /// The share of the records we own in a provider's zone that may change or go within ten minutes
    /// although nobody asked for it; what is more waits for a person. 100 allows everything.
    #[arg(long, value_name = "PERCENT", default_value_t = 30, value_parser = clap::value_parser!(u8).range(0..=100), env = "ZONEWRIGHT_GUARD_PERCENT")]
    pub(crate) guard_percent: u8,

    /// Count what is deleted on purpose as well: many deletions at once wait for a person, too.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_GUARD_DELETIONS")]
    pub(crate) guard_deletions: bool,
}

/// Who has authority over a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ZoneAuthority {
    /// The older Zone, unless the one above delegates to the one below.
    Strict,
    /// Every Zone.
    Open,
}
