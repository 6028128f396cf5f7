//! Health checks: which probes a record has, and what is published of it because of them (D6).

use std::time::Duration;

use api::DnsHealthCheckProbe;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::stage::{Stage, minutes, options};

const BOTH: &[&str] = &["app 60 A 192.0.2.1 192.0.2.2"];
const FIRST: &str = "app-192.0.2.1";
const SECOND: &str = "app-192.0.2.2";
const SOON: Duration = Duration::from_secs(1);

fn checked() -> Value {
    json!({ "healthCheck": { "path": "/healthz", "interval": "30s", "failureThreshold": 2 } })
}

impl Stage {
    fn probes(&self) -> Api<DnsHealthCheckProbe> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn probe_names(&self) -> Vec<String> {
        let probes = self.probes().list(&ListParams::default()).await.unwrap();
        let mut names: Vec<String> = probes.iter().map(ResourceExt::name_any).collect();
        names.sort();
        names
    }

    /// Waits until there are exactly these probes.
    async fn until_probes(&self, names: &[&str]) {
        let began = Instant::now();
        while self.probe_names().await != names {
            let there = self.probe_names().await;
            assert!(began.elapsed() < minutes(1), "{there:?}, not {names:?}");
            self.pass_time(Duration::from_millis(100)).await;
        }
    }

    /// A probe has found something out, as the loop over probes would say.
    async fn says(&self, probe: &str, status: Value) {
        let patch = Patch::Merge(json!({ "status": status }));
        let probes = self.probes();
        let params = PatchParams::default();
        let patched = probes.patch_status(probe, &params, &patch).await;
        patched.unwrap();
    }

    async fn finds(&self, probe: &str, healthy: bool) {
        self.says(probe, json!({ "healthy": healthy })).await;
    }

    async fn until_held(&self, addresses: &str) {
        let began = Instant::now();
        let held = Some(format!("60 {addresses}"));
        while self.addresses("app") != held {
            let there = self.addresses("app");
            assert!(began.elapsed() < minutes(1), "{there:?}, not {held:?}");
            self.pass_time(Duration::from_millis(100)).await;
        }
    }

