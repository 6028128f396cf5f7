//! Which names of a batch are written before which: nobody is led to where there is nothing yet, or nothing any more.
//!
//! Names that stay or come are written before whoever leads to them; names that go are removed after whoever led to them,
//! and after everything else. Names that do not lead to each other are in one round and know nothing of each other.

use std::collections::{BTreeMap, BTreeSet};

use dns::Name;

/// How long a chain of names is followed. Resolvers give up before; a loop has no end that could come first.
const CHAIN_MAX: usize = 16;

/// When a name is written: the lesser comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Round {
    /// It stays or comes: by how long the chain is that it leads into.
    Comes(usize),
    /// It goes: the longer the chain that it led into, the sooner, by what is left to the longest.
    Goes(usize),
}

/// The names of a batch, and where each of them leads to.
#[derive(Default)]
pub(super) struct Rounds {
    comes: BTreeMap<Name, BTreeSet<Name>>,
    goes: BTreeMap<Name, BTreeSet<Name>>,
}

impl Rounds {
    /// A name that stays or comes, and where it is to lead.
    pub(super) fn comes(&mut self, name: &Name, leads: impl Iterator<Item = Name>) {
        self.comes.entry(name.clone()).or_default().extend(leads);
    }

    /// A name that goes, and where it leads until then.
    pub(super) fn goes(&mut self, name: &Name, leads: impl Iterator<Item = Name>) {
        self.goes.entry(name.clone()).or_default().extend(leads);
    }

    /// When each name is written.
    pub(super) fn order(&self) -> BTreeMap<&Name, Round> {
        let goes = lengths(&self.goes);
        let longest = goes.values().max().copied().unwrap_or_default();
        let goes = goes
            .into_iter()
            .map(|(name, length)| (name, Round::Goes(longest - length)));
        // A name that goes for one and stays for another stays.
        let mut order: BTreeMap<&Name, Round> = goes.collect();
        let comes = lengths(&self.comes).into_iter();
        order.extend(comes.map(|(name, length)| (name, Round::Comes(length))));
        order
    }
}

/// How long the chain is that each name leads into.
fn lengths(leads: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeMap<&Name, usize> {
    let mut lengths: BTreeMap<&Name, usize> = leads.keys().map(|name| (name, 0)).collect();
    for _ in 0..CHAIN_MAX {
        let longer = leads.iter().map(|(name, targets)| {
            let below = targets.iter().filter_map(|target| lengths.get(target));
            (name, below.max().map_or(0, |length| length + 1))
        });
        let longer = longer.collect();
        if longer == lengths {
            break;
        }
        lengths = longer;
    }
    lengths
}
