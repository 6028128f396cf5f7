//! What is wrong with policies: what the API refuses, and what their conditions say. Nothing that is published suffers.

use serde_json::{Value, json};

use crate::stage::{Home, Stage};

const WEB: &[&str] = &["web app.example.org"];

on_both! {
    /// D1, D5: the rules of the schema, in the peer's words.
    what_breaks_the_schema_is_refused;
    /// D1, D5, D8, K3.
    what_breaks_another_rule_is_not_accepted_and_changes_nothing;
    /// K1.
    a_delegated_policy_is_taken_and_told_that_nobody_publishes_it;
    /// D8.
    of_two_policies_on_one_target_the_younger_says_whose;
    /// D2.
    a_secret_of_another_namespace_is_no_secret;
}

fn balanced(weight: i64, geo: &str) -> Value {
    json!({ "loadBalancing": { "weight": weight, "geo": geo, "defaultGeo": true } })
}

async fn what_breaks_the_schema_is_refused(home: Home) {
    let stage = Stage::published(WEB, home).await;
    let too_many: Vec<String> = (0..21).map(|it| format!("10.0.0.{it}")).collect();
    let rules = [
        (
            json!({ "targetRef": { "kind": "HTTPRoute" } }),
            "Invalid targetRef.kind. The only supported values are 'Gateway'",
        ),
        (
            json!({ "targetRef": { "group": "apps" } }),
            "Invalid targetRef.group. The only supported value is 'gateway.networking.k8s.io'",
        ),
        (
            json!({ "delegate": true }),
            "delegate=true and providerRefs are mutually exclusive",
        ),
        (json!({ "providerRefs": [] }), "spec.providerRefs"),
        (
            json!({ "providerRefs": null }),
            "providerRefs is required unless delegate=true",
        ),
        (
            json!({ "providerRefs": [{ "name": "a" }, { "name": "b" }] }),
            "spec.providerRefs",
        ),
        (balanced(120, "E"), "spec.loadBalancing.geo"),
        (
            json!({ "loadBalancing": { "weight": 120, "geo": "EU" } }),
            "spec.loadBalancing.defaultGeo",
        ),
        (
            json!({ "excludeAddresses": too_many }),
            "spec.excludeAddresses",
        ),
        (
            json!({ "healthCheck": { "path": "/healthz", "port": 22 } }),
            "Only ports 80, 443, 1024-49151 are allowed",
        ),
    ];
    for (spec, told) in rules {
        let refused = stage.try_edit("all", spec.clone()).await.unwrap_err();
        assert!(refused.contains(told), "{spec}: {refused}");
    }
}

async fn what_breaks_another_rule_is_not_accepted_and_changes_nothing(home: Home) {
    let stage = Stage::published(WEB, home).await;
    let before = stage.records().get("gw-web").await.unwrap();
    let rules = [
        (
            json!({ "targetRef": { "name": "gone" } }),
            "TargetNotFound",
            "DNSPolicy target gone was not found: spec.targetRef.name: there is no Gateway",
        ),
        (
            json!({ "targetRef": { "sectionName": "nope" } }),
            "TargetNotFound",
            "DNSPolicy target gw/nope was not found: spec.targetRef.sectionName: the Gateway has no such listener, it has web",
        ),
        (
            json!({ "excludeAddresses": ["192.0.2.7", "10.0.0.0/99"] }),
            "Invalid",
            "DNSPolicy has encountered some issues: spec.excludeAddresses[1]: could not parse the CIDR from the excludeAddresses field",
        ),
        (
            json!({ "excludeAddresses": ["not an address"] }),
            "Invalid",
            "spec.excludeAddresses[0]: must be an IP address, a range or a host",
        ),
        (balanced(-1, "IE"), "Invalid", "spec.loadBalancing.weight"),
        (balanced(256, "IE"), "Invalid", "spec.loadBalancing.weight"),
        (balanced(1, "Nowhere"), "Invalid", "spec.loadBalancing.geo"),
        (balanced(1, "**"), "Invalid", "spec.loadBalancing.geo"),
    ];
    let mended = json!({
        "targetRef": { "name": "gw", "sectionName": null },
        "excludeAddresses": null, "loadBalancing": null,
    });
    for (spec, reason, told) in rules {
        stage.edit("all", spec).await;
        let says = format!("False/{reason}");
        stage.until("all", "Accepted", &says, told).await;
        stage.until("all", "Ready", "False/NotAccepted", "").await;
        assert_eq!(stage.condition("all", "Enforced").await, None, "{told}");
        assert_eq!(stage.records().get("gw-web").await.unwrap(), before);
        stage.edit("all", mended.clone()).await;
        stage
            .until_exactly(
                "all",
                "Accepted",
                "True/Accepted",
                "DNSPolicy has been accepted",
            )
            .await;
    }
    stage.edit("all", balanced(0, "IE")).await;
    let record = stage.until_record("gw-web", "klb.app.example.org").await;
    let endpoints = record.spec.endpoints.into_iter();
    let weights = endpoints.flat_map(|it| it.provider_specific);
    let weights = weights.filter(|it| it.name == "weight").map(|it| it.value);
    assert_eq!(weights.collect::<Vec<_>>(), ["0"], "no share is one, too");
}

