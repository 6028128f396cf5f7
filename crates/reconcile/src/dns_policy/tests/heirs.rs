//! What a deleted policy leaves to the next one (D4, D8).

use serde_json::{Value, json};

use super::house::House;
use super::{GRACE, open};

fn on_web() -> Value {
    json!({ "targetRef": { "sectionName": "web" } })
}

/// Two policies on one target: the heir of `all` is `next`, with another address left out.
fn succession(spec: &Value) -> House {
    let mut house = open(&["web app.example.org"]);
    house.ready("gw-web");
    house.policy("next", spec);
    house.settle();
    house
}

#[test]
fn the_next_policy_takes_over_what_a_deleted_one_has_published() {
    // D8: whether the collector is faster or slower than the heir.
    for slow in [false, true] {
        let mut house = succession(&json!({}));
        assert_eq!(house.heirs("gw-web"), ["next"]);
        let before = house.record("gw-web");
        if slow {
            house.remove_policy("all");
            house.settle();
            assert_eq!(house.owners(), ["gw-web next"]);
        } else {
            house.delete_policy("all");
        }
        house.settle();
        house.collect();
        house.settle();
        assert_eq!(house.owners(), ["gw-web next"], "slow: {slow}");
        assert!(house.heirs("gw-web").is_empty());
        let after = house.record("gw-web");
        assert_eq!(
            (&after.metadata.uid, &after.spec),
            (&before.metadata.uid, &before.spec)
        );
        assert_eq!(house.created, 1, "nothing went, nothing came");
        house.says("next", "Ready", "True/Ready", "");
        assert_eq!(house.total("next"), 1);
    }
}

#[test]
fn what_is_inherited_becomes_what_the_heir_wants_in_place() {
    // D7, D8.
    let balanced = json!({ "weight": 1, "geo": "IE", "defaultGeo": true });
    let mut house = succession(&json!({ "loadBalancing": balanced }));
    house.delete_policy("all");
    house.settle();
    assert_eq!(house.record("gw-web").spec.endpoints.len(), 5);
    assert_eq!(house.created, 1);
}

#[test]
fn what_the_heir_does_not_want_goes() {
    // D8: it is the heir's now, and its host is nobody's wish.
    for (spec, told) in [
        (
            json!({ "excludeAddresses": ["0.0.0.0/0"] }),
            "no valid status addresses",
        ),
        (json!({ "targetRef": { "name": "other" } }), ""),
    ] {
        let mut house = succession(&json!({}));
        house.gateway("other", &[], &["192.0.2.9"]);
        house.remove_policy("all");
        house.policy("next", &spec);
        house.settle();
        house.collect();
        house.settle();
        assert!(house.names().is_empty(), "{spec}");
        house.says("next", "Enforced", "True/Enforced", told);
    }
}

#[test]
fn the_policy_of_the_gateway_inherits_a_listener() {
    // D8: unless another is for the same listener.
    let mut house = open(&["web app.example.org"]);
    house.policy("one", &on_web());
    house.settle();
    assert_eq!(house.owners(), ["gw-web one"]);
    assert_eq!(house.heirs("gw-web"), ["all"]);
    house.policy("two", &on_web());
    house.settle();
    assert_eq!(house.heirs("gw-web"), ["two"]);
    for (gone, owner) in [("one", "gw-web two"), ("two", "gw-web all")] {
        house.delete_policy(gone);
        house.settle();
        assert_eq!(house.owners(), [owner]);
    }
    assert_eq!(house.created, 1);
    house.delete_policy("all");
    house.settle();
    assert!(
        house.names().is_empty(),
        "the last one takes everything along"
    );
}

#[test]
fn a_policy_that_would_not_be_accepted_inherits_nothing() {
    // D8: what nobody would publish goes with whoever published it.
    let mut house = succession(&json!({ "excludeAddresses": ["/"] }));
    assert!(house.heirs("gw-web").is_empty());
    house.policy("next", &json!({}));
    house.settle();
    assert_eq!(house.heirs("gw-web"), ["next"]);
    house.policy("next", &json!({ "targetRef": { "name": "other" } }));
    house.settle();
    assert!(house.heirs("gw-web").is_empty());
    house.policy("next", &json!({}));
    house.settle();
    house.policy("next", &json!({ "excludeAddresses": ["/"] }));
    house.settle();
    house.delete_policy("all");
    house.settle();
    assert!(house.names().is_empty());
}

#[test]
fn an_heir_that_goes_first_changes_nothing() {
    // D8.
    let mut house = succession(&json!({}));
    let before = house.record("gw-web").spec;
    house.delete_policy("next");
    house.settle();
    assert_eq!(house.owners(), ["gw-web all"]);
    assert!(house.heirs("gw-web").is_empty());
    assert_eq!(house.record("gw-web").spec, before);
}

#[test]
fn what_had_lost_its_source_is_kept_as_long_by_the_heir() {
    // D4.
    let mut house = succession(&json!({}));
    house.gateway("gw", &["web app.example.org 0"], &["192.0.2.1"]);
    house.settle();
    house.delete_policy("all");
    house.settle();
    assert_eq!(house.names(), ["gw-web"]);
    house.pass_time(GRACE);
    assert!(house.names().is_empty());
}

#[test]
fn what_others_own_a_record_for_stays_as_it_is() {
    // D1.
    let mut house = open(&["web app.example.org"]);
    house.tamper("gw-web", |record| {
        let owners = record.metadata.owner_references.as_mut().unwrap();
        let mut theirs = owners[0].clone();
        theirs.kind = "ConfigMap".to_owned();
        theirs.api_version = "v1".to_owned();
        theirs.name = "theirs".to_owned();
        theirs.controller = None;
        owners.push(theirs);
    });
    house.policy("next", &json!({}));
    house.settle();
    assert_eq!(house.heirs("gw-web"), ["theirs", "next"]);
    let writes = house.writes;
    house.gateway("gw", &["web APP.example.org"], &["192.0.2.1"]);
    house.settle();
    assert_eq!(house.writes, writes);
}
