//! Content that is too large for one object (Z11).

use std::collections::BTreeSet;

use api::ZoneKey;
use api::zone_slice::CONTENT_BYTES_MAX;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ObjectMeta;
use zonewright_reconcile::slice::Layout;
use zonewright_reconcile::{Key, Policy, RecordKey};

use crate::cluster::Cluster;
use crate::story::{check, play};

fn key() -> ZoneKey {
    ZoneKey::new("dns", "org")
}

/// A zone with as many entries, the SOA among them.
fn cluster(entries: usize) -> Cluster {
    let mut cluster = check("zone dns/org example.org. records=*");
    for number in 1..entries {
        add(&mut cluster, number);
    }
    cluster.run();
    look(&mut cluster, entries);
    cluster
}

fn add(cluster: &mut Cluster, number: usize) {
    let line = format!("web/r{number} host{number}.example.org. A = 192.0.2.1");
    cluster.record(&line);
}

fn remove(cluster: &mut Cluster, number: usize) {
    cluster.delete_record(&RecordKey::new("web", &format!("r{number}")));
}

fn names(cluster: &Cluster) -> BTreeSet<String> {
    let status = cluster.zones[&key()].status.as_ref().unwrap();
    status.slices.iter().cloned().collect()
}

/// Z11: all of the content is in the entries, or the SOA there and the rest in slices.
fn look(cluster: &mut Cluster, entries: usize) {
    let status = cluster.zones[&key()].status.clone().unwrap();
    let zone = cluster.world.zone(&key()).unwrap().content.unwrap().zone;
    assert_eq!(zone.record_count() + 1, entries);
    let existing: BTreeSet<String> = cluster.slices.keys().cloned().collect();
    assert_eq!(existing, names(cluster), "what nobody names is gone");
    if status.slices.is_empty() {
        assert_eq!(status.entries.len(), entries);
        return;
    }
    assert_eq!(status.entries.len(), 1);
    let uid = cluster.zones[&key()].metadata.uid.clone().unwrap();
    assert_eq!(status.slices, Layout::of(&zone, &uid).names());
    let contents = status
        .slices
        .iter()
        .map(|name| cluster.slices[name].1.as_str());
    let lines: usize = contents.map(|content| content.lines().count()).sum();
    assert_eq!(lines + 1, entries);
}

/// Z11: over the limit into slices, back some way below it, and nothing stays behind.
#[test]
fn content_moves_to_slices_and_back() {
    for (entries, sliced) in [
        (1, false),
        (2, false),
        (999, false),
        (1_000, false),
        (1_001, true),
    ] {
        assert_eq!(
            !names(&cluster(entries)).is_empty(),
            sliced,
            "{entries} entries"
        );
    }
    let mut cluster = cluster(1_001);
    for number in 1..=201 {
        remove(&mut cluster, number);
    }
    cluster.run();
    look(&mut cluster, 800);
    assert!(!names(&cluster).is_empty(), "800 entries stay in slices");
    remove(&mut cluster, 202);
    cluster.run();
    look(&mut cluster, 799);
    assert!(names(&cluster).is_empty(), "799 entries fit again");
    for number in 1..=201 {
        add(&mut cluster, number);
    }
    cluster.run();
    look(&mut cluster, 1_000);
    assert!(names(&cluster).is_empty(), "1000 entries still fit");
}

/// Z11: a change creates the slices it touches and no others, and a new process finds them all.
#[test]
fn a_change_touches_few_slices() {
    let mut cluster = cluster(3_000);
    assert!(names(&cluster).len() > 5, "{}", names(&cluster).len());
    for number in [7, 77, 777, 2_777] {
        let before = names(&cluster);
        cluster.record(&format!(
            "web/r{number} host{number}.example.org. A = 192.0.2.2"
        ));
        cluster.run();
        let created = names(&cluster).difference(&before).count();
        assert_eq!(created, 1, "slices for one record");
    }
    look(&mut cluster, 3_000);
    cluster.writes.clear();
    cluster.restart();
    cluster.run();
    assert!(
        cluster.writes.is_empty(),
        "after a restart nothing is written"
    );
}

