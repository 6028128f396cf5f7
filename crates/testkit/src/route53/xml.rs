//! What is said to Route 53 and what it answers, as XML: version 2013-04-01.

use quick_xml::se::Serializer;
use serde::{Deserialize, Serialize};

/// What every element is of.
const NAMESPACE: &str = "https://route53.amazonaws.com/doc/2013-04-01/";

/// A set as it is written and listed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceRecordSet {
    /// The name. Listed with its final dot, and escaped.
    pub name: String,
    /// The type.
    pub r#type: String,
    /// Tells sets of one name and type apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_identifier: Option<String>,
    /// Routing by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u8>,
    /// Routing by latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Routing by place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo_location: Option<GeoLocation>,
    /// Routing by health.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<String>,
    /// How long it may be kept; an alias has none.
    #[serde(rename = "TTL", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u32>,
    /// The data; an alias has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_records: Option<ResourceRecords>,
    /// Another set, or something of Amazon's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias_target: Option<AliasTarget>,
    /// What must be well for it to be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_check_id: Option<String>,
}

/// A place.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct GeoLocation {
    /// Two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continent_code: Option<String>,
    /// Two letters, or `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
    /// A state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdivision_code: Option<String>,
}

/// The data of a set.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceRecords {
    /// One element each.
    #[serde(default)]
    pub resource_record: Vec<ResourceRecord>,
}

/// The data of one record.
#[derive(Clone, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct ResourceRecord {
    /// In presentation form.
    pub value: String,
}

/// What an alias stands for.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct AliasTarget {
    /// The zone of the other set.
    pub hosted_zone_id: String,
    /// Its name.
    #[serde(rename = "DNSName")]
    pub dns_name: String,
    /// Whether its health counts.
    pub evaluate_target_health: bool,
}

impl ResourceRecordSet {
    /// The data, one by one.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let records = self.resource_records.iter();
        let records = records.flat_map(|it| &it.resource_record);
        records.map(|record| record.value.as_str())
    }
}

/// One change of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Change {
    pub(super) action: Action,
    pub(super) resource_record_set: ResourceRecordSet,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Action {
    Create,
    Delete,
    Upsert,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ChangeResourceRecordSetsRequest {
    change_batch: ChangeBatch,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ChangeBatch {
    changes: Changes,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Changes {
    #[serde(default)]
    change: Vec<Change>,
}

impl ChangeResourceRecordSetsRequest {
    pub(super) fn changes(self) -> Vec<Change> {
        self.change_batch.changes.change
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CreateHostedZoneRequest {
    pub(super) name: String,
    pub(super) caller_reference: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CreateHostedZoneResponse {
    pub(super) hosted_zone: HostedZone,
    pub(super) change_info: ChangeInfo,
    pub(super) delegation_set: DelegationSet,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HostedZone {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) caller_reference: String,
    pub(super) config: HostedZoneConfig,
    pub(super) resource_record_set_count: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HostedZoneConfig {
    pub(super) private_zone: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DelegationSet {
    pub(super) name_servers: NameServers,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NameServers {
    pub(super) name_server: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ChangeInfo {
    pub(super) id: String,
    pub(super) status: &'static str,
    pub(super) submitted_at: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ChangeResourceRecordSetsResponse {
    pub(super) change_info: ChangeInfo,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListHostedZonesResponse {
    pub(super) hosted_zones: HostedZones,
    pub(super) is_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_marker: Option<String>,
    pub(super) max_items: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct HostedZones {
    pub(super) hosted_zone: Vec<HostedZone>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListResourceRecordSetsResponse {
    pub(super) resource_record_sets: ResourceRecordSets,
    pub(super) is_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_record_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_record_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_record_identifier: Option<String>,
    pub(super) max_items: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ResourceRecordSets {
    pub(super) resource_record_set: Vec<ResourceRecordSet>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ErrorResponse {
    pub(super) error: ErrorBody,
    pub(super) request_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ErrorBody {
    pub(super) r#type: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// Reads the body of a request.
pub(super) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, quick_xml::DeError> {
    quick_xml::de::from_str(text)
}

/// Writes an answer below its root.
pub(super) fn write(root: &str, answer: &impl Serialize) -> String {
    let mut text = String::new();
    let serializer = Serializer::with_root(&mut text, Some(root));
    let written = serializer.and_then(|serializer| answer.serialize(serializer));
    written.expect("answers are plain elements");
    // Attributes would need a field in every answer.
    let text = text.replacen(
        &format!("<{root}>"),
        &format!("<{root} xmlns=\"{NAMESPACE}\">"),
        1,
    );
    format!("<?xml version=\"1.0\"?>\n{text}")
}
