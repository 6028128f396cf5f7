//! From a batch to writes, one object at a time, in an order that can be broken off anywhere. Pure.
//!
//! The Kubernetes API changes one object at a time, so a batch is not one change here. What is promised instead:
//!
//! - Nothing is written unless every set is as it was expected, or on its way from there to where the batch takes it:
//!   so the same batch can be written again after it was broken off.
//! - Whoever asks is answered at every moment, if there is an answer before and after. What comes is created first: where it
//!   does not go with what is there, it waits, for of two Records that exclude each other the Zone takes the older. Then
//!   Records that are no longer wanted become such that are, each in a single write and whatever their types, the oldest
//!   first; so what excludes the rest changes sides at once. What is left over goes last. Names are written in
//!   [`rounds`], so that an alias never leads to where there is nothing.

mod rounds;

use std::collections::{BTreeMap, BTreeSet};

use dns::hosted::{Batch, Change, Held, Holdings, HostedKey, HostedSet, Share};
use dns::{Name, Rdata, RecordSet};
use provider::Error;

use super::convert::{Datum, Home, Standing, data, snapshot};
use rounds::{Round, Rounds};

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A Record goes.
    Delete(Standing),
    /// A Record says something else.
    Patch(Standing, Datum),
    /// A Record with this name comes.
    Create(String, Datum),
}

/// The writes at one name, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Steps {
    /// Whose Records they are.
    pub(super) share: Share,
    /// The writes.
    pub(super) steps: Vec<Step>,
}

/// What a batch takes, where the Records of everybody in it stand like this: in rounds, one after the other, in each of which
/// names know nothing of each other.
pub(super) fn steps(
    home: &Home,
    batch: &Batch,
    standing: &[Standing],
) -> Result<Vec<Vec<Steps>>, Error> {
    let held = snapshot(home.apex.clone(), standing).holdings;
    let mut places: BTreeMap<String, Place<'_>> = BTreeMap::new();
    for change in &batch.changes {
        let share = check(home, change)?;
        if !is_expected(change, &held) {
            return Err(Error::Stale);
        }
        let stem = home.stem(share, &change.key.name);
        let place = places
            .entry(stem)
            .or_insert_with(|| Place::new(share, &change.key.name));
        place.keys.insert(&change.key);
        let after = change.after.iter().flat_map(|set| data(&change.key, set));
        place.wanted.extend(after);
    }
    for record in standing {
        assign(home, record, &mut places);
    }
    Ok(in_rounds(places))
}

fn in_rounds(places: BTreeMap<String, Place<'_>>) -> Vec<Vec<Steps>> {
    let mut names = Rounds::default();
    for place in places.values() {
        place.tell(&mut names);
    }
    let order = names.order();
    let mut rounds: BTreeMap<Option<Round>, Vec<Steps>> = BTreeMap::new();
    for (stem, place) in places {
        let round = order.get(place.name).copied();
        let steps = place.steps(&stem);
        if !steps.steps.is_empty() {
            rounds.entry(round).or_default().push(steps);
        }
    }
    rounds.into_values().collect()
}

/// What one `DNSRecord` has at one name.
struct Place<'a> {
    share: &'a Share,
    name: &'a Name,
    /// The sets that change.
    keys: BTreeSet<&'a HostedKey>,
    /// What they are to be.
    wanted: Vec<Datum>,
    /// The Records that may change for it.
    present: Vec<&'a Standing>,
    /// The names of objects that are in use.
    taken: BTreeSet<&'a str>,
}

/// Whose change it is, if Records can say what it wants.
fn check<'a>(home: &Home, change: &'a Change) -> Result<&'a Share, Error> {
    let refused = |reason| Error::Refused { reason };
    let share = change.key.share.as_ref();
    let share = share.ok_or_else(|| refused(format!("{} is no DNSRecord's", change.key)))?;
    for datum in change.after.iter().flat_map(|set| data(&change.key, set)) {
        home.record("any", &datum, share).map_err(refused)?;
    }
    Ok(share)
}

/// Whether a set is as it was, as it is to be, or in between.
fn is_expected(change: &Change, held: &Holdings) -> bool {
    change.is_expected_by(held) || change.is_done_in(held) || is_under_way(change, held)
}

/// Whether a set can come from a batch that was broken off: nothing in it but what was there and what is to be, and all
/// that is both.
fn is_under_way(change: &Change, held: &Holdings) -> bool {
    let Some(Held::Set(held)) = held.get(&change.key) else {
        return false;
    };
    let ends = [change.before.as_ref(), change.after.as_ref()];
    let has = |set: Option<&HostedSet>, datum: &Rdata| {
        set.is_some_and(|set| set.records.data().binary_search(datum).is_ok())
    };
    let known = |datum: &Rdata| ends.iter().any(|set| has(*set, datum));
    let stays = |datum: &&Rdata| ends.iter().all(|set| has(*set, datum));
    let before = change.before.iter().flat_map(|set| set.records.data());
    let terms =
        |set: &&HostedSet| set.records.ttl() == held.records.ttl() && set.routing == held.routing;
    held.records.data().iter().all(known)
        && before.filter(stays).all(|datum| has(Some(held), datum))
        && ends.iter().flatten().any(terms)
}

