//! What people do to an Ingress while a host of theirs waits.

use api::well_known::annotation;
use serde_json::json;

use super::*;

/// An Ingress whose hosts wait, as it stands.
fn waiting(asked: &Value) -> Value {
    door(asked, None, &[]).unwrap().object
}

/// What comes back once everything is proven.
fn restored(ingress: &Value) -> Vec<(String, String)> {
    let mut rules = rules(&behind(ingress, &["example.com", "example.org"]));
    rules.retain(|(host, _)| host != "managed");
    rules
}

#[test]
fn applying_the_same_manifest_again_changes_nothing() {
    let manifest = with_tls(
        ingress(&[("a.example.com", "a"), ("b.example.com", "b")]),
        &[(&["a.example.com"], "tls")],
    );
    let stands = waiting(&manifest);
    // A client sends its rules and keeps what it does not know.
    let mut sent = stands.clone();
    sent["spec"] = manifest["spec"].clone();
    assert_eq!(door(&sent, Some(&stands), &[]).unwrap().object, stands);
}

#[test]
fn a_manifest_with_fewer_hosts_forgets_the_others() {
    let manifest = with_tls(
        ingress(&[("a.example.com", "a"), ("b.example.com", "b")]),
        &[(&["a.example.com"], "a"), (&["b.example.com"], "b")],
    );
    let stands = waiting(&manifest);
    let mut sent = stands.clone();
    sent["spec"] = with_tls(
        ingress(&[("a.example.com", "a")]),
        &[(&["a.example.com"], "a")],
    )["spec"]
        .clone();
    let now = door(&sent, Some(&stands), &[]).unwrap();
    assert_eq!(now.uses, uses_of(&[("a.example.com", "a.example.com")]));
    assert_eq!(restored(&now.object), pairs(&[("a.example.com", "a")]));
    let back = behind(&now.object, &["example.com"]);
    assert_eq!(tls(&back), entries(&[(&["a.example.com"], "a")]));
}

#[test]
fn a_manifest_without_tls_takes_it_away() {
    let stands = waiting(&with_tls(
        ingress(&[("a.example.com", "a")]),
        &[(&["a.example.com"], "a")],
    ));
    let mut sent = stands.clone();
    sent["spec"] = ingress(&[("a.example.com", "a")])["spec"].clone();
    let now = door(&sent, Some(&stands), &[]).unwrap().object;
    let back = behind(&now, &["example.com"]);
    assert_eq!(rules(&back)[0], pairs(&[("a.example.com", "a")])[0]);
    assert_eq!(tls(&back), entries(&[]));
}

#[test]
fn a_rule_added_beside_those_that_wait_joins_them() {
    let stands = waiting(&with_tls(
        ingress(&[("a.example.com", "a")]),
        &[(&["a.example.com"], "a")],
    ));
    let mut sent = stands.clone();
    let rules = sent["spec"]["rules"].as_array_mut().unwrap();
    rules.push(rule("c.example.org", "c"));
    let now = door(&sent, Some(&stands), &[]).unwrap().object;
    assert_eq!(
        restored(&now),
        pairs(&[("a.example.com", "a"), ("c.example.org", "c")])
    );
    let back = behind(&now, &["example.com"]);
    assert_eq!(tls(&back), entries(&[(&["a.example.com"], "a")]));
}

#[test]
fn a_rule_removed_where_it_stands_is_forgotten_with_its_certificate() {
    let stands = waiting(&with_tls(
        ingress(&[("a.example.com", "a"), ("b.example.com", "b")]),
        &[(&["a.example.com"], "a"), (&["b.example.com"], "b")],
    ));
    let mut sent = stands.clone();
    sent["spec"]["rules"].as_array_mut().unwrap().remove(0);
    let now = door(&sent, Some(&stands), &[]).unwrap();
    assert_eq!(now.uses, uses_of(&[("b.example.com", "b.example.com")]));
    let back = behind(&now.object, &["example.com"]);
    assert_eq!(tls(&back), entries(&[(&["b.example.com"], "b")]));
}

#[test]
fn a_rule_changed_where_it_stands_comes_back_changed() {
    let stands = waiting(&ingress(&[("a.example.com", "a"), ("b.example.com", "b")]));
    let mut sent = stands.clone();
    sent["spec"]["rules"][0] = rule(&own(), "new");
    let now = door(&sent, Some(&stands), &[]).unwrap().object;
    assert_eq!(
        restored(&now),
        pairs(&[("a.example.com", "new"), ("b.example.com", "b")])
    );
}

