use serde_json::{Value, json};

use super::*;

fn check(spec: &Value) -> Result<DnsRecord, Vec<String>> {
    let record = object::DnsRecord::new("record", serde_json::from_value(spec.clone()).unwrap());
    parse(&record).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// A record for `app.example.com` with these endpoints.
fn endpoints(endpoints: &Value) -> Result<Vec<Endpoint>, Vec<String>> {
    check(&json!({ "rootHost": "app.example.com", "endpoints": endpoints }))
        .map(|record| record.endpoints)
}

/// A record with one endpoint, `app.example.com`, with some of its fields replaced.
fn claim(edit: &Value) -> Result<DnsRecord, Vec<String>> {
    let mut endpoint = json!({
        "dnsName": "app.example.com", "recordType": "A", "targets": ["192.0.2.1"]
    });
    for (field, value) in edit.as_object().unwrap() {
        endpoint[field] = value.clone();
    }
    check(&json!({ "rootHost": "app.example.com", "endpoints": [endpoint] }))
}

/// The endpoint of such a record.
fn endpoint(edit: &Value) -> Result<Endpoint, Vec<String>> {
    claim(edit).map(|mut claim| claim.endpoints.remove(0))
}

fn targets(rtype: &str, targets: &[&str]) -> Result<Vec<String>, Vec<String>> {
    endpoint(&json!({ "recordType": rtype, "targets": targets }))
        .map(|endpoint| endpoint.targets.iter().map(ToString::to_string).collect())
}

fn fields(problems: &[String]) -> Vec<&str> {
    problems
        .iter()
        .filter_map(|problem| problem.split(": ").next())
        .collect()
}

/// Asserts that an endpoint is refused because of exactly this field of it.
fn refused(field: &str, edit: &Value) {
    let problems = endpoint(edit).unwrap_err();
    assert_eq!(
        fields(&problems),
        [format!("spec.endpoints[0].{field}")],
        "{edit}: {problems:?}"
    );
}

/// The provider is said to refuse it.
fn unroutable(edit: &Value, told: &str) {
    let problems = claim(edit).unwrap().unroutable;
    let [problem] = &problems[..] else {
        panic!("{edit}: {problems:?}");
    };
    let field = "spec.endpoints[0].providerSpecific[0].value";
    assert_eq!(problem.field, field, "{edit}");
    assert!(problem.message.contains(told), "{problem}");
}

#[test]
fn a_load_balanced_record_is_read() {
    // P8, and the tree that a DNSPolicy makes.
    let record = check(&json!({
        "rootHost": "app.example.com",
        "ownerID": "32ah7xkb",
        "providerRef": { "name": "aws-credentials" },
        "healthCheck": { "path": "/healthz" },
        "endpoints": [
            { "dnsName": "APP.example.com", "recordType": "CNAME", "recordTTL": 300,
              "targets": ["klb.app.example.com"] },
            { "dnsName": "klb.app.example.com", "recordType": "CNAME", "recordTTL": 300,
              "setIdentifier": "EU", "targets": ["eu.klb.app.example.com"],
              "providerSpecific": [{ "name": "geo-code", "value": "GEO-EU" }] },
            { "dnsName": "klb.app.example.com", "recordType": "CNAME", "recordTTL": 300,
              "setIdentifier": "default", "targets": ["eu.klb.app.example.com"],
              "providerSpecific": [{ "name": "geo-code", "value": "*" }] },
            { "dnsName": "eu.klb.app.example.com", "recordType": "CNAME", "recordTTL": 60,
              "setIdentifier": "a-b.klb.app.example.com", "targets": ["a-b.klb.app.example.com"],
              "providerSpecific": [{ "name": "weight", "value": "120" }] },
            { "dnsName": "a-b.klb.app.example.com", "recordType": "A", "recordTTL": 60,
              "targets": ["192.0.2.2", "192.0.2.1"], "labels": { "soft_delete": "true" } }
        ]
    }))
    .unwrap();
    assert_eq!(record.root_host.to_string(), "app.example.com.");
    assert_eq!(record.provider.as_deref(), Some("aws-credentials"));
    assert_eq!(record.owner_id.as_deref(), Some("32ah7xkb"));
    assert_eq!(
        record.health_check.map(|check| check.path).as_deref(),
        Some("/healthz")
    );

    let [host, place, default, share, leaf] = record.endpoints.as_slice() else {
        panic!()
    };
    assert_eq!(
        (host.name.to_string().as_str(), host.rtype),
        ("app.example.com.", Rtype::CNAME)
    );
    assert_eq!(host.ttl.map(Ttl::as_secs), Some(300));
    assert_eq!(
        place.geo.as_ref().map(ToString::to_string).as_deref(),
        Some("GEO-EU")
    );
    assert_eq!(default.geo, Some(GeoCode::Default));
    assert_eq!(share.weight.map(Weight::get), Some(120));
    let addresses: Vec<String> = leaf.targets.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["192.0.2.1", "192.0.2.2"]);
    assert_eq!(leaf.labels["soft_delete"], "true");
}

