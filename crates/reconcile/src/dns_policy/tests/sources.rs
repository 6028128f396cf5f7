//! Routes, addresses and Gateways that are not there, or not for the moment (D4), and addresses that nobody should see (D5).

use std::time::Duration;

use serde_json::json;

use super::house::House;
use super::open;

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
