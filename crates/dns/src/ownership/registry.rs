//! A zone with its marks read: who has a part in which set, found without looking at all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::mark::{self, Mark, Subject, hashed_subject, may_be_hashed};
use super::{Dialect, Owner, OwnerId};
use crate::hosted::{self, Change, Held, Holdings, HostedKey, Share};
use crate::{Name, Rtype};

/// What a zone holds, and whose it is. Both change together, at the cost of the change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inventory {
    apex: Name,
    holdings: Holdings,
    /// The marks about each subject, by the sets they stand in.
    marks: BTreeMap<(Subject, String), BTreeMap<HostedKey, Mark>>,
    /// What each owner has marked.
    marked: BTreeMap<OwnerId, BTreeSet<(Subject, String)>>,
    /// What is in each share, where shares are kept apart.
    shares: BTreeMap<Share, BTreeSet<HostedKey>>,
}

/// Who has a part in a set.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Owners {
    /// Whether the one who asks has.
    pub mine: bool,
    /// Everybody else.
    pub others: BTreeSet<OwnerId>,
    /// Whether one of them shares with nobody.
    pub exclusive: bool,
}

impl Inventory {
    /// Reads the marks of everything that a zone holds.
    pub fn new(apex: Name, holdings: Holdings) -> Inventory {
        let mut inventory = Inventory {
            apex,
            holdings: Holdings::new(),
            marks: BTreeMap::new(),
            marked: BTreeMap::new(),
            shares: BTreeMap::new(),
        };
        for (key, held) in holdings {
            inventory.put(key, held);
        }
        inventory
    }

    /// The name the zone begins at.
    pub fn apex(&self) -> &Name {
        &self.apex
    }

    /// Everything there is.
    pub fn holdings(&self) -> &Holdings {
        &self.holdings
    }

    /// One set.
    pub fn get(&self, key: &HostedKey) -> Option<&Held> {
        self.holdings.get(key)
    }

