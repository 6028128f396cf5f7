//! The label `kubi.zone/parent-zone` (Z3): output, never authority.

use api::ZoneKey;
use api::well_known::label;
use zonewright_reconcile::RecordKey;

use crate::story::{check, play};

/// Z3: the zone it refers to, or for a full name the nearest above that stands.
#[test]
fn a_sub_zone_names_the_zone_above_it() {
    check(
        "zone dns/org example.org.
         zone dns/dev dev.example.org.
         zone dns/api api ref=org
         zone dns/deep deep.dev.example.org. ref=org
         ? zone dns/org parent=-
         ? zone dns/dev parent=org.dns
         ? zone dns/api parent=org.dns
         ? zone dns/deep parent=org.dns
         zone dns/deep deep.dev.example.org.
         ? zone dns/deep parent=dev.dns
         delete zone dns/dev
         ? zone dns/deep parent=org.dns
         delete zone dns/org
         ? zone dns/deep parent=-
         ? zone dns/api parent=-",
    );
}

/// Z3: a zone is no sub-zone of one that is called something else altogether.
#[test]
fn a_zone_that_is_not_below_the_one_it_refers_to_names_nobody() {
    check(
        "zone dns/org example.org.
         zone dns/com dev.example.com. ref=org
         ? zone dns/com fqdn=dev.example.com. parent=-
         zone dns/org example.com.
         ? zone dns/com parent=org.dns
         zone dns/org example.net.
         ? zone dns/com parent=-",
    );
}

/// Z3, B8: a name with dots is read from the last one.
#[test]
fn a_zone_whose_object_has_dots_in_its_name_adopts_like_any_other() {
    check(
        "zone dns/example.org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? record web/www parent=example.org.dns Published=True/Served",
    );
}

/// Z3, B9: what is too long for a label is shortened, and the annotation says it all.
#[test]
fn a_label_that_would_be_too_long_is_shortened() {
    let name = "z".repeat(70);
    let cluster = check(&format!(
        "zone dns/{name} example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? record web/www parent-ref=dns/{name} Published=True/Served"
    ));
    let labels = cluster.records[&RecordKey::new("web", "www")]
        .metadata
        .labels
        .clone();
    assert_eq!(labels.unwrap()[label::PARENT_ZONE].len(), 63);
    let parent = ZoneKey::of_parent(&cluster.records[&RecordKey::new("web", "www")].metadata);
    assert_eq!(parent, Some(ZoneKey::new("dns", &name)));
}

/// Z4: a label that somebody else wrote moves nothing and does not stay.
#[test]
fn a_forged_label_is_corrected_and_gives_nothing() {
    let mut cluster = check(
        "zone dns/org example.org. records=*@web
         record evil/www www.example.org. A = 192.0.2.66",
    );
    let mut record = cluster.records[&RecordKey::new("evil", "www")].clone();
    let forged = [(label::PARENT_ZONE.to_owned(), "org.dns".to_owned())];
    record.metadata.labels = Some(forged.into());
    cluster.put_record(record);
    play(
        &mut cluster,
        "? record evil/www parent=- Accepted=False/NotDelegated
         ? entries dns/org",
    );
}

/// R4: with the label both the old and the new zone follow.
#[test]
fn a_record_that_moves_leaves_one_zone_and_enters_the_other() {
    check(
        "zone dns/org example.org. records=*
         zone dns/com example.com. records=*
         record web/www www ref=dns/org A = 192.0.2.1
         ? entries dns/org www.example.org. 360 A 192.0.2.1
         ? zone dns/org serial=2026111500
         record web/www www ref=dns/com A = 192.0.2.1
         ? record web/www parent=com.dns fqdn=www.example.com. Published=True/Served
         ? entries dns/org
         ? entries dns/com www.example.com. 360 A 192.0.2.1
         ? zone dns/org serial=2026111501
         ? zone dns/com serial=2026111501",
    );
}
