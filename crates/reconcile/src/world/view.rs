//! Everything that bears on one object, gathered for a pass over it.

use api::ZoneKey;
use api::parse::place::Place;
use api::parse::record::Content;

use super::World;
use super::object::{Faults, ZoneObject};
use super::standing::{Misplaced, Nameless};
use super::tree::Node;
use crate::RecordKey;
use crate::record::RecordView;
use crate::zone::ZoneView;

impl World {
    /// Everything that bears on a Zone; nothing if there is none.
    pub fn zone(&mut self, key: &ZoneKey) -> Option<ZoneView> {
        let content = self.content_view(key);
        let node = self.tree.get(key)?;
        let name = node.name();
        let seen = self.sight.is_seen(key);
        Some(ZoneView {
            key: key.clone(),
            faults: faults(node),
            status: node.object.status.clone(),
            name: node.footing.name.clone(),
            standing: node.footing.standing.clone(),
            repeats: self.repeats(node.object.claim.place.as_ref()),
            misplaced: self.misplaced(node),
            parent: self.parent(node),
            surplus: self.surplus(&node.object, content.as_ref()),
            answered: name.and_then(|name| self.sight.answered(name)),
            spent: name.and_then(|name| self.sight.spent(name)),
            seen: self.policy.name_server.then_some(seen),
            identity: node.object.identity.clone(),
            content,
        })
    }

    /// Z3: the zone in `zoneRef`, or for a full name the nearest above that stands. A zone that does not stand is nobody's
    /// sub-zone, nor is one whose name is not below that of the zone it refers to.
    fn parent(&self, node: &Node) -> Option<ZoneKey> {
        let name = node.footing.seat()?;
        match node.object.claim.place.as_ref()?.parent() {
            Some(reference) => {
                let parent = self.tree.get(reference).and_then(Node::name);
                let is_below = parent.is_some_and(|parent| name.is_below(parent));
                is_below.then(|| reference.clone())
            }
            None => node.footing.above.clone(),
        }
    }

    /// Z2: why the zone in `zoneRef` is not above a zone with a full name.
    fn misplaced(&self, node: &Node) -> Option<Misplaced> {
        let Some(Place::Full {
            name,
            parent: Some(zone),
        }) = &node.object.claim.place
        else {
            return None;
        };
        let Some(parent) = self.tree.get(zone) else {
            return Some(Misplaced::Nameless(Nameless::ParentNotFound(zone.clone())));
        };
        let Some(origin) = parent.name() else {
            return Some(Misplaced::Nameless(Nameless::WaitingForParent(
                zone.clone(),
            )));
        };
        (!name.is_below(origin)).then(|| Misplaced::Outside {
            zone: zone.clone(),
            origin: origin.clone(),
        })
    }

    /// R1: the zone that a place is relative to, if it ends in that one's name already.
    fn repeats(&self, place: Option<&Place>) -> Option<ZoneKey> {
        let (place, parent) = (place?, place?.parent()?);
        let origin = self.tree.get(parent)?.name()?;
        place.looks_full(origin).then(|| parent.clone())
    }

    /// Everything that bears on a Record; nothing if there is none.
    pub fn record(&self, key: &RecordKey) -> Option<RecordView> {
        let node = self.records.get(key)?;
        Some(RecordView {
            key: key.clone(),
            identity: node.object.identity.clone(),
            faults: node.object.faults.clone(),
            status: node.object.status.clone(),
            name: node.name.clone(),
            repeats: self.repeats(node.object.claim.place.as_ref()),
            rtype: node.object.claim.content.as_ref().map(Content::rtype),
            adoption: node.adoption.clone(),
            presence: self.presence(key, node),
        })
    }
}

/// What is wrong with a Zone by itself, and with what becomes of its names under its own.
fn faults(node: &Node) -> Faults {
    let ZoneObject { claim, faults, .. } = &node.object;
    let mut faults = faults.clone();
    if let Some(name) = node.name() {
        let soa = claim.soa.iter().filter_map(|soa| soa.under(name).err());
        let servers = claim.name_servers.iter();
        let servers = servers.filter_map(|server| server.under(name).err());
        faults.problems.extend(soa.chain(servers));
    }
    faults
}
