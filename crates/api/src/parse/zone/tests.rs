//! Specs in, claims and problems out.

use dns::Serial;
use dns::delegation::{Claim, Judge};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::*;
use crate::well_known::label;

/// A Zone `team/zone` with this spec, decoded as from a manifest.
fn object(spec: &Value) -> object::Zone {
    let metadata = json!({ "name": "zone", "namespace": "team" });
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap()
}

/// A spec with these fields and the ones no Zone can be without.
fn spec(fields: &Value) -> Value {
    let mut spec = json!({ "domainName": "example.org.", "delegations": [] });
    let given = fields.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(given);
    spec
}

fn parse_spec(fields: &Value) -> (Zone, Vec<String>) {
    let (zone, problems) = parse(&object(&spec(fields)));
    (zone, problems.iter().map(ToString::to_string).collect())
}

fn problems(fields: &Value) -> Vec<String> {
    parse_spec(fields).1
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Where the zone is once its parent is called `above.test.`.
fn placed(fields: &Value) -> Option<(String, Option<String>)> {
    let place = parse_spec(fields).0.place?;
    let fqdn = place.under(&name("above.test.")).unwrap();
    Some((fqdn.to_string(), place.parent().map(ToString::to_string)))
}

/// Z1, Z2, K5, G35: both are legal.
#[test]
fn a_zone_is_where_its_name_and_its_reference_say() {
    let parent = json!({ "name": "up" });
    let far = json!({ "name": "up.test", "namespace": "dns" });
    let cases = [
        (
            json!({ "domainName": "example.org." }),
            "example.org.",
            None,
        ),
        (
            json!({ "domainName": "EXAMPLE.Org." }),
            "example.org.",
            None,
        ),
        (json!({ "domainName": "." }), ".", None),
        (
            json!({ "domainName": "bücher.example." }),
            "xn--bcher-kva.example.",
            None,
        ),
        (
            json!({ "domainName": "0/25.2.0.192.in-addr.arpa." }),
            "0/25.2.0.192.in-addr.arpa.",
            None,
        ),
        (
            json!({ "domainName": "dev", "zoneRef": parent }),
            "dev.above.test.",
            Some("team/up"),
        ),
        (
            json!({ "domainName": "a.dev", "zoneRef": far }),
            "a.dev.above.test.",
            Some("dns/up.test"),
        ),
        (
            json!({ "domainName": "dev.above.test.", "zoneRef": parent }),
            "dev.above.test.",
            Some("team/up"),
        ),
        (
            json!({ "domainName": "other.org.", "zoneRef": far }),
            "other.org.",
            Some("dns/up.test"),
        ),
        (
            json!({ "domainName": "example.org.", "zoneRef": null }),
            "example.org.",
            None,
        ),
        (
            json!({ "domainName": "dev", "zoneRef": { "name": "up", "namespace": null } }),
            "dev.above.test.",
            Some("team/up"),
        ),
    ];
    for (fields, fqdn, parent) in cases {
        assert_eq!(problems(&fields), [""; 0], "{fields}");
        let expected = (fqdn.to_owned(), parent.map(str::to_owned));
        assert_eq!(placed(&fields), Some(expected), "{fields}");
    }
}

/// G35: neither is refused.
#[test]
fn a_relative_name_needs_the_zone_it_is_relative_to() {
    let rule = "must end in a dot, or spec.zoneRef must name the zone it is relative to";
    for text in ["dev", "example.org", "@", "a.b.c"] {
        let fields = json!({ "domainName": text });
        assert_eq!(
            problems(&fields),
            [format!("spec.domainName: {rule}: got \"{text}\"")]
        );
        assert_eq!(placed(&fields), None);
    }
}

/// Z2, G38.
#[test]
fn a_zone_cannot_be_its_own_parent() {
    let own = [
        json!({ "name": "zone" }),
        json!({ "name": "zone", "namespace": "team" }),
    ];
    for zone_ref in own {
        for text in ["dev", "example.org."] {
            let fields = json!({ "domainName": text, "zoneRef": zone_ref });
            let rule = "spec.zoneRef: a zone cannot be its own parent: got \"team/zone\"";
            assert_eq!(problems(&fields), [rule], "{fields}");
            assert_eq!(placed(&fields), None);
        }
    }
    let others = [
        json!({ "name": "zone", "namespace": "other" }),
        json!({ "name": "zone2" }),
        json!({ "name": "zone.team" }),
    ];
    for zone_ref in others {
        let fields = json!({ "domainName": "dev", "zoneRef": zone_ref });
        assert_eq!(problems(&fields), [""; 0], "{fields}");
    }
}

/// The namespace of a manifest that names none is `default`, as for kubectl.
#[test]
fn a_zone_without_namespace_is_in_the_default_one() {
    let mut zone = object(&spec(&json!({
        "domainName": "dev",
        "zoneRef": { "name": "zone", "namespace": "default" },
    })));
    zone.metadata.namespace = None;
    assert_eq!(parse(&zone).1.len(), 1);
    zone.metadata.namespace = Some("team".to_owned());
    assert_eq!(parse(&zone).1.len(), 0);
}

/// G8.
#[test]
fn a_zone_cannot_be_a_wildcard_nor_its_parents_apex() {
    let wildcard = "a zone cannot be a wildcard";
    let apex = "must name something below the zone in spec.zoneRef";
    let misplaced = &NameError::Wildcard.to_string();
    let cases = [
        ("*.example.org.", wildcard),
        ("*.", wildcard),
        ("*", wildcard),
        ("*.dev", wildcard),
        ("@", apex),
        ("a.*.example.org.", misplaced),
        ("*a.example.org.", misplaced),
        ("a*.example.org.", misplaced),
    ];
    for (text, rule) in cases {
        let fields = json!({ "domainName": text, "zoneRef": { "name": "up" } });
        assert_eq!(
            problems(&fields),
            [format!("spec.domainName: {rule}: got \"{text}\"")]
        );
        assert_eq!(placed(&fields), None);
    }
}

/// G1, G2, G6, G12, G15: the name's own rules come through with the field and the value.
#[test]
fn a_bad_name_is_refused_with_field_and_value() {
    for text in [
        "",
        "..",
        ".example.org.",
        "a..b.",
        "example.org..",
        "-a.org.",
        "a b.org.",
        "a;b.org.",
        "a\nb.",
    ] {
        let found = problems(&json!({ "domainName": text }));
        let shown = format!(": got \"{}\"", text.escape_debug());
        assert_eq!(found.len(), 1, "{text:?}: {found:?}");
        assert!(
            found[0].starts_with("spec.domainName: ") && found[0].ends_with(&shown),
            "{found:?}"
        );
    }
}

#[test]
fn a_reference_that_can_name_nothing_is_reported_and_kept() {
    let cases = [
        (
            json!({ "name": "" }),
            "spec.zoneRef.name: must be the metadata.name of a Zone: got \"\"",
        ),
        (
            json!({ "name": "dns/up" }),
            "spec.zoneRef.name: must be the metadata.name of a Zone: got \"dns/up\"",
        ),
        (
            json!({ "name": "up", "namespace": "a.b" }),
            "spec.zoneRef.namespace: must be the name of a Namespace: got \"a.b\"",
        ),
    ];
    for (zone_ref, problem) in cases {
        let fields = json!({ "domainName": "example.org.", "zoneRef": zone_ref });
        let (zone, found) = parse_spec(&fields);
        assert_eq!(found, [problem]);
        // Without its reference the zone would look for a parent by itself.
        assert!(zone.place.unwrap().parent().is_some());
    }
}

/// G13.
#[test]
fn a_relative_name_that_looks_full_is_known_once_the_zone_is() {
    let place = parse_spec(&json!({ "domainName": "dev.above.test", "zoneRef": { "name": "up" } }))
        .0
        .place
        .unwrap();
    for (parent, becomes, looks_full) in [
        ("above.test.", "dev.above.test.above.test.", true),
        ("test.", "dev.above.test.test.", true),
        ("example.org.", "dev.above.test.example.org.", false),
        (".", "dev.above.test.", false),
    ] {
        assert_eq!(place.under(&name(parent)).unwrap(), name(becomes));
        assert_eq!(place.looks_full(&name(parent)), looks_full, "{parent}");
    }
}

/// G33.
#[test]
fn a_time_to_live_beyond_rfc_2181_is_refused() {
    let rule = "a TTL is a number of seconds from 0 to 2147483647 (RFC 2181 §8)";
    for field in ["ttl", "negativeResponseCache"] {
        for seconds in [2_147_483_648_u32, 3_000_000_000, u32::MAX] {
            let (zone, found) = parse_spec(&json!({ field: seconds }));
            assert_eq!(found, [format!("spec.{field}: {rule}: got \"{seconds}\"")]);
            assert_eq!(zone.soa, None);
        }
        for seconds in [0, 1, 2_147_483_647_u32] {
            assert_eq!(problems(&json!({ field: seconds })), [""; 0]);
        }
    }
}

/// Z8: the text is the peer's; timers of 0 are what its own tests write.
#[test]
fn the_start_of_authority_is_made_from_the_spec() {
    let zeros =
        json!({ "ttl": 0, "refresh": 0, "retry": 0, "expire": 0, "negativeResponseCache": 0 });
    let swapped = json!({ "refresh": 1, "retry": 4_294_967_295_u32, "expire": 2 });
    let named = json!({ "soa": { "mname": "ns1", "rname": "hostmaster.example.net." } });
    let half = json!({ "soa": { "mname": "a.ns.test." } });
    let dotted = json!({ "soa": { "rname": r"first\.last.example.net." } });
    let apex = json!({ "soa": { "mname": "@" } });
    let cases = [
        (
            json!({}),
            "ns.example.org. noc.example.org. (7 86400 7200 3600000 360)",
        ),
        (
            json!({ "soa": {} }),
            "ns.example.org. noc.example.org. (7 86400 7200 3600000 360)",
        ),
        (
            json!({ "soa": null }),
            "ns.example.org. noc.example.org. (7 86400 7200 3600000 360)",
        ),
        (zeros, "ns.example.org. noc.example.org. (7 0 0 0 0)"),
        (
            swapped,
            "ns.example.org. noc.example.org. (7 1 4294967295 2 360)",
        ),
        (
            named,
            "ns1.example.org. hostmaster.example.net. (7 86400 7200 3600000 360)",
        ),
        (
            half,
            "a.ns.test. noc.example.org. (7 86400 7200 3600000 360)",
        ),
        (
            dotted,
            r"ns.example.org. first\.last.example.net. (7 86400 7200 3600000 360)",
        ),
        (
            apex,
            "example.org. noc.example.org. (7 86400 7200 3600000 360)",
        ),
    ];
    for (fields, text) in cases {
        let (zone, found) = parse_spec(&fields);
        assert_eq!(found, [""; 0], "{fields}");
        let soa = zone.soa.unwrap().under(&name("example.org.")).unwrap();
        assert_eq!(soa.entry_text(Serial(7)), text);
    }
}

#[test]
fn names_in_the_start_of_authority_are_checked() {
    let mailbox = "a mailbox is written as a name, with a dot in place of the \"@\"";
    let cases = [
        (
            "mname",
            "",
            "a name must not be empty; write \"@\" for the zone itself",
        ),
        ("rname", "noc@example.org", mailbox),
        (
            "rname",
            "a..b.",
            "a name must not have an empty label (two dots in a row, or a dot at the start)",
        ),
    ];
    for (field, text, rule) in cases {
        let (zone, found) = parse_spec(&json!({ "soa": { field: text } }));
        assert_eq!(found, [format!("spec.soa.{field}: {rule}: got \"{text}\"")]);
        assert_eq!(zone.soa, None);
    }
    let (zone, _) = parse_spec(&json!({ "soa": { "mname": "ns1.example.org" } }));
    let problem = zone.soa.unwrap().under(&name("example.org.")).unwrap_err();
    assert_eq!(problem.field, "spec.soa.mname");
    assert_eq!(problem.value.as_deref(), Some("ns1.example.org"));
}

/// Z8, G23.
#[test]
fn a_bad_name_server_does_not_take_the_others_with_it() {
    let (zone, found) =
        parse_spec(&json!({ "nameservers": ["ns1", "", "ns2.example.net.", "a b"] }));
    let fields: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split(": ").next())
        .collect();
    assert_eq!(fields, ["spec.nameservers[1]", "spec.nameservers[3]"]);
    let data = |server: &NameServer| server.under(&name("example.org.")).unwrap().to_string();
    let servers: Vec<String> = zone.name_servers.iter().map(data).collect();
    assert_eq!(servers, ["ns1.example.org.", "ns2.example.net."]);
}

