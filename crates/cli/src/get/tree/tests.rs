//! Where things stand in the tree, and what is said about them.

use anstream::adapter::strip_str;
use serde_json::{Value, json};

use super::*;

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({ "type": type_, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-11-15T00:00:00Z" })
}

fn published() -> Value {
    json!([
        condition("Accepted", "True", "Accepted", ""),
        condition("Published", "True", "Published", "")
    ])
}

fn zone(key: &str, fqdn: &str, conditions: &Value) -> Decoded<Zone> {
    let (namespace, name) = key.split_once('/').unwrap();
    let zone = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone",
        "metadata": { "namespace": namespace, "name": name },
        "spec": { "domainName": fqdn, "delegations": [] },
        "status": { "fqdn": fqdn, "serial": 7, "conditions": conditions } });
    serde_json::from_value(zone).unwrap()
}

/// A record with an address; `spec` and `status` are added to what every record has.
fn record(key: &str, domain_name: &str, parent: Option<&str>, more: Value) -> Decoded<Record> {
    let (namespace, name) = key.split_once('/').unwrap();
    let labels = parent.map(|parent| json!({ "kubi.zone/parent-zone": parent }));
    let mut record = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Record",
        "metadata": { "namespace": namespace, "name": name, "labels": labels },
        "spec": { "domainName": domain_name, "type": "A", "rdata": "192.0.2.1" } });
    json_merge(&mut record, more);
    serde_json::from_value(record).unwrap()
}

fn json_merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                json_merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[track_caller]
fn check(zones: Vec<Decoded<Zone>>, records: Vec<Decoded<Record>>, drawing: Drawing, drawn: &str) {
    let forest = Forest::grow(zones, records, None).draw(drawing);
    assert_eq!(strip_str(&forest).to_string(), drawn);
}

#[test]
fn zones_hang_below_the_nearest_zone_above_them_and_records_in_their_zone() {
    let zones = vec![
        zone("dev/deep", "x.y.dev.example.org.", &published()),
        zone("dns/example-org", "example.org.", &published()),
        zone("dev/dev", "dev.example.org.", &published()),
        zone("dns/other", "badexample.org.", &published()),
    ];
    let records = vec![
        record(
            "web/www",
            "www.example.org.",
            Some("example-org.dns"),
            json!({ "status": { "conditions": published() } }),
        ),
        record(
            "web/apex",
            "example.org.",
            Some("example-org.dns"),
            json!({ "spec": { "ttl": 60 }, "status": { "conditions": published() } }),
        ),
        record(
            "dev/a",
            "a.dev.example.org.",
            Some("dev.dev"),
            json!({ "status": { "conditions": published() } }),
        ),
    ];
    let drawn = "\
badexample.org.  dns/other  serial 7, 0 records  published
example.org.  dns/example-org  serial 7, 2 records  published
├─ @ 60 A 192.0.2.1  web/apex  published
├─ www A 192.0.2.1  web/www  published
└─ dev.example.org.  dev/dev  serial 7, 1 record  published
   ├─ a A 192.0.2.1  dev/a  published
   └─ x.y.dev.example.org.  dev/deep  serial 7, 0 records  published
";
    check(zones, records, Drawing::Lines, drawn);
}

#[test]
fn lines_go_on_past_zones_that_are_not_the_last() {
    let zones = vec![
        zone("dns/a", "a.example.org.", &published()),
        zone("dns/b", "b.example.org.", &published()),
        zone("dns/example-org", "example.org.", &published()),
    ];
    let records = vec![record(
        "dns/www",
        "www.a.example.org.",
        Some("a.dns"),
        json!({}),
    )];
    let drawn = "\
example.org.  dns/example-org  serial 7, 0 records  published
├─ a.example.org.  dns/a  serial 7, 1 record  published
│  └─ www A 192.0.2.1  dns/www  no controller has looked at it yet
└─ b.example.org.  dns/b  serial 7, 0 records  published
";
    check(zones, records, Drawing::Lines, drawn);
}

