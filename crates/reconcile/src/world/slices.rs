//! The slices that exist, and how large content is cut into them (Z11).

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use kube::core::ObjectMeta;

use super::object::ZoneObject;
use super::{Consequences, Policy, World};
use crate::slice::{Layout, Slice};
use crate::zone::ContentView;

/// The most octets of records that a Zone's status holds, whatever their number. In a status an octet becomes at most
/// five characters (`\\255`), and each record brings a frame of about 100: with a thousand records that stays well below
/// the 1.5 MiB that etcd takes.
const INLINE_OCTETS_MAX: usize = 128 * 1024;

/// Names of slices by the uid of the Zone that owns them.
#[derive(Debug, Default)]
pub(super) struct Slices(BTreeMap<String, BTreeSet<String>>);

impl Slices {
    fn of(&self, owner: &str) -> Option<&BTreeSet<String>> {
        self.0.get(owner)
    }

    /// Notes that a slice is there or gone. Tells whether that is news.
    fn set(&mut self, owner: &str, name: String, exists: bool) -> bool {
        let slices = self.0.entry(owner.to_owned()).or_default();
        let news = if exists {
            slices.insert(name)
        } else {
            slices.remove(&name)
        };
        if slices.is_empty() {
            self.0.remove(owner);
        }
        news
    }
}

impl Policy {
    /// Whether so much content fits into a status. Content that is `sliced` returns some way below the limit, so that a zone
    /// at the limit does not go back and forth.
    fn fits_inline(&self, entries: usize, octets: usize, sliced: bool) -> bool {
        let within = |size: usize, max: usize| {
            let again = max - max / 5;
            if sliced { size < again } else { size <= max }
        };
        within(entries, self.inline_max) && within(octets, INLINE_OCTETS_MAX)
    }
}

impl World {
    /// A `ZoneSlice` is there. Its content is not looked at: it is named by it.
    pub fn apply_slice(&mut self, object: &ObjectMeta) -> Consequences {
        self.note_slice(object, true)
    }

    /// A `ZoneSlice` is gone.
    pub fn delete_slice(&mut self, object: &ObjectMeta) -> Consequences {
        self.note_slice(object, false)
    }

    fn note_slice(&mut self, object: &ObjectMeta, exists: bool) -> Consequences {
        let mut consequences = Consequences::default();
        let mut owners = object.owner_references.iter().flatten();
        let owner = owners.find(|owner| owner.kind == "Zone");
        let (Some(owner), Some(name)) = (owner, object.name.clone()) else {
            return consequences;
        };
        if self.slices.set(&owner.uid, name, exists) {
            let namespace = object.namespace.as_deref().unwrap_or_default();
            let key = ZoneKey::new(namespace, &owner.name);
            if self.tree.get(&key).is_some() {
                consequences.zone(&key);
            }
        }
        consequences
    }

    /// The slices of a Zone that exist, though neither its status nor its content names them.
    pub(super) fn surplus(
        &self,
        object: &ZoneObject,
        content: Option<&ContentView>,
    ) -> Vec<String> {
        let Some(existing) = self.slices.of(object.identity.age.uid()) else {
            return Vec::new();
        };
        let cut = content.and_then(|content| content.cut.as_ref());
        let cut = cut.into_iter().flat_map(|(names, _)| names);
        let named: BTreeSet<&String> = cut.chain(&object.status.slices).collect();
        let surplus = existing.iter().filter(|name| !named.contains(name));
        surplus.cloned().collect()
    }

    /// What a zone says, cut into slices where a status could not hold it.
    pub(super) fn content_view(&mut self, key: &ZoneKey) -> Option<ContentView> {
        let object = &self.tree.get(key)?.object;
        let sliced = !object.status.slices.is_empty();
        let uid = object.identity.age.uid().to_owned();
        let held = self.contents.get_mut(key)?;
        let (zone, epoch) = (held.content.zone().clone(), held.content.epoch());
        let entries = zone.record_count() + 1;
        let inline = self
            .policy
            .fits_inline(entries, held.content.octets(), sliced);
        if inline {
            held.layout = None;
            held.moved.clear();
        }
        let cut = (!inline).then(|| {
            let (layout, mut slices) = held.layout(&uid);
            let names = layout.names();
            let existing = self.slices.of(&uid);
            let exists = |name: &String| existing.is_some_and(|existing| existing.contains(name));
            let missing = names.iter().filter(|name| !exists(name));
            let mut missing: BTreeSet<String> = missing.cloned().collect();
            slices.retain(|slice| missing.remove(&slice.name));
            slices.extend(layout.slices(&zone, &missing));
            (names, slices)
        });
        Some(ContentView { zone, epoch, cut })
    }
}

impl super::ZoneContent {
    /// Where the content is cut, brought up to date, and the slices that were made on the way.
    fn layout(&mut self, owner: &str) -> (&Layout, Vec<Slice>) {
        let zone = self.content.zone();
        let layout = self.layout.take().filter(|layout| layout.owner() == owner);
        let (layout, cut) = match layout {
            Some(mut layout) => {
                let cut = layout.update(zone, &self.moved);
                (layout, cut)
            }
            None => (Layout::of(zone, owner), Vec::new()),
        };
        self.moved.clear();
        (self.layout.insert(layout), cut)
    }
}
