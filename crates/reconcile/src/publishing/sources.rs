//! Sources, the hosts that they ask for, and where those are reached.

use std::collections::{BTreeMap, BTreeSet};

use api::parse::target::Target;
use dns::Name;

use super::source::{Listener, Parent, SourceNode};
use super::{Claim, SourceKey, SourceKind};
use crate::{GatewayKey, ObjectKey};

/// Every source.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The exported ones, and every Gateway: its routes need it.
    nodes: BTreeMap<SourceKey, SourceNode>,
    /// What each asks for, with the addresses that are its own.
    claims: BTreeMap<SourceKey, BTreeMap<Name, Claim>>,
    /// Who asks for a host.
    claimants: BTreeMap<Name, BTreeSet<SourceKey>>,
    /// Routes by the Gateways that they name.
    attached: BTreeMap<GatewayKey, BTreeSet<SourceKey>>,
    /// Those without an address of their own that take that of the configured Service or the nodes.
    bare: BTreeSet<SourceKey>,
    /// Where these are reached.
    fallback: BTreeSet<Target>,
}

impl Sources {
    /// A source as it is now. The hosts that are asked for in another way.
    pub(super) fn apply(&mut self, key: &SourceKey, mut node: SourceNode) -> BTreeSet<Name> {
        let before = self.nodes.remove(key);
        if !node.exported && key.kind != SourceKind::Gateway {
            return self.forget(key, before.as_ref());
        }
        // What could not be read asks for what it asked for.
        if let Some(before) = before.as_ref().filter(|_| node.fault.is_some()) {
            node.reading = before.reading.clone();
        }
        self.detach(key, before.as_ref());
        for parent in &node.reading.parents {
            let routes = self.attached.entry(parent.gateway.clone()).or_default();
            routes.insert(key.clone());
        }
        self.nodes.insert(key.clone(), node);
        self.resolve_all(key)
    }

    /// A source is gone.
    pub(super) fn delete(&mut self, key: &SourceKey) -> BTreeSet<Name> {
        let before = self.nodes.remove(key);
        self.forget(key, before.as_ref())
    }

    /// Where sources without an address of their own are reached now. Whether that is news.
    pub(super) fn set_fallback(&mut self, targets: BTreeSet<Target>) -> bool {
        let before = std::mem::replace(&mut self.fallback, targets);
        before != self.fallback
    }

    /// The hosts of sources that have no address of their own.
    pub(super) fn bare_hosts(&self) -> BTreeSet<Name> {
        let bare = self.bare.iter().filter_map(|key| self.claims.get(key));
        bare.flat_map(|hosts| hosts.keys().cloned()).collect()
    }

    /// The sources that have no address of their own, and take that of others.
    pub(super) fn bare(&self) -> impl Iterator<Item = &SourceKey> {
        self.bare.iter()
    }

    /// The routes that name a Gateway.
    pub(super) fn routes(&self, gateway: &GatewayKey) -> impl Iterator<Item = &SourceKey> {
        self.attached.get(gateway).into_iter().flatten()
    }

    /// The hosts of routes.
    pub(super) fn route_hosts(&self) -> BTreeSet<Name> {
        let routes = self
            .claims
            .range(SourceKey::new(SourceKind::HttpRoute, "", "")..);
        routes
            .flat_map(|(_, hosts)| hosts.keys().cloned())
            .collect()
    }

