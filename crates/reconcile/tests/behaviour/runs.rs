//! Whole runs: random changes, crashes and pauses, and what holds once everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use api::condition::find;
use api::zone_slice::{CONTENT_BYTES_MAX, ZoneSlice, ZoneSliceSpec};
use api::{ConditionType, ZoneKey, parse};
use dns::{Name, SetKey, Version, Zone};
use kube::core::ObjectMeta;
use proptest::prelude::*;
use zonewright_reconcile::record::Presence;
use zonewright_reconcile::{Key, Policy, RecordKey};

use crate::cluster::Cluster;
use crate::steps::{Step, adjusted, step, zone_of};

/// What happens in a run.
#[derive(Clone, Debug)]
enum Event {
    Change(Step),
    /// So many things are done.
    Work(usize),
    /// The process is gone after so many writes.
    Crash(u32),
    Pause,
    Resume,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => step().prop_map(Event::Change),
        4 => (1..12_usize).prop_map(Event::Work),
        2 => Just(Event::Work(1_000)),
        1 => (0..8_u32).prop_map(Event::Crash),
        1 => Just(Event::Pause),
        2 => Just(Event::Resume),
    ]
}

fn happen(cluster: &mut Cluster, event: &Event) {
    match event {
        Event::Change(Step::Zone { line, again }) => {
            if *again {
                cluster.forget_object(&key_of("zone", line));
            }
            cluster.zone(line);
        }
        Event::Change(Step::Record { line, again }) => {
            if *again {
                cluster.forget_object(&key_of("record", line));
            }
            cluster.record(line);
        }
        Event::Change(Step::Adjust { key, line }) => {
            if let Some(zone) = cluster.zones.get(&zone_of(key)).cloned() {
                let mut zone = adjusted(zone, line);
                zone.metadata.generation = zone.metadata.generation.map(|it| it + 1);
                cluster.put_zone(zone);
            }
        }
        Event::Change(
            Step::Delete(Key::Zone(key))
            | Step::Break {
                key: Key::Zone(key),
                ..
            },
        ) => {
            cluster.delete_zone(key);
        }
        Event::Change(
            Step::Delete(Key::Record(key))
            | Step::Break {
                key: Key::Record(key),
                ..
            },
        ) => {
            cluster.delete_record(key);
        }
        Event::Work(things) => drop(cluster.work(*things)),
        Event::Crash(writes) => cluster.fuse = Some(*writes),
        Event::Pause => cluster.name_server.paused = true,
        Event::Resume => cluster.name_server.paused = false,
    }
}

fn key_of(kind: &str, line: &str) -> Key {
    let name = line.split(' ').next().unwrap();
    crate::story::object(&format!("{kind} {name}"))
}

/// Everything that must hold when nothing is left to do.
fn look_around(cluster: &mut Cluster) {
    let mut answered: BTreeMap<Name, Zone> = BTreeMap::new();
    for key in cluster.zones.keys().cloned().collect::<Vec<_>>() {
        if let Some(zone) = settled_zone(cluster, &key) {
            answered.insert(zone.origin().clone(), zone);
        }
    }
    for (origin, Version { zone, .. }) in cluster.name_server.zones() {
        // A zone that can make no version keeps the last one.
        if let Some(expected) = answered.remove(origin) {
            assert_eq!(zone, &expected, "what is answered is what the objects say");
        }
    }
    assert!(answered.is_empty(), "not answered: {answered:?}");
    for key in cluster.records.keys().cloned().collect::<Vec<_>>() {
        settled_record(cluster, &key);
    }
}

