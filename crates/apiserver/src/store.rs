//! The store: every object as it is, and how it came to be so.
//!
//! All objects are in memory, as the JSON they are answered with. Each write takes the next number of
//! one counter, the revision, and leaves a [`Change`] in the log of its kind. Two things follow from
//! the log and need nothing else:
//!
//! - a watch is a suffix of it, so no watcher can miss or reorder anything;
//! - the past is the present with a suffix taken back, so a list can be read page by page at one
//!   revision while writes go on.
//!
//! The log is bounded. A revision that it no longer reaches is gone, and asking for it says so.
//!
//! ```text
//!        forgotten │ log of a kind                    revision
//!  ────────────────┼──────●────●──────●───●──────●────────►
//!                floor                            newest
//! ```

mod log;
mod past;
mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

pub(crate) use log::{Change, Forgotten};
pub(crate) use past::Past;
use past::Present;
pub(crate) use stored::Stored;

use crate::key::{Key, Kind, Place};
use crate::object::Object;
use log::Log;

/// Objects of all kinds, at one revision.
#[derive(Debug, Default)]
pub(crate) struct Store {
    revision: u64,
    /// Where memory begins: nothing is known of what was before.
    floor: u64,
    shelves: BTreeMap<Kind, Shelf>,
    /// Which objects name an object, by uid, as their owner.
    dependents: BTreeMap<Arc<str>, BTreeSet<Key>>,
    /// What has been written since the last [`Store::take_written`], oldest first.
    written: Vec<Arc<Change>>,
}

/// The objects of one kind and their recent history.
#[derive(Debug, Default)]
struct Shelf {
    objects: BTreeMap<Place, Arc<Stored>>,
    log: Log,
}

impl Store {
    /// A store as it was written down: its revision, and every object with the revision it has.
    ///
    /// Nothing is known of what was before, so the past begins here.
    pub(crate) fn load(revision: u64, objects: impl IntoIterator<Item = (Key, Stored)>) -> Self {
        let mut store = Self {
            revision,
            floor: revision,
            ..Self::default()
        };
        for (key, stored) in objects {
            let stored = Arc::new(stored);
            store.relate(&key, None, Some(&stored));
            store.shelf_mut(&key.kind).objects.insert(key.place, stored);
        }
        store
    }

