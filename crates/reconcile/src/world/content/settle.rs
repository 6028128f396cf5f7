//! The claims at one name, judged: which record sets follow, and what became of each claim (R6).
//!
//! Whatever fits together is in. Of two claims that exclude each other the older stays; what a zone says of itself and what a
//! sub-zone says of its delegation is older than any Record. So the oldest claim of a type decides whether its set is a plain
//! or a routed one, and the oldest of a member which part of the traffic the member is for (N6).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use dns::routing::{Routing, SetIdentifier};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl, Zone};

use super::{Claim, Claimant};
use crate::RecordKey;

/// What became of a Record's claim.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is in the zone.
    In {
        /// The TTL it is answered with, if that is lower than its own: the lowest of the set (RFC 2181 §5.2).
        lowered: Option<Ttl>,
        /// An older claim that says the same.
        duplicates: Option<Claimant>,
        /// An older claim of the same member of a routed set, whose weight and place count instead of its own.
        rerouted: Option<Claimant>,
    },
    /// It is not, for an older claim excludes it.
    Excluded {
        /// Whose claim; nothing: the zone's own SOA.
        by: Option<Claimant>,
        /// The rule.
        rule: String,
    },
    /// It is not, for it is about a name server of a sub-zone, and only the sub-zone says where that is (Z5).
    Glue(Claimant),
}

/// The sets of a name, and what became of its Records.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    pub(super) sets: BTreeMap<Rtype, RecordSet>,
    pub(super) outcomes: Vec<(RecordKey, Outcome)>,
}

/// One claim with whose it is.
#[derive(Clone, Copy)]
struct Voice<'a> {
    claimant: &'a Claimant,
    claim: &'a Claim,
    ttl: Ttl,
}

/// The type of a set, and the member of it if it is a routed one: what has one TTL, and is answered together.
type PartKey<'a> = (Rtype, Option<&'a SetIdentifier>);

impl<'a> Voice<'a> {
    fn rtype(&self) -> Rtype {
        self.claim.data.rtype()
    }

    fn member(&self) -> Option<&'a SetIdentifier> {
        let membership = self.claim.membership.as_ref();
        membership.map(|membership| &membership.identifier)
    }

    fn part(&self) -> PartKey<'a> {
        (self.rtype(), self.member())
    }

    fn routing(&self) -> Option<&'a Routing> {
        let membership = self.claim.membership.as_ref();
        membership.map(|membership| &membership.routing)
    }
}

/// Judges all claims at one name of a zone.
pub(super) fn judge<'a>(
    name: &Name,
    claims: impl Iterator<Item = (&'a Claimant, &'a [Claim])>,
    zone: &Zone,
) -> Judgement {
    let mut judgement = Judgement::default();
    let mut voices = Vec::new();
    let mut server_of = None;
    for (claimant, claims) in claims {
        if let Claimant::ServerOf(_) = claimant {
            server_of = Some(claimant);
        }
        voices.extend(claims.iter().map(|claim| Voice {
            claimant,
            claim,
            ttl: claim.ttl.unwrap_or(zone.soa().ttl),
        }));
    }
    if let Some(sub_zone) = server_of {
        voices.retain(|voice| keep_or_tell_glue(voice, sub_zone, &mut judgement));
    }
    // The oldest first; what has no age came before all Records, in the order of the claimants.
    voices.sort_by(|a, b| (&a.claim.age, a.claimant).cmp(&(&b.claim.age, b.claimant)));
    let mut bench = Bench::new(name == zone.origin());
    for voice in voices {
        if let Some((by, rule)) = bench.objection(&voice) {
            let by = by.cloned();
            judgement.tell(&voice, Outcome::Excluded { by, rule });
        } else {
            bench.seat(voice);
        }
    }
    bench.close(&mut judgement);
    judgement
}

fn keep_or_tell_glue(voice: &Voice<'_>, sub_zone: &Claimant, judgement: &mut Judgement) -> bool {
    let foreign = !matches!(voice.claimant, Claimant::ServerOf(_));
    let address = matches!(voice.rtype(), Rtype::A | Rtype::AAAA);
    if foreign && address {
        judgement.tell(voice, Outcome::Glue(sub_zone.clone()));
    }
    !(foreign && address)
}

impl Judgement {
    fn tell(&mut self, voice: &Voice<'_>, outcome: Outcome) {
        match voice.claimant {
            Claimant::Record(key) => self.outcomes.push((key.clone(), outcome)),
            Claimant::Itself | Claimant::SubZone(_) | Claimant::ServerOf(_) => {}
        }
    }
}

