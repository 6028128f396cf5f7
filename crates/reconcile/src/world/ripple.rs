//! How a change runs down: from zones that move to Records, from Records to contents, from contents to the zones above.

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use dns::{Name, Publication};

use super::adoption::{self, Adoption};
use super::content::{Claim, Claimant, Content};
use super::object::{RecordObject, ZoneObject};
use super::standing::Shift;
use super::{Consequences, World};
use crate::RecordKey;
use crate::slice::Layout;

/// The content of a zone that stands, and how it is cut.
#[derive(Debug)]
pub(super) struct ZoneContent {
    pub(super) content: Content,
    /// Where the content is cut, once it is; and the names that have changed since.
    pub(super) layout: Option<Layout>,
    pub(super) moved: BTreeSet<Name>,
    /// What the zone above carries of it, by name.
    carried: BTreeMap<Name, Vec<Claim>>,
    /// The zone above.
    above: Option<ZoneKey>,
}

impl ZoneContent {
    fn of(content: Content) -> ZoneContent {
        ZoneContent {
            content,
            layout: None,
            moved: BTreeSet::new(),
            carried: BTreeMap::new(),
            above: None,
        }
    }
}

/// What became of contents when zones moved.
#[derive(Default)]
struct Furnished {
    /// Zones that have content anew: all of it is still to come.
    created: BTreeSet<ZoneKey>,
    /// Zones that stand elsewhere, or lost their content.
    emptied: BTreeSet<ZoneKey>,
    unsettled: BTreeSet<ZoneKey>,
}

impl World {
    /// A Zone came, went or changed its mind: whatever stands, hangs or is adopted differently follows.
    pub(super) fn move_zone(
        &mut self,
        key: &ZoneKey,
        object: Option<ZoneObject>,
        consequences: &mut Consequences,
    ) {
        let before = self.tree.get(key).map(|node| &node.object);
        let rules = |object: &ZoneObject| object.claim.delegations.clone();
        let other_rules = before.map(rules) != object.as_ref().map(rules);
        let shifts = self.tree.put(key, object);
        self.tell_zones(&shifts, consequences);
        self.vacate(&shifts, consequences);
        let mut furnished = self.furnish(&shifts);
        let rules = other_rules.then_some(key);
        let affected = self.records.affected(&shifts, rules, &self.tree);
        for record in affected {
            let node = self.records.get(&record).expect("the index is current");
            let object = node.object.clone();
            let unsettled = self.place_record(&record, object, consequences);
            furnished.unsettled.extend(unsettled);
        }
        self.refill(&furnished, consequences);
        self.settle(furnished.unsettled, consequences);
        self.relay(&shifts, &furnished.created, consequences);
    }

    /// Zones that stand differently, and those whose `zoneRef` leads to one that is called something else.
    fn tell_zones(&self, shifts: &[Shift], consequences: &mut Consequences) {
        for shift in shifts {
            if shift.after.is_some() {
                consequences.zone(&shift.zone);
            }
            if shift.is_renamed() {
                for referrer in self.tree.referrers(&shift.zone) {
                    consequences.zone(referrer);
                }
            }
        }
    }

    /// Names at which no zone stands any more are withdrawn.
    fn vacate(&mut self, shifts: &[Shift], consequences: &mut Consequences) {
        for shift in shifts.iter().filter(|shift| shift.is_reseated()) {
            self.sight.forget_zone(&shift.zone);
            let [before, _] = shift.seats();
            if let Some(name) = before.filter(|name| self.tree.standing_at(name).is_none()) {
                let withdrawal = Publication::Withdrawal(name.clone());
                consequences.publications.push(withdrawal);
            }
        }
    }

    /// Contents of zones that begin or cease to stand, or that say something else about themselves.
    fn furnish(&mut self, shifts: &[Shift]) -> Furnished {
        let mut furnished = Furnished::default();
        for shift in shifts {
            let zone = &shift.zone;
            let wanted = self.furniture(zone);
            let lost = wanted.is_none() && self.contents.contains_key(zone);
            if shift.is_reseated() || lost {
                furnished.unsettled.extend(self.empty(zone));
                furnished.emptied.insert(zone.clone());
            }
            let Some((name, soa, servers)) = wanted else {
                continue;
            };
            let held = self.contents.entry(zone.clone()).or_insert_with(|| {
                furnished.created.insert(zone.clone());
                let content = Content::new(name.clone(), soa.clone(), self.epoch + 1);
                ZoneContent::of(content)
            });
            held.content.set_soa(soa);
            let servers = (!servers.is_empty()).then_some(servers);
            held.content.claim(&name, Claimant::Itself, servers);
            furnished.unsettled.insert(zone.clone());
        }
        furnished
    }

    /// What a zone says about itself; nothing unless it stands and has an SOA.
    fn furniture(&self, key: &ZoneKey) -> Option<(Name, dns::Soa, Vec<Claim>)> {
        let node = self.tree.get(key)?;
        let name = node.footing.seat()?;
        let claim = &node.object.claim;
        let soa = claim.soa.as_ref()?.under(name).ok()?;
        let servers = claim.name_servers.iter();
        let servers = servers.filter_map(|server| server.under(name).ok());
        let servers = servers.map(|data| Claim {
            age: None,
            ttl: None,
            membership: None,
            data,
        });
        Some((name.clone(), soa, servers.collect()))
    }

    /// Drops the content of a zone, and what the zone above carried of it.
    fn empty(&mut self, key: &ZoneKey) -> Option<ZoneKey> {
        let gone = self.contents.remove(key)?;
        self.epoch = self.epoch.max(gone.content.epoch());
        let above = gone.above?;
        self.carry(&above, key, gone.carried.keys(), |_| None);
        Some(above)
    }

