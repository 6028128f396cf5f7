//! Hashes and serials (Z6, Z7, Z8, Z9).

use api::ZoneKey;
use api::zone::ZoneStatus;
use dns::{Serial, Version};
use zonewright_reconcile::Key;

use crate::cluster::Cluster;
use crate::story::{check, play};

const STORY: &str = "zone dns/org example.org. records=* ns=ns1.example.net.
    record web/www www.example.org. A = 192.0.2.1
    ? zone dns/org serial=2026111500";

fn key() -> ZoneKey {
    ZoneKey::new("dns", "org")
}

fn status(cluster: &Cluster) -> ZoneStatus {
    cluster.zones[&key()].status.clone().unwrap()
}

fn hash(cluster: &Cluster) -> String {
    status(cluster).hash.unwrap()
}

/// Z8: the text that readers of `status.entries` know.
#[test]
fn the_soa_stands_first() {
    let cluster = check(STORY);
    let soa = &status(&cluster).entries[0];
    assert_eq!(
        (
            soa.fqdn.as_str(),
            soa.type_.as_str(),
            soa.ttl,
            soa.rdata.as_str()
        ),
        (
            "example.org.",
            "SOA",
            360,
            "ns.example.org. noc.example.org. (2026111500 86400 7200 3600000 360)"
        )
    );
    let cluster = check(
        "zone dns/org example.org. mname=ns1.example.net. rname=hostmaster refresh=1 retry=2 expire=3 negative=4 ttl=5",
    );
    let soa = &status(&cluster).entries[0];
    assert_eq!(
        soa.rdata,
        "ns1.example.net. hostmaster.example.org. (2026111500 1 2 3 4)"
    );
}

/// Z6, Z7: the serial follows the content, and only that; B13.
#[test]
fn a_serial_changes_with_the_content_and_with_nothing_else() {
    let rows = [
        ("record web/www www.example.org. A = 192.0.2.2", true),
        ("record web/www www.example.org. ttl=60 A = 192.0.2.1", true),
        ("record web/two two.example.org. A = 192.0.2.1", true),
        ("delete record web/www", true),
        (
            "zone dns/org example.org. records=* ns=ns1.example.net. refresh=1",
            true,
        ),
        (
            "zone dns/org example.org. records=* ns=ns1.example.net. ttl=60",
            true,
        ),
        (
            "zone dns/org example.org. records=* ns=ns2.example.net.",
            true,
        ),
        (
            "zone dns/org example.com. records=* ns=ns1.example.net.",
            true,
        ),
        (
            "zone dns/org example.org. records=* ns=ns1.example.net. zones=*",
            false,
        ),
        (
            "zone dns/org example.org. records=www ns=ns1.example.net.",
            false,
        ),
        ("record web/www WWW.example.org. A = 192.0.2.1", false),
        ("record web/dup www.example.org. A = 192.0.2.1", false),
        ("record web/bad www.example.org. A = nonsense", false),
        (
            "record web/www www.example.org. ttl=360 A = 192.0.2.1",
            false,
        ),
        ("zone other/com example.com.", false),
    ];
    for (change, news) in rows {
        let mut cluster = check(STORY);
        let before = hash(&cluster);
        play(&mut cluster, change);
        let serial = if news { 2_026_111_501 } else { 2_026_111_500 };
        assert_eq!(status(&cluster).serial, Some(serial), "{change}");
        assert_eq!(hash(&cluster) != before, news, "{change}");
    }
}

/// Z6, B12: the hash is a function of the content, not of the way there, and covers the name.
#[test]
fn equal_content_has_equal_hashes() {
    let straight = check(STORY);
    let winding = check(
        "record web/www www.example.org. A = 192.0.2.1
         record web/old old.example.org. TXT = \"t\"
         zone dns/org example.org. records=*
         ? zone dns/org serial=2026111500
         delete record web/old
         zone dns/org example.org. records=* ns=ns1.example.net.
         ? zone dns/org serial=2026111501",
    );
    assert_eq!(hash(&straight), hash(&winding));
    let renamed = check("zone dns/org example.com. records=* ns=ns1.example.net.");
    let empty = check("zone dns/org example.org. records=* ns=ns1.example.net.");
    assert_ne!(hash(&renamed), hash(&empty));
}

/// Z7: on a later day the date, on an earlier one the next number.
#[test]
fn serials_follow_the_date_and_never_go_back() {
    let days = [
        ("2026-11-15T23:59:59Z", 2_026_111_501),
        ("2026-11-16T00:00:00Z", 2_026_111_600),
        ("2020-01-01T00:00:00Z", 2_026_111_601),
        ("2026-11-17T12:00:00Z", 2_026_111_700),
    ];
    let mut cluster = check(STORY);
    for (number, (now, serial)) in days.into_iter().enumerate() {
        cluster.now = now.parse().unwrap();
        play(
            &mut cluster,
            &format!(
                "record web/www www.example.org. A = 192.0.2.{}",
                number + 10
            ),
        );
        assert_eq!(status(&cluster).serial, Some(serial), "{now}");
    }
}

/// Z7, B15: a status that was restored from a backup is behind the name server, which decides.
#[test]
fn a_restored_status_counts_on_from_what_the_name_server_has() {
    let mut cluster = check(STORY);
    let old = cluster.zones[&key()].clone();
    play(
        &mut cluster,
        "record web/www www.example.org. A = 192.0.2.2
         record web/two two.example.org. A = 192.0.2.2
         ? zone dns/org serial=2026111501",
    );
    for restart in [false, true] {
        let mut restored = cluster.zones[&key()].clone();
        restored.status.clone_from(&old.status);
        cluster.put_zone(restored);
        if restart {
            cluster.restart();
        }
        cluster.run();
        let serial = if restart {
            2_026_111_503
        } else {
            2_026_111_502
        };
        assert_eq!(status(&cluster).serial, Some(serial));
    }
}

