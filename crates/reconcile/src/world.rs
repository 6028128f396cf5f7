//! Every watched object, indexed, and what follows from all of them together.
//!
//! ```text
//! objects ─► tree       zones: names, who stands, who is above whom
//!         ─► adoption   records: names, whose they are
//!         ─► content    per zone that stands: claims, record sets, outcomes
//!         ─► sight      what name servers have been seen to answer
//! ```
//!
//! A change enters on top and runs down (`ripple`); each step tells the next what it touched. What comes out is the set
//! of keys for which something else holds now. A test compares all of it with a world that recomputes everything.

mod adoption;
mod content;
mod object;
mod presence;
mod ripple;
mod sight;
mod slices;
mod standing;
mod tree;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use api::{Decoded, ZoneKey};
use dns::{Name, Publication, Serial, Sighting, Version};

use crate::key::{Key, RecordKey};

use adoption::Records;
use object::{RecordObject, ZoneObject};
use ripple::ZoneContent;
use sight::Sight;
use slices::Slices;
use tree::Tree;

pub use adoption::Adoption;
pub use content::{Claimant, Outcome};
pub use object::{Faults, Identity};
pub use sight::Seen;
pub use standing::{Authority, Misplaced, Nameless, Standing};

/// What the operator has chosen.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Who has authority over a name (Z13).
    pub authority: Authority,
    /// Whether a name server runs in this process (R8).
    pub name_server: bool,
    /// The most entries a Zone's status holds; beyond it they move to slices (Z11).
    pub inline_max: usize,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            authority: Authority::Strict,
            name_server: true,
            inline_max: 1_000,
        }
    }
}

/// What follows from a change.
#[derive(Debug, Default)]
pub struct Consequences {
    /// The objects for which something else holds now.
    pub keys: BTreeSet<Key>,
    /// What name servers are to be told, in this order.
    pub publications: Vec<Publication>,
}

impl Consequences {
    fn zone(&mut self, key: &ZoneKey) {
        self.keys.insert(Key::Zone(key.clone()));
    }

    fn record(&mut self, key: &RecordKey) {
        self.keys.insert(Key::Record(key.clone()));
    }

    fn records(&mut self, keys: impl IntoIterator<Item = RecordKey>) {
        self.keys.extend(keys.into_iter().map(Key::Record));
    }
}

/// Every watched object.
#[derive(Debug)]
pub struct World {
    policy: Policy,
    tree: Tree,
    records: Records,
    contents: BTreeMap<ZoneKey, ZoneContent>,
    /// The highest epoch of the contents that are gone: no later content counts its changes from below it.
    epoch: u64,
    slices: Slices,
    sight: Sight,
}

impl World {
    /// A world without objects. `stored` is what name servers answer with already (Z7).
    pub fn new(policy: Policy, stored: BTreeMap<Name, Serial>) -> World {
        World {
            policy,
            tree: Tree::new(policy.authority),
            records: Records::default(),
            contents: BTreeMap::new(),
            epoch: 0,
            slices: Slices::default(),
            sight: Sight::new(stored),
        }
    }

    /// A serial that was used for a name, which nobody need answer for any more: it is not used again (Z7). Told for what
    /// name servers remember of zones they gave up.
    pub fn spend(&mut self, origin: &Name, serial: Serial) {
        self.sight.spend(origin, serial);
    }

