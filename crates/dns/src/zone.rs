//! Zones: record sets below one origin, with the invariants that make them one.
//!
//! A [`Zone`] never holds what no server could serve: every owner is at or below
//! the origin, there is no SOA but the zone's own, no meta type, and a CNAME has
//! its name to itself. What can be served but should not be, [`Zone::check`]
//! finds. A zone knows no version: serials belong to whoever publishes it.

mod check;
mod walk;

use imbl::OrdMap;
use imbl::ordmap::Entry;

use crate::{Accumulator, Name, RecordSet, Rtype, SetKey, Soa, ZoneHash};

pub use check::{Finding, Flaw, Severity};
pub use walk::Location;

/// A zone's content: origin, SOA fields and record sets.
///
/// A clone shares all of it, and a change afterwards copies only the path to what changed: keeping a version while
/// the next one is made costs next to nothing.
#[derive(Clone, Debug)]
pub struct Zone {
    origin: Name,
    soa: Soa,
    sets: OrdMap<SetKey, RecordSet>,
    /// The number of records in `sets`, and the sum over them, kept in step with every change.
    records: usize,
    sum: Accumulator,
}

/// Why a zone cannot take a record set.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The owner is not at or below the origin.
    #[error("{name} is not in zone {origin}")]
    OutOfZone {
        /// The owner.
        name: Name,
        /// The zone's origin.
        origin: Name,
    },
    /// An SOA set; the zone has its own.
    #[error("{name} SOA: a zone's SOA is made of its own fields")]
    Soa {
        /// The owner.
        name: Name,
    },
    /// A type that exists in messages only.
    #[error("{rtype} is a meta type and cannot be zone data")]
    Meta {
        /// The type.
        rtype: Rtype,
    },
    /// The set is of another type than its key.
    #[error("a set of type {set} was put at {key}")]
    Mismatch {
        /// Where it was put.
        key: SetKey,
        /// What it is.
        set: Rtype,
    },
    /// A CNAME beside other data (RFC 1034 §3.6.2).
    #[error(
        "{name} has {has}, so it cannot also have {wants}: a CNAME stands alone (RFC 1034 §3.6.2)"
    )]
    Exclusive {
        /// The owner.
        name: Name,
        /// What is there.
        has: Rtype,
        /// What was to come.
        wants: Rtype,
    },
}

impl Zone {
    /// A zone without record sets.
    pub fn new(origin: Name, soa: Soa) -> Zone {
        Zone {
            origin,
            soa,
            sets: OrdMap::new(),
            records: 0,
            sum: Accumulator::new(),
        }
    }

    /// The name of the zone.
    pub fn origin(&self) -> &Name {
        &self.origin
    }

    /// The SOA fields but the serial.
    pub fn soa(&self) -> &Soa {
        &self.soa
    }

    /// Replaces the SOA fields.
    pub fn set_soa(&mut self, soa: Soa) {
        self.soa = soa;
    }

    /// The number of record sets, the SOA not among them.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// The number of records, those of all members of routed sets counted, the SOA not among them.
    pub fn record_count(&self) -> usize {
        self.records
    }

    /// Whether there is nothing but the SOA.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The set at a key.
    pub fn get(&self, key: &SetKey) -> Option<&RecordSet> {
        self.sets.get(key)
    }

    /// All sets in canonical order, the SOA not among them.
    pub fn sets(&self) -> impl DoubleEndedIterator<Item = (&SetKey, &RecordSet)> {
        self.sets.iter()
    }

    /// The sets from a key on, in canonical order.
    pub fn sets_from(&self, key: &SetKey) -> impl Iterator<Item = (&SetKey, &RecordSet)> {
        self.sets.range(key.clone()..)
    }

    /// The sets of one name.
    pub fn sets_at(&self, name: &Name) -> impl Iterator<Item = (&SetKey, &RecordSet)> {
        let first = SetKey::new(name.clone(), Rtype::MIN);
        let last = SetKey::new(name.clone(), Rtype::MAX);
        self.sets.range(first..=last)
    }

    /// Puts a set in place of whatever is at its key, which is returned.
    pub fn put(&mut self, key: SetKey, set: RecordSet) -> Result<Option<RecordSet>, Refusal> {
        self.admits(&key, &set)?;
        Ok(self.replace(key, Some(set)))
    }

    /// Takes a set out.
    pub fn remove(&mut self, key: &SetKey) -> Option<RecordSet> {
        self.replace(key.clone(), None)
    }

    /// The hash of the content: origin, SOA fields but the serial, all records.
    pub fn hash(&self) -> ZoneHash {
        self.sum.finish(&self.origin, &self.soa)
    }

    /// Whether `put` would take this set.
    pub fn admits(&self, key: &SetKey, set: &RecordSet) -> Result<(), Refusal> {
        let SetKey { name, rtype } = key;
        if set.rtype() != *rtype {
            return Err(Refusal::Mismatch {
                key: key.clone(),
                set: set.rtype(),
            });
        }
        if !name.is_at_or_below(&self.origin) {
            return Err(Refusal::OutOfZone {
                name: name.clone(),
                origin: self.origin.clone(),
            });
        }
        if *rtype == Rtype::SOA {
            return Err(Refusal::Soa { name: name.clone() });
        }
        if rtype.is_meta() {
            return Err(Refusal::Meta { rtype: *rtype });
        }
        match self.excluded_by(name, *rtype) {
            Some(has) => Err(Refusal::Exclusive {
                name: name.clone(),
                has,
                wants: *rtype,
            }),
            None => Ok(()),
        }
    }

    /// The type at a name that keeps `wants` out.
    fn excluded_by(&self, name: &Name, wants: Rtype) -> Option<Rtype> {
        let soa = (*name == self.origin).then_some(Rtype::SOA);
        let types = self.sets_at(name).map(|(key, _)| key.rtype);
        soa.into_iter()
            .chain(types)
            .find(|has| RecordSet::types_exclude(*has, wants))
    }

    /// The one place where `sets` changes, and what is kept in step with it.
    pub(crate) fn replace(&mut self, key: SetKey, set: Option<RecordSet>) -> Option<RecordSet> {
        self.records += set.as_ref().map_or(0, RecordSet::record_count);
        let replaced = match (self.sets.entry(key), set) {
            (Entry::Occupied(mut entry), Some(set)) => {
                self.sum.remove(entry.key(), entry.get());
                self.sum.add(entry.key(), &set);
                Some(entry.insert(set))
            }
            (Entry::Occupied(entry), None) => {
                self.sum.remove(entry.key(), entry.get());
                Some(entry.remove())
            }
            (Entry::Vacant(entry), Some(set)) => {
                self.sum.add(entry.key(), &set);
                entry.insert(set);
                None
            }
            (Entry::Vacant(_), None) => None,
        };
        self.records -= replaced.as_ref().map_or(0, RecordSet::record_count);
        replaced
    }
}

/// Zones are equal when their content is; the sum follows from it.
impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.origin == other.origin && self.soa == other.soa && self.sets == other.sets
    }
}

impl Eq for Zone {}

#[cfg(test)]
mod tests;
