//! The life of a policy, on the embedded API and on kube-apiserver alike.

use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::stage::{Home, Stage, owners};

const WEB: &[&str] = &["web app.example.org"];

on_both! {
    /// D1, D3.
    a_policy_publishes_its_gateway_and_says_how_that_stands;
    /// D7.
    simple_and_load_balanced_change_in_place;
    /// D7: a rootHost cannot change.
    another_host_is_another_record;
    /// D8.
    a_listener_changes_hands_with_its_record;
    /// D1.
    what_somebody_changes_in_a_record_is_put_right;
    /// D1.
    what_others_say_about_a_gateway_stays;
    /// D2.
    a_gateway_outside_of_the_domain_is_told;
    /// D2.
    what_was_made_before_the_secret_and_lies_outside_of_its_domain_goes;
    /// D2.
    what_a_provider_never_let_in_and_lies_outside_of_its_domain_goes;
    /// D3: nothing is written twice.
    a_second_controller_after_the_first_writes_nothing;
}

async fn a_policy_publishes_its_gateway_and_says_how_that_stands(home: Home) {
    let stage = Stage::published(&["web app.example.org", "all *.example.org"], home).await;
    let record = stage.until_record("gw-web", "192.0.2.1").await;
    assert_eq!(record.spec.root_host, "app.example.org");
    assert_eq!(record.spec.provider_ref.unwrap().name, "dns");
    stage.until("all", "Accepted", "True/Accepted", "").await;
    stage
        .until("all", "Enforced", "False/AwaitingValidation", "")
        .await;
    stage.ready("gw-all").await;
    stage
        .until(
            "all",
            "Enforced",
            "True/Enforced",
            "Not ready DNSRecords are: gw-web ",
        )
        .await;
    stage.stand("gw-web", "False", "ProviderError").await;
    stage.until("all", "Ready", "False/NotReady", "").await;
    let status = stage.status("all").await;
    assert_eq!(status.total_records, Some(2));
    assert_eq!(status.observed_generation, Some(1));
    assert_eq!(
        status.record_conditions["app.example.org"][0].reason,
        "ProviderError"
    );
    stage.ready("gw-web").await;
    stage.until("all", "Ready", "True/Ready", "").await;
    assert!(stage.status("all").await.record_conditions.is_empty());
    stage.reached(&["192.0.2.2"], 1).await;
    stage.until_record("gw-web", "192.0.2.2").await;
}

async fn simple_and_load_balanced_change_in_place(home: Home) {
    let stage = Stage::published(WEB, home).await;
    let uid = stage.until_record("gw-web", "192.0.2.1").await.metadata.uid;
    let balanced = json!({ "weight": 120, "geo": "GEO-EU", "defaultGeo": true });
    stage
        .edit("all", json!({ "loadBalancing": balanced }))
        .await;
    let record = stage.until_record("gw-web", "klb.app.example.org").await;
    assert_eq!(record.metadata.uid, uid);
    assert_eq!(record.spec.endpoints.len(), 5);
    let check = json!({ "path": "/healthz", "protocol": "HTTP", "port": 80 });
    stage
        .edit(
            "all",
            json!({ "loadBalancing": null, "healthCheck": check }),
        )
        .await;
    stage
        .until("all", "SubResourcesHealthy", "Unknown/Unknown", "")
        .await;
    let record = stage.records().get("gw-web").await.unwrap();
    assert_eq!(record.metadata.uid, uid);
    assert_eq!(record.spec.endpoints.len(), 1);
    assert_eq!(record.spec.health_check.unwrap().port, 80);
}

async fn another_host_is_another_record(home: Home) {
    let stage = Stage::published(WEB, home).await;
    stage.listeners(&["web new.example.org"]).await;
    stage.until_gone("gw-web").await;
    let names = stage.names().await;
    assert_eq!(names.len(), 1);
    let record = stage.records().get(&names[0]).await.unwrap();
    assert_eq!(record.spec.root_host, "new.example.org");
}

async fn a_listener_changes_hands_with_its_record(home: Home) {
    let stage = Stage::published(&["web app.example.org", "api api.example.org"], home).await;
    let uid = stage.until_record("gw-web", "192.0.2.1").await.metadata.uid;
    let target = json!({ "sectionName": "web" });
    let spec = json!({ "targetRef": target, "excludeAddresses": ["10.0.0.0/8"] });
    stage.policy("one", spec).await;
    stage.until("one", "Accepted", "True/Accepted", "").await;
    stage
        .until("one", "Enforced", "False/AwaitingValidation", "")
        .await;
    let record = stage.records().get("gw-web").await.unwrap();
    assert_eq!(record.metadata.uid, uid);
    assert_eq!(owners(&record), ["one controls", "all inherits"]);
    stage.delete_policy("one").await;
    let record = stage.until_owned("gw-web", &["all controls"]).await;
    assert_eq!(record.metadata.uid, uid, "and back");
    assert_eq!(stage.names().await, ["gw-api", "gw-web"]);
}

