//! Names and standing, from the rules (Z1, Z2, Z13).

use std::collections::BTreeMap;
use std::fmt;

use api::ZoneKey;
use api::parse::place::Place;
use dns::Name;
use dns::delegation::Judge;
use zonewright_reconcile::Age;
use zonewright_reconcile::world::Authority;

use super::Naive;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    Nameless,
    Stands { overrules: Vec<ZoneKey> },
    Conflicted,
    NotDelegated,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Nameless => f.write_str("nameless"),
            Standing::Stands { overrules } if overrules.is_empty() => f.write_str("stands"),
            Standing::Stands { overrules } => write!(f, "stands over {overrules:?}"),
            Standing::Conflicted => f.write_str("conflicted"),
            Standing::NotDelegated => f.write_str("not delegated"),
        }
    }
}

pub(super) struct Tree {
    pub(super) names: BTreeMap<ZoneKey, Result<Name, String>>,
    pub(super) standing: BTreeMap<ZoneKey, Standing>,
}

impl Tree {
    pub(super) fn of(naive: &Naive) -> Tree {
        let names = naive.zones.keys();
        let names = names.map(|key| (key.clone(), zone_name(naive, key)));
        let names: BTreeMap<_, _> = names.collect();
        let nameless = naive.zones.keys();
        let nameless = nameless.map(|key| (key.clone(), Standing::Nameless));
        let standing = nameless.collect();
        let mut tree = Tree { names, standing };
        tree.judge(naive);
        tree
    }

    /// From the top down, and at each name from the oldest to the newest.
    fn judge(&mut self, naive: &Naive) {
        let named = self.names.iter();
        let named = named.filter_map(|(key, name)| Some((key.clone(), name.clone().ok()?)));
        let mut order: Vec<(usize, Age, ZoneKey, Name)> = named
            .map(|(key, name)| {
                let age = naive.zones[&key].age.clone();
                (name.label_count(), age, key, name)
            })
            .collect();
        order.sort();
        for (_, age, key, name) in order {
            let standing = self.verdict(naive, &key, &age, &name);
            self.standing.insert(key, standing);
        }
    }

    fn verdict(&self, naive: &Naive, key: &ZoneKey, age: &Age, name: &Name) -> Standing {
        let mut overrules = Vec::new();
        let strict = name
            .parent()
            .filter(|_| naive.authority == Authority::Strict);
        let over = strict.iter().flat_map(|parent| {
            let over = self.standing_over(parent);
            over.into_iter()
                .filter(|zone| !self.is_overruled(zone, parent))
        });
        for above in over {
            let origin = self.names[&above].as_ref().unwrap();
            let zone = &naive.zones[&above];
            let judge = Judge {
                origin,
                namespace: &above.namespace,
                delegations: &zone.claim.as_ref().unwrap().delegations,
            };
            if above.namespace == key.namespace || judge.allows_zone(name, &key.namespace) {
                break;
            }
            if zone.age <= *age {
                return Standing::NotDelegated;
            }
            overrules.push(above);
        }
        let taken = self.standing_over(name);
        if taken
            .iter()
            .any(|zone| self.names[zone].as_ref() == Ok(name))
        {
            return Standing::Conflicted;
        }
        Standing::Stands { overrules }
    }

    pub(super) fn stands(&self, key: &ZoneKey) -> bool {
        matches!(self.standing.get(key), Some(Standing::Stands { .. }))
    }

    /// The zones that stand at a name or above it, the nearest first.
    pub(super) fn standing_over(&self, name: &Name) -> Vec<ZoneKey> {
        let mut over: Vec<(usize, ZoneKey)> = Vec::new();
        for (key, standing) in &self.standing {
            if let (Standing::Stands { .. }, Ok(origin)) = (standing, &self.names[key])
                && name.is_at_or_below(origin)
            {
                over.push((origin.label_count(), key.clone()));
            }
        }
        over.sort();
        over.into_iter().rev().map(|(_, key)| key).collect()
    }

    /// Whether some zone between a zone and a name is older than it and was never given leave.
    pub(super) fn is_overruled(&self, zone: &ZoneKey, name: &Name) -> bool {
        self.standing_over(name).iter().any(|between| {
            let Standing::Stands { overrules } = &self.standing[between] else {
                return false;
            };
            overrules.contains(zone)
        })
    }

    /// The nearest zone that stands above a zone.
    pub(super) fn above(&self, key: &ZoneKey) -> Option<ZoneKey> {
        let name = self.names[key].as_ref().ok()?;
        let over = self.standing_over(name);
        let mut above = over
            .into_iter()
            .filter(|zone| self.names[zone].as_ref() != Ok(name));
        above.next()
    }

    /// What something is called that is relative to a zone.
    pub(super) fn under(
        &self,
        naive: &Naive,
        place: &Place,
        parent: &ZoneKey,
    ) -> Result<Name, String> {
        under(naive, place, parent, self.names.get(parent).cloned())
    }
}

fn under(
    naive: &Naive,
    place: &Place,
    parent: &ZoneKey,
    name: Option<Result<Name, String>>,
) -> Result<Name, String> {
    if !naive.zones.contains_key(parent) {
        return Err(format!("no {parent}"));
    }
    match name {
        Some(Ok(name)) => place.under(&name).map_err(|problem| problem.to_string()),
        Some(Err(_)) | None => Err(format!("waits for {parent}")),
    }
}

fn zone_name(naive: &Naive, key: &ZoneKey) -> Result<Name, String> {
    let place = place(naive, key);
    match place {
        None => Err("invalid".to_owned()),
        Some(Place::Full { name, .. }) => Ok(name.clone()),
        Some(Place::Relative { .. }) if leads_to(naive, key, key) => Err("cyclic".to_owned()),
        Some(place @ Place::Relative { parent, .. }) => {
            let name = naive.zones.get(parent).map(|_| zone_name(naive, parent));
            under(naive, place, parent, name)
        }
    }
}

fn leads_to(naive: &Naive, from: &ZoneKey, to: &ZoneKey) -> bool {
    let mut at = from.clone();
    for _ in 0..=naive.zones.len() {
        match place(naive, &at) {
            Some(Place::Relative { parent, .. }) if parent == to => return true,
            Some(Place::Relative { parent, .. }) => at = parent.clone(),
            Some(Place::Full { .. }) | None => return false,
        }
    }
    false
}

fn place<'a>(naive: &'a Naive, key: &ZoneKey) -> Option<&'a Place> {
    naive.zones.get(key)?.claim.as_ref()?.place.as_ref()
}