/// A Zone at rest. What it says, if it makes versions.
fn settled_zone(cluster: &mut Cluster, key: &ZoneKey) -> Option<Zone> {
    let view = cluster.world.zone(key).expect("it exists");
    let status = cluster.zones[key]
        .status
        .clone()
        .expect("every zone says something");
    let owned = |object: &ObjectMeta| {
        let mut owners = object.owner_references.iter().flatten();
        owners.any(|owner| owner.uid == view.identity.age.uid())
    };
    let slices = cluster.slices.iter();
    let existing: BTreeSet<String> = slices
        .filter(|(_, (object, _))| owned(object))
        .map(|(name, _)| name.clone())
        .collect();
    let named: BTreeSet<String> = status.slices.iter().cloned().collect();
    assert_eq!(existing, named, "slices of {key}");
    let zone = view.content?.zone;
    assert_eq!(status.hash, Some(zone.hash().to_string()));
    let records: Vec<String> = records(&zone);
    if status.slices.is_empty() {
        assert_eq!(status.entries.len(), records.len() + 1);
    } else {
        assert_eq!(status.entries.len(), 1);
        assert_eq!(sliced(cluster, &status.slices), records);
    }
    let published = find(&status.conditions, ConditionType::Published).unwrap();
    assert_eq!(published.status, "True", "{key}: {published:?}");
    Some(zone)
}

/// The records in slices, as lines.
fn sliced(cluster: &Cluster, names: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for name in names {
        let content = &cluster.slices[name].1;
        assert!(!content.is_empty() && content.len() <= CONTENT_BYTES_MAX);
        let content = content.clone();
        let object = ZoneSlice::new(name, ZoneSliceSpec { content });
        for line in parse::zone_slice::parse(&object).expect("a slice can be read") {
            let record = &line.record;
            let fields = (line.membership.as_ref(), record.ttl, &record.data);
            lines.push(dns::zonefile::print_line(&record.name, fields));
        }
    }
    lines
}

fn records(zone: &Zone) -> Vec<String> {
    let sets = zone.sets();
    sets.flat_map(|(key, set)| {
        let records = set.records();
        records.map(|record| dns::zonefile::print_line(&key.name, record))
    })
    .collect()
}

/// R8: at rest a Record says that it is published exactly if it is answered.
fn settled_record(cluster: &Cluster, key: &RecordKey) {
    let view = cluster.world.record(key).expect("it exists");
    let status = cluster.records[key]
        .status
        .clone()
        .expect("every record says something");
    assert_eq!(
        status.observed_generation,
        cluster.records[key].metadata.generation
    );
    let published = find(&status.conditions, ConditionType::Published).unwrap();
    if let Presence::ZoneStays { .. } = view.presence {
        return;
    }
    let answers = matches!(view.presence, Presence::In { .. });
    assert_eq!(
        published.status == "True",
        answers,
        "{key}: {published:?} {view:#?}"
    );
    if let (Ok(name), Some(rtype), true) = (&view.name, view.rtype, answers) {
        let over = name.ancestors();
        let mut zones = over.filter_map(|origin| cluster.name_server.zones().get(&origin));
        let at = SetKey::new(name.clone(), rtype);
        assert!(
            zones.any(|version| version.zone.get(&at).is_some()),
            "{key} is not answered"
        );
    }
}

fn check(events: &[Event], inline_max: usize) {
    let mut cluster = Cluster::new(Policy {
        inline_max,
        ..Policy::default()
    });
    for event in events {
        happen(&mut cluster, event);
    }
    cluster.fuse = None;
    cluster.name_server.paused = false;
    cluster.run();
    look_around(&mut cluster);
    cluster.writes.clear();
    cluster.restart();
    cluster.run();
    assert_eq!(
        cluster.writes,
        BTreeMap::new(),
        "after a restart nothing is written"
    );
    look_around(&mut cluster);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Z6, Z7, Z9, Z11, R8: whatever happens, in the end everything is said, answered and published, one serial has never
    /// stood for two contents, and a new process finds nothing to write.
    #[test]
    fn every_run_comes_to_rest_with_everything_answered(
        events in prop::collection::vec(event(), 1..50),
        inline_max in prop_oneof![Just(1_000_usize), Just(2)],
    ) {
        check(&events, inline_max);
    }
}
