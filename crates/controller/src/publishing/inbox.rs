//! From watched objects to the index of exported hosts: what is new, what is gone, and what is known already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use api::well_known::label;
use api::{Decoded, DomainVerification, ServiceRecord};
use k8s_openapi::api::core::v1::{Namespace, Node, Service};
use kube::Resource;
use kube::api::{ApiResource, DynamicObject};
use reconcile::ObjectKey;
use reconcile::publishing::{Hosts, Publishing, SourceKey, SourceKind};

use super::Options;
use super::pass::Written;
use crate::feed::{Event, Fed, Happened, Source, Told, built_in, is_newer, key_of};

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Watched {
    /// Sources of one kind that are exported; of Gateways all, for routes take addresses from them.
    Source(SourceKind),
    /// All of them: a name that somebody else has is not to be had.
    ServiceRecord,
    /// Those that were made for ServiceRecords.
    Record,
    /// The one that stands in for missing addresses.
    EndpointService,
    Node,
    /// Those that prove domains.
    DomainVerification,
    /// A proof is for a namespace as long as it is the same one.
    Namespace,
}

impl Watched {
    /// What to watch, and whether there are proofs to watch for.
    pub(super) fn sources(options: &Options, proofs: bool) -> Vec<Source<Watched>> {
        let mut kinds: Vec<Watched> = SourceKind::ALL.map(Watched::Source).to_vec();
        kinds.extend([Watched::ServiceRecord, Watched::Record]);
        if options.policy.endpoint_service.is_some() {
            kinds.push(Watched::EndpointService);
        }
        if options.policy.node_endpoints {
            kinds.push(Watched::Node);
        }
        if proofs {
            kinds.extend([Watched::DomainVerification, Watched::Namespace]);
        }
        let source = |kind: Watched| Source {
            kind,
            resource: kind.resource(),
            namespaces: kind.namespaces(options),
            fields: kind.fields(options),
            labels: kind.labels(),
        };
        kinds.into_iter().map(source).collect()
    }

    /// The kind, as in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Watched::Source(kind) => kind.kind(),
            Watched::ServiceRecord => "ServiceRecord",
            Watched::Record => "Record",
            Watched::EndpointService => "Service",
            Watched::Node => "Node",
            Watched::DomainVerification => "DomainVerification",
            Watched::Namespace => "Namespace",
        }
    }

    /// Whether a cluster need not have it.
    pub(super) fn is_optional(self) -> bool {
        match self {
            Watched::Source(_) | Watched::Node => true,
            Watched::ServiceRecord
            | Watched::Record
            | Watched::EndpointService
            | Watched::DomainVerification
            | Watched::Namespace => false,
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Watched::Source(kind) => resource(kind),
            Watched::ServiceRecord => ApiResource::erase::<ServiceRecord>(&()),
            Watched::Record => ApiResource::erase::<api::Record>(&()),
            Watched::EndpointService => ApiResource::erase::<Service>(&()),
            Watched::Node => ApiResource::erase::<Node>(&()),
            Watched::DomainVerification => ApiResource::erase::<DomainVerification>(&()),
            Watched::Namespace => ApiResource::erase::<Namespace>(&()),
        }
    }

    /// Where to look. ServiceRecords that are kept in one place are there, wherever sources are.
    fn namespaces(self, options: &Options) -> Vec<String> {
        let namespaces = &options.namespaces;
        match self {
            Watched::Source(_) | Watched::Record | Watched::DomainVerification => {
                namespaces.clone()
            }
            Watched::ServiceRecord => {
                let mut all: BTreeSet<&String> = namespaces.iter().collect();
                if !all.is_empty() {
                    all.insert(&options.policy.namespace);
                }
                all.into_iter().cloned().collect()
            }
            Watched::EndpointService => {
                let service = options.policy.endpoint_service.iter();
                service.map(|it| it.namespace.clone()).collect()
            }
            Watched::Node | Watched::Namespace => Vec::new(),
        }
    }

    fn fields(self, options: &Options) -> Option<String> {
        match self {
            Watched::EndpointService => {
                let service = options.policy.endpoint_service.as_ref()?;
                Some(format!("metadata.name={}", service.name))
            }
            Watched::Source(_)
            | Watched::ServiceRecord
            | Watched::Record
            | Watched::Node
            | Watched::DomainVerification
            | Watched::Namespace => None,
        }
    }

    fn labels(self) -> Option<String> {
        match self {
            Watched::Source(kind) => selector(kind),
            Watched::Record => Some(label::SERVICE_RECORD.to_owned()),
            Watched::ServiceRecord
            | Watched::EndpointService
            | Watched::Node
            | Watched::DomainVerification
            | Watched::Namespace => None,
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watched::Source(kind) => write!(f, "exported {}", kind.kind()),
            Watched::ServiceRecord => f.write_str(self.name()),
            Watched::Record => f.write_str("Record for ServiceRecord"),
            Watched::EndpointService => f.write_str("endpoint Service"),
            Watched::Node | Watched::DomainVerification | Watched::Namespace => {
                write!(f, "{} for ServiceRecord", self.name())
            }
        }
    }
}

