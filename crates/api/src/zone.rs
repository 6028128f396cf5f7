//! Zone: a part of the DNS tree, who may write into it, and what it contains (Z0–Z14).
//!
//! Fields, defaults and columns are the peer's; `soa`, `nameservers`, `slices`, `conditions` and
//! `observedGeneration` are ours. From here to checked values: [`crate::parse::zone`].

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::record::Class;
use crate::routing::Routing;
use crate::zone_ref::ZoneRef;

/// What the zone is called, who may put names into it, and how long answers may be kept.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "kubi.zone",
    version = "v1alpha1",
    kind = "Zone",
    namespaced,
    status = "ZoneStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A part of the DNS tree that is managed in one place. Records and sub-Zones that the zone \
           delegates to become its content.",
    shortname = "zn",
    category = "dns",
    printcolumn(
        name = "domain name",
        type_ = "string",
        description = "The name as written in the manifest.",
        json_path = ".spec.domainName"
    ),
    printcolumn(
        name = "fqdn",
        type_ = "string",
        description = "The full name.",
        json_path = ".status.fqdn"
    ),
    printcolumn(
        name = "hash",
        type_ = "string",
        description = "Changes whenever the content does.",
        json_path = ".status.hash"
    ),
    printcolumn(
        name = "serial",
        type_ = "string",
        description = "The version secondaries see.",
        json_path = ".status.serial"
    ),
    printcolumn(
        name = "parent",
        type_ = "string",
        description = "The zone above, as name.namespace.",
        json_path = r".metadata.labels.kubi\.zone/parent-zone"
    ),
    printcolumn(
        name = "accepted",
        type_ = "string",
        description = "Whether the zone is well formed and has authority over its name.",
        json_path = r#".status.conditions[?(@.type=="Accepted")].status"#
    ),
    printcolumn(
        name = "published",
        type_ = "string",
        description = "Whether a name server answers for it.",
        json_path = r#".status.conditions[?(@.type=="Published")].status"#
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ZoneSpec {
    /// The name of the zone. With a dot at the end it is complete: `example.org.`. Without one it
    /// is relative to the zone in `zoneRef`: `dev` below a zone `example.org.` is
    /// `dev.example.org.`.
    pub domain_name: String,

    /// The zone above this one. Needed if `domainName` does not end in a dot. Example:
    /// `{name: example-org, namespace: dns}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_ref: Option<ZoneRef>,

    /// Who may put names into this zone. A Record or a sub-Zone is taken in if any one entry allows
    /// it; `[]` takes in nothing.
    ///
    /// Example, where namespace `web` may write addresses anywhere below `dev`, and every namespace
    /// may create a sub-zone below `teams`:
    /// `[{namespaces: [web], records: [{pattern: "*.dev", types: [A, AAAA]}]}, {zones: ["*.teams"]}]`.
    pub delegations: Vec<Delegation>,

    /// How long resolvers may keep an answer, in seconds, where a Record has no `ttl` of its own.
    #[serde(default = "default::ttl")]
    pub ttl: u32,

    /// How often secondaries look for a new version, in seconds (SOA refresh).
    #[serde(default = "default::refresh")]
    pub refresh: u32,

    /// How soon secondaries try again after a failure, in seconds (SOA retry).
    #[serde(default = "default::retry")]
    pub retry: u32,

    /// How long secondaries answer without reaching a primary, in seconds (SOA expire).
    #[serde(default = "default::expire")]
    pub expire: u32,

    /// How long resolvers may remember that a name does not exist, in seconds (SOA minimum).
    #[serde(default = "default::negative_response_cache")]
    pub negative_response_cache: u32,

    /// The names in the zone's SOA record. Left out, they are `ns` and `noc` below the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soa: Option<SoaNames>,

    /// The name servers of this zone: each becomes an NS record at the zone's own name. A name
    /// without a dot at the end is relative to the zone. Name servers inside the zone need an A or
    /// AAAA Record as well. Example: `[ns1, ns2.example.net.]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nameservers: Vec<String>,
}

/// The two names in a SOA record.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SoaNames {
    /// The primary name server. Relative to the zone unless it ends in a dot. Left out: `ns`.
    /// Example: `ns1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mname: Option<String>,
    /// The mailbox of whoever runs the zone, with a dot in place of the `@`. Relative to the zone
    /// unless it ends in a dot. Left out: `noc`. Example: `hostmaster.example.org.`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rname: Option<String>,
}