#[test]
fn a_record_without_endpoints_or_provider_is_whole() {
    for spec in [
        json!({ "rootHost": "app.example.com" }),
        json!({ "rootHost": "app.example.com", "endpoints": [] }),
        // What the peer writes for the namespace's default.
        json!({ "rootHost": "app.example.com", "providerRef": { "name": "" } }),
        json!({ "rootHost": "app.example.com", "delegate": false, "providerRef": { "name": "" } }),
    ] {
        let record = check(&spec).unwrap();
        assert!(record.endpoints.is_empty(), "{spec}");
        assert_eq!(record.provider, None, "{spec}");
    }
}

#[test]
fn a_root_host_is_a_host() {
    for host in [
        "app.example.com",
        "*.example.com",
        "App.Example.com.",
        "bücher.example",
    ] {
        assert!(check(&json!({ "rootHost": host })).is_ok(), "{host}");
    }
    for host in [
        "",
        "com",
        "*.com",
        "*",
        "a.*.com",
        "192.0.2.1",
        "a_b.example.com",
        "a?b.c",
        "a..b",
    ] {
        let problems = check(&json!({ "rootHost": host })).unwrap_err();
        assert_eq!(fields(&problems), ["spec.rootHost"], "{host}");
    }
}

#[test]
fn endpoints_are_at_or_below_the_root_host_label_by_label() {
    // K5: `badexample.org` is not under `example.org`.
    let cases = [
        ("app.example.com", "app.example.com", true),
        ("app.example.com", "APP.EXAMPLE.COM.", true),
        ("app.example.com", "klb.app.example.com", true),
        ("app.example.com", "*.app.example.com", true),
        ("app.example.com", "_acme-challenge.app.example.com", true),
        ("app.example.com", "myapp.example.com", false),
        ("app.example.com", "example.com", false),
        ("app.example.com", "app.example.com.evil.org", false),
        ("app.example.com", "xapp\\.example.com", false),
        ("*.example.com", "*.example.com", true),
        ("*.example.com", "example.com", true),
        ("*.example.com", "klb.example.com", true),
        ("*.example.com", "badexample.com", false),
    ];
    for (root_host, name, below) in cases {
        let endpoint = json!({ "dnsName": name, "recordType": "A", "targets": ["192.0.2.1"] });
        let result = check(&json!({ "rootHost": root_host, "endpoints": [endpoint] }));
        assert_eq!(result.is_ok(), below, "{root_host} {name}: {result:?}");
    }
}

#[test]
fn a_name_is_a_name() {
    for name in [
        "",
        "@",
        ".",
        "a..app.example.com",
        "a.*.app.example.com",
        "a b.app.example.com",
    ] {
        refused("dnsName", &json!({ "dnsName": name }));
    }
}

