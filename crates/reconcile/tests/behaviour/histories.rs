//! The world compared with a naive one over random histories: the same views after every step, and whatever changed was told.

use std::collections::{BTreeMap, BTreeSet};

use api::{Decoded, Problem, Reason, Status, Undecodable, ZoneKey};
use dns::Zone;
use jiff::Timestamp;
use kube::core::ObjectMeta;
use proptest::prelude::*;
use zonewright_reconcile::record::{self, Presence};
use zonewright_reconcile::world::{Adoption, Authority, Nameless, Standing};
use zonewright_reconcile::{Key, Policy, RecordKey, RecordView, World, ZoneView, zone};

use crate::line;
use crate::naive::Naive;
use crate::steps::{Step, adjusted, step, zone_of};

/// Both worlds, and what the objects are called and how old they are.
struct Both {
    world: World,
    naive: Naive,
    /// The metadata of what exists.
    objects: BTreeMap<Key, ObjectMeta>,
    /// The Zones that can be decoded.
    zones: BTreeMap<ZoneKey, api::Zone>,
    zone_views: BTreeMap<ZoneKey, ZoneView>,
    record_views: BTreeMap<RecordKey, RecordView>,
    ticks: u32,
}

impl Both {
    fn new(authority: Authority) -> Both {
        let policy = Policy {
            authority,
            name_server: false,
            ..Policy::default()
        };
        Both {
            world: World::new(policy, BTreeMap::new()),
            naive: Naive::new(authority),
            objects: BTreeMap::new(),
            zones: BTreeMap::new(),
            zone_views: BTreeMap::new(),
            record_views: BTreeMap::new(),
            ticks: 0,
        }
    }

    /// The metadata of an object that comes, changes, or comes `again` without having been seen to go.
    fn metadata(&mut self, key: &Key, age: i64, again: bool) -> ObjectMeta {
        self.ticks += 1;
        let held = self.objects.get(key).filter(|_| !again).cloned();
        let object = held.unwrap_or_else(|| {
            let mut object = ObjectMeta {
                namespace: Some(key.namespace().to_owned()),
                name: Some(key.name().to_owned()),
                ..ObjectMeta::default()
            };
            line::created(&mut object, age, &format!("uid-{:04}", self.ticks));
            object
        });
        self.objects.insert(key.clone(), object.clone());
        object
    }

    fn step(&mut self, step: &Step) {
        let consequences = match step {
            Step::Zone { line, again } => {
                let (mut zone, age) = line::zone(line);
                let key = crate::cluster::zone_key(&zone.metadata);
                let metadata = self.metadata(&Key::Zone(key.clone()), age.0.unwrap(), *again);
                zone.metadata = metadata;
                self.put_zone(&key, Decoded::Object(zone))
            }
            Step::Record { line, again } => {
                let (mut record, age) = line::record(line);
                let key = crate::cluster::record_key(&record.metadata);
                let metadata = self.metadata(&Key::Record(key.clone()), age.0.unwrap(), *again);
                record.metadata = metadata;
                self.put_record(&key, Decoded::Object(record))
            }
            Step::Adjust { key, line } => {
                let key = zone_of(key);
                match self.zones.get(&key).cloned() {
                    None => return,
                    Some(zone) => self.put_zone(&key, Decoded::Object(adjusted(zone, line))),
                }
            }
            Step::Delete(key) => {
                self.objects.remove(key);
                self.naive.delete(key);
                match key {
                    Key::Zone(key) => {
                        self.zones.remove(key);
                        self.world.delete_zone(key).keys
                    }
                    Key::Record(key) => self.world.delete_record(key).keys,
                }
            }
            Step::Break { key, age } => {
                let metadata = self.metadata(key, *age, false);
                let problem = Problem::bare(&api::FieldPath::spec(), "is required");
                let broken = Box::new(Undecodable {
                    metadata,
                    problems: vec![problem],
                });
                match key {
                    Key::Zone(key) => self.put_zone(key, Decoded::Undecodable(broken)),
                    Key::Record(key) => self.put_record(key, Decoded::Undecodable(broken)),
                }
            }
        };
        self.compare(&consequences);
    }

    fn put_zone(&mut self, key: &ZoneKey, object: Decoded<api::Zone>) -> BTreeSet<Key> {
        self.naive.put_zone(key, &object);
        match &object {
            Decoded::Object(zone) => drop(self.zones.insert(key.clone(), zone.clone())),
            Decoded::Undecodable(_) => drop(self.zones.remove(key)),
        }
        self.world.apply_zone(key, object).keys
    }

    fn put_record(&mut self, key: &RecordKey, object: Decoded<api::Record>) -> BTreeSet<Key> {
        self.naive.put_record(key, &object);
        self.world.apply_record(key, object).keys
    }

