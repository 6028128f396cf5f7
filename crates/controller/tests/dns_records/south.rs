//! When things go south: what fails, what is tried again, and what is left alone (C7, C8, C10).

use std::time::Duration;

use dns::hosted::HostedKey;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use provider::{Error, Fault};
use serde_json::json;
use tokio::time::Instant;

use crate::stage::{Stage, minutes, name, options};

const APP: &[&str] = &["app 60 A 192.0.2.1"];

/// Who fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Call {
    Read,
    Write,
}

/// When a failed call is made again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Again {
    /// Between so many seconds and so many.
    Within(u64, u64),
    /// When the zone is read the next time without anybody asking.
    WithTheZone,
    /// When somebody changes something.
    OnChange,
}

/// What a kind of failure comes to.
struct Case {
    error: fn() -> Error,
    call: Call,
    reason: &'static str,
    message: &'static str,
    writes: i64,
    again: Again,
}

const UNFOUND: &str = "Unable to find suitable zone in provider: ";
const WAY: &str = "; correct the Secret or the zone, and this goes on by itself";
const FAILED: &str = "The DNS provider failed to ensure the record: ";
const NO_ZONE: &str = "Secret dns: zone example.org: there is no such zone";
const DENIED: &str = "Secret dns: zone example.org: access is denied: no";
const THROTTLED: &str = "the provider takes no more requests for now";
const REFUSED: &str = "the provider refused: too long";
const UNCLEAR: &str = "there was no clear answer: connection reset";

fn throttled() -> Error {
    let after = Duration::from_secs(90);
    Error::Throttled { after }
}

fn denied() -> Error {
    Error::Denied("no".into())
}

fn refused() -> Error {
    let reason = "too long".to_owned();
    Error::Refused { reason }
}

fn unclear() -> Error {
    Error::Unclear("connection reset".into())
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { error: throttled, call: Call::Read, reason: "ProviderError", message: THROTTLED, writes: 0, again: Again::Within(89, 139) },
    Case { error: || Error::Missing, call: Call::Read, reason: "DNSProviderError", message: NO_ZONE, writes: 0, again: Again::WithTheZone },
    Case { error: denied, call: Call::Read, reason: "DNSProviderError", message: DENIED, writes: 0, again: Again::WithTheZone },
    Case { error: refused, call: Call::Read, reason: "ProviderError", message: REFUSED, writes: 0, again: Again::WithTheZone },
    Case { error: unclear, call: Call::Read, reason: "ProviderError", message: UNCLEAR, writes: 0, again: Again::Within(2, 8) },
    Case { error: throttled, call: Call::Write, reason: "ProviderError", message: THROTTLED, writes: 0, again: Again::Within(89, 139) },
    Case { error: || Error::Missing, call: Call::Write, reason: "DNSProviderError", message: NO_ZONE, writes: 1, again: Again::WithTheZone },
    Case { error: denied, call: Call::Write, reason: "DNSProviderError", message: DENIED, writes: 1, again: Again::OnChange },
    Case { error: refused, call: Call::Write, reason: "ProviderError", message: REFUSED, writes: 1, again: Again::OnChange },
    Case { error: unclear, call: Call::Write, reason: "ProviderError", message: UNCLEAR, writes: 1, again: Again::Within(2, 8) },
];

impl Case {
    fn fail_once(&self, stage: &Stage) {
        let fault = [Some(Fault::Fails((self.error)()))];
        match self.call {
            Call::Read => stage.provider.fail_reads(fault),
            Call::Write => stage.provider.fail_writes(fault),
        }
    }

