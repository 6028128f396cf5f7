//! From watched objects to the world: what is new, what is gone, and what is known already.
//!
//! What we wrote ourselves is known before the watch tells it; an event that is older than what is known says nothing.

use std::collections::BTreeMap;
use std::fmt;

use api::{Decoded, ZoneKey};
use kube::Resource;
use kube::api::{ApiResource, DynamicObject, ObjectMeta};
use reconcile::{Consequences, Key, ObjectKey, World};

use crate::feed::{Event, Fed, Happened, Source, Told, is_newer, key_of};
use crate::pass::Written;

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Watched {
    Zone,
    Record,
    ZoneSlice,
}

impl Watched {
    const ALL: [Watched; 3] = [Watched::Zone, Watched::Record, Watched::ZoneSlice];

    /// What to watch, in some namespaces or everywhere.
    pub(crate) fn sources(namespaces: &[String]) -> Vec<Source<Watched>> {
        let source = |kind: Watched| Source {
            kind,
            resource: kind.resource(),
            namespaces: namespaces.to_vec(),
            fields: None,
            labels: None,
        };
        Watched::ALL.map(source).into()
    }

    /// The kind, as in the API.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Watched::Zone => "Zone",
            Watched::Record => "Record",
            Watched::ZoneSlice => "ZoneSlice",
        }
    }

    /// Which object of the kind, if passes are made over it.
    fn key(self, key: ObjectKey) -> Option<Key> {
        match self {
            Watched::Zone => Some(Key::Zone(ZoneKey::new(&key.namespace, &key.name))),
            Watched::Record => Some(Key::Record(key)),
            Watched::ZoneSlice => None,
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Watched::Zone => ApiResource::erase::<api::Zone>(&()),
            Watched::Record => ApiResource::erase::<api::Record>(&()),
            Watched::ZoneSlice => ApiResource::erase::<api::ZoneSlice>(&()),
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug)]
pub(crate) struct Inbox {
    told: Told<Watched>,
    /// The slices there are: the world knows them by their zones only.
    slices: BTreeMap<ObjectKey, ObjectMeta>,
}

