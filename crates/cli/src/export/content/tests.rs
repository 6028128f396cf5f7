//! Statuses into zone files, and what is said of those that are none.

use api::zone_slice::ZoneSliceSpec;
use dns::zonefile;

use super::*;

const SOA: &str =
    "example.org. SOA 360 ns.example.org. noc.example.org. (2026111500 86400 7200 3600000 360)";

/// `name type ttl rdata`
fn entry(text: &str) -> Value {
    let fields: Vec<&str> = text.splitn(4, ' ').collect();
    json!({ "fqdn": fields[0], "type": fields[1], "class": "IN",
        "ttl": fields[2].parse::<u32>().unwrap(), "rdata": fields[3] })
}

fn zone(status: &Value) -> Zone {
    let zone = json!({ "metadata": { "namespace": "dns", "name": "example-org" },
        "spec": { "domainName": "example.org.", "delegations": [] }, "status": status });
    serde_json::from_value(zone).unwrap()
}

fn with_entries(entries: &[&str]) -> Zone {
    let entries: Vec<Value> = entries.iter().map(|text| entry(text)).collect();
    zone(&json!({ "fqdn": "example.org.", "entries": entries }))
}

fn slice(content: &str) -> ZoneSlice {
    ZoneSlice::new(
        "slice",
        ZoneSliceSpec {
            content: content.to_owned(),
        },
    )
}

fn read(zone: &Zone, slices: &[(&str, &str)]) -> anyhow::Result<Content> {
    let slices = slices
        .iter()
        .map(|(name, content)| ((*name).to_owned(), slice(content)));
    Content::read(zone, &slices.collect())
}

#[track_caller]
fn check(zone: &Zone, slices: &[(&str, &str)], file: &str) {
    let Version { zone, serial } = read(zone, slices).unwrap().version;
    assert_eq!(zonefile::print(&zone, serial), file);
}

