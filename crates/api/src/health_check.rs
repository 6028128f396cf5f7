//! How the targets of a DNSRecord are probed: shared by DNSRecord, DNSPolicy and, without the defaults, by
//! DNSHealthCheckProbe.
//!
//! The rules of the schema and their messages are the peer's, to the letter. What the fields mean once they are
//! checked is in [`crate::parse::health_check`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cel::{self, Rule};
use crate::condition::Condition;

/// What a path must look like. The peer's pattern, which asks for at least three characters: `/` and `/a` are refused.
pub const PATH_PATTERN: &str = r"^(?:\?|\/)[\w\-.~:\/?#\[\]@!$&'()*+,;=]+(?:[a-zA-Z0-9]|\/){1}$";

/// Whether a target that answers with this HTTP status is healthy: 200 or 201, as for the peer.
pub fn is_healthy(status: u16) -> bool {
    matches!(status, 200 | 201)
}

/// The CEL rule for a port, and what it says to those who break it.
pub(crate) const PORT_RULE: Rule = (
    "self in [80, 443] || (self >= 1024 && self <= 49151)",
    "Only ports 80, 443, 1024-49151 are allowed",
);

/// The CEL rule for a protocol, and what it says to those who break it.
pub(crate) const PROTOCOL_RULE: Rule = (
    "self in ['HTTP','HTTPS']",
    "Only HTTP or HTTPS protocols are allowed",
);

/// The CEL rule for a failure threshold, and what it says to those who break it.
pub(crate) const FAILURE_THRESHOLD_RULE: Rule =
    ("self > 0", "Failure threshold must be greater than 0");

/// How the targets are probed, from inside the cluster, before and while they are published.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckSpec {
    /// The path to ask for. It starts with `/` or `?`, has at least three characters, and ends in a letter, a digit
    /// or `/`, such as `/healthz`. Without it the root is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = PATH_PATTERN))]
    pub path: Option<String>,

    /// The port to connect to: 80, 443, or one of 1024 to 49151.
    #[serde(default = "default_port")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([PORT_RULE])))]
    pub port: i64,

    /// The protocol to speak: HTTP or HTTPS.
    #[serde(default = "default_protocol")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([PROTOCOL_RULE])))]
    pub protocol: String,

    /// The time from one probe to the next, as a Go duration such as `30s` or `1m30s`.
    #[serde(default = "default_interval")]
    pub interval: String,

    /// How many probes in a row may fail before the target counts as unhealthy.
    #[serde(default = "default_failure_threshold")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([FAILURE_THRESHOLD_RULE])))]
    pub failure_threshold: i64,

    /// A Secret of the same namespace whose entries are sent as HTTP headers, for endpoints that ask for a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_headers_ref: Option<AdditionalHeadersRef>,
}

impl Default for HealthCheckSpec {
    fn default() -> Self {
        Self {
            path: None,
            port: default_port(),
            protocol: default_protocol(),
            interval: default_interval(),
            failure_threshold: default_failure_threshold(),
            additional_headers_ref: None,
        }
    }
}

/// A Secret whose entries are HTTP headers.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct AdditionalHeadersRef {
    /// The name of the Secret.
    pub name: String,
}

/// The health of targets as early versions of the peer reported it. Accepted and kept, written by nobody.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct HealthCheckStatus {
    /// The state of the health checks as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The state of each probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<HealthCheckStatusProbe>,
}

/// One probe as early versions of the peer reported it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheckStatusProbe {
    /// The provider's name for the probe.
    pub id: String,

    /// The address that is probed.
    pub ip_address: String,

    /// The host that is asked for.
    pub host: String,

    /// Whether the provider knows of the probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced: Option<bool>,

    /// The state of the probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

fn default_port() -> i64 {
    443
}

fn default_protocol() -> String {
    "HTTPS".to_owned()
}

fn default_interval() -> String {
    "5m".to_owned()
}

fn default_failure_threshold() -> i64 {
    5
}
