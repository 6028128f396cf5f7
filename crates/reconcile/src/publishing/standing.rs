//! ServiceRecords and Records of ours, as they stand.

use std::collections::{BTreeMap, BTreeSet};

use api::condition::{Status, find};
use api::parse::fqdn;
use api::parse::service_record::{self as parse, Endpoint};
use api::parse::target::Target;
use api::record::RecordSpec;
use api::service_record::{ServiceRecordSpec, ServiceRecordStatus, Source};
use api::well_known::{annotation, field_manager, label};
use api::{Condition, ConditionType, Decoded, Reason};
use dns::Name;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource as _;
use kube::core::ObjectMeta;

use super::source::is_exported;
use super::{SourceKey, SourceKind, Version, names};
use crate::{Age, ObjectKey};

/// A ServiceRecord of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingServiceRecord {
    /// Which one, in which version.
    pub version: Version,
    /// The host that it is for: by its name, which nobody can edit, where that tells.
    pub host: Name,
    /// When it was created, and its uid.
    pub age: Age,
    /// The version of its spec.
    pub generation: Option<i64>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Whom it belongs to.
    pub owner_references: Vec<OwnerReference>,
    /// What it says, if it can be read.
    pub spec: Option<ServiceRecordSpec>,
    /// Where it says that the host is reached, as far as that can be read.
    pub endpoints: BTreeSet<Endpoint>,
    /// What it says about itself.
    pub status: ServiceRecordStatus,
    /// The sources that it was made for.
    pub sources: Vec<Source>,
    /// Whether it has been ours before. Otherwise it was handed over, and goes back if nobody asks for the host.
    pub exported: bool,
    /// Whether it is on its way out.
    pub deleting: bool,
}

impl StandingServiceRecord {
    /// A ServiceRecord of ours (S5); of any other the host that it stands in the way of. One outside of the `central`
    /// namespace speaks for sources of its own namespace alone, for whoever may write there may write anything into it.
    pub(super) fn read(
        object: Decoded<api::ServiceRecord>,
        central: &str,
    ) -> Result<StandingServiceRecord, Option<Name>> {
        let meta = object.meta().clone();
        let object = object.into_result().ok();
        let spec = object.as_ref().map(|object| object.spec.clone());
        let host = host(&meta, spec.as_ref());
        let Some(host) = host.clone().filter(|_| is_ours(&meta)) else {
            return Err(host);
        };
        let parsed = object.as_ref().and_then(|it| parse::parse(it).ok());
        let status = object.and_then(|object| object.status).unwrap_or_default();
        let version = Version::of(&meta);
        let mut sources = sources(&meta, &status);
        let namespace = &version.key.namespace;
        sources.retain(|it| namespace == central || *namespace == it.namespace);
        Ok(StandingServiceRecord {
            age: Age::of(&meta),
            generation: meta.generation,
            exported: is_exported(&meta),
            deleting: meta.deletion_timestamp.is_some(),
            labels: meta.labels.unwrap_or_default(),
            annotations: meta.annotations.unwrap_or_default(),
            owner_references: meta.owner_references.unwrap_or_default(),
            endpoints: parsed.map(|it| it.endpoints).unwrap_or_default(),
            version,
            host,
            spec,
            status,
            sources,
        })
    }

    /// Which one.
    pub fn key(&self) -> &ObjectKey {
        &self.version.key
    }

    /// Whether it says, as it is now, that the host is published for a source.
    pub(super) fn is_published_for(&self, source: &SourceKey) -> bool {
        let published = find(&self.status.conditions, ConditionType::Published);
        let published = published.is_some_and(|it| it.status == Status::True.as_str());
        let current = self.status.observed_generation == self.generation;
        let mut sources = self.sources.iter();
        published && current && sources.any(|it| SourceKey::of(it).as_ref() == Some(source))
    }
}

/// Whether a ServiceRecord is ours, or was handed over (S5).
fn is_ours(meta: &ObjectMeta) -> bool {
    let has = |key: &str| meta.labels.as_ref().is_some_and(|it| it.contains_key(key));
    let adopt = annotated(meta, annotation::ADOPT);
    (has(label::EXPORT) && !has(label::IMPORTED)) || adopt == Some("true")
}

fn host(meta: &ObjectMeta, spec: Option<&ServiceRecordSpec>) -> Option<Name> {
    let name = meta.name.as_deref().unwrap_or_default();
    let told = annotated(meta, annotation::HOST).or(spec.map(|spec| spec.fqdn.as_str()));
    names::host_of(name).or_else(|| fqdn::parse(told?).ok())
}