    /// Every host that somebody asks for.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &Name> {
        self.claimants.keys()
    }

    /// Every source.
    pub(super) fn keys(&self) -> impl Iterator<Item = &SourceKey> {
        self.nodes.keys()
    }

    /// The hosts at and below a name that somebody asks for.
    pub(super) fn hosts_below<'a>(&'a self, top: &'a Name) -> impl Iterator<Item = &'a Name> {
        let from = self.claimants.range(top.clone()..);
        let below = from.take_while(|(host, _)| host.is_at_or_below(top));
        below.map(|(host, _)| host)
    }

    /// One source.
    pub(super) fn node(&self, key: &SourceKey) -> Option<&SourceNode> {
        self.nodes.get(key)
    }

    /// Who asks for a host.
    pub(super) fn claimants(&self, host: &Name) -> impl Iterator<Item = &SourceKey> {
        self.claimants.get(host).into_iter().flatten()
    }

    /// The hosts that a source asks for.
    pub(super) fn hosts_of(&self, key: &SourceKey) -> impl Iterator<Item = &Name> {
        self.claims.get(key).into_iter().flat_map(BTreeMap::keys)
    }

    /// What a source asks for at a host, reached where that is known to be.
    pub(super) fn claim(&self, key: &SourceKey, host: &Name) -> Option<Claim> {
        let claim = self.claims.get(key)?.get(host)?.clone();
        Some(self.reached(claim, host))
    }

    /// What a source would ask for at a host if it still did, by what it asks for elsewhere.
    pub(super) fn former_claim(&self, key: &SourceKey, host: &Name) -> Option<Claim> {
        let node = self.nodes.get(key)?;
        let elsewhere = self.claims.get(key).and_then(|it| it.first_key_value());
        let port = elsewhere.map_or(super::source::TLS_PORT, |(_, claim)| claim.port);
        Some(self.reached(self.claim_of(key, node, host, port), host))
    }

    fn reached(&self, mut claim: Claim, host: &Name) -> Claim {
        if self.bare.contains(&claim.source) {
            claim.targets.clone_from(&self.fallback);
            claim.targets.remove(&Target::Host(host.clone()));
        }
        claim
    }

    /// What everybody asks for at a host, the oldest first.
    pub(super) fn claims(&self, host: &Name) -> Vec<Claim> {
        let all = self.claimants(host).filter_map(|key| self.claim(key, host));
        let mut all: Vec<Claim> = all.collect();
        all.sort_by(|one, other| (&one.age, &one.source).cmp(&(&other.age, &other.source)));
        all
    }

    fn forget(&mut self, key: &SourceKey, before: Option<&SourceNode>) -> BTreeSet<Name> {
        self.detach(key, before);
        self.resolve_all(key)
    }

    fn detach(&mut self, key: &SourceKey, before: Option<&SourceNode>) {
        for parent in before.into_iter().flat_map(|it| &it.reading.parents) {
            if let Some(routes) = self.attached.get_mut(&parent.gateway) {
                routes.remove(key);
                if routes.is_empty() {
                    self.attached.remove(&parent.gateway);
                }
            }
        }
    }

    /// Finds out anew what a source asks for, and what the routes of a Gateway do.
    fn resolve_all(&mut self, key: &SourceKey) -> BTreeSet<Name> {
        let mut touched = self.resolve(key);
        if key.kind == SourceKind::Gateway {
            let routes = self.attached.get(&key.key).cloned();
            for route in routes.into_iter().flatten() {
                touched.append(&mut self.resolve(&route));
            }
        }
        touched
    }

    fn resolve(&mut self, key: &SourceKey) -> BTreeSet<Name> {
        let node = self.nodes.get(key);
        let node = node.filter(|node| node.asks());
        let after = node.map_or_else(BTreeMap::new, |node| self.asked(key, node));
        let bare = key.kind.borrows_addresses()
            && node.is_some_and(|node| node.reading.targets.is_empty());
        let was_bare = if bare {
            !self.bare.insert(key.clone())
        } else {
            self.bare.remove(key)
        };
        let before = self.claims.remove(key).unwrap_or_default();
        let names: BTreeSet<&Name> = before.keys().chain(after.keys()).collect();
        let differs = |host: &&&Name| before.get(**host) != after.get(**host) || bare != was_bare;
        let touched = names
            .iter()
            .filter(differs)
            .map(|it| (*it).clone())
            .collect();
        self.relink(key, &before, &after);
        if !after.is_empty() {
            self.claims.insert(key.clone(), after);
        }
        touched
    }

    fn relink(
        &mut self,
        key: &SourceKey,
        before: &BTreeMap<Name, Claim>,
        after: &BTreeMap<Name, Claim>,
    ) {
        for host in before.keys() {
            if let Some(claimants) = self.claimants.get_mut(host) {
                claimants.remove(key);
                if claimants.is_empty() {
                    self.claimants.remove(host);
                }
            }
        }
        for host in after.keys() {
            let claimants = self.claimants.entry(host.clone()).or_default();
            claimants.insert(key.clone());
        }
    }

    fn asked(&self, key: &SourceKey, node: &SourceNode) -> BTreeMap<Name, Claim> {
        let own = node.reading.hosts.iter();
        let own = own.filter_map(|it| Some((it.host.as_ref().ok()?.clone(), it.port)));
        let mut hosts: BTreeMap<Name, u16> = own.collect();
        if key.kind.is_route() {
            hosts = self.route_asks(node, hosts.into_keys().collect());
        }
        let claim = |(host, port): (Name, u16)| {
            let claim = self.claim_of(key, node, &host, port);
            (host, claim)
        };
        hosts.into_iter().map(claim).collect()
    }

    /// What a source asks for at a host, with the addresses that are its own.
    fn claim_of(&self, key: &SourceKey, node: &SourceNode, host: &Name, port: u16) -> Claim {
        let mut targets = if key.kind.is_route() {
            self.route_targets(node, host)
        } else {
            node.reading.targets.clone()
        };
        // A host cannot be an alias of itself.
        targets.remove(&Target::Host(host.clone()));
        Claim {
            source: key.clone(),
            age: node.age.clone(),
            port,
            targets,
            blind: false,
            annotations: node.annotations.clone(),
        }
    }

    /// The hosts of a route and their ports: its own, or those of the listeners that it attaches to.
    fn route_asks(&self, node: &SourceNode, own: BTreeSet<Name>) -> BTreeMap<Name, u16> {
        let listeners: Vec<&Listener> = node
            .reading
            .parents
            .iter()
            .flat_map(|parent| self.listeners(parent))
            .collect();
        if node.reading.hosts.is_empty() {
            let hosts = listeners.iter().rev();
            return hosts
                .filter_map(|it| Some((it.host.clone()?, it.port)))
                .collect();
        }
        let port = |host: &Name| {
            let fitting = listeners.iter().find(|it| fits(it, host));
            fitting.map_or(super::source::TLS_PORT, |it| it.port)
        };
        own.into_iter()
            .map(|host| (host.clone(), port(&host)))
            .collect()
    }

    /// The addresses of the Gateways that let a route attach, and listen for the host.
    fn route_targets(&self, node: &SourceNode, host: &Name) -> BTreeSet<Target> {
        let parents = node.reading.parents.iter().filter(|it| !it.refused);
        let parents = parents.filter(|it| self.listeners(it).any(|it| fits(it, host)));
        let gateways = parents.filter_map(|it| self.gateway(&it.gateway));
        gateways
            .flat_map(|it| it.reading.targets.iter().cloned())
            .collect()
    }

    fn gateway(&self, key: &ObjectKey) -> Option<&SourceNode> {
        let key = SourceKey::new(SourceKind::Gateway, &key.namespace, &key.name);
        self.nodes.get(&key)
    }

    /// The listeners that a route attaches to.
    fn listeners<'a>(&'a self, parent: &'a Parent) -> impl Iterator<Item = &'a Listener> {
        let gateway = self.gateway(&parent.gateway);
        let all = gateway.into_iter().flat_map(|it| &it.reading.listeners);
        all.filter(|it| parent.section.as_ref().is_none_or(|name| *name == it.name))
    }
}

/// Whether a listener takes requests for a host: for all of it, where the host is a wildcard.
fn fits(listener: &Listener, host: &Name) -> bool {
    let covers = |it: &Name| {
        let parent = it.parent().filter(|_| it.is_wildcard());
        it == host || parent.is_some_and(|parent| host.is_below(&parent))
    };
    listener.any || listener.host.as_ref().is_some_and(covers)
}
