//! What a deleted policy leaves to the next one, with the collector of each API.

use kube::api::DeleteParams;
use serde_json::json;

use crate::stage::{Home, Stage};

const WEB: &[&str] = &["web app.example.org"];

on_both! {
    /// D1, D7, D8: and the last one takes it along.
    the_next_policy_takes_over_what_a_deleted_one_has_published;
    /// D8.
    what_nobody_would_publish_goes_with_its_policy;
}

async fn the_next_policy_takes_over_what_a_deleted_one_has_published(home: Home) {
    let mut stage = Stage::published(WEB, home).await;
    let uid = stage.until_record("gw-web", "192.0.2.1").await.metadata.uid;
    // However the collector is told to treat what belongs to the policy, and whether it or the heir is first.
    let line = [
        ("all", "one", DeleteParams::background(), true),
        ("one", "two", DeleteParams::foreground(), true),
        ("two", "three", DeleteParams::foreground(), false),
        ("three", "four", DeleteParams::background(), false),
        ("four", "five", DeleteParams::orphan(), false),
    ];
    for (first, next, how, collector_first) in line {
        let (controls, inherits) = (format!("{next} controls"), format!("{next} inherits"));
        stage.policy(next, json!({})).await;
        stage
            .until_owned("gw-web", &[&format!("{first} controls"), &inherits])
            .await;
        if collector_first {
            stage.stop().await;
            stage.delete_policy_as(first, &how).await;
            stage.until_owned("gw-web", &[&inherits]).await;
            stage.run();
        } else {
            stage.delete_policy_as(first, &how).await;
        }
        let record = stage.until_owned("gw-web", &[&controls]).await;
        assert_eq!(record.metadata.uid, uid, "{how:?}");
        assert_eq!(record.metadata.deletion_timestamp, None, "{how:?}");
        stage.until(next, "Accepted", "True/Accepted", "").await;
    }
    assert_eq!(stage.names().await, ["gw-web"]);
    stage.until_affected(Some("five")).await;
    stage.delete_policy("five").await;
    stage.until_gone("gw-web").await;
    stage.until_affected(None).await;
}

async fn what_nobody_would_publish_goes_with_its_policy(home: Home) {
    let stage = Stage::published(WEB, home).await;
    stage.policy("next", json!({})).await;
    stage
        .until_owned("gw-web", &["all controls", "next inherits"])
        .await;
    stage
        .edit("next", json!({ "excludeAddresses": ["/"] }))
        .await;
    stage.until_owned("gw-web", &["all controls"]).await;
    stage.delete_policy("all").await;
    stage.until_gone("gw-web").await;
    stage.until("next", "Accepted", "False/Invalid", "").await;
}