    /// Records of zones that have content anew bring their claims; those of all that lost it hear of it.
    fn refill(&mut self, furnished: &Furnished, consequences: &mut Consequences) {
        for zone in furnished.created.union(&furnished.emptied) {
            let adopted: Vec<_> = self.records.adopted_by(zone).cloned().collect();
            for record in &adopted {
                self.insert_claim(record);
            }
            consequences.records(adopted);
        }
    }

    /// Judges where a Record belongs, and moves its claim there. Tells whose content is unsettled.
    pub(super) fn place_record(
        &mut self,
        key: &RecordKey,
        object: RecordObject,
        consequences: &mut Consequences,
    ) -> BTreeSet<ZoneKey> {
        let before = self.records.put(key, object, &self.tree);
        let node = self.records.get(key).expect("it was just put");
        let mut unsettled = BTreeSet::new();
        if let Some(before) = before {
            if before.name != node.name || before.adoption != node.adoption {
                consequences.record(key);
            }
            if before.name != node.name || before.adoption.zone() != node.adoption.zone() {
                unsettled.extend(self.withdraw(key, &before));
            }
        }
        unsettled.extend(self.insert_claim(key));
        unsettled
    }

    fn insert_claim(&mut self, key: &RecordKey) -> Option<ZoneKey> {
        let node = self.records.get(key)?;
        let (Ok(name), Adoption::Adopted { zone, data }) = (&node.name, &node.adoption) else {
            return None;
        };
        let content = node.object.claim.content.as_ref()?;
        let claim = Claim {
            age: Some(node.object.identity.age.clone()),
            ttl: content.ttl,
            membership: content.routing.clone(),
            data: data.clone(),
        };
        let held = self.contents.get_mut(zone)?;
        held.content
            .claim(name, Claimant::Record(key.clone()), Some(vec![claim]));
        Some(zone.clone())
    }

    /// Takes a Record's claim out of the zone it was in, whose content is unsettled then.
    pub(super) fn withdraw(&mut self, key: &RecordKey, before: &adoption::Node) -> Option<ZoneKey> {
        let (name, zone) = (before.name.as_ref().ok()?, before.adoption.zone()?);
        let held = self.contents.get_mut(zone)?;
        held.content
            .claim(name, Claimant::Record(key.clone()), None);
        Some(zone.clone())
    }

    /// Settles contents, and carries what changes about delegations upwards.
    pub(super) fn settle(
        &mut self,
        mut unsettled: BTreeSet<ZoneKey>,
        consequences: &mut Consequences,
    ) {
        while let Some(key) = unsettled.pop_first() {
            let Some(held) = self.contents.get_mut(&key) else {
                continue;
            };
            let settled = held.content.settle();
            if !settled.sets.is_empty() {
                consequences.zone(&key);
            }
            consequences.records(settled.records);
            if held.layout.is_some() {
                let names = settled.sets.iter().map(|key| key.name.clone());
                held.moved.extend(names);
            }
            if held.content.delegation_depends_on(&settled.sets) {
                unsettled.extend(self.lift(&key));
            }
        }
    }

    /// Zones that now hang elsewhere are carried there; Records of the zones above are told that they are occluded, or no
    /// longer.
    fn relay(
        &mut self,
        shifts: &[Shift],
        created: &BTreeSet<ZoneKey>,
        consequences: &mut Consequences,
    ) {
        let children = created.iter().flat_map(|zone| self.tree.children(zone));
        let moved = shifts.iter().map(|shift| &shift.zone);
        let lifted: BTreeSet<ZoneKey> = moved.chain(created).chain(children).cloned().collect();
        let unsettled = lifted.iter().flat_map(|zone| self.lift(zone)).collect();
        self.settle(unsettled, consequences);
        for shift in shifts.iter().filter(|shift| shift.is_reseated()) {
            for name in shift.seats().into_iter().flatten() {
                let over = self.tree.standing_over(name);
                for (_, zone) in over.filter(|(_, zone)| **zone != shift.zone) {
                    consequences.records(self.records.adopted_under(zone, name));
                }
            }
        }
    }

    /// Brings what the zone above carries of a zone up to date. Tells whose content is unsettled.
    fn lift(&mut self, key: &ZoneKey) -> BTreeSet<ZoneKey> {
        let node = self.tree.get(key);
        let above = node.and_then(|node| node.footing.above.clone());
        let Some(held) = self.contents.get_mut(key) else {
            return BTreeSet::new();
        };
        let carried = held.content.delegation();
        let was = std::mem::replace(&mut held.carried, carried.clone());
        let was_above = std::mem::replace(&mut held.above, above.clone());
        if let Some(old) = &was_above {
            let moved = above != was_above;
            let gone = was
                .keys()
                .filter(|name| moved || !carried.contains_key(*name));
            self.carry(old, key, gone, |_| None);
        }
        if let Some(above) = &above {
            self.carry(above, key, carried.keys(), |name| {
                carried.get(name).cloned()
            });
        }
        was_above.into_iter().chain(above).collect()
    }

    fn carry<'a>(
        &mut self,
        above: &ZoneKey,
        sub_zone: &ZoneKey,
        names: impl Iterator<Item = &'a Name>,
        claims: impl Fn(&Name) -> Option<Vec<Claim>>,
    ) {
        let Some(held) = self.contents.get_mut(above) else {
            return;
        };
        for name in names {
            held.content
                .claim(name, Claimant::SubZone(sub_zone.clone()), claims(name));
        }
    }
}
