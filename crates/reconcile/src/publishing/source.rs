//! Sources: objects of seven kinds that ask for hosts, read into one shape.
//!
//! A reader per kind fills in a [`Reading`]; what all objects say alike is read here. Readers judge nothing: a host that
//! cannot be published and an address that is none are kept as they are written, so that the source can be told.

mod gateway;
mod http_proxy;
mod ingress;
mod route;
mod service;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use api::parse::fqdn::{self, FqdnError};
use api::parse::target::Target;
use api::service_record::Source;
use api::well_known::{annotation, label};
use api::{Decoded, Reason};
use dns::Name;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ObjectMeta;

use crate::{Age, GatewayKey, ObjectKey};

/// The port of a host that is reached by TLS, and of one that does not say.
pub(super) const TLS_PORT: u16 = 443;

/// The kinds of objects that ask for hosts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum SourceKind {
    /// HTTPProxy of Contour (S1).
    HttpProxy,
    /// Ingress (S8).
    Ingress,
    /// Service of type LoadBalancer (S8).
    Service,
    /// Gateway of the Gateway API (S8).
    Gateway,
    /// HTTPRoute of the Gateway API (S8).
    HttpRoute,
    /// GRPCRoute of the Gateway API (S8).
    GrpcRoute,
    /// TLSRoute of the Gateway API (S8).
    TlsRoute,
}

impl SourceKind {
    /// Every kind.
    pub const ALL: [SourceKind; 7] = [
        SourceKind::HttpProxy,
        SourceKind::Ingress,
        SourceKind::Service,
        SourceKind::Gateway,
        SourceKind::HttpRoute,
        SourceKind::GrpcRoute,
        SourceKind::TlsRoute,
    ];

    /// The API group; empty for the core group.
    pub const fn group(self) -> &'static str {
        match self {
            SourceKind::HttpProxy => "projectcontour.io",
            SourceKind::Ingress => "networking.k8s.io",
            SourceKind::Service => "",
            SourceKind::Gateway
            | SourceKind::HttpRoute
            | SourceKind::GrpcRoute
            | SourceKind::TlsRoute => "gateway.networking.k8s.io",
        }
    }

    /// The version that is read.
    pub const fn version(self) -> &'static str {
        "v1"
    }

    /// The name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            SourceKind::HttpProxy => "HTTPProxy",
            SourceKind::Ingress => "Ingress",
            SourceKind::Service => "Service",
            SourceKind::Gateway => "Gateway",
            SourceKind::HttpRoute => "HTTPRoute",
            SourceKind::GrpcRoute => "GRPCRoute",
            SourceKind::TlsRoute => "TLSRoute",
        }
    }

    /// The name of the kind in paths.
    pub const fn plural(self) -> &'static str {
        match self {
            SourceKind::HttpProxy => "httpproxies",
            SourceKind::Ingress => "ingresses",
            SourceKind::Service => "services",
            SourceKind::Gateway => "gateways",
            SourceKind::HttpRoute => "httproutes",
            SourceKind::GrpcRoute => "grpcroutes",
            SourceKind::TlsRoute => "tlsroutes",
        }
    }

    /// Group and version as objects spell them.
    pub fn api_version(self) -> String {
        match self.group() {
            "" => self.version().to_owned(),
            group => format!("{group}/{}", self.version()),
        }
    }

    /// The kind with this group and name.
    pub fn find(group: &str, kind: &str) -> Option<SourceKind> {
        let mut all = SourceKind::ALL.into_iter();
        all.find(|it| it.group() == group && it.kind() == kind)
    }

    /// Whether a cluster has it only if somebody has installed it.
    pub const fn is_custom(self) -> bool {
        match self {
            SourceKind::Ingress | SourceKind::Service => false,
            SourceKind::HttpProxy
            | SourceKind::Gateway
            | SourceKind::HttpRoute
            | SourceKind::GrpcRoute
            | SourceKind::TlsRoute => true,
        }
    }

    /// Whether its objects take addresses, and perhaps hosts, from Gateways.
    pub(super) const fn is_route(self) -> bool {
        match self {
            SourceKind::HttpRoute | SourceKind::GrpcRoute | SourceKind::TlsRoute => true,
            SourceKind::HttpProxy
            | SourceKind::Ingress
            | SourceKind::Service
            | SourceKind::Gateway => false,
        }
    }

    /// Whether an object without an address is reached where the configured Service or the nodes are (S7). Behind the
    /// other kinds there is something else: an address of somebody else's would be wrong.
    pub(super) const fn borrows_addresses(self) -> bool {
        match self {
            SourceKind::HttpProxy | SourceKind::Ingress => true,
            SourceKind::Service
            | SourceKind::Gateway
            | SourceKind::HttpRoute
            | SourceKind::GrpcRoute
            | SourceKind::TlsRoute => false,
        }
    }
}

/// Which source.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SourceKey {
    /// Its kind.
    pub kind: SourceKind,
    /// Its namespace and name.
    pub key: ObjectKey,
}

impl SourceKey {
    /// A source by kind, namespace and name.
    pub fn new(kind: SourceKind, namespace: &str, name: &str) -> SourceKey {
        SourceKey {
            kind,
            key: ObjectKey::new(namespace, name),
        }
    }

    /// The source that a ServiceRecord names; nothing if no source can be of that kind.
    pub fn of(source: &Source) -> Option<SourceKey> {
        let kind = SourceKind::find(&source.group, &source.kind)?;
        Some(SourceKey::new(kind, &source.namespace, &source.name))
    }

