//! How a change runs down: from zones that move to Records, from Records to contents, from contents to the zones above.

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use dns::{Name, Publication, Rtype, SetKey};

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
    /// What the zone above carries of it.
    carried: BTreeMap<(Name, Claimant), Vec<Claim>>,
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

    /// Whether the zone above may have to carry something else now that these sets have changed.
    fn delegation_depends_on(&self, key: &ZoneKey, changed: &BTreeSet<SetKey>) -> bool {
        let apex = self.content.zone().origin();
        changed.iter().any(|set| match set.rtype {
            Rtype::NS | Rtype::DS => set.name == *apex,
            Rtype::A | Rtype::AAAA => {
                let server = (set.name.clone(), Claimant::ServerOf(key.clone()));
                self.carried.contains_key(&server)
            }
            _ => false,
        })
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
        self.carry(&above, gone.carried.keys(), |_| None);
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
            if held.delegation_depends_on(&key, &settled.sets) {
                unsettled.extend(self.lift(&key));
            }
            // What the zone says at the name of one below it may name servers of that one.
            for name in settled.names {
                if let Some(below) = self.directly_below(&key, &name) {
                    unsettled.extend(self.lift(&below));
                }
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
        let over = above.as_ref().and_then(|above| self.contents.get(above));
        let name = node.and_then(|node| node.name());
        let named_above = over
            .zip(name)
            .map(|(over, name)| over.content.servers_at(name));
        let Some(held) = self.contents.get_mut(key) else {
            return BTreeSet::new();
        };
        let carried = held
            .content
            .delegation(key, named_above.unwrap_or_default());
        let was = std::mem::replace(&mut held.carried, carried.clone());
        let was_above = std::mem::replace(&mut held.above, above.clone());
        if let Some(old) = &was_above {
            let moved = above != was_above;
            let gone = was.keys().filter(|at| moved || !carried.contains_key(at));
            self.carry(old, gone, |_| None);
        }
        if let Some(above) = &above {
            self.carry(above, carried.keys(), |at| carried.get(at).cloned());
        }
        was_above.into_iter().chain(above).collect()
    }

    fn carry<'a>(
        &mut self,
        above: &ZoneKey,
        carried: impl Iterator<Item = &'a (Name, Claimant)>,
        claims: impl Fn(&(Name, Claimant)) -> Option<Vec<Claim>>,
    ) {
        let Some(held) = self.contents.get_mut(above) else {
            return;
        };
        for at in carried {
            let (name, claimant) = at;
            held.content.claim(name, claimant.clone(), claims(at));
        }
    }

    /// The zone that stands at a name, if it hangs on this one.
    fn directly_below(&self, key: &ZoneKey, name: &Name) -> Option<ZoneKey> {
        let below = self.tree.standing_at(name)?;
        let above = self.tree.get(below)?.footing.above.as_ref();
        (above == Some(key)).then(|| below.clone())
    }
}
