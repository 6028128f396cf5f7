//! What has to change in a provider's zone so that it says what one writer wants.
//!
//! A plan is made for one [`Claim`] at a time, from the [`Inventory`] alone: nothing is asked and nothing happens. What
//! belongs together is one [`Group`]: the sets of a name and the marks beside them, so that no name is ever empty on the
//! way and no set without its mark. Several claims are planned one after the other, each on what the one before would
//! leave.
//!
//! | who has a part in the set | it is wanted | it is no longer wanted |
//! |---|---|---|
//! | only this writer | it becomes exactly what is wanted | it goes, its mark with it |
//! | this writer and others | its data come in and its last ones go; the rest is of the lowest owner | its last data go, its mark too |
//! | others, who share | its data come in | nothing |
//! | nobody, or one who does not share | conflict, unless it is not there | nothing |
//!
//! Of two writers who want different things of what cannot be merged, the one with the lower id decides, so that they do
//! not take turns for ever.

mod change;
mod conflict;
mod want;

use std::collections::{BTreeMap, BTreeSet};

use crate::hosted::{Change, HostedKey};
use crate::limits::{Limits, Ownership};
use crate::ownership::{Inventory, Owner};
use crate::routing::Routing;
use crate::{Name, Rdata, Ttl};

pub use conflict::{Conflict, Opponent};

/// What one writer wants of a zone.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// Who wants it.
    pub owner: &'a Owner,
    /// Only what is at or below this name may be removed.
    pub scope: &'a Name,
    /// The sets that are to be there.
    pub wanted: &'a BTreeMap<HostedKey, Wanted>,
    /// What this writer has put in before.
    pub last: &'a BTreeMap<HostedKey, Vec<Rdata>>,
    /// Sets that another claim with the same owner wants: they are not removed.
    pub spared: &'a BTreeSet<HostedKey>,
}

/// A set as it is wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wanted {
    /// The data, at least one.
    pub data: Vec<Rdata>,
    /// How long answers may be cached, unless that is left to the provider.
    pub ttl: Option<Ttl>,
    /// The traffic it is for.
    pub routing: Routing,
    /// What the mark keeps besides the owner.
    pub labels: BTreeMap<String, String>,
}

/// What has to happen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// In an order in which nothing points at what is not there yet.
    pub groups: Vec<Group>,
    /// What cannot be had, and because of whom. Nothing is changed there.
    pub conflicts: Vec<Conflict>,
}

/// Changes that belong together: the sets of one name, and their marks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Group {
    /// The name.
    pub name: Name,
    /// At most one for each key.
    pub changes: Vec<Change>,
}

impl Plan {
    /// Whether everything is as it is wanted, as far as it can be.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Every change, in order.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.groups.iter().flat_map(|group| &group.changes)
    }
}

/// What has to change so that the claim is met.
pub fn plan(inventory: &Inventory, claim: &Claim<'_>, limits: &Limits) -> Plan {
    let mut plan = Plan::default();
    for (name, keys) in by_name(inventory, claim, limits) {
        let site = want::Site {
            inventory,
            claim,
            limits,
            name: &name,
        };
        match site.changes(&keys) {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => plan.groups.push(Group { name, changes }),
            Err(conflicts) => plan.conflicts.extend(conflicts),
        }
    }
    // What is pointed at comes before what points: it is usually deeper. What goes, goes last and the other way round.
    plan.groups.sort_by_key(|group| {
        let depth = group.name.label_count();
        if group.adds() {
            (false, usize::MAX - depth)
        } else {
            (true, depth)
        }
    });
    plan
}

impl Group {
    /// Whether there is more at the name afterwards than nothing.
    fn adds(&self) -> bool {
        let data = self.changes.iter().filter(|it| it.key.name == self.name);
        data.into_iter().any(|change| change.after.is_some())
    }
}

/// Everything the claim is about: what it wants, and what it has a part in.
fn by_name(
    inventory: &Inventory,
    claim: &Claim<'_>,
    limits: &Limits,
) -> BTreeMap<Name, BTreeSet<HostedKey>> {
    let mut names: BTreeMap<Name, BTreeSet<HostedKey>> = BTreeMap::new();
    let owned = inventory.owned(claim.owner, claim.scope);
    let wanted = claim.wanted.keys().cloned();
    let wanted = wanted.map(|key| own_key(key, claim.owner, limits));
    // What a hash hides is known by what was written before.
    let last = claim.last.keys().cloned();
    let last = last.map(|key| own_key(key, claim.owner, limits));
    let last = last.filter(|key| inventory.owners(key, claim.owner).mine);
    for key in owned.into_iter().chain(wanted).chain(last) {
        names.entry(key.name.clone()).or_default().insert(key);
    }
    names
}

/// The key of a set that this writer has, where shares are kept apart.
fn own_key(key: HostedKey, owner: &Owner, limits: &Limits) -> HostedKey {
    match limits.ownership {
        Ownership::Registry => key,
        Ownership::Shares => HostedKey {
            share: Some(owner.share.clone()),
            ..key
        },
    }
}

#[cfg(test)]
mod tests;
