//! Policies, Gateways and what is made from them, in a house where every pass is carried out at once.

mod house;

use std::time::Duration;

use serde_json::json;

use house::House;

const GRACE: Duration = Duration::from_mins(5);

/// A house with Gateway `gw`, reached at 192.0.2.1, and policy `all` on it.
fn open(listeners: &[&str]) -> House {
    let mut house = House::new();
    house.secret("dns", "example.org");
    house.gateway("gw", listeners, &["192.0.2.1"]);
    house.policy("all", &json!({}));
    house.settle();
    house
}

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
fn nothing_is_made_without_a_route_or_an_address() {
    // D4.
    let cases = [
        (
            &["web app.example.org 0"][..],
            &["192.0.2.1"][..],
            " : no routes attached to any gateway listeners",
        ),
        (
            &["web app.example.org"][..],
            &[][..],
            " : no valid status addresses to use on gateway",
        ),
        (&["web"][..], &["192.0.2.1"][..], ""),
    ];
    for (listeners, addresses, suffix) in cases {
        let mut house = House::new();
        house.gateway("gw", listeners, addresses);
        house.policy("all", &json!({}));
        house.settle();
        assert!(house.names().is_empty(), "{listeners:?}");
        let told = format!(
            "DNSPolicy has been successfully enforced : no DNSRecords created based on policy and gateway configuration{suffix}"
        );
        house.says("all", "Enforced", "True/Enforced", &told);
        house.says("all", "Ready", "False/NothingToPublish", "");
    }
}

#[test]
fn what_loses_its_routes_or_addresses_stays_unchanged_for_the_grace_period() {
    // D4, minute by minute.
    let lost = [
        (&["web app.example.org 0"][..], &["192.0.2.1"][..]),
        (&["web app.example.org"][..], &[][..]),
    ];
    for (listeners, addresses) in lost {
        let mut house = open(&["web app.example.org"]);
        house.ready("gw-web");
        house.settle();
        let before = house.record("gw-web");
        house.gateway("gw", listeners, addresses);
        house.settle();
        for minute in 0..5 {
            assert_eq!(house.record("gw-web"), before, "minute {minute}");
            house.says("all", "Enforced", "True/Enforced", "kept for a while");
            house.pass_time(Duration::from_mins(1) - Duration::from_secs(1));
            assert_eq!(house.record("gw-web"), before, "minute {minute}");
            house.pass_time(Duration::from_secs(1));
        }
        assert!(house.names().is_empty());
    }
}

#[test]
fn what_gets_its_source_back_in_time_was_never_touched() {
    // D4: and the next loss has the whole grace period again.
    let mut house = open(&["web app.example.org"]);
    house.ready("gw-web");
    house.settle();
    let before = house.record("gw-web");
    for _ in 0..3 {
        house.gateway("gw", &["web app.example.org"], &[]);
        house.settle();
        house.pass_time(Duration::from_mins(4));
        house.gateway("gw", &["web app.example.org"], &["192.0.2.1"]);
        house.settle();
        house.pass_time(Duration::from_mins(4));
        assert_eq!(house.record("gw-web"), before);
    }
}

#[test]
fn a_restart_begins_the_grace_period_anew() {
    // D4: it keeps longer, never shorter.
    let mut house = open(&["web app.example.org"]);
    house.gateway("gw", &["web app.example.org 0"], &["192.0.2.1"]);
    house.settle();
    house.pass_time(Duration::from_mins(4));
    house.restart();
    house.pass_time(Duration::from_mins(4));
    assert_eq!(house.names(), ["gw-web"]);
    house.pass_time(Duration::from_mins(1));
    assert!(house.names().is_empty());
}

#[test]
fn a_gateway_that_is_gone_takes_its_records_along_after_the_grace_period() {
    // D4: also if it went while nobody looked.
    for restart in [false, true] {
        let mut house = open(&["web app.example.org"]);
        house.delete_gateway("gw");
        if restart {
            house.restart();
        }
        house.settle();
        house.says(
            "all",
            "Accepted",
            "False/TargetNotFound",
            "DNSPolicy target gw was not found",
        );
        house.pass_time(Duration::from_secs(299));
        assert_eq!(house.names(), ["gw-web"]);
        house.pass_time(Duration::from_secs(1));
        assert!(house.names().is_empty());
    }
}

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
fn excluded_addresses_are_not_published() {
    // D5: addresses, ranges, hosts; all of them is a wish, and no loss.
    let mut house = open(&["web app.example.org"]);
    let addresses = [
        "192.0.2.1",
        "10.0.0.1",
        "10.9.9.9",
        "2001:db8::1",
        "lb.example.net",
    ];
    house.gateway("gw", &["web app.example.org"], &addresses);
    house.policy(
        "all",
        &json!({ "excludeAddresses": ["10.0.0.0/8", "2001:db8::1", "LB.example.net"] }),
    );
    house.settle();
    assert_eq!(house.targets("gw-web"), "app.example.org A 192.0.2.1");
    house.policy(
        "all",
        &json!({ "excludeAddresses": ["0.0.0.0/0", "::/0", "lb.example.net"] }),
    );
    house.settle();
    assert!(house.names().is_empty());
    house.says(
        "all",
        "Enforced",
        "True/Enforced",
        "no valid status addresses to use on gateway",
    );
}