    /// Every object that passes are made over.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let zones = self.tree.keys().cloned().map(Key::Zone);
        zones.chain(self.records.keys().cloned().map(Key::Record))
    }

    /// What is known of an object, if it is.
    pub fn identity(&self, key: &Key) -> Option<&Identity> {
        match key {
            Key::Zone(key) => Some(&self.tree.get(key)?.object.identity),
            Key::Record(key) => Some(&self.records.get(key)?.object.identity),
        }
    }

    /// How many zones have a version that name servers were told of and have not answered with yet.
    pub fn unseen(&self) -> usize {
        if self.policy.name_server {
            self.sight.unseen()
        } else {
            0
        }
    }

    /// Names that name servers answer for although no zone stands there. Asked for once, when everything has been seen
    /// for the first time: from then on they are told as it happens.
    pub fn abandoned(&self) -> Vec<Publication> {
        let origins = self.sight.origins();
        let gone = origins.filter(|origin| self.tree.standing_at(origin).is_none());
        gone.map(|origin| Publication::Withdrawal(origin.clone()))
            .collect()
    }

    /// A Zone as it is now.
    pub fn apply_zone(&mut self, key: &ZoneKey, object: Decoded<api::Zone>) -> Consequences {
        let object = ZoneObject::read(object);
        let mut consequences = Consequences::default();
        let before = self.tree.get(key).map(|node| &node.object);
        if before.is_none_or(|before| before.is_news(&object)) {
            consequences.zone(key);
        }
        // Labels and status are output: they move nothing.
        if before.is_some_and(|before| before.says_as_much_as(&object)) {
            self.tree.refresh(key, object);
        } else {
            self.move_zone(key, Some(object), &mut consequences);
        }
        self.look_out(&consequences);
        consequences
    }

    /// A Zone is gone, or going.
    pub fn delete_zone(&mut self, key: &ZoneKey) -> Consequences {
        let mut consequences = Consequences::default();
        if self.tree.get(key).is_some() {
            self.move_zone(key, None, &mut consequences);
        }
        self.look_out(&consequences);
        consequences
    }

    /// A Record as it is now.
    pub fn apply_record(&mut self, key: &RecordKey, object: Decoded<api::Record>) -> Consequences {
        let object = RecordObject::read(object);
        let mut consequences = Consequences::default();
        let before = self.records.get(key).map(|node| &node.object);
        if before.is_none_or(|before| before.is_news(&object)) {
            consequences.record(key);
        }
        if before.is_some_and(|before| before.says_as_much_as(&object)) {
            self.records.refresh(key, object);
        } else {
            let unsettled = self.place_record(key, object, &mut consequences);
            self.settle(unsettled, &mut consequences);
        }
        self.look_out(&consequences);
        consequences
    }

    /// A Record is gone, or going.
    pub fn delete_record(&mut self, key: &RecordKey) -> Consequences {
        let mut consequences = Consequences::default();
        let Some(before) = self.records.take(key) else {
            return consequences;
        };
        let unsettled = self.withdraw(key, &before).into_iter().collect();
        self.sight.forget_record(key);
        self.settle(unsettled, &mut consequences);
        self.look_out(&consequences);
        consequences
    }

    /// The API holds a version: name servers may be told, and when they answer with it, so do all changes up to `epoch`.
    pub fn acknowledge(&mut self, key: &ZoneKey, version: Version, epoch: u64) -> Consequences {
        let mut consequences = Consequences::default();
        self.sight.spend(version.zone.origin(), version.serial);
        // Meanwhile the zone may have lost its name, or be called something else.
        if self.tree.standing_at(version.zone.origin()) != Some(key) {
            return consequences;
        }
        let (news, seen) = self.sight.acknowledge(key, &version, epoch);
        if news {
            let publication = Publication::Version(version);
            consequences.publications.push(publication);
        }
        consequences.records(seen);
        consequences
    }

    /// Name servers have been seen to answer with a version.
    pub fn sighted(&mut self, sighting: &Sighting) -> Consequences {
        let mut consequences = Consequences::default();
        let origin = &sighting.origin;
        let holder = self.tree.standing_at(origin);
        let seen = self.sight.sighted(sighting, holder);
        consequences.keys.extend(holder.cloned().map(Key::Zone));
        consequences.records(seen);
        if sighting.serial.is_none() {
            // What is below the name is answered by the zones above it again.
            for (_, zone) in self.tree.standing_over(origin) {
                consequences.records(self.records.adopted_under(zone, origin));
            }
        }
        consequences
    }
}
