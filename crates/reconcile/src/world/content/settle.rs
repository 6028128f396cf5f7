//! The claims at one name, judged: which record sets follow, and what became of each claim (R6).
//!
//! Whatever fits together is in. Of two claims that exclude each other the older stays; what a zone says of itself and what a
//! sub-zone says of its delegation is older than any Record.

use std::collections::BTreeMap;

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

impl Voice<'_> {
    fn rtype(&self) -> Rtype {
        self.claim.data.rtype()
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
        if is_server(name, claimant, claims) {
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

/// Whether the claims are those of a sub-zone about one of its name servers: anywhere but at its apex, where it says NS,
/// and at its apex if that is one.
fn is_server(name: &Name, claimant: &Claimant, claims: &[Claim]) -> bool {
    let servers = claims.iter().map(|claim| &claim.data);
    let mut servers = servers.filter(|data| data.rtype() == Rtype::NS).peekable();
    let apex = servers.peek().is_some();
    matches!(claimant, Claimant::SubZone(_))
        && (!apex || servers.any(|server| server.target().as_ref() == Some(name)))
}

fn keep_or_tell_glue(voice: &Voice<'_>, sub_zone: &Claimant, judgement: &mut Judgement) -> bool {
    let foreign = !matches!(voice.claimant, Claimant::SubZone(_));
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
            Claimant::Itself | Claimant::SubZone(_) => {}
        }
    }
}

/// Those who are in already.
struct Bench<'a> {
    apex: bool,
    seated: BTreeMap<Rtype, Vec<Voice<'a>>>,
    /// What is said, and who said it first.
    said: BTreeMap<&'a Rdata, &'a Claimant>,
    /// What the sets take in an answer, by type.
    octets: BTreeMap<Rtype, usize>,
}

impl<'a> Bench<'a> {
    fn new(apex: bool) -> Self {
        Self {
            apex,
            seated: BTreeMap::new(),
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
        let mut types = self.seated.iter();
        let excluding = types.find(|(has, _)| RecordSet::types_exclude(**has, rtype));
        if let Some((has, voices)) = excluding {
            let rule = format!("the name has {has}, and a CNAME stands alone (RFC 1034 §3.6.2)");
            return Some((Some(voices[0].claimant), rule));
        }
        if self.said.contains_key(&voice.claim.data) {
            return None;
        }
        let first = self.seated.get(&rtype)?.first()?;
        let pair = [first, voice].map(|voice| (voice.ttl, voice.claim.data.clone()));
        let octets = self.octets[&rtype] + RecordSet::octets_of(&voice.claim.data);
        let fits = RecordSet::new(pair).and_then(|_| RecordSet::check_octets(octets));
        fits.err()
            .map(|error| (Some(first.claimant), error.to_string()))
    }

    fn seat(&mut self, voice: Voice<'a>) {
        let (rtype, data) = (voice.rtype(), &voice.claim.data);
        if !self.said.contains_key(data) {
            self.said.insert(data, voice.claimant);
            *self.octets.entry(rtype).or_default() += RecordSet::octets_of(data);
        }
        self.seated.entry(rtype).or_default().push(voice);
    }

    fn close(self, judgement: &mut Judgement) {
        for (rtype, voices) in self.seated {
            let records = voices
                .iter()
                .map(|voice| (voice.ttl, voice.claim.data.clone()));
            let set = RecordSet::new(records).expect("each was admitted beside the others");
            for voice in &voices {
                let first = self.said[&voice.claim.data];
                let outcome = Outcome::In {
                    lowered: (set.ttl() < voice.ttl).then_some(set.ttl()),
                    duplicates: (first != voice.claimant).then(|| first.clone()),
                };
                judgement.tell(voice, outcome);
            }
            judgement.sets.insert(rtype, set);
        }
    }
}
