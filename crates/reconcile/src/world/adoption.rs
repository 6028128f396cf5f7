//! Records among zones: what each is called and which zone has adopted it (R1–R3, Z14).
//!
//! A Record with a `zoneRef` belongs to that zone or to none; a Record without one to the nearest zone that stands at or
//! above its name and delegates it. What could change a Record's mind is found through indexes: by the zone it
//! refers to, by the zone that has adopted it, and by name among those nobody has adopted.

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use api::parse::place::Place;
use api::problem::{FieldPath, Problem};
use api::zone_slice::CONTENT_BYTES_MAX;
use dns::delegation::Claim;
use dns::routing::Membership;
use dns::{Name, Rdata};

use super::object::RecordObject;
use super::standing::{Nameless, Shift};
use super::tree::{Tree, remove};
use crate::RecordKey;

/// Which zone a Record belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum Adoption {
    /// Its own fields are wrong: its problems say how.
    Invalid,
    /// It has no name.
    Nameless(Nameless),
    /// Its data is wrong in the zone it is for.
    Unfit(Problem),
    /// No zone stands at or above its name.
    NoZone,
    /// The zone in `zoneRef` is not above its name.
    Outside {
        /// The zone.
        zone: ZoneKey,
        /// What that is called.
        origin: Name,
    },
    /// The zone does not delegate it.
    NotDelegated(ZoneKey),
    /// The zone would, but has no say there: another is older.
    Overruled {
        /// The zone that would.
        zone: ZoneKey,
        /// The older one below it.
        by: ZoneKey,
    },
    /// The zone has taken it in.
    Adopted {
        /// The zone.
        zone: ZoneKey,
        /// What it says there.
        data: Rdata,
    },
}

impl Adoption {
    /// The zone that has taken it in.
    pub(crate) fn zone(&self) -> Option<&ZoneKey> {
        match self {
            Adoption::Adopted { zone, .. } => Some(zone),
            Adoption::Invalid
            | Adoption::Nameless(_)
            | Adoption::Unfit(_)
            | Adoption::NoZone
            | Adoption::Outside { .. }
            | Adoption::NotDelegated(_)
            | Adoption::Overruled { .. } => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) object: RecordObject,
    pub(super) name: Result<Name, Nameless>,
    pub(super) adoption: Adoption,
}

#[derive(Debug, Default)]
pub(super) struct Records {
    nodes: BTreeMap<RecordKey, Node>,
    /// Records by the zone in their `zoneRef`, whether it exists or not.
    referrers: BTreeMap<ZoneKey, BTreeSet<RecordKey>>,
    /// Records by the zone that has adopted them.
    adopted: BTreeMap<ZoneKey, BTreeSet<(Name, RecordKey)>>,
    /// Records with a name that nobody has adopted.
    orphans: BTreeSet<(Name, RecordKey)>,
}

impl Records {
    pub(super) fn get(&self, key: &RecordKey) -> Option<&Node> {
        self.nodes.get(key)
    }