/// O3: why a record is not answered stands beside it.
#[test]
fn what_is_not_answered_says_why_where_it_would_be() {
    let zones = vec![zone(
        "dns/example-org",
        "example.org.",
        &json!([condition(
            "Published",
            "Unknown",
            "NoNameServer",
            "no name server runs here"
        )]),
    )];
    let refused = json!([condition(
        "Accepted",
        "False",
        "NotDelegated",
        "zone dns/example-org does not let namespace web write www A"
    )]);
    let records = vec![
        record(
            "web/by-name",
            "www.example.org.",
            None,
            json!({ "status": { "conditions": refused } }),
        ),
        record(
            "web/by-ref",
            "mail",
            None,
            json!({ "spec": { "zoneRef": { "name": "example-org", "namespace": "dns" } } }),
        ),
        record(
            "web/elsewhere",
            "www.example.net.",
            None,
            json!({ "status": { "conditions": refused } }),
        ),
        record(
            "web/gone",
            "www",
            None,
            json!({ "spec": { "zoneRef": { "name": "gone" } } }),
        ),
    ];
    let drawn = "\
example.org.  dns/example-org  serial 7, 2 records  Published is Unknown: NoNameServer: no name server runs here
  www A 192.0.2.1  web/by-name  Accepted is False: NotDelegated: zone dns/example-org does not let namespace web write www A
  mail A 192.0.2.1  web/by-ref  no controller has looked at it yet
in no zone that is shown
  www.example.net. A 192.0.2.1  web/elsewhere  Accepted is False: NotDelegated: zone dns/example-org does not let namespace web write www A
  www A 192.0.2.1  web/gone  no controller has looked at it yet
";
    check(zones, records, Drawing::Indent, drawn);
}

/// A zone's records may be in any namespace; those of nobody are shown to their own.
#[test]
fn records_without_a_zone_are_shown_in_their_own_namespace() {
    let zones = vec![zone("dns/example-org", "example.org.", &published())];
    let records = vec![
        record(
            "web/www",
            "www.example.org.",
            Some("example-org.dns"),
            json!({}),
        ),
        record("web/loose", "www.example.net.", None, json!({})),
        record("dns/loose", "www.example.com.", None, json!({})),
    ];
    let forest = Forest::grow(zones, records, Some("dns")).draw(Drawing::Indent);
    let drawn = strip_str(&forest).to_string();
    assert!(drawn.contains(" web/www "), "{drawn}");
    assert!(
        drawn.contains(" dns/loose ") && !drawn.contains(" web/loose "),
        "{drawn}"
    );
}

#[test]
fn of_two_zones_of_one_name_the_accepted_one_has_what_is_below() {
    let conflicted = json!([condition(
        "Accepted",
        "False",
        "Conflicted",
        "dns/b came first"
    )]);
    let zones = vec![
        zone("dns/a", "example.org.", &conflicted),
        zone("dns/b", "example.org.", &published()),
        zone("dns/sub", "sub.example.org.", &published()),
    ];
    let drawn = "\
example.org.  dns/a  serial 7, 0 records  Accepted is False: Conflicted: dns/b came first
example.org.  dns/b  serial 7, 0 records  published
└─ sub.example.org.  dns/sub  serial 7, 0 records  published
";
    check(zones, Vec::new(), Drawing::Lines, drawn);
}

/// K4: one object that cannot be read hides no other, and its words cannot command the terminal.
#[test]
fn an_object_of_another_shape_stands_for_itself() {
    let broken = json!({ "metadata": { "namespace": "dns", "name": "broken" }, "spec": { "domainName": 7 } });
    let zones = vec![
        serde_json::from_value(broken).unwrap(),
        zone("dns/example-org", "example.org.", &published()),
    ];
    let records = vec![record(
        "web/odd",
        "odd.example.org.",
        Some("example-org.dns"),
        json!({ "spec": { "type": "TXT", "rdata": "\u{1b}[31m" }, "status": { "conditions": published() } }),
    )];
    let forest = Forest::grow(zones, records, None).draw(Drawing::Indent);
    let drawn = strip_str(&forest).to_string();
    assert!(
        drawn.contains(
            "dns/broken  0 records  cannot be read: spec.domainName: expected a string: got"
        ),
        "{drawn}"
    );
    assert!(
        drawn.contains("  odd TXT \\u{1b}[31m  web/odd  published\n"),
        "{drawn}"
    );
}

#[test]
fn a_zone_that_waits_for_its_parent_is_shown_as_it_is_written() {
    let waiting = json!({ "apiVersion": "kubi.zone/v1alpha1", "kind": "Zone",
        "metadata": { "namespace": "dns", "name": "dev" },
        "spec": { "domainName": "dev", "zoneRef": { "name": "gone" }, "delegations": [] } });
    check(
        vec![serde_json::from_value(waiting).unwrap()],
        Vec::new(),
        Drawing::Lines,
        "dev  dns/dev  0 records  no controller has looked at it yet\n",
    );
}