#[test]
fn record_types_are_those_that_can_be_published() {
    // P8.
    let data = [
        ("A", "192.0.2.1", "192.0.2.1"),
        ("a", "192.0.2.1", "192.0.2.1"),
        ("AAAA", "2001:DB8::1", "2001:db8::1"),
        ("CNAME", "lb.example.net", "lb.example.net."),
        ("CNAME", "LB.example.net.", "lb.example.net."),
        ("NS", "ns1.example.net", "ns1.example.net."),
        ("MX", "10 mail.example.net", "10 mail.example.net."),
        (
            "SRV",
            "0 5 5060 sip.example.net",
            "0 5 5060 sip.example.net.",
        ),
        (
            "CAA",
            "0 issue \"ca.example.net\"",
            "0 issue \"ca.example.net\"",
        ),
        ("PTR", "host.example.net", "host.example.net."),
        ("TXT", "v=spf1 -all", "\"v=spf1 -all\""),
        ("TXT", "\"v=spf1 -all\"", "\"v=spf1 -all\""),
        ("TXT", "\"a\" \"b\"", "\"a\" \"b\""),
    ];
    for (rtype, target, text) in data {
        assert_eq!(
            targets(rtype, &[target]),
            Ok(vec![text.to_owned()]),
            "{rtype} {target}"
        );
    }
    for rtype in [
        "", "SOA", "DS", "DNAME", "TYPE1234", "ANY", "B", "A ", "ALIAS",
    ] {
        refused("recordType", &json!({ "recordType": rtype }));
    }
}

#[test]
fn targets_are_data_of_the_type() {
    let cases = [
        ("A", "2001:db8::1"),
        ("A", "lb.example.net"),
        ("A", "192.0.2.256"),
        ("A", "192.0.2.1 192.0.2.2"),
        ("A", ""),
        ("A", "192.0.2.1\nevil 300 IN A 192.0.2.2"),
        ("AAAA", "192.0.2.1"),
        ("AAAA", "::ffff:192.0.2.1"),
        ("CNAME", "192.0.2.1"),
        ("CNAME", "a b"),
        ("CNAME", ""),
        ("CNAME", "@"),
        ("MX", "10 @"),
        ("NS", "_x.example.net"),
        ("MX", "mail.example.net"),
        ("MX", "70000 mail.example.net"),
        ("SRV", "0 5 sip.example.net"),
        ("CAA", "issue ca.example.net"),
        ("TXT", ""),
        ("TXT", " "),
        ("TXT", "\"open"),
    ];
    for (rtype, target) in cases {
        refused(
            "targets[0]",
            &json!({ "recordType": rtype, "targets": [target] }),
        );
    }
    refused("targets", &json!({ "targets": [] }));
}

#[test]
fn a_long_text_is_split_and_nothing_of_it_lost() {
    let long = "k".repeat(600);
    let targets = targets("TXT", &[&long]).unwrap();
    assert_eq!(targets[0].replace("\" \"", "").trim_matches('"'), long);
}

#[test]
fn equal_targets_count_once() {
    let found = targets("A", &["192.0.2.2", "192.0.2.1", "192.0.2.2"]);
    assert_eq!(
        found,
        Ok(vec!["192.0.2.1".to_owned(), "192.0.2.2".to_owned()])
    );
    let found = targets("CNAME", &["lb.example.net", "LB.example.net."]);
    assert_eq!(found, Ok(vec!["lb.example.net.".to_owned()]));
}

#[test]
fn a_cname_has_one_target() {
    let problems = targets("CNAME", &["a.example.net", "b.example.net"]).unwrap_err();
    assert_eq!(fields(&problems), ["spec.endpoints[0].targets"]);
    assert!(
        problems[0].contains("setIdentifier and a weight"),
        "{problems:?}"
    );

    // What it takes instead: one endpoint each.
    let shared = |target: &str| {
        json!({
            "dnsName": "app.example.com", "recordType": "CNAME", "setIdentifier": target,
            "targets": [target], "providerSpecific": [{ "name": "weight", "value": "1" }]
        })
    };
    assert!(endpoints(&json!([shared("a.example.net"), shared("b.example.net")])).is_ok());
}

