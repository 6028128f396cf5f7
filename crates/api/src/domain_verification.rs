//! `DomainVerification`: a namespace's claim to a domain, and the proof of it (V1–V10).
//!
//! Conditions only report. Whoever relies on a verified domain recomputes `status.proof`. From here to checked values:
//! [`crate::parse::domain_verification`].

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cel;

/// The domain that is claimed.
#[derive(
    Clone, CustomResource, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize,
)]
#[kube(
    group = "kuadrant.dev",
    version = "v1alpha1",
    kind = "DomainVerification",
    plural = "domainverifications",
    namespaced,
    status = "DomainVerificationStatus",
    derive = "PartialEq",
    doc = "A namespace's claim to a domain, proven by a TXT record. Made by the controller; others may only view it.",
    shortname = "dv",
    category = "dns",
    printcolumn(
        name = "Domain",
        type_ = "string",
        description = "The domain that is claimed.",
        json_path = ".spec.domain"
    ),
    printcolumn(
        name = "Verified",
        type_ = "string",
        description = "Whether the claim is proven.",
        json_path = r#".status.conditions[?(@.type=="Verified")].status"#
    ),
    printcolumn(
        name = "TXT Name",
        type_ = "string",
        description = "The name of the TXT record that proves the claim.",
        json_path = ".status.txtRecord.name",
        priority = 1
    ),
    printcolumn(
        name = "TXT Value",
        type_ = "string",
        description = "The value of the TXT record that proves the claim.",
        json_path = ".status.txtRecord.value",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct DomainVerificationSpec {
    /// The domain that is claimed, such as `example.com`. Once proven, it and everything below it may be used in the
    /// namespace. It cannot change.
    #[schemars(length(min = 1, max = 254))]
    #[schemars(extend("x-kubernetes-validations" = cel::rules([("self == oldSelf", "domain is immutable")])))]
    pub domain: String,
}

/// What to create, and whether it was found.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainVerificationStatus {
    /// The generation of the spec that the status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// What proves the claim when it is found in DNS. It belongs to this namespace and this domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,

    /// The TXT record to create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txt_record: Option<TxtRecord>,

    /// The installation's seal under a successful check. Without it the domain is not verified, whatever the conditions
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,

    /// The state of the claim, one entry per type and domain. Reports only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type", "domain"],
    ))]
    pub conditions: Vec<DomainCondition>,
}

/// A TXT record that someone has to create.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct TxtRecord {
    /// The name of the record, fully qualified.
    pub name: String,

    /// The whole value of the record, without quotes.
    pub value: String,
}

/// What is known about one domain.
// Not `metav1.Condition`: the key has a second part and a next check is announced, and the reason may be absent (V6).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainCondition {
    /// What is being said: Verified.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 316))]
    pub type_: String,

    /// The domain it is said about.
    #[schemars(length(min = 1, max = 254))]
    pub domain: String,

    /// Whether it holds: True, False or Unknown.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    pub status: String,

    /// Why, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: Option<String>,

    /// Why, for people.
    #[schemars(length(max = 32_768))]
    pub message: String,

    /// When the status last changed.
    pub last_transition_time: Time,

    /// When this is looked at next. Of a domain that is not proven, DNS is asked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_verification: Option<Time>,
}