#[test]
fn a_copy_follows_the_rule_that_it_is_a_copy_of() {
    let stands = behind(&ingress(&[("a.example.com", "a")]), &["example.com"]);
    let mut sent = stands.clone();
    sent["spec"]["rules"][0] = rule("a.example.com", "new");
    let now = door(&sent, Some(&stands), &["example.com"]).unwrap().object;
    let completed = behind(&now, &["example.com"]);
    assert_eq!(
        rules(&completed),
        pairs(&[("a.example.com", "new"), ("managed", "new")])
    );
}

#[test]
fn a_copy_that_is_all_that_is_left_stays() {
    let gated = door(&ingress(&[("a.example.com", "a")]), None, &["example.com"]);
    let gated = gated.unwrap().object;
    let completed = behind(&gated, &["example.com"]);
    // Whether the copy was there before, or is written in the place of the custom rule.
    for stands in [completed, gated] {
        let mut sent = stands.clone();
        sent["spec"]["rules"] = json!([rule(&own(), "a")]);
        let now = door(&sent, Some(&stands), &["example.com"]).unwrap().object;
        assert_eq!(rules(&now), pairs(&[("managed", "a")]));
    }
}

#[test]
fn rules_of_its_own_under_the_managed_host_stay() {
    let first = waiting(&ingress(&[("a.example.com", "a")]));
    let mut sent = first.clone();
    let rules_sent = sent["spec"]["rules"].as_array_mut().unwrap();
    rules_sent.push(rule(&own(), "extra"));
    let now = door(&sent, Some(&first), &[]).unwrap().object;
    let back = behind(&now, &["example.com"]);
    let expected = [
        ("a.example.com", "a"),
        ("managed", "extra"),
        ("managed", "a"),
    ];
    assert_eq!(rules(&back), pairs(&expected));
}

#[test]
fn an_edit_from_a_proven_host_to_another_is_caught() {
    let stands = behind(&ingress(&[("a.example.com", "a")]), &["example.com"]);
    let mut sent = stands.clone();
    sent["spec"]["rules"][0] = rule("victim.example.org", "a");
    let now = door(&sent, Some(&stands), &["example.com"]).unwrap();
    assert_eq!(rules(&now.object), pairs(&[("managed", "a")]));
    assert_eq!(now.claims, names(&["victim.example.org"]));
}

#[test]
fn what_a_tenant_writes_into_the_annotation_is_a_wish_like_any_other() {
    // V2, V9: read back as untrusted input.
    let forged = json!({ "rules": [rule("victim.example.org", "evil")], "tls": [{ "hosts": ["victim.example.org"], "secretName": "x" }] });
    let plain = ingress(&[("", "evil")]);
    let sent = annotated(plain, annotation::PENDING_CUSTOM_HOSTS, &forged.to_string());
    let gated = door(&sent, None, &["example.com"]).unwrap().object;
    assert_eq!(rules(&gated), pairs(&[("managed", "evil")]));
    let after = behind(&gated, &["example.com"]);
    assert!(rules(&after).iter().all(|(host, _)| host == "managed"));
    // On update what stands there counts, not what is sent.
    let stands = waiting(&ingress(&[("a.example.com", "a")]));
    let sent = annotated(
        stands.clone(),
        annotation::PENDING_CUSTOM_HOSTS,
        &forged.to_string(),
    );
    assert_eq!(door(&sent, Some(&stands), &[]).unwrap().object, stands);
    for broken in ["", "{", "[]", "{\"rules\":7}", "{\"rules\":[1,null,\"x\"]}"] {
        let sent = annotated(
            ingress(&[("a.example.com", "a")]),
            annotation::PENDING_CUSTOM_HOSTS,
            broken,
        );
        let gated = door(&sent, None, &[]).unwrap().object;
        assert_eq!(
            restored(&gated),
            pairs(&[("a.example.com", "a")]),
            "{broken}"
        );
    }
}

#[test]
fn labels_and_annotations_that_are_ours_say_what_is() {
    // Forged or left over, they are put right.
    let mut sent = ingress(&[("a.example.com", "a")]);
    sent["metadata"]["labels"] =
        json!({ "kuadrant.dev/hasPendingCustomHosts": "true", "app": "x" });
    let sent = annotated(sent, annotation::CUSTOM_HOSTS_REMOVED, "[nothing]");
    let gated = door(&sent, None, &["example.com"]).unwrap().object;
    assert_eq!(gated["metadata"]["labels"], json!({ "app": "x" }));
    assert_eq!(note(&gated, annotation::CUSTOM_HOSTS_REMOVED), None);
}

#[test]
fn two_rules_that_look_the_same_under_the_managed_host_both_come_back() {
    let asked = ingress(&[("a.example.com", "one"), ("b.example.com", "one")]);
    let stands = waiting(&asked);
    assert_eq!(
        rules(&stands),
        pairs(&[("managed", "one"), ("managed", "one")])
    );
    assert_eq!(
        restored(&stands),
        pairs(&[("a.example.com", "one"), ("b.example.com", "one")])
    );
}