#[test]
fn a_ttl_is_in_range_or_left_to_the_provider() {
    // G36: integer overflow.
    let cases = [
        (json!({}), None),
        (json!({ "recordTTL": 0 }), None),
        (json!({ "recordTTL": 60 }), Some(60)),
        (
            json!({ "recordTTL": 2_147_483_647_i64 }),
            Some(2_147_483_647),
        ),
    ];
    for (edit, ttl) in cases {
        assert_eq!(
            endpoint(&edit).unwrap().ttl.map(Ttl::as_secs),
            ttl,
            "{edit}"
        );
    }
    for ttl in [-1, i64::MIN, 2_147_483_648, i64::MAX] {
        refused("recordTTL", &json!({ "recordTTL": ttl }));
    }
}

#[test]
fn weights_and_places_are_checked() {
    // G40.
    let property = |name: &str, value: &str| json!({ "setIdentifier": "a", "providerSpecific": [{ "name": name, "value": value }] });
    for weight in ["-1", "256", "1.5", "", "many", "99999999999999999999"] {
        unroutable(&property("weight", weight), "a whole number from 0 to 255");
    }
    for place in ["", "ZZ", "Atlantis"] {
        unroutable(&property("geo-code", place), "unexpected geo code. ");
    }
    for place in ["GEO-XX", "GEO-"] {
        unroutable(&property("geo-code", place), "unexpected continent code. ");
    }
    let look_alikes = [
        property("weight", "0"),
        property("weight", "255"),
        property("geo-code", "*"),
        property("geo-code", "ie"),
        property("geo-code", "europe-west1"),
        property("aws/failover", "PRIMARY"),
        property("Weight", "-1"),
    ];
    for edit in look_alikes {
        assert!(endpoint(&edit).is_ok(), "{edit}");
    }
}

#[test]
fn weights_that_add_up_to_nothing_are_equal_shares() {
    // G40: nothing to refuse, every provider serves such a set.
    let share = |set: &str| {
        json!({
            "dnsName": "app.example.com", "recordType": "A", "setIdentifier": set,
            "targets": ["192.0.2.1"], "providerSpecific": [{ "name": "weight", "value": "0" }]
        })
    };
    assert!(endpoints(&json!([share("a"), share("b")])).is_ok());
}

#[test]
fn other_properties_pass_through() {
    let endpoint = endpoint(&json!({
        "providerSpecific": [
            { "name": "aws/evaluate-target-health", "value": "true" },
            { "name": "weight", "value": "7" },
            { "name": "empty" }
        ]
    }))
    .unwrap();
    let properties: Vec<(&str, &str)> = endpoint
        .properties
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        properties,
        [("aws/evaluate-target-health", "true"), ("empty", "")]
    );
    assert_eq!(endpoint.weight.map(Weight::get), Some(7));
}

#[test]
fn a_property_has_a_name_and_is_there_once() {
    refused(
        "providerSpecific[0].name",
        &json!({ "providerSpecific": [{ "value": "1" }] }),
    );
    let twice = json!([{ "name": "weight", "value": "1" }, { "name": "weight", "value": "2" }]);
    refused(
        "providerSpecific[1].name",
        &json!({ "providerSpecific": twice }),
    );
}

#[test]
fn labels_cannot_forge_the_registry() {
    // P7: labels are written into a comma-separated list.
    let cases = [
        ("a", "b,external-dns/owner=x"),
        ("a,b", "c"),
        ("a=b", "c"),
        ("a", "\""),
        ("a", "b\nc"),
    ];
    for (key, value) in cases {
        let problems = endpoint(&json!({ "labels": { key: value } })).unwrap_err();
        assert!(
            problems[0].starts_with("spec.endpoints[0].labels["),
            "{problems:?}"
        );
    }
    assert!(endpoint(&json!({ "labels": { "resource": "gateway/ns/name=x" } })).is_ok());
}