    /// The newest revision.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The object at `key`.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.shelves.get(&key.kind)?.objects.get(&key.place)
    }

    /// Makes `object` the one at `key` and gives it the next revision.
    pub(crate) fn put(&mut self, key: &Key, object: Object) -> Arc<Stored> {
        self.revision += 1;
        let stored = Arc::new(Stored::new(object, self.revision));
        let before = self
            .shelf_mut(&key.kind)
            .objects
            .insert(key.place.clone(), Arc::clone(&stored));
        self.relate(key, before.as_ref(), Some(&stored));
        self.record(Change::put(
            self.revision,
            key.clone(),
            before,
            Arc::clone(&stored),
        ));
        stored
    }

    /// Takes away the object at `key`. What is returned is how it was last, with the revision of its end.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Arc<Stored>> {
        let before = self
            .shelves
            .get_mut(&key.kind)?
            .objects
            .remove(&key.place)?;
        self.revision += 1;
        self.relate(key, Some(&before), None);
        let last = Arc::new(before.at(self.revision));
        self.record(Change::removal(
            self.revision,
            key.clone(),
            before,
            Arc::clone(&last),
        ));
        Some(last)
    }

    /// How many objects of a kind there are.
    pub(crate) fn count(&self, kind: &Kind) -> usize {
        self.shelves
            .get(kind)
            .map_or(0, |shelf| shelf.objects.len())
    }

    /// The objects of a kind, in order, from one place on; of one namespace, or of all.
    pub(crate) fn list<'a>(
        &'a self,
        kind: &Kind,
        namespace: Option<&'a str>,
        after: Option<&Place>,
    ) -> impl Iterator<Item = (&'a Place, &'a Arc<Stored>)> + use<'a> {
        let shelf = self.shelves.get(kind);
        let from = match (after, namespace) {
            (Some(after), _) => Bound::Excluded(after.clone()),
            (None, Some(namespace)) => Bound::Included(Place::new(namespace, "")),
            (None, None) => Bound::Unbounded,
        };
        let objects = shelf.map(|shelf| shelf.objects.range((from, Bound::Unbounded)));
        objects.into_iter().flatten().take_while(move |(place, _)| {
            namespace.is_none_or(|namespace| *place.namespace == *namespace)
        })
    }

    /// The objects of a kind as they were at `revision`: the present with everything since taken back.
    ///
    /// Costs what is read, and what has changed since.
    pub(crate) fn list_at<'a>(
        &'a self,
        kind: &Kind,
        namespace: Option<&'a str>,
        after: Option<&'a Place>,
        revision: u64,
    ) -> Result<Past<'a>, Forgotten> {
        let concerned = |place: &Place| {
            namespace.is_none_or(|namespace| *place.namespace == *namespace)
                && after.is_none_or(|after| place > after)
        };
        let mut then = BTreeMap::new();
        for change in self
            .changes(kind, revision)?
            .filter(|change| concerned(&change.key.place))
        {
            // The first change since then knows how it was.
            then.entry(&change.key.place)
                .or_insert(change.before.as_ref());
        }
        let now: Present<'a> = Box::new(self.list(kind, namespace, after));
        Ok(Past {
            now: now.peekable(),
            then: then.into_iter().peekable(),
        })
    }

    /// What happened to a kind after `revision`, oldest first, without a gap.
    pub(crate) fn changes<'a>(
        &'a self,
        kind: &Kind,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &'a Arc<Change>> + use<'a>, Forgotten> {
        if revision < self.floor {
            return Err(Forgotten { oldest: self.floor });
        }
        let log = self
            .shelves
            .get(kind)
            .map(|shelf| shelf.log.since(revision))
            .transpose()?;
        Ok(log.into_iter().flatten())
    }

    /// Objects that name the object with this uid as their owner.
    pub(crate) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Key> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Every kind that has or had objects.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.shelves.keys()
    }

    /// Every object there is.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, &Arc<Stored>)> {
        self.shelves.iter().flat_map(|(kind, shelf)| {
            shelf.objects.iter().map(|(place, stored)| {
                let key = Key {
                    kind: kind.clone(),
                    place: place.clone(),
                };
                (key, stored)
            })
        })
    }

    /// The changes since this was last asked: what has to become durable.
    pub(crate) fn take_written(&mut self) -> Vec<Arc<Change>> {
        std::mem::take(&mut self.written)
    }

    /// Takes back changes that could not be made durable, given oldest first.
    ///
    /// They must be the newest ones. Nobody has seen them, but their revisions are not used again: a number
    /// once given out never means two things.
    pub(crate) fn take_back(&mut self, changes: &[Arc<Change>]) {
        for change in changes.iter().rev() {
            let shelf = self.shelf_mut(&change.key.kind);
            shelf.log.take_back(change.revision);
            match &change.before {
                Some(before) => shelf
                    .objects
                    .insert(change.key.place.clone(), Arc::clone(before)),
                None => shelf.objects.remove(&change.key.place),
            };
            self.relate(&change.key, change.after(), change.before.as_ref());
        }
    }

    fn record(&mut self, change: Change) {
        let change = Arc::new(change);
        self.shelf_mut(&change.key.kind)
            .log
            .push(Arc::clone(&change));
        self.written.push(change);
    }

    /// The shelf of a kind.
    fn shelf_mut(&mut self, kind: &Kind) -> &mut Shelf {
        if !self.shelves.contains_key(kind) {
            self.shelves.insert(kind.clone(), Shelf::default());
        }
        self.shelves
            .get_mut(kind)
            .expect("was put there if it was missing")
    }

    /// Keeps the index of owners true when the object at `key` changes.
    fn relate(&mut self, key: &Key, before: Option<&Arc<Stored>>, after: Option<&Arc<Stored>>) {
        for owner in before.into_iter().flat_map(|stored| stored.owners()) {
            if let Some(keys) = self.dependents.get_mut(owner) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
        for owner in after.into_iter().flat_map(|stored| stored.owners()) {
            self.dependents
                .entry(Arc::clone(owner))
                .or_default()
                .insert(key.clone());
        }
    }
}

#[cfg(test)]
mod tests;
