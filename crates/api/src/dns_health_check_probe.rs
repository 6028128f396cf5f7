//! DNSHealthCheckProbe: the probing of one target of a DNSRecord (D6).
//!
//! Made from a DNSRecord's `healthCheck`, one per address. Nothing is required and nothing has a default here, as in
//! the peer's schema; [`crate::parse::dns_health_check_probe`] says what is missing.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cel;
use crate::condition::Condition;
use crate::health_check::{
    AdditionalHeadersRef, FAILURE_THRESHOLD_RULE, PATH_PATTERN, PORT_RULE, PROTOCOL_RULE,
};

/// What to probe, and how.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kuadrant.io",
    version = "v1alpha1",
    kind = "DNSHealthCheckProbe",
    root = "DnsHealthCheckProbe",
    plural = "dnshealthcheckprobes",
    namespaced,
    status = "DnsHealthCheckProbeStatus",
    derive = "PartialEq",
    doc = "The probing of one target of a DNSRecord.",
    shortname = "dnshcp",
    category = "dns",
    printcolumn(
        name = "Healthy",
        type_ = "boolean",
        description = "Whether the target is healthy.",
        json_path = ".status.healthy"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct DnsHealthCheckProbeSpec {
    /// The port to connect to: 80, 443, or one of 1024 to 49151.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([PORT_RULE])))]
    pub port: Option<i64>,

    /// The host to ask for: the rootHost of the DNSRecord.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,

    /// What to connect to: an IP address, or a host that resolves to some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,

    /// The path to ask for. It starts with `/` or `?`, has at least three characters, and ends in a letter, a digit
    /// or `/`, such as `/healthz`. Without it the root is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = PATH_PATTERN))]
    pub path: Option<String>,

    /// The protocol to speak: HTTP or HTTPS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([PROTOCOL_RULE])))]
    pub protocol: Option<String>,

    /// The time from one probe to the next, as a Go duration such as `30s` or `1m30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,

    /// A Secret of the same namespace whose entries are sent as HTTP headers, for endpoints that ask for a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_headers_ref: Option<AdditionalHeadersRef>,

    /// How many probes in a row may fail before the target counts as unhealthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([FAILURE_THRESHOLD_RULE])))]
    pub failure_threshold: Option<i64>,

    /// Whether a certificate that cannot be verified is good enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_insecure_certificate: Option<bool>,
}

/// What the last probes found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsHealthCheckProbeStatus {
    /// The state of the probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,

    /// The generation of the spec that the status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// How many probes in a row have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consecutive_failures: Option<i64>,

    /// What went wrong in the last probe that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,

    /// The HTTP status of the last probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,

    /// Whether the target is healthy. Absent until the first probe has told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy: Option<bool>,
}
