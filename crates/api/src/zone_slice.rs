//! `ZoneSlice`: a piece of the content of a zone that is too large for one object (Z11).
//!
//! A slice is named by what it contains and never changes. The Zone's status names the slices that
//! make up one version. From here to checked values: [`crate::parse::zone_slice`].

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;

/// The most a slice holds, in bytes: 64 KiB. Its content is ASCII, so the schema's count of
/// characters is the same number.
pub const CONTENT_BYTES_MAX: usize = 65_536;

/// A piece of a zone's content.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kubi.zone",
    version = "v1alpha1",
    kind = "ZoneSlice",
    namespaced,
    status = "ZoneSliceStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A piece of the content of a Zone that is too large for one object. Made and removed by \
           the controller; never written by hand.",
    shortname = "zs",
    category = "dns",
    printcolumn(
        name = "zone",
        type_ = "string",
        description = "The Zone this is a piece of.",
        json_path = ".metadata.ownerReferences[0].name"
    ),
    printcolumn(
        name = "age",
        type_ = "date",
        description = "How long the slice has existed.",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "self == oldSelf",
    "message": "a slice never changes: its name stands for its content"
}]))]
#[serde(rename_all = "camelCase")]
pub struct ZoneSliceSpec {
    /// The records of the slice as lines of a zone file, each with its full name, TTL, class, type
    /// and data, in canonical order. Behind a record of a routed set follows its routing as a
    /// comment: `; routing {"setIdentifier":"eu-1","weight":120}`.
    #[schemars(length(max = CONTENT_BYTES_MAX))]
    pub content: String,
}

/// How the slice stands.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneSliceStatus {
    /// What is known about the slice. `Accepted`: its content could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The `metadata.generation` this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