#[test]
fn what_there_is_no_room_for_and_what_cannot_be_read_is_told() {
    // D5.
    let mut house = open(&["web app.example.org", "bad under_score..example.org"]);
    house.gateway(
        "gw",
        &["web app.example.org", "bad a..example.org"],
        &["192.0.2.1", "lb.example.net", "https://what"],
    );
    house.settle();
    assert_eq!(house.targets("gw-web"), "app.example.org A 192.0.2.1");
    for told in ["one CNAME at most", "https://what", "listeners bad: "] {
        house.says("all", "Enforced", "False/AwaitingValidation", told);
    }
}

#[test]
fn a_gateway_without_a_host_in_the_domain_is_told_and_loses_nothing() {
    // D2.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
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
        "False/AwaitingValidation",
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
fn a_policy_says_how_its_records_stand_within_one_pass() {
    // D3.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
    house.says(
        "all",
        "Enforced",
        "False/AwaitingValidation",
        "not a single DNSRecord is ready",
    );
    house.says("all", "Ready", "False/NotEnforced", "");
    house.ready("gw-web");
    house.settle();
    house.says(
        "all",
        "Enforced",
        "True/Enforced",
        "DNSPolicy has been partially enforced. Not ready DNSRecords are: gw-api ",
    );
    house.says("all", "Ready", "False/AwaitingValidation", "1 of 2");
    house.failed("gw-api", "no such zone");
    house.settle();
    house.says("all", "Ready", "False/NotReady", "1 of 2");
    let troubles = house.troubles("all");
    assert_eq!(
        troubles,
        [
            "api.example.org Held=True no such zone",
            "api.example.org Ready=False no such zone"
        ]
    );
    house.failed("gw-web", "no such zone");
    house.settle();
    house.says("all", "Enforced", "False/Unknown", "DNSPolicy has encountered some issues: policy is not enforced on any DNSRecord: not a single DNSRecord is ready");
    house.ready("gw-web");
    house.ready("gw-api");
    house.settle();
    house.says(
        "all",
        "Enforced",
        "True/Enforced",
        "DNSPolicy has been successfully enforced",
    );
    house.says("all", "Ready", "True/Ready", "");
    assert!(house.troubles("all").is_empty());
}

#[test]
fn a_records_status_is_one_write_of_its_policy_and_nothing_else_is_any() {
    // D3, and what it costs.
    let mut house = open(&["web app.example.org", "api api.example.org"]);
    house.policy("one", &json!({ "targetRef": { "sectionName": "api" } }));
    house.settle();
    for record in ["gw-web", "gw-api"] {
        let (writes, passes) = (house.writes, house.passes);
        house.ready(record);
        house.settle();
        assert_eq!(house.writes, writes + 1, "{record}");
        assert!(house.passes <= passes + 2, "{record}");
    }
    let (writes, passes) = (house.writes, house.passes);
    house.gateway_condition("gw", "Programmed");
    house.settle();
    assert_eq!((house.writes, house.passes), (writes, passes));
}

#[test]
fn health_is_told_only_where_it_is_asked_for() {
    // D3, D6.
    let mut house = open(&["web app.example.org", "all *.example.org"]);
    assert_eq!(house.condition("all", "SubResourcesHealthy"), None);
    house.policy("all", &json!({ "healthCheck": { "path": "/healthz" } }));
    house.settle();
    house.says("all", "SubResourcesHealthy", "Unknown/Unknown", "");
    assert_eq!(
        house
            .record("gw-web")
            .spec
            .health_check
            .unwrap()
            .path
            .as_deref(),
        Some("/healthz")
    );
    house.health("gw-web", false);
    house.ready("gw-all");
    house.settle();
    house.says(
        "all",
        "SubResourcesHealthy",
        "False/Unknown",
        "Not healthy DNSRecords are: gw-web",
    );
    house.health("gw-web", true);
    house.settle();
    house.says(
        "all",
        "SubResourcesHealthy",
        "True/SubResourcesHealthy",
        "All sub-resources are healthy",
    );
    house.policy("all", &json!({}));
    house.settle();
    assert_eq!(house.condition("all", "SubResourcesHealthy"), None);
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

#[test]
fn a_policy_costs_what_it_touches() {
    // 16 Gateways with 64 listeners, each with a policy.
    let mut house = House::new();
    for gateway in 0..16 {
        let listeners: Vec<String> = (0..64)
            .map(|it| format!("l{it} l{it}.g{gateway}.example.org"))
            .collect();
        let listeners: Vec<&str> = listeners.iter().map(String::as_str).collect();
        house.gateway(&format!("g{gateway}"), &listeners, &["192.0.2.1"]);
        for listener in 0..64 {
            let target =
                json!({ "name": format!("g{gateway}"), "sectionName": format!("l{listener}") });
            house.policy(
                &format!("p{gateway}-{listener}"),
                &json!({ "targetRef": target }),
            );
        }
    }
    house.settle();
    let passes = house.passes;
    house.policy("p3-7", &json!({ "targetRef": { "name": "g3", "sectionName": "l7" }, "excludeAddresses": ["10.0.0.0/8"] }));
    house.settle();
    assert_eq!(house.passes, passes + 1, "its own");
    house.ready("g3-l7");
    house.settle();
    assert_eq!(house.passes, passes + 2, "one more for its record");
    let host = |it: usize| {
        if it == 9 {
            "moved".to_owned()
        } else {
            format!("l{it}")
        }
    };
    let listeners: Vec<String> = (0..64)
        .map(|it| format!("l{it} {}.g3.example.org", host(it)))
        .collect();
    let listeners: Vec<&str> = listeners.iter().map(String::as_str).collect();
    house.gateway("g3", &listeners, &["192.0.2.1"]);
    house.settle();
    assert!(
        house.passes <= passes + 6,
        "the policy of one listener, its records, the Gateway: {}",
        house.passes - passes
    );
}