/// One permission to put names into a zone.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delegation {
    /// The namespaces this entry is for. `[]` is every namespace.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// The sub-zones that may be created, as patterns. `[]` is none. A pattern is relative to this
    /// zone, or complete; `*` as its first label is one or more labels; a `*` inside a label is any
    /// characters of that label. Example: `["*.teams", "env-*"]`.
    #[serde(default)]
    pub zones: Vec<String>,
    /// The records that may be created. `[]` is none.
    #[serde(default)]
    pub records: Vec<RecordDelegation>,
}

/// The records one entry permits.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordDelegation {
    /// The names that may be written. Relative to this zone, or complete; `@` is the zone's own
    /// name; `*` as the first label is one or more labels; a `*` inside a label is any characters
    /// of that label. Examples: `"*"` is everything below the zone, `www` is one name, `"*.dev"` is
    /// everything below `dev`, `dev-*` is `dev-1` and `dev-blue`.
    pub pattern: String,
    /// The record types that may be written. `[]` is any, except SOA, the types of DNSSEC, and NS
    /// at the zone's own name unless the Record is in the Zone's namespace. Example: `[A, AAAA]`.
    #[serde(default)]
    #[schemars(schema_with = "crate::schema::record_types")]
    pub types: Vec<String>,
}

/// What the zone contains, and how it stands.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneStatus {
    /// The content of the zone, the SOA record first. A zone too large for one object lists only
    /// the SOA record here; the rest is in `slices`.
    #[serde(default)]
    pub entries: Vec<ZoneEntry>,
    /// The full name of the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fqdn: Option<String>,
    /// A hash over the content. Equal hashes mean equal content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The version of the content, as in the SOA record. Grows with every change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<u32>,
    /// The names of the `ZoneSlice` objects that together hold the content, in order. Empty while
    /// the content fits in `entries`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
    /// What is known about the zone. `Accepted`: it is well formed and has authority over its name.
    /// `Published`: a name server answers for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// The `metadata.generation` this status speaks about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// One record of a zone's content.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ZoneEntry {
    /// The full name of the record.
    pub fqdn: String,
    /// The type of the record.
    #[serde(rename = "type")]
    #[schemars(schema_with = "crate::schema::record_type")]
    pub type_: String,
    /// The class of the record.
    pub class: Class,
    /// How long resolvers may keep the record, in seconds.
    pub ttl: u32,
    /// The data of the record, as in a zone file.
    pub rdata: String,
    /// Which answers the record takes part in. Left out: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
}

/// The same values the schema has: a spec built in Rust and one read from a manifest agree.
impl Default for ZoneSpec {
    fn default() -> Self {
        Self {
            domain_name: String::new(),
            zone_ref: None,
            delegations: Vec::new(),
            ttl: default::ttl(),
            refresh: default::refresh(),
            retry: default::retry(),
            expire: default::expire(),
            negative_response_cache: default::negative_response_cache(),
            soa: None,
            nameservers: Vec::new(),
        }
    }
}

/// The peer's defaults.
mod default {
    pub(super) const fn ttl() -> u32 {
        360
    }

    pub(super) const fn refresh() -> u32 {
        86_400
    }

    pub(super) const fn retry() -> u32 {
        7_200
    }

    pub(super) const fn expire() -> u32 {
        3_600_000
    }

    pub(super) const fn negative_response_cache() -> u32 {
        360
    }
}