/// G23.
#[test]
fn a_name_server_is_no_address() {
    for text in ["192.0.2.1", "192.0.2.1.", "2001:db8::1"] {
        let (zone, found) = parse_spec(&json!({ "nameservers": [text] }));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with("spec.nameservers[0]: "), "{found:?}");
        assert_eq!(zone.name_servers, []);
    }
    for text in ["1", "192.0.2.1.ns.example.net.", "@"] {
        assert_eq!(
            problems(&json!({ "nameservers": [text] })),
            [""; 0],
            "{text}"
        );
    }
}

#[test]
fn a_name_server_is_held_to_the_rules_of_ns_records() {
    let cases = ["ns1.example.org", "_ns.example.org.", "*.example.org.", "."];
    let (zone, found) = parse_spec(&json!({ "nameservers": cases }));
    assert_eq!(found, [""; 0]);
    for (index, text) in cases.iter().enumerate() {
        let problem = zone.name_servers[index]
            .under(&name("example.org."))
            .unwrap_err();
        assert_eq!(problem.field, format!("spec.nameservers[{index}]"));
        assert_eq!(problem.value.as_deref(), Some(*text));
    }
}

/// Whether the delegations let an A record at `text` in from `namespace`.
fn allows(zone: &Zone, text: &str, namespace: &str) -> bool {
    let origin = name("example.org.");
    let judge = Judge {
        origin: &origin,
        namespace: "team",
        delegations: &zone.delegations,
    };
    judge.allows_record(Claim {
        name: &name(text),
        rtype: Rtype::A,
        namespace,
    })
}

