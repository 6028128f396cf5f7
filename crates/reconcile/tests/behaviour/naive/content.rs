//! Contents, from the rules (Z4, Z5, R6, R7, N6).

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use dns::routing::{Membership, SetIdentifier};
use dns::{Flaw, Name, Rdata, RecordSet, Rtype, SetKey, Ttl, Zone};
use zonewright_reconcile::{Age, RecordKey};

use super::tree::Tree;
use super::{Adoption, Naive};

/// What a claim is, and who makes it. The order is that of precedence.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Who {
    Itself,
    SubZone(ZoneKey),
    Record(RecordKey),
}

#[derive(Clone, Debug)]
struct Claim {
    age: Option<Age>,
    who: Who,
    name: Name,
    ttl: Ttl,
    membership: Option<Membership>,
    data: Rdata,
}

impl Claim {
    fn member(&self) -> Option<&SetIdentifier> {
        self.membership.as_ref().map(|it| &it.identifier)
    }
}

/// What became of a Record's claim.
#[derive(Clone, Debug)]
enum Fate {
    In {
        lowered: bool,
        duplicate: bool,
        rerouted: bool,
    },
    Excluded,
    Glue,
}

pub(super) struct Contents {
    zones: BTreeMap<ZoneKey, Zone>,
    fates: BTreeMap<RecordKey, Fate>,
    claims: BTreeMap<RecordKey, Claim>,
}

impl Contents {
    pub(super) fn of(
        naive: &Naive,
        tree: &Tree,
        names: &BTreeMap<RecordKey, Result<Name, String>>,
        adoptions: &BTreeMap<RecordKey, Adoption>,
    ) -> Contents {
        let mut contents = Contents {
            zones: BTreeMap::new(),
            fates: BTreeMap::new(),
            claims: BTreeMap::new(),
        };
        let standing = naive.zones.keys().filter(|key| tree.stands(key));
        let mut order: Vec<&ZoneKey> = standing.collect();
        // The lowest first: what is above carries what they say.
        order.sort_by_key(|key| tree.names[*key].as_ref().map(Name::label_count).ok());
        for key in order.into_iter().rev() {
            contents.fill(naive, tree, key, names, adoptions);
        }
        contents
    }

    pub(super) fn zone(&self, key: &ZoneKey) -> Option<&Zone> {
        self.zones.get(key)
    }

    fn fill(
        &mut self,
        naive: &Naive,
        tree: &Tree,
        key: &ZoneKey,
        names: &BTreeMap<RecordKey, Result<Name, String>>,
        adoptions: &BTreeMap<RecordKey, Adoption>,
    ) {
        let origin = tree.names[key].clone().unwrap();
        let claim = naive.zones[key].claim.as_ref().unwrap();
        let soa = claim.soa.as_ref().and_then(|soa| soa.under(&origin).ok());
        let Some(soa) = soa else { return };
        let mut claims: Vec<Claim> = Vec::new();
        for server in claim
            .name_servers
            .iter()
            .filter_map(|it| it.under(&origin).ok())
        {
            claims.push(Claim {
                age: None,
                who: Who::Itself,
                name: origin.clone(),
                ttl: soa.ttl,
                membership: None,
                data: server,
            });
        }
        for (record, adoption) in adoptions {
            if let Adoption::By(zone, data) = adoption
                && zone == key
            {
                let held = &naive.records[record];
                let content = held.claim.as_ref().unwrap().content.as_ref().unwrap();
                let claim = Claim {
                    age: Some(held.age.clone()),
                    who: Who::Record(record.clone()),
                    name: names[record].clone().unwrap(),
                    ttl: content.ttl.unwrap_or(soa.ttl),
                    membership: content.routing.clone(),
                    data: data.clone(),
                };
                self.claims.insert(record.clone(), claim.clone());
                claims.push(claim);
            }
        }
        let mut servers: BTreeSet<Name> = BTreeSet::new();
        let said = claims.clone();
        for (child, zone) in &self.zones {
            if tree.above(child).as_ref() == Some(key) {
                claims.extend(carried(child, zone, &said, &mut servers));
            }
        }
        let mut zone = Zone::new(origin.clone(), soa);
        self.admit(claims, &servers, &mut zone);
        self.zones.insert(key.clone(), zone);
    }

    /// The oldest first; each is in if it goes with all that are.
    fn admit(&mut self, mut claims: Vec<Claim>, servers: &BTreeSet<Name>, zone: &mut Zone) {
        claims.sort_by(|a, b| (&a.age, &a.who).cmp(&(&b.age, &b.who)));
        let mut admitted: Vec<Claim> = Vec::new();
        for claim in claims {
            let glue = servers.contains(&claim.name)
                && matches!(claim.data.rtype(), Rtype::A | Rtype::AAAA)
                && !matches!(claim.who, Who::SubZone(_));
            let alias_at_apex = claim.name == *zone.origin() && claim.data.rtype() == Rtype::CNAME;
            if glue {
                self.tell(&claim, Fate::Glue);
            } else if alias_at_apex || admitted.iter().any(|held| excludes(held, &claim)) {
                self.tell(&claim, Fate::Excluded);
            } else {
                admitted.push(claim);
            }
        }
        let mut sets: BTreeMap<SetKey, Vec<&Claim>> = BTreeMap::new();
        for claim in &admitted {
            let key = SetKey::new(claim.name.clone(), claim.data.rtype());
            sets.entry(key).or_default().push(claim);
        }
        for (key, claims) in sets {
            let mut records = Vec::new();
            for claim in &claims {
                let member = claims.iter().filter(|it| it.member() == claim.member());
                let member: Vec<&&Claim> = member.collect();
                let ttl = member.iter().map(|it| it.ttl).min().unwrap();
                let first = member.iter().find(|it| it.data == claim.data).unwrap();
                let fate = Fate::In {
                    lowered: ttl < claim.ttl,
                    duplicate: first.who != claim.who,
                    rerouted: member[0].membership != claim.membership,
                };
                self.tell(claim, fate);
                records.push((member[0].membership.clone(), ttl, claim.data.clone()));
            }
            let set = RecordSet::assemble(records).expect("they go with each other");
            zone.put(key, set).expect("they fit into the zone");
        }
    }