impl Inbox {
    pub(crate) fn new(sources: &[Source<Watched>]) -> Inbox {
        Inbox {
            told: Told::new(sources),
            slices: BTreeMap::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(crate) fn is_synced(&self) -> bool {
        self.told.is_synced()
    }

    /// Whether someone else has made, changed or removed an object: we write labels and status only.
    pub(crate) fn is_foreign(fed: &Fed<Watched>, world: &World) -> bool {
        let object = match &fed.event {
            Event::Applied(object) => object,
            Event::Deleted(_) => return fed.kind != Watched::ZoneSlice,
            Event::Restarted
            | Event::Synced
            | Event::Absent
            | Event::Stalled(_)
            | Event::Failed(_) => return false,
        };
        let Some(key) = fed.kind.key(key_of(&object.metadata)) else {
            return false;
        };
        let known = world.identity(&key);
        known.is_none_or(|known| known.generation != object.metadata.generation)
    }

    /// Takes in what a watch tells.
    pub(crate) fn take_in(&mut self, fed: Fed<Watched>, world: &mut World) -> Vec<Consequences> {
        let kind = fed.kind;
        let slices = &self.slices;
        let happened = self.told.take_in(fed, |kind| known(*kind, slices, world));
        let consequences = happened.into_iter().map(|happened| match happened {
            Happened::Applied { key, object, anew } => self.apply(kind, key, *object, anew, world),
            Happened::Gone(key) => self.delete(kind, &key, world),
        });
        consequences.flatten().collect()
    }

    /// Takes in what a pass has written.
    pub(crate) fn written(
        &mut self,
        key: &Key,
        written: Written,
        world: &mut World,
    ) -> Vec<Consequences> {
        let mut consequences = Vec::new();
        for slice in written.slices {
            let metadata = ObjectMeta {
                namespace: Some(key.namespace().to_owned()),
                ..slice
            };
            self.slices.insert(key_of(&metadata), metadata.clone());
            consequences.push(world.apply_slice(&metadata));
        }
        for name in written.removed {
            let slice = self.slices.remove(&ObjectKey::new(key.namespace(), &name));
            // Nothing follows: that is what the pass wanted.
            let _told = slice.map(|slice| world.delete_slice(&slice));
        }
        match key {
            Key::Zone(zone) => {
                if let Some(object) = written.zone.filter(|it| is_news(world, key, it.meta())) {
                    consequences.push(world.apply_zone(zone, object));
                }
                if let Some((version, epoch)) = written.version {
                    consequences.push(world.acknowledge(zone, version, epoch));
                }
            }
            Key::Record(record) => {
                if let Some(object) = written.record.filter(|it| is_news(world, key, it.meta())) {
                    consequences.push(world.apply_record(record, object));
                }
            }
        }
        consequences
    }

    fn apply(
        &mut self,
        kind: Watched,
        key: ObjectKey,
        object: DynamicObject,
        anew: bool,
        world: &mut World,
    ) -> Option<Consequences> {
        if object.metadata.deletion_timestamp.is_some() {
            return self.delete(kind, &key, world);
        }
        let Some(key) = kind.key(key.clone()) else {
            let consequences = world.apply_slice(&object.metadata);
            self.slices.insert(key, object.metadata);
            return Some(consequences);
        };
        if !anew && !is_news(world, &key, &object.metadata) {
            return None;
        }
        let DynamicObject { metadata, data, .. } = object;
        Some(match key {
            Key::Zone(zone) => world.apply_zone(&zone, Decoded::of_parts(metadata, data)),
            Key::Record(record) => world.apply_record(&record, Decoded::of_parts(metadata, data)),
        })
    }

    fn delete(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        world: &mut World,
    ) -> Option<Consequences> {
        match kind.key(key.clone()) {
            Some(Key::Zone(zone)) => Some(world.delete_zone(&zone)),
            Some(Key::Record(record)) => Some(world.delete_record(&record)),
            None => {
                let slice = self.slices.remove(key)?;
                Some(world.delete_slice(&slice))
            }
        }
    }
}

/// The objects of a kind that are known.
fn known(kind: Watched, slices: &BTreeMap<ObjectKey, ObjectMeta>, world: &World) -> Vec<ObjectKey> {
    if kind == Watched::ZoneSlice {
        return slices.keys().cloned().collect();
    }
    let of_kind = world.keys().filter(|key| key.kind() == kind.name());
    of_kind
        .map(|key| ObjectKey::new(key.namespace(), key.name()))
        .collect()
}

/// Whether an object is newer than what is known of it.
fn is_news(world: &World, key: &Key, object: &ObjectMeta) -> bool {
    let known = world.identity(key);
    let known = known.and_then(|known| known.resource_version.as_deref());
    is_newer(known, object.resource_version.as_deref())
}

#[cfg(test)]
mod tests {
    use reconcile::Policy;
    use serde_json::json;

    use super::*;

    fn record(generation: i64, labels: &[(&str, &str)]) -> DynamicObject {
        let labels: BTreeMap<_, _> = labels.iter().copied().collect();
        let object = json!({
            "metadata": {
                "name": "www",
                "namespace": "web",
                "uid": "u",
                "generation": generation,
                "resourceVersion": "1",
                "labels": labels,
            },
            "spec": { "domainName": "www.example.org.", "type": "A", "rdata": "192.0.2.1" },
        });
        serde_json::from_value(object).unwrap()
    }

    fn applied(kind: Watched, object: DynamicObject) -> Fed<Watched> {
        Fed {
            kind,
            namespace: None,
            event: Event::Applied(Box::new(object)),
        }
    }

    #[test]
    fn what_others_do_is_told_from_what_we_write_ourselves() {
        let mut world = World::new(Policy::default(), BTreeMap::new());
        let mut inbox = Inbox::new(&Watched::sources(&[]));
        let new = applied(Watched::Record, record(1, &[]));
        assert!(Inbox::is_foreign(&new, &world));
        inbox.take_in(new, &mut world);
        let deleted = Fed {
            kind: Watched::Record,
            namespace: None,
            event: Event::Deleted(Box::new(record(1, &[]))),
        };
        let cases = [
            (
                applied(
                    Watched::Record,
                    record(1, &[("kubi.zone/parent-zone", "a.b")]),
                ),
                false,
            ),
            (applied(Watched::Record, record(2, &[])), true),
            (applied(Watched::Zone, record(1, &[])), true),
            (applied(Watched::ZoneSlice, record(1, &[])), false),
            (deleted, true),
        ];
        for (fed, expected) in cases {
            assert_eq!(Inbox::is_foreign(&fed, &world), expected, "{fed:?}");
        }
    }
}
