//! `ServiceRecord`: one host of this cluster and where it is reached (S1–S10).
//!
//! Spec is the peer's, which knows no rules; the status is ours, the peer has none. From here to checked values:
//! [`crate::parse::service_record`].

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;

/// A host and where it is reached.
#[derive(
    Clone, CustomResource, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize,
)]
#[kube(
    group = "connectivity.tanzu.vmware.com",
    version = "v1alpha1",
    kind = "ServiceRecord",
    plural = "servicerecords",
    namespaced,
    status = "ServiceRecordStatus",
    derive = "PartialEq",
    doc = "One host of this cluster and where it is reached.",
    shortname = "svcrec",
    category = "dns",
    printcolumn(
        name = "FQDN",
        type_ = "string",
        description = "The host.",
        json_path = ".spec.fqdn"
    ),
    printcolumn(
        name = "Published",
        type_ = "string",
        description = "Whether Records for the host exist.",
        json_path = r#".status.conditions[?(@.type=="Published")].status"#
    ),
    printcolumn(
        name = "Addresses",
        type_ = "string",
        description = "The addresses the host is published with.",
        json_path = ".status.addresses",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct ServiceRecordSpec {
    /// The host, such as `app.example.com` or `*.apps.example.com`.
    pub fqdn: String,

    /// Where the host is reached. Empty while there is no address.
    pub endpoints: Vec<ServiceEndpoint>,
}

/// One place a host is reached at.
#[derive(
    Clone, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct ServiceEndpoint {
    /// An IP address, or a host name.
    pub address: String,

    /// The port to connect to.
    // Wider than the schema says, so that a number out of range is a problem with a path, not an object without a shape.
    #[schemars(with = "i32")]
    pub port: i64,
}

/// What became of the record.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceRecordStatus {
    /// The state of the record: `Accepted`, `Published`, `Conflicted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,

    /// The generation of the spec that the status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The objects that asked for the host to be published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,

    /// The addresses and hosts the record is published with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

/// An object that asked for a host to be published.
#[derive(
    Clone, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
pub struct Source {
    /// The group of the object. Absent for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,

    /// The kind of the object, such as HTTPProxy.
    pub kind: String,

    /// The namespace of the object.
    pub namespace: String,

    /// The name of the object.
    pub name: String,

    /// The UID of the object, which tells it from an earlier one of the same name.
    pub uid: String,
}
