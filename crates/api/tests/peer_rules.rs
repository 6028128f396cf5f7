//! The CEL rules of the kinds we share with peers, run against objects: which changes they refuse,
//! and in which words (K2, G39).

#![allow(
    clippy::unwrap_used,
    reason = "a definition without a schema fails the test"
)]

use kube::core::cel::Validator;
use serde_json::{Value, json};
use zonewright_api::crds;

/// What an API server says to a spec, and to a change from another.
fn verdict(kind: &str, spec: &Value, old: Option<&Value>) -> Vec<String> {
    let mut crd = crds::all()
        .into_iter()
        .find(|crd| crd.spec.names.kind == kind)
        .unwrap();
    let schema = crd
        .spec
        .versions
        .remove(0)
        .schema
        .unwrap()
        .open_api_v3_schema
        .unwrap();
    let schema = serde_json::to_value(schema).unwrap();
    let object = |spec: &Value| json!({ "metadata": { "name": "a" }, "spec": spec });
    match Validator::new().validate(&schema, &object(spec), old.map(object).as_ref()) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    }
}

/// The spec with some of its fields replaced.
fn with(spec: &Value, edit: &Value) -> Value {
    let mut spec = spec.clone();
    for (field, value) in edit.as_object().unwrap() {
        spec[field] = value.clone();
    }
    spec
}

fn dns_record() -> Value {
    json!({ "rootHost": "app.example.com" })
}

fn dns_policy() -> Value {
    json!({
        "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "a" },
        "providerRefs": [{ "name": "a" }]
    })
}

#[test]
fn a_root_host_and_an_owner_cannot_change() {
    let host = |host: &str| json!({ "rootHost": host });
    let owner = |owner: &str| with(&dns_record(), &json!({ "ownerID": owner }));
    let cases = [
        (host("a.example.com"), host("a.example.com"), vec![]),
        (
            host("a.example.com"),
            host("b.example.com"),
            vec!["spec.rootHost: RootHost is immutable"],
        ),
        (owner("owner1"), owner("owner1"), vec![]),
        (
            owner("owner1"),
            owner("owner2"),
            vec!["spec.ownerID: OwnerID is immutable"],
        ),
        (
            owner("owner1"),
            dns_record(),
            vec!["spec: OwnerID can't be unset if it was previously set"],
        ),
        (
            dns_record(),
            owner("owner1"),
            vec!["spec: OwnerID can't be set if it was previously unset"],
        ),
        (dns_record(), dns_record(), vec![]),
    ];
    for (old, new, expected) in cases {
        assert_eq!(
            verdict("DNSRecord", &new, Some(&old)),
            expected,
            "{old} to {new}"
        );
    }
    assert_eq!(verdict("DNSRecord", &owner("owner1"), None), [""; 0]);
}

#[test]
fn delegation_is_decided_once() {
    let set_to_true = "spec: delegate can't be set to true if unset";
    let unset = "spec: delegate can't be unset if true";
    let immutable = "spec.delegate: delegate is immutable";
    let (none, no, yes) = (
        json!({}),
        json!({ "delegate": false }),
        json!({ "delegate": true }),
    );
    let cases = [
        (&none, &none, vec![]),
        (&none, &no, vec![]),
        (&none, &yes, vec![set_to_true]),
        (&no, &none, vec![]),
        (&no, &no, vec![]),
        (&no, &yes, vec![immutable]),
        (&yes, &none, vec![unset]),
        (&yes, &no, vec![immutable]),
        (&yes, &yes, vec![]),
    ];
    for (old, new, expected) in cases {
        let (old, new) = (with(&dns_record(), old), with(&dns_record(), new));
        assert_eq!(
            verdict("DNSRecord", &new, Some(&old)),
            expected,
            "{old} to {new}"
        );
    }
}

#[test]
fn a_policy_decides_on_delegation_once_too() {
    let exclusive = "spec: delegate=true and providerRefs are mutually exclusive";
    let (none, no, yes) = (
        json!({}),
        json!({ "delegate": false }),
        json!({ "delegate": true }),
    );
    let cases = [
        (&none, &no, vec![]),
        (
            &none,
            &yes,
            vec!["spec: delegate can't be set to true if unset", exclusive],
        ),
        (&no, &none, vec![]),
        (
            &no,
            &yes,
            vec![exclusive, "spec.delegate: delegate is immutable"],
        ),
        (&yes, &none, vec!["spec: delegate can't be unset if true"]),
        (&yes, &no, vec!["spec.delegate: delegate is immutable"]),
    ];
    for (old, new, mut expected) in cases {
        let (old, new) = (with(&dns_policy(), old), with(&dns_policy(), new));
        let mut found = verdict("DNSPolicy", &new, Some(&old));
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{old} to {new}");
    }
}

