//! What needs a clock that waits for nobody, or an API that can be without Gateways.

use std::time::Duration;

use serde_json::json;

use crate::stage::{Home, Stage};

const WEB: &[&str] = &["web app.example.org"];

#[tokio::test(start_paused = true)]
async fn what_loses_its_source_is_kept_for_five_minutes() {
    // D4: routes, addresses, the Gateway itself.
    for lost in ["routes", "addresses", "gateway"] {
        let stage = Stage::published(WEB, Home::Embedded).await;
        stage.ready("gw-web").await;
        stage.until("all", "Ready", "True/Ready", "").await;
        let before = stage.records().get("gw-web").await.unwrap();
        match lost {
            "routes" => stage.reached(&["192.0.2.1"], 0).await,
            "addresses" => stage.reached(&[], 1).await,
            _ => stage.delete_gateway().await,
        }
        for minute in 0..5 {
            tokio::time::sleep(Duration::from_secs(58)).await;
            let now = stage.records().get("gw-web").await;
            assert_eq!(now.unwrap(), before, "{lost}, minute {minute}");
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
        assert!(stage.names().await.is_empty(), "{lost}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_moment_without_addresses_is_not_noticed() {
    // D4.
    let stage = Stage::published(WEB, Home::Embedded).await;
    let before = stage.records().get("gw-web").await.unwrap();
    stage.reached(&[], 1).await;
    tokio::time::sleep(Duration::from_mins(4)).await;
    stage.reached(&["192.0.2.1"], 1).await;
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert_eq!(stage.records().get("gw-web").await.unwrap(), before);
}

#[tokio::test(start_paused = true)]
async fn a_restart_in_between_keeps_longer() {
    // D4.
    let mut stage = Stage::published(WEB, Home::Embedded).await;
    stage.reached(&["192.0.2.1"], 0).await;
    tokio::time::sleep(Duration::from_mins(4)).await;
    stage.stop().await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    stage.run();
    tokio::time::sleep(Duration::from_mins(4)).await;
    assert_eq!(stage.names().await, ["gw-web"]);
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert!(stage.names().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_gateways_says_so_until_they_are_installed() {
    let mut stage = Stage::bare(Home::Embedded).await;
    stage.policy("all", json!({})).await;
    stage.run();
    stage
        .until(
            "all",
            "Accepted",
            "False/MissingDependency",
            "install it, and this goes on by itself",
        )
        .await;
    let definitions = api::foreign::crds();
    testkit::crds::install(&stage.client, &definitions)
        .await
        .unwrap();
    stage.gateway(WEB).await;
    stage.reached(&["192.0.2.1"], 1).await;
    stage.until("all", "Accepted", "True/Accepted", "").await;
    stage.until_record("gw-web", "192.0.2.1").await;
}

#[tokio::test(start_paused = true)]
async fn a_records_status_is_one_write_and_a_gateways_other_news_are_none() {
    // D3.
    let stage = Stage::published(WEB, Home::Embedded).await;
    stage.until_affected(Some("all")).await;
    let quiet = || tokio::time::sleep(Duration::from_secs(5));
    let written = || {
        let measured = stage.measured();
        let lines = measured
            .lines()
            .filter(|line| line.starts_with("zonewright_api_writes_total"));
        let own = lines.filter(|line| !line.contains("events"));
        own.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum::<u64>()
    };
    quiet().await;
    let before = written();
    stage.ready("gw-web").await;
    stage.until("all", "Ready", "True/Ready", "").await;
    quiet().await;
    assert_eq!(written(), before + 1);
    stage
        .gateway_status(json!({ "vendor": "says something" }))
        .await;
    stage.reached(&["192.0.2.1"], 7).await;
    quiet().await;
    assert_eq!(written(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn metrics_and_events_say_how_policies_stand() {
    // K3, O6.
    let stage = Stage::published(WEB, Home::Embedded).await;
    stage.ready("gw-web").await;
    stage.until("all", "Ready", "True/Ready", "").await;
    stage.policy("late", json!({})).await;
    stage
        .until("late", "Accepted", "False/Conflicted", "")
        .await;
    let namespace = &stage.namespace;
    let ready = |name: &str, state: &str, value: u8| {
        format!(
            "kuadrant_dns_policy_ready{{dns_policy_name=\"{name}\",dns_policy_namespace=\"{namespace}\",dns_policy_condition=\"{state}\"}} {value}"
        )
    };
    stage
        .until_measured(&[
            ready("all", "true", 1),
            ready("all", "false", 0),
            ready("late", "false", 1),
            "kuadrant_policies_total{kind=\"DNSPolicy\"} 2".to_owned(),
            "kuadrant_policies_enforced{kind=\"DNSPolicy\",status=\"true\"} 1".to_owned(),
            "kuadrant_policies_enforced{kind=\"DNSPolicy\",status=\"false\"} 1".to_owned(),
        ])
        .await;
    // What is told of the ordinary way would have been told before.
    stage.until_told(&["late Conflicted"]).await;
    stage.delete_policy("late").await;
    let one = "kuadrant_policies_total{kind=\"DNSPolicy\"} 1".to_owned();
    stage.until_measured(&[one]).await;
    let measured = stage.measured();
    assert!(!measured.contains("\"late\""), "{measured}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_published_stops_no_other() {
    // K4.
    let listeners = ["web app.example.org", "odd a_b.example.org"];
    let mut stage = Stage::open(Home::Embedded).await;
    stage.gateway(&listeners).await;
    stage.reached(&["192.0.2.1"], 1).await;
    stage.policy("all", json!({})).await;
    stage.run();
    stage.until_record("gw-web", "192.0.2.1").await;
    stage
        .until(
            "all",
            "Enforced",
            "False/AwaitingValidation",
            "listeners odd: ",
        )
        .await;
    assert_eq!(stage.names().await, ["gw-web"]);
}
