//! What became of a Record in its zone: in or not, answered or hidden, seen or still on its way (R6, R8, Z5).

use api::condition::find;
use api::{ConditionType, Reason, Status, ZoneKey};
use dns::{Flaw, Name, Rdata, Rtype, SetKey};

use super::adoption::{Adoption, Node};
use super::content::{Claimant, Content, Outcome};
use super::object::RecordObject;
use super::sight::{Seen, Wish};
use super::{Consequences, World};
use crate::record::{Notes, Presence};
use crate::{Key, RecordKey};

impl World {
    /// What became of a Record.
    pub(super) fn presence(&self, key: &RecordKey, node: &Node) -> Presence {
        let (Ok(name), Adoption::Adopted { zone, data }) = (&node.name, &node.adoption) else {
            return Presence::None;
        };
        let Some(held) = self.contents.get(zone) else {
            return self.presence_without_content(zone, name, &node.object);
        };
        let outcome = held.content.outcome(key);
        let (lowered, duplicates, rerouted) = match outcome.expect("what is settled has an outcome")
        {
            Outcome::In {
                lowered,
                duplicates,
                rerouted,
            } => (lowered, duplicates, rerouted),
            Outcome::Excluded { by, rule } => {
                let (by, rule) = (by.clone(), rule.clone());
                return Presence::Excluded { by, rule };
            }
            Outcome::Glue(sub_zone) => return Presence::Glue(sub_zone.clone()),
        };
        let at = SetKey::new(name.clone(), data.rtype());
        let flaws = flaws(&held.content, &at);
        let lowered = lowered.map(|ttl| {
            let text = format!(
                "spec.ttl: other records of {at} have a lower one, and a set has one TTL, so this is answered with {ttl}"
            );
            (Reason::DifferingTtl, text)
        });
        let duplicate = duplicates.as_ref().map(duplicate);
        let rerouted = rerouted.as_ref().map(rerouted_by);
        let notes = lowered.into_iter().chain(duplicate).chain(rerouted);
        let notes = notes.chain(alias(&flaws, data));
        let notes = Notes(notes.chain(lost(&held.content, &at, data)).collect());
        match self.hidden_by(zone, &at, &flaws) {
            Some(by) => Presence::Occluded { notes, by },
            None => Presence::In {
                notes,
                seen: self.policy.name_server.then(|| self.seen(key, zone, &at)),
            },
        }
    }

    /// A zone without content does not stand, or keeps the last version it had.
    fn presence_without_content(
        &self,
        zone: &ZoneKey,
        name: &Name,
        record: &RecordObject,
    ) -> Presence {
        let node = self.tree.get(zone);
        if node.is_some_and(|node| node.footing.standing.stands()) {
            let published = was_published(record, zone, name);
            return Presence::ZoneStays { published };
        }
        Presence::ZoneNotAccepted
    }

    /// Who answers instead of a zone at one of its names: the nearest zone of ours, or whoever the zone hands over to.
    fn hidden_by(&self, zone: &ZoneKey, at: &SetKey, flaws: &[Flaw]) -> Option<String> {
        let mut over = self.tree.standing_over(&at.name);
        let nearest = over.find(|(origin, holder)| *holder == zone || !is_above_cut(at, origin));
        if let Some((origin, nearest)) = nearest.filter(|(_, nearest)| *nearest != zone) {
            return Some(format!(
                "Zone {nearest} answers for {origin} and everything below it"
            ));
        }
        flaws.iter().find_map(|flaw| {
            let Flaw::Occluded { cut, rtype } = flaw else {
                return None;
            };
            Some(format!(
                "the {rtype} record at {cut} hands over everything below it"
            ))
        })
    }

    /// Whether a Record has been seen. Where name servers still answer for a zone below, nothing of this one has been.
    fn seen(&self, key: &RecordKey, zone: &ZoneKey, at: &SetKey) -> Seen {
        let origin = self.tree.get(zone).and_then(super::tree::Node::name);
        let mut between = at
            .name
            .ancestors()
            .take_while(|name| origin.is_some_and(|origin| name.is_below(origin)));
        let shadowed =
            between.any(|name| self.sight.answered(&name).is_some() && !is_above_cut(at, &name));
        if shadowed {
            return Seen::Pending;
        }
        self.sight.record(key)
    }

