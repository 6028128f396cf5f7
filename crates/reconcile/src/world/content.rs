//! What one zone says: the claims of everyone who has a say in it, and the record sets that follow (Z4, Z5, R6, R7).
//!
//! Claims are kept by name. A claim that comes or goes makes its name unsettled; settling it makes the record sets of that
//! name anew and tells what became of each claim. Nothing else in the zone is looked at.

mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use api::ZoneKey;
use dns::routing::Membership;
use dns::{Name, Rdata, RecordSet, Rtype, SetKey, Soa, Ttl, Zone};

use crate::{Age, RecordKey};

pub use settle::Outcome;

/// Who has a say in a zone. The order is the order of precedence.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Claimant {
    /// The zone itself, by its `nameservers`.
    Itself,
    /// A zone below, whose delegation this zone carries.
    SubZone(ZoneKey),
    /// A zone below, which alone says where its name servers are: its claims are addresses, or none.
    ServerOf(ZoneKey),
    /// A Record it has adopted.
    Record(RecordKey),
}

impl fmt::Display for Claimant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claimant::Itself => f.write_str("the zone's spec.nameservers"),
            Claimant::SubZone(key) | Claimant::ServerOf(key) => write!(f, "sub-zone {key}"),
            Claimant::Record(key) => write!(f, "Record {key}"),
        }
    }
}

/// What a claimant wants at a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Claim {
    /// Nothing: older than every Record.
    pub(super) age: Option<Age>,
    /// Nothing: as the zone says.
    pub(super) ttl: Option<Ttl>,
    /// The member of a routed set that it is for.
    pub(super) membership: Option<Membership>,
    pub(super) data: Rdata,
}

#[derive(Debug)]
pub(super) struct Content {
    zone: Zone,
    claims: BTreeMap<(Name, Claimant), Vec<Claim>>,
    outcomes: BTreeMap<RecordKey, Outcome>,
    /// The sets of the zone that point at a name, by that name.
    pointing: BTreeSet<(Name, SetKey)>,
    unsettled: BTreeSet<Name>,
    /// The octets of all names, data and routing.
    octets: usize,
    /// Counts changes: what is answered is known by it.
    epoch: u64,
}

/// What settling brought about.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The sets that are not as they were.
    pub(super) sets: BTreeSet<SetKey>,
    /// The names at which somebody claims something else.
    pub(super) names: BTreeSet<Name>,
    /// The Records for which something else holds now.
    pub(super) records: BTreeSet<RecordKey>,
}

impl Content {
    /// Content without claims, whose changes count from `epoch`.
    pub(super) fn new(origin: Name, soa: Soa, epoch: u64) -> Content {
        Content {
            zone: Zone::new(origin, soa),
            claims: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            pointing: BTreeSet::new(),
            unsettled: BTreeSet::new(),
            octets: 0,
            epoch,
        }
    }

