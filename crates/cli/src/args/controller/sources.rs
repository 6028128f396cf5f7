//! Where endpoints come from.

use std::time::Duration;

use clap::{ArgAction, ValueEnum};

use super::value::{self, NamespacedName};

/// What is published for services, and for how long.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Sources")]
pub(crate) struct Sources {
    /// The namespace that the records of exported services are gathered in.
    #[arg(long, value_name = "NAMESPACE", default_value = "cross-cluster-connectivity", value_parser = value::namespace, env = "ZONEWRIGHT_SERVICE_RECORD_NAMESPACE")]
    pub(crate) service_record_namespace: String,

    /// Where the record of an exported service is put.
    #[arg(long, value_enum, default_value_t = Placement::Central, env = "ZONEWRIGHT_SERVICE_RECORD_PLACEMENT")]
    pub(crate) service_record_placement: Placement,

    /// The Service whose addresses are published for `HTTPProxies` and Ingresses that have none of their own.
    #[arg(long, value_name = "NS/NAME", default_value = "projectcontour/envoy", value_parser = value::namespaced_name, env = "ZONEWRIGHT_ENDPOINT_SERVICE")]
    pub(crate) endpoint_service: NamespacedName,

    /// Publish the addresses of nodes where that Service has none either.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_NODE_ENDPOINTS")]
    pub(crate) node_endpoints: bool,

    /// For how long the records of a source that is gone, or has lost its routes or addresses, are kept as they were.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = value::duration, env = "ZONEWRIGHT_SOURCE_GRACE")]
    pub(crate) source_grace: Duration,
}

/// Where records of services are put.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Placement {
    /// In the namespace of --service-record-namespace.
    Central,
    /// Beside the service.
    Source,
}
