//! Whether it is answered (R8).

use api::ZoneKey;
use zonewright_reconcile::Policy;

use crate::cluster::Cluster;
use crate::story::{check, play};

/// R8: label and status, and nothing before it is known.
#[test]
fn a_record_waits_until_it_is_answered_and_costs_two_writes() {
    check(
        "pause
         zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? record web/www parent=org.dns fqdn=- Published=-
         ? writes record web/www 1
         resume
         ? record web/www fqdn=www.example.org. Accepted=True/Accepted Published=True/Served
         ? message record web/www Published: answered since serial 2026111500
         ? message zone dns/org Published: answered since serial 2026111500
         ? writes record web/www 1",
    );
}

/// R8: it names the serial at which it was first seen and is not rewritten by later ones.
#[test]
fn later_versions_say_nothing_new_about_a_record() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? writes record web/www 2
         record web/other other.example.org. A = 192.0.2.1
         ? message record web/other Published: answered since serial 2026111501
         zone dns/org example.org. records=* refresh=1
         ? zone dns/org serial=2026111502
         ? writes record web/www 0
         ? message record web/www Published: answered since serial 2026111500
         ? message zone dns/org Published: answered since serial 2026111500
         record web/www www.example.org. A = 192.0.2.2
         ? message record web/www Published: answered since serial 2026111503
         ? writes record web/www 1",
    );
}

/// R8: after a restart nothing is written.
#[test]
fn a_restart_writes_nothing() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         record web/orphan www.example.com. A = 192.0.2.1
         ? writes record web/www 2
         ? writes record web/orphan 1
         ? writes zone dns/org 2
         restart
         ? writes record web/www 0
         ? writes record web/orphan 0
         ? writes zone dns/org 0
         ? message record web/www Published: answered since serial 2026111500",
    );
}

/// R8: what happened while nobody looked is waited for like everything else.
#[test]
fn a_record_changed_before_a_restart_waits_to_be_answered() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? record web/www Published=True/Served
         pause
         record web/www www.example.org. A = 192.0.2.2
         restart
         ? message record web/www Published: answered since serial 2026111500
         resume
         restart
         ? message record web/www Published: answered since serial 2026111501",
    );
}

/// R8: a Record made anew under the same name has not been seen, even if nobody saw the old one go.
#[test]
fn a_record_made_anew_waits_again() {
    let mut cluster = check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1",
    );
    cluster.forget_object(&crate::story::object("record web/www"));
    play(
        &mut cluster,
        "pause
         record web/www www.example.org. A = 192.0.2.2
         ? record web/www Published=-
         resume
         ? message record web/www Published: answered since serial 2026111501",
    );
}

/// R8: what was hidden is not answered before the name server says so, whether the cut was in the zone or not.
#[test]
fn a_record_that_is_no_longer_hidden_waits_until_it_is_answered() {
    for servers in ["", "ns=ns.example.net."] {
        check(&format!(
            "zone dns/org example.org. records=*
             zone dns/sub sub.example.org. {servers}
             record web/sub www.sub ref=dns/org A = 192.0.2.1
             ? record web/sub Published=False/Occluded
             pause
             delete zone dns/sub
             ? record web/sub Published=False/Occluded
             resume
             ? record web/sub Published=True/Served"
        ));
    }
}

/// R8: a zone that was without an SOA for a while counts its changes on.
#[test]
fn a_record_of_a_zone_that_is_whole_again_waits_until_it_is_answered() {
    check(
        "zone dns/org example.org. records=*
         ? zone dns/org Published=True/Served
         record web/a a.example.org. A = 192.0.2.1
         ? record web/a Published=True/Served
         record web/b b.example.org. A = 192.0.2.1
         ? record web/b Published=True/Served
         zone dns/org example.org. records=* ttl=4294967295
         ? zone dns/org Accepted=False/Invalid
         pause
         zone dns/org example.org. records=*
         record web/new new.example.org. A = 192.0.2.1
         ? record web/new parent=org.dns Published=-
         resume
         ? record web/new Published=True/Served",
    );
}

/// Z7: a version that was acknowledged too late, when its zone is called something else, is not published.
#[test]
fn a_version_of_a_name_that_is_gone_is_not_published() {
    let mut cluster = check("zone dns/org example.org. records=*");
    let key = ZoneKey::new("dns", "org");
    let view = cluster.world.zone(&key).unwrap();
    let decision = zonewright_reconcile::zone::decide(&view, cluster.now);
    let (version, epoch) = decision.version.unwrap();
    cluster.zone("dns/org example.com. records=*");
    let late = cluster.world.acknowledge(&key, version, epoch);
    assert_eq!(late.publications, []);
}

/// R8: changes that were taken back before anybody saw them.
#[test]
fn a_change_that_is_taken_back_is_published_at_once() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? record web/www Published=True/Served
         record web/two two.example.org. A = 192.0.2.1
         delete record web/two
         record web/www www.example.org. ttl=360 A = 192.0.2.1
         ? zone dns/org serial=2026111500
         ? record web/www Published=True/Served",
    );
}

/// R8.
#[test]
fn without_a_name_server_nobody_knows() {
    let mut cluster = Cluster::new(Policy {
        name_server: false,
        ..Policy::default()
    });
    play(
        &mut cluster,
        "pause
         zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         ? zone dns/org Published=Unknown/NoNameServer
         ? record web/www Accepted=True/Accepted Published=Unknown/NoNameServer
         ? message record web/www Published: no name server runs in this process, so it is not known here whether it is answered
         ? writes record web/www 2",
    );
}

/// R8: a name server that misses versions catches up with the last.
#[test]
fn a_name_server_that_was_away_publishes_everything_at_once() {
    check(
        "pause
         zone dns/org example.org. records=*
         record web/a a.example.org. A = 192.0.2.1
         ? zone dns/org serial=2026111500
         record web/b b.example.org. A = 192.0.2.1
         ? zone dns/org serial=2026111501
         resume
         ? message record web/a Published: answered since serial 2026111500
         ? message record web/b Published: answered since serial 2026111501",
    );
}
