//! Views of hosts.

use std::collections::{BTreeMap, BTreeSet};

use api::service_record::Source;
use dns::Name;

use super::{Placement, Publishing};
use crate::ObjectKey;
use crate::publishing::{
    Claim, HostView, Leaving, Outlook, SourceKey, SourceKind, StandingRecord, Whereabouts, names,
    ownership,
};

impl Publishing {
    /// Everything that bears on a host.
    pub fn view(&self, host: &Name) -> HostView {
        let mut view = self.ground(host);
        for leaving in &mut view.leaving {
            leaving.whereabouts = self.whereabouts(leaving, host);
        }
        view
    }

    /// Who asks for a host, as their sources have it.
    pub(in crate::publishing) fn claimants(&self, host: &Name) -> impl Iterator<Item = &SourceKey> {
        self.sources.claimants(host)
    }

    /// The Gateways that a route without hosts of its own takes its hosts from.
    pub(in crate::publishing) fn lenders(&self, key: &SourceKey) -> Vec<ObjectKey> {
        let node = self.sources.node(key);
        let node = node.filter(|node| node.asks() && node.reading.hosts.is_empty());
        let parents = node.into_iter().flat_map(|node| &node.reading.parents);
        parents.map(|parent| parent.gateway.clone()).collect()
    }

    /// A view without what depends on other hosts.
    fn ground(&self, host: &Name) -> HostView {
        let name = names::service_record(host);
        let claims = self.claims(host);
        let central = match self.policy.placement {
            Placement::Central => Some(self.policy.namespace.clone()),
            Placement::Source => None,
        };
        let namespaces: BTreeSet<&str> = claims.iter().map(Claim::namespace).collect();
        let stem = names::stem(host);
        let taken = namespaces
            .iter()
            .flat_map(|it| self.holdings.others(it, &stem));
        let taken = taken.cloned().collect();
        let is_occupied = |namespace: &&str| {
            let key = name.as_ref().map(|name| ObjectKey::new(namespace, name));
            key.is_some_and(|key| self.holdings.is_occupied(&key, host))
        };
        let leaving = self.leaving(host, &claims);
        let homes = namespaces.iter().copied().chain(central.as_deref());
        let occupied = homes.filter(is_occupied).map(str::to_owned).collect();
        HostView {
            host: host.clone(),
            standing: self
                .holdings
                .service_records(host)
                .into_iter()
                .cloned()
                .collect(),
            records: self.holdings.records(host).into_iter().cloned().collect(),
            covered_by: self.covered_by(host, &claims),
            proven: self.proven(host, &claims, &leaving),
            leaving,
            listable: self.listable(host, &claims),
            lapsing: self.lapsing.get(host).copied(),
            occupied,
            taken,
            central,
            claims,
            name,
        }
    }

    /// The namespaces that have proven a host, of those that have something to do with it. It matters only to whoever asks
    /// for it.
    fn proven(&self, host: &Name, claims: &[Claim], leaving: &[Leaving]) -> BTreeSet<String> {
        let Some(proofs) = self.proofs.as_ref().filter(|_| !claims.is_empty()) else {
            return BTreeSet::new();
        };
        let left = leaving.iter().map(|it| it.source.namespace.as_str());
        let all: BTreeSet<&str> = claims.iter().map(Claim::namespace).chain(left).collect();
        let proven = all.into_iter().filter(|it| proofs.cover(it, host));
        proven.map(str::to_owned).collect()
    }

    fn claims(&self, host: &Name) -> Vec<Claim> {
        let claims = self.sources.claims(host).into_iter();
        claims.map(|claim| self.sighted(claim)).collect()
    }

    /// A claim that says whether everything is known that it is reached at.
    fn sighted(&self, mut claim: Claim) -> Claim {
        let asks_others = self.policy.endpoint_service.is_some() || self.policy.node_endpoints;
        let kind = claim.source.kind;
        let routed = kind.is_route() && !self.readable.contains(&SourceKind::Gateway);
        let bare = kind.borrows_addresses() && self.is_bare(&claim.source);
        claim.blind = routed || (bare && asks_others && !self.fallback_readable);
        claim
    }

    fn is_bare(&self, key: &SourceKey) -> bool {
        let node = self.sources.node(key);
        node.is_some_and(|node| node.reading.targets.is_empty())
    }

