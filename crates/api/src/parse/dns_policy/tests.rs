use serde_json::{Value, json};

use super::*;

/// The smallest good spec with some of its fields replaced.
fn check(edit: &Value) -> Result<DnsPolicy, Vec<String>> {
    let mut spec = json!({
        "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "prod-web" },
        "providerRefs": [{ "name": "aws-credentials" }]
    });
    for (field, value) in edit.as_object().unwrap() {
        spec[field] = value.clone();
    }
    let policy = object::DnsPolicy::new("policy", serde_json::from_value(spec).unwrap());
    parse(&policy).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// Asserts that exactly these fields are complained about.
fn refused(edit: &Value, fields: &[&str]) {
    let problems = check(edit).unwrap_err();
    let found: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.split(": ").next())
        .collect();
    assert_eq!(found, fields, "{edit}: {problems:?}");
}

#[test]
fn the_smallest_policy_is_read() {
    let expected = DnsPolicy {
        gateway: "prod-web".to_owned(),
        listener: None,
        providers: vec!["aws-credentials".to_owned()],
        health_check: None,
        load_balancing: None,
        excluded: Vec::new(),
        delegate: false,
    };
    assert_eq!(check(&json!({})), Ok(expected));
}

#[test]
fn every_field_is_read() {
    // D1, D5.
    let policy = check(&json!({
        "targetRef": {
            "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "prod-web",
            "sectionName": "api"
        },
        "healthCheck": { "protocol": "HTTP" },
        "loadBalancing": { "geo": "eu", "defaultGeo": true },
        "excludeAddresses": ["192.0.2.1", "10.1.2.3/8", "2001:DB8::/32", "LB.example.com"],
        "delegate": false
    }))
    .unwrap();
    assert_eq!(policy.listener.as_deref(), Some("api"));
    assert!(policy.health_check.is_some());
    let balancing = policy.load_balancing.unwrap();
    assert_eq!(
        (balancing.weight.get(), balancing.geo.to_string().as_str()),
        (120, "GEO-EU")
    );
    assert!(balancing.default_geo);
    assert_eq!(policy.excluded.len(), 4);
}

#[test]
fn exclusions_cover_addresses_ranges_and_hosts() {
    // D5.
    let excludes = |exclusion: &str, address: &str| {
        exclusion_of(exclusion).covers(&Target::parse(address).unwrap())
    };
    let cases = [
        ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
        ("10.1.2.3/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("0.0.0.0/0", "192.0.2.1", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/32", "2001:db8:1::1", true),
        ("lb.example.com", "LB.example.com.", true),
        ("lb.example.com", "lb2.example.com", false),
        ("lb.example.com", "192.0.2.1", false),
        ("10.0.0.0/8", "lb.example.com", false),
    ];
    for (excluded, address, covered) in cases {
        assert_eq!(excludes(excluded, address), covered, "{excluded} {address}");
    }
}

fn exclusion_of(text: &str) -> Exclusion {
    exclusion(text).unwrap()
}

#[test]
fn a_bad_range_is_refused_in_the_peers_words() {
    for range in [
        "10.0.0.0/33",
        "10.0.0/8",
        "/8",
        "10.0.0.0/",
        "lb.example.com/8",
        "1.1.1.1/345",
    ] {
        let problems = check(&json!({ "excludeAddresses": ["192.0.2.1", range] })).unwrap_err();
        let rule = "could not parse the CIDR from the excludeAddresses field";
        let expected = format!("spec.excludeAddresses[1]: {rule}: got \"{range}\"");
        assert_eq!(problems, [expected]);
    }
}

#[test]
fn each_rule_names_its_field() {
    let target = |group: &str, kind: &str, name: &str| json!({ "targetRef": { "group": group, "kind": kind, "name": name } });
    let gateway = "gateway.networking.k8s.io";
    let balancing = |weight: i64, geo: &str| json!({ "loadBalancing": { "weight": weight, "geo": geo, "defaultGeo": false } });
    let cases = [
        // G38: what a policy may point at.
        (
            target("networking.k8s.io", "Gateway", "a"),
            vec!["spec.targetRef.group"],
        ),
        (target("", "Gateway", "a"), vec!["spec.targetRef.group"]),
        (
            target(gateway, "HTTPRoute", "a"),
            vec!["spec.targetRef.kind"],
        ),
        (target(gateway, "gateway", "a"), vec!["spec.targetRef.kind"]),
        (target(gateway, "Gateway", ""), vec!["spec.targetRef.name"]),
        (
            target(gateway, "Gateway", "other/a"),
            vec!["spec.targetRef.name"],
        ),
        // D1: exactly one Secret.
        (json!({ "providerRefs": [] }), vec!["spec.providerRefs"]),
        (
            json!({ "providerRefs": [{ "name": "a" }, { "name": "b" }] }),
            vec!["spec.providerRefs"],
        ),
        (
            json!({ "providerRefs": [{ "name": "" }] }),
            vec!["spec.providerRefs[0].name"],
        ),
        // G40.
        (balancing(-1, "IE"), vec!["spec.loadBalancing.weight"]),
        (balancing(256, "IE"), vec!["spec.loadBalancing.weight"]),
        (balancing(i64::MAX, "IE"), vec!["spec.loadBalancing.weight"]),
        (balancing(1, "ZZ"), vec!["spec.loadBalancing.geo"]),
        (balancing(1, "*"), vec!["spec.loadBalancing.geo"]),
        (balancing(1, "GEO-XX"), vec!["spec.loadBalancing.geo"]),
        (
            json!({ "excludeAddresses": [""] }),
            vec!["spec.excludeAddresses[0]"],
        ),
        (
            json!({ "excludeAddresses": ["*.example.com"] }),
            vec!["spec.excludeAddresses[0]"],
        ),
        (json!({ "delegate": true }), vec!["spec.delegate"]),
        (
            json!({ "healthCheck": { "port": 1 } }),
            vec!["spec.healthCheck.port"],
        ),
    ];
    for (edit, fields) in cases {
        refused(&edit, &fields);
    }
}

#[test]
fn look_alikes_of_bad_values_are_accepted() {
    let cases = [
        json!({ "loadBalancing": { "weight": 0, "geo": "GEO-NA", "defaultGeo": false } }),
        json!({ "loadBalancing": { "weight": 255, "geo": "us-east1", "defaultGeo": true } }),
        json!({ "excludeAddresses": [] }),
        json!({ "excludeAddresses": ["192.0.2.1/32", "::/0", "localhost"] }),
        json!({ "providerRefs": [{ "name": "my.aws.route53" }] }),
        json!({ "delegate": false }),
        json!({ "delegate": true, "providerRefs": [] }),
    ];
    for edit in cases {
        assert!(check(&edit).is_ok(), "{edit}");
    }
}

#[test]
fn all_problems_are_named_at_once() {
    refused(
        &json!({
            "targetRef": { "group": "a", "kind": "b", "name": "", "sectionName": "" },
            "providerRefs": [],
            "loadBalancing": { "weight": -1, "geo": "", "defaultGeo": false },
            "excludeAddresses": ["/", " "]
        }),
        &[
            "spec.targetRef.group",
            "spec.targetRef.kind",
            "spec.targetRef.name",
            "spec.targetRef.sectionName",
            "spec.providerRefs",
            "spec.loadBalancing.weight",
            "spec.loadBalancing.geo",
            "spec.excludeAddresses[0]",
            "spec.excludeAddresses[1]",
        ],
    );
}
