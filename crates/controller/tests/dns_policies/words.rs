//! What policies say about themselves, word for word (D3).

use serde_json::json;
use testkit::eventually;

use crate::stage::{Home, SOON, Stage};

const LISTENERS: &[&str] = &["web app.example.org", "api api.example.org", "any"];

const NOTHING: &str = "DNSPolicy has been successfully enforced : no DNSRecords created based on policy and gateway configuration";

const NOT_AT_ALL: &str = "DNSPolicy has encountered some issues: policy is not enforced on any DNSRecord: not a single DNSRecord is ready";

on_both! {
    /// D3, D4: in the peer's words.
    a_policy_without_records_says_what_is_missing;
    /// D3: in the peer's words.
    a_policy_says_how_many_of_its_records_are_ready;
    /// D3, D6: in the peer's words.
    a_policy_with_a_health_check_says_which_records_are_healthy;
    /// D3: not True, or True for Held and Conflicted.
    what_is_wrong_with_records_is_told_by_host;
    /// D3.
    a_host_that_is_well_again_or_gone_is_no_longer_told_while_another_is_not;
}

async fn a_policy_without_records_says_what_is_missing(home: Home) {
    let mut stage = Stage::open(home).await;
    stage.gateway(LISTENERS).await;
    let health_check = json!({ "path": "/healthz" });
    stage
        .policy("all", json!({ "healthCheck": health_check }))
        .await;
    stage.run();
    let told = async |suffix: &str| {
        let message = format!("{NOTHING}{suffix}");
        stage
            .until_exactly("all", "Enforced", "True/Enforced", &message)
            .await;
    };
    told(" : no valid status addresses to use on gateway").await;
    stage.reached(&["192.0.2.1"], 0).await;
    told(" : no routes attached to any gateway listeners").await;
    stage
        .edit("all", json!({ "excludeAddresses": ["192.0.2.0/24"] }))
        .await;
    stage.reached(&["192.0.2.1"], 1).await;
    told(" : no valid status addresses to use on gateway").await;
    stage.listeners(&["any"]).await;
    // A Secret that says its domain would be told that no host is there (D2).
    let spec = json!({ "excludeAddresses": null, "providerRefs": [{ "name": "none" }] });
    stage.edit("all", spec).await;
    told("").await;
    stage
        .until("all", "Ready", "False/NothingToPublish", "")
        .await;
    stage
        .until_exactly(
            "all",
            "SubResourcesHealthy",
            "True/SubResourcesHealthy",
            "No sub-resources present",
        )
        .await;
    assert_eq!(stage.status("all").await.total_records, Some(0));
    assert!(stage.names().await.is_empty());
}

async fn a_policy_says_how_many_of_its_records_are_ready(home: Home) {
    let stage = Stage::published(&LISTENERS[..2], home).await;
    let enforced = async |says: &str, told: &str| {
        stage.until_exactly("all", "Enforced", says, told).await;
    };
    let partially = "DNSPolicy has been partially enforced. Not ready DNSRecords are: ";
    enforced("False/AwaitingValidation", NOT_AT_ALL).await;
    stage.stand("gw-web", "False", "ProviderError").await;
    enforced("False/Unknown", NOT_AT_ALL).await;
    stage.ready("gw-web").await;
    enforced("True/Enforced", &format!("{partially}gw-api ")).await;
    stage.ready("gw-api").await;
    enforced("True/Enforced", "DNSPolicy has been successfully enforced").await;
    stage.stand("gw-web", "False", "ProviderError").await;
    enforced("True/Enforced", &format!("{partially}gw-web ")).await;
    stage.stand("gw-api", "False", "ProviderError").await;
    enforced("False/Unknown", NOT_AT_ALL).await;
    assert_eq!(stage.status("all").await.total_records, Some(2));
}