/// Z7, B15: so is one that was lost.
#[test]
fn a_lost_status_counts_on_from_what_the_name_server_has() {
    let mut cluster = check(STORY);
    let mut lost = cluster.zones[&key()].clone();
    lost.status = None;
    cluster.put_zone(lost);
    cluster.restart();
    play(
        &mut cluster,
        "? zone dns/org serial=2026111501 Published=True/Served",
    );
}

/// Z7: a name server that is ahead of everyone is never told an older serial.
#[test]
fn a_name_server_that_is_ahead_is_followed() {
    let mut cluster = check(STORY);
    let zone = cluster
        .name_server
        .zones()
        .values()
        .next()
        .unwrap()
        .zone
        .clone();
    cluster.name_server.store(Version {
        zone,
        serial: Serial(2_026_111_700),
    });
    cluster.restart();
    play(
        &mut cluster,
        "? zone dns/org serial=2026111701 Published=True/Served",
    );
}

/// Z7: deleted and made anew, a zone goes on counting, seen to go or not.
#[test]
fn a_zone_made_anew_never_uses_a_serial_again() {
    for seen in [true, false] {
        let mut cluster = check(STORY);
        if seen {
            cluster.delete_zone(&key());
            cluster.run();
        } else {
            cluster.forget_object(&Key::Zone(key()));
        }
        play(
            &mut cluster,
            "zone dns/org example.org. records=* ns=ns9.example.net.
             ? zone dns/org serial=2026111501 Published=True/Served",
        );
    }
}

/// Z7: whoever takes over a name goes on counting where the other was.
#[test]
fn a_zone_that_takes_over_a_name_counts_on() {
    check(
        "zone a/first example.org. age=1
         zone b/second example.org. age=2
         ? zone a/first serial=2026111500
         zone a/first example.org. refresh=1
         ? zone a/first serial=2026111501
         delete zone a/first
         ? zone b/second serial=2026111502 Published=True/Served",
    );
}

/// Z7: a zone that loses its name keeps its serial for later.
#[test]
fn a_zone_that_loses_its_name_keeps_its_serial() {
    check(
        "zone dns/org example.org.
         zone dns/dev dev ref=org
         ? zone dns/dev serial=2026111500 entries=1
         delete zone dns/org
         ? zone dns/dev fqdn=- serial=2026111500 entries=0
         zone dns/org example.com.
         ? zone dns/dev fqdn=dev.example.com. serial=2026111501",
    );
}

/// Z7, B3: two changes before the write are one serial, a change after it another.
#[test]
fn changes_that_meet_are_one_version() {
    check(
        "zone dns/org example.org. records=*
         ? zone dns/org serial=2026111500
         record web/a a.example.org. A = 192.0.2.1
         record web/b b.example.org. A = 192.0.2.1
         record web/c c.example.org. A = 192.0.2.1
         ? zone dns/org serial=2026111501
         ? record web/a Published=True/Served
         ? record web/c Published=True/Served",
    );
}

/// Z9: everything lands in one write, and then a second one when it is answered; nothing changed, nothing written.
#[test]
fn a_version_is_one_write() {
    let mut cluster = check(
        "pause
         zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? zone dns/org fqdn=example.org. serial=2026111500 entries=2 Published=False/Pending
         ? writes zone dns/org 1
         resume
         ? zone dns/org Published=True/Served
         ? writes zone dns/org 1
         record web/www www.example.org. A = 192.0.2.2
         ? writes zone dns/org 1
         record web/www www.example.org. A = 192.0.2.2
         ? writes zone dns/org 0",
    );
    let again = cluster.zones[&key()].clone();
    cluster.put_zone(again);
    play(&mut cluster, "? writes zone dns/org 0");
}

/// A mistake in the timers does not take a zone off the air.
#[test]
fn a_zone_whose_soa_cannot_be_made_keeps_its_last_version() {
    let mut cluster = check(STORY);
    play(
        &mut cluster,
        "? record web/www Published=True/Served
         ? writes record web/www 2
         zone dns/org example.org. records=* ns=ns1.example.net. ttl=4294967295
         ? zone dns/org fqdn=example.org. serial=2026111500 entries=3 Accepted=False/Invalid Published=True/Served
         ? message zone dns/org Accepted: spec.ttl: a TTL is a number of seconds from 0 to 2147483647 (RFC 2181 §8): got \"4294967295\"; until then the zone stays as it was last published
         ? record web/www Published=True/Served
         ? writes record web/www 0
         record web/new new.example.org. A = 192.0.2.9
         ? record web/new parent=org.dns Accepted=True/Accepted Published=False/Pending
         ? message record web/new Published: no new version of Zone dns/org can be made; the conditions of that Zone say why
         restart
         ? zone dns/org serial=2026111500 entries=3
         zone dns/org example.org. records=* ns=ns1.example.net.
         ? zone dns/org serial=2026111501 entries=4 Accepted=True/Accepted
         ? record web/new Published=True/Served
         ? record web/www Published=True/Served
         ? writes record web/www 0",
    );
    assert_eq!(cluster.name_server.zones().len(), 1);
}

/// B4: what was published under another name does not stay under the new one.
#[test]
fn a_renamed_zone_without_an_soa_keeps_nothing() {
    let mut cluster = check(STORY);
    play(
        &mut cluster,
        "zone dns/org example.com. records=* ttl=4294967295
         ? zone dns/org fqdn=example.com. serial=2026111500 entries=0 Published=False/NotAccepted",
    );
    assert!(cluster.name_server.zones().is_empty());
}