#[test]
fn a_set_is_there_once() {
    let a = |name: &str, rtype: &str, set: &str, target: &str| json!({ "dnsName": name, "recordType": rtype, "setIdentifier": set, "targets": [target] });
    let host = "app.example.com";
    let same = [
        (a(host, "A", "", "192.0.2.1"), a(host, "A", "", "192.0.2.2")),
        (
            a(host, "A", "", "192.0.2.1"),
            a("APP.example.com.", "a", "", "192.0.2.1"),
        ),
        (
            a(host, "A", "x", "192.0.2.1"),
            a(host, "A", "x", "192.0.2.2"),
        ),
    ];
    for (first, second) in same {
        let problems = endpoints(&json!([first, second])).unwrap_err();
        assert_eq!(fields(&problems), ["spec.endpoints[1]"], "{problems:?}");
    }
    let different = [
        (
            a(host, "A", "", "192.0.2.1"),
            a(host, "AAAA", "", "2001:db8::1"),
        ),
        (
            a(host, "A", "x", "192.0.2.1"),
            a(host, "A", "y", "192.0.2.1"),
        ),
        (
            a(host, "A", "x", "192.0.2.1"),
            a(host, "A", "X", "192.0.2.1"),
        ),
        (
            a(host, "A", "", "192.0.2.1"),
            a("b.app.example.com", "A", "", "192.0.2.1"),
        ),
    ];
    for (first, second) in different {
        assert!(endpoints(&json!([first, second])).is_ok());
    }
}

#[test]
fn set_identifiers_are_printable() {
    refused("setIdentifier", &json!({ "setIdentifier": "a\u{0}" }));
    refused("setIdentifier", &json!({ "setIdentifier": "é" }));
    assert!(endpoint(&json!({ "setIdentifier": "a b/c.d" })).is_ok());
}

#[test]
fn references_are_names_of_objects() {
    let problems = check(&json!({
        "rootHost": "app.example.com", "providerRef": { "name": "other/secret" }
    }));
    assert_eq!(fields(&problems.unwrap_err()), ["spec.providerRef.name"]);
    let problems = check(&json!({
        "rootHost": "app.example.com", "providerRef": { "name": "a" }, "delegate": true
    }));
    assert_eq!(fields(&problems.unwrap_err()), ["spec.delegate"]);
}

#[test]
fn all_problems_are_named_at_once() {
    let problems = check(&json!({
        "rootHost": "com",
        "healthCheck": { "port": 0, "interval": "never" },
        "endpoints": [
            { "dnsName": "a..b", "recordType": "A", "recordTTL": -1, "targets": ["x", "192.0.2.1", "y"] },
            { "recordType": "B" }
        ]
    }));
    let expected = [
        "spec.rootHost",
        "spec.endpoints[0].dnsName",
        "spec.endpoints[0].recordTTL",
        "spec.endpoints[0].targets[0]",
        "spec.endpoints[0].targets[2]",
        "spec.endpoints[1].dnsName",
        "spec.endpoints[1].recordType",
        "spec.healthCheck.port",
        "spec.healthCheck.interval",
    ];
    assert_eq!(fields(&problems.unwrap_err()), expected);
}

#[test]
fn a_record_as_large_as_an_object_can_be_is_read() {
    // G37: 1.4 MiB.
    let endpoint = |number: usize| {
        json!({
            "dnsName": format!("host-{number}.app.example.com"), "recordType": "A",
            "targets": [format!("10.{}.{}.1", number / 256, number % 256)]
        })
    };
    let spec = json!({
        "rootHost": "app.example.com", "endpoints": (0..12_000).map(endpoint).collect::<Vec<_>>()
    });
    assert_eq!(check(&spec).unwrap().endpoints.len(), 12_000);
}

proptest::proptest! {
    #[test]
    fn no_endpoint_is_too_strange_to_be_judged(
        name in "\\PC{0,20}", rtype in "A|AAAA|CNAME|NS|TXT|MX|SRV|CAA|PTR|\\PC{0,5}", target in "\\PC{0,40}",
    ) {
        let endpoint = json!({ "dnsName": name, "recordType": rtype, "targets": [target] });
        let _ = endpoints(&json!([endpoint]));
    }
}