/// Z12: both dialects are read.
#[test]
fn delegations_are_read_in_both_dialects() {
    for pattern in [
        "www",
        "www.",
        "WWW",
        "www.example.org.",
        "www.example.org",
        "*",
        "w*",
        "www.@",
    ] {
        let (zone, found) =
            parse_spec(&json!({ "delegations": [{ "records": [{ "pattern": pattern }] }] }));
        assert_eq!(found, [""; 0], "{pattern}");
        assert!(allows(&zone, "www.example.org.", "anyone"), "{pattern}");
        assert!(!allows(&zone, "example.org.", "anyone"), "{pattern}");
    }
    let (zone, _) = parse_spec(
        &json!({ "delegations": [{ "records": [{ "pattern": "@", "types": ["a"] }] }] }),
    );
    assert!(allows(&zone, "example.org.", "anyone"));
}

/// Z12: one bad pattern does not void the zone.
#[test]
fn a_bad_pattern_is_dropped_and_the_rest_stands() {
    let (zone, found) = parse_spec(&json!({ "delegations": [
        { "zones": ["dev", "", "a*b*c"], "records": [{ "pattern": "a..b" }, { "pattern": "www" }] },
        { "records": [{ "pattern": "" }] },
    ] }));
    let fields: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split(": ").next())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.delegations[0].zones[1]",
            "spec.delegations[0].zones[2]",
            "spec.delegations[0].records[0].pattern",
            "spec.delegations[1].records[0].pattern",
        ]
    );
    assert!(zone.place.is_some() && zone.soa.is_some());
    assert!(allows(&zone, "www.example.org.", "anyone"));
    assert_eq!(zone.delegations[0].zones.len(), 1);
}

