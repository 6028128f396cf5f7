//! What a policy says about itself, and what that costs (D3).

use serde_json::json;

use super::house::House;
use super::open;

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
