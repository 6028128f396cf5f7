//! DNSPolicy: publishes the hosts of a Gateway's listeners (D1–D8).
//!
//! The schema, its rules and their messages are the peer's, with one departure: `providerRefs` holds exactly one Secret,
//! and may be missing only where another cluster publishes. From here to checked values: [`crate::parse::dns_policy`].

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cel;
use crate::condition::Condition;
use crate::dns_record::ProviderRef;
use crate::health_check::{HealthCheckSpec, HealthCheckStatus};

/// The Gateway to publish, and how.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kuadrant.io",
    version = "v1",
    kind = "DNSPolicy",
    root = "DnsPolicy",
    plural = "dnspolicies",
    namespaced,
    status = "DnsPolicyStatus",
    derive = "PartialEq",
    doc = "Publishes the hosts of a Gateway's listeners through a DNS provider.",
    shortname = "dnsp",
    category = "dns",
    printcolumn(
        name = "Accepted",
        type_ = "string",
        description = "Whether the policy is well formed and alone on its target.",
        json_path = r#".status.conditions[?(@.type=="Accepted")].status"#,
        priority = 2
    ),
    printcolumn(
        name = "Enforced",
        type_ = "string",
        description = "Whether the policy has taken effect.",
        json_path = r#".status.conditions[?(@.type=="Enforced")].status"#,
        priority = 2
    ),
    printcolumn(
        name = "SubResourcesHealthy",
        type_ = "string",
        description = "Whether everything made from the policy is healthy.",
        json_path = r#".status.conditions[?(@.type=="SubResourcesHealthy")].status"#,
        priority = 2
    ),
    printcolumn(
        name = "TargetRefKind",
        type_ = "string",
        description = "The kind of the target.",
        json_path = ".spec.targetRef.kind",
        priority = 2
    ),
    printcolumn(
        name = "TargetRefName",
        type_ = "string",
        description = "The name of the target.",
        json_path = ".spec.targetRef.name",
        priority = 2
    ),
    printcolumn(
        name = "TargetSection",
        type_ = "string",
        description = "The listener of the target, if the policy is for one only.",
        json_path = ".spec.targetRef.sectionName",
        priority = 2
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel::rules([
    cel::DELEGATE_IS_NOT_SET_LATER,
    cel::DELEGATE_IS_NOT_UNSET,
    (
        "!(has(self.providerRefs) && has(self.delegate) && self.delegate == true)",
        "delegate=true and providerRefs are mutually exclusive",
    ),
    (
        "has(self.providerRefs) || (has(self.delegate) && self.delegate == true)",
        "providerRefs is required unless delegate=true",
    ),
])))]
pub struct DnsPolicySpec {
    /// The Gateway of the same namespace that the policy is for, or one of its listeners.
    #[schemars(extend("x-kubernetes-validations" = cel::rules([
        (
            "self.group == 'gateway.networking.k8s.io'",
            "Invalid targetRef.group. The only supported value is 'gateway.networking.k8s.io'",
        ),
        (
            "self.kind == 'Gateway'",
            "Invalid targetRef.kind. The only supported values are 'Gateway'",
        ),
    ])))]
    pub target_ref: TargetRef,

    /// The Secrets of the same namespace that name the providers and hold their credentials. At present exactly one;
    /// none only with delegate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 1))]
    pub provider_refs: Vec<ProviderRef>,

    /// How the Gateway's addresses are probed. Without it all of them count as healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheckSpec>,

    /// How traffic is shared with Gateways of other clusters that publish the same hosts. Without it every host points
    /// straight at the Gateway's addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancing: Option<LoadBalancingSpec>,

    /// Addresses of the Gateway that are not published: IP addresses, ranges such as `10.0.0.0/8`, or host names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub exclude_addresses: Vec<String>,

    /// Whether another cluster publishes the records on behalf of this one. It cannot change, and does not go together
    /// with providerRefs.
    // `false` and absent differ: adding or dropping `false` in an update would trip the rules above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([("self == oldSelf", "delegate is immutable")])))]
    pub delegate: Option<bool>,
}

/// A Gateway, or one of its listeners.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetRef {
    /// The group of the target: gateway.networking.k8s.io.
    #[schemars(
        length(max = 253),
        regex(pattern = r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub group: String,

    /// The kind of the target: Gateway.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")
    )]
    pub kind: String,

    /// The name of the target.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// The name of one listener. Without it the policy is for every listener that has no policy of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub section_name: Option<String>,
}

/// How traffic is shared between Gateways that publish the same hosts.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["defaultGeo", "geo", "weight"]))]
pub struct LoadBalancingSpec {
    /// The share of this Gateway among those with the same geo, relative to the sum of their weights.
    #[serde(default = "default_weight")]
    pub weight: i64,

    /// Where this Gateway is: a continent such as `GEO-EU`, a country such as `IE`, or a region of the provider.
    #[schemars(length(min = 2))]
    pub geo: String,

    /// Whether clients from anywhere else are sent here too.
    pub default_geo: bool,
}

/// What has been made from the policy.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsPolicyStatus {
    /// The state of the policy: `Accepted`, `Enforced`, `SubResourcesHealthy`, `Ready`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The generation of the spec that the status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The health of the targets as early versions of the peer reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheckStatus>,

    /// What is wrong with each DNSRecord made from the policy, by its `rootHost`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub record_conditions: BTreeMap<String, Vec<Condition>>,

    /// How many objects of kind DNSRecord were made from the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_records: Option<i32>,
}

fn default_weight() -> i64 {
    120
}
