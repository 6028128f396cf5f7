//! What cannot be had, and because of whom.

use std::collections::BTreeSet;
use std::fmt;

use crate::Rtype;
use crate::hosted::HostedKey;
use crate::ownership::OwnerId;

/// A set that cannot be as it is wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflict {
    /// Which set.
    pub key: HostedKey,
    /// What stands in the way.
    pub opponent: Opponent,
}

/// What stands in the way of a set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Opponent {
    /// It is there, and nobody has marked it.
    Unowned,
    /// It belongs to others, who do not share it or want something else of it.
    Owners(BTreeSet<OwnerId>),
    /// The name has a set that leaves no room for this one.
    Excluded {
        /// Its type.
        rtype: Rtype,
        /// Whose it is; nobody's, if nobody is named.
        owners: BTreeSet<OwnerId>,
    },
    /// Something has the place that only the provider understands.
    Opaque(String),
    /// The place of the mark is taken, or there is none for it.
    Mark(String),
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.opponent {
            Opponent::Unowned => write!(
                f,
                "{key} is there already and nobody has marked it as theirs; remove it at the provider, and this goes on by itself"
            ),
            Opponent::Owners(owners) => write!(
                f,
                "{key} belongs to {}, who want something else there; let one of them give way",
                listed(owners)
            ),
            Opponent::Excluded { rtype, owners } if owners.is_empty() => write!(
                f,
                "{key} cannot be beside the {rtype} that is there and nobody has marked as theirs; remove one of the two"
            ),
            Opponent::Excluded { rtype, owners } => write!(
                f,
                "{key} cannot be beside the {rtype} of {}; remove one of the two",
                listed(owners)
            ),
            Opponent::Opaque(what) => write!(
                f,
                "{key} has its place taken by {what}; remove that at the provider, and this goes on by itself"
            ),
            Opponent::Mark(why) => write!(f, "{key} cannot be marked as ours: {why}"),
        }
    }
}

fn listed(owners: &BTreeSet<OwnerId>) -> String {
    let names: Vec<&str> = owners.iter().map(OwnerId::as_str).collect();
    match names.as_slice() {
        [one] => format!("owner {one}"),
        many => format!("owners {}", many.join(", ")),
    }
}