    /// A Record with another status or label: nothing moves.
    pub(super) fn refresh(&mut self, key: &RecordKey, object: RecordObject) {
        if let Some(node) = self.nodes.get_mut(key) {
            node.object = object;
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &RecordKey> {
        self.nodes.keys()
    }

    /// Records that a zone has adopted.
    pub(super) fn adopted_by(&self, zone: &ZoneKey) -> impl Iterator<Item = &RecordKey> {
        let adopted = self.adopted.get(zone);
        adopted.into_iter().flatten().map(|(_, record)| record)
    }

    /// Records at or below a name that a zone has adopted.
    pub(super) fn adopted_under(&self, zone: &ZoneKey, name: &Name) -> Vec<RecordKey> {
        self.adopted
            .get(zone)
            .map_or_else(Vec::new, |adopted| under(adopted, name).cloned().collect())
    }

    /// Puts a Record in place of what was there and finds out where it belongs. Tells where it belonged before.
    pub(super) fn put(
        &mut self,
        key: &RecordKey,
        object: RecordObject,
        tree: &Tree,
    ) -> Option<Node> {
        let before = self.take(key);
        let (name, adoption) = judge(key, &object, tree);
        let node = Node {
            object,
            name,
            adoption,
        };
        self.index(key, &node);
        self.nodes.insert(key.clone(), node);
        before
    }

    /// Takes a Record out.
    pub(super) fn take(&mut self, key: &RecordKey) -> Option<Node> {
        let node = self.nodes.remove(key)?;
        if let Some(reference) = reference(&node) {
            remove(&mut self.referrers, reference, key);
        }
        if let Ok(name) = &node.name {
            let entry = (name.clone(), key.clone());
            match node.adoption.zone() {
                Some(zone) => remove(&mut self.adopted, zone, &entry),
                None => drop(self.orphans.remove(&entry)),
            }
        }
        Some(node)
    }

    /// The Records that may belong elsewhere now that zones have moved. `rules`: the zone that delegates something else.
    pub(super) fn affected(
        &self,
        shifts: &[Shift],
        rules: Option<&ZoneKey>,
        tree: &Tree,
    ) -> BTreeSet<RecordKey> {
        let mut affected = BTreeSet::new();
        for shift in shifts {
            let zone = &shift.zone;
            let other_rules = rules == Some(zone);
            if shift.is_renamed() || other_rules {
                affected.extend(self.referrers.get(zone).into_iter().flatten().cloned());
            }
            // Whom it overrules follows from where it stands and from the rules of those above.
            if shift.is_reseated() || other_rules {
                affected.extend(self.adopted_by(zone).cloned());
                for name in shift.seats().into_iter().flatten() {
                    affected.extend(self.in_reach(name, tree));
                }
            }
        }
        affected
    }

    /// The Records at or below a name that nobody has adopted, or a zone that stands at it or above.
    fn in_reach(&self, name: &Name, tree: &Tree) -> BTreeSet<RecordKey> {
        let orphans = under(&self.orphans, name).cloned();
        let over = tree.standing_over(name);
        let adopted = over.flat_map(|(_, zone)| self.adopted_under(zone, name));
        orphans.chain(adopted).collect()
    }

    fn index(&mut self, key: &RecordKey, node: &Node) {
        if let Some(zone) = reference(node) {
            self.referrers
                .entry(zone.clone())
                .or_default()
                .insert(key.clone());
        }
        let Ok(name) = &node.name else { return };
        let entry = (name.clone(), key.clone());
        match node.adoption.zone() {
            Some(zone) => drop(self.adopted.entry(zone.clone()).or_default().insert(entry)),
            None => drop(self.orphans.insert(entry)),
        }
    }
}

/// Where a Record is and whose it is.
fn judge(
    key: &RecordKey,
    record: &RecordObject,
    tree: &Tree,
) -> (Result<Name, Nameless>, Adoption) {
    let Some(place) = &record.claim.place else {
        return (Err(Nameless::Invalid), Adoption::Invalid);
    };
    let name = match place {
        Place::Full { name, .. } => Ok(name.clone()),
        Place::Relative { parent, .. } => tree.resolve_under(place, parent),
    };
    let adoption = match &name {
        Ok(name) => adopt(key, record, place.parent(), name, tree),
        Err(nameless) => Adoption::Nameless(nameless.clone()),
    };
    (name, adoption)
}

fn adopt(
    key: &RecordKey,
    record: &RecordObject,
    reference: Option<&ZoneKey>,
    name: &Name,
    tree: &Tree,
) -> Adoption {
    let Some(content) = &record.claim.content else {
        return Adoption::Invalid;
    };
    let claim = Claim {
        name,
        rtype: content.rtype(),
        namespace: &key.namespace,
    };
    let adopter = match reference {
        Some(zone) => referred(zone, claim, tree),
        None => nearest(claim, tree),
    };
    match adopter {
        Ok((zone, origin)) => match content
            .under(origin)
            .and_then(|data| fits(name, data, content.routing.as_ref()))
        {
            Ok(data) => Adoption::Adopted {
                zone: zone.clone(),
                data,
            },
            Err(problem) => Adoption::Unfit(problem),
        },
        Err(adoption) => adoption,
    }
}

/// Data whose line no slice could hold would keep its whole zone from being stored (Z11).
fn fits(name: &Name, data: Rdata, routing: Option<&Membership>) -> Result<Rdata, Problem> {
    match crate::slice::line_excess(name, &data, routing) {
        None => Ok(data),
        Some(bytes) => {
            let rule = format!(
                "takes {bytes} bytes as a line of a zone file, at most {CONTENT_BYTES_MAX} can be stored"
            );
            let field = FieldPath::spec().field("rdata");
            Err(Problem::bare(&field, rule))
        }
    }
}

/// R2: the zone in `zoneRef`, if it delegates the claim.
fn referred<'a>(
    zone: &'a ZoneKey,
    claim: Claim<'_>,
    tree: &'a Tree,
) -> Result<(&'a ZoneKey, &'a Name), Adoption> {
    let Some(node) = tree.get(zone) else {
        return Err(Adoption::Nameless(Nameless::ParentNotFound(zone.clone())));
    };
    let Some(judge) = node.judge(zone) else {
        return Err(Adoption::Nameless(Nameless::WaitingForParent(zone.clone())));
    };
    if !claim.name.is_at_or_below(judge.origin) {
        return Err(Adoption::Outside {
            zone: zone.clone(),
            origin: judge.origin.clone(),
        });
    }
    if !judge.allows_record(claim) {
        return Err(Adoption::NotDelegated(zone.clone()));
    }
    let mut between = tree
        .standing_over(claim.name)
        .take_while(|(at, _)| at.is_below(judge.origin));
    let older = between.find(|(_, below)| {
        let below = tree.get(below).map(|node| &node.footing.standing);
        below.is_some_and(|standing| standing.overrules().contains(zone))
    });
    match older {
        Some((_, by)) => Err(Adoption::Overruled {
            zone: zone.clone(),
            by: by.clone(),
        }),
        None => Ok((zone, judge.origin)),
    }
}

/// R3: the nearest zone that has a say there and delegates the claim.
fn nearest<'a>(claim: Claim<'_>, tree: &'a Tree) -> Result<(&'a ZoneKey, &'a Name), Adoption> {
    let delegates = |zone: &ZoneKey| {
        let judge = tree.get(zone).and_then(|node| node.judge(zone));
        judge.is_some_and(|judge| judge.allows_record(claim))
    };
    let over: Vec<_> = tree.speaking_over(claim.name).collect();
    match (over.iter().find(|(_, zone)| delegates(zone)), over.first()) {
        (Some((origin, zone)), _) => Ok((*zone, *origin)),
        (None, Some((_, nearest))) => Err(Adoption::NotDelegated((*nearest).clone())),
        (None, None) => Err(Adoption::NoZone),
    }
}

fn reference(node: &Node) -> Option<&ZoneKey> {
    node.object.claim.place.as_ref()?.parent()
}

/// The members of an index at or below a name, which follow it directly.
fn under<'a>(
    index: &'a BTreeSet<(Name, RecordKey)>,
    name: &Name,
) -> impl Iterator<Item = &'a RecordKey> {
    let name = name.clone();
    index
        .range((name.clone(), RecordKey::new("", ""))..)
        .take_while(move |(at, _)| at.is_at_or_below(&name))
        .map(|(_, record)| record)
}
