//! Which policies count: what is wrong with them, their domain (D2), and who is older (D8).

use serde_json::json;

use super::house::House;
use super::{GRACE, open};

#[test]
fn a_policy_that_is_given_a_wrong_name_removes_nothing() {
    // The Gateway that it published is still there.
    let mut house = open(&["web app.example.org"]);
    house.policy("all", &json!({ "targetRef": { "name": "gv" } }));
    house.settle();
    house.pass_time(GRACE * 2);
    assert_eq!(house.names(), ["gw-web"]);
    house.says(
        "all",
        "Accepted",
        "False/TargetNotFound",
        "there is no Gateway web/gv",
    );
}

#[test]
fn a_policy_that_is_not_accepted_removes_nothing_and_says_what_to_do() {
    // D2, D8.
    let cases = [
        (
            json!({ "targetRef": { "kind": "Service" } }),
            "Invalid",
            "spec.targetRef.kind: must be Gateway",
        ),
        (
            json!({ "targetRef": { "sectionName": "nope" } }),
            "TargetNotFound",
            "spec.targetRef.sectionName: the Gateway has no such listener, it has web",
        ),
        (
            json!({ "excludeAddresses": ["10.0.0.0/99"] }),
            "Invalid",
            "spec.excludeAddresses[0]: could not parse the CIDR from the excludeAddresses field",
        ),
        (
            json!({ "loadBalancing": { "weight": -1, "geo": "IE", "defaultGeo": true } }),
            "Invalid",
            "spec.loadBalancing.weight",
        ),
        (
            json!({ "loadBalancing": { "weight": 1, "geo": "Nowhere", "defaultGeo": true } }),
            "Invalid",
            "spec.loadBalancing.geo",
        ),
        (json!({ "delegate": true }), "Invalid", "spec.delegate"),
        // K1.
        (
            json!({ "delegate": true, "providerRefs": [] }),
            "NotSupported",
            "spec.delegate: publishing on behalf of other clusters is not supported yet",
        ),
        (
            json!({ "providerRefs": [] }),
            "Invalid",
            "spec.providerRefs: must name a Secret",
        ),
        (json!({ "targetRef": 7 }), "Undecodable", "spec.targetRef"),
    ];
    for (spec, reason, told) in cases {
        let mut house = open(&["web app.example.org"]);
        house.ready("gw-web");
        house.settle();
        let before = house.record("gw-web");
        house.policy("all", &spec);
        house.gateway("gw", &["web app.example.org"], &["192.0.2.7"]);
        house.settle();
        house.pass_time(GRACE * 3);
        house.says("all", "Accepted", &format!("False/{reason}"), told);
        house.says("all", "Ready", "False/NotAccepted", "");
        assert_eq!(house.condition("all", "Enforced"), None, "{spec}");
        assert_eq!(house.record("gw-web"), before, "{spec}");
        house.policy("all", &json!({}));
        house.settle();
        assert_eq!(
            house.targets("gw-web"),
            "app.example.org A 192.0.2.7",
            "{spec}"
        );
        house.says("all", "Accepted", "True/Accepted", "");
    }
}

#[test]
fn without_gateways_in_the_cluster_a_policy_says_what_to_install() {
    let mut house = open(&["web app.example.org"]);
    house.installed(false);
    house.settle();
    house.says(
        "all",
        "Accepted",
        "False/MissingDependency",
        "[Gateway API] is not installed",
    );
    house.pass_time(GRACE * 2);
    assert_eq!(house.names(), ["gw-web"]);
    house.installed(true);
    house.settle();
    house.says("all", "Accepted", "True/Accepted", "");
}

#[test]
fn whether_the_secret_or_the_gateway_is_known_first_makes_no_difference() {
    // D2.
    let steps: [fn(&mut House); 3] = [
        |house| house.secret("dns", "*.example.net"),
        |house| {
            house.gateway(
                "gw",
                &["web app.example.org", "net app.example.net"],
                &["192.0.2.1"],
            );
        },
        |house| house.policy("all", &json!({})),
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut house = House::new();
        for step in order {
            steps[step](&mut house);
            house.settle();
        }
        assert_eq!(house.names(), ["gw-net"], "{order:?}");
        house.ready("gw-net");
        house.settle();
        house.says("all", "Ready", "True/Ready", "");
        let left_out = "left out, for their hosts are outside of *.example.net: listeners web";
        house.says("all", "Enforced", "True/Enforced", left_out);
    }
}

