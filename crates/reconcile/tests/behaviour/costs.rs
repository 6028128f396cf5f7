//! What a change touches: the size of the change, never that of the zone.

use std::collections::BTreeSet;

use zonewright_reconcile::Policy;

use crate::cluster::Cluster;

const RECORDS: usize = 20_000;

/// A large zone, and what each change touches of it.
#[test]
fn a_change_touches_what_it_must() {
    let mut cluster = Cluster::new(Policy::default());
    cluster.zone("dns/org example.org. records=*@web records=api*@api");
    for number in 0..RECORDS {
        let line = format!("web/r{number} host{number}.example.org. A = 192.0.2.1");
        cluster.record(&line);
    }
    cluster.record("api/api api.example.org. A = 192.0.2.1");
    cluster.record("web/deep www.sub.example.org. A = 192.0.2.1");
    let view = cluster
        .world
        .zone(&api::ZoneKey::new("dns", "org"))
        .unwrap();
    assert_eq!(view.content.unwrap().zone.record_count(), RECORDS + 2);

    cluster.record("web/r7 host7.example.org. A = 192.0.2.2");
    touched(
        &cluster,
        "one changed Record",
        &["Record web/r7", "Zone dns/org"],
    );
    cluster.record("web/r7 host8.example.org. A = 192.0.2.1");
    touched(
        &cluster,
        "a Record that becomes a duplicate",
        &["Record web/r7", "Record web/r8", "Zone dns/org"],
    );
    cluster.record("web/r7 host7.example.org. A = 192.0.2.2");

    cluster.zone("dns/org example.org. records=*@web records=api*@api refresh=1");
    touched(&cluster, "a timer", &["Zone dns/org"]);
    cluster.zone("dns/org example.org. records=*@web records=api*@api zones=*@team refresh=1");
    touched(
        &cluster,
        "a delegation that nobody needs",
        &["Zone dns/org"],
    );
    cluster.zone("dns/org example.org. records=*@web zones=*@team refresh=1");
    touched(
        &cluster,
        "a withdrawn delegation",
        &["Record api/api", "Zone dns/org"],
    );

    cluster.zone("team/sub sub.example.org. records=*@team");
    touched(
        &cluster,
        "a zone below",
        &["Record web/deep", "Zone team/sub"],
    );
    cluster.zone("team/sub sub.example.org. records=*@team ns=ns.example.net.");
    touched(
        &cluster,
        "its name servers",
        &["Record web/deep", "Zone dns/org", "Zone team/sub"],
    );
    cluster.zone("dns/top org. records=*");
    touched(
        &cluster,
        "a zone above",
        &["Record api/api", "Zone dns/org", "Zone dns/top"],
    );
    cluster.delete_record(&zonewright_reconcile::RecordKey::new("web", "r9"));
    touched(&cluster, "a Record that goes", &["Zone dns/org"]);
}

fn touched(cluster: &Cluster, what: &str, expected: &[&str]) {
    let keys = cluster.touched.iter().map(ToString::to_string);
    let keys: BTreeSet<String> = keys.collect();
    let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    let shown: Vec<&String> = keys.iter().take(10).collect();
    assert_eq!(keys, expected, "{what}: {shown:?}");
}
