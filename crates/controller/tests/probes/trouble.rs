//! Probes that cannot be run as they are, and what they say about it.

use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use crate::stage::Stage;

const SOON: Duration = Duration::from_secs(3);
const ROUND: Duration = Duration::from_secs(65);

#[tokio::test(start_paused = true)]
async fn a_probe_that_breaks_a_rule_says_which_and_asks_nobody() {
    let stage = Stage::open().await;
    let more = json!({ "hostname": "*.example.org", "interval": "1ms" });
    stage.probe_with("a", 1, more).await;
    stage.pass_time(ROUND).await;
    let status = stage.status("a").await;
    let reason = status.reason.unwrap();
    assert!(
        reason.contains("spec.hostname") && reason.contains("spec.interval"),
        "{reason}"
    );
    assert_eq!((status.healthy, stage.targets.all()), (None, 0));
    let good = json!({ "spec": { "hostname": "app.example.org", "interval": "1m" } });
    stage.patch("a", good).await;
    stage.pass_time(SOON).await;
    let status = stage.status("a").await;
    assert_eq!((status.healthy, status.reason), (Some(true), None));
}

#[tokio::test(start_paused = true)]
async fn headers_come_from_the_secret_as_it_is_when_they_are_sent() {
    // D6.
    let stage = Stage::open().await;
    let more = json!({ "additionalHeadersRef": { "name": "token" } });
    stage.probe_with("a", 1, more).await;
    stage.pass_time(SOON).await;
    let status = stage.status("a").await;
    assert_eq!(
        status.reason.as_deref(),
        Some("Secret token: there is none of this name")
    );
    assert_eq!(
        (status.consecutive_failures, stage.targets.all()),
        (Some(1), 0)
    );

    stage.secret("token", json!({ "Host": "hush" })).await;
    stage.pass_time(ROUND).await;
    let reason = stage.status("a").await.reason.unwrap();
    assert_eq!(
        reason,
        "Secret token: data.Host: is a header that a probe sets itself"
    );

    stage
        .secrets()
        .delete("token", &DeleteParams::default())
        .await
        .unwrap();
    stage
        .secret("token", json!({ "Authorization": "Bearer one" }))
        .await;
    stage.until_healthy("a", true).await;
    let patch = Patch::Merge(json!({ "stringData": { "Authorization": "Bearer two" } }));
    let patched = stage
        .secrets()
        .patch("token", &PatchParams::default(), &patch)
        .await;
    patched.unwrap();
    stage.pass_time(ROUND).await;
    let questions = stage.targets.questions("192.0.2.1");
    let sent: Vec<&str> = questions
        .iter()
        .map(|(_, question)| question.headers["authorization"].to_str().unwrap())
        .collect();
    assert_eq!(sent, ["Bearer one", "Bearer two"]);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_the_peer_kept_can_go() {
    let stage = Stage::open().await;
    stage.probe("a", 1).await;
    let finalizers =
        json!({ "metadata": { "finalizers": ["kuadrant.io/dns-health-check-probe"] } });
    stage.patch("a", finalizers).await;
    stage.delete("a").await;
    stage.pass_time(SOON).await;
    assert!(stage.probes().get_opt("a").await.unwrap().is_none());
}
