//! From watched objects to the index of DNSRecords: what is new, what is gone, and what is known already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use api::Decoded;
use api::parse::provider_secret::ProviderKind;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Resource as _;
use kube::api::{ApiResource, DynamicObject};
use reconcile::{DnsRecordKey, Hosting, ObjectKey};
use tokio::sync::Notify;

use crate::feed::{Fed, Happened, Source, Told, built_in, is_newer};

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Watched {
    DnsRecord,
    DnsHealthCheckProbe,
    /// Secrets of one type.
    Secret(&'static str),
    Namespace,
}

impl Watched {
    /// What to watch, in some namespaces or everywhere.
    pub(super) fn sources(namespaces: &[String]) -> Vec<Source<Watched>> {
        // One watch for each type, so that no other Secret is ever seen.
        let secrets = ProviderKind::ALL.map(|kind| Watched::Secret(kind.secret_type()));
        let kinds = [
            Watched::DnsRecord,
            Watched::DnsHealthCheckProbe,
            Watched::Namespace,
        ];
        let kinds = kinds.into_iter().chain(secrets);
        let source = |kind: Watched| Source {
            kind,
            resource: kind.resource(),
            namespaces: kind.narrowed(namespaces),
            fields: kind.fields(),
            labels: None,
        };
        kinds.map(source).collect()
    }

    /// The kind, as in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Watched::DnsRecord => "DNSRecord",
            Watched::DnsHealthCheckProbe => "DNSHealthCheckProbe",
            Watched::Secret(_) => "Secret",
            Watched::Namespace => "Namespace",
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Watched::DnsRecord => ApiResource::erase::<api::DnsRecord>(&()),
            Watched::DnsHealthCheckProbe => ApiResource::erase::<api::DnsHealthCheckProbe>(&()),
            Watched::Secret(_) => ApiResource::erase::<Secret>(&()),
            Watched::Namespace => ApiResource::erase::<Namespace>(&()),
        }
    }

    /// Namespaces are in no namespace.
    fn narrowed(self, namespaces: &[String]) -> Vec<String> {
        match self {
            Watched::DnsRecord | Watched::DnsHealthCheckProbe | Watched::Secret(_) => {
                namespaces.to_vec()
            }
            Watched::Namespace => Vec::new(),
        }
    }

    fn fields(self) -> Option<String> {
        match self {
            Watched::Secret(type_) => Some(format!("type={type_}")),
            Watched::DnsRecord | Watched::DnsHealthCheckProbe | Watched::Namespace => None,
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watched::Secret(type_) => write!(f, "Secret of type {type_}"),
            Watched::DnsRecord | Watched::DnsHealthCheckProbe | Watched::Namespace => {
                f.write_str(self.name())
            }
        }
    }
}

/// What follows from an event.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The records to look at.
    pub(super) keys: BTreeSet<DnsRecordKey>,
    /// The records that are gone.
    pub(super) gone: Vec<DnsRecordKey>,
}

#[derive(Debug)]
pub(super) struct Inbox {
    told: Told<Watched>,
    /// Records that a pass is under way over.
    passing: BTreeMap<DnsRecordKey, Passing>,
}

/// A pass that is under way.
#[derive(Debug)]
struct Passing {
    /// What it is over.
    generation: Option<i64>,
    /// What was last watched since it began. It waits until the pass has told what it wrote: what we have done ourselves
    /// is known before it is watched.
    later: Option<Box<DynamicObject>>,
    /// Told when the record is no longer what the pass is over.
    changed: Arc<Notify>,
}

impl Passing {
    fn watched(&mut self, object: Box<DynamicObject>) {
        let metadata = &object.metadata;
        if metadata.generation != self.generation || metadata.deletion_timestamp.is_some() {
            self.changed.notify_one();
        }
        self.later = Some(object);
    }

    fn gone(&mut self) {
        self.changed.notify_one();
        self.later = None;
    }
}

