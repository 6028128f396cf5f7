//! Between hosted sets and Record objects, in both directions. Pure.
//!
//! A Record carries one datum, so a set is as many Records as it has data. Whose they are is in their owner reference;
//! the label is only what they are found by.

use std::collections::BTreeMap;

use api::condition::{Condition, Status, find};
use api::parse::record::{self as parse, Content};
use api::record::{Class, RecordSpec};
use api::routing::Routing as RoutingSpec;
use api::well_known::{dns_record_label, field_manager, group, label};
use api::{ConditionType, Decoded, DnsRecord, Record, Zone, ZoneKey, ZoneRef};
use dns::hosted::{Held, Holdings, HostedKey, HostedSet, Share};
use dns::routing::{Membership, Routing};
use dns::{Name, Rdata, RecordSet, Ttl};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::{Resource as _, ResourceExt as _};
use provider::Snapshot;
use serde_json::{Value, json};

/// The longest part of a `DNSRecord`'s name in the names of its Records: 253 characters less two dashes, the hash and a
/// number, and some to spare.
const START_CHARS_MAX: usize = 200;

/// Hexadecimal digits of the hash in the name of a Record: 128 bit.
const HASH_CHARS: usize = 32;

/// Where Records go.
#[derive(Clone, Debug)]
pub(super) struct Home {
    /// The Zone that they are for.
    pub(super) zone: ZoneKey,
    /// The namespace that they stand in.
    pub(super) namespace: String,
    /// The name of the zone.
    pub(super) apex: Name,
    /// The TTL of a Record that has none.
    pub(super) ttl: Ttl,
}

/// One record of a set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Datum {
    /// The set.
    pub(super) key: HostedKey,
    /// The traffic that the set is for.
    pub(super) routing: Routing,
    /// How long it may be kept.
    pub(super) ttl: Ttl,
    /// What it says.
    pub(super) data: Rdata,
}

/// A Record of some `DNSRecord`, as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standing {
    /// The name of the object.
    pub(super) name: String,
    /// What a write to it expects.
    pub(super) version: Version,
    /// When it was created; nothing: as if it were the youngest.
    pub(super) created: Option<Time>,
    /// Whose it is.
    pub(super) share: Share,
    /// Whether it is found by its label.
    pub(super) labelled: bool,
    /// What it says in the zone; nothing if that cannot be found or read, or is said in another zone.
    pub(super) datum: Option<Datum>,
    /// Why the zone does not have it.
    complaint: Option<String>,
}

/// One version of one object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Version {
    /// Which object.
    pub(super) uid: String,
    /// Which version of it.
    pub(super) resource_version: String,
}

impl Standing {
    /// The lesser is the older, as the Zone sees it: of two from one second the uid decides.
    pub(super) fn age(&self) -> (bool, Option<&Time>, &str) {
        let created = self.created.as_ref();
        (created.is_none(), created, &self.version.uid)
    }
}

impl Home {
    /// The Zone as a home of Records; or what it waits for.
    pub(super) fn of(zone: &Zone, key: &ZoneKey, namespace: &str) -> Result<Home, String> {
        let status = zone.status.as_ref();
        let apex = apex(zone).ok_or_else(|| {
            let accepted = status.and_then(|it| find(&it.conditions, ConditionType::Accepted));
            let why = accepted.map_or_else(|| "nobody has looked at it".to_owned(), words);
            format!("Zone {key} has no name in status.fqdn yet: {why}")
        })?;
        Ok(Home {
            zone: key.clone(),
            namespace: namespace.to_owned(),
            apex,
            ttl: Ttl::from_secs(zone.spec.ttl).unwrap_or(Ttl::MAX),
        })
    }

    /// A Record of some `DNSRecord`; nothing if it is somebody else's.
    pub(super) fn read(&self, record: &Decoded<Record>) -> Option<Standing> {
        let meta = record.meta();
        let share = owner(meta.owner_references.as_deref().unwrap_or_default())?;
        let labels = meta.labels.as_ref();
        let label = labels.and_then(|labels| labels.get(label::DNS_RECORD));
        let labelled = label == Some(&dns_record_label(&share.name));
        // Without its label it would be found by some calls and not by others.
        let object = match record {
            Decoded::Object(object) if labelled => Some(object),
            Decoded::Object(_) | Decoded::Undecodable(_) => None,
        };
        Some(Standing {
            name: record.name_any(),
            version: Version {
                uid: record.uid().unwrap_or_default(),
                resource_version: record.resource_version().unwrap_or_default(),
            },
            created: meta.creation_timestamp.clone(),
            labelled,
            datum: object.and_then(|object| self.datum(object, &share)),
            complaint: object.and_then(complaint),
            share,
        })
    }

