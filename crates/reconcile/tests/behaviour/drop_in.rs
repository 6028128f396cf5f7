//! Zones that another controller took care of before (Z6, Z7).

use api::ZoneKey;
use api::zone::ZoneStatus;
use serde_json::json;

use crate::cluster::Cluster;
use crate::story::{check, play};

/// What the peer wrote: its own hash, its own order, no conditions.
fn take_over(entries: &[(&str, &str, u32, &str)], serial: u32) -> Cluster {
    let mut cluster = check(
        "zone dns/org example.org. records=*
         record web/www www.example.org. A = 127.0.0.1
         record web/api api.example.org. ttl=60 CNAME = www.example.org.",
    );
    let soa = format!("ns.example.org. noc.example.org. ({serial} 86400 7200 3600000 360)");
    let mut list = vec![json!({
        "fqdn": "example.org.", "type": "SOA", "class": "IN", "ttl": 360, "rdata": soa,
    })];
    list.extend(entries.iter().map(|(fqdn, rtype, ttl, rdata)| {
        json!({ "fqdn": fqdn, "type": rtype, "class": "IN", "ttl": ttl, "rdata": rdata })
    }));
    let status: ZoneStatus = serde_json::from_value(json!({
        "entries": list, "fqdn": "example.org.", "hash": "13646096770106105413", "serial": serial,
    }))
    .unwrap();
    let mut zone = cluster.zones[&ZoneKey::new("dns", "org")].clone();
    zone.status = Some(status);
    let objects = (zone, cluster.records.clone());
    cluster = Cluster::new(zonewright_reconcile::Policy::default());
    cluster.zones.insert(ZoneKey::new("dns", "org"), objects.0);
    cluster.records = objects.1;
    cluster.restart();
    cluster.run();
    cluster
}

/// The peer's entries say the same: only hash and conditions are written.
#[test]
fn a_zone_whose_entries_say_the_same_keeps_its_serial() {
    let www = ("www.example.org.", "A", 360, "127.0.0.1");
    let api = ("api.example.org.", "CNAME", 60, "www.example.org.");
    let relative = ("API.example.org.", "CNAME", 60, "www");
    for entries in [vec![www, api], vec![api, www], vec![www, relative, www]] {
        let mut cluster = take_over(&entries, 2_024_070_603);
        play(
            &mut cluster,
            "? zone dns/org serial=2024070603 entries=3 Published=True/Served
             ? entries dns/org api.example.org. 60 CNAME www.example.org. | www.example.org. 360 A 127.0.0.1
             record web/www www.example.org. A = 127.0.0.2
             ? zone dns/org serial=2026111500",
        );
    }
}

/// Anything else is a new version.
#[test]
fn a_zone_whose_entries_say_something_else_gets_a_new_serial() {
    let www = ("www.example.org.", "A", 360, "127.0.0.1");
    let api = ("api.example.org.", "CNAME", 60, "www.example.org.");
    let rows = [
        vec![www],
        vec![www, ("api.example.org.", "CNAME", 61, "www.example.org.")],
        vec![www, ("api.example.org.", "CNAME", 60, "web.example.org.")],
        vec![www, api, ("old.example.org.", "A", 360, "127.0.0.1")],
        vec![www, api, ("bad.example.org.", "A", 360, "nonsense")],
        vec![
            www,
            api,
            ("example.org.", "SOA", 360, "ns. noc. (1 2 3 4 5)"),
        ],
    ];
    for entries in rows {
        let mut cluster = take_over(&entries, 2_024_070_603);
        play(&mut cluster, "? zone dns/org serial=2026111500 entries=3");
    }
}