    /// A record of two addresses, both healthy and published.
    async fn healthy() -> Stage {
        let stage = Stage::running().await;
        stage.create_with("app", checked(), BOTH).await;
        stage.until_probes(&[FIRST, SECOND]).await;
        stage.finds(FIRST, true).await;
        stage.finds(SECOND, true).await;
        stage.until_held("192.0.2.1 192.0.2.2").await;
        stage.until_ready("app").await;
        stage
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_record_is_published_when_its_first_target_is_healthy() {
    // D6.
    let stage = Stage::running().await;
    stage.create_with("app", checked(), BOTH).await;
    stage
        .until("app", "Ready", "False/HealthChecksFailed")
        .await;
    assert_eq!(
        stage.message("app", "Ready").await,
        "Not publishing unhealthy records"
    );
    stage.until_probes(&[FIRST, SECOND]).await;
    stage.pass_time(minutes(20)).await;
    assert_eq!(stage.provider.calls(), (0, 0), "nobody is asked");
    stage.finds(SECOND, true).await;
    stage.until_held("192.0.2.2").await;
    stage.until_ready("app").await;
    let healthy = stage.condition("app", "Healthy").await;
    assert_eq!(healthy.as_deref(), Some("False/SomeChecksPassed"));
    let message = stage.message("app", "Healthy").await;
    assert_eq!(
        message,
        "Not healthy addresses: [192.0.2.1]; not proven yet: [192.0.2.1]"
    );
    stage.finds(FIRST, true).await;
    stage.until_held("192.0.2.1 192.0.2.2").await;
    let healthy = stage.condition("app", "Healthy").await;
    assert_eq!(healthy.as_deref(), Some("True/AllChecksPassed"));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_goes_bad_is_taken_out_at_once_and_comes_back() {
    // D6.
    let stage = Stage::healthy().await;
    stage.pass_time(minutes(1)).await;
    stage.finds(FIRST, false).await;
    stage.pass_time(SOON).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
    stage.until_ready("app").await;
    let message = stage.message("app", "Healthy").await;
    assert_eq!(message, "Not healthy addresses: [192.0.2.1]");
    let published = &stage.status("app").await.endpoints[0].targets;
    assert_eq!(*published, ["192.0.2.2"]);
    stage.finds(FIRST, true).await;
    stage.until_held("192.0.2.1 192.0.2.2").await;
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn what_is_published_stays_when_nothing_is_healthy() {
    // D6: never an empty set.
    let stage = Stage::healthy().await;
    stage.finds(FIRST, false).await;
    stage.until_held("192.0.2.2").await;
    stage.until_ready("app").await;
    stage.finds(SECOND, false).await;
    stage
        .until("app", "Healthy", "False/HealthChecksFailed")
        .await;
    stage.pass_time(minutes(20)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
    stage.until_ready("app").await;
    stage.finds(FIRST, true).await;
    stage.until_held("192.0.2.1").await;
}

#[tokio::test(start_paused = true)]
async fn a_probe_without_a_verdict_takes_nothing_away() {
    let stage = Stage::running().await;
    stage.create("app", BOTH).await;
    stage.until_ready("app").await;
    let writes = stage.provider.calls().1;
    stage.patch("app", json!({ "spec": checked() })).await;
    stage.until_probes(&[FIRST, SECOND]).await;
    stage.pass_time(minutes(5)).await;
    assert_eq!(stage.provider.calls().1, writes);
    stage.until_ready("app").await;
    let healthy = stage.condition("app", "Healthy").await;
    assert_eq!(healthy.as_deref(), Some("False/HealthChecksFailed"));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_leaves_the_record_takes_its_probe_along() {
    // 9.2.4.
    let stage = Stage::healthy().await;
    stage.edit("app", &["app 60 A 192.0.2.2 192.0.2.3"]).await;
    stage.until_probes(&[SECOND, "app-192.0.2.3"]).await;
    stage.until_held("192.0.2.2").await;
    stage.finds("app-192.0.2.3", true).await;
    stage.until_held("192.0.2.2 192.0.2.3").await;
}

#[tokio::test(start_paused = true)]
async fn without_a_health_check_everything_is_back_and_the_probes_are_gone() {
    let stage = Stage::healthy().await;
    stage.finds(FIRST, false).await;
    stage.until_held("192.0.2.2").await;
    stage
        .patch("app", json!({ "spec": { "healthCheck": null } }))
        .await;
    stage.until_held("192.0.2.1 192.0.2.2").await;
    stage.until_probes(&[]).await;
    stage.until_ready("app").await;
    assert_eq!(stage.condition("app", "Healthy").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_record_takes_its_probes_along() {
    let stage = Stage::healthy().await;
    stage.delete("app").await;
    stage.until_gone("app").await;
    stage.until_probes(&[]).await;
    assert_eq!(stage.sets(), 0);
}

#[tokio::test(start_paused = true)]
async fn how_often_a_target_failed_wakes_nobody_and_what_it_is_wakes_one() {
    // C5.
    let stage = Stage::healthy().await;
    stage.create("other", &["other 60 A 192.0.2.1"]).await;
    stage.until_ready("other").await;
    stage.pass_time(minutes(1)).await;
    let versions = (stage.version("app").await, stage.version("other").await);
    let calls = stage.provider.calls();
    for failures in 1..5 {
        stage
            .says(
                FIRST,
                json!({ "consecutiveFailures": failures, "reason": "no" }),
            )
            .await;
        stage.pass_time(SOON).await;
    }
    assert_eq!(
        (stage.version("app").await, stage.version("other").await),
        versions
    );
    assert_eq!(stage.provider.calls(), calls);
    stage.finds(FIRST, false).await;
    stage.pass_time(SOON).await;
    assert_ne!(stage.version("app").await, versions.0);
    assert_eq!(stage.version("other").await, versions.1);
}

#[tokio::test(start_paused = true)]
async fn a_second_address_that_goes_bad_is_not_left_for_later() {
    // 9.2.13.
    let stage = Stage::running().await;
    let three = ["app 60 A 192.0.2.1 192.0.2.2 192.0.2.3"];
    stage.create_with("app", checked(), &three).await;
    let probes = [FIRST, SECOND, "app-192.0.2.3"];
    stage.until_probes(&probes).await;
    for probe in probes {
        stage.finds(probe, true).await;
    }
    stage.until_held("192.0.2.1 192.0.2.2 192.0.2.3").await;
    stage.until_ready("app").await;
    stage.finds(FIRST, false).await;
    stage.until_held("192.0.2.2 192.0.2.3").await;
    stage.until_ready("app").await;
    stage.finds(SECOND, false).await;
    stage.pass_time(SOON).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.3"));
}

#[tokio::test(start_paused = true)]
async fn what_health_changes_is_no_fight_with_anybody() {
    // C10, C7.
    let stage = Stage::healthy().await;
    for turn in 0..10 {
        stage.finds(FIRST, turn % 2 == 1).await;
        let held = if turn % 2 == 1 {
            "192.0.2.1 192.0.2.2"
        } else {
            "192.0.2.2"
        };
        stage.until_held(held).await;
        stage.until_ready("app").await;
    }
    assert_eq!(stage.status("app").await.write_counter, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_target_that_comes_and_goes_does_not_use_up_the_writes() {
    // C7: it changes faster than anything can be seen to be there.
    let stage = Stage::healthy().await;
    for turn in 0..30 {
        stage.finds(FIRST, turn % 2 == 1).await;
        stage.pass_time(SOON).await;
    }
    stage.until_ready("app").await;
    assert_eq!(
        stage.addresses("app").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_somebody_deletes_or_edits_is_as_it_was() {
    let stage = Stage::healthy().await;
    stage
        .probes()
        .delete(FIRST, &DeleteParams::default())
        .await
        .unwrap();
    stage.until_probes(&[FIRST, SECOND]).await;
    assert_eq!(
        stage.addresses("app").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
    let patch =
        Patch::Merge(json!({ "spec": { "port": 80, "additionalHeadersRef": { "name": "x" } } }));
    let patched = stage
        .probes()
        .patch(SECOND, &PatchParams::default(), &patch)
        .await;
    patched.unwrap();
    stage.pass_time(SOON).await;
    let spec = stage.probes().get(SECOND).await.unwrap().spec;
    assert_eq!((spec.port, spec.additional_headers_ref), (Some(443), None));
}

#[tokio::test(start_paused = true)]
async fn another_health_check_is_what_its_probes_ask_for() {
    let stage = Stage::healthy().await;
    let check = json!({ "spec": { "healthCheck": { "path": "/ready", "port": 8443 } } });
    stage.patch("app", check).await;
    stage.pass_time(SOON).await;
    for probe in [FIRST, SECOND] {
        let spec = stage.probes().get(probe).await.unwrap().spec;
        assert_eq!(
            (spec.path.as_deref(), spec.port),
            (Some("/ready"), Some(8443))
        );
    }
    assert_eq!(
        stage.addresses("app").as_deref(),
        Some("60 192.0.2.1 192.0.2.2")
    );
}

#[tokio::test(start_paused = true)]
async fn what_changed_while_nobody_ran_is_seen_at_the_start() {
    let mut stage = Stage::healthy().await;
    stage.stop().await;
    stage.finds(FIRST, false).await;
    stage.run();
    stage.until_held("192.0.2.2").await;
}

#[tokio::test(start_paused = true)]
async fn where_nothing_can_be_checked_everything_is_published_and_it_is_said() {
    let stage = Stage::running().await;
    let mut wildcard = checked();
    wildcard["rootHost"] = json!("*.app.example.org");
    stage
        .create_with("app", wildcard, &["*.app 60 A 192.0.2.1"])
        .await;
    stage.until_ready("app").await;
    stage.until("app", "Healthy", "Unknown/NotChecked").await;
    assert!(stage.message("app", "Healthy").await.contains("a wildcard"));
    stage.until_probes(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn where_the_operator_wants_no_probes_there_are_none() {
    let mut stage = Stage::healthy().await;
    stage.finds(FIRST, false).await;
    stage.until_held("192.0.2.2").await;
    stage.stop().await;
    stage.options.policy.probing.enabled = false;
    stage.run();
    stage.until_probes(&[]).await;
    stage.until_held("192.0.2.1 192.0.2.2").await;
    stage.until("app", "Healthy", "Unknown/NotChecked").await;
}

#[tokio::test(start_paused = true)]
async fn with_retry_never_a_probe_still_wakes_its_record() {
    // C8.
    let mut stage = Stage::open().await;
    stage.options = options();
    stage.options.pace.retry = false;
    stage.run();
    stage.create_with("app", checked(), BOTH).await;
    stage
        .until("app", "Ready", "False/HealthChecksFailed")
        .await;
    stage.until_probes(&[FIRST, SECOND]).await;
    stage.finds(FIRST, true).await;
    stage.until_held("192.0.2.1").await;
}
