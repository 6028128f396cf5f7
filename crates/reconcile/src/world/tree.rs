//! Zones among each other: what each is called, which of them stands, and which is above which (Z1–Z3, Z13).
//!
//! A zone's name follows from its spec and the names of the zones its `zoneRef` leads through. A named zone claims that
//! name; of those who claim one name at most one stands. How a zone stands depends on those that stand above it and on
//! nothing else, so a change is judged anew from the name where it happened downwards, what is above first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use api::ZoneKey;
use api::parse::place::Place;
use dns::Name;
use dns::delegation::Judge;

use super::object::ZoneObject;
use super::standing::{Authority, Footing, Nameless, Shift, Standing};
use crate::Age;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) object: ZoneObject,
    pub(super) footing: Footing,
}

impl Node {
    /// What the zone is called, if it is called anything.
    pub(super) fn name(&self) -> Option<&Name> {
        self.footing.name.as_ref().ok()
    }

    /// The zone as a judge of claims; nothing without a name.
    pub(super) fn judge<'a>(&'a self, key: &'a ZoneKey) -> Option<Judge<'a>> {
        Some(Judge {
            origin: self.name()?,
            namespace: &key.namespace,
            delegations: &self.object.claim.delegations,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    authority: Authority,
    zones: BTreeMap<ZoneKey, Node>,
    /// Zones by the zone in their `zoneRef`, whether it exists or not.
    referrers: BTreeMap<ZoneKey, BTreeSet<ZoneKey>>,
    /// Everyone who claims a name, the oldest first.
    claimants: BTreeMap<Name, BTreeSet<(Age, ZoneKey)>>,
    /// Who stands at a name.
    standing: BTreeMap<Name, ZoneKey>,
}

/// What one change disturbs.
#[derive(Default)]
struct Disturbance {
    /// How zones stood before it.
    before: BTreeMap<ZoneKey, Option<Footing>>,
    /// Names that are still to be judged. In canonical order: what is above comes first.
    names: BTreeSet<Name>,
}

impl Tree {
    pub(super) fn new(authority: Authority) -> Tree {
        Tree {
            authority,
            ..Tree::default()
        }
    }

    pub(super) fn get(&self, key: &ZoneKey) -> Option<&Node> {
        self.zones.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &ZoneKey> {
        self.zones.keys()
    }

    /// The zone that stands at a name.
    pub(super) fn standing_at(&self, name: &Name) -> Option<&ZoneKey> {
        self.standing.get(name)
    }

    /// The zones that stand at a name and above it, the nearest first.
    pub(super) fn standing_over(&self, name: &Name) -> impl Iterator<Item = (&Name, &ZoneKey)> {
        name.ancestors()
            .filter_map(|ancestor| self.standing.get_key_value(&ancestor))
    }

    /// Those of the zones at a name and above it that have a say there, the nearest first: all but the ones that an older
    /// zone in between overrules.
    pub(super) fn speaking_over(&self, name: &Name) -> impl Iterator<Item = (&Name, &ZoneKey)> {
        let mut overruled: BTreeSet<&ZoneKey> = BTreeSet::new();
        self.standing_over(name).filter(move |(_, zone)| {
            let speaks = !overruled.contains(zone);
            overruled.extend(self.zones[*zone].footing.standing.overrules());
            speaks
        })
    }

    /// The zones directly below a zone.
    pub(super) fn children(&self, key: &ZoneKey) -> impl Iterator<Item = &ZoneKey> {
        let name = self.zones.get(key).and_then(Node::name);
        let names = name.into_iter().flat_map(|name| self.claimed_under(name));
        let zones = names.flat_map(|(_, claimants)| claimants.iter().map(|(_, zone)| zone));
        zones.filter(move |zone| self.zones[*zone].footing.above.as_ref() == Some(key))
    }

    /// The zones whose `zoneRef` names a zone.
    pub(super) fn referrers(&self, key: &ZoneKey) -> impl Iterator<Item = &ZoneKey> {
        self.referrers.get(key).into_iter().flatten()
    }

    /// A zone with another status or label: nobody moves.
    pub(super) fn refresh(&mut self, key: &ZoneKey, object: ZoneObject) {
        if let Some(node) = self.zones.get_mut(key) {
            node.object = object;
        }
    }

    /// Puts a zone in place of what was there, or takes it out, and tells whose place has changed; the zone itself is
    /// always among them.
    pub(super) fn put(&mut self, key: &ZoneKey, object: Option<ZoneObject>) -> Vec<Shift> {
        let mut disturbance = Disturbance::default();
        let footing = self.zones.get(key).map(|node| node.footing.clone());
        disturbance.before.insert(key.clone(), footing);
        let before = self.zones.get(key).map(|node| &node.object);
        match (before, object) {
            (Some(before), Some(object)) if stays_in_place(before, &object) => {
                let other_rules = before.claim.delegations != object.claim.delegations;
                self.refresh(key, object);
                if let Some(name) = self.zones[key].name().filter(|_| other_rules).cloned() {
                    disturbance.names.extend(self.names_under(&name));
                }
            }
            (_, object) => self.relocate(key, object, &mut disturbance),
        }
        while let Some(name) = disturbance.names.pop_first() {
            self.assess(&name, &mut disturbance);
        }
        self.shifts(key, disturbance)
    }

    /// A zone comes, goes or is called something else, and with it every zone that is named after it.
    fn relocate(
        &mut self,
        key: &ZoneKey,
        object: Option<ZoneObject>,
        disturbance: &mut Disturbance,
    ) {
        let moving = self.namesakes(key);
        for zone in &moving {
            self.detach(zone, disturbance);
        }
        self.replace(key, object);
        let ring = self.ring(key);
        for zone in &moving {
            self.attach(zone, &ring, disturbance);
        }
    }

    /// The zone and every zone whose name is made of its name, parents first.
    fn namesakes(&self, key: &ZoneKey) -> Vec<ZoneKey> {
        let mut seen = BTreeSet::from([key.clone()]);
        let mut queue = VecDeque::from([key.clone()]);
        let mut namesakes = Vec::new();
        while let Some(zone) = queue.pop_front() {
            for referrer in self.referrers(&zone) {
                let named_after = relative_to(&self.zones[referrer]) == Some(&zone);
                if named_after && seen.insert(referrer.clone()) {
                    queue.push_back(referrer.clone());
                }
            }
            namesakes.push(zone);
        }
        namesakes
    }

    /// The zones on the way from a zone back to itself; none if there is no such way.
    fn ring(&self, key: &ZoneKey) -> BTreeSet<ZoneKey> {
        let mut ring = BTreeSet::new();
        let mut at = key;
        while let Some(parent) = self.zones.get(at).and_then(relative_to) {
            if !ring.insert(parent.clone()) {
                // Round in a circle that the zone itself is not part of.
                return BTreeSet::new();
            }
            if parent == key {
                return ring;
            }
            at = parent;
        }
        BTreeSet::new()
    }

    fn replace(&mut self, key: &ZoneKey, object: Option<ZoneObject>) {
        if let Some(parent) = self.zones.get(key).and_then(reference) {
            remove(&mut self.referrers, &parent, key);
        }
        let Some(object) = object else {
            self.zones.remove(key);
            return;
        };
        let node = Node {
            object,
            footing: Footing::nameless(Nameless::Invalid),
        };
        if let Some(parent) = reference(&node) {
            self.referrers
                .entry(parent)
                .or_default()
                .insert(key.clone());
        }
        self.zones.insert(key.clone(), node);
    }

    fn detach(&mut self, key: &ZoneKey, disturbance: &mut Disturbance) {
        let Some(node) = self.zones.get(key) else {
            return;
        };
        disturbance.remember(key, node);
        let Ok(name) = node.footing.name.clone() else {
            return;
        };
        disturbance.names.extend(self.names_under(&name));
        let entry = (node.object.identity.age.clone(), key.clone());
        remove(&mut self.claimants, &name, &entry);
    }

    fn attach(&mut self, key: &ZoneKey, ring: &BTreeSet<ZoneKey>, disturbance: &mut Disturbance) {
        let Some(node) = self.zones.get(key) else {
            return;
        };
        let name = if ring.contains(key) {
            Err(Nameless::Cyclic)
        } else {
            self.resolve(node)
        };
        let age = node.object.identity.age.clone();
        if let Ok(name) = &name {
            let claimants = self.claimants.entry(name.clone()).or_default();
            claimants.insert((age, key.clone()));
            disturbance.names.extend(self.names_under(name));
        }
        let node = self.zones.get_mut(key).expect("it was just there");
        node.footing = Footing {
            name,
            standing: Standing::Nameless,
            above: None,
        };
    }

    /// What a zone is called. Those it is named after have been asked before it.
    fn resolve(&self, node: &Node) -> Result<Name, Nameless> {
        match &node.object.claim.place {
            None => Err(Nameless::Invalid),
            Some(Place::Full { name, .. }) => Ok(name.clone()),
            Some(place @ Place::Relative { parent, .. }) => self.resolve_under(place, parent),
        }
    }

    /// What something is called that is relative to a zone.
    pub(super) fn resolve_under(&self, place: &Place, parent: &ZoneKey) -> Result<Name, Nameless> {
        let node = self
            .zones
            .get(parent)
            .ok_or_else(|| Nameless::ParentNotFound(parent.clone()))?;
        match node.name() {
            Some(name) => place.under(name).map_err(Nameless::Unfit),
            None => Err(Nameless::WaitingForParent(parent.clone())),
        }
    }

    /// Judges those who claim a name: of those that are entitled the oldest stands.
    fn assess(&mut self, name: &Name, disturbance: &mut Disturbance) {
        let verdicts = self.verdicts(name);
        self.standing.remove(name);
        let above = self.standing_over(name).next();
        let above = above.map(|(_, zone)| zone.clone());
        for (zone, standing) in verdicts {
            if standing.stands() {
                self.standing.insert(name.clone(), zone.clone());
            }
            let node = self.zones.get_mut(&zone).expect("claimants exist");
            disturbance.remember(&zone, node);
            node.footing.standing = standing;
            node.footing.above.clone_from(&above);
        }
    }

    fn verdicts(&self, name: &Name) -> Vec<(ZoneKey, Standing)> {
        let mut winner: Option<&ZoneKey> = None;
        let mut verdicts = Vec::new();
        for (age, zone) in self.claimants.get(name).into_iter().flatten() {
            let standing = match (self.entitlement(zone, name, age), winner) {
                (denied @ Standing::NotDelegated(_), _) => denied,
                (_, Some(first)) => Standing::Conflicted(first.clone()),
                (entitled, None) => {
                    winner = Some(zone);
                    entitled
                }
            };
            verdicts.push((zone.clone(), standing));
        }
        verdicts
    }

    /// Whether a zone may stand at its name, seen from those that have a say there: it needs the leave of the nearest, but
    /// for those that are newer than it.
    fn entitlement(&self, zone: &ZoneKey, name: &Name, age: &Age) -> Standing {
        let mut overrules = Vec::new();
        let over = name
            .parent()
            .filter(|_| self.authority == Authority::Strict);
        for (_, above) in over.iter().flat_map(|parent| self.speaking_over(parent)) {
            let node = &self.zones[above];
            let judge = node.judge(above).expect("a zone that stands has a name");
            if above.namespace == zone.namespace || judge.allows_zone(name, &zone.namespace) {
                break;
            }
            if *age >= node.object.identity.age {
                return Standing::NotDelegated(above.clone());
            }
            overrules.push(above.clone());
        }
        Standing::Stands { overrules }
    }

    /// The names at and below a name that anyone claims.
    fn claimed_under(
        &self,
        name: &Name,
    ) -> impl Iterator<Item = (&Name, &BTreeSet<(Age, ZoneKey)>)> {
        let top = name.clone();
        self.claimants
            .range(name.clone()..)
            .take_while(move |(at, _)| at.is_at_or_below(&top))
    }

    fn names_under(&self, name: &Name) -> Vec<Name> {
        let names = self.claimed_under(name).map(|(at, _)| at.clone());
        names.chain([name.clone()]).collect()
    }

    fn shifts(&self, key: &ZoneKey, disturbance: Disturbance) -> Vec<Shift> {
        let shifts = disturbance.before.into_iter().map(|(zone, before)| {
            let after = self.zones.get(&zone).map(|node| node.footing.clone());
            Shift {
                zone,
                before,
                after,
            }
        });
        shifts
            .filter(|shift| shift.zone == *key || shift.before != shift.after)
            .collect()
    }
}

impl Disturbance {
    /// Keeps how a zone stood before anything happened to it.
    fn remember(&mut self, zone: &ZoneKey, node: &Node) {
        self.before
            .entry(zone.clone())
            .or_insert_with(|| Some(node.footing.clone()));
    }
}

/// Whether a zone keeps its name and its seniority: then only what it says can move others.
fn stays_in_place(before: &ZoneObject, after: &ZoneObject) -> bool {
    before.claim.place == after.claim.place && before.identity.age == after.identity.age
}

/// The zone in `zoneRef`.
fn reference(node: &Node) -> Option<ZoneKey> {
    let place = node.object.claim.place.as_ref()?;
    place.parent().cloned()
}

/// The zone in `zoneRef`, if the name depends on it.
fn relative_to(node: &Node) -> Option<&ZoneKey> {
    match node.object.claim.place.as_ref()? {
        Place::Relative { parent, .. } => Some(parent),
        Place::Full { .. } => None,
    }
}

/// Takes a member out of a set in a map; empty sets do not stay.
pub(super) fn remove<K: Ord + Clone, V: Ord>(
    map: &mut BTreeMap<K, BTreeSet<V>>,
    key: &K,
    value: &V,
) {
    if let Some(set) = map.get_mut(key) {
        set.remove(value);
        if set.is_empty() {
            map.remove(key);
        }
    }
}
