//! What a provider can hold, and how much it takes at once.
//!
//! Every provider states its [`Limits`]; plans are made to fit them, so that a provider never has to decide what to leave
//! out.

use std::ops::Range;

use crate::hosted::{Batch, Change, HostedSet};
use crate::routing::{GeoCode, Routing};
use crate::{Rtype, Ttl};

/// The types that can be published at all (P8).
pub const RECORD_TYPES: [Rtype; 9] = [
    Rtype::A,
    Rtype::AAAA,
    Rtype::CNAME,
    Rtype::NS,
    Rtype::TXT,
    Rtype::MX,
    Rtype::SRV,
    Rtype::CAA,
    Rtype::PTR,
];

/// What a provider can hold.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The types of its sets.
    pub types: &'static [Rtype],
    /// The shortest TTL. A shorter one becomes this one, as it would at the provider.
    pub ttl_min: Ttl,
    /// The TTL of sets that ask for none.
    pub ttl_default: Ttl,
    /// How it can share traffic.
    pub routing: RoutingLimits,
    /// How it is known whose a set is.
    pub ownership: Ownership,
    /// The most that fits into one batch.
    pub batch_max: Load,
    /// What a change takes of it.
    pub load: fn(&Change) -> Load,
    /// Whether a batch that failed has certainly left nothing behind, unless the answer was unclear.
    pub atomic: bool,
}

/// How a provider can share the traffic of a name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RoutingLimits {
    /// By weight.
    pub weight: bool,
    /// By continent and country, with a default.
    pub geo: bool,
    /// By places that only it knows.
    pub regions: bool,
}

/// How it is known whose a set is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ownership {
    /// TXT records beside the sets say so.
    Registry,
    /// The provider keeps the share of each writer apart.
    Shares,
}

/// How much of a batch something takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Load {
    /// In what the provider counts: changes, records.
    pub count: usize,
    /// In octets or characters.
    pub octets: usize,
}

impl Load {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Load) -> Load {
        Load {
            count: self.count.saturating_add(other.count),
            octets: self.octets.saturating_add(other.octets),
        }
    }

    /// Whether it is within a bound.
    pub fn fits(self, max: Load) -> bool {
        self.count <= max.count && self.octets <= max.octets
    }
}

impl Limits {
    /// What a batch takes.
    pub fn load_of(&self, changes: &[Change]) -> Load {
        let loads = changes.iter().map(self.load);
        loads.fold(Load::default(), Load::and)
    }

    /// Cuts groups of changes into as few batches as they fit into, in order. A group is never divided; one that is too
    /// large by itself has a batch of its own, and the provider says what is wrong with it.
    pub fn ranges<'a>(&self, groups: impl IntoIterator<Item = &'a [Change]>) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = Vec::new();
        let mut load = Load::default();
        for (index, group) in groups.into_iter().enumerate() {
            let own = self.load_of(group);
            match batches.last_mut() {
                Some(batch) if load.and(own).fits(self.batch_max) => {
                    load = load.and(own);
                    batch.end = index + 1;
                }
                Some(_) | None => {
                    load = own;
                    batches.push(index..index + 1);
                }
            }
        }
        batches
    }

    /// The batches themselves.
    pub fn cut(&self, groups: impl IntoIterator<Item = Vec<Change>>) -> Vec<Batch> {
        let groups: Vec<Vec<Change>> = groups.into_iter().collect();
        let ranges = self.ranges(groups.iter().map(Vec::as_slice));
        let batch = |range: Range<usize>| Batch {
            changes: groups[range].concat(),
        };
        ranges.into_iter().map(batch).collect()
    }

    /// The TTL that a set gets which asks for this one.
    pub fn ttl(&self, asked: Option<Ttl>) -> Ttl {
        asked.unwrap_or(self.ttl_default).max(self.ttl_min)
    }

    /// Why a set cannot be held, if so: the provider's name for the rule, to be completed by who the provider is.
    pub fn refuse(&self, rtype: Rtype, routing: &Routing) -> Option<String> {
        if !self.types.contains(&rtype) {
            return Some(format!("holds no {rtype} records"));
        }
        self.routing.refuse(routing)
    }
}

