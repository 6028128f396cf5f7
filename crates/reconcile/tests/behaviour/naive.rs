//! A world that keeps lists of objects and recomputes everything from the rules, slowly.
//!
//! It shares nothing with the real one but how specs are read (`api::parse`) and what a zone may hold (`dns`). Each object is
//! described by one line of text; the real world's views are described in the same words and compared.

mod content;
mod tree;

use std::collections::BTreeMap;

use api::parse::place::Place;
use api::parse::{self};
use api::{Decoded, ZoneKey};
use dns::delegation::{Claim, Judge};
use dns::{Name, Rdata};
use zonewright_reconcile::world::Authority;
use zonewright_reconcile::{Age, Key, RecordKey};

use content::Contents;
use tree::Tree;

/// The objects, as they were last seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naive {
    authority: Authority,
    zones: BTreeMap<ZoneKey, ZoneClaim>,
    records: BTreeMap<RecordKey, RecordClaim>,
}

#[derive(Clone, Debug)]
struct ZoneClaim {
    age: Age,
    claim: Option<parse::zone::Zone>,
    faulty: bool,
}

#[derive(Clone, Debug)]
struct RecordClaim {
    age: Age,
    claim: Option<parse::record::Record>,
}

/// Whose a Record is.
#[derive(Clone, Debug, PartialEq)]
enum Adoption {
    By(ZoneKey, Rdata),
    Nobody(&'static str),
}

/// Everything that follows from the objects.
pub(crate) struct Consequence<'a> {
    naive: &'a Naive,
    tree: Tree,
    names: BTreeMap<RecordKey, Result<Name, String>>,
    adoptions: BTreeMap<RecordKey, Adoption>,
    contents: Contents,
}

impl Naive {
    pub(crate) fn new(authority: Authority) -> Naive {
        Naive {
            authority,
            ..Naive::default()
        }
    }

    pub(crate) fn put_zone(&mut self, key: &ZoneKey, object: &Decoded<api::Zone>) {
        let claim = match object {
            Decoded::Object(zone) => ZoneClaim {
                age: Age::of(&zone.metadata),
                claim: Some(parse::zone::parse(zone).0),
                faulty: !parse::zone::parse(zone).1.is_empty(),
            },
            Decoded::Undecodable(object) => ZoneClaim {
                age: Age::of(&object.metadata),
                claim: None,
                faulty: true,
            },
        };
        self.zones.insert(key.clone(), claim);
    }

    pub(crate) fn put_record(&mut self, key: &RecordKey, object: &Decoded<api::Record>) {
        let claim = match object {
            Decoded::Object(record) => RecordClaim {
                age: Age::of(&record.metadata),
                claim: Some(parse::record::parse(record).0),
            },
            Decoded::Undecodable(object) => RecordClaim {
                age: Age::of(&object.metadata),
                claim: None,
            },
        };
        self.records.insert(key.clone(), claim);
    }

    pub(crate) fn delete(&mut self, key: &Key) {
        match key {
            Key::Zone(key) => drop(self.zones.remove(key)),
            Key::Record(key) => drop(self.records.remove(key)),
        }
    }

    pub(crate) fn follow(&self) -> Consequence<'_> {
        let tree = Tree::of(self);
        let mut names = BTreeMap::new();
        let mut adoptions = BTreeMap::new();
        for (key, record) in &self.records {
            let name = self.record_name(record, &tree);
            let adoption = match &name {
                Ok(name) => self.adopt(key, record, name, &tree),
                Err(_) => Adoption::Nobody("nameless"),
            };
            names.insert(key.clone(), name);
            adoptions.insert(key.clone(), adoption);
        }
        let contents = Contents::of(self, &tree, &names, &adoptions);
        Consequence {
            naive: self,
            tree,
            names,
            adoptions,
            contents,
        }
    }

    /// R1.
    fn record_name(&self, record: &RecordClaim, tree: &Tree) -> Result<Name, String> {
        let place = record.claim.as_ref().and_then(|claim| claim.place.as_ref());
        match place {
            None => Err("invalid".to_owned()),
            Some(Place::Full { name, .. }) => Ok(name.clone()),
            Some(place @ Place::Relative { parent, .. }) => tree.under(self, place, parent),
        }
    }

    /// R2 and R3.
    fn adopt(&self, key: &RecordKey, record: &RecordClaim, name: &Name, tree: &Tree) -> Adoption {
        let claim = record
            .claim
            .as_ref()
            .expect("a record with a name has a claim");
        let Some(content) = &claim.content else {
            return Adoption::Nobody("invalid");
        };
        let asks = Claim {
            name,
            rtype: content.rtype(),
            namespace: &key.namespace,
        };
        let reference = claim.place.as_ref().and_then(Place::parent);
        let candidates: Vec<ZoneKey> = match reference {
            Some(zone) => vec![zone.clone()],
            None => tree.standing_over(name),
        };
        if candidates.is_empty() {
            return Adoption::Nobody("no zone");
        }
        let mut refusal = "not delegated";
        for zone in candidates {
            let Some(Ok(origin)) = tree.names.get(&zone) else {
                return Adoption::Nobody("nameless");
            };
            let delegations = &self.zones[&zone].claim.as_ref().unwrap().delegations;
            let judge = Judge {
                origin,
                namespace: &zone.namespace,
                delegations,
            };
            if !name.is_at_or_below(origin) {
                refusal = "outside";
            } else if judge.allows_record(asks) {
                if tree.is_overruled(&zone, name) {
                    refusal = if reference.is_some() {
                        "overruled"
                    } else {
                        refusal
                    };
                } else {
                    return match content.under(origin) {
                        Ok(data) => Adoption::By(zone, data),
                        Err(_) => Adoption::Nobody("unfit"),
                    };
                }
            }
        }
        Adoption::Nobody(refusal)
    }
}