    /// What a Record says here. As a manifest would, it may say it with relative names and without a TTL.
    fn datum(&self, record: &Record, share: &Share) -> Option<Datum> {
        let zone_ref = record.spec.zone_ref.as_ref()?;
        if zone_ref.key(&self.namespace) != self.zone {
            return None;
        }
        let (parsed, _) = parse::parse(record);
        let name = parsed.place?.under(&self.apex).ok()?;
        let content = parsed.content?;
        let data = content.under(&self.apex).ok()?;
        let (identifier, routing) = routing(&content);
        Some(Datum {
            key: HostedKey {
                name,
                rtype: data.rtype(),
                identifier,
                share: Some(share.clone()),
            },
            routing,
            ttl: content.ttl.unwrap_or(self.ttl),
            data,
        })
    }

    /// The Record that says it; or why there can be none. What leaves is read back before it leaves.
    pub(super) fn record(
        &self,
        name: &str,
        datum: &Datum,
        share: &Share,
    ) -> Result<Record, String> {
        let mut record = Record::new(name, self.spec(datum));
        record.metadata.namespace = Some(self.namespace.clone());
        record.metadata.labels = Some(labels(share));
        record.metadata.owner_references = Some(vec![reference(share)]);
        if self.datum(&record, share).as_ref() == Some(datum) {
            return Ok(record);
        }
        let (_, problems) = parse::parse(&record);
        let problems = problems.iter().map(ToString::to_string).collect::<Vec<_>>();
        Err(format!(
            "{} cannot be a Record: {}",
            datum.key,
            problems.join("; ")
        ))
    }

    /// A merge patch that makes a Record say it, and no more than that.
    pub(super) fn patch(&self, version: &Version, datum: &Datum, share: &Share) -> Value {
        let spec = self.spec(datum);
        let zone_ref = spec.zone_ref.unwrap_or_default();
        json!({
            "metadata": {
                "resourceVersion": version.resource_version,
                "labels": labels(share),
            },
            "spec": {
                "domainName": spec.domain_name,
                // What is not there is null here, which takes out what is there.
                "zoneRef": { "name": zone_ref.name, "namespace": zone_ref.namespace },
                "type": spec.type_,
                "class": spec.class,
                "ttl": spec.ttl,
                "rdata": spec.rdata,
                "routing": spec.routing.map(|routing| json!({
                    "setIdentifier": routing.set_identifier,
                    "weight": routing.weight,
                    "geo": routing.geo,
                })),
            },
        })
    }

    /// What the names of a `DNSRecord`'s Records for one name begin with; a dash and a number follow.
    ///
    /// In the hash are the `DNSRecord`'s uid, for its namesakes of yesterday and tomorrow, and the Zone, since a
    /// `DNSRecord` that moves is in two of them for a while. Neither type nor data is: a Record that says something
    /// else tomorrow stays the same object, and keeps its age, which is what counts among those who want one name.
    pub(super) fn stem(&self, share: &Share, name: &Name) -> String {
        let whole = format!("{}\n{}\n{name}", share.uid, self.zone);
        let hash = blake3::hash(whole.as_bytes()).to_hex();
        let start: String = share.name.chars().take(START_CHARS_MAX).collect();
        let start = start.trim_end_matches(['.', '-']);
        format!("{start}-{}", &hash[..HASH_CHARS])
    }

    fn spec(&self, datum: &Datum) -> RecordSpec {
        let elsewhere = self.zone.namespace != self.namespace;
        RecordSpec {
            domain_name: datum.key.name.to_string(),
            zone_ref: Some(ZoneRef {
                name: self.zone.name.clone(),
                namespace: elsewhere.then(|| self.zone.namespace.clone()),
            }),
            type_: datum.key.rtype.to_string(),
            class: Class::In,
            ttl: Some(datum.ttl.as_secs()),
            rdata: datum.data.to_string(),
            routing: routing_spec(datum),
        }
    }
}

