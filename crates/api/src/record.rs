//! Record: one DNS record that wants to be part of a zone (R1–R8).
//!
//! Fields, defaults and columns are the peer's; `routing`, `conditions` and `observedGeneration`
//! are ours. From here to checked values: [`crate::parse::record`].

use std::fmt;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::routing::Routing;
use crate::zone_ref::ZoneRef;

/// The name, type and data of the record, and the zone it belongs to.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kubi.zone",
    version = "v1alpha1",
    kind = "Record",
    namespaced,
    status = "RecordStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "One DNS record. It becomes part of a Zone that delegates its name and type to its \
           namespace.",
    shortname = "rec",
    category = "dns",
    printcolumn(
        name = "domain name",
        type_ = "string",
        description = "The name as written in the manifest.",
        json_path = ".spec.domainName"
    ),
    printcolumn(
        name = "class",
        type_ = "string",
        description = "The class of the record.",
        json_path = ".spec.class"
    ),
    printcolumn(
        name = "type",
        type_ = "string",
        description = "The type of the record.",
        json_path = ".spec.type"
    ),
    printcolumn(
        name = "data",
        type_ = "string",
        description = "The data of the record.",
        json_path = ".spec.rdata"
    ),
    printcolumn(
        name = "fqdn",
        type_ = "string",
        description = "The full name.",
        json_path = ".status.fqdn"
    ),
    printcolumn(
        name = "parent",
        type_ = "string",
        description = "The zone it has become part of, as name.namespace.",
        json_path = r".metadata.labels.kubi\.zone/parent-zone"
    ),
    printcolumn(
        name = "accepted",
        type_ = "string",
        description = "Whether the record is well formed and part of a zone.",
        json_path = r#".status.conditions[?(@.type=="Accepted")].status"#
    ),
    printcolumn(
        name = "published",
        type_ = "string",
        description = "Whether a name server answers with it.",
        json_path = r#".status.conditions[?(@.type=="Published")].status"#
    )
)]
#[serde(rename_all = "camelCase")]
pub struct RecordSpec {
    /// The name of the record. With a dot at the end it is complete: `www.example.org.`. Without
    /// one it is relative to the zone in `zoneRef`: `www` in a zone `example.org.` is
    /// `www.example.org.`. `@` is the zone's own name; `*` as the first label matches every name
    /// that does not exist.
    pub domain_name: String,

    /// The zone this record belongs to. Needed if `domainName` does not end in a dot; left out, the
    /// longest zone that delegates the name is found. Example:
    /// `{name: example-org, namespace: dns}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_ref: Option<ZoneRef>,

    /// The type of the record: a mnemonic such as `A`, `AAAA`, `CNAME`, `MX`, `TXT` or `SRV`, or
    /// `TYPE` and a number for one without a mnemonic.
    #[serde(rename = "type")]
    #[schemars(schema_with = "crate::schema::record_type")]
    pub type_: String,

    /// The class of the record. Only `IN` is published.
    #[serde(default)]
    pub class: Class,

    /// How long resolvers may keep the record, in seconds. Left out, it is the `ttl` of the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,

    /// The data of the record, as in a zone file. Names in it are relative to the zone unless they
    /// end in a dot. Examples: `192.0.2.1` for A, `10 mail.example.org.` for MX, `"v=spf1 -all"`
    /// with its quotes for TXT. A type without a mnemonic takes the form of RFC 3597: `\# 2 abcd`.
    pub rdata: String,

    /// Makes the record one member of a set from which each answer picks, by weight or by where the
    /// question comes from. Example: `{setIdentifier: eu-1, weight: 120, geo: GEO-EU}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
}

/// How the record stands.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordStatus {
    /// The full name of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fqdn: Option<String>,
    /// What is known about the record. `Accepted`: it is well formed and part of a zone.
    /// `Published`: a name server answers with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The `metadata.generation` this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// The class of a record.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Class {
    /// The Internet: the only class that is published.
    #[default]
    In,
    /// Chaosnet.
    Ch,
    /// Hesiod.
    Hs,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::In => "IN",
            Class::Ch => "CH",
            Class::Hs => "HS",
        })
    }
}