/// What the API calls a kind of source.
pub(super) fn resource(kind: SourceKind) -> ApiResource {
    ApiResource {
        group: kind.group().to_owned(),
        version: kind.version().to_owned(),
        api_version: kind.api_version(),
        kind: kind.kind().to_owned(),
        plural: kind.plural().to_owned(),
    }
}

/// Which objects of a kind matter: those that are exported, but every Gateway.
pub(super) fn selector(kind: SourceKind) -> Option<String> {
    (kind != SourceKind::Gateway).then(|| label::EXPORT.to_owned())
}

/// What follows from an event.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The hosts to look at.
    pub(super) hosts: Hosts,
    /// The sources that may have to be told something.
    pub(super) sources: BTreeSet<SourceKey>,
}

impl From<Hosts> for Touched {
    fn from(hosts: Hosts) -> Touched {
        Touched {
            hosts,
            sources: BTreeSet::new(),
        }
    }
}

impl Touched {
    fn extend(&mut self, more: Touched) {
        self.hosts.extend(more.hosts);
        self.sources.extend(more.sources);
    }
}

#[derive(Debug)]
pub(super) struct Inbox {
    told: Told<Watched>,
    /// The version of every object that is known.
    known: BTreeMap<Watched, BTreeMap<ObjectKey, Option<String>>>,
    /// How many watches of each kind have told everything, and how many there are.
    complete: BTreeMap<Watched, (BTreeSet<String>, usize)>,
}

impl Inbox {
    pub(super) fn new(sources: &[Source<Watched>]) -> Inbox {
        let watches = sources.iter().map(|source| {
            let count = source.namespaces.len().max(1);
            (source.kind, (BTreeSet::new(), count))
        });
        Inbox {
            told: Told::new(sources),
            known: BTreeMap::new(),
            complete: watches.collect(),
        }
    }

    /// Whether every watch has told everything once.
    pub(super) fn is_synced(&self) -> bool {
        self.told.is_synced()
    }

    /// Takes in what a watch tells.
    pub(super) fn take_in(&mut self, fed: Fed<Watched>, publishing: &mut Publishing) -> Touched {
        let kind = fed.kind;
        let readable = self.readable(&fed);
        let mut touched = Touched::default();
        let known = &self.known;
        let happened = self.told.take_in(fed, |kind| {
            let known = known.get(kind).into_iter().flatten();
            known.map(|(key, _)| key.clone()).collect()
        });
        for happened in happened {
            touched.extend(match happened {
                Happened::Applied { key, object, anew } => {
                    self.applied(kind, &key, *object, anew, publishing)
                }
                Happened::Gone(key) => self.gone(kind, &key, publishing),
            });
        }
        if let Some(readable) = readable {
            touched.hosts.extend(match kind {
                Watched::Source(kind) => publishing.set_readable(kind, readable),
                Watched::EndpointService | Watched::Node => {
                    let readable = self.is_fallback_complete();
                    publishing.set_fallback_readable(readable)
                }
                Watched::ServiceRecord
                | Watched::Record
                | Watched::DomainVerification
                | Watched::Namespace => Hosts::new(),
            });
        }
        touched
    }

    /// Takes in what a pass has written.
    pub(super) fn written(&mut self, written: Written, publishing: &mut Publishing) -> Touched {
        let mut touched = Touched::default();
        for record in written.service_records {
            let key = key_of(record.meta());
            if self.is_news(Watched::ServiceRecord, &key, &record, false) {
                touched.extend(publishing.apply_service_record(record).into());
            }
        }
        for record in written.records {
            let key = key_of(record.meta());
            if self.is_news(Watched::Record, &key, &record, false) {
                touched.extend(publishing.apply_record(record).into());
            }
        }
        touched
    }

