//! Health checks, and whom this process may connect to on behalf of others.

use clap::ArgAction;
use ipnet::IpNet;

use super::value::{self, Endpoint};

/// Whom to connect to, and how carefully.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Health checks and connections")]
pub(crate) struct Health {
    /// A range of addresses that may be connected to although it is private, such as 10.0.0.0/8. May
    /// be given several times.
    #[arg(long = "allow-address", value_name = "CIDR", value_delimiter = ',', value_parser = value::address_range, env = "ZONEWRIGHT_ALLOW_ADDRESS")]
    pub(crate) allowed_addresses: Vec<IpNet>,

    /// A provider's host that may be connected to although it is not a public one. May be given
    /// several times.
    #[arg(long = "allow-endpoint", value_name = "HOST", value_delimiter = ',', value_parser = value::endpoint, env = "ZONEWRIGHT_ALLOW_ENDPOINT")]
    pub(crate) allowed_endpoints: Vec<Endpoint>,

    /// Check the health of endpoints, where objects ask for it.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_ENABLE_PROBES")]
    pub(crate) enable_probes: bool,

    /// Take any certificate from the endpoints whose health is checked.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_INSECURE_HEALTH_CHECKS")]
    pub(crate) insecure_health_checks: bool,
}
