//! What changes in place, and what is made before the old goes (D7).

use serde_json::json;

use super::house::House;
use super::{GRACE, open};

#[test]
fn simple_and_load_balanced_change_in_place() {
    // D7.
    let mut house = open(&["web app.example.org"]);
    let uid = house.record("gw-web").metadata.uid;
    let balanced = json!({ "weight": 120, "geo": "GEO-EU", "defaultGeo": true });
    house.policy("all", &json!({ "loadBalancing": balanced }));
    house.settle();
    let record = house.record("gw-web");
    assert_eq!(record.metadata.uid, uid);
    let types: Vec<&str> = record
        .spec
        .endpoints
        .iter()
        .map(|it| it.record_type.as_str())
        .collect();
    assert_eq!(types, ["A", "CNAME", "CNAME", "CNAME", "CNAME"]);
    house.policy("all", &json!({}));
    house.settle();
    assert_eq!(house.record("gw-web").metadata.uid, uid);
    assert_eq!(house.targets("gw-web"), "app.example.org A 192.0.2.1");
    assert_eq!(house.created, 1);
}

#[test]
fn another_provider_is_another_reference_in_the_same_record() {
    // P9 does the rest.
    let mut house = open(&["web app.example.org"]);
    let uid = house.record("gw-web").metadata.uid;
    house.policy("all", &json!({ "providerRefs": [{ "name": "other" }] }));
    house.settle();
    let record = house.record("gw-web");
    assert_eq!(record.metadata.uid, uid);
    assert_eq!(record.spec.provider_ref.unwrap().name, "other");
}

#[test]
fn another_host_is_another_record_and_the_old_one_goes() {
    // D7: a rootHost cannot change.
    let mut house = open(&["web app.example.org"]);
    house.gateway("gw", &["web new.example.org"], &["192.0.2.1"]);
    house.settle();
    let names = house.names();
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("gw-web-"), "{names:?}");
    assert_eq!(house.record(names[0]).spec.root_host, "new.example.org");
    let order = [
        "+gw-web".to_owned(),
        format!("+{}", names[0]),
        "-gw-web".to_owned(),
    ];
    assert_eq!(house.order, order, "made before it is broken");
}

#[test]
fn the_host_of_a_renamed_listener_is_there_before_it_goes() {
    // D7.
    let mut house = open(&["web app.example.org"]);
    house.ready("gw-web");
    house.settle();
    house.gateway("gw", &["front app.example.org"], &["192.0.2.1"]);
    house.settle();
    assert_eq!(house.names(), ["gw-front", "gw-web"]);
    house.pass_time(GRACE * 2);
    assert_eq!(house.names(), ["gw-front", "gw-web"]);
    house.ready("gw-front");
    house.settle();
    assert_eq!(house.names(), ["gw-front"]);
}

#[test]
fn a_host_in_another_spelling_is_the_same() {
    let mut house = open(&["web app.example.org"]);
    let writes = house.writes;
    house.gateway("gw", &["web APP.Example.ORG"], &["192.0.2.1"]);
    house.settle();
    assert_eq!(house.writes, writes);
}

#[test]
fn a_restart_at_any_point_comes_to_the_same() {
    let story: [fn(&mut House); 6] = [
        |house| house.secret("dns", "example.org"),
        |house| {
            house.gateway(
                "gw",
                &["web app.example.org", "api api.example.org"],
                &["192.0.2.1"],
            );
        },
        |house| house.policy("all", &json!({})),
        |house| house.policy("one", &json!({ "targetRef": { "sectionName": "api" } })),
        |house| {
            house.gateway(
                "gw",
                &["web app.example.org", "api api.example.org"],
                &["192.0.2.2"],
            );
        },
        |house| {
            house.policy(
                "all",
                &json!({ "loadBalancing": { "weight": 1, "geo": "IE", "defaultGeo": true } }),
            );
        },
    ];
    let run = |restart: Option<usize>| {
        let mut house = House::new();
        for (step, happen) in story.iter().enumerate() {
            happen(&mut house);
            if restart == Some(step) {
                house.restart();
            }
            house.settle();
        }
        house.shown()
    };
    let straight = run(None);
    for step in 0..story.len() {
        assert_eq!(run(Some(step)), straight, "restarted in step {step}");
    }
}