impl Consequence<'_> {
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        let zones = self.naive.zones.keys().cloned().map(Key::Zone);
        zones.chain(self.naive.records.keys().cloned().map(Key::Record))
    }

    pub(crate) fn describe(&self, key: &Key) -> String {
        match key {
            Key::Zone(key) => self.describe_zone(key),
            Key::Record(key) => self.describe_record(key),
        }
    }

    fn describe_zone(&self, key: &ZoneKey) -> String {
        let name = match &self.tree.names[key] {
            Ok(name) => name.to_string(),
            Err(why) => why.clone(),
        };
        let standing = self.tree.standing[key].to_string();
        let parent = self.parent(key).map(|parent| parent.to_string());
        let content = self.contents.zone(key).map(crate::histories::content);
        let accepted = match (self.tree.names[key].is_ok(), standing.as_str()) {
            (true, "conflicted") => "Conflicted",
            (true, "not delegated") => "NotDelegated",
            (true, _) if self.is_faulty(key) => "Invalid",
            (true, _) if self.is_misplaced(key) => "misplaced",
            (true, _) => "yes",
            (false, _) => &name,
        };
        format!("{name} {standing}, parent {parent:?}, accepted {accepted}: {content:?}")
    }

    /// Z2.
    fn is_misplaced(&self, key: &ZoneKey) -> bool {
        let claim = self.naive.zones[key].claim.as_ref();
        let place = claim.and_then(|claim| claim.place.as_ref());
        let Some(Place::Full {
            name,
            parent: Some(parent),
        }) = place
        else {
            return false;
        };
        let parent = self.tree.names.get(parent);
        let parent = parent.and_then(|parent| parent.as_ref().ok());
        !parent.is_some_and(|parent| name.is_below(parent))
    }

    fn is_faulty(&self, key: &ZoneKey) -> bool {
        let zone = &self.naive.zones[key];
        let (Ok(name), Some(claim)) = (&self.tree.names[key], &zone.claim) else {
            return true;
        };
        zone.faulty
            || claim
                .soa
                .as_ref()
                .is_some_and(|soa| soa.under(name).is_err())
            || claim.name_servers.iter().any(|it| it.under(name).is_err())
    }

    /// Z3.
    fn parent(&self, key: &ZoneKey) -> Option<ZoneKey> {
        let name = self.tree.names[key].as_ref().ok()?;
        if !self.tree.stands(key) {
            return None;
        }
        let place = self.naive.zones[key].claim.as_ref()?.place.as_ref()?;
        match place.parent() {
            Some(parent) => {
                let above = self.tree.names.get(parent)?.as_ref().ok()?;
                name.is_below(above).then(|| parent.clone())
            }
            None => self.tree.above(key),
        }
    }

    fn describe_record(&self, key: &RecordKey) -> String {
        let name = match &self.names[key] {
            Ok(name) => name.to_string(),
            Err(why) => why.clone(),
        };
        match &self.adoptions[key] {
            Adoption::Nobody(why) => format!("{name}: {why}"),
            Adoption::By(zone, data) => {
                let fate = self.contents.fate(&self.tree, key, zone);
                format!("{name} in {zone} {data:?}: {fate}")
            }
        }
    }
}
