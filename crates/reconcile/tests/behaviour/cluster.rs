//! A cluster in a struct: an API without a network, a controller without tasks, a name server without sockets.
//!
//! It does what the controller does, one step after the other, until nothing is left to do. What the objects say then is
//! what the stories are about.

use std::collections::{BTreeMap, BTreeSet};

use api::well_known::{annotation, label};
use api::{Decoded, Problem, Record, Undecodable, Zone, ZoneKey};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ObjectMeta;
use zonewright_reconcile::slice::Slice;
use zonewright_reconcile::{Consequences, Key, Policy, RecordKey, World, record, zone};

use crate::line;
use crate::name_server::NameServer;

/// Far more passes than any story needs: one that does not come to rest is told, not waited for.
const PASSES_MAX: usize = 200_000;

pub(crate) struct Cluster {
    policy: Policy,
    pub(crate) world: World,
    pub(crate) zones: BTreeMap<ZoneKey, Zone>,
    pub(crate) records: BTreeMap<RecordKey, Record>,
    /// Slices by name, with their content.
    pub(crate) slices: BTreeMap<String, (ObjectMeta, String)>,
    pub(crate) name_server: NameServer,
    pub(crate) now: Timestamp,
    /// Writes of each object since they were last asked for.
    pub(crate) writes: BTreeMap<Key, usize>,
    /// The keys that the last change touched, before anything followed from it.
    pub(crate) touched: BTreeSet<Key>,
    due: BTreeSet<Key>,
    /// Zones that cannot be decoded, and what is wrong with them.
    broken: BTreeMap<ZoneKey, Problem>,
    /// Counts what happened: versions, uids and ages come from it.
    ticks: i64,
    /// After so many writes the process dies, in the middle of whatever it does.
    pub(crate) fuse: Option<u32>,
}

impl Cluster {
    pub(crate) fn new(policy: Policy) -> Cluster {
        Cluster {
            policy,
            world: World::new(policy, BTreeMap::new()),
            zones: BTreeMap::new(),
            records: BTreeMap::new(),
            slices: BTreeMap::new(),
            name_server: NameServer::default(),
            now: line::second(0),
            writes: BTreeMap::new(),
            touched: BTreeSet::new(),
            due: BTreeSet::new(),
            broken: BTreeMap::new(),
            ticks: 0,
            fuse: None,
        }
    }

    /// Creates or changes the Zone of a line.
    pub(crate) fn zone(&mut self, text: &str) {
        let (mut object, age) = line::zone(text);
        let key = zone_key(&object.metadata);
        let held = self.zones.get(&key).cloned();
        let same = held.as_ref().is_some_and(|held| held.spec == object.spec);
        self.renew(
            &mut object.metadata,
            held.as_ref().map(|held| held.metadata.clone()),
            age.0,
            same,
        );
        object.status = held.and_then(|held| held.status);
        self.put_zone(object);
    }

    /// Creates or changes the Record of a line.
    pub(crate) fn record(&mut self, text: &str) {
        let (mut object, age) = line::record(text);
        let key = record_key(&object.metadata);
        let held = self.records.get(&key).cloned();
        let same = held.as_ref().is_some_and(|held| held.spec == object.spec);
        self.renew(
            &mut object.metadata,
            held.as_ref().map(|held| held.metadata.clone()),
            age.0,
            same,
        );
        object.status = held.and_then(|held| held.status);
        self.put_record(object);
    }

    /// Puts a Zone as it is into the API.
    pub(crate) fn put_zone(&mut self, object: Zone) {
        let key = zone_key(&object.metadata);
        self.zones.insert(key.clone(), object);
        let consequences = self.apply_zone(&key);
        self.change(consequences);
    }

    /// Puts a Record as it is into the API.
    pub(crate) fn put_record(&mut self, object: Record) {
        let key = record_key(&object.metadata);
        self.records.insert(key.clone(), object.clone());
        let consequences = self.world.apply_record(&key, Decoded::Object(object));
        self.change(consequences);
    }

    pub(crate) fn delete_zone(&mut self, key: &ZoneKey) {
        self.zones.remove(key);
        self.collect_slices();
        let consequences = self.world.delete_zone(key);
        self.change(consequences);
    }

    pub(crate) fn delete_record(&mut self, key: &RecordKey) {
        self.records.remove(key);
        let consequences = self.world.delete_record(key);
        self.change(consequences);
    }

    /// An object is deleted and made anew, and nobody sees the one without the other.
    pub(crate) fn forget_object(&mut self, key: &Key) {
        match key {
            Key::Zone(key) => drop(self.zones.remove(key)),
            Key::Record(key) => drop(self.records.remove(key)),
        }
        self.collect_slices();
    }