impl Inbox {
    pub(super) fn new(sources: &[Source<Watched>]) -> Inbox {
        Inbox {
            told: Told::new(sources),
            passing: BTreeMap::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(super) fn is_synced(&self) -> bool {
        self.told.is_synced()
    }

    /// Takes in what a watch tells, `now` after the process began.
    pub(super) fn take_in(
        &mut self,
        fed: Fed<Watched>,
        hosting: &mut Hosting,
        now: Duration,
    ) -> Touched {
        let kind = fed.kind;
        let mut touched = Touched::default();
        for happened in self.told.take_in(fed, |kind| known(*kind, hosting)) {
            match happened {
                Happened::Applied { key, object, anew } => match self.passing.get_mut(&key) {
                    Some(passing) if kind == Watched::DnsRecord => passing.watched(object),
                    Some(_) | None => apply(kind, &key, *object, anew, hosting, &mut touched),
                },
                Happened::Gone(key) => self.delete(kind, &key, hosting, now, &mut touched),
            }
        }
        touched
    }

    /// A pass over a record begins. It is told when the record has changed meanwhile.
    pub(super) fn begin(&mut self, key: &DnsRecordKey, generation: Option<i64>) -> Arc<Notify> {
        let changed = Arc::new(Notify::new());
        let passing = Passing {
            generation,
            later: None,
            changed: Arc::clone(&changed),
        };
        self.passing.insert(key.clone(), passing);
        changed
    }

    /// A pass has ended: takes in what it has written, from which nothing follows, and then what was watched meanwhile.
    pub(super) fn end(
        &mut self,
        key: &DnsRecordKey,
        written: Option<Decoded<api::DnsRecord>>,
        hosting: &mut Hosting,
    ) -> Touched {
        let known = hosting.resource_version(key);
        // What is gone meanwhile does not come back.
        let newer = written.filter(|object| {
            known.is_some() && is_newer(known, object.meta().resource_version.as_deref())
        });
        if let Some(object) = newer {
            hosting.written(key, object);
        }
        let mut touched = Touched::default();
        if let Some(later) = self.passing.remove(key).and_then(|it| it.later) {
            apply(
                Watched::DnsRecord,
                key,
                *later,
                false,
                hosting,
                &mut touched,
            );
        }
        touched
    }

    fn delete(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        hosting: &mut Hosting,
        now: Duration,
        touched: &mut Touched,
    ) {
        match kind {
            Watched::DnsRecord => {
                if let Some(passing) = self.passing.get_mut(key) {
                    passing.gone();
                }
                hosting.delete_record(key);
                touched.gone.push(key.clone());
            }
            Watched::DnsHealthCheckProbe => touched.keys.extend(hosting.delete_probe(key)),
            Watched::Secret(type_) => {
                touched.keys.extend(hosting.delete_secret(key, type_, now));
            }
            Watched::Namespace => {
                let keys = hosting.apply_namespace(&key.name, None);
                touched.keys.extend(keys);
            }
        }
    }
}

fn apply(
    kind: Watched,
    key: &ObjectKey,
    object: DynamicObject,
    anew: bool,
    hosting: &mut Hosting,
    touched: &mut Touched,
) {
    match kind {
        Watched::DnsRecord => {
            let known = hosting.resource_version(key);
            let told = object.metadata.resource_version.as_deref();
            if anew || known.is_none() || is_newer(known, told) {
                let object = Decoded::of_parts(object.metadata, object.data);
                touched.keys.extend(hosting.apply_record(key, object));
            }
        }
        Watched::DnsHealthCheckProbe => {
            let object = Decoded::of_parts(object.metadata, object.data);
            touched.keys.extend(hosting.apply_probe(key, object));
        }
        Watched::Secret(_) => {
            if let Some(secret) = built_in::<Secret>(object) {
                touched.keys.extend(hosting.apply_secret(key, &secret));
            }
        }
        Watched::Namespace => {
            let namespace = built_in::<Namespace>(object);
            let keys = hosting.apply_namespace(&key.name, namespace.as_ref());
            touched.keys.extend(keys);
        }
    }
}

/// The objects of a kind that are known.
fn known(kind: Watched, hosting: &Hosting) -> Vec<ObjectKey> {
    match kind {
        Watched::DnsRecord => hosting.keys().cloned().collect(),
        Watched::DnsHealthCheckProbe => hosting.probes().cloned().collect(),
        Watched::Secret(type_) => hosting.secrets(type_).cloned().collect(),
        Watched::Namespace => {
            let namespaces = hosting.namespaces();
            namespaces.map(|name| ObjectKey::new("", name)).collect()
        }
    }
}