    /// Whether all of a kind is known now, if that is what a watch tells. A kind that a cluster does not have is not waited
    /// for; what is known of it stays (S10).
    fn readable(&mut self, fed: &Fed<Watched>) -> Option<bool> {
        let scope = fed.namespace.as_deref().unwrap_or_default();
        let (complete, watches) = self.complete.get_mut(&fed.kind)?;
        match &fed.event {
            Event::Synced => {
                complete.insert(scope.to_owned());
                Some(complete.len() == *watches)
            }
            Event::Absent | Event::Stalled(_) => {
                complete.remove(scope);
                if fed.kind.is_optional() && matches!(fed.event, Event::Absent) {
                    self.told.waive(&(fed.kind, fed.namespace.clone()));
                }
                Some(false)
            }
            Event::Restarted | Event::Applied(_) | Event::Deleted(_) | Event::Failed(_) => None,
        }
    }

    fn is_fallback_complete(&self) -> bool {
        let fallbacks = [Watched::EndpointService, Watched::Node];
        let watches = fallbacks.iter().filter_map(|it| self.complete.get(it));
        watches
            .into_iter()
            .all(|(complete, all)| complete.len() == *all)
    }

    /// Whether an object is newer than what is known of it. From then on it is known.
    fn is_news(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        object: &impl Resource,
        anew: bool,
    ) -> bool {
        let known = self.known.entry(kind).or_default();
        let told = &object.meta().resource_version;
        let before = known.get(key);
        let news = before.is_none_or(|it| anew || is_newer(it.as_deref(), told.as_deref()));
        if news {
            known.insert(key.clone(), told.clone());
        }
        news
    }

    fn applied(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        object: DynamicObject,
        anew: bool,
        publishing: &mut Publishing,
    ) -> Touched {
        if self.is_news(kind, key, &object, anew) {
            apply(kind, key, object, publishing)
        } else {
            Touched::default()
        }
    }

    fn gone(&mut self, kind: Watched, key: &ObjectKey, publishing: &mut Publishing) -> Touched {
        self.known.entry(kind).or_default().remove(key);
        match kind {
            Watched::Source(kind) => {
                let source = SourceKey {
                    kind,
                    key: key.clone(),
                };
                Touched {
                    hosts: publishing.delete_source(&source),
                    sources: [source].into(),
                }
            }
            Watched::ServiceRecord => publishing.delete_service_record(key).into(),
            Watched::Record => publishing.delete_record(key).into(),
            Watched::EndpointService => publishing.set_endpoint_service(None).into(),
            Watched::Node => publishing.delete_node(&key.name).into(),
            Watched::DomainVerification => publishing.apply_verification(key, None).into(),
            Watched::Namespace => publishing.apply_namespace(&key.name, None).into(),
        }
    }
}

fn apply(
    kind: Watched,
    key: &ObjectKey,
    object: DynamicObject,
    publishing: &mut Publishing,
) -> Touched {
    match kind {
        Watched::Source(kind) => Touched {
            hosts: publishing.apply_object(kind, object).0,
            sources: [SourceKey {
                kind,
                key: key.clone(),
            }]
            .into(),
        },
        Watched::ServiceRecord => {
            let object = Decoded::of_parts(object.metadata, object.data);
            publishing.apply_service_record(object).into()
        }
        Watched::Record => {
            let object = Decoded::of_parts(object.metadata, object.data);
            publishing.apply_record(object).into()
        }
        Watched::EndpointService => {
            let service = built_in::<Service>(object);
            service.map_or_else(Touched::default, |service| {
                publishing.set_endpoint_service(Some(&service)).into()
            })
        }
        Watched::Node => {
            let node = built_in::<Node>(object);
            node.map_or_else(Touched::default, |node| publishing.apply_node(&node).into())
        }
        Watched::DomainVerification => {
            let object = Decoded::of_parts(object.metadata, object.data);
            publishing.apply_verification(key, Some(object)).into()
        }
        Watched::Namespace => {
            let uid = object.metadata.uid.as_deref();
            publishing.apply_namespace(&key.name, uid).into()
        }
    }
}
