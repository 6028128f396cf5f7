//! Every source, ServiceRecord and Record, indexed: which hosts a change concerns, and a view of each.
//!
//! A source concerns the hosts that it asks for, has asked for, and is named at; a Gateway those of its routes too; what
//! stands for a host concerns that host, those that wait for it to be published, and if it is a wildcard that changes
//! hands, those below it; a domain that was proven those below it. The Service or the nodes that stand in for missing addresses concern the sources without any.

mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::foreign::{Gateway, GrpcRoute, HttpProxy, HttpRoute, TlsRoute};
use api::parse::fqdn;
use api::parse::target::Target;
use api::{Decoded, DomainVerification};
use dns::Name;
use k8s_openapi::api::core::v1::{Node, Service};
use k8s_openapi::api::networking::v1::Ingress;
use kube::core::DynamicObject;
use serde::de::DeserializeOwned;

use super::holdings::Holdings;
use super::source::SourceNode;
use super::sources::Sources;
use super::{
    Note, SourceKey, SourceKind, SourceObject, StandingRecord, StandingServiceRecord, nodes, note,
};
use crate::domains::Proofs;
use crate::{ObjectKey, RecordKey};

/// The hosts that a change concerns.
pub type Hosts = BTreeSet<Name>;

/// What the installation wants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    /// The namespace of ServiceRecords that are kept in one place. Known wherever they are put: those from before a
    /// change of the placement are found there, and nobody but us writes there.
    pub namespace: String,
    /// Where ServiceRecords are put.
    pub placement: Placement,
    /// The Service whose addresses stand in for missing ones.
    pub endpoint_service: Option<ObjectKey>,
    /// Whether the addresses of nodes stand in, where that Service has none either.
    pub node_endpoints: bool,
}

/// Where ServiceRecords are put.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Placement {
    /// All in one namespace.
    Central,
    /// Each beside its sources.
    Source,
}

/// Every source, ServiceRecord and Record, and what bears on them.
#[derive(Debug)]
pub struct Publishing {
    policy: Policy,
    /// Who has proven which domains; nothing, where nobody can.
    proofs: Option<Proofs>,
    sources: Sources,
    holdings: Holdings,
    /// Where the Service that stands in for missing addresses is reached.
    service: BTreeSet<Target>,
    /// Where each node is reached.
    nodes: BTreeMap<String, BTreeSet<Target>>,
    /// The kinds of which everything is known.
    readable: BTreeSet<SourceKind>,
    /// Whether everything is known that stands in for missing addresses.
    fallback_readable: bool,
    /// The namespaces that hold each wildcard, as those below it know them.
    wildcards: BTreeMap<Name, BTreeSet<String>>,
    /// Since when hosts have had no address.
    lapsing: BTreeMap<Name, Duration>,
}

impl Publishing {
    /// An index of nothing. Until told otherwise no kind can be read, so that nothing is removed before everything has been
    /// listed once. A host should not be looked at before that: the oldest claim on it may be the last that is heard of.
    pub fn new(policy: Policy, proofs: Option<Proofs>) -> Publishing {
        Publishing {
            policy,
            proofs,
            sources: Sources::default(),
            holdings: Holdings::default(),
            service: BTreeSet::new(),
            nodes: BTreeMap::new(),
            readable: BTreeSet::new(),
            fallback_readable: false,
            wildcards: BTreeMap::new(),
            lapsing: BTreeMap::new(),
        }
    }

    /// Every host that somebody asks for, or for which something stands.
    pub fn hosts(&self) -> Hosts {
        let asked = self.sources.hosts();
        asked.chain(self.holdings.hosts()).cloned().collect()
    }