#[test]
fn a_record_is_delegated_or_has_a_provider() {
    let record = |edit: Value| verdict("DNSRecord", &with(&dns_record(), &edit), None);
    let provider = json!({ "name": "a" });
    assert_eq!(
        record(json!({ "delegate": true, "providerRef": provider })),
        ["spec: delegate=true and providerRef are mutually exclusive"]
    );
    assert_eq!(
        record(json!({ "delegate": false, "providerRef": provider })),
        [""; 0]
    );
    assert_eq!(record(json!({ "delegate": true })), [""; 0]);
    assert_eq!(record(json!({ "providerRef": provider })), [""; 0]);
}

#[test]
fn health_checks_have_sensible_numbers_and_protocols() {
    let port = "Only ports 80, 443, 1024-49151 are allowed";
    let protocol = "Only HTTP or HTTPS protocols are allowed";
    let threshold = "Failure threshold must be greater than 0";
    let cases = [
        (json!({}), vec![]),
        (json!({ "port": 80 }), vec![]),
        (
            json!({ "port": 1024, "protocol": "HTTP", "failureThreshold": 1 }),
            vec![],
        ),
        (json!({ "port": 49151 }), vec![]),
        (json!({ "port": 0 }), vec![("port", port)]),
        (json!({ "port": -443 }), vec![("port", port)]),
        (json!({ "port": 1023 }), vec![("port", port)]),
        (json!({ "port": 49152 }), vec![("port", port)]),
        (json!({ "protocol": "http" }), vec![("protocol", protocol)]),
        (json!({ "protocol": "TCP" }), vec![("protocol", protocol)]),
        (json!({ "protocol": "" }), vec![("protocol", protocol)]),
        (
            json!({ "failureThreshold": 0 }),
            vec![("failureThreshold", threshold)],
        ),
        (
            json!({ "failureThreshold": -1 }),
            vec![("failureThreshold", threshold)],
        ),
        (
            json!({ "port": 1, "protocol": "UDP", "failureThreshold": 0 }),
            vec![
                ("failureThreshold", threshold),
                ("port", port),
                ("protocol", protocol),
            ],
        ),
    ];
    for (check, expected) in cases {
        let within = |spec: Value| with(&spec, &json!({ "healthCheck": check }));
        let places = [
            ("DNSRecord", within(dns_record()), "spec.healthCheck"),
            ("DNSPolicy", within(dns_policy()), "spec.healthCheck"),
            ("DNSHealthCheckProbe", check.clone(), "spec"),
        ];
        for (kind, spec, at) in places {
            let mut found = verdict(kind, &spec, None);
            found.sort();
            let expected: Vec<String> = expected
                .iter()
                .map(|(field, message)| format!("{at}.{field}: {message}"))
                .collect();
            assert_eq!(found, expected, "{kind} {check}");
        }
    }
}

#[test]
fn a_policy_is_for_a_gateway() {
    let target = |group: &str, kind: &str| {
        let target = json!({ "targetRef": { "group": group, "kind": kind, "name": "a" } });
        verdict("DNSPolicy", &with(&dns_policy(), &target), None)
    };
    let at = "spec.targetRef: Invalid targetRef";
    let group = format!("{at}.group. The only supported value is 'gateway.networking.k8s.io'");
    let kind = format!("{at}.kind. The only supported values are 'Gateway'");
    assert_eq!(target("gateway.networking.k8s.io", "Gateway"), [""; 0]);
    assert_eq!(
        target("gateway.networking.k8s.io", "HTTPRoute"),
        [kind.as_str()]
    );
    assert_eq!(target("networking.k8s.io", "Gateway"), [group.as_str()]);
    assert_eq!(target("", "Ingress"), [group, kind]);
}

#[test]
fn a_claimed_domain_cannot_change() {
    let domain = |domain: &str| json!({ "domain": domain });
    let change =
        |old: &str, new: &str| verdict("DomainVerification", &domain(new), Some(&domain(old)));
    assert_eq!(change("example.com", "example.com"), [""; 0]);
    assert_eq!(
        change("example.com", "example.org"),
        ["spec.domain: domain is immutable"]
    );
    // Not even its spelling: the token belongs to the object as it was made.
    assert_eq!(
        change("example.com", "Example.com"),
        ["spec.domain: domain is immutable"]
    );
}
