//! Differences between two versions of a zone, and how to apply them.

use std::collections::BTreeMap;

use crate::{Name, RecordSet, Refusal, SetKey, Soa, Zone};

/// What happened to one record set. The two sides differ.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// The set in the old version.
    pub before: Option<RecordSet>,
    /// The set in the new version.
    pub after: Option<RecordSet>,
}

/// The difference between two versions of one zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diff {
    origin: Name,
    soa: Option<(Soa, Soa)>,
    changes: BTreeMap<SetKey, Change>,
}

/// Why a difference could not be applied. The zone is as it was.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The difference is of another zone.
    #[error("the difference is of zone {diff}, not of {zone}")]
    OtherZone {
        /// The zone it was made for.
        diff: Name,
        /// The zone it was applied to.
        zone: Name,
    },
    /// The zone does not hold what the difference starts from.
    #[error("{0} is not what the difference starts from")]
    Stale(SetKey),
    /// The zone's SOA is not what the difference starts from.
    #[error("the SOA is not what the difference starts from")]
    StaleSoa,
    /// The result would not be a zone.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Diff {
    /// Everything that differs. Costs a walk over both versions.
    pub fn between(old: &Zone, new: &Zone) -> Diff {
        let (mut befores, mut afters) = (old.sets().peekable(), new.sets().peekable());
        let mut changes = BTreeMap::new();
        loop {
            // Both walks are in the order of the keys: the lesser one is missing from the other.
            let key = match (befores.peek(), afters.peek()) {
                (Some((before, _)), Some((after, _))) => *before.min(after),
                (Some((key, _)), None) | (None, Some((key, _))) => *key,
                (None, None) => break,
            };
            let before = befores.next_if(|(at, _)| *at == key).map(|(_, set)| set);
            let after = afters.next_if(|(at, _)| *at == key).map(|(_, set)| set);
            note(&mut changes, key, before, after);
        }
        Diff {
            origin: new.origin().clone(),
            soa: soa_change(old, new),
            changes,
        }
    }

    /// What differs at `keys`, for a caller who knows where changes can be.
    /// Costs a look at each of them in both versions.
    pub fn at<'a>(old: &Zone, new: &Zone, keys: impl IntoIterator<Item = &'a SetKey>) -> Diff {
        let mut changes = BTreeMap::new();
        for key in keys {
            note(&mut changes, key, old.get(key), new.get(key));
        }
        Diff {
            origin: new.origin().clone(),
            soa: soa_change(old, new),
            changes,
        }
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.soa.is_none() && self.changes.is_empty()
    }

    /// The SOA fields before and after, where they differ.
    pub fn soa(&self) -> Option<&(Soa, Soa)> {
        self.soa.as_ref()
    }

    /// The changed sets in canonical order.
    pub fn changes(&self) -> impl Iterator<Item = (&SetKey, &Change)> {
        self.changes.iter()
    }

    /// The way back.
    #[must_use]
    pub fn inverse(&self) -> Diff {
        let inverse = |change: &Change| Change {
            before: change.after.clone(),
            after: change.before.clone(),
        };
        Diff {
            origin: self.origin.clone(),
            soa: self.soa.clone().map(|(before, after)| (after, before)),
            changes: self
                .changes
                .iter()
                .map(|(key, change)| (key.clone(), inverse(change)))
                .collect(),
        }
    }
}

fn note(
    changes: &mut BTreeMap<SetKey, Change>,
    key: &SetKey,
    before: Option<&RecordSet>,
    after: Option<&RecordSet>,
) {
    if before != after {
        let change = Change {
            before: before.cloned(),
            after: after.cloned(),
        };
        changes.insert(key.clone(), change);
    }
}

fn soa_change(old: &Zone, new: &Zone) -> Option<(Soa, Soa)> {
    (old.soa() != new.soa()).then(|| (old.soa().clone(), new.soa().clone()))
}

impl Zone {
    /// Applies a difference whole or not at all.
    ///
    /// Sets that go make room for those that come, so that a CNAME may take the
    /// place of addresses and the other way round.
    pub fn apply(&mut self, diff: &Diff) -> Result<(), ApplyError> {
        self.starts(diff)?;
        for (key, _) in diff.changes() {
            self.replace(key.clone(), None);
        }
        let arriving = diff
            .changes()
            .filter_map(|(key, change)| Some((key, change.after.as_ref()?)));
        for (key, set) in arriving {
            if let Err(refusal) = self.put(key.clone(), set.clone()) {
                self.restore(diff);
                return Err(refusal.into());
            }
        }
        if let Some((_, after)) = &diff.soa {
            self.set_soa(after.clone());
        }
        Ok(())
    }

    /// Whether the zone is what the difference starts from.
    fn starts(&self, diff: &Diff) -> Result<(), ApplyError> {
        if diff.origin != *self.origin() {
            return Err(ApplyError::OtherZone {
                diff: diff.origin.clone(),
                zone: self.origin().clone(),
            });
        }
        if diff
            .soa
            .as_ref()
            .is_some_and(|(before, _)| before != self.soa())
        {
            return Err(ApplyError::StaleSoa);
        }
        match diff
            .changes()
            .find(|(key, change)| self.get(key) != change.before.as_ref())
        {
            Some((key, _)) => Err(ApplyError::Stale(key.clone())),
            None => Ok(()),
        }
    }

    fn restore(&mut self, diff: &Diff) {
        for (key, change) in diff.changes() {
            self.replace(key.clone(), change.before.clone());
        }
    }
}