    /// Slices that came and went without us.
    pub(crate) fn note_slices(&mut self, came: &[ObjectMeta], went: &[ObjectMeta]) {
        for object in came {
            let consequences = self.world.apply_slice(object);
            self.absorb(consequences);
        }
        for object in went {
            let consequences = self.world.delete_slice(object);
            self.absorb(consequences);
        }
    }

    /// Slices go with the Zone that owns them.
    fn collect_slices(&mut self) {
        let zones = self.zones.values();
        let uids: BTreeSet<_> = zones
            .map(|zone| zone.metadata.uid.clone().unwrap())
            .collect();
        let owned = |object: &ObjectMeta| {
            let mut owners = object.owner_references.iter().flatten();
            owners.any(|owner| uids.contains(&owner.uid))
        };
        let orphans = self.slices.values().filter(|(object, _)| !owned(object));
        let orphans: Vec<ObjectMeta> = orphans.map(|(object, _)| object.clone()).collect();
        for object in orphans {
            self.slices.remove(object.name.as_ref().unwrap());
            let consequences = self.world.delete_slice(&object);
            self.absorb(consequences);
        }
    }

    /// A Zone whose shape is not that of its kind.
    pub(crate) fn break_zone(&mut self, key: &ZoneKey, problem: Problem) {
        self.broken.insert(key.clone(), problem);
        let consequences = self.apply_zone(key);
        self.change(consequences);
    }

    /// Tells the world what the API holds.
    fn apply_zone(&mut self, key: &ZoneKey) -> Consequences {
        let object = self.zones[key].clone();
        let object = match self.broken.get(key) {
            None => Decoded::Object(object),
            Some(problem) => Decoded::Undecodable(Box::new(Undecodable {
                metadata: object.metadata,
                problems: vec![problem.clone()],
            })),
        };
        self.world.apply_zone(key, object)
    }

    /// Everything but the API and what the name server has stored is lost.
    pub(crate) fn restart(&mut self) {
        self.name_server.restart();
        self.world = World::new(self.policy, self.name_server.stored());
        for (origin, serial) in self.name_server.spent() {
            self.world.spend(&origin, serial);
        }
        for key in self.zones.keys().cloned().collect::<Vec<_>>() {
            self.apply_zone(&key);
        }
        for (key, object) in self.records.clone() {
            self.world.apply_record(&key, Decoded::Object(object));
        }
        for (object, _) in self.slices.values() {
            self.world.apply_slice(object);
        }
        for publication in self.world.abandoned() {
            self.name_server.tell(publication);
        }
        self.due = self.world.keys().collect();
    }

    /// Does what there is to do until nothing is left.
    pub(crate) fn run(&mut self) {
        assert!(!self.work(PASSES_MAX), "it never comes to rest");
    }

    /// Does so many things, and tells whether there is more to do.
    pub(crate) fn work(&mut self, things: usize) -> bool {
        for _ in 0..things {
            if let Some(key) = self.due.pop_first() {
                match key {
                    Key::Zone(key) => drop(self.zone_pass(&key)),
                    Key::Record(key) => drop(self.record_pass(&key)),
                }
                if self.fuse == Some(0) {
                    self.fuse = None;
                    self.restart();
                }
            } else if let Some(sighting) = self.name_server.step() {
                let consequences = self.world.sighted(&sighting);
                self.absorb(consequences);
            } else {
                return false;
            }
        }
        true
    }

    /// One pass over a Zone; nothing if the process died in the middle of it.
    fn zone_pass(&mut self, key: &ZoneKey) -> Option<()> {
        let view = self.world.zone(key)?;
        let mut object = self.zones.get(key).cloned()?;
        let decision = zone::decide(&view, self.now);
        let status = zone::conclude(&view, &decision, self.now);
        let mut kept = view.status.slices.iter();
        assert!(
            kept.all(|name| !decision.remove.contains(name)),
            "what a status names stays as long as it does"
        );
        if let Some(parent) = &decision.label {
            set_parent(&mut object.metadata, parent.0.as_ref());
            self.write_zone(&mut object)?;
        }
        for slice in decision.create {
            self.create_slice(&object, slice)?;
        }
        if let Some(status) = status {
            let mut named = status.slices.iter();
            assert!(named.all(|name| self.slices.contains_key(name)));
            object.status = Some(status);
            self.write_zone(&mut object)?;
        }
        if let Some((version, epoch)) = decision.version {
            let consequences = self.world.acknowledge(key, version, epoch);
            self.absorb(consequences);
        }
        for name in decision.remove {
            self.burn()?;
            let (object, _) = self.slices.remove(&name).expect("only what exists goes");
            let consequences = self.world.delete_slice(&object);
            self.absorb(consequences);
        }
        Some(())
    }