    /// Every source that is known, and every Gateway.
    pub fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        self.sources.keys()
    }

    /// The version of a source that is known.
    pub fn source_version(&self, key: &SourceKey) -> Option<&str> {
        self.sources.node(key)?.resource_version.as_deref()
    }

    /// A ServiceRecord of ours.
    pub fn service_record(&self, key: &ObjectKey) -> Option<&StandingServiceRecord> {
        self.holdings.service_record(key)
    }

    /// A Record of ours.
    pub fn record(&self, key: &RecordKey) -> Option<&StandingRecord> {
        self.holdings.record(key)
    }

    /// What a source is to be told that has nothing to do with who else asks for its hosts.
    pub fn troubles(&self, key: &SourceKey) -> Vec<Note> {
        let node = self.sources.node(key);
        node.map_or_else(Vec::new, |node| note::troubles(key, node))
    }

    /// A source as it is now.
    pub fn apply_source<K: SourceObject>(&mut self, object: &Decoded<K>) -> Hosts {
        use kube::Resource as _;
        let meta = object.meta();
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        let key = SourceKey::new(K::KIND, namespace, name);
        let node = SourceNode::read(object);
        let touched = self.sources.apply(&key, node);
        self.concerned_by_source(&key, touched)
    }

    /// A source of a kind as it is now. The hosts concerned, and whether it could be read.
    pub fn apply_object(&mut self, kind: SourceKind, object: DynamicObject) -> (Hosts, bool) {
        match kind {
            SourceKind::HttpProxy => self.apply_as::<HttpProxy>(object),
            SourceKind::Ingress => self.apply_as::<Ingress>(object),
            SourceKind::Service => self.apply_as::<Service>(object),
            SourceKind::Gateway => self.apply_as::<Gateway>(object),
            SourceKind::HttpRoute => self.apply_as::<HttpRoute>(object),
            SourceKind::GrpcRoute => self.apply_as::<GrpcRoute>(object),
            SourceKind::TlsRoute => self.apply_as::<TlsRoute>(object),
        }
    }

    fn apply_as<K: SourceObject + DeserializeOwned>(
        &mut self,
        object: DynamicObject,
    ) -> (Hosts, bool) {
        let object = Decoded::<K>::of_parts(object.metadata, object.data);
        let hosts = self.apply_source(&object);
        (hosts, matches!(object, Decoded::Object(_)))
    }

    /// A source is gone, or no longer among those that are watched.
    pub fn delete_source(&mut self, key: &SourceKey) -> Hosts {
        let touched = self.sources.delete(key);
        self.concerned_by_source(key, touched)
    }

    /// A ServiceRecord as it is now, whoever made it.
    pub fn apply_service_record(&mut self, object: Decoded<api::ServiceRecord>) -> Hosts {
        let central = self.policy.namespace.clone();
        self.change(|holdings| holdings.apply_service_record(object, &central))
    }

    /// A ServiceRecord is gone.
    pub fn delete_service_record(&mut self, key: &ObjectKey) -> Hosts {
        self.change(|holdings| holdings.delete_service_record(key))
    }

    /// A Record as it is now, whoever made it.
    pub fn apply_record(&mut self, object: Decoded<api::Record>) -> Hosts {
        self.change(|holdings| holdings.apply_record(object))
    }

    /// A Record is gone.
    pub fn delete_record(&mut self, key: &RecordKey) -> Hosts {
        self.change(|holdings| holdings.delete_record(key))
    }

    /// A DomainVerification as it is now; nothing, if it is gone.
    pub fn apply_verification(
        &mut self,
        key: &ObjectKey,
        object: Option<Decoded<DomainVerification>>,
    ) -> Hosts {
        let proofs = self.proofs.as_mut();
        let domains = proofs.map(|it| it.apply_verification(key, object));
        self.concerned_by_proofs(&key.namespace, &domains.unwrap_or_default())
    }

    /// A namespace as it is now; nothing, if it is gone.
    pub fn apply_namespace(&mut self, name: &str, uid: Option<&str>) -> Hosts {
        let proofs = self.proofs.as_mut();
        let domains = proofs.map(|it| it.apply_namespace(name, uid));
        self.concerned_by_proofs(name, &domains.unwrap_or_default())
    }

    /// The Service that stands in for missing addresses, as it is now; nothing if it is gone.
    pub fn set_endpoint_service(&mut self, service: Option<&Service>) -> Hosts {
        let targets = service.map(|it| it.read().targets);
        self.service = targets.unwrap_or_default();
        self.refresh_fallback()
    }

    /// A node as it is now.
    pub fn apply_node(&mut self, node: &Node) -> Hosts {
        let name = node.metadata.name.clone().unwrap_or_default();
        let targets = nodes::targets(node);
        let before = self.nodes.insert(name, targets.clone());
        if before.unwrap_or_default() == targets {
            return Hosts::new();
        }
        self.refresh_fallback()
    }

    /// A node is gone.
    pub fn delete_node(&mut self, name: &str) -> Hosts {
        self.nodes.remove(name);
        self.refresh_fallback()
    }

    /// Whether every object of a kind is known: the kind is installed, and the watch on it is complete (S10).
    pub fn set_readable(&mut self, kind: SourceKind, readable: bool) -> Hosts {
        let changed = if readable {
            self.readable.insert(kind)
        } else {
            self.readable.remove(&kind)
        };
        if !changed {
            return Hosts::new();
        }
        let mut touched = self.holdings.named_by_kind(kind);
        touched.extend(self.holdings.anonymous_hosts().cloned());
        match kind {
            SourceKind::Gateway => {
                touched.append(&mut self.sources.route_hosts());
                for kind in SourceKind::ALL.into_iter().filter(|it| it.is_route()) {
                    touched.append(&mut self.holdings.named_by_kind(kind));
                }
            }
            SourceKind::HttpProxy
            | SourceKind::Ingress
            | SourceKind::Service
            | SourceKind::HttpRoute
            | SourceKind::GrpcRoute
            | SourceKind::TlsRoute => {}
        }
        self.with_waiting(touched)
    }

    /// Whether the Service and the nodes that stand in for missing addresses are known.
    pub fn set_fallback_readable(&mut self, readable: bool) -> Hosts {
        let before = std::mem::replace(&mut self.fallback_readable, readable);
        if before == readable {
            return Hosts::new();
        }
        self.concerned_by_fallback()
    }

    /// Remembers since when a host has had no address.
    pub fn passed(&mut self, host: &Name, lapsing: Option<Duration>) {
        match lapsing {
            Some(since) => self.lapsing.insert(host.clone(), since),
            None => self.lapsing.remove(host),
        };
    }

    fn refresh_fallback(&mut self) -> Hosts {
        let mut targets = self.service.clone();
        if targets.is_empty() && self.policy.node_endpoints {
            targets = self.nodes.values().flatten().cloned().collect();
        }
        if self.sources.set_fallback(targets) {
            self.concerned_by_fallback()
        } else {
            Hosts::new()
        }
    }

    /// Whom it concerns where sources without an address of their own are reached.
    fn concerned_by_fallback(&self) -> Hosts {
        let mut concerned = self.with_waiting(self.sources.bare_hosts());
        concerned.extend(self.sources.bare().flat_map(|it| self.left_by(it)));
        concerned
    }

    /// Whom it concerns that a namespace has proven domains, or no longer has: the hosts below that it asks
    /// for, or has, if anybody asks for them.
    fn concerned_by_proofs(&self, namespace: &str, domains: &BTreeSet<Name>) -> Hosts {
        let below = domains.iter();
        let below = below.flat_map(|domain| self.sources.hosts_below(domain));
        let concerned = below.filter(|host| {
            let own = |it: &SourceKey| it.key.namespace == namespace;
            self.sources.claimants(host).any(own) || self.named(host).keys().any(own)
        });
        self.with_waiting(concerned.cloned().collect())
    }

    /// Whom a source concerns, beside the hosts that it asks for in another way.
    fn concerned_by_source(&self, key: &SourceKey, touched: Hosts) -> Hosts {
        let mut concerned = self.with_waiting(touched);
        concerned.append(&mut self.holdings.named_by(key));
        if key.kind == SourceKind::Gateway {
            let routes = self.sources.routes(&key.key);
            concerned.extend(routes.flat_map(|it| self.left_by(it)));
        }
        concerned
    }

    /// Changes what stands, and tells whom that concerns.
    fn change(&mut self, change: impl FnOnce(&mut Holdings) -> Hosts) -> Hosts {
        let mut touched = change(&mut self.holdings);
        let wildcards: Vec<Name> = touched
            .iter()
            .filter(|it| it.is_wildcard())
            .cloned()
            .collect();
        for wildcard in wildcards {
            let holders = self.holdings.holders(&wildcard);
            let top = fqdn::base(&wildcard);
            let before = if holders.is_empty() {
                self.wildcards.remove(&wildcard)
            } else {
                self.wildcards.insert(wildcard, holders.clone())
            };
            if before.unwrap_or_default() != holders {
                touched.extend(self.sources.hosts_below(&top).cloned());
            }
        }
        self.with_waiting(touched)
    }

    /// Hosts, and those that are kept until these are published.
    fn with_waiting(&self, hosts: Hosts) -> Hosts {
        let sources = hosts.iter().flat_map(|host| self.sources.claimants(host));
        let sources: BTreeSet<&SourceKey> = sources.collect();
        let waiting: Vec<Name> = sources
            .into_iter()
            .flat_map(|it| self.left_by(it))
            .collect();
        hosts.into_iter().chain(waiting).collect()
    }

    /// The hosts that a source is named at and no longer asks for.
    fn left_by(&self, source: &SourceKey) -> impl Iterator<Item = Name> + use<> {
        let asked: Hosts = self.sources.hosts_of(source).cloned().collect();
        let named = self.holdings.named_by(source).into_iter();
        named.filter(move |host| !asked.contains(host))
    }
}