/// The name of a Zone, if it has one already.
pub(super) fn apex(zone: &Zone) -> Option<Name> {
    let fqdn = zone.status.as_ref()?.fqdn.as_deref()?;
    Name::parse(fqdn).ok()
}

/// The data of a set.
pub(super) fn data<'a>(
    key: &'a HostedKey,
    set: &'a HostedSet,
) -> impl Iterator<Item = Datum> + use<'a> {
    set.records.data().iter().map(|data| Datum {
        key: key.clone(),
        routing: set.routing.clone(),
        ttl: set.records.ttl(),
        data: data.clone(),
    })
}

/// The sets that Records make, and why the zone does not have some of them.
pub(super) fn snapshot(apex: Name, standing: &[Standing]) -> Snapshot {
    let mut sets: BTreeMap<&HostedKey, Vec<&Datum>> = BTreeMap::new();
    let mut complaints: BTreeMap<HostedKey, Vec<&str>> = BTreeMap::new();
    for record in standing {
        let Some(datum) = &record.datum else { continue };
        sets.entry(&datum.key).or_default().push(datum);
        if let Some(complaint) = &record.complaint {
            let told = complaints.entry(datum.key.clone()).or_default();
            told.push(complaint);
        }
    }
    let holdings: Holdings = (sets.into_iter())
        .filter_map(|(key, data)| Some((key.clone(), Held::Set(set(data)?))))
        .collect();
    let complaints = complaints.into_iter().map(|(key, mut told)| {
        told.sort_unstable();
        told.dedup();
        (key, told.join("; "))
    });
    Snapshot {
        apex,
        holdings,
        complaints: complaints.collect(),
    }
}

/// Data that makes no set together, such as two aliases made by hand, stands for the first of it: whatever is written
/// next puts all of it right.
fn set(mut data: Vec<&Datum>) -> Option<HostedSet> {
    data.sort_by(|one, other| one.data.cmp(&other.data));
    let first = *data.first()?;
    let record = |datum: &Datum| (datum.ttl, datum.data.clone());
    let all = RecordSet::new(data.iter().map(|datum| record(datum)));
    let records = all.or_else(|_| RecordSet::new([record(first)])).ok()?;
    Some(HostedSet {
        records,
        routing: first.routing.clone(),
    })
}

fn owner(references: &[OwnerReference]) -> Option<Share> {
    let is_dns_record = |it: &&OwnerReference| {
        let (group, _) = it.api_version.split_once('/').unwrap_or_default();
        group == group::KUADRANT_IO && it.kind == DnsRecord::kind(&())
    };
    let owner = references.iter().find(is_dns_record)?;
    Some(Share {
        name: owner.name.clone(),
        uid: owner.uid.clone(),
    })
}

fn reference(share: &Share) -> OwnerReference {
    OwnerReference {
        api_version: DnsRecord::api_version(&()).into_owned(),
        kind: DnsRecord::kind(&()).into_owned(),
        name: share.name.clone(),
        uid: share.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

fn labels(share: &Share) -> BTreeMap<String, String> {
    let labels = [
        (label::DNS_RECORD, dns_record_label(&share.name)),
        (label::MANAGED_BY, field_manager::CONTROLLER.to_owned()),
    ];
    labels.map(|(key, value)| (key.to_owned(), value)).into()
}

/// Only what was said about the Record as it is now.
fn complaint(record: &Record) -> Option<String> {
    let conditions = &record.status.as_ref()?.conditions;
    let accepted = find(conditions, ConditionType::Accepted)?;
    let seen = accepted.observed_generation;
    let current = seen.is_none() || seen == record.metadata.generation;
    let refused = accepted.status == Status::False.as_str();
    (current && refused).then(|| words(accepted))
}

fn words(condition: &Condition) -> String {
    format!("{}: {}", condition.reason, condition.message)
}

fn routing(content: &Content) -> (String, Routing) {
    match &content.routing {
        None => (String::new(), Routing::default()),
        Some(Membership {
            identifier,
            routing,
        }) => (identifier.to_string(), routing.clone()),
    }
}

fn routing_spec(datum: &Datum) -> Option<RoutingSpec> {
    let identifier = &datum.key.identifier;
    (!identifier.is_empty()).then(|| RoutingSpec {
        set_identifier: identifier.clone(),
        weight: datum.routing.weight.map(|weight| weight.get().into()),
        geo: datum.routing.geo.as_ref().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests;