    /// The namespaces that hold wildcards above a host. It matters only to whoever asks for it.
    fn covered_by(&self, host: &Name, claims: &[Claim]) -> BTreeSet<String> {
        if claims.is_empty() {
            return BTreeSet::new();
        }
        let above = host.ancestors().skip(1);
        let wildcards = above.filter_map(|it| Name::parse(&format!("*.{it}")).ok());
        let others = wildcards.filter(|it| it != host);
        let held = others.filter_map(|it| self.wildcards.get(&it));
        held.flatten().cloned().collect()
    }

    /// Whom what stands was made for, and who no longer asks for the host. One of the same name that asks for it has taken
    /// its place.
    fn leaving(&self, host: &Name, claims: &[Claim]) -> Vec<Leaving> {
        let named = self.named(host);
        let asks = |key: &SourceKey| claims.iter().any(|claim| claim.source == *key);
        let left = named.into_iter().filter(|(key, _)| !asks(key));
        left.map(|(key, source)| Leaving {
            gateways: self.lenders(&key),
            whereabouts: Whereabouts::Absent,
            key,
            source,
        })
        .collect()
    }

    /// Whom what stands was made for. The ServiceRecords say so; where they are gone, the Records do. A ServiceRecord stops
    /// naming a source only after that was seen to be gone, so whom Records name beside it needs no second look.
    pub(super) fn named(&self, host: &Name) -> BTreeMap<SourceKey, Source> {
        let service_records = self.holdings.service_records(host).into_iter();
        let mut sources: Vec<Source> = service_records.flat_map(|it| it.sources.clone()).collect();
        if sources.is_empty() {
            let records = self.holdings.records(host).into_iter();
            sources = records.flat_map(StandingRecord::sources).collect();
        }
        let keyed = sources.into_iter();
        keyed
            .filter_map(|it| Some((SourceKey::of(&it)?, it)))
            .collect()
    }

    fn whereabouts(&self, leaving: &Leaving, host: &Name) -> Whereabouts {
        let kind = leaving.key.kind;
        let node = self.sources.node(&leaving.key);
        let blind = !leaving.gateways.is_empty() && !self.readable.contains(&SourceKind::Gateway);
        let garbled = node.is_some_and(|node| node.fault.is_some());
        if !self.readable.contains(&kind) || blind || garbled {
            return Whereabouts::Unreadable;
        }
        let same = node.filter(|it| it.asks() && it.age.uid() == leaving.source.uid);
        let Some(node) = same else {
            return Whereabouts::Absent;
        };
        let invalid = node.reading.hosts.iter().filter(|it| it.host.is_err());
        let invalid = invalid.map(|it| Outlook::Invalid(it.text.clone()));
        let asked = self.sources.hosts_of(&leaving.key);
        let asked = asked.map(|host| self.outlook(&leaving.key, host));
        let outlooks = asked.chain(invalid).collect();
        match self.sources.former_claim(&leaving.key, host) {
            Some(claim) => Whereabouts::Moved(outlooks, Box::new(self.sighted(claim))),
            None => Whereabouts::Absent,
        }
    }

    /// How a host fares that a source asks for.
    fn outlook(&self, source: &SourceKey, host: &Name) -> Outlook {
        let view = self.ground(host);
        let namespace = &source.key.namespace;
        if ownership::is_taken(&view, namespace) {
            return Outlook::Taken(host.clone());
        }
        if ownership::owner(&view, ownership::Leavers::Count) != Some(namespace) {
            return Outlook::Refused(host.clone());
        }
        if view.standing.iter().any(|it| it.is_published_for(source)) {
            return Outlook::Published(host.clone());
        }
        let mut own = view.claims.iter().filter(|it| it.source == *source);
        let reachable = own.any(|it| !it.targets.is_empty() || it.blind);
        Outlook::Coming(host.clone(), reachable)
    }

    /// The kinds that everybody is to be looked for in who might ask for a host, where nobody is known who does. Without
    /// the kind that the peer makes ServiceRecords from, a list of them would say nothing.
    fn listable(&self, host: &Name, claims: &[Claim]) -> Option<Vec<SourceKind>> {
        let unknown = claims.is_empty() && self.holdings.is_anonymous(host);
        let says = unknown && self.readable.contains(&SourceKind::HttpProxy);
        says.then(|| self.readable.iter().copied().collect())
    }
}