    /// Everything at one name.
    pub fn at<'a>(
        &'a self,
        name: &Name,
    ) -> impl Iterator<Item = (&'a HostedKey, &'a Held)> + use<'a> {
        hosted::at(&self.holdings, name)
    }

    /// Makes a change.
    pub fn apply(&mut self, change: &Change) {
        match &change.after {
            Some(after) => self.put(change.key.clone(), Held::Set(after.clone())),
            None => self.take(&change.key),
        }
    }

    /// Who has a part in a set, as seen by one of them.
    pub fn owners(&self, key: &HostedKey, asking: &Owner) -> Owners {
        let mut owners = Owners::default();
        for mark in self.marks_of(key) {
            owners.exclusive |= mark.dialect == Dialect::Exclusive;
            for owner in &mark.owners {
                if *owner == asking.id {
                    owners.mine = true;
                } else {
                    owners.others.insert(owner.clone());
                }
            }
        }
        owners
    }

    /// Everybody who has a part in any set of a name.
    pub fn owners_at(&self, name: &Name) -> BTreeSet<OwnerId> {
        let keys = self.at(name).map(|(key, _)| key);
        let marks = keys.flat_map(|key| self.marks_of(key));
        marks.flat_map(|mark| mark.owners.iter().cloned()).collect()
    }

    /// The sets at or below a name that an owner has a part in, or has marked without there being one.
    pub fn owned<'a>(&'a self, owner: &'a Owner, below: &'a Name) -> BTreeSet<HostedKey> {
        let marked = self.marked.get(&owner.id).into_iter().flatten();
        let sets = marked.filter_map(|(subject, identifier)| match subject {
            Subject::Set(name, rtype) => Some((name.clone(), *rtype, identifier)),
            // What it stands for is known to whoever has the name.
            Subject::Hashed(..) => None,
        });
        let sets = sets.flat_map(|(name, rtype, identifier)| match rtype {
            Some(rtype) => vec![key(name, rtype, identifier)],
            None => self.types_at(&name, identifier),
        });
        let shared = self.shares.get(&owner.share).into_iter().flatten().cloned();
        let all = sets.chain(shared);
        all.filter(|key| key.name.is_at_or_below(below)).collect()
    }

    /// Becomes what was read, at the cost of a look at each set and of what differs. Tells at which names something does:
    /// those of the sets, but for the zone's own serial, and those that marks are about.
    pub fn renew(&mut self, holdings: Holdings) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        for (key, held) in differing(&self.holdings, holdings) {
            let before = self.holdings.get(&key);
            let before = before.and_then(|held| self.read(&key, held));
            let after = held.as_ref().and_then(|held| self.read(&key, held));
            if before != after {
                let marks = before.into_iter().chain(after);
                let subjects = marks.flat_map(|(_, subjects)| subjects);
                names.extend(subjects.filter_map(Subject::into_name));
            }
            if key.rtype != Rtype::SOA {
                names.insert(key.name.clone());
            }
            match held {
                Some(held) => self.put(key, held),
                None => self.take(&key),
            }
        }
        names
    }

    fn types_at(&self, name: &Name, identifier: &str) -> Vec<HostedKey> {
        let held = self.at(name).map(|(key, _)| key);
        let data = held.filter(|key| key.rtype != Rtype::TXT && key.identifier == identifier);
        data.cloned().collect()
    }

    fn marks_of<'a>(&'a self, key: &'a HostedKey) -> impl Iterator<Item = &'a Mark> {
        let set = Subject::Set(key.name.clone(), Some(key.rtype));
        let name = Subject::Set(key.name.clone(), None);
        // A TXT set is marked by type only: without one the mark itself would be meant.
        let name = (key.rtype != Rtype::TXT).then_some(name);
        let hashed = may_be_hashed(&key.name).then(|| hashed_subject(key));
        let subjects = [Some(set), name, hashed].into_iter().flatten();
        let marks = subjects.filter_map(|it| self.marks.get(&(it, key.identifier.clone())));
        marks.flat_map(BTreeMap::values)
    }

    fn put(&mut self, key: HostedKey, held: Held) {
        self.take(&key);
        if let Some(share) = &key.share {
            let share = self.shares.entry(share.clone()).or_default();
            share.insert(key.clone());
        }
        if let Some((mark, subjects)) = self.read(&key, &held) {
            for subject in subjects {
                let subject = (subject, key.identifier.clone());
                for owner in &mark.owners {
                    let marked = self.marked.entry(owner.clone()).or_default();
                    marked.insert(subject.clone());
                }
                let marks = self.marks.entry(subject).or_default();
                marks.insert(key.clone(), mark.clone());
            }
        }
        self.holdings.insert(key, held);
    }

    fn take(&mut self, key: &HostedKey) {
        let Some(held) = self.holdings.remove(key) else {
            return;
        };
        if let Some(share) = &key.share {
            remove_from(&mut self.shares, share, |keys| {
                keys.remove(key);
                keys.is_empty()
            });
        }
        let Some((mark, subjects)) = self.read(key, &held) else {
            return;
        };
        for subject in subjects {
            let subject = (subject, key.identifier.clone());
            remove_from(&mut self.marks, &subject, |marks| {
                marks.remove(key);
                marks.is_empty()
            });
            for owner in &mark.owners {
                // Another mark may say the same of this owner.
                let left = self.marks.get(&subject);
                let says = |mark: &Mark| mark.owners.contains(owner);
                if left.is_some_and(|marks| marks.values().any(says)) {
                    continue;
                }
                remove_from(&mut self.marked, owner, |marked| {
                    marked.remove(&subject);
                    marked.is_empty()
                });
            }
        }
    }

    fn read(&self, key: &HostedKey, held: &Held) -> Option<(Mark, Vec<Subject>)> {
        mark::read(key, &held.set()?.records, &self.apex)
    }
}

impl Owners {
    /// Whether nobody else has a part.
    pub fn alone(&self) -> bool {
        self.mine && self.others.is_empty()
    }

    /// Whether nobody has a part.
    pub fn is_nobody(&self) -> bool {
        !self.mine && self.others.is_empty()
    }
}

/// What is not as it was, as it is later. Both are in order, so each is looked at once.
fn differing(before: &Holdings, later: Holdings) -> Vec<(HostedKey, Option<Held>)> {
    let mut differing = Vec::new();
    let mut before = before.iter().peekable();
    for (key, held) in later {
        while let Some((gone, _)) = before.next_if(|(it, _)| **it < key) {
            differing.push((gone.clone(), None));
        }
        let was = before.next_if(|(it, _)| **it == key);
        if was.is_none_or(|(_, was)| *was != held) {
            differing.push((key, Some(held)));
        }
    }
    differing.extend(before.map(|(gone, _)| (gone.clone(), None)));
    differing
}

fn key(name: Name, rtype: Rtype, identifier: &str) -> HostedKey {
    HostedKey {
        identifier: identifier.to_owned(),
        ..HostedKey::plain(name, rtype)
    }
}

/// Changes an entry, and drops it if nothing is left of it.
fn remove_from<K: Ord, V>(map: &mut BTreeMap<K, V>, key: &K, remove: impl FnOnce(&mut V) -> bool) {
    if map.get_mut(key).is_some_and(remove) {
        map.remove(key);
    }
}