impl RoutingLimits {
    fn refuse(self, routing: &Routing) -> Option<String> {
        if routing.weight.is_some() && routing.geo.is_some() {
            return Some("shares traffic by weight or by geo-code, not by both at once".into());
        }
        if routing.weight.is_some() && !self.weight {
            return Some("does not share traffic by weight".into());
        }
        match &routing.geo {
            Some(GeoCode::Region(region)) if !self.regions => {
                Some(format!("does not know the place {region}"))
            }
            Some(GeoCode::Default | GeoCode::Continent(_) | GeoCode::Country(_)) if !self.geo => {
                Some("does not share traffic by geo-code".into())
            }
            Some(_) | None => None,
        }
    }
}

/// How many records a change takes away and puts in.
pub fn records_of(change: &Change) -> usize {
    let count = |set: &Option<HostedSet>| set.as_ref().map_or(0, |set| set.records.data().len());
    count(&change.before) + count(&change.after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosted::HostedKey;
    use crate::{Name, Rdata, RecordSet};

    fn limits(count: usize, octets: usize) -> Limits {
        Limits {
            types: &[Rtype::A],
            ttl_min: Ttl::from_secs(60).unwrap(),
            ttl_default: Ttl::from_secs(300).unwrap(),
            routing: RoutingLimits::default(),
            ownership: Ownership::Registry,
            batch_max: Load { count, octets },
            load: |change| Load {
                count: records_of(change),
                octets: change.key.name.as_wire().len(),
            },
            atomic: true,
        }
    }

    fn create(name: &str, addresses: u8) -> Change {
        let data = (0..addresses).map(|last| {
            let data = Rdata::from_wire(Rtype::A, &[192, 0, 2, last]).unwrap();
            (Ttl::ZERO, data)
        });
        Change {
            key: HostedKey::plain(Name::parse(name).unwrap(), Rtype::A),
            before: None,
            after: Some(HostedSet::plain(RecordSet::new(data).unwrap())),
        }
    }

    /// How many groups each batch has, of groups with changes of so many addresses.
    fn sizes(limits: &Limits, groups: &[&[u8]]) -> Vec<usize> {
        let group = |addresses: &&[u8]| -> Vec<Change> {
            let changes = addresses.iter().map(|count| create("a.", *count));
            changes.collect()
        };
        let groups: Vec<Vec<Change>> = groups.iter().map(group).collect();
        let batches = limits.ranges(groups.iter().map(Vec::as_slice));
        batches.into_iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn groups_fill_batches_and_are_never_divided() {
        let cases: [(&[&[u8]], &[usize]); 5] = [
            (&[], &[]),
            (&[&[1], &[1], &[1]], &[3]),
            (&[&[2], &[2, 1], &[1]], &[1, 2]),
            (&[&[3], &[2]], &[1, 1]),
            // Too large by itself, and alone.
            (&[&[1], &[2, 3], &[1]], &[1, 1, 1]),
        ];
        for (groups, expected) in cases {
            assert_eq!(sizes(&limits(4, 1_000), groups), expected, "{groups:?}");
        }
        assert_eq!(
            sizes(&limits(100, 7), &[&[1], &[1], &[1]]),
            [2, 1],
            "octets"
        );
    }

    #[test]
    fn a_ttl_below_the_floor_becomes_the_floor() {
        let limits = limits(1, 1);
        let secs = |asked: Option<u32>| {
            let asked = asked.map(|secs| Ttl::from_secs(secs).unwrap());
            limits.ttl(asked).as_secs()
        };
        assert_eq!([secs(None), secs(Some(1)), secs(Some(61))], [300, 60, 61]);
    }
}