    fn compare(&mut self, told: &BTreeSet<Key>) {
        let expected = self.naive.follow();
        let keys: BTreeSet<Key> = self.world.keys().collect();
        assert_eq!(keys, expected.keys().collect(), "the objects that exist");
        assert!(told.is_subset(&keys), "only what exists is told: {told:?}");
        self.zone_views
            .retain(|key, _| keys.contains(&Key::Zone(key.clone())));
        self.record_views
            .retain(|key, _| keys.contains(&Key::Record(key.clone())));
        for key in keys {
            let described = match &key {
                Key::Zone(zone) => {
                    let view = self.world.zone(zone).expect("it exists");
                    let described = describe_zone(&view);
                    let before = self.zone_views.insert(zone.clone(), view.clone());
                    let same = before.is_some_and(|before| before == view);
                    assert!(same || told.contains(&key), "{key} was not told: {view:?}");
                    described
                }
                Key::Record(record) => {
                    let view = self.world.record(record).expect("it exists");
                    let described = describe_record(&view);
                    let before = self.record_views.insert(record.clone(), view.clone());
                    let same = before.is_some_and(|before| before == view);
                    assert!(same || told.contains(&key), "{key} was not told: {view:?}");
                    described
                }
            };
            assert_eq!(described, expected.describe(&key), "{key}");
        }
    }
}

/// The content of a zone on one line.
pub(crate) fn content(zone: &Zone) -> String {
    let sets = zone.sets();
    let sets: Vec<String> = sets
        .map(|(key, set)| format!("{key} {:?}", set.records().collect::<Vec<_>>()))
        .collect();
    format!("{} {:?} {sets:?}", zone.origin(), zone.soa())
}

fn describe_zone(view: &ZoneView) -> String {
    let name = match &view.name {
        Ok(name) => name.to_string(),
        Err(nameless) => describe_nameless(nameless),
    };
    let standing = match &view.standing {
        Standing::Nameless => "nameless".to_owned(),
        Standing::Stands { overrules } if overrules.is_empty() => "stands".to_owned(),
        Standing::Stands { overrules } => format!("stands over {overrules:?}"),
        Standing::Conflicted(_) => "conflicted".to_owned(),
        Standing::NotDelegated(_) => "not delegated".to_owned(),
    };
    let parent = view.parent.as_ref().map(ToString::to_string);
    let zone = view.content.as_ref().map(|it| content(&it.zone));
    let decision = zone::decide(view, Timestamp::UNIX_EPOCH);
    let accepted = &decision.findings[0];
    let accepted = match (accepted.status, accepted.reason) {
        (Status::True, _) => "yes",
        (_, Reason::Undecodable) => "invalid",
        (_, Reason::Conflicted) => "Conflicted",
        (_, Reason::NotDelegated) => "NotDelegated",
        (_, Reason::Invalid) if view.name.is_ok() => "Invalid",
        (_, _) if view.name.is_ok() => "misplaced",
        (_, _) => &name,
    };
    format!("{name} {standing}, parent {parent:?}, accepted {accepted}: {zone:?}")
}

fn describe_nameless(nameless: &Nameless) -> String {
    match nameless {
        Nameless::Invalid => "invalid".to_owned(),
        Nameless::Unfit(problem) => problem.to_string(),
        Nameless::ParentNotFound(zone) => format!("no {zone}"),
        Nameless::WaitingForParent(zone) => format!("waits for {zone}"),
        Nameless::Cyclic => "cyclic".to_owned(),
    }
}

fn describe_record(view: &RecordView) -> String {
    let name = match &view.name {
        Ok(name) => name.to_string(),
        Err(nameless) => describe_nameless(nameless),
    };
    let nobody = match &view.adoption {
        Adoption::Adopted { zone, data } => {
            let fate = describe_presence(&view.presence);
            return format!("{name} in {zone} {data:?}: {fate}");
        }
        Adoption::Invalid if view.name.is_err() => "nameless",
        Adoption::Invalid => "invalid",
        Adoption::Nameless(_) => "nameless",
        Adoption::Unfit(_) => "unfit",
        Adoption::NoZone => "no zone",
        Adoption::Outside { .. } => "outside",
        Adoption::NotDelegated(_) => "not delegated",
        Adoption::Overruled { .. } => "overruled",
    };
    let findings = record::decide(view).findings;
    assert_eq!(findings[0].status, Status::False, "nobody has adopted it");
    assert_eq!(findings[1].reason, Reason::NotAccepted);
    format!("{name}: {nobody}")
}

fn describe_presence(presence: &Presence) -> String {
    let (notes, hidden) = match presence {
        Presence::None => return "adopted, and nowhere".to_owned(),
        Presence::ZoneNotAccepted => return "zone not accepted".to_owned(),
        Presence::ZoneStays { .. } => return "zone stays".to_owned(),
        Presence::Excluded { .. } => return "excluded".to_owned(),
        Presence::Glue(_) => return "glue".to_owned(),
        Presence::In { notes, .. } => (notes, "in".to_owned()),
        Presence::Occluded { notes, by } => {
            let zone = by.strip_prefix("Zone ").and_then(|it| it.split(' ').next());
            let by = zone.map_or_else(|| "record".to_owned(), |zone| format!("Zone {zone}"));
            (notes, format!("hidden by {by}"))
        }
    };
    let notes: Vec<&str> = notes.0.iter().map(|(reason, _)| reason.as_str()).collect();
    format!("{hidden} {notes:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Z0–Z5, Z12–Z14, R1–R7: whatever the history, the world knows what follows from the objects alone, and tells
    /// everyone for whom something else holds.
    #[test]
    fn every_history_gives_the_views_that_the_rules_give(
        authority in prop_oneof![4 => Just(Authority::Strict), 1 => Just(Authority::Open)],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut both = Both::new(authority);
        for step in &steps {
            both.step(step);
        }
    }
}
