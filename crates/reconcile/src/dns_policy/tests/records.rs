//! What is made from a policy, and what is none of its business (D1).

use serde_json::json;

use super::house::House;
use super::open;

#[test]
fn every_listener_with_a_host_has_a_record_of_its_own() {
    // D1.
    let house = open(&["web app.example.org", "api *.api.example.org", "any"]);
    assert_eq!(house.names(), ["gw-api", "gw-web"]);
    let record = house.record("gw-web");
    assert_eq!(record.spec.root_host, "app.example.org");
    assert_eq!(record.spec.provider_ref.as_ref().unwrap().name, "dns");
    assert_eq!(house.targets("gw-web"), "app.example.org A 192.0.2.1");
    assert_eq!(house.targets("gw-api"), "*.api.example.org A 192.0.2.1");
    let meta = &record.metadata;
    let owner = &meta.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str()),
        ("DNSPolicy", "all")
    );
    assert_eq!(owner.api_version, "kuadrant.io/v1");
    assert_eq!(owner.controller, Some(true));
    let labels: Vec<String> = meta
        .labels
        .iter()
        .flatten()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    assert_eq!(
        labels,
        [
            "app=kuadrant",
            "app.kubernetes.io/component=kuadrant",
            "app.kubernetes.io/instance=kuadrant",
            "app.kubernetes.io/managed-by=kuadrant-operator",
            "app.kubernetes.io/name=kuadrant",
            "app.kubernetes.io/part-of=kuadrant",
            "kuadrant.io/listener-name=web",
        ]
    );
    house.says(
        "all",
        "Accepted",
        "True/Accepted",
        "DNSPolicy has been accepted",
    );
    assert_eq!(house.total("all"), 2);
}

#[test]
fn a_policy_with_a_section_name_is_for_that_listener_alone() {
    // D1.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
    house.delete_policy("all");
    house.settle();
    house.policy("one", &json!({ "targetRef": { "sectionName": "api" } }));
    house.settle();
    assert_eq!(house.owners(), ["gw-api one"]);
}

#[test]
fn listeners_that_share_a_host_have_a_record_each() {
    // D1: HTTP and HTTPS of one host.
    let mut house = open(&["http app.example.org", "https app.example.org"]);
    assert_eq!(house.names(), ["gw-http", "gw-https"]);
    house.failed("gw-http", "no");
    house.failed("gw-https", "no");
    house.settle();
    assert_eq!(house.troubles("all").len(), 2, "and say what is wrong once");
}

#[test]
fn a_name_that_somebody_else_has_is_left_to_them() {
    // D1: neither a person's nor another policy's.
    let mut house = House::new();
    house.secret("dns", "example.org");
    house.foreign("gw-web");
    house.gateway("gw", &["web app.example.org"], &["192.0.2.1"]);
    house.policy("all", &json!({}));
    house.settle();
    let names = house.names();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0], "gw-web");
    assert!(names[1].starts_with("gw-web-"), "{names:?}");
    assert_eq!(house.total("all"), 1);
    house.delete_policy("all");
    house.gateway("gw", &[], &[]);
    house.settle();
    assert_eq!(house.names(), ["gw-web"], "and is never removed");
}

#[test]
fn records_of_others_are_never_touched() {
    // D1: with our label, with a policy of another uid, with neither.
    let mut house = open(&["web app.example.org"]);
    house.foreign("by-hand");
    house.labelled("labelled", None);
    house.labelled("former", Some(("all", "another-uid")));
    let before = house.writes;
    for listeners in [&["web b.example.org"][..], &[][..]] {
        house.gateway("gw", listeners, &["192.0.2.9"]);
        house.settle();
    }
    assert!(house.writes > before);
    assert_eq!(house.names(), ["by-hand", "former", "labelled"]);
}

#[test]
fn a_record_without_our_label_is_never_removed() {
    // D1: a person has taken it over.
    let mut house = open(&["web app.example.org"]);
    house.policy("all", &json!({ "excludeAddresses": ["/"] }));
    house.settle();
    house.tamper("gw-web", |record| record.metadata.labels = None);
    house.gateway("gw", &["other other.example.org"], &["192.0.2.1"]);
    house.policy("all", &json!({}));
    house.settle();
    assert_eq!(house.names(), ["gw-other", "gw-web"]);
    assert_eq!(house.total("all"), 1);
}

#[test]
fn what_a_person_changes_in_a_record_is_put_right() {
    // D1: the spec and the labels are the policy's.
    let mut house = open(&["web app.example.org"]);
    let before = house.record("gw-web");
    house.tamper("gw-web", |record| record.spec.endpoints.clear());
    house.settle();
    assert_eq!(house.record("gw-web").spec, before.spec);
    house.tamper("gw-web", |record| {
        let labels = record.metadata.labels.as_mut().unwrap();
        labels.remove("app.kubernetes.io/name");
        labels.insert("mine".to_owned(), "kept".to_owned());
    });
    house.settle();
    let labels = house.record("gw-web").metadata.labels.unwrap();
    assert_eq!(labels["app.kubernetes.io/name"], "kuadrant");
    assert_eq!(labels["mine"], "kept");
    house.tamper("gw-web", |record| record.metadata.labels = None);
    house.settle();
    let again = house.record("gw-web");
    assert_eq!(again.metadata.labels, before.metadata.labels);
    assert_eq!((house.names().len(), house.total("all")), (1, 1));
    house.delete_record("gw-web");
    house.settle();
    assert_eq!(house.names(), ["gw-web"]);
}
