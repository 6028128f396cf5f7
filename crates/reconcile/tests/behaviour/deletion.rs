//! What goes leaves nothing behind (Z14).

use dns::Name;

use crate::story::check;

/// Z14, the peer's `orphaned_record`.
#[test]
fn records_of_a_deleted_zone_go_to_the_next_zone_or_are_orphans() {
    let cluster = check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=*
         record web/full www.sub.example.org. A = 192.0.2.1
         record web/relative api ref=dns/sub A = 192.0.2.2
         ? record web/full parent=sub.dns
         ? record web/relative parent=sub.dns
         delete zone dns/sub
         ? record web/full fqdn=www.sub.example.org. parent=org.dns Published=True/Served
         ? record web/relative fqdn=- parent=- Accepted=False/ParentNotFound
         delete zone dns/org
         ? record web/full fqdn=www.sub.example.org. parent=- Accepted=False/NoZone Published=False/NotAccepted",
    );
    assert!(
        cluster.name_server.zones().is_empty(),
        "nothing is answered"
    );
}

/// Z14: at once, without a pass over anything else.
#[test]
fn a_deleted_zone_is_withdrawn_at_once() {
    let mut cluster = check("zone dns/org example.org. records=*");
    let origin: Name = "example.org.".parse().unwrap();
    assert!(cluster.name_server.zones().contains_key(&origin));
    cluster.delete_zone(&api::ZoneKey::new("dns", "org"));
    while cluster.name_server.step().is_some() {}
    assert!(cluster.name_server.zones().is_empty());
}

/// Z14: a zone that was deleted while nobody looked is withdrawn at the next start.
#[test]
fn a_zone_deleted_while_nobody_looked_is_withdrawn_after_a_restart() {
    let mut cluster = check(
        "zone dns/org example.org.
         zone dns/com example.com.",
    );
    cluster.zones.remove(&api::ZoneKey::new("dns", "org"));
    cluster.restart();
    cluster.run();
    let origins: Vec<String> = cluster
        .name_server
        .zones()
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(origins, ["example.com."]);
}

/// Z14: a zone that is called something else leaves its old name.
#[test]
fn a_renamed_zone_leaves_its_old_name() {
    let cluster = check(
        "zone dns/org example.org.
         ? zone dns/org Published=True/Served
         zone dns/org example.com.
         ? zone dns/org fqdn=example.com. Published=True/Served",
    );
    let origins: Vec<String> = cluster
        .name_server
        .zones()
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(origins, ["example.com."]);
}

#[test]
fn a_deleted_record_leaves_its_zone() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? entries dns/org www.example.org. 360 A 192.0.2.1
         delete record web/www
         ? entries dns/org
         ? zone dns/org serial=2026111501",
    );
}