    /// The source as a ServiceRecord names it.
    pub fn named(&self, uid: &str) -> Source {
        Source {
            group: self.kind.group().to_owned(),
            kind: self.kind.kind().to_owned(),
            namespace: self.key.namespace.clone(),
            name: self.key.name.clone(),
            uid: uid.to_owned(),
        }
    }

    /// The source as an object of its namespace names it that is to go with it. Nobody's controller: several may own one.
    pub(super) fn reference(&self, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: self.kind.api_version(),
            kind: self.kind.kind().to_owned(),
            name: self.key.name.clone(),
            uid: uid.to_owned(),
            controller: None,
            block_owner_deletion: None,
        }
    }
}

impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.kind(), self.key)
    }
}

/// An object of a kind that asks for hosts.
pub trait SourceObject: kube::Resource<DynamicType = ()> {
    /// Its kind.
    const KIND: SourceKind;

    /// What it says beside its metadata.
    fn read(&self) -> Reading;
}

/// What a source says beside its metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The hosts that it writes out.
    pub(super) hosts: Vec<Asked>,
    /// Where it is reached.
    pub(super) targets: BTreeSet<Target>,
    /// Addresses that are neither one nor a host.
    pub(super) odd: Vec<String>,
    /// The Gateways of a route.
    pub(super) parents: Vec<Parent>,
    /// The listeners of a Gateway.
    pub(super) listeners: Vec<Listener>,
    /// Why it asks for nothing.
    pub(super) complaints: Vec<(Reason, String)>,
}

/// A host that a source asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// As it is written.
    pub(super) text: String,
    /// The host, or why it is none.
    pub(super) host: Result<Name, FqdnError>,
    /// The port that clients connect to.
    pub(super) port: u16,
}

/// A Gateway that a route attaches to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parent {
    pub(super) gateway: GatewayKey,
    /// One listener of it; nothing: all that fit.
    pub(super) section: Option<String>,
    /// Whether the Gateway lets the route attach, as far as somebody has said.
    pub(super) refused: bool,
}

/// A listener of a Gateway.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listener {
    pub(super) name: String,
    /// Its host; nothing if it has none, or one that cannot be published.
    pub(super) host: Option<Name>,
    /// Whether it takes any host.
    pub(super) any: bool,
    pub(super) port: u16,
}

impl Reading {
    fn ask(&mut self, text: &str, port: u16) {
        let host = fqdn::parse(text);
        let twin = |it: &Asked| it.text == text || (it.host.is_ok() && it.host == host);
        if !self.hosts.iter().any(twin) {
            self.hosts.push(Asked {
                text: text.to_owned(),
                host,
                port,
            });
        }
    }

    /// One entry of a load balancer's status. With both an address and a host it is the address that answers. What stands
    /// where an address should be and is none is no host either: resolvers read `192.0.2` in their own ways.
    fn reach(&mut self, address: Option<&str>, host: Option<&str>) {
        let said = |text: Option<&'_ str>| text.filter(|it| !it.is_empty()).map(str::to_owned);
        match (said(address), said(host)) {
            (Some(text), _) => match text.parse() {
                Ok(address) => {
                    self.targets.insert(Target::Address(address));
                }
                Err(_) => self.odd.push(text),
            },
            (None, Some(text)) => self.lead(&text),
            (None, None) => {}
        }
    }

    /// An address or a host.
    fn lead(&mut self, text: &str) {
        match Target::parse(text) {
            Ok(target) => {
                self.targets.insert(target);
            }
            Err(_) => self.odd.push(text.to_owned()),
        }
    }
}

/// A source as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceNode {
    pub(super) age: Age,
    pub(super) resource_version: Option<String>,
    pub(super) exported: bool,
    pub(super) deleting: bool,
    /// What travels to the ServiceRecord.
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) reading: Reading,
    /// Why its latest state could not be read.
    pub(super) fault: Option<String>,
}

impl SourceNode {
    pub(super) fn read<K: SourceObject>(object: &Decoded<K>) -> SourceNode {
        match object {
            Decoded::Object(object) => SourceNode::of(object.meta(), object.read(), None),
            Decoded::Undecodable(it) => {
                let fault = api::problem::summary(&it.problems);
                SourceNode::of(&it.metadata, Reading::default(), Some(fault))
            }
        }
    }

    fn of(meta: &ObjectMeta, reading: Reading, fault: Option<String>) -> SourceNode {
        let annotations = meta.annotations.iter().flatten();
        let travels = annotations.filter(|it| it.0.starts_with(annotation::CONNECTIVITY_PREFIX));
        let travels = travels.map(|(key, value)| (key.clone(), value.clone()));
        SourceNode {
            age: Age::of(meta),
            resource_version: meta.resource_version.clone(),
            exported: is_exported(meta),
            deleting: meta.deletion_timestamp.is_some(),
            annotations: travels.collect(),
            reading,
            fault,
        }
    }

    /// Whether it may ask for anything: it is to be published, and not on its way out.
    pub(super) fn asks(&self) -> bool {
        self.exported && !self.deleting
    }
}

/// Whether an object has the label that publishes it, whatever its value.
pub(super) fn is_exported(meta: &ObjectMeta) -> bool {
    let labels = meta.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(label::EXPORT))
}

fn port(number: Option<i64>) -> u16 {
    let number = number.and_then(|it| u16::try_from(it).ok());
    number.filter(|it| *it > 0).unwrap_or(TLS_PORT)
}