/// Z11: large records count by their size, for an object is bounded in bytes.
#[test]
fn few_large_records_move_to_slices_too() {
    let mut cluster = check("zone dns/org example.org. records=*");
    let text = format!("\"{}\" ", "x".repeat(250)).repeat(8);
    for number in 0..70 {
        cluster.record(&format!(
            "web/r{number} host{number}.example.org. TXT = {text}"
        ));
    }
    cluster.run();
    assert!(!names(&cluster).is_empty());
    look(&mut cluster, 71);
}

/// A record whose line no slice could hold is refused alone.
#[test]
fn a_record_that_no_slice_holds_is_refused() {
    let text = format!("\"{}\" ", "x".repeat(255)).repeat(254);
    let name = "web/large large.example.org. TXT";
    let length = CONTENT_BYTES_MAX;
    check(&format!(
        "zone dns/org example.org. records=*
         record {name} = {text}
         record web/www www.example.org. A = 192.0.2.1
         ? record web/large fqdn=large.example.org. parent=- Accepted=False/Invalid
         ? message record web/large Accepted: spec.rdata: takes 65569 bytes as a line of a zone file, at most {length} can be stored
         ? record web/www Published=True/Served"
    ));
}

/// Z11: what a crashed writer left behind is removed, whenever it crashed.
#[test]
fn a_crash_at_any_write_leaves_nothing_behind() {
    for writes in 0..12 {
        let mut cluster = Cluster::new(Policy {
            inline_max: 3,
            ..Policy::default()
        });
        play(&mut cluster, "zone dns/org example.org. records=*");
        for number in 1..6 {
            add(&mut cluster, number);
        }
        cluster.run();
        cluster.fuse = Some(writes);
        add(&mut cluster, 6);
        remove(&mut cluster, 1);
        cluster.run();
        cluster.fuse = None;
        cluster.restart();
        cluster.run();
        look(&mut cluster, 6);
    }
}

/// Z11: slices that nobody named, and slices that somebody removed.
#[test]
fn slices_are_made_and_removed_until_they_are_those_of_the_status() {
    let mut cluster = cluster(1_001);
    let uid = cluster.zones[&key()].metadata.uid.clone().unwrap();
    let stray = ObjectMeta {
        name: Some("zone-stray".to_owned()),
        namespace: Some("dns".to_owned()),
        owner_references: Some(vec![OwnerReference {
            kind: "Zone".to_owned(),
            name: "org".to_owned(),
            uid,
            ..OwnerReference::default()
        }]),
        ..ObjectMeta::default()
    };
    let gone = names(&cluster).into_iter().next().unwrap();
    let (gone, _) = cluster.slices.remove(&gone).unwrap();
    cluster
        .slices
        .insert("zone-stray".to_owned(), (stray.clone(), String::new()));
    cluster.note_slices(&[stray], &[gone]);
    cluster.run();
    look(&mut cluster, 1_001);
}

/// Z11: slices are owned by one object. A zone made anew makes its own.
#[test]
fn a_zone_made_anew_makes_its_own_slices() {
    let mut cluster = cluster(1_001);
    let before = names(&cluster);
    cluster.forget_object(&Key::Zone(key()));
    play(&mut cluster, "zone dns/org example.org. records=*");
    look(&mut cluster, 1_001);
    assert!(names(&cluster).is_disjoint(&before));
}

/// Z11: a zone that loses its authority loses its slices, too.
#[test]
fn a_zone_that_does_not_stand_has_no_slices() {
    let mut cluster = cluster(1_001);
    play(&mut cluster, "zone older/org example.org. age=-5");
    assert!(names(&cluster).is_empty());
    assert!(cluster.slices.is_empty());
}
