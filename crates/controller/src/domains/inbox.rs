//! From watched objects to the index of domains: what is new, what is gone, and what is known already.

use std::collections::BTreeMap;
use std::fmt;

use api::well_known::label;
use api::{Decoded, DomainVerification, ZoneKey};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::networking::v1::Ingress;
use kube::Resource as _;
use kube::api::{ApiResource, DynamicObject};
use reconcile::ObjectKey;
use reconcile::domains::{Domains, Touched};
use serde_json::Value;

use super::pass::{Object, Written};
use crate::feed::{Fed, Happened, Source, Told, is_newer, key_of};

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Watched {
    Ingress,
    DomainVerification,
    Namespace,
    /// Where managed hosts are published.
    Zone,
    /// Those of managed hosts.
    Record,
}

impl Watched {
    const ALL: [Watched; 5] = [
        Watched::Ingress,
        Watched::DomainVerification,
        Watched::Namespace,
        Watched::Zone,
        Watched::Record,
    ];

    /// What to watch, in some namespaces or everywhere.
    pub(super) fn sources(namespaces: &[String]) -> Vec<Source<Watched>> {
        let source = |kind: Watched| Source {
            kind,
            resource: kind.resource(),
            namespaces: kind.narrowed(namespaces),
            fields: None,
            labels: (kind == Watched::Record).then(|| label::MANAGED_HOST.to_owned()),
        };
        Watched::ALL.into_iter().map(source).collect()
    }

    /// The kind, as in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Watched::Ingress => "Ingress",
            Watched::DomainVerification => "DomainVerification",
            Watched::Namespace => "Namespace",
            Watched::Zone => "Zone",
            Watched::Record => "Record",
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Watched::Ingress => ApiResource::erase::<Ingress>(&()),
            Watched::DomainVerification => ApiResource::erase::<DomainVerification>(&()),
            Watched::Namespace => ApiResource::erase::<Namespace>(&()),
            Watched::Zone => ApiResource::erase::<api::Zone>(&()),
            Watched::Record => ApiResource::erase::<api::Record>(&()),
        }
    }

    /// Namespaces are in no namespace, and the managed domain's Zone is in the operator's.
    fn narrowed(self, namespaces: &[String]) -> Vec<String> {
        match self {
            Watched::Ingress | Watched::DomainVerification => namespaces.to_vec(),
            Watched::Namespace | Watched::Zone | Watched::Record => Vec::new(),
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for custom domains", self.name())
    }
}

#[derive(Debug)]
pub(super) struct Inbox {
    told: Told<Watched>,
    /// The versions of what is known, of the kinds that are written here.
    versions: BTreeMap<(Watched, ObjectKey), String>,
}

impl Inbox {
    pub(super) fn new(sources: &[Source<Watched>]) -> Inbox {
        Inbox {
            told: Told::new(sources),
            versions: BTreeMap::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(super) fn is_synced(&self) -> bool {
        self.told.is_synced()
    }

    /// Takes in what a watch tells.
    pub(super) fn take_in(
        &mut self,
        fed: Fed<Watched>,
        domains: &mut Domains,
        now: Timestamp,
    ) -> Touched {
        let kind = fed.kind;
        let mut touched = Touched::new();
        for happened in self.told.take_in(fed, |kind| known(*kind, domains)) {
            touched.extend(match happened {
                Happened::Applied { key, object, anew } => {
                    let version = object.metadata.resource_version.as_deref();
                    let known = self.versions.get(&(kind, key.clone()));
                    if !anew && !is_newer(known.map(String::as_str), version) {
                        continue;
                    }
                    self.apply(kind, &key, *object, domains, now)
                }
                Happened::Gone(key) => self.delete(kind, &key, domains, now),
            });
        }
        touched
    }

    /// Takes in what a pass has written. What is gone meanwhile does not come back.
    pub(super) fn written(
        &mut self,
        written: Vec<Written>,
        domains: &mut Domains,
        now: Timestamp,
    ) -> Touched {
        let mut touched = Touched::new();
        for Written { object, created } in written {
            let (kind, metadata) = match &object {
                Object::Ingress(object) => (Watched::Ingress, &object.metadata),
                Object::Verification(object) => (Watched::DomainVerification, object.meta()),
                Object::Record(object) => (Watched::Record, object.meta()),
            };
            let key = key_of(metadata);
            let known = self.versions.get(&(kind, key.clone()));
            let gone = known.is_none() && !created;
            let version = metadata.resource_version.as_deref();
            if gone || !is_newer(known.map(String::as_str), version) {
                continue;
            }
            self.note(kind, &key, version);
            touched.extend(match object {
                Object::Ingress(object) => domains.apply_ingress(&key, Some(whole(object)), now),
                Object::Verification(object) => domains.apply_verification(&key, Some(object)),
                Object::Record(object) => domains.apply_record(&key, Some(object), now),
            });
        }
        touched
    }

    fn note(&mut self, kind: Watched, key: &ObjectKey, version: Option<&str>) {
        if let Some(version) = version {
            self.versions
                .insert((kind, key.clone()), version.to_owned());
        }
    }

    fn apply(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        object: DynamicObject,
        domains: &mut Domains,
        now: Timestamp,
    ) -> Touched {
        self.note(kind, key, object.metadata.resource_version.as_deref());
        match kind {
            Watched::Ingress => domains.apply_ingress(key, Some(whole(object)), now),
            Watched::DomainVerification => {
                let object = Decoded::of_parts(object.metadata, object.data);
                domains.apply_verification(key, Some(object))
            }
            Watched::Namespace => {
                let uid = object.metadata.uid.as_deref();
                domains.apply_namespace(&key.name, uid, now)
            }
            Watched::Zone => {
                let zone = Decoded::of_parts(object.metadata, object.data);
                let zone = zone.into_result().ok();
                domains.apply_zone(&ZoneKey::new(&key.namespace, &key.name), zone.as_ref())
            }
            Watched::Record => {
                let record = Decoded::of_parts(object.metadata, object.data);
                domains.apply_record(key, Some(record), now)
            }
        }
    }

    fn delete(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        domains: &mut Domains,
        now: Timestamp,
    ) -> Touched {
        self.versions.remove(&(kind, key.clone()));
        match kind {
            Watched::Ingress => domains.apply_ingress(key, None, now),
            Watched::DomainVerification => domains.apply_verification(key, None),
            Watched::Namespace => domains.apply_namespace(&key.name, None, now),
            Watched::Zone => domains.apply_zone(&ZoneKey::new(&key.namespace, &key.name), None),
            Watched::Record => domains.apply_record(key, None, now),
        }
    }
}

/// An Ingress as it is written back. Who manages which field is not sent along: then it stays as it is.
fn whole(mut object: DynamicObject) -> Value {
    object.metadata.managed_fields = None;
    let types = kube::core::TypeMeta::resource::<Ingress>();
    object.types = Some(types);
    serde_json::to_value(object).unwrap_or_default()
}

/// The objects of a kind that are known.
fn known(kind: Watched, domains: &Domains) -> Vec<ObjectKey> {
    match kind {
        Watched::Ingress => domains.ingresses().cloned().collect(),
        Watched::DomainVerification => domains.verifications().cloned().collect(),
        Watched::Namespace => {
            let names = domains.namespaces();
            names.map(|name| ObjectKey::new("", name)).collect()
        }
        Watched::Zone => {
            let zones = domains.zones();
            zones
                .map(|zone| ObjectKey::new(&zone.namespace, &zone.name))
                .collect()
        }
        Watched::Record => domains.records().cloned().collect(),
    }
}
