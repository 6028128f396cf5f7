//! The life of a record: written, looked at, ready, looked at again, gone (C1–C7).

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams};
use provider::{Error, Fault};
use serde_json::json;

use crate::stage::{Stage, minutes};
use crate::weather::{Sky, Weather};

const APP: &[&str] = &["app 60 A 192.0.2.1"];

#[tokio::test(start_paused = true)]
async fn a_record_is_written_and_ready_after_a_later_look() {
    // C1, C2, C3.
    let stage = Stage::running().await;
    let began = stage.now();
    stage.create("app", APP).await;
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
    assert!(queued_at.duration_since(began).abs() <= SignedDuration::from_secs(2));
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
}

#[tokio::test(start_paused = true)]
async fn a_record_that_changes_while_it_waits_is_written_at_once() {
    // C3, C5.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.pass_time(Duration::from_millis(100)).await;
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.pass_time(Duration::from_millis(200)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
    let reads = stage.provider.calls().0;
    stage.until_ready("app").await;
    assert_eq!(stage.provider.calls().0, reads + 1, "a look of its own");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_changes_while_it_waits_for_a_look_is_written_at_once() {
    // C3, P11: the zone is looked at once a second, and what was written is to be seen sooner.
    let mut stage = Stage::open().await;
    stage.options.validation = Duration::from_millis(100);
    stage.run();
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.pass_time(Duration::from_millis(300)).await;
    let reads = stage.provider.calls().0;
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.pass_time(Duration::from_millis(100)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
    assert_eq!(stage.provider.calls().0, reads, "nobody has looked yet");
    stage.until_ready("app").await;
    assert_eq!(stage.status("app").await.observed_generation, Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_deleted_while_it_waits_for_a_look_goes() {
    // C4.
    let mut stage = Stage::open().await;
    stage.options.validation = Duration::from_millis(100);
    stage.run();
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.pass_time(Duration::from_millis(300)).await;
    stage.delete("app").await;
    stage.pass_time(Duration::from_millis(100)).await;
    assert_eq!(stage.sets(), 0);
    stage.until_gone("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_wants_nothing_else_proves_nothing() {
    // C3: what was written before is still to be seen.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    let reads = stage.provider.calls().0;
    stage.pass_time(Duration::from_millis(100)).await;
    stage.edit("app", &["app 60 A 192.0.2.1 192.0.2.1"]).await;
    stage.until_ready("app").await;
    assert_eq!(stage.status("app").await.observed_generation, Some(2));
    assert_eq!(stage.provider.calls().0, reads + 1, "a look of its own");
}

#[tokio::test(start_paused = true)]
async fn a_record_goes_after_a_look_that_finds_nothing_left() {
    // C4.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
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
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let calls = stage.provider.calls();
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
    stage.pass_time(minutes(3)).await;
    assert_eq!(
        stage.provider.calls(),
        (calls.0 + 1, calls.1),
        "looked at again after 15 minutes"
    );
}

#[tokio::test(start_paused = true)]
async fn a_first_pass_that_fails_writes_all_three_fields_too() {
    // C1.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_reads([Some(Fault::Fails(Error::Missing))]);
    stage.create("app", APP).await;
    stage
        .create_with(
            "lost",
            json!({ "providerRef": { "name": "nobody" } }),
            &["lost 60 A 192.0.2.1"],
        )
        .await;
    for record in ["app", "lost"] {
        stage.until(record, "Ready", "False/DNSProviderError").await;
        let status = stage.status(record).await;
        assert_eq!(status.write_counter, Some(0), "{record}");
        assert_eq!(status.valid_for.as_deref(), Some("0s"), "{record}");
        assert!(status.queued_at.is_some(), "{record}");
        assert_eq!(status.observed_generation, Some(1), "{record}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_record_waits_for_a_time_of_its_own() {
    // C2.
    let stage = Stage::running().await;
    let records: Vec<String> = (0..40).map(|index| format!("r{index}")).collect();
    for record in &records {
        let endpoint = format!("{record} 60 A 192.0.2.1");
        stage.create(record, &[&endpoint]).await;
    }
    let mut waits = BTreeSet::new();
    for record in &records {
        stage
            .until(record, "Ready", "False/AwaitingValidation")
            .await;
        let text = stage.status(record).await.valid_for.unwrap();
        let wait = api::go_duration::parse(&text).unwrap();
        let least = SignedDuration::from_millis(2_500);
        assert!((least..=least * 3).contains(&wait), "{record}: {text}");
        waits.insert(wait);
    }
    assert!(waits.len() > 35, "{waits:?}");
    let spread = *waits.last().unwrap() - *waits.first().unwrap();
    assert!(spread > SignedDuration::from_secs(3), "{spread:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_written_and_is_not_there_is_written_again_and_counted() {
    // C3, C7: the provider says that it is done, and the look says that it is not.
    let stage = Stage::running().await;
    stage.provider.fail_writes([Some(Fault::Ignored)]);
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(stage.addresses("app"), None);
    stage.until_passed("app", minutes(1)).await.unwrap();
    assert_eq!(
        stage.condition("app", "Ready").await.as_deref(),
        Some("False/AwaitingValidation")
    );
    assert_eq!(stage.status("app").await.write_counter, Some(2));
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.until_ready("app").await;
    assert_eq!(stage.status("app").await.write_counter, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_look_that_is_behind_makes_nothing_ready() {
    // C3.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_reads([None, Some(Fault::Behind(1)), Some(Fault::Behind(1))]);
    stage.create("app", APP).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    for writes in [2, 3] {
        stage.until_passed("app", minutes(1)).await.unwrap();
        let status = stage.status("app").await;
        assert_eq!(status.write_counter, Some(writes));
        assert_eq!(
            stage.condition("app", "Ready").await.as_deref(),
            Some("False/AwaitingValidation")
        );
    }
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn the_finalizer_stays_until_a_look_finds_nothing_left() {
    // C4.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage
        .provider
        .fail_writes([Some(Fault::Ignored), Some(Fault::Ignored)]);
    stage.delete("app").await;
    for writes in [1, 2, 3] {
        if writes == 1 {
            stage
                .until("app", "Ready", "False/ProviderEndpointsDeletion")
                .await;
        } else {
            stage.until_passed("app", minutes(1)).await.unwrap();
        }
        let object = stage.records().get("app").await.unwrap();
        let status = object.status.unwrap();
        assert_eq!(status.write_counter, Some(writes));
        let kept = object.metadata.finalizers.unwrap();
        assert_eq!(kept, ["kuadrant.io/dns-record"]);
    }
    assert_eq!(stage.sets(), 0);
    stage.until_gone("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_record_that_was_never_published_goes_at_once() {
    // C4.
    let stage = Stage::running().await;
    let nobody = json!({ "providerRef": { "name": "nobody" } });
    stage.create_with("app", nobody, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let object = stage.records().get("app").await.unwrap();
    assert_eq!(object.metadata.finalizers, None);
    stage.delete("app").await;
    assert!(stage.records().get_opt("app").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn each_cause_of_a_full_pass_brings_one() {
    // C5.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let approve = "zonewright.dev/approve";
    for cause in ["spec", "Secret", "check", "approve", "abandon", "Namespace"] {
        stage.pass_time(minutes(2)).await;
        let before = stage.queued_at("app").await;
        match cause {
            "spec" => stage.edit("app", &["app 60 A 192.0.2.2"]).await,
            "Secret" => {
                let data = json!({ "stringData": { "DOMAIN_NAME": "app.example.org" } });
                stage.patch_secret("dns", data).await;
            }
            "check" => stage.annotate("app", "zonewright.dev/check", "1").await,
            "approve" => stage.annotate("app", approve, "a hash").await,
            "abandon" => {
                let abandon = "zonewright.dev/abandon";
                stage.annotate("app", abandon, "true").await;
            }
            "Namespace" => {
                let namespaces: Api<Namespace> = Api::all(stage.client.clone());
                let all = json!({ "metadata": { "annotations": { approve: "all" } } });
                let (how, all) = (PatchParams::default(), Patch::Merge(all));
                namespaces
                    .patch(&stage.namespace, &how, &all)
                    .await
                    .unwrap();
            }
            other => panic!("{other}"),
        }
        stage.pass_time(Duration::from_secs(2)).await;
        assert_ne!(stage.queued_at("app").await, before, "{cause}");
        stage.until_ready("app").await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_for_a_check_gets_a_look_now() {
    // C5.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.pass_time(minutes(1)).await;
    stage.tamper("app", &["203.0.113.9"]);
    let (reads, writes) = stage.provider.calls();
    stage.annotate("app", "zonewright.dev/check", "now").await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(stage.provider.calls(), (reads + 1, writes + 1));
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
}

#[tokio::test(start_paused = true)]
async fn nothing_else_causes_a_call_or_a_write() {
    // C5: neither what people do to other parts of the record nor what we write ourselves.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let calls = stage.provider.calls();
    let version = stage.version("app").await;
    stage.pass_time(minutes(2)).await;
    assert_eq!(stage.version("app").await, version, "its own status write");
    let label = json!({ "metadata": { "labels": { "team": "web" } } });
    let annotation = json!({ "metadata": { "annotations": { "team": "web" } } });
    for patch in [label, annotation] {
        stage.patch("app", patch.clone()).await;
        let version = stage.version("app").await;
        stage.pass_time(minutes(2)).await;
        assert_eq!(stage.version("app").await, version, "{patch}");
    }
    stage
        .patch_status("app", json!({ "healthCheck": {} }))
        .await;
    stage
        .secret("other", &[("ZONE_ID", "o"), ("DOMAIN_NAME", "o.test")])
        .await;
    let version = stage.version("app").await;
    stage.pass_time(minutes(2)).await;
    assert_eq!(stage.version("app").await, version);
    assert_eq!(stage.provider.calls(), calls);
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_was_taken_away_is_put_back_without_asking_the_provider() {
    // C5: what a pass does that is not full.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let calls = stage.provider.calls();
    let before = stage.queued_at("app").await;
    stage
        .patch("app", json!({ "metadata": { "finalizers": null } }))
        .await;
    stage.pass_time(minutes(1)).await;
    let object = stage.records().get("app").await.unwrap();
    let kept = object.metadata.finalizers.unwrap_or_default();
    assert_eq!(kept, ["kuadrant.io/dns-record"]);
    assert_eq!(stage.provider.calls(), calls);
    assert_eq!(stage.queued_at("app").await, before);
    stage.until_passed("app", minutes(15)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_earlier_due_time_stands() {
    // C5, C6: what a person wrote is obeyed, and who looks in between postpones nothing.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let queued_at = stage.queued_at("app").await;
    stage
        .patch_status("app", json!({ "validFor": "10m" }))
        .await;
    stage.pass_time(minutes(5)).await;
    let nudged = queued_at - SignedDuration::from_secs(1);
    stage
        .patch_status("app", json!({ "queuedAt": nudged.to_string() }))
        .await;
    stage.pass_time(Duration::from_secs(5)).await;
    assert_eq!(stage.queued_at("app").await, nudged, "obeyed");
    let waited = stage.until_passed("app", minutes(30)).await.unwrap();
    let since = waited + minutes(5) + Duration::from_secs(5);
    assert!((minutes(10)..minutes(11)).contains(&since), "{since:?}");
    let status = stage.status("app").await;
    assert_eq!(status.valid_for.as_deref(), Some("14m0s"), "overwritten");
}

#[tokio::test(start_paused = true)]
async fn hand_edits_of_the_times_wake_a_record() {
    // C6.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let at = |minutes: i64| (stage.now() + SignedDuration::from_mins(minutes)).to_string();
    let cases = [
        ("unreadable", json!({ "validFor": "for a while" })),
        ("over", json!({ "validFor": "0s" })),
        ("negative", json!({ "validFor": "-5m" })),
        ("long ago", json!({ "queuedAt": at(-60) })),
        ("in a year", json!({ "queuedAt": at(365 * 24 * 60) })),
    ];
    for (case, edit) in cases {
        stage.pass_time(minutes(1)).await;
        stage.patch_status("app", edit).await;
        stage.pass_time(Duration::from_secs(2)).await;
        let age = stage.now().duration_since(stage.queued_at("app").await);
        let recent = SignedDuration::ZERO..SignedDuration::from_secs(4);
        assert!(recent.contains(&age), "{case}: {age:?}");
        let status = stage.status("app").await;
        assert_eq!(status.valid_for.as_deref(), Some("14m0s"), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_time_that_a_person_wrote_is_obeyed_once() {
    // C6.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.patch_status("app", json!({ "validFor": "1h" })).await;
    let waited = stage.until_passed("app", minutes(120)).await.unwrap();
    assert!((minutes(60)..=minutes(76)).contains(&waited), "{waited:?}");
    assert_eq!(
        stage.status("app").await.valid_for.as_deref(),
        Some("14m0s")
    );
}

#[tokio::test(start_paused = true)]
async fn the_gauge_shows_how_often_a_record_was_written() {
    // C9.
    let stage = Stage::running().await;
    stage.provider.fail_writes([Some(Fault::Ignored)]);
    stage.create("app", APP).await;
    let shown = |writes| {
        let name = "dns_provider_write_counter";
        format!("{name}{{dns_record_name=\"app\",dns_record_namespace=\"web\"}} {writes}\n")
    };
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert!(stage.measured().contains(&shown(1)), "{}", stage.measured());
    stage.until_passed("app", minutes(1)).await.unwrap();
    stage.pass_time(Duration::from_secs(1)).await;
    assert!(stage.measured().contains(&shown(2)), "{}", stage.measured());
    stage.until_ready("app").await;
    stage.pass_time(Duration::from_secs(1)).await;
    assert!(stage.measured().contains(&shown(0)), "{}", stage.measured());
    stage.delete("app").await;
    stage.until_gone("app").await;
    stage.pass_time(Duration::from_secs(1)).await;
    let measured = stage.measured();
    assert!(!measured.contains("dns_record_name=\"app\""), "{measured}");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_could_not_be_reported_is_reported_later() {
    // C3, C5: the record does not stay ready although it has just been written.
    let mut stage = Stage::open().await;
    let sky = Sky::new();
    stage.way = sky.client(&stage.client);
    stage.run();
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.tamper("app", &["203.0.113.9"]);
    sky.turn(Weather::Refusing("dnsrecords/app/status", 500, "not now"));
    stage.annotate("app", "zonewright.dev/check", "now").await;
    stage.pass_time(Duration::from_secs(2)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    sky.turn(Weather::Fair);
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_repair_that_could_not_be_reported_is_reported_later() {
    // C3, C5: the same when nobody asked for it.
    let mut stage = Stage::open().await;
    let sky = Sky::new();
    stage.way = sky.client(&stage.client);
    stage.run();
    stage.create("app", APP).await;
    stage.create("other", &["other 60 A 192.0.2.3"]).await;
    stage.until_ready("app").await;
    stage.until_ready("other").await;
    stage.tamper("app", &["203.0.113.9"]);
    sky.turn(Weather::Refusing("dnsrecords/app/status", 500, "not now"));
    // The look of the other one shows it.
    stage.annotate("other", "zonewright.dev/check", "now").await;
    stage.pass_time(Duration::from_secs(2)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    sky.turn(Weather::Fair);
    let waited = stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert!(waited < minutes(1), "{waited:?}");
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_what_had_failed_is_tried_and_what_was_right_is_left_alone() {
    // C5.
    let mut stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let denied = Error::Denied("no".into());
    stage.provider.fail_writes([Some(Fault::Fails(denied))]);
    stage.create("other", &["other 60 A 192.0.2.3"]).await;
    stage
        .until("other", "Ready", "False/DNSProviderError")
        .await;
    let version = stage.version("app").await;
    stage.stop().await;
    stage.run();
    stage.settled().await;
    stage.until_ready("other").await;
    assert_eq!(stage.version("app").await, version);
}
