//! The Records of a managed host: where the Ingress is, so that an alias of the host leads there (V1).
//!
//! They stand in the namespace of the Zone that has the managed domain, not in the Ingress's: no namespace needs a right to
//! write into that zone, so nobody can write there what they have no right to. So nothing owns them, and what nobody asks for
//! any more is found by comparing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use api::ZoneKey;
use api::parse::target::Target;
use api::record::{Class, RecordSpec};
use api::well_known::{field_manager, label};
use api::zone_ref::ZoneRef;
use jiff::{SignedDuration, Timestamp};
use kube::core::ObjectMeta;

use super::managed::{Guid, ManagedDomain};
use crate::ObjectKey;

/// How long resolvers may keep an answer, in seconds: short enough for an address that changes.
const TTL_SECS: u32 = 60;

/// Everything that bears on a managed host.
#[derive(Clone, Debug)]
pub struct HostView {
    /// Which one.
    pub guid: Guid,
    /// Whether an Ingress has it.
    pub wanted: bool,
    /// Where that Ingress is.
    pub targets: BTreeSet<Target>,
    /// Since when it has been nowhere.
    pub bare_since: Option<Timestamp>,
    /// The Records that stand for it.
    pub records: Vec<StandingRecord>,
    /// The Zone that has the managed domain.
    pub zone: Option<ZoneKey>,
}

/// A Record as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingRecord {
    /// Which one.
    pub key: ObjectKey,
    /// Its identity.
    pub uid: String,
    /// What it says.
    pub spec: Option<RecordSpec>,
}

/// A write. They are in order: what is to come is there before anything goes.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordWrite {
    /// One that is missing.
    Create(Box<api::Record>),
    /// One that says something else than its name stands for, or that nobody wants any more.
    Delete(ObjectKey, String),
}

/// What is to be written for a managed host, and when to look again.
pub fn decide(
    view: &HostView,
    managed: &ManagedDomain,
    grace: Duration,
    now: Timestamp,
) -> (Vec<RecordWrite>, Option<Timestamp>) {
    if view.wanted && view.targets.is_empty() && !view.records.is_empty() {
        // A load balancer that is being replaced must not take the name along.
        let since = view.bare_since.unwrap_or(now);
        let due = since + SignedDuration::try_from(grace).unwrap_or(SignedDuration::MAX);
        if now < due {
            return (Vec::new(), Some(due));
        }
    }
    // A Zone that cannot be seen right now is no reason to withdraw.
    if view.wanted && view.zone.is_none() {
        return (Vec::new(), None);
    }
    let wanted = wanted(view, managed);
    let stands = |record: &StandingRecord| {
        let wanted = wanted.get(&record.key);
        wanted.is_some_and(|it| record.spec.as_ref() == Some(&it.spec))
    };
    let standing: BTreeSet<&ObjectKey> = view.records.iter().map(|it| &it.key).collect();
    let missing = wanted.iter().filter(|(key, _)| !standing.contains(key));
    let creates = missing.map(|(_, record)| RecordWrite::Create(Box::new(record.clone())));
    let left = view.records.iter().filter(|it| !stands(it));
    let deletes = left.map(|it| RecordWrite::Delete(it.key.clone(), it.uid.clone()));
    (creates.chain(deletes).collect(), None)
}

fn wanted(view: &HostView, managed: &ManagedDomain) -> BTreeMap<ObjectKey, api::Record> {
    let zone = view.zone.as_ref().filter(|_| view.wanted);
    let Some(zone) = zone else {
        return BTreeMap::new();
    };
    let records = published(&view.targets).into_iter().map(|target| {
        let record = record(view, managed, zone, target);
        let name = record.metadata.name.as_deref().unwrap_or_default();
        (ObjectKey::new(&zone.namespace, name), record)
    });
    records.collect()
}

/// Every address; or, for a name has one alias at most and none beside addresses, the first host.
fn published(targets: &BTreeSet<Target>) -> Vec<&Target> {
    let is_address = |it: &&Target| matches!(it, Target::Address(_));
    let addresses: Vec<&Target> = targets.iter().filter(is_address).collect();
    if addresses.is_empty() {
        return targets.iter().take(1).collect();
    }
    addresses
}

/// The managed host that a Record was made for, if we made it. Anybody can write the label; what has it and does not look
/// like one of ours in everything else is somebody's own.
pub(super) fn host_of(meta: &ObjectMeta) -> Option<Guid> {
    let labels = meta.labels.as_ref()?;
    let ours = labels.get(label::MANAGED_BY)? == field_manager::CONTROLLER;
    let guid = Guid::read(labels.get(label::MANAGED_HOST)?)?;
    let named = meta.name.as_deref()?.starts_with(&stem(&guid));
    (ours && named).then_some(guid)
}

/// What the names of a managed host's Records begin with.
fn stem(guid: &Guid) -> String {
    format!("managed-{guid}-")
}

/// Its name stands for what it says, so a Record is never changed.
fn record(
    view: &HostView,
    managed: &ManagedDomain,
    zone: &ZoneKey,
    target: &Target,
) -> api::Record {
    let type_ = match target {
        Target::Address(IpAddr::V4(_)) => "A",
        Target::Address(IpAddr::V6(_)) => "AAAA",
        Target::Host(_) => "CNAME",
    };
    let rdata = target.to_string();
    let hash = blake3::hash(rdata.as_bytes()).to_hex();
    let name = format!("{}{}", stem(&view.guid), &hash[..8]);
    let spec = RecordSpec {
        domain_name: format!("{}.", view.guid.host(managed)),
        zone_ref: Some(ZoneRef {
            name: zone.name.clone(),
            namespace: None,
        }),
        type_: type_.to_owned(),
        class: Class::default(),
        ttl: Some(TTL_SECS),
        rdata,
        routing: None,
    };
    let mut record = api::Record::new(&name, spec);
    record.metadata.namespace = Some(zone.namespace.clone());
    let labels = [
        (label::MANAGED_HOST, view.guid.to_string()),
        (label::MANAGED_BY, field_manager::CONTROLLER.to_owned()),
    ];
    let labels = labels.map(|(key, value)| (key.to_owned(), value));
    record.metadata.labels = Some(labels.into());
    record
}