    fn tell(&mut self, claim: &Claim, fate: Fate) {
        if let Who::Record(key) = &claim.who {
            self.fates.insert(key.clone(), fate);
        }
    }

    /// What became of a Record that a zone has adopted.
    pub(super) fn fate(&self, tree: &Tree, record: &RecordKey, key: &ZoneKey) -> String {
        let Some(zone) = self.zones.get(key) else {
            let words = ["zone not accepted", "zone stays"];
            return words[usize::from(tree.stands(key))].to_owned();
        };
        let (lowered, duplicate, rerouted) = match &self.fates[record] {
            Fate::Excluded => return "excluded".to_owned(),
            Fate::Glue => return "glue".to_owned(),
            Fate::In {
                lowered,
                duplicate,
                rerouted,
            } => (*lowered, *duplicate, *rerouted),
        };
        let claim = &self.claims[record];
        let at = SetKey::new(claim.name.clone(), claim.data.rtype());
        let flaws: Vec<Flaw> = zone.check_at(&at).into_iter().map(|it| it.flaw).collect();
        let target = claim.data.target();
        let alias = flaws.iter().any(
            |flaw| matches!(flaw, Flaw::TargetIsAlias { target: found, .. } if Some(found) == target.as_ref()),
        );
        let cut = flaws
            .iter()
            .any(|flaw| matches!(flaw, Flaw::Occluded { .. }));
        let notes = [
            (lowered, "DifferingTtl"),
            (duplicate, "Duplicate"),
            (rerouted, "DifferingRouting"),
            (alias, "TargetIsAlias"),
            (lost(zone, claim), "TargetMissing"),
        ];
        let notes: Vec<&str> = notes.iter().filter(|it| it.0).map(|it| it.1).collect();
        let hidden = match below(tree, key, &at) {
            Some(zone) => format!("hidden by Zone {zone}"),
            None if cut => "hidden by record".to_owned(),
            None => "in".to_owned(),
        };
        format!("{hidden} {notes:?}")
    }
}

/// Z5: whether a Record delegates to a name server inside of what it delegates that has no address.
fn lost(zone: &Zone, claim: &Claim) -> bool {
    let delegates = claim.data.rtype() == Rtype::NS && claim.name != *zone.origin();
    let types = [Rtype::A, Rtype::AAAA, Rtype::CNAME];
    claim.data.target().is_some_and(|server| {
        let has = |rtype| zone.get(&SetKey::new(server.clone(), rtype)).is_some();
        delegates && server.is_at_or_below(&claim.name) && !types.into_iter().any(has)
    })
}

/// Z5: what a zone above, whose own claims these are, carries of a zone.
fn carried(
    child: &ZoneKey,
    zone: &Zone,
    above: &[Claim],
    servers: &mut BTreeSet<Name>,
) -> Vec<Claim> {
    let origin = zone.origin();
    let ns = zone.get(&SetKey::new(origin.clone(), Rtype::NS));
    let own = ns.into_iter().flat_map(|set| set.data().to_vec());
    let said = above.iter().filter(|it| it.name == *origin);
    let said = said.map(|it| it.data.clone());
    let named = own.chain(said.filter(|data| data.rtype() == Rtype::NS));
    let targets = named.filter_map(|data| data.target());
    let inside: BTreeSet<Name> = targets.filter(|it| it.is_at_or_below(origin)).collect();
    let mut claims = Vec::new();
    for (key, set) in zone.sets() {
        let cut = key.name == *origin && matches!(key.rtype, Rtype::NS | Rtype::DS);
        let glue = inside.contains(&key.name) && matches!(key.rtype, Rtype::A | Rtype::AAAA);
        if cut || glue {
            claims.extend(set.data().iter().map(|data| Claim {
                age: None,
                who: Who::SubZone(child.clone()),
                name: key.name.clone(),
                ttl: set.ttl(),
                membership: None,
                data: data.clone(),
            }));
        }
    }
    servers.extend(inside);
    claims
}

/// R6: whether a claim that is in keeps another out.
fn excludes(held: &Claim, claim: &Claim) -> bool {
    if held.name != claim.name {
        return false;
    }
    let types = [held.data.rtype(), claim.data.rtype()];
    if types[0] != types[1] {
        return types.contains(&Rtype::CNAME);
    }
    if held.member() != claim.member() {
        return held.member().is_none() || claim.member().is_none();
    }
    if held.data == claim.data {
        return false;
    }
    let null = |data: &Rdata| data.rtype() == Rtype::MX && data.to_string() == "0 .";
    matches!(types[0], Rtype::CNAME | Rtype::DNAME) || null(&held.data) || null(&claim.data)
}

/// The nearest zone below a zone that answers at a name instead of it.
fn below(tree: &Tree, zone: &ZoneKey, at: &SetKey) -> Option<ZoneKey> {
    let parent_side = matches!(at.rtype, Rtype::NS | Rtype::DS);
    let over = tree.standing_over(&at.name);
    let below = over.into_iter().take_while(|over| over != zone);
    let mut hiding = below.filter(|over| {
        let origin = tree.names[over].as_ref().unwrap();
        !(parent_side && *origin == at.name)
    });
    hiding.next()
}