/// The sources that a ServiceRecord names. Where the annotation was broken by hand, what was told last still holds.
fn sources(meta: &ObjectMeta, status: &ServiceRecordStatus) -> Vec<Source> {
    let told = annotated(meta, annotation::SOURCES);
    let told = told.and_then(|it| serde_json::from_str::<Vec<Source>>(it).ok());
    let mut sources = told.unwrap_or_else(|| status.sources.clone());
    sources.retain(|source| SourceKey::of(source).is_some());
    sources.sort();
    sources.dedup();
    sources
}

fn annotated<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref()?.get(key).map(String::as_str)
}

/// A Record that was made for a ServiceRecord.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingRecord {
    /// Which one, in which version.
    pub version: Version,
    /// The host that it was made for, whatever its spec says.
    pub host: Name,
    /// When it was created, and its uid. Of two that exclude each other a Zone takes the older.
    pub age: Age,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Whom it belongs to.
    pub owner_references: Vec<OwnerReference>,
    /// What it says, if it can be read.
    pub spec: Option<RecordSpec>,
    /// How it fares in the zone.
    pub progress: Progress,
    /// Whether it is on its way out.
    pub deleting: bool,
}

/// How a Record fares.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Progress {
    /// It is answered, or nobody here can say that it is not.
    Served,
    /// It is on its way.
    Pending,
    /// No zone has it, or another one answers instead; why.
    Refused(Reason, String),
}

impl StandingRecord {
    /// A Record of ours, by label and annotation; nothing for any other.
    pub(super) fn read(object: Decoded<api::Record>) -> Option<StandingRecord> {
        let meta = object.meta().clone();
        let labels = meta.labels.as_ref()?;
        let ours = labels.get(label::MANAGED_BY)? == field_manager::CONTROLLER;
        let marked = ours && labels.contains_key(label::SERVICE_RECORD);
        let host = fqdn::parse(annotated(&meta, annotation::HOST)?).ok();
        let host = host.filter(|_| marked)?;
        let object = object.into_result().ok();
        let status = object.as_ref().and_then(|object| object.status.clone());
        let conditions = status.unwrap_or_default().conditions;
        Some(StandingRecord {
            version: Version::of(&meta),
            host,
            age: Age::of(&meta),
            progress: progress(&conditions, meta.generation),
            deleting: meta.deletion_timestamp.is_some(),
            labels: meta.labels.unwrap_or_default(),
            annotations: meta.annotations.unwrap_or_default(),
            owner_references: meta.owner_references.unwrap_or_default(),
            spec: object.map(|object| object.spec),
        })
    }

    /// Which one.
    pub fn key(&self) -> &ObjectKey {
        &self.version.key
    }

    /// The sources that it goes with.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let owners = self.owner_references.iter();
        owners.filter_map(|owner| Some(source_of(owner, &self.key().namespace)?.named(&owner.uid)))
    }

    /// Where it leads, if it still says what such a Record says.
    pub(super) fn target(&self) -> Option<Target> {
        let spec = self.spec.as_ref()?;
        let at = fqdn::parse(&spec.domain_name).ok();
        let target = Target::parse(&spec.rdata).ok();
        target.filter(|_| at.as_ref() == Some(&self.host))
    }
}

/// The source that an object of a namespace belongs to; nothing if it is no source.
pub(super) fn source_of(owner: &OwnerReference, namespace: &str) -> Option<SourceKey> {
    let group = owner.api_version.rsplit_once('/').map_or("", |it| it.0);
    let kind = SourceKind::find(group, &owner.kind)?;
    Some(SourceKey::new(kind, namespace, &owner.name))
}

/// How a Record fares by its conditions. A refusal counts only if it is about what the Record says now; what was answered
/// goes on being answered while a change is on its way.
fn progress(conditions: &[Condition], generation: Option<i64>) -> Progress {
    let accepted = find(conditions, ConditionType::Accepted);
    let published = find(conditions, ConditionType::Published);
    let is = |condition: Option<&Condition>, status: Status| {
        condition.is_some_and(|it| it.status == status.as_str())
    };
    let current = |it: &&Condition| {
        let seen = it.observed_generation;
        seen.is_none() || seen == generation
    };
    let waits = [Reason::Pending, Reason::NotAccepted].map(Reason::as_str);
    let refusal = |it: &&Condition| {
        it.status == Status::False.as_str() && current(it) && !waits.contains(&it.reason.as_str())
    };
    let refusals = accepted.into_iter().chain(published);
    match refusals.clone().find(refusal) {
        Some(it) => {
            let reason = Reason::from_spelling(&it.reason).unwrap_or(Reason::NotAccepted);
            Progress::Refused(reason, it.message.clone())
        }
        None if !is(accepted, Status::True) => Progress::Pending,
        None if published.is_none() || is(published, Status::False) => Progress::Pending,
        None => Progress::Served,
    }
}