/// An empty list means everything, so dropping the last word of a list would hand out the zone.
#[test]
fn what_is_dropped_never_makes_a_permission_wider() {
    let rule = |types: Value| json!([{ "records": [{ "pattern": "*", "types": types }] }]);
    let cases = [
        (rule(json!(["BOGUS"])), false),
        (rule(json!(["TYPE65536", "ALIAS"])), false),
        (rule(json!(["BOGUS", "TXT"])), false),
        (rule(json!(["BOGUS", "A"])), true),
        (
            json!([{ "namespaces": ["team-*"], "records": [{ "pattern": "*" }] }]),
            false,
        ),
        (
            json!([{ "namespaces": [""], "records": [{ "pattern": "*" }] }]),
            false,
        ),
        (
            json!([{ "namespaces": ["Nobody", "anyone"], "records": [{ "pattern": "*" }] }]),
            true,
        ),
    ];
    for (delegations, allowed) in cases {
        let (zone, found) = parse_spec(&json!({ "delegations": delegations }));
        assert!(!found.is_empty(), "{delegations}");
        assert_eq!(
            allows(&zone, "www.example.org.", "anyone"),
            allowed,
            "{delegations}"
        );
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let found = problems(&json!({
        "domainName": "a..b.",
        "zoneRef": { "name": "Up" },
        "ttl": u32::MAX,
        "soa": { "mname": "", "rname": "a@b" },
        "nameservers": [""],
        "delegations": [{ "namespaces": ["A"], "records": [{ "pattern": "*", "types": ["?"] }] }],
    }));
    let fields: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split(": ").next())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.zoneRef.name",
            "spec.domainName",
            "spec.soa.mname",
            "spec.soa.rname",
            "spec.ttl",
            "spec.nameservers[0]",
            "spec.delegations[0].namespaces[0]",
            "spec.delegations[0].records[0].types[0]",
        ]
    );
}

