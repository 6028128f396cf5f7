//! One name: what is wanted there, what is there, and what follows.

use std::collections::BTreeSet;

use super::change::between;
use super::conflict::{Conflict, Opponent};
use super::{Claim, Wanted};
use crate::hosted::{Change, Held, HostedKey, HostedSet};
use crate::limits::{Limits, Ownership};
use crate::ownership::{Inventory, Owner, Owners, mark};
use crate::routing::Routing;
use crate::{Name, Rdata, RecordSet, Ttl};

/// A name of a zone, and who wants something there.
pub(super) struct Site<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) claim: &'a Claim<'a>,
    pub(super) limits: &'a Limits,
    pub(super) name: &'a Name,
}

impl Site<'_> {
    /// The changes of all these sets and their marks; or, if one of them cannot be had, why. Then the others of the name
    /// stay as they are, too: what is there is better than nothing.
    pub(super) fn changes(&self, keys: &BTreeSet<HostedKey>) -> Result<Vec<Change>, Vec<Conflict>> {
        let (wanted, surplus): (Vec<_>, Vec<_>) =
            keys.iter().partition(|key| self.wanted(key).is_some());
        let mut changes = Vec::new();
        let mut conflicts = Vec::new();
        for key in surplus {
            if !self.claim.spared.contains(key) {
                changes.extend(self.remove(key));
            }
        }
        // Only what is gone before can make room.
        let gone: BTreeSet<HostedKey> = changes
            .iter()
            .filter(|it| it.after.is_none())
            .map(|it| it.key.clone())
            .collect();
        for key in wanted {
            match self.have(key, &gone) {
                Ok(more) => changes.extend(more),
                Err(opponent) => conflicts.push(Conflict {
                    key: key.clone(),
                    opponent,
                }),
            }
        }
        if conflicts.is_empty() {
            Ok(changes)
        } else {
            Err(conflicts)
        }
    }

    fn wanted(&self, key: &HostedKey) -> Option<&Wanted> {
        let plain = HostedKey {
            share: None,
            ..key.clone()
        };
        self.claim.wanted.get(&plain)
    }

    fn last(&self, key: &HostedKey) -> &[Rdata] {
        self.claim.last.get(key).map_or(&[], Vec::as_slice)
    }

    fn owner(&self) -> &Owner {
        self.claim.owner
    }

    /// Takes this writer's part in a set away.
    fn remove(&self, key: &HostedKey) -> Vec<Change> {
        let held = self.inventory.get(key);
        if self.limits.ownership == Ownership::Shares {
            return between(key, held, None).into_iter().collect();
        }
        let owners = self.inventory.owners(key, self.owner());
        let left = held
            .and_then(Held::set)
            .and_then(|set| self.left(key, set, &owners));
        let data = between(key, held, left);
        let mark = self.mark_key(key).ok();
        let mark = mark.and_then(|mark| between(&mark, self.inventory.get(&mark), None));
        data.into_iter().chain(mark).collect()
    }

    /// What is left of a set when this writer goes: nothing, if nobody else has a part in it.
    fn left(&self, key: &HostedKey, set: &HostedSet, owners: &Owners) -> Option<HostedSet> {
        if owners.others.is_empty() {
            return None;
        }
        let last = self.last(key);
        let theirs = set
            .records
            .data()
            .iter()
            .filter(|data| !last.contains(data));
        let theirs = records(set.records.ttl(), theirs.cloned());
        // The others would be left with nothing, or the set has one datum that cannot be taken apart.
        let records = theirs.filter(|_| key.identifier.is_empty());
        Some(records.map_or_else(
            || set.clone(),
            |records| HostedSet {
                records,
                ..set.clone()
            },
        ))
    }

    /// Makes a set what this writer wants.
    fn have(&self, key: &HostedKey, gone: &BTreeSet<HostedKey>) -> Result<Vec<Change>, Opponent> {
        let wanted = self.wanted(key).expect("only what is wanted is had");
        let held = self.inventory.get(key);
        if self.limits.ownership == Ownership::Shares {
            let ttl = held.and_then(Held::set).map(|set| set.records.ttl());
            let after = self.exactly(wanted, ttl);
            return Ok(between(key, held, Some(after)).into_iter().collect());
        }
        if let Some(opponent) = self.excluded(key, wanted, gone) {
            return Err(opponent);
        }
        let owners = self.inventory.owners(key, self.owner());
        let after = match held {
            None => self.exactly(wanted, None),
            Some(Held::Opaque(what)) => return Err(Opponent::Opaque(what.clone())),
            Some(Held::Set(set)) => self.merged(key, wanted, set, &owners)?,
        };
        let routing = after.routing.clone();
        let data = between(key, held, Some(after));
        let mark = self.mark(key, wanted, &routing, data.is_some())?;
        Ok(data.into_iter().chain(mark).collect())
    }

    /// What becomes of a set that is there.
    fn merged(
        &self,
        key: &HostedKey,
        wanted: &Wanted,
        held: &HostedSet,
        owners: &Owners,
    ) -> Result<HostedSet, Opponent> {
        let ours = self.exactly(wanted, Some(held.records.ttl()));
        if owners.alone() {
            return Ok(ours);
        }
        if owners.is_nobody() {
            return Err(Opponent::Unowned);
        }
        let disputed = || Opponent::Owners(owners.others.clone());
        if owners.exclusive {
            return Err(disputed());
        }
        let last = self.last(key);
        let theirs = held
            .records
            .data()
            .iter()
            .filter(|data| !last.contains(data));
        let all = theirs.chain(&wanted.data).cloned();
        // The lowest of those who have a part decides what cannot be merged.
        let decides = owners.mine && owners.others.iter().all(|it| self.owner().id < *it);
        let base = if decides { &ours } else { held };
        let mergeable = key.identifier.is_empty();
        let records = records(base.records.ttl(), all).filter(|_| mergeable);
        let merged = match records {
            Some(records) => HostedSet {
                records,
                routing: base.routing.clone(),
            },
            None => base.clone(),
        };
        let content = |set: &HostedSet| (set.records.ttl(), set.routing.clone());
        let has_ours = wanted
            .data
            .iter()
            .all(|data| merged.records.data().contains(data));
        if has_ours && content(&merged) == content(&ours) {
            Ok(merged)
        } else {
            Err(disputed())
        }
    }

    /// Whether something else at the name leaves no room, and is not going.
    fn excluded(
        &self,
        key: &HostedKey,
        wanted: &Wanted,
        gone: &BTreeSet<HostedKey>,
    ) -> Option<Opponent> {
        let beside = self.inventory.at(self.name);
        let mut beside = beside.filter(|(other, _)| *other != key && !gone.contains(*other));
        let (other, held) = beside.find(|(other, held)| excludes(key, wanted, other, held))?;
        let owners = self.inventory.owners(other, self.owner());
        let mut all = owners.others;
        if owners.mine {
            all.insert(self.owner().id.clone());
        }
        Some(match held {
            Held::Set(_) => Opponent::Excluded {
                rtype: other.rtype,
                owners: all,
            },
            Held::Opaque(what) => Opponent::Opaque(what.clone()),
        })
    }

    /// The set as this writer alone would have it.
    fn exactly(&self, wanted: &Wanted, held: Option<Ttl>) -> HostedSet {
        // A TTL that nobody has asked for is left as it is.
        let ttl = self.limits.ttl(wanted.ttl.or(held));
        let records = records(ttl, wanted.data.iter().cloned());
        HostedSet {
            records: records.expect("what is wanted was checked to be a set"),
            routing: wanted.routing.clone(),
        }
    }

    fn mark_key(&self, key: &HostedKey) -> Result<HostedKey, Opponent> {
        let mark = mark::key_of(&self.owner().id, key, self.inventory.apex());
        mark.map_err(|error| Opponent::Mark(error.to_string()))
    }

    /// Makes the mark beside a set what it should be. One that says the same in other words is left alone until its set is
    /// written.
    fn mark(
        &self,
        key: &HostedKey,
        wanted: &Wanted,
        routing: &Routing,
        set_is_written: bool,
    ) -> Result<Option<Change>, Opponent> {
        let at = self.mark_key(key)?;
        let held = self.inventory.get(&at);
        let ttl = held.and_then(Held::set).map(|held| held.records.ttl());
        let ttl = self.limits.ttl(ttl);
        let after = mark::set_of(self.owner(), &wanted.labels, ttl, routing.clone());
        let Some(held) = held else {
            return Ok(between(&at, None, Some(after)));
        };
        let is_good = |held: &HostedSet| {
            held.routing == *routing && mark::says(&held.records, self.owner(), &wanted.labels)
        };
        match held {
            Held::Set(held) if !set_is_written && is_good(held) => Ok(None),
            Held::Set(held) if mark::is_of(&held.records, self.owner()) => {
                Ok(between(&at, Some(&Held::Set(held.clone())), Some(after)))
            }
            Held::Set(_) => Err(Opponent::Mark(format!("{at} holds something else"))),
            Held::Opaque(what) => Err(Opponent::Mark(format!("{at} is {what}"))),
        }
    }
}

/// Whether a set cannot be beside another one of its name.
fn excludes(key: &HostedKey, wanted: &Wanted, other: &HostedKey, held: &Held) -> bool {
    if key.rtype != other.rtype {
        return RecordSet::types_exclude(key.rtype, other.rtype);
    }
    // A set for everyone leaves no room for one that is for some, nor shares by weight for shares by place.
    let plain = key.identifier.is_empty() != other.identifier.is_empty();
    let kinds = held.set().is_some_and(|set| {
        set.routing.weight.is_some() != wanted.routing.weight.is_some()
            || set.routing.geo.is_some() != wanted.routing.geo.is_some()
    });
    plain || kinds
}

/// A set of data that can be one.
fn records(ttl: Ttl, data: impl IntoIterator<Item = Rdata>) -> Option<RecordSet> {
    RecordSet::new(data.into_iter().map(|data| (ttl, data))).ok()
}