/// Those who are in already.
struct Bench<'a> {
    apex: bool,
    /// By set and member; within one the oldest first.
    seated: BTreeMap<PartKey<'a>, Vec<Voice<'a>>>,
    /// Who was the first of each type.
    first: BTreeMap<Rtype, Voice<'a>>,
    /// What is said, and who said it first.
    said: BTreeMap<(Option<&'a SetIdentifier>, &'a Rdata), &'a Claimant>,
    /// What parts take in an answer.
    octets: BTreeMap<PartKey<'a>, usize>,
}

impl<'a> Bench<'a> {
    fn new(apex: bool) -> Self {
        Self {
            apex,
            seated: BTreeMap::new(),
            first: BTreeMap::new(),
            said: BTreeMap::new(),
            octets: BTreeMap::new(),
        }
    }

    /// Why a claim cannot be in beside those that are: whose claim it is, and the rule.
    fn objection(&self, voice: &Voice<'a>) -> Option<(Option<&'a Claimant>, String)> {
        let rtype = voice.rtype();
        if rtype == Rtype::CNAME && self.apex {
            let rule = "a CNAME stands alone, and the zone's own name has an SOA (RFC 1034 §3.6.2)";
            return Some((None, rule.to_owned()));
        }
        let mut types = self.first.iter();
        let excluding = types.find(|(has, _)| RecordSet::types_exclude(**has, rtype));
        if let Some((has, first)) = excluding {
            let rule = format!("the name has {has}, and a CNAME stands alone (RFC 1034 §3.6.2)");
            return Some((Some(first.claimant), rule));
        }
        let (by, rule) = self.misfit(voice, self.first.get(&rtype)?)?;
        Some((Some(by), rule))
    }

    /// Why a claim cannot be in the set that `first` began, and beside whose claim.
    fn misfit(&self, voice: &Voice<'a>, first: &Voice<'a>) -> Option<(&'a Claimant, String)> {
        let rtype = voice.rtype();
        if first.member().is_some() != voice.member().is_some() {
            let has = if first.member().is_some() {
                "a routed"
            } else {
                "a plain"
            };
            let rule = format!(
                "the name has {has} {rtype} set, and a set is routed as a whole or not at all: either all of its Records have spec.routing or none"
            );
            return Some((first.claimant, rule));
        }
        if self.said.contains_key(&(voice.member(), &voice.claim.data)) {
            return None;
        }
        let Some(beside) = self.seated.get(&voice.part()) else {
            let members = self.seated.keys().filter(|(has, _)| *has == rtype);
            let fits = RecordSet::check_members(members.count() + 1);
            return fits.err().map(|error| (first.claimant, error.to_string()));
        };
        let oldest = &beside[0];
        let pair = [oldest, voice].map(|voice| (voice.ttl, voice.claim.data.clone()));
        let octets = self.octets[&voice.part()] + RecordSet::octets_of(&voice.claim.data);
        let fits = RecordSet::new(pair).and_then(|_| RecordSet::check_octets(octets));
        fits.err().map(|error| (oldest.claimant, error.to_string()))
    }

    fn seat(&mut self, voice: Voice<'a>) {
        let (part, data) = (voice.part(), &voice.claim.data);
        if let Entry::Vacant(unsaid) = self.said.entry((voice.member(), data)) {
            unsaid.insert(voice.claimant);
            *self.octets.entry(part).or_default() += RecordSet::octets_of(data);
        }
        self.first.entry(voice.rtype()).or_insert(voice);
        self.seated.entry(part).or_default().push(voice);
    }

    fn close(self, judgement: &mut Judgement) {
        let mut sets = BTreeMap::<Rtype, Vec<_>>::new();
        for (part, voices) in self.seated {
            let oldest = voices[0];
            let ttls = voices.iter().map(|voice| voice.ttl);
            let ttl = ttls.min().unwrap_or(oldest.ttl);
            for voice in &voices {
                let said_by = self.said[&(voice.member(), &voice.claim.data)];
                let rerouted = voice.routing() != oldest.routing();
                let outcome = Outcome::In {
                    lowered: (ttl < voice.ttl).then_some(ttl),
                    duplicates: (said_by != voice.claimant).then(|| said_by.clone()),
                    rerouted: rerouted.then(|| oldest.claimant.clone()),
                };
                judgement.tell(voice, outcome);
                let membership = oldest.claim.membership.clone();
                let record = (membership, ttl, voice.claim.data.clone());
                sets.entry(part.0).or_default().push(record);
            }
        }
        for (rtype, records) in sets {
            let set = RecordSet::assemble(records).expect("each was admitted beside the others");
            judgement.sets.insert(rtype, set);
        }
    }
}