    pub(super) fn zone(&self) -> &Zone {
        &self.zone
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The octets of all names, data and routing: how large the content is, roughly.
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// What became of a Record's claim.
    pub(super) fn outcome(&self, record: &RecordKey) -> Option<&Outcome> {
        self.outcomes.get(record)
    }

    /// Replaces the SOA fields. With another TTL the claims that leave it to the zone are unsettled.
    pub(super) fn set_soa(&mut self, soa: Soa) {
        if *self.zone.soa() == soa {
            return;
        }
        if self.zone.soa().ttl != soa.ttl {
            let inheriting = self
                .claims
                .iter()
                .filter(|(_, claims)| claims.iter().any(|claim| claim.ttl.is_none()));
            self.unsettled
                .extend(inheriting.map(|((name, _), _)| name.clone()));
        }
        self.zone.set_soa(soa);
        self.epoch += 1;
    }

    /// Replaces what a claimant wants at a name; nothing takes its claims away.
    pub(super) fn claim(&mut self, name: &Name, claimant: Claimant, claims: Option<Vec<Claim>>) {
        let key = (name.clone(), claimant);
        if self.claims.get(&key) == claims.as_ref() {
            return;
        }
        if let (Claimant::Record(record), None) = (&key.1, &claims) {
            self.outcomes.remove(record);
        }
        match claims {
            Some(claims) => drop(self.claims.insert(key, claims)),
            None => drop(self.claims.remove(&key)),
        }
        self.unsettled.insert(name.clone());
    }

    /// Makes the record sets of every unsettled name anew.
    pub(super) fn settle(&mut self) -> Settled {
        let mut settled = Settled::default();
        while let Some(name) = self.unsettled.pop_first() {
            self.settle_name(&name, &mut settled);
            settled.names.insert(name);
        }
        if !settled.sets.is_empty() {
            self.epoch += 1;
        }
        for key in &settled.sets {
            settled.records.extend(self.dependants(key));
        }
        settled
    }

    /// What the zone above carries of this one: NS and DS at the apex, and the addresses of its name servers, those included
    /// that only the zone above names (Z5). Of routed sets it carries the default members.
    pub(super) fn delegation(
        &self,
        key: &ZoneKey,
        named_above: BTreeSet<Name>,
    ) -> BTreeMap<(Name, Claimant), Vec<Claim>> {
        let origin = self.zone.origin();
        let own = self.zone.get(&SetKey::new(origin.clone(), Rtype::NS));
        let own = own.into_iter().flat_map(RecordSet::data);
        let servers = own.filter_map(Rdata::target).chain(named_above);
        let servers = servers.filter(|server| server.is_at_or_below(origin));
        let glue = servers.map(|server| {
            let addresses = self.claims_of(&server, &[Rtype::A, Rtype::AAAA]);
            ((server, Claimant::ServerOf(key.clone())), addresses)
        });
        let cut = self.claims_of(origin, &[Rtype::NS, Rtype::DS]);
        let cut =
            (!cut.is_empty()).then(|| ((origin.clone(), Claimant::SubZone(key.clone())), cut));
        cut.into_iter().chain(glue).collect()
    }

    /// The name servers that anybody names at a name. Whether a claim is admitted does not matter: what is carried because of
    /// it must not decide about it.
    pub(super) fn servers_at(&self, name: &Name) -> BTreeSet<Name> {
        let claims = self.claims_at(name).flat_map(|(_, claims)| claims);
        let servers = claims.filter(|claim| claim.data.rtype() == Rtype::NS);
        servers.filter_map(|claim| claim.data.target()).collect()
    }

    /// Whether a name has an address.
    pub(super) fn has_address(&self, name: &Name) -> bool {
        let mut types = [Rtype::A, Rtype::AAAA].into_iter();
        types.any(|rtype| self.zone.get(&SetKey::new(name.clone(), rtype)).is_some())
    }

    fn claims_of(&self, name: &Name, types: &[Rtype]) -> Vec<Claim> {
        let sets = types
            .iter()
            .filter_map(|rtype| self.zone.get(&SetKey::new(name.clone(), *rtype)));
        sets.flat_map(|set| {
            set.data().iter().map(|data| Claim {
                age: None,
                ttl: Some(set.ttl()),
                membership: None,
                data: data.clone(),
            })
        })
        .collect()
    }

    /// Records for which something else may hold because a set has changed: those that point at its name and need an
    /// address there, and those below it where the zone hands over.
    fn dependants(&self, changed: &SetKey) -> Vec<RecordKey> {
        let SetKey { name, rtype } = changed;
        let mut dependants = Vec::new();
        if matches!(*rtype, Rtype::CNAME | Rtype::A | Rtype::AAAA) {
            let first = SetKey::new(Name::root(), Rtype::MIN);
            let pointing = self
                .pointing
                .range((name.clone(), first)..)
                .take_while(|(at, _)| at == name);
            let concerned =
                pointing.filter(|(_, key)| *rtype == Rtype::CNAME || key.rtype == Rtype::NS);
            for (_, key) in concerned {
                dependants.extend(self.records_at(&key.name));
            }
        }
        let hands_over =
            *rtype == Rtype::DNAME || (*rtype == Rtype::NS && name != self.zone.origin());
        if hands_over {
            let below = self
                .claims
                .range((name.clone(), Claimant::Itself)..)
                .take_while(|((at, _), _)| at.is_at_or_below(name));
            dependants.extend(below.filter_map(|((_, claimant), _)| record(claimant)));
        }
        dependants
    }

    fn records_at(&self, name: &Name) -> impl Iterator<Item = RecordKey> {
        self.claims_at(name)
            .filter_map(|(claimant, _)| record(claimant))
    }

    fn claims_at(&self, name: &Name) -> impl Iterator<Item = (&Claimant, &[Claim])> {
        let name = name.clone();
        self.claims
            .range((name.clone(), Claimant::Itself)..)
            .take_while(move |((at, _), _)| *at == name)
            .map(|((_, claimant), claims)| (claimant, claims.as_slice()))
    }

    fn settle_name(&mut self, name: &Name, settled: &mut Settled) {
        let judgement = settle::judge(name, self.claims_at(name), &self.zone);
        for (record, outcome) in judgement.outcomes {
            if self.outcomes.get(&record) != Some(&outcome) {
                self.outcomes.insert(record.clone(), outcome);
                settled.records.insert(record);
            }
        }
        self.replace(name, judgement.sets, settled);
    }

    /// Puts the sets of a name in place of those that are there. What goes makes room first, so that a CNAME may take the
    /// place of addresses.
    fn replace(
        &mut self,
        name: &Name,
        mut sets: BTreeMap<Rtype, RecordSet>,
        settled: &mut Settled,
    ) {
        let held: Vec<SetKey> = self
            .zone
            .sets_at(name)
            .map(|(key, _)| key.clone())
            .collect();
        for key in held {
            if self.zone.get(&key) == sets.get(&key.rtype) {
                sets.remove(&key.rtype);
                continue;
            }
            if let Some(gone) = self.zone.remove(&key) {
                self.octets -= octets(&key, &gone);
                self.point(&key, &gone, false);
            }
            settled.sets.insert(key);
        }
        for (rtype, set) in sets {
            let key = SetKey::new(name.clone(), rtype);
            self.octets += octets(&key, &set);
            self.point(&key, &set, true);
            self.zone
                .put(key.clone(), set)
                .expect("a judgement leaves only sets that fit together");
            settled.sets.insert(key);
        }
    }

    fn point(&mut self, key: &SetKey, set: &RecordSet, points: bool) {
        let data = set.records().map(|(_, _, data)| data);
        for target in data.filter_map(Rdata::target) {
            let entry = (target, key.clone());
            if points {
                self.pointing.insert(entry);
            } else {
                self.pointing.remove(&entry);
            }
        }
    }
}

fn octets(key: &SetKey, set: &RecordSet) -> usize {
    let name = key.name.as_wire().len();
    let octets = set.records().map(|(membership, _, data)| {
        let routing = membership.map_or(0, |membership| membership.to_string().len());
        name + data.as_wire().len() + routing
    });
    octets.sum()
}

fn record(claimant: &Claimant) -> Option<RecordKey> {
    match claimant {
        Claimant::Record(key) => Some(key.clone()),
        Claimant::Itself | Claimant::SubZone(_) | Claimant::ServerOf(_) => None,
    }
}