    fn record_pass(&mut self, key: &RecordKey) -> Option<()> {
        let view = self.world.record(key)?;
        let mut object = self.records[key].clone();
        let decision = record::decide(&view);
        if let Some(parent) = &decision.label {
            set_parent(&mut object.metadata, parent.0.as_ref());
            self.write_record(&mut object)?;
        }
        if decision.waits {
            return Some(());
        }
        if let Some(status) = record::conclude(&view, &decision, self.now) {
            object.status = Some(status);
            self.write_record(&mut object)?;
        }
        Some(())
    }

    fn write_zone(&mut self, object: &mut Zone) -> Option<()> {
        self.burn()?;
        let key = zone_key(&object.metadata);
        self.count(Key::Zone(key.clone()), &mut object.metadata);
        self.zones.insert(key.clone(), object.clone());
        let consequences = self.apply_zone(&key);
        self.absorb(consequences);
        Some(())
    }

    fn write_record(&mut self, object: &mut Record) -> Option<()> {
        self.burn()?;
        let key = record_key(&object.metadata);
        self.count(Key::Record(key.clone()), &mut object.metadata);
        self.records.insert(key.clone(), object.clone());
        let consequences = self
            .world
            .apply_record(&key, Decoded::Object(object.clone()));
        self.absorb(consequences);
        Some(())
    }

    /// The fuse burns down with every write.
    fn burn(&mut self) -> Option<()> {
        match &mut self.fuse {
            None => Some(()),
            Some(0) => None,
            Some(left) => {
                *left -= 1;
                Some(())
            }
        }
    }

    fn count(&mut self, key: Key, object: &mut ObjectMeta) {
        *self.writes.entry(key).or_default() += 1;
        self.ticks += 1;
        object.resource_version = Some(self.ticks.to_string());
    }

    fn create_slice(&mut self, zone: &Zone, slice: Slice) -> Option<()> {
        self.burn()?;
        let owner = OwnerReference {
            kind: "Zone".to_owned(),
            name: zone.metadata.name.clone().unwrap(),
            uid: zone.metadata.uid.clone().unwrap(),
            ..OwnerReference::default()
        };
        let object = ObjectMeta {
            name: Some(slice.name.clone()),
            namespace: zone.metadata.namespace.clone(),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        };
        self.slices
            .insert(slice.name, (object.clone(), slice.content));
        let consequences = self.world.apply_slice(&object);
        self.absorb(consequences);
        Some(())
    }

    fn change(&mut self, consequences: Consequences) {
        self.touched.clone_from(&consequences.keys);
        self.absorb(consequences);
    }

    fn absorb(&mut self, consequences: Consequences) {
        self.due.extend(consequences.keys);
        for publication in consequences.publications {
            self.name_server.tell(publication);
        }
    }

    fn renew(
        &mut self,
        object: &mut ObjectMeta,
        held: Option<ObjectMeta>,
        age: Option<i64>,
        same: bool,
    ) {
        self.ticks += 1;
        if let Some(held) = held {
            let generation = held.generation.unwrap_or_default() + i64::from(!same);
            *object = held;
            object.generation = Some(generation);
        } else {
            let uid = format!("uid-{:06}", self.ticks);
            line::created(object, age.unwrap_or(self.ticks), &uid);
        }
        object.resource_version = Some(self.ticks.to_string());
    }
}

pub(crate) fn zone_key(object: &ObjectMeta) -> ZoneKey {
    let namespace = object.namespace.as_deref().expect("a namespace");
    ZoneKey::new(namespace, object.name.as_deref().expect("a name"))
}

pub(crate) fn record_key(object: &ObjectMeta) -> RecordKey {
    let namespace = object.namespace.as_deref().expect("a namespace");
    RecordKey::new(namespace, object.name.as_deref().expect("a name"))
}

fn set_parent(object: &mut ObjectMeta, parent: Option<&ZoneKey>) {
    let labels = object.labels.get_or_insert_default();
    set(labels, label::PARENT_ZONE, parent.map(ZoneKey::label));
    let annotations = object.annotations.get_or_insert_default();
    let reference = parent.and_then(ZoneKey::annotation);
    set(annotations, annotation::PARENT_ZONE_REF, reference);
}

fn set(map: &mut BTreeMap<String, String>, key: &str, value: Option<String>) {
    match value {
        Some(value) => drop(map.insert(key.to_owned(), value)),
        None => drop(map.remove(key)),
    }
}