    fn shown(&self) -> String {
        let message = self.message;
        match (self.reason, self.call) {
            ("DNSProviderError", Call::Read) => format!("{UNFOUND}{message}{WAY}"),
            ("DNSProviderError", Call::Write) => format!("{FAILED}{message}{WAY}"),
            _ => format!("{FAILED}{message}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_failure_says_what_it_is_and_is_tried_again_when_that_can_help() {
    // C7, C8, P5.
    for case in CASES {
        let told = format!("{:?} of a {:?}", (case.error)(), case.call);
        let stage = Stage::running().await;
        case.fail_once(&stage);
        stage.create("app", APP).await;
        let says = format!("False/{}", case.reason);
        stage.until("app", "Ready", &says).await;
        let failed_at = Instant::now();
        assert_eq!(stage.message("app", "Ready").await, case.shown());
        let synchronised = stage.condition("app", "Synchronised").await;
        assert_eq!(synchronised, Some(says), "{told}");
        assert_eq!(stage.message("app", "Synchronised").await, case.shown());
        let status = stage.status("app").await;
        assert_eq!(status.write_counter, Some(case.writes), "{told}");
        let calls = stage.provider.calls();
        let passed = stage.until_passed("app", minutes(20)).await;
        let passed = passed.map(|_| failed_at.elapsed());
        match case.again {
            Again::Within(least, most) => {
                let passed = passed.unwrap_or_else(|| panic!("{told} is not tried again"));
                let allowed = Duration::from_secs(least)..Duration::from_secs(most);
                assert!(allowed.contains(&passed), "{told}: {passed:?}");
                stage.until_ready("app").await;
            }
            Again::WithTheZone => {
                let passed = passed.unwrap_or_else(|| panic!("{told} is not tried again"));
                let allowed = minutes(14)..minutes(16);
                assert!(allowed.contains(&passed), "{told}: {passed:?}");
                stage.until_ready("app").await;
            }
            Again::OnChange => {
                assert_eq!(passed, None, "{told}");
                assert_eq!(stage.provider.calls().1, calls.1, "{told}");
                stage.edit("app", &["app 60 A 192.0.2.2"]).await;
                stage.until_ready("app").await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_only_a_person_can_end_costs_one_call() {
    // C8, C5: what we write about it ourselves does not have it tried again.
    let stage = Stage::running().await;
    let faults = (0..5).map(|_| Some(Fault::Fails(denied())));
    stage.provider.fail_reads(faults);
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    stage.pass_time(minutes(10)).await;
    assert_eq!(stage.provider.calls(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_failed_record_is_tried_again_when_its_secret_changes() {
    // C8, P4.
    let stage = Stage::running().await;
    stage.provider.fail_writes([Some(Fault::Fails(denied()))]);
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let data = json!({ "stringData": { "DOMAIN_NAME": "app.example.org" } });
    stage.patch_secret("dns", data).await;
    let waited = stage.until_ready("app").await;
    assert!(waited < minutes(1), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn what_stays_unclear_is_tried_later_and_later_by_chance() {
    // C8: 5 seconds, then twice that, up to 5 minutes, each shortened by up to a half.
    let stage = Stage::running().await;
    let faults = (0..12).map(|_| Some(Fault::Fails(unclear())));
    stage.provider.fail_reads(faults);
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    let mut odd = 0;
    for attempt in 0..11 {
        let longest = Duration::from_secs(5 << attempt.min(8)).min(minutes(5));
        let waited = stage.until_passed("app", minutes(10)).await.unwrap();
        let shortest = (longest / 2).saturating_sub(Duration::from_millis(300));
        let allowed = shortest..=longest + Duration::from_secs(2);
        assert!(allowed.contains(&waited), "{attempt}: {waited:?}");
        assert_eq!(
            stage.message("app", "Ready").await,
            format!("{FAILED}{UNCLEAR}")
        );
        odd += usize::from(waited + Duration::from_secs(1) < longest);
    }
    assert!(odd > 3, "nobody waits for the full time each time");
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_changed_meanwhile_is_read_and_planned_again_three_times() {
    // C8.
    let stage = Stage::running().await;
    let stale = || Some(Fault::Fails(Error::Stale));
    stage.provider.fail_writes((0..3).map(|_| stale()));
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(stage.status("app").await.write_counter, Some(1));
    assert_eq!(stage.provider.calls(), (4, 4));
    stage.until_ready("app").await;

    stage.provider.fail_writes((0..4).map(|_| stale()));
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    let message = format!("{FAILED}the zone has changed since it was read");
    assert_eq!(stage.message("app", "Ready").await, message);
    assert_eq!(stage.status("app").await.write_counter, Some(0));
    let waited = stage.until_passed("app", minutes(5)).await.unwrap();
    assert!(waited < Duration::from_secs(7), "{waited:?}");
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn with_retry_never_only_a_change_of_the_record_or_its_secret_wakes_it() {
    // C8: the seed's letter.
    for case in CASES {
        let told = format!("{:?} of a {:?}", (case.error)(), case.call);
        for change in ["record", "Secret"] {
            let mut stage = Stage::open().await;
            stage.options.pace.retry = false;
            stage.run();
            case.fail_once(&stage);
            stage.create("app", APP).await;
            let says = format!("False/{}", case.reason);
            stage.until("app", "Ready", &says).await;
            assert_eq!(stage.message("app", "Ready").await, case.shown());
            let queued_at = stage.queued_at("app").await;
            let (reads, writes) = stage.provider.calls();
            stage.pass_time(minutes(60)).await;
            assert_eq!(stage.queued_at("app").await, queued_at, "{told}");
            let (reads, writes) = (
                stage.provider.calls().0 - reads,
                stage.provider.calls().1 - writes,
            );
            assert!(
                (3..=5).contains(&reads),
                "{told}: its zone is read, {reads} times"
            );
            assert_eq!(writes, 0, "{told}");
            if change == "record" {
                stage.edit("app", &["app 60 A 192.0.2.2"]).await;
            } else {
                let data = json!({ "stringData": { "DOMAIN_NAME": "app.example.org" } });
                stage.patch_secret("dns", data).await;
            }
            let waited = stage.until_ready("app").await;
            assert!(waited < minutes(1), "{told}, {change}: {waited:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn with_retry_never_a_change_of_the_zone_does_not_wake_what_has_failed() {
    // C8: the seed's letter.
    let mut stage = Stage::open().await;
    stage.options.pace.retry = false;
    stage.run();
    stage.create("app", APP).await;
    stage.create("other", &["other 60 A 192.0.2.3"]).await;
    stage.until_ready("app").await;
    stage.until_ready("other").await;
    stage.provider.fail_writes([Some(Fault::Fails(refused()))]);
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    stage.tamper("app", &["203.0.113.9"]);
    stage.annotate("other", "zonewright.dev/check", "now").await;
    assert_eq!(stage.until_passed("app", minutes(60)).await, None);
}

#[tokio::test(start_paused = true)]
async fn what_never_sticks_is_written_up_to_the_limit_and_then_left_until_the_spec_changes() {
    // C7.
    let stage = Stage::running().await;
    let limit = i64::from(options().pace.write_limit);
    stage
        .provider
        .fail_writes((0..limit + 2).map(|_| Some(Fault::Ignored)));
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    for writes in 1..=limit {
        let status = stage.status("app").await;
        assert_eq!(status.write_counter, Some(writes));
        stage.until_passed("app", minutes(1)).await.unwrap();
    }
    stage.until("app", "Ready", "False/WriteLimitReached").await;
    assert_eq!(
        stage.condition("app", "Synchronised").await.as_deref(),
        Some("False/WriteLimitReached")
    );
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("written 20 times in a row"), "{message}");
    assert_eq!(stage.status("app").await.write_counter, Some(limit));
    assert_eq!(stage.provider.calls().1, 20);
    stage.annotate("app", "zonewright.dev/check", "now").await;
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, 20);
    assert_eq!(stage.status("app").await.write_counter, Some(limit));

    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(stage.status("app").await.write_counter, Some(1));
    stage.until_ready("app").await;
    assert_eq!(stage.provider.calls().1, 23);
    assert_eq!(stage.status("app").await.write_counter, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_new_generation_counts_from_one() {
    // C7.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes((0..4).map(|_| Some(Fault::Ignored)));
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.until_passed("app", minutes(1)).await.unwrap();
    assert_eq!(stage.status("app").await.write_counter, Some(2));
    stage.pass_time(Duration::from_secs(1)).await;
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.pass_time(Duration::from_secs(1)).await;
    let status = stage.status("app").await;
    assert_eq!(
        (status.observed_generation, status.write_counter),
        (Some(2), Some(1))
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_may_have_happened_counts() {
    // C7, C8: it was made, and nobody could say so.
    let stage = Stage::running().await;
    let fault = Fault::FailsAfterwards(unclear());
    stage.provider.fail_writes([Some(fault)]);
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    assert_eq!(stage.status("app").await.write_counter, Some(1));
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.until_ready("app").await;
    assert_eq!(stage.provider.calls().1, 1);
    assert_eq!(stage.status("app").await.write_counter, Some(0));
}

#[tokio::test(start_paused = true)]
async fn what_others_change_is_repaired_within_fifteen_minutes() {
    // C10.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.pass_time(minutes(3)).await;
    for tampered in [&["203.0.113.9"][..], &["192.0.2.1", "203.0.113.9"]] {
        stage.tamper("app", tampered);
        stage.pass_time(minutes(15)).await;
        assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
        stage.until_ready("app").await;
    }
}

/// Has somebody else change the record three times, and ours put right each time.
async fn fight_three_times(stage: &Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    for fight in 0..3 {
        stage.tamper("app", &["203.0.113.9"]);
        let check = fight.to_string();
        stage.annotate("app", "zonewright.dev/check", &check).await;
        stage
            .until("app", "Ready", "False/AwaitingValidation")
            .await;
        assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
        stage.until_ready("app").await;
    }
    stage.tamper("app", &["203.0.113.9"]);
    stage.annotate("app", "zonewright.dev/check", "more").await;
    stage.until("app", "Ready", "False/Contested").await;
}

#[tokio::test(start_paused = true)]
async fn after_three_fights_in_ten_minutes_a_record_is_left_alone_for_a_while() {
    // C10.
    let stage = Stage::running().await;
    fight_three_times(&stage).await;
    let writes = stage.provider.calls().1;
    assert_eq!(
        stage.message("app", "Ready").await,
        format!(
            "a writer that leaves no mark, or has the same owner id ({}) elsewhere, keeps changing what this record wants; it is left alone for a while: let one of the two give way, or if both have one owner id, give one of them another spec.ownerID",
            stage.status("app").await.owner_id.unwrap()
        )
    );
    assert_eq!(
        stage.condition("app", "Synchronised").await.as_deref(),
        Some("False/Contested")
    );
    stage.pass_time(minutes(9)).await;
    assert_eq!(stage.provider.calls().1, writes);
    assert_eq!(stage.addresses("app").as_deref(), Some("60 203.0.113.9"));
    stage.pass_time(minutes(7)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_contested_record_is_written_when_its_spec_changes_and_goes_when_it_is_deleted() {
    // C10: who edits or deletes it has decided.
    let stage = Stage::running().await;
    fight_three_times(&stage).await;
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    let waited = stage.until_ready("app").await;
    assert!(waited < minutes(1), "{waited:?}");
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));

    let stage = Stage::running().await;
    fight_three_times(&stage).await;
    stage.delete("app").await;
    let deleted = Instant::now();
    stage.until_gone("app").await;
    assert!(deleted.elapsed() < minutes(1), "{:?}", deleted.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_rival_that_leaves_a_mark_is_named() {
    // C10.
    let stage = Stage::running().await;
    let rival = json!({ "rootHost": "app.example.org", "ownerID": "rival1" });
    stage.create("app", APP).await;
    stage
        .create_with("rival", rival, &["app 60 A 192.0.2.7"])
        .await;
    stage.until_ready("app").await;
    stage.until_ready("rival").await;
    for fight in 0..3 {
        stage.tamper("app", &["203.0.113.9"]);
        let check = fight.to_string();
        stage.annotate("app", "zonewright.dev/check", &check).await;
        stage.pass_time(Duration::from_secs(20)).await;
        stage.until_ready("app").await;
    }
    stage.tamper("app", &["203.0.113.9"]);
    stage.annotate("app", "zonewright.dev/check", "more").await;
    stage.until("app", "Ready", "False/Contested").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.starts_with("owner rival1 keeps"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn failing_validation_is_no_fight() {
    // C10, C7.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage
        .provider
        .fail_writes((0..6).map(|_| Some(Fault::Ignored)));
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    for writes in 1..=6 {
        assert_eq!(stage.status("app").await.write_counter, Some(writes));
        assert_eq!(
            stage.condition("app", "Ready").await.as_deref(),
            Some("False/AwaitingValidation")
        );
        stage.until_passed("app", minutes(1)).await.unwrap();
    }
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn one_bad_record_stops_nobody_else() {
    // K4, P11: one that is invalid, one that the provider refuses, one that is fine.
    let stage = Stage::running().await;
    stage.provider.poison(&name("poison.example.org."));
    stage.create("poison", &["poison 60 A 192.0.2.1"]).await;
    stage
        .create("bad", &["bad 60 A 192.0.2.1", "www.bad 60 A none"])
        .await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.until("bad", "Ready", "False/ValidationError").await;
    stage.until("poison", "Ready", "False/ProviderError").await;
    let message = stage.message("bad", "Ready").await;
    assert!(
        message.contains("spec.endpoints[1].targets[0]"),
        "{message}"
    );
    let message = stage.message("poison", "Ready").await;
    assert!(message.contains("poison.example.org."), "{message}");
    assert_eq!(stage.addresses("bad"), None);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_be_decoded_says_so_and_stops_nobody_else() {
    // K4: it was stored when the cluster knew a wider schema.
    let mut stage = Stage::open().await;
    let crds = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
    ));
    let crds: Api<DynamicObject> = Api::all_with(stage.client.clone(), &crds);
    let anything = json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
    });
    let wider = json!([{ "op": "replace",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec", "value": anything }]);
    let wider = Patch::<DynamicObject>::Json(serde_json::from_value(wider).unwrap());
    let how = PatchParams::default();
    crds.patch("dnsrecords.kuadrant.io", &how, &wider)
        .await
        .unwrap();
    let resource = ApiResource::erase::<api::DnsRecord>(&());
    let records: Api<DynamicObject> =
        Api::namespaced_with(stage.client.clone(), &stage.namespace, &resource);
    let odd: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "kuadrant.io/v1alpha1", "kind": "DNSRecord",
        "metadata": { "name": "odd" },
        "spec": { "rootHost": "odd.example.org", "endpoints": 7 },
    }))
    .unwrap();
    records.create(&PostParams::default(), &odd).await.unwrap();
    stage.run();
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let odd = records.get("odd").await.unwrap();
    let ready = &odd.data["status"]["conditions"][0];
    assert_eq!(ready["type"], "Ready", "{:?}", odd.data);
    assert_eq!(ready["reason"], "Undecodable");
    let message = ready["message"].as_str().unwrap();
    assert!(message.contains("spec.endpoints"), "{message}");
    let version = odd.metadata.resource_version;
    stage.pass_time(minutes(30)).await;
    let odd = records.get("odd").await.unwrap();
    assert_eq!(odd.metadata.resource_version, version, "said once");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_made_yet_is_said() {
    let stage = Stage::running().await;
    let writes = stage.provider.calls().1;
    let delegated = json!({ "delegate": true, "providerRef": null });
    stage
        .create_with("far", delegated, &["far 60 A 192.0.2.1"])
        .await;
    stage.until("far", "Ready", "False/NotSupported").await;
    stage.pass_time(minutes(20)).await;
    assert_eq!(stage.provider.calls().1, writes);
    let key = HostedKey::plain(name("far.example.org."), dns::Rtype::A);
    assert!(!stage.provider.holdings(&stage.zone).contains_key(&key));
}