/// G41, G42, G44: what is claimed follows from the spec alone, whatever else is written on the
/// object, taken off it by hand, or being done to it.
#[test]
fn metadata_and_status_change_no_claim() {
    let plain = object(&spec(
        &json!({ "domainName": "dev", "zoneRef": { "name": "up" } }),
    ));
    let forged = |key: &str, value: &str| Some([(key.to_owned(), value.to_owned())].into());
    let edits: [&dyn Fn(&mut object::Zone); 6] = [
        &|zone| zone.metadata.labels = forged(label::PARENT_ZONE, "other.prod"),
        &|zone| zone.metadata.annotations = forged("kubi.zone/parent-zone-ref", "prod/other"),
        &|zone| zone.metadata.finalizers = Some(Vec::new()),
        &|zone| zone.metadata.finalizers = Some(vec!["example.org/theirs".to_owned()]),
        &|zone| zone.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH)),
        &|zone| {
            zone.status = Some(object::ZoneStatus {
                fqdn: Some("victim.org.".to_owned()),
                serial: Some(u32::MAX),
                ..object::ZoneStatus::default()
            });
        },
    ];
    for edit in edits {
        let mut edited = plain.clone();
        edit(&mut edited);
        assert_eq!(parse(&edited), parse(&plain), "{edited:?}");
    }
}

/// G44: a spec that changes while the object is going is read like any other.
#[test]
fn a_change_during_deletion_is_seen() {
    let going = |domain_name: &str| {
        let mut zone = object(&spec(&json!({ "domainName": domain_name })));
        zone.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        parse(&zone)
    };
    assert_ne!(going("a."), going("b."));
    assert!(!going("a..b.").1.is_empty(), "a bad one too");
}