async fn a_delegated_policy_is_taken_and_told_that_nobody_publishes_it(home: Home) {
    let mut stage = Stage::open(home).await;
    stage.gateway(WEB).await;
    stage.reached(&["192.0.2.1"], 1).await;
    let delegated = json!({ "delegate": true, "providerRefs": null });
    stage.policy("all", delegated).await;
    stage.run();
    let told = "spec.delegate: publishing on behalf of other clusters is not supported yet";
    stage
        .until("all", "Accepted", "False/NotSupported", told)
        .await;
    stage.until("all", "Ready", "False/NotAccepted", "").await;
    assert!(stage.names().await.is_empty());
}

async fn of_two_policies_on_one_target_the_younger_says_whose(home: Home) {
    let stage = Stage::published(WEB, home).await;
    let namespace = stage.namespace.clone();
    let on_web = json!({ "targetRef": { "sectionName": "web" } });
    for (name, spec, older) in [
        ("late", json!({}), Some("all")),
        ("one", on_web.clone(), None),
        ("two", on_web, Some("one")),
    ] {
        stage.policy(name, spec).await;
        let (says, told) = match older {
            Some(older) => (
                "False/Conflicted",
                format!("DNSPolicy is conflicted by {namespace}/{older}: conflicting policy"),
            ),
            None => ("True/Accepted", String::new()),
        };
        stage.until(name, "Accepted", says, &told).await;
    }
    assert_eq!(stage.names().await, ["gw-web"]);
    assert_eq!(stage.status("late").await.total_records, Some(0));
}

async fn a_secret_of_another_namespace_is_no_secret(home: Home) {
    let mut stage = Stage::open(home).await;
    let elsewhere = testkit::namespace(&stage.client, "elsewhere");
    let elsewhere = elsewhere.await.unwrap();
    stage.secret_in(&elsewhere, "theirs", "example.net").await;
    stage.neighbours.push(elsewhere);
    stage.gateway(WEB).await;
    stage.reached(&["192.0.2.1"], 1).await;
    stage.policy("all", json!({})).await;
    stage.run();
    stage.secret("ours", "example.net").await;
    for (secret, says) in [
        ("ours", "False/DomainNotInGateway"),
        // The DNSRecord is made, and says what is missing.
        ("theirs", "False/AwaitingValidation"),
    ] {
        stage
            .edit("all", json!({ "providerRefs": [{ "name": secret }] }))
            .await;
        stage.until("all", "Enforced", says, "").await;
    }
    let record = stage.records().get("gw-web").await.unwrap();
    assert_eq!(record.spec.provider_ref.unwrap().name, "theirs");
}
