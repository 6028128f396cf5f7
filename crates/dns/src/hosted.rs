//! What the zone of a provider holds, and how it changes.
//!
//! A provider's zone is more than a [`crate::Zone`]: sets of one name and type may stand beside each other, told apart by
//! an identifier, each for a part of the traffic; and some of what is there has no form in DNS. So it is a plain map, in
//! which everything has its place, and a [`Change`] names what it expects to find.
//!
//! What ought to change is decided in [`crate::plan`]; doing it is left to providers.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeBounds;

use crate::routing::Routing;
use crate::{Name, RecordSet, Rtype, SetKey};

/// Everything a zone holds, ours or not.
pub type Holdings = BTreeMap<HostedKey, Held>;

/// Which set of a provider's zone, ordered by name first.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HostedKey {
    /// The name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// Tells sets of the same name and type apart; empty where there is only one.
    pub identifier: String,
    /// Whose share of the set it is, where the provider keeps shares apart.
    pub share: Option<Share>,
}

/// An object that has its own share of the sets it writes, kept apart by the provider.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Share {
    /// The name of the object.
    pub name: String,
    /// Its uid, which no other object ever has.
    pub uid: String,
}

/// One set as it is held.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Held {
    /// Data of DNS.
    Set(HostedSet),
    /// Something else that takes the place, such as an alias that only the provider understands; what it is, in words.
    /// It is never ours, and never touched.
    Opaque(String),
}

/// Record data with the traffic it is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostedSet {
    /// The data and its TTL.
    pub records: RecordSet,
    /// The traffic.
    pub routing: Routing,
}

/// A set that becomes another one, appears or goes. It must be as expected, or else nothing happens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Which set.
    pub key: HostedKey,
    /// What is there now; nothing: there must be none.
    pub before: Option<HostedSet>,
    /// What is to be there; nothing: it goes.
    pub after: Option<HostedSet>,
}

/// Changes that take effect together or not at all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Batch {
    /// At most one for each key.
    pub changes: Vec<Change>,
}

impl HostedKey {
    /// The one set of a name and type.
    pub fn plain(name: Name, rtype: Rtype) -> HostedKey {
        HostedKey {
            name,
            rtype,
            identifier: String::new(),
            share: None,
        }
    }

    /// Name and type.
    pub fn set(&self) -> SetKey {
        SetKey::new(self.name.clone(), self.rtype)
    }
}

impl Held {
    /// The data, if it is data of DNS.
    pub fn set(&self) -> Option<&HostedSet> {
        match self {
            Held::Set(set) => Some(set),
            Held::Opaque(_) => None,
        }
    }
}

impl HostedSet {
    /// A set for everyone.
    pub fn plain(records: RecordSet) -> HostedSet {
        HostedSet {
            records,
            routing: Routing::default(),
        }
    }
}

impl Change {
    /// Whether the holdings are as the change expects them.
    pub fn is_expected_by(&self, holdings: &Holdings) -> bool {
        match (holdings.get(&self.key), &self.before) {
            (None, None) => true,
            (Some(Held::Set(held)), Some(before)) => held == before,
            (None | Some(_), Some(_)) | (Some(_), None) => false,
        }
    }

    /// Whether the holdings are as the change would make them.
    pub fn is_done_in(&self, holdings: &Holdings) -> bool {
        match (holdings.get(&self.key), &self.after) {
            (None, None) => true,
            (Some(Held::Set(held)), Some(after)) => held == after,
            (None | Some(_), Some(_)) | (Some(_), None) => false,
        }
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn reverse(&self) -> Change {
        Change {
            key: self.key.clone(),
            before: self.after.clone(),
            after: self.before.clone(),
        }
    }

    /// Makes the change, whatever is there.
    pub fn apply(&self, holdings: &mut Holdings) {
        match &self.after {
            Some(after) => {
                holdings.insert(self.key.clone(), Held::Set(after.clone()));
            }
            None => {
                holdings.remove(&self.key);
            }
        }
    }
}

impl Batch {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Everything at one name.
pub fn at<'a>(
    holdings: &'a Holdings,
    name: &Name,
) -> impl Iterator<Item = (&'a HostedKey, &'a Held)> + use<'a> {
    holdings.range(sets_of(name))
}

fn sets_of(name: &Name) -> impl RangeBounds<HostedKey> + use<> {
    let of = |rtype| HostedKey::plain(name.clone(), rtype);
    of(Rtype::MIN)..of(Rtype::MAX)
}

impl fmt::Display for HostedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.rtype)?;
        if self.identifier.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.identifier)
        }
    }
}