async fn a_policy_with_a_health_check_says_which_records_are_healthy(home: Home) {
    let stage = Stage::published(&LISTENERS[..2], home).await;
    let ready = ("Ready", "True", "ProviderSuccess");
    let healthy = async |says: &str, told: &str| {
        let type_ = "SubResourcesHealthy";
        stage.until_exactly("all", type_, says, told).await;
    };
    let unhealthy = "DNSPolicy has encountered some issues: not all sub-resources of policy are passing the policy defined health check. Not healthy DNSRecords are: ";
    stage
        .edit("all", json!({ "healthCheck": { "path": "/healthz" } }))
        .await;
    healthy(
        "Unknown/Unknown",
        "not every DNSRecord has been checked yet",
    )
    .await;
    for record in ["gw-web", "gw-api"] {
        let failed = ("Healthy", "False", "HealthChecksFailed");
        stage.say(record, &[ready, failed]).await;
    }
    healthy("False/Unknown", &format!("{unhealthy}gw-api gw-web")).await;
    let passed = ("Healthy", "True", "AllChecksPassed");
    stage.say("gw-api", &[ready, passed]).await;
    healthy("False/Unknown", &format!("{unhealthy}gw-web")).await;
    stage.say("gw-web", &[ready, passed]).await;
    healthy("True/SubResourcesHealthy", "All sub-resources are healthy").await;
    stage.edit("all", json!({ "healthCheck": null })).await;
    stage
        .until("all", "Enforced", "False/AwaitingValidation", "")
        .await;
    assert_eq!(stage.condition("all", "SubResourcesHealthy").await, None);
}

async fn what_is_wrong_with_records_is_told_by_host(home: Home) {
    let stage = Stage::published(&LISTENERS[..2], home).await;
    let conditions = [
        ("Ready", "False", "ProviderError"),
        ("Synchronised", "Unknown", "AwaitingValidation"),
        ("Healthy", "True", "AllChecksPassed"),
        ("Held", "True", "Held"),
        ("Conflicted", "True", "Conflicted"),
        ("Active", "True", "MemberOfActiveGroup"),
    ];
    stage.say("gw-web", &conditions).await;
    stage.ready("gw-api").await;
    stage
        .until("all", "Ready", "False/NotReady", "1 of 2")
        .await;
    let told = stage.status("all").await.record_conditions;
    assert_eq!(told.keys().collect::<Vec<_>>(), ["app.example.org"]);
    let mut types: Vec<&str> = told["app.example.org"]
        .iter()
        .map(|it| it.type_.as_str())
        .collect();
    types.sort_unstable();
    assert_eq!(types, ["Conflicted", "Held", "Ready", "Synchronised"]);
    let fine = conditions.map(|(type_, status, reason)| match type_ {
        "Held" | "Conflicted" => (type_, "False", reason),
        "Ready" => (type_, "True", "ProviderSuccess"),
        "Synchronised" => (type_, "True", reason),
        _ => (type_, status, reason),
    });
    stage.say("gw-web", &fine).await;
    stage.until("all", "Ready", "True/Ready", "").await;
    assert!(stage.status("all").await.record_conditions.is_empty());
}

async fn a_host_that_is_well_again_or_gone_is_no_longer_told_while_another_is_not(home: Home) {
    let listeners = [
        "web app.example.org",
        "api api.example.org",
        "old old.example.org",
    ];
    let stage = Stage::published(&listeners, home).await;
    let told = async |hosts: &[&str]| {
        let seen = eventually(SOON, "recordConditions", async || {
            let told = stage.status("all").await.record_conditions;
            let told: Vec<String> = told.into_keys().collect();
            if told == hosts {
                Ok(())
            } else {
                Err(format!("{told:?}, not {hosts:?}"))
            }
        });
        seen.await.unwrap();
    };
    for record in ["gw-web", "gw-api", "gw-old"] {
        stage.stand(record, "False", "ProviderError").await;
    }
    told(&["api.example.org", "app.example.org", "old.example.org"]).await;
    stage.ready("gw-api").await;
    told(&["app.example.org", "old.example.org"]).await;
    stage.listeners(&listeners[..2]).await;
    stage.until_gone("gw-old").await;
    told(&["app.example.org"]).await;
}
