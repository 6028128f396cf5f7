//! The life of a record: written, looked at, ready, looked at again, gone (C1–C7).

use std::time::Duration;

use serde_json::json;

use crate::stage::{NAMESPACE, Stage, minutes};

#[tokio::test(start_paused = true)]
async fn a_record_is_written_and_ready_after_a_later_look() {
    // C1, C2, C3.
    let stage = Stage::running().await;
    let began = stage.now();
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    assert_eq!(stage.sets(), 2, "the set and its mark");
    assert_eq!(stage.message("app", "Ready").await, "Awaiting Validation");
    assert_eq!(
        stage.condition("app", "Synchronised").await.as_deref(),
        Some("Unknown/AwaitingValidation")
    );
    let status = stage.status("app").await;
    assert_eq!(status.write_counter, Some(1));
    assert_eq!(status.observed_generation, Some(1));
    assert_eq!(status.zone_id.as_deref(), Some("example.org"));
    assert_eq!(status.zone_domain_name.as_deref(), Some("example.org"));
    let queued_at = status.queued_at.unwrap().0;
    assert!(queued_at.duration_since(began).abs() <= jiff::SignedDuration::from_secs(2));
    let wait = api::go_duration::parse(&status.valid_for.unwrap())
        .unwrap()
        .unsigned_abs();
    let drawn = Duration::from_millis(2_500)..=Duration::from_millis(7_500);
    assert!(drawn.contains(&wait), "{wait:?}");

    let (reads, writes) = stage.provider.calls();
    let waited = stage.until_ready("app").await;
    assert!(
        waited + Duration::from_millis(200) >= wait,
        "{waited:?} of {wait:?}"
    );
    assert_eq!(
        stage.provider.calls(),
        (reads + 1, writes),
        "a look of its own"
    );
    assert_eq!(
        stage.condition("app", "Synchronised").await.as_deref(),
        Some("True/ProviderSuccess")
    );
    let status = stage.status("app").await;
    assert_eq!(status.write_counter, Some(0));
    assert_eq!(status.valid_for.as_deref(), Some("14m0s"));
    let _ = NAMESPACE;
}

#[tokio::test(start_paused = true)]
async fn a_record_goes_after_a_look_that_finds_nothing_left() {
    // C4.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    stage.delete("app").await;
    stage
        .until("app", "Ready", "False/ProviderEndpointsDeletion")
        .await;
    assert_eq!(stage.sets(), 0);
    let object = stage.records().get("app").await.unwrap();
    assert_eq!(
        object.metadata.finalizers.unwrap(),
        ["kuadrant.io/dns-record"]
    );
    stage.until_gone("app").await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_before_it_has_expired() {
    // C5: also not when somebody touches the record.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    let calls = stage.provider.calls();
    let version = stage.version("app").await;
    for minute in 1..14 {
        stage
            .patch(
                "app",
                json!({ "metadata": { "labels": { "minute": minute.to_string() } } }),
            )
            .await;
        stage.pass_time(minutes(1)).await;
        assert_eq!(stage.provider.calls(), calls, "minute {minute}");
    }
    let _ = version;
    stage.pass_time(minutes(3)).await;
    assert_eq!(
        stage.provider.calls(),
        (calls.0 + 1, calls.1),
        "looked at again after 15 minutes"
    );
}