async fn what_somebody_changes_in_a_record_is_put_right(home: Home) {
    let stage = Stage::published(WEB, home).await;
    let before = stage.until_record("gw-web", "192.0.2.1").await;
    let mut changed = before.clone();
    changed.spec.endpoints[0].targets = vec!["203.0.113.9".to_owned()];
    changed.metadata.managed_fields = None;
    let records = stage.records();
    // A rule of the API, not ours: whoever replaces names the version.
    records
        .replace("gw-web", &PostParams::default(), &changed)
        .await
        .unwrap();
    let after = stage.until_record("gw-web", "192.0.2.1").await;
    assert_eq!(after.metadata.uid, before.metadata.uid);
    records
        .delete("gw-web", &DeleteParams::default())
        .await
        .unwrap();
    let again = stage.until_record("gw-web", "192.0.2.1").await;
    assert_eq!(again.spec, before.spec);
}

async fn what_others_say_about_a_gateway_stays(home: Home) {
    let stage = Stage::published(WEB, home).await;
    stage.until_affected(Some("all")).await;
    let ours = stage.gateway_conditions().await.pop().unwrap();
    let gateway = stage.gateways().get("gw").await.unwrap();
    let status = gateway.status.unwrap();
    let mut conditions = status.other["conditions"].as_array().unwrap().clone();
    let own = conditions.last().unwrap();
    assert_eq!(
        (&own["status"], &own["reason"]),
        (&json!("True"), &json!("Accepted"))
    );
    conditions.insert(
        0,
        json!({
            "type": "Theirs", "status": "True", "reason": "Theirs", "message": "theirs",
            "lastTransitionTime": "2026-03-04T05:06:07Z", "observedGeneration": 1,
        }),
    );
    stage
        .gateway_status(json!({ "conditions": conditions }))
        .await;
    stage
        .policy("more", json!({ "targetRef": { "sectionName": "web" } }))
        .await;
    let namespace = &stage.namespace;
    let both = format!(
        "kuadrant.io/DNSPolicyAffected: Object affected by DNSPolicy [{namespace}/all {namespace}/more]"
    );
    let seen = testkit::eventually(crate::stage::SOON, "both policies", async || {
        let all = stage.gateway_conditions().await;
        if all.contains(&both) {
            Ok(all)
        } else {
            Err(format!("{all:?}"))
        }
    });
    let all = seen.await.unwrap();
    assert!(all.contains(&"Theirs: theirs".to_owned()), "{all:?}");
    assert!(!all.contains(&ours), "{all:?}");
    stage.delete_policy("all").await;
    stage.delete_policy("more").await;
    stage.until_affected(None).await;
    let left = stage.gateway_conditions().await;
    assert!(left.contains(&"Theirs: theirs".to_owned()), "{left:?}");
}

async fn a_gateway_outside_of_the_domain_is_told(home: Home) {
    let stage = Stage::published(WEB, home).await;
    stage.ready("gw-web").await;
    stage.until("all", "Ready", "True/Ready", "").await;
    stage.patch_secret("dns", "example.net").await;
    stage
        .until(
            "all",
            "Enforced",
            "False/DomainNotInGateway",
            "Secret dns, example.net",
        )
        .await;
    assert_eq!(stage.names().await, ["gw-web"]);
    stage.patch_secret("dns", "*.example.org").await;
    stage.until("all", "Enforced", "True/Enforced", "").await;
}

/// DNSRecords `gw-web` and `gw-net`, made before their Secret.
async fn made_before_the_secret(home: Home) -> Stage {
    let mut stage = Stage::open(home).await;
    stage
        .gateway(&["web app.example.org", "net app.example.net"])
        .await;
    stage.reached(&["192.0.2.1"], 1).await;
    let late = json!({ "providerRefs": [{ "name": "late" }] });
    stage.policy("all", late).await;
    stage.run();
    stage.until_record("gw-web", "192.0.2.1").await;
    stage.until_record("gw-net", "192.0.2.1").await;
    stage
}

async fn what_was_made_before_the_secret_and_lies_outside_of_its_domain_goes(home: Home) {
    let stage = made_before_the_secret(home).await;
    stage.secret("late", "example.net").await;
    stage.until_gone("gw-web").await;
    stage.ready("gw-net").await;
    stage.until("all", "Ready", "True/Ready", "").await;
}

async fn what_a_provider_never_let_in_and_lies_outside_of_its_domain_goes(home: Home) {
    let stage = made_before_the_secret(home).await;
    stage.stand("gw-web", "False", "DNSProviderError").await;
    stage.written("gw-web", 2).await;
    stage.secret("late", "example.net").await;
    stage.until_gone("gw-web").await;
    stage.ready("gw-net").await;
    stage.until("all", "Ready", "True/Ready", "").await;
}

async fn a_second_controller_after_the_first_writes_nothing(home: Home) {
    let mut stage = Stage::published(WEB, home).await;
    stage.ready("gw-web").await;
    stage.until("all", "Ready", "True/Ready", "").await;
    stage.until_affected(Some("all")).await;
    stage.stop().await;
    let before = (
        stage.version("all").await,
        stage.records().get("gw-web").await.unwrap(),
        stage.gateways().get("gw").await.unwrap(),
    );
    stage.run();
    // Whatever comes first comes before this.
    let elsewhere = json!({ "targetRef": { "name": "elsewhere" } });
    stage.policy("other", elsewhere).await;
    stage
        .until("other", "Accepted", "False/TargetNotFound", "")
        .await;
    let after = (
        stage.version("all").await,
        stage.records().get("gw-web").await.unwrap(),
        stage.gateways().get("gw").await.unwrap(),
    );
    assert_eq!(after, before);
}