#[test]
fn a_gateway_without_a_host_in_the_domain_is_told_and_loses_nothing() {
    // D2.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
    house.ready("gw-api");
    house.ready("gw-web");
    house.settle();
    house.secret("dns", "*.example.net");
    house.settle();
    house.says(
        "all",
        "Enforced",
        "False/DomainNotInGateway",
        "DOMAIN_NAME of Secret dns, *.example.net",
    );
    house.says("all", "Ready", "False/NotEnforced", "");
    let before = (house.record("gw-api"), house.record("gw-web"));
    house.gateway(
        "gw",
        &[
            "web app.example.org",
            "api api.example.org",
            "new new.example.org",
        ],
        &["192.0.2.9"],
    );
    house.settle();
    house.pass_time(GRACE * 2);
    assert_eq!(
        house.names(),
        ["gw-api", "gw-web"],
        "none is made, none goes"
    );
    assert_eq!((house.record("gw-api"), house.record("gw-web")), before);
    house.gateway(
        "gw",
        &["web app.example.net", "api api.example.org"],
        &["192.0.2.9"],
    );
    house.settle();
    house.says(
        "all",
        "Enforced",
        "True/Enforced",
        "left out, for their hosts are outside of *.example.net: listeners api",
    );
    assert_eq!(house.record("gw-api"), before.0, "left out, and left alone");
    house.secret("dns", "example.org");
    house.settle();
    assert_eq!(house.targets("gw-api"), "api.example.org A 192.0.2.9");
}

#[test]
fn a_secret_that_is_missing_or_says_nothing_is_not_judged_here() {
    // D2: the DNSRecord is made and says so.
    let mut house = House::new();
    house.gateway("gw", &["web app.example.org"], &["192.0.2.1"]);
    house.policy("all", &json!({}));
    house.settle();
    assert_eq!(house.names(), ["gw-web"]);
    house.secret("dns", "");
    house.settle();
    assert_eq!(house.names(), ["gw-web"]);
    let writes = house.writes;
    house.delete_secret("dns");
    house.settle();
    assert_eq!(house.writes, writes);
}

#[test]
fn of_two_policies_with_one_target_the_older_wins_and_the_other_says_whose() {
    // D8: whichever is seen first; of one second the uid decides.
    let mut house = open(&["web app.example.org"]);
    house.policy("newer", &json!({}));
    house.settle();
    house.says(
        "newer",
        "Accepted",
        "False/Conflicted",
        "DNSPolicy is conflicted by web/all",
    );
    house.says("all", "Accepted", "True/Accepted", "");
    assert_eq!(house.owners(), ["gw-web all"]);
    house.policy("third", &json!({ "targetRef": { "sectionName": "web" } }));
    house.settle();
    house.says("third", "Accepted", "True/Accepted", "");
    house.delete_policy("third");
    house.delete_policy("all");
    house.settle();
    house.says("newer", "Accepted", "True/Accepted", "");
    assert_eq!(house.owners(), ["gw-web newer"]);
}

#[test]
fn a_policy_on_a_listener_takes_it_from_that_of_the_gateway_without_a_gap() {
    // D8: the record stays what it is, and changes hands; and back.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
    let uid = house.record("gw-web").metadata.uid;
    let balanced = json!({ "weight": 7, "geo": "IE", "defaultGeo": false });
    house.policy(
        "one",
        &json!({ "targetRef": { "sectionName": "web" }, "loadBalancing": balanced }),
    );
    house.settle();
    assert_eq!(house.owners(), ["gw-api all", "gw-web one"]);
    assert_eq!(house.record("gw-web").metadata.uid, uid);
    assert_eq!(house.record("gw-web").spec.endpoints.len(), 4);
    assert_eq!((house.total("all"), house.total("one")), (1, 1));
    house.policy("one", &json!({ "targetRef": { "sectionName": "api" } }));
    house.settle();
    assert_eq!(house.owners(), ["gw-api one", "gw-web all"]);
    assert_eq!(house.record("gw-web").metadata.uid, uid);
    assert_eq!(house.targets("gw-web"), "app.example.org A 192.0.2.1");
}

#[test]
fn a_bad_policy_on_a_listener_takes_nothing_and_loses_nothing() {
    // D8: one that was never accepted has no claim, one that published keeps what it has.
    let mut house = open(&["web app.example.org"]);
    let bad = json!({ "targetRef": { "sectionName": "web" }, "excludeAddresses": ["/"] });
    house.policy("one", &bad);
    house.settle();
    assert_eq!(house.owners(), ["gw-web all"]);
    house.policy("one", &json!({ "targetRef": { "sectionName": "web" } }));
    house.settle();
    assert_eq!(house.owners(), ["gw-web one"]);
    house.policy("one", &bad);
    house.settle();
    assert_eq!(house.owners(), ["gw-web one"]);
}
