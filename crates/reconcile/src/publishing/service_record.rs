//! The ServiceRecord that a host is to have.

use std::collections::{BTreeMap, BTreeSet};

use api::parse::service_record::Endpoint;
use api::parse::target::Target;
use api::service_record::{ServiceEndpoint, ServiceRecordSpec, Source};
use api::well_known::{annotation, field_manager, label};
use dns::Name;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::standing::source_of;
use super::{Claim, StandingServiceRecord, Update, Write, names};
use crate::ObjectKey;

/// What a host's ServiceRecord is made from.
pub(super) struct Wanted<'a> {
    pub(super) host: &'a Name,
    pub(super) key: ObjectKey,
    /// Whether it is beside its sources. An owner in another namespace would count as gone, and take it along (S1).
    pub(super) beside: bool,
    /// The claims that it is for, oldest first.
    pub(super) claims: &'a [&'a Claim],
    /// Whom it is for, those that are not known to be gone among them.
    pub(super) sources: &'a [Source],
    pub(super) endpoints: &'a BTreeSet<Endpoint>,
    /// Whether those whom it belongs to stay, whatever they ask for.
    pub(super) keeps: bool,
}

impl Wanted<'_> {
    /// The write that makes it what it should be, if it is not.
    pub(super) fn write(&self, standing: Option<&StandingServiceRecord>) -> Option<Write> {
        match standing {
            None => Some(Write::CreateServiceRecord(Box::new(self.made()))),
            Some(standing) if standing.deleting => None,
            Some(standing) => self.changed(standing),
        }
    }

    fn made(&self) -> api::ServiceRecord {
        let mut made = api::ServiceRecord::new(&self.key.name, self.spec());
        made.metadata.namespace = Some(self.key.namespace.clone());
        made.metadata.labels = Some(labels(&BTreeMap::new()));
        made.metadata.annotations = Some(self.annotations(&BTreeMap::new()));
        let owners = self.owners(&[]);
        made.metadata.owner_references = (!owners.is_empty()).then_some(owners);
        made
    }

    fn changed(&self, standing: &StandingServiceRecord) -> Option<Write> {
        let update = Update {
            version: standing.version.clone(),
            spec: self.spec(),
            labels: labels(&standing.labels),
            annotations: self.annotations(&standing.annotations),
            owner_references: self.owners(&standing.owner_references),
        };
        let same = standing.spec.as_ref() == Some(&update.spec)
            && standing.labels == update.labels
            && standing.annotations == update.annotations
            && standing.owner_references == update.owner_references;
        (!same).then(|| Write::UpdateServiceRecord(Box::new(update)))
    }

    fn spec(&self) -> ServiceRecordSpec {
        let endpoints = self.endpoints.iter().map(|it| ServiceEndpoint {
            address: shown(&it.target),
            port: it.port.into(),
        });
        ServiceRecordSpec {
            fqdn: names::bare(self.host),
            endpoints: endpoints.collect(),
        }
    }

    /// The annotations of others stay. Those under the peer's prefix follow the oldest source, as the peer has it.
    fn annotations(&self, before: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let others = before.iter();
        let others = others.filter(|it| !it.0.starts_with(annotation::CONNECTIVITY_PREFIX));
        let mut all: BTreeMap<String, String> =
            others.map(|(k, v)| (k.clone(), v.clone())).collect();
        let oldest = self.claims.first();
        all.extend(oldest.iter().flat_map(|it| it.annotations.clone()));
        let port = oldest.map_or(super::source::TLS_PORT, |it| it.port);
        all.insert(annotation::SERVICE_PORT.to_owned(), port.to_string());
        all.insert(annotation::HOST.to_owned(), names::bare(self.host));
        let sources = serde_json::to_string(self.sources).expect("sources are plain data");
        all.insert(annotation::SOURCES.to_owned(), sources);
        all
    }

    fn owners(&self, before: &[OwnerReference]) -> Vec<OwnerReference> {
        let claims = if self.beside { self.claims } else { &[] };
        owners(
            before,
            &self.key.namespace,
            claims,
            self.keeps && self.beside,
        )
    }
}

/// A target as people write it.
pub(super) fn shown(target: &Target) -> String {
    match target {
        Target::Address(address) => address.to_string(),
        Target::Host(host) => names::bare(host),
    }
}

/// Whom an object is to belong to: the sources that it is for, and whoever else it belongs to already.
pub(super) fn owners(
    before: &[OwnerReference],
    namespace: &str,
    claims: &[&Claim],
    keeps: bool,
) -> Vec<OwnerReference> {
    let claims = claims.iter().map(|it| it.source.reference(it.age.uid()));
    let claims: Vec<OwnerReference> = claims.collect();
    let stays =
        |it: &&OwnerReference| keeps || source_of(it, namespace).is_none() || claims.contains(it);
    let mut owners: Vec<OwnerReference> = before.iter().filter(stays).cloned().collect();
    let missing = claims.into_iter().filter(|it| !before.contains(it));
    owners.extend(missing);
    owners
}

fn labels(before: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut all = before.clone();
    // Any value will do: it may have been made by the peer.
    all.entry(label::EXPORT.to_owned()).or_default();
    let ours = field_manager::CONTROLLER.to_owned();
    all.insert(label::MANAGED_BY.to_owned(), ours);
    all
}
