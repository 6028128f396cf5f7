//! From watched objects to the world: what is new, what is gone, and what is known already.
//!
//! After a break a watch tells all objects anew, and whatever it does not tell is gone. What we wrote ourselves is known
//! before the watch tells it; an event that is older than what is known says nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use api::{Decoded, ZoneKey};
use kube::Resource;
use kube::api::{ApiResource, DynamicObject, ObjectMeta};
use reconcile::{Consequences, Key, RecordKey, World};

use crate::feed::{Event, Fed, Source};
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

/// A watch: a kind, and the namespace it looks at.
type Scope = (Watched, Option<Arc<str>>);

/// Namespace and name.
type Place = (String, String);

#[derive(Debug)]
pub(crate) struct Inbox {
    /// Watches that have not told everything yet.
    unsynced: BTreeSet<Scope>,
    /// What watches that tell everything anew have told so far.
    telling: BTreeMap<Scope, BTreeSet<Place>>,
    /// The slices there are: the world knows them by their zones only.
    slices: BTreeMap<Place, ObjectMeta>,
}

impl Inbox {
    pub(crate) fn new(sources: &[Source<Watched>]) -> Inbox {
        let scopes = sources.iter().flat_map(|source| {
            let namespaces = source.namespaces.iter();
            let each = namespaces.map(|namespace| (source.kind, Some(namespace.as_str().into())));
            let everywhere = source.namespaces.is_empty().then_some((source.kind, None));
            each.chain(everywhere).collect::<Vec<Scope>>()
        });
        Inbox {
            unsynced: scopes.collect(),
            telling: BTreeMap::new(),
            slices: BTreeMap::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(crate) fn is_synced(&self) -> bool {
        self.unsynced.is_empty()
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
        let (namespace, name) = place(&object.metadata);
        let key = match fed.kind {
            Watched::Zone => Key::Zone(ZoneKey::new(&namespace, &name)),
            Watched::Record => Key::Record(RecordKey::new(&namespace, &name)),
            Watched::ZoneSlice => return false,
        };
        let known = world.identity(&key);
        known.is_none_or(|known| known.generation != object.metadata.generation)
    }

    /// Takes in what a watch tells.
    pub(crate) fn take_in(&mut self, fed: Fed<Watched>, world: &mut World) -> Vec<Consequences> {
        let Fed {
            kind,
            namespace,
            event,
        } = fed;
        let scope = (kind, namespace);
        match event {
            Event::Restarted => {
                self.telling.insert(scope, BTreeSet::new());
                Vec::new()
            }
            Event::Applied(object) => {
                let telling = self.telling.get_mut(&scope);
                let anew = telling.map(|told| told.insert(place(&object.metadata)));
                self.apply(kind, *object, anew.is_some(), world)
            }
            Event::Deleted(object) => self.delete(kind, &place(&object.metadata), world),
            Event::Synced => {
                self.unsynced.remove(&scope);
                let told = self.telling.remove(&scope).unwrap_or_default();
                let known = self.known(&scope, world).into_iter();
                let gone: Vec<Place> = known.filter(|place| !told.contains(place)).collect();
                let consequences = gone.iter().map(|place| self.delete(kind, place, world));
                consequences.flatten().collect()
            }
            // What is known stays true until someone tells otherwise.
            Event::Absent | Event::Stalled(_) | Event::Failed(_) => Vec::new(),
        }
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
            self.slices.insert(place(&metadata), metadata.clone());
            consequences.push(world.apply_slice(&metadata));
        }
        for name in written.removed {
            let slice = self.slices.remove(&(key.namespace().to_owned(), name));
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
        object: DynamicObject,
        anew: bool,
        world: &mut World,
    ) -> Vec<Consequences> {
        let (namespace, name) = place(&object.metadata);
        if object.metadata.deletion_timestamp.is_some() {
            return self.delete(kind, &(namespace, name), world);
        }
        match kind {
            Watched::Zone => {
                let zone = ZoneKey::new(&namespace, &name);
                let key = Key::Zone(zone.clone());
                let news = anew || is_news(world, &key, &object.metadata);
                news.then(|| {
                    world.apply_zone(&zone, Decoded::of_parts(object.metadata, object.data))
                })
                .into_iter()
                .collect()
            }
            Watched::Record => {
                let record = RecordKey::new(&namespace, &name);
                let key = Key::Record(record.clone());
                let news = anew || is_news(world, &key, &object.metadata);
                news.then(|| {
                    world.apply_record(&record, Decoded::of_parts(object.metadata, object.data))
                })
                .into_iter()
                .collect()
            }
            Watched::ZoneSlice => {
                let metadata = object.metadata;
                let consequences = world.apply_slice(&metadata);
                self.slices.insert((namespace, name), metadata);
                vec![consequences]
            }
        }
    }

    fn delete(&mut self, kind: Watched, place: &Place, world: &mut World) -> Vec<Consequences> {
        let (namespace, name) = place;
        match kind {
            Watched::Zone => vec![world.delete_zone(&ZoneKey::new(namespace, name))],
            Watched::Record => vec![world.delete_record(&RecordKey::new(namespace, name))],
            Watched::ZoneSlice => self
                .slices
                .remove(place)
                .map(|slice| world.delete_slice(&slice))
                .into_iter()
                .collect(),
        }
    }

    /// What is known in the scope of a watch.
    fn known(&self, scope: &Scope, world: &World) -> Vec<Place> {
        let (kind, namespace) = scope;
        let places: Vec<Place> = match kind {
            Watched::Zone | Watched::Record => world
                .keys()
                .filter(|key| matches!(key, Key::Zone(_)) == (*kind == Watched::Zone))
                .map(|key| (key.namespace().to_owned(), key.name().to_owned()))
                .collect(),
            Watched::ZoneSlice => self.slices.keys().cloned().collect(),
        };
        let inside = |place: &Place| namespace.as_deref().is_none_or(|it| it == place.0);
        places.into_iter().filter(inside).collect()
    }
}

fn place(object: &ObjectMeta) -> Place {
    (
        object.namespace.clone().unwrap_or_default(),
        object.name.clone().unwrap_or_default(),
    )
}

/// Whether an object is newer than what is known of it. Versions that are not numbers are not compared.
fn is_news(world: &World, key: &Key, object: &ObjectMeta) -> bool {
    let number = |version: Option<&str>| version.and_then(|version| version.parse::<u64>().ok());
    let known = world.identity(key);
    let known = number(known.and_then(|known| known.resource_version.as_deref()));
    let told = number(object.resource_version.as_deref());
    known.zip(told).is_none_or(|(known, told)| known < told)
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