    /// Looks out for answers with the Records that have been touched, as far as they can be answered.
    pub(super) fn look_out(&mut self, consequences: &Consequences) {
        for key in &consequences.keys {
            let Key::Record(key) = key else { continue };
            match self.wish(key) {
                Some((wish, epoch, before)) => self.sight.expect(key, wish, epoch, before),
                None => self.sight.forget_record(key),
            }
        }
    }

    fn wish(&self, key: &RecordKey) -> Option<(Wish, u64, bool)> {
        let node = self.records.get(key)?;
        let (Ok(name), Adoption::Adopted { zone, data }) = (&node.name, &node.adoption) else {
            return None;
        };
        let content = &self.contents.get(zone)?.content;
        let Outcome::In { .. } = content.outcome(key)? else {
            return None;
        };
        let at = SetKey::new(name.clone(), data.rtype());
        if self.hidden_by(zone, &at, &flaws(content, &at)).is_some() {
            return None;
        }
        let wish = Wish {
            zone: zone.clone(),
            name: name.clone(),
            uid: node.object.identity.age.uid().to_owned(),
            generation: node.object.identity.generation,
        };
        let before = was_published(&node.object, zone, name);
        Some((wish, content.epoch(), before))
    }
}

/// Whether a Record says that it is answered as it is now: in this zone, under this name.
fn was_published(record: &RecordObject, zone: &ZoneKey, name: &Name) -> bool {
    let RecordObject {
        identity, status, ..
    } = record;
    let published = find(&status.conditions, ConditionType::Published);
    identity.names(Some(zone))
        && status.fqdn.as_deref() == Some(name.to_string().as_str())
        && published.is_some_and(|published| {
            published.status == Status::True.as_str()
                && published.observed_generation == identity.generation
        })
}

fn flaws(content: &Content, at: &SetKey) -> Vec<Flaw> {
    let found = content.zone().check_at(at);
    found.into_iter().map(|found| found.flaw).collect()
}

fn duplicate(first: &Claimant) -> (Reason, String) {
    let text = format!("{first} says exactly this already; one of the two can go");
    (Reason::Duplicate, text)
}

fn rerouted_by(first: &Claimant) -> (Reason, String) {
    let text = format!(
        "spec.routing: {first} is the oldest of this member and has another weight or geo, which counts for all of it; make them the same, or give this its own setIdentifier"
    );
    (Reason::DifferingRouting, text)
}

/// What is to be said if the data points at an alias.
fn alias(flaws: &[Flaw], data: &Rdata) -> Option<(Reason, String)> {
    let points_at = data.target();
    let mut ours = flaws.iter().filter(
        |flaw| matches!(flaw, Flaw::TargetIsAlias { target, .. } if Some(target) == points_at.as_ref()),
    );
    ours.next()
        .map(|flaw| (Reason::TargetIsAlias, format!("spec.rdata: {flaw}")))
}

/// What is to be said if the data delegates to a name server that nobody can find: one inside of what it delegates, without
/// an address (Z5).
fn lost(content: &Content, at: &SetKey, data: &Rdata) -> Option<(Reason, String)> {
    let delegates = at.rtype == Rtype::NS && at.name != *content.zone().origin();
    let server = data.target().filter(|_| delegates)?;
    let alias = SetKey::new(server.clone(), Rtype::CNAME);
    let known = content.has_address(&server) || content.zone().get(&alias).is_some();
    (server.is_at_or_below(&at.name) && !known).then(|| {
        let text = format!(
            "spec.rdata: points at {server}, which has no A or AAAA record, so nobody can find this name server; add one to the zone of {}",
            at.name
        );
        (Reason::TargetMissing, text)
    })
}

/// Whether a set at the name of a sub-zone belongs to the zone above it.
fn is_above_cut(at: &SetKey, sub_zone: &Name) -> bool {
    let parent_side = matches!(at.rtype, Rtype::NS | Rtype::DS | Rtype::NSEC | Rtype::RRSIG);
    at.name == *sub_zone && parent_side
}