/// Gives a Record to the place where it may change. One that was led astray by hand goes back to where its name says.
fn assign<'a>(home: &Home, record: &'a Standing, places: &mut BTreeMap<String, Place<'a>>) {
    let says = record.datum.as_ref();
    let says_at = says.map(|datum| home.stem(&record.share, &datum.key.name));
    let named = record.name.rsplit_once('-').map(|(stem, _)| stem);
    if let Some(place) = named.and_then(|stem| places.get_mut(stem))
        && *place.share == record.share
    {
        place.taken.insert(&record.name);
        if says_at.as_deref() != named {
            place.present.push(record);
            return;
        }
    }
    if let (Some(datum), Some(stem)) = (says, says_at)
        && let Some(place) = places.get_mut(&stem)
        && place.keys.contains(&datum.key)
    {
        place.present.push(record);
    }
}

impl<'a> Place<'a> {
    fn new(share: &'a Share, name: &'a Name) -> Place<'a> {
        Place {
            share,
            name,
            keys: BTreeSet::new(),
            wanted: Vec::new(),
            present: Vec::new(),
            taken: BTreeSet::new(),
        }
    }

    /// Tells where the name leads.
    fn tell(&self, names: &mut Rounds) {
        if self.wanted.is_empty() {
            let present = self.present.iter().filter_map(|it| it.datum.as_ref());
            names.goes(self.name, present.filter_map(|it| it.data.target()));
        } else {
            let wanted = self.wanted.iter();
            names.comes(self.name, wanted.filter_map(|it| it.data.target()));
        }
    }

    /// What is missing comes, what is there becomes what is wanted, and what is left over goes.
    fn steps(mut self, stem: &str) -> Steps {
        let mut missing = Missing::new(self.wanted);
        self.present
            .sort_by(|one, other| one.age().cmp(&other.age()));
        let mut left = self.present;
        let mut kept = Vec::new();
        let mut ways: &[Way] = &[Missing::take_same, Missing::take_of_set, Missing::take_any];
        // The oldest keeps out what does not go with it. It changes sides itself, when all that is to come is there and
        // waits; the others, which would be missed on one side or the other, do not follow it.
        if left.first().is_some_and(|oldest| missing.excludes(oldest)) {
            let oldest = left.remove(0);
            kept.extend(missing.take_any(oldest).map(|datum| (oldest, datum)));
            ways = &ways[..1];
        }
        // Within a set before across sets, so that no set loses its last Record to another one without need.
        for take in ways {
            left.retain(|record| match take(&mut missing, record) {
                Some(datum) => {
                    kept.push((*record, datum));
                    false
                }
                None => true,
            });
        }
        kept.retain(|(record, datum)| record.datum.as_ref() != Some(datum));
        kept.sort_by(|(one, _), (other, _)| one.age().cmp(&other.age()));
        let names = (0..).map(|number: usize| format!("{stem}-{number}"));
        let free = names.filter(|name| !self.taken.contains(name.as_str()));
        let creates = free.zip(missing.0.into_values());
        let creates = creates.map(|(name, datum)| Step::Create(name, datum));
        let patches = kept.into_iter();
        let patches = patches.map(|(record, datum)| Step::Patch(record.clone(), datum));
        let deletes = left.into_iter().cloned().map(Step::Delete);
        Steps {
            share: self.share.clone(),
            steps: creates.chain(patches).chain(deletes).collect(),
        }
    }
}

/// How a Record comes to what it becomes.
type Way = fn(&mut Missing, &Standing) -> Option<Datum>;

/// What is wanted at a place and not there yet, by what it says.
struct Missing(BTreeMap<(HostedKey, Rdata), Datum>);

impl Missing {
    fn new(wanted: Vec<Datum>) -> Missing {
        let says = |datum: Datum| ((datum.key.clone(), datum.data.clone()), datum);
        Missing(wanted.into_iter().map(says).collect())
    }

    /// Whether a Record keeps out something of it: by its type, or because a set is routed as a whole or not at all.
    fn excludes(&self, record: &Standing) -> bool {
        let Some(held) = record.datum.as_ref().map(|datum| &datum.key) else {
            return false;
        };
        let is_routed = |key: &HostedKey| !key.identifier.is_empty();
        self.0.keys().any(|(wanted, _)| {
            RecordSet::types_exclude(held.rtype, wanted.rtype)
                || held.rtype == wanted.rtype && is_routed(held) != is_routed(wanted)
        })
    }

    /// What a Record says already.
    fn take_same(&mut self, record: &Standing) -> Option<Datum> {
        let datum = record.datum.as_ref()?;
        self.0.remove(&(datum.key.clone(), datum.data.clone()))
    }

    /// Something else of its set.
    fn take_of_set(&mut self, record: &Standing) -> Option<Datum> {
        let own = &record.datum.as_ref()?.key;
        let next = self.0.keys().find(|(key, _)| key == own)?.clone();
        self.0.remove(&next)
    }

    /// Whatever it can become.
    fn take_any(&mut self, _: &Standing) -> Option<Datum> {
        Some(self.0.pop_first()?.1)
    }
}

#[cfg(test)]
mod tests;