#[track_caller]
fn check_refused(zone: &Zone, slices: &[(&str, &str)], told: &[&str]) {
    let message = read(zone, slices).unwrap_err().to_string();
    for part in told {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

/// Z8, Z11: the SOA first, with the serial of the status.
#[test]
fn entries_become_a_zone_file() {
    let zone = with_entries(&[
        SOA,
        "example.org. NS 360 ns",
        "www.example.org. A 60 192.0.2.2",
        "www.example.org. A 60 192.0.2.1",
        "\\@.example.org. TXT 60 \"a;b\"",
    ]);
    let file = "\
$ORIGIN example.org.
$TTL 360
@ 360 IN SOA ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360
@ 360 IN NS ns.example.org.
\\@ 60 IN TXT \"a;b\"
www 60 IN A 192.0.2.1
www 60 IN A 192.0.2.2
";
    check(&zone, &[], file);
}

/// Z11.
#[test]
fn slices_become_a_zone_file() {
    let zone =
        zone(&json!({ "fqdn": "example.org.", "entries": [entry(SOA)], "slices": ["one", "two"] }));
    let slices = [
        ("one", "example.org. 360 IN NS ns.example.org.\n"),
        (
            "two",
            "ns.example.org. 360 IN A 192.0.2.53\nwww.example.org. 60 IN A 192.0.2.1\n",
        ),
        ("of-another-version", "old.example.org. 60 IN A 192.0.2.9\n"),
    ];
    let file = "\
$ORIGIN example.org.
$TTL 360
@ 360 IN SOA ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360
@ 360 IN NS ns.example.org.
ns 360 IN A 192.0.2.53
www 60 IN A 192.0.2.1
";
    check(&zone, &slices, file);
}

#[test]
fn a_zone_without_content_says_what_it_waits_for() {
    let condition = json!({ "type": "Accepted", "status": "False", "reason": "NotDelegated",
        "message": "zone dns/org does not delegate it", "lastTransitionTime": "2026-11-15T00:00:00Z" });
    let told = "it has no content yet: ";
    check_refused(
        &zone(&Value::Null),
        &[],
        &[told, "no controller has looked at it yet"],
    );
    check_refused(
        &zone(&json!({ "conditions": [condition] })),
        &[],
        &[
            told,
            "Accepted is False: NotDelegated: zone dns/org does not delegate it",
        ],
    );
    check_refused(&zone(&json!({ "fqdn": "example.org." })), &[], &[told]);
}

#[test]
fn every_problem_of_a_status_is_told() {
    let zone = with_entries(&[
        SOA,
        "example.org A 60 192.0.2.1",
        "a.example.org. A 60 300.0.0.1",
        "b.example.org. NOTYPE 60 x",
        "c.example.org. A 4294967295 192.0.2.1",
        "d.example.net. A 60 192.0.2.1",
        "e.example.org. CNAME 60 x",
        "e.example.org. A 60 192.0.2.1",
    ]);
    let told = [
        "status.entries[1].fqdn: the name must be fully qualified",
        "status.entries[2].rdata: A needs an IPv4 address",
        "status.entries[3].type: \"NOTYPE\" is no record type",
        "status.entries[4].ttl: a TTL is a number",
        "d.example.net. A: d.example.net. is not in zone example.org.",
        "e.example.org. CNAME: e.example.org. has A",
    ];
    check_refused(&zone, &[], &told);
}

#[test]
fn the_first_entry_is_the_soa_of_the_zone() {
    for first in [
        "example.org. A 60 192.0.2.1",
        "www.example.org. SOA 360 ns noc (1 2 3 4 5)",
    ] {
        check_refused(
            &with_entries(&[first]),
            &[],
            &["status.entries[0]: must be the SOA record of example.org."],
        );
    }
}

/// N6: a zone file holds the default member of a routed set.
#[test]
fn of_a_routed_set_the_default_member_is_exported() {
    let mut europe = entry("www.example.org. A 60 192.0.2.1");
    europe["routing"] = json!({ "setIdentifier": "eu", "geo": "GEO-EU" });
    let mut rest = entry("www.example.org. A 30 192.0.2.2");
    rest["routing"] = json!({ "setIdentifier": "rest", "geo": "*" });
    let entries = json!([entry(SOA), europe, rest]);
    let status = json!({ "fqdn": "example.org.", "entries": entries });
    let file = "\
$ORIGIN example.org.
$TTL 360
@ 360 IN SOA ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360
www 30 IN A 192.0.2.2
";
    check(&zone(&status), &[], file);
    let sliced =
        zone(&json!({ "fqdn": "example.org.", "entries": [entry(SOA)], "slices": ["one"] }));
    let lines = "\
www.example.org. 60 IN A 192.0.2.1 ; routing {\"setIdentifier\":\"eu\",\"geo\":\"GEO-EU\"}
www.example.org. 30 IN A 192.0.2.2 ; routing {\"setIdentifier\":\"rest\",\"geo\":\"*\"}
";
    check(&sliced, &[("one", lines)], file);
    let hashes = [zone(&status), sliced].map(|zone| {
        let content = read(&zone, &[("one", lines)]).unwrap();
        content.version.zone.hash()
    });
    assert_eq!(hashes[0], hashes[1], "both carry every member");
}

/// What no zone file has a place for.
#[test]
fn what_a_zone_file_cannot_say_is_refused() {
    let mut routed = entry("www.example.org. A 60 192.0.2.1");
    routed["routing"] = json!({ "setIdentifier": "", "weight": 300 });
    let mut chaos = entry("www.example.org. A 60 192.0.2.1");
    chaos["class"] = json!("CH");
    let zone = zone(&json!({ "fqdn": "example.org.", "entries": [entry(SOA), routed, chaos] }));
    let told = [
        "status.entries[1].routing.setIdentifier: must be",
        "status.entries[1].routing.weight: a weight is",
        "status.entries[2]: a class other than IN cannot be",
    ];
    check_refused(&zone, &[], &told);
}

#[test]
fn a_slice_that_is_not_canonical_is_refused() {
    let zone = zone(&json!({ "fqdn": "example.org.", "entries": [entry(SOA)], "slices": ["one"] }));
    check_refused(
        &zone,
        &[("one", "$INCLUDE /etc/passwd\n")],
        &["slice one: spec.content: line 1: $INCLUDE"],
    );
}

#[test]
fn many_problems_are_counted() {
    let entries: Vec<Value> = [entry(SOA)]
        .into_iter()
        .chain((0..30).map(|_| entry("a A 60 x")))
        .collect();
    let zone = zone(&json!({ "fqdn": "example.org.", "entries": entries }));
    check_refused(&zone, &[], &["\n  and 40 more"]);
}

#[test]
fn a_hash_that_is_not_the_contents_is_doubted() {
    let plain = with_entries(&[SOA]);
    let hash = read(&plain, &[]).unwrap().version.zone.hash().to_string();
    let stated = |hash: &str| {
        let status = json!({ "fqdn": "example.org.", "entries": [entry(SOA)], "hash": hash });
        read(&zone(&status), &[]).unwrap().doubt()
    };
    assert_eq!(read(&plain, &[]).unwrap().doubt(), None);
    assert_eq!(stated(&hash), None);
    assert_eq!(stated("17460930412345678901"), None, "a peer's hash");
    assert!(
        stated(&"0".repeat(64))
            .unwrap()
            .contains("was the status edited?")
    );
}

#[test]
fn records_are_data_with_the_soa_first() {
    let zone = with_entries(&[SOA, "www.example.org. A 60 192.0.2.1"]);
    assert_eq!(
        read(&zone, &[]).unwrap().records(),
        [
            json!({ "name": "example.org.", "ttl": 360, "class": "IN", "type": "SOA",
                "rdata": "ns.example.org. noc.example.org. 2026111500 86400 7200 3600000 360" }),
            json!({ "name": "www.example.org.", "ttl": 60, "class": "IN", "type": "A", "rdata": "192.0.2.1" }),
        ]
    );
}
