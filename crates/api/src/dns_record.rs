//! DNSRecord: names of one host and what they point to, published through a provider (P1–P12, C1–C10).
//!
//! The schema, its rules and their messages are the peer's; status keeps every field any version of the peer has
//! written, and adds none of its own. From here to checked values: [`crate::parse::dns_record`].

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cel;
use crate::condition::Condition;
use crate::health_check::{HealthCheckSpec, HealthCheckStatus};

/// What `rootHost` must look like. The peer's pattern: two groups of URL characters with a dot between them.
const ROOT_HOST_PATTERN: &str =
    r"^(?:[\w\-.~:\/?#[\]@!$&'()*+,;=]+)\.(?:[\w\-.~:\/?#[\]@!$&'()*+,;=]+)$";

/// What to publish, and through which provider.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kuadrant.io",
    version = "v1alpha1",
    kind = "DNSRecord",
    root = "DnsRecord",
    plural = "dnsrecords",
    namespaced,
    status = "DnsRecordStatus",
    derive = "PartialEq",
    doc = "The names of one host and what they point to, published through a DNS provider.",
    shortname = "dnsr",
    category = "dns",
    printcolumn(
        name = "Ready",
        type_ = "string",
        description = "Whether the provider holds what the record wants.",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Healthy",
        type_ = "string",
        description = "Whether the health checks of the targets pass.",
        json_path = r#".status.conditions[?(@.type=="Healthy")].status"#,
        priority = 2
    ),
    printcolumn(
        name = "Root Host",
        type_ = "string",
        description = "The host that every endpoint is at or below.",
        json_path = ".spec.rootHost",
        priority = 2
    ),
    printcolumn(
        name = "Owner ID",
        type_ = "string",
        description = "Who owns the record at the provider.",
        json_path = ".status.ownerID",
        priority = 2
    ),
    printcolumn(
        name = "Zone Domain",
        type_ = "string",
        description = "The domain name of the provider's zone.",
        json_path = ".status.zoneDomainName",
        priority = 2
    ),
    printcolumn(
        name = "Zone ID",
        type_ = "string",
        description = "The provider's name for the zone.",
        json_path = ".status.zoneID",
        priority = 2
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel::rules([
    (
        "!has(oldSelf.ownerID) || has(self.ownerID)",
        "OwnerID can't be unset if it was previously set",
    ),
    (
        "has(oldSelf.ownerID) || !has(self.ownerID)",
        "OwnerID can't be set if it was previously unset",
    ),
    cel::DELEGATE_IS_NOT_SET_LATER,
    cel::DELEGATE_IS_NOT_UNSET,
    (
        "!(has(self.providerRef) && has(self.delegate) && self.delegate == true)",
        "delegate=true and providerRef are mutually exclusive",
    ),
])))]
pub struct DnsRecordSpec {
    /// Who owns the record at the provider, where records of several clusters can share one name. Without it the
    /// owner follows from the object's UID. It cannot change.
    #[serde(default, rename = "ownerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 6, max = 36))]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([("self == oldSelf", "OwnerID is immutable")])))]
    pub owner_id: Option<String>,

    /// The host that every endpoint is at or below, such as `app.example.com` or `*.example.com`. It cannot change.
    #[schemars(length(min = 1, max = 255), regex(pattern = ROOT_HOST_PATTERN))]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([("self == oldSelf", "RootHost is immutable")])))]
    pub root_host: String,

    /// The Secret of the same namespace that names the provider and holds its credentials. Without it the one Secret
    /// of the namespace labelled kuadrant.io/default-provider=true is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ProviderRef>,

    /// The record sets to publish. An empty list publishes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 0))]
    pub endpoints: Vec<Endpoint>,

    /// How the targets are probed. Without it all targets count as healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheckSpec>,

    /// Whether another cluster publishes the record on behalf of this one. It cannot change, and does not go together
    /// with providerRef.
    // `false` and absent differ: adding or dropping `false` in an update would trip the rules above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([("self == oldSelf", "delegate is immutable")])))]
    pub delegate: Option<bool>,
}

/// A Secret that names a provider and holds its credentials.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProviderRef {
    /// The name of the Secret.
    pub name: String,
}

/// One record set: a name, a type and what it points to. The shape is external-dns's.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// The name of the record set, at or below rootHost.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dns_name: String,

    /// The type of the record set: A, AAAA, CNAME, NS, TXT, MX, SRV, CAA or PTR.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub record_type: String,

    /// How long answers may be cached, in seconds. Zero or nothing leaves it to the provider.
    #[serde(default, rename = "recordTTL", skip_serializing_if = "Option::is_none")]
    pub record_ttl: Option<i64>,

    /// Tells record sets of the same name and type apart, which share the traffic by weight or by geo-code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub set_identifier: String,

    /// What the name points to: addresses, hosts, or the data of the type as a zone file spells it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,

    /// Labels of the record set, kept in the ownership registry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,

    /// Properties beyond plain DNS. `weight` and `geo-code` are understood by every provider that can route.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_specific: Vec<ProviderSpecificProperty>,
}

/// One property beyond plain DNS.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProviderSpecificProperty {
    /// The name of the property.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,

    /// The value of the property.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// What has been published, and when it was last compared with the provider.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsRecordStatus {
    /// The state of the record: `Ready`, `Synchronised`, `Healthy`, and what stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// The generation of the spec that the status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// When the last full pass over the record began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Time>,

    /// How long after queuedAt the record counts as current, as a Go duration such as `14m0s`. Until then the provider
    /// is not asked. A value that is no duration counts as zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_for: Option<String>,

    /// How often in a row this generation was written to the provider, writes that it refused included. Zero once nothing was
    /// left to write.
    // Zero is written out, so that readers need not know what absence means (C1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_counter: Option<i64>,

    /// The endpoints last published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<Endpoint>,

    /// The health of the targets as early versions of the peer reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheckStatus>,

    /// Who owns the record at the provider.
    #[serde(default, rename = "ownerID", skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,

    /// The Secret in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ProviderRef>,

    /// The version of the Secret at the last full pass, as its uid and resourceVersion. Whoever starts sees by it whether
    /// the Secret was changed while nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_version: Option<String>,

    /// Every owner of the root host at the provider, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domain_owners: Vec<String>,

    /// The provider's name for the zone the record is published in.
    #[serde(default, rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,

    /// The domain name of the zone the record is published in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_domain_name: Option<String>,

    /// The status as each primary cluster sees it, by the UID of that cluster's kube-system namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "any_values")]
    pub remote_record_statuses: BTreeMap<String, Value>,

    /// The group of the operator that owns the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,

    /// The groups that were active when DNS was last asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_groups: Option<String>,

    /// When early versions of the peer meant to look again. Accepted and kept, written by nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_for: Option<Time>,

    /// All endpoints of the root host at the provider, as earlier versions of the peer reported them. Accepted and kept,
    /// written by nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_endpoints: Vec<Endpoint>,
}

impl DnsRecordStatus {
    /// Whether anything of the record may be at a provider: its zone was looked at, or nobody knows what became of a write.
    pub fn may_be_published(&self) -> bool {
        self.zone_id.is_some() || !self.endpoints.is_empty()
    }

    /// Whether all writes that were tried were refused, so that nothing of the record is anywhere.
    pub fn was_never_let_in(&self) -> bool {
        let tried = self.write_counter.is_some_and(|writes| writes > 0);
        tried && !self.may_be_published()
    }
}

/// A map whose values may be anything: a schema cannot hold itself, so the peer leaves them open.
fn any_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "x-kubernetes-preserve-unknown-fields": true }
    })
}
