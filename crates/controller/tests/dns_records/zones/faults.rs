//! What goes wrong at providers, one after the other, and what comes of it (D).

use std::sync::Arc;
use std::time::Duration;

use dns::limits::Limits;
use dns::{Rtype, Ttl};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use provider::{Error, Fault, InMemory, ZoneId};
use serde_json::json;

use super::house::{
    Door, Doors, crowd, denied, marks, member, put, remove, run, run_behind_door, saying, unclear,
    until_ready,
};
use crate::stage::{Stage, minutes, name};

fn throttled(after: Duration) -> Fault {
    Fault::Fails(Error::Throttled { after })
}

#[tokio::test(start_paused = true)]
async fn a_throttled_write_is_repeated_when_the_provider_says_so_and_not_before() {
    // D1.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes([Some(throttled(Duration::from_secs(40)))]);
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    assert_eq!(
        stage.message("app", "Ready").await,
        "The DNS provider failed to ensure the record: the provider takes no more requests for now"
    );
    let calls = stage.provider.calls();
    stage.pass_time(Duration::from_secs(38)).await;
    assert_eq!(stage.provider.calls(), calls, "nobody asks meanwhile");
    let waited = stage.until_ready("app").await;
    assert!(waited < Duration::from_secs(32), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn absurd_waits_are_not_waited_for() {
    // D1: between a second and a quarter of an hour, whatever the provider says.
    for after in [
        Duration::ZERO,
        Duration::from_secs(1_000_000_000),
        Duration::MAX,
    ] {
        let stage = Stage::running().await;
        stage.provider.fail_writes([Some(throttled(after))]);
        stage.provider.fail_reads([Some(throttled(after))]);
        stage.create("app", &["app 60 A 192.0.2.1"]).await;
        let waited = stage.until_ready("app").await;
        assert!(waited >= Duration::from_secs(2), "{after:?}: {waited:?}");
        assert!(waited <= minutes(46), "{after:?}: {waited:?}");
        let (reads, writes) = stage.provider.calls();
        assert!(reads <= 5 && writes <= 2, "{reads} reads, {writes} writes");
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_failures_is_survived_later_and_later() {
    // D2.
    let stage = Stage::running().await;
    let failures = || (0..4).map(|_| Some(Fault::Fails(unclear())));
    stage.provider.fail_reads(failures());
    stage.provider.fail_writes(failures());
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    let waited = stage.until_ready("app").await;
    assert!(waited > Duration::from_secs(30), "{waited:?}: it hurries");
    let (reads, writes) = stage.provider.calls();
    assert_eq!(writes, 5);
    assert!(reads <= 12, "{reads} reads");
    assert_eq!(stage.sets(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_written_without_an_answer_is_not_written_twice() {
    // D3: it is read back; no second data, and the status tells the truth.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes([Some(Fault::FailsAfterwards(unclear()))]);
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    assert_eq!(stage.status("app").await.write_counter, Some(1));
    stage.until_ready("app").await;
    assert_eq!(stage.provider.calls().1, 1);
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    assert_eq!(stage.sets(), 2);
    assert_eq!(stage.status("app").await.write_counter, Some(0));
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.sets(), 0, "it is known to be ours");
}

#[tokio::test(start_paused = true)]
async fn what_got_lost_on_the_way_is_written_again_and_does_not_look_done_before() {
    // D4; external-dns D6: a failed apply does not look done.
    let stage = Stage::running().await;
    stage.provider.fail_writes([Some(Fault::Fails(unclear()))]);
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/ProviderError").await;
    assert_eq!(
        stage.condition("app", "Synchronised").await.as_deref(),
        Some("False/ProviderError")
    );
    assert_eq!(stage.sets(), 0);
    assert!(stage.status("app").await.endpoints.is_empty());
    stage.until_ready("app").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    assert_eq!(stage.provider.calls().1, 2);
}

#[tokio::test(start_paused = true)]
async fn a_batch_made_in_part_is_completed_wherever_it_stopped() {
    // D5: two records of two sets each, with their marks: eight changes.
    for made in 0..=8 {
        let stage = Stage::open().await;
        let endpoints = |label: &str| {
            [
                format!("{label} 60 A 192.0.2.1"),
                format!("x.{label} 60 A 192.0.2.2"),
            ]
        };
        for record in ["app", "web"] {
            let endpoints = endpoints(record);
            stage.create(record, &[&endpoints[0], &endpoints[1]]).await;
        }
        let part = || Some(Fault::Partial(made, unclear()));
        stage.provider.fail_writes([part(), part()]);
        let (_running, _) = run_behind_door(&stage);
        until_ready(&stage, 2).await;
        assert_eq!(stage.sets(), 8, "after {made}");
        stage
            .provider
            .fail_writes([Some(Fault::Partial(made, unclear()))]);
        for record in ["app", "web"] {
            stage.delete(record).await;
        }
        for record in ["app", "web"] {
            stage.until_gone(record).await;
        }
        assert_eq!(stage.sets(), 0, "after {made}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_poisoned_record_of_a_hundred_is_found_and_the_others_are_published() {
    // D6, P11; external-dns D8: what was dropped is not ready.
    let stage = Stage::open().await;
    crowd(&stage, 100).await;
    let poisoned = member(37);
    stage
        .provider
        .poison(&name(&format!("{poisoned}.example.org.")));
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 99).await;
    assert_eq!(
        saying(&stage, "Ready", "False").await,
        std::slice::from_ref(&poisoned)
    );
    assert_eq!(
        stage.message(&poisoned, "Ready").await,
        "The DNS provider failed to ensure the record: the provider refused: r037.example.org. A is not allowed here"
    );
    assert_eq!(
        stage.condition(&poisoned, "Synchronised").await.as_deref(),
        Some("False/ProviderError")
    );
    assert_eq!(stage.sets(), 198);
    let batches = door.batches();
    // Two for each halving of a hundred, and the first.
    assert!(batches.len() <= 17, "{batches:?}");
    stage.pass_time(minutes(120)).await;
    let tries = door.batches().len() - batches.len();
    assert_eq!(tries, 0, "C8: not tried again until something changes");
    stage
        .edit(&poisoned, &[&format!("other.{poisoned} 60 A 192.0.2.1")])
        .await;
    until_ready(&stage, 100).await;
}

#[tokio::test(start_paused = true)]
async fn reads_that_lag_behind_writes_change_nothing() {
    // D7: no flapping, nothing made anew.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_reads([None, Some(Fault::Behind(1)), Some(Fault::Behind(1))]);
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    let holdings = stage.provider.holdings(&stage.zone);
    let waited = stage.until_ready("app").await;
    assert!(waited < minutes(2), "{waited:?}");
    assert_eq!(stage.provider.holdings(&stage.zone), holdings);
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes);
    // The same for what goes.
    stage
        .provider
        .fail_reads([Some(Fault::Behind(1)), Some(Fault::Behind(1))]);
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.sets(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_long_night_without_reads_is_not_counted_as_writes() {
    // D2, C7: what could not be read was not written either, and goes on in the morning.
    let stage = Stage::open().await;
    let (_running, door) = run_behind_door(&stage);
    door.fail(Some(unclear));
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.pass_time(minutes(8 * 60)).await;
    assert_eq!(stage.status("app").await.write_counter, Some(0));
    let calls = door.calls();
    assert!(calls <= 250, "{calls} tries in eight hours");
    door.fail(None);
    let waited = stage.until_ready("app").await;
    assert!(waited <= minutes(6), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_cannot_be_read_is_not_an_empty_one() {
    // D9; external-dns D4, D5: a failed or broken list deletes nothing.
    let stage = Stage::open().await;
    crowd(&stage, 12).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 12).await;
    let holdings = stage.provider.holdings(&stage.zone);
    let writes = stage.provider.calls().1;
    door.fail(Some(unclear));
    stage.pass_time(minutes(60)).await;
    stage.until("r000", "Ready", "False/ProviderError").await;
    door.fail(None);
    until_ready(&stage, 12).await;
    assert_eq!(stage.provider.holdings(&stage.zone), holdings);
    assert_eq!(stage.provider.calls().1, writes);
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_spells_otherwise_is_no_difference() {
    // D10; external-dns D1: a TTL floor, case, forms of addresses; and still a real change is seen.
    let mut stage = Stage::open().await;
    stage.provider = Arc::new(InMemory::new(Limits {
        ttl_min: Ttl::from_secs(120).unwrap(),
        ..InMemory::usual_limits()
    }));
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    stage.run();
    let spelled = "app 30 AAAA 2001:DB8:0:0::1 2001:db8::2";
    stage
        .create("app", &[spelled, "x.app 30 CNAME App.Example.ORG"])
        .await;
    stage.until_ready("app").await;
    assert_eq!(
        stage.held("app", Rtype::AAAA).as_deref(),
        Some("120 2001:db8::1 2001:db8::2")
    );
    let writes = stage.provider.calls().1;
    assert_eq!(writes, 1);
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes, "the second plan is empty");
    let later = "app 30 AAAA 2001:db8:0::1 2001:db8::3";
    stage
        .edit("app", &[later, "x.app 30 CNAME app.example.org"])
        .await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    assert_eq!(
        stage.held("app", Rtype::AAAA).as_deref(),
        Some("120 2001:db8::1 2001:db8::3")
    );
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_is_gone_is_reported_and_filled_again_when_it_is_back() {
    // D11: it is never created by us.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    stage.provider.delete_zone(&stage.zone);
    stage.until("app", "Ready", "False/DNSProviderError").await;
    assert_eq!(
        stage.message("app", "Ready").await,
        "Unable to find suitable zone in provider: Secret dns: zone example.org: there is no such zone; correct the Secret or the zone, and this goes on by itself"
    );
    stage.pass_time(minutes(60)).await;
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    let waited = stage.until_ready("app").await;
    assert!(
        waited < minutes(16),
        "{waited:?}: the scheduled read sees it"
    );
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
}

#[tokio::test(start_paused = true)]
async fn another_zone_under_the_same_id_is_not_written_to() {
    // D12: it is looked at before anything is written.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    stage.provider.delete_zone(&stage.zone);
    stage
        .provider
        .create_zone(&stage.zone, &name("example.net."));
    let writes = stage.provider.calls().1;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("example.net"), "{message}");
    assert_eq!(stage.provider.calls().1, writes);
    stage.provider.delete_zone(&stage.zone);
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    stage.until_ready("app").await;
}

async fn aws_secret(stage: &Stage, key: &str) {
    let patch = json!({ "stringData": { "AWS_ACCESS_KEY_ID": key } });
    let secrets: kube::Api<Secret> = stage.secrets();
    let patched = secrets
        .patch("aws", &PatchParams::default(), &Patch::Merge(patch))
        .await;
    patched.unwrap();
}

#[tokio::test(start_paused = true)]
async fn credentials_that_are_rotated_are_used_at_once_and_the_old_ones_no_more() {
    // D14.
    let mut stage = Stage::open().await;
    stage.zone = ZoneId("Z0123456789ABCDEFGHIJ".to_owned());
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    stage
        .typed_secret(
            "aws",
            "kuadrant.io/aws",
            &[
                ("ZONE_ID", "Z0123456789ABCDEFGHIJ"),
                ("DOMAIN_NAME", "example.org"),
                ("AWS_ACCESS_KEY_ID", "old"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
                ("AWS_REGION", "eu-west-1"),
            ],
        )
        .await;
    let (old, new) = (Door::new(&stage.provider), Door::new(&stage.provider));
    let opened = std::sync::Mutex::new(vec![Arc::clone(&new), Arc::clone(&old)]);
    let doors = Doors(Box::new(move |_| opened.lock().unwrap().pop().unwrap()));
    let _running = run(&stage, stage.client.clone(), doors);
    let with = json!({ "providerRef": { "name": "aws" } });
    stage
        .create_with("app", with, &["app 60 A 192.0.2.1"])
        .await;
    stage.until_ready("app").await;
    let calls = old.calls();
    assert_eq!(new.calls(), 0);
    aws_secret(&stage, "new").await;
    stage.pass_time(Duration::from_secs(5)).await;
    assert!(new.calls() > 0, "within a pass");
    stage.pass_time(minutes(60)).await;
    assert_eq!(old.calls(), calls, "what is no longer needed is let go");
    stage.edit("app", &["app 60 A 192.0.2.2"]).await;
    stage.pass_time(Duration::from_secs(20)).await;
    stage.until_ready("app").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.2"));
}

#[tokio::test(start_paused = true)]
async fn revoked_credentials_never_look_like_missing_records_and_come_back_by_themselves() {
    // D15, C8: the scheduled read of the zone wakes whom it had refused.
    let stage = Stage::open().await;
    crowd(&stage, 12).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 12).await;
    let holdings = stage.provider.holdings(&stage.zone);
    door.fail(Some(denied));
    stage.until("r000", "Ready", "False/DNSProviderError").await;
    stage.pass_time(minutes(1)).await;
    assert_eq!(saying(&stage, "Ready", "False").await.len(), 12);
    assert_eq!(
        stage.message("r000", "Ready").await,
        "Unable to find suitable zone in provider: Secret dns: zone example.org: access is denied: the key is not valid; correct the Secret or the zone, and this goes on by itself"
    );
    let calls = door.calls();
    stage.pass_time(minutes(60)).await;
    let tries = door.calls() - calls;
    assert!(tries <= 5, "{tries} tries in an hour");
    door.fail(None);
    let waited = until_ready(&stage, 12).await;
    assert!(waited <= minutes(16), "{waited:?}");
    assert_eq!(stage.provider.holdings(&stage.zone), holdings);
}

#[tokio::test(start_paused = true)]
async fn credentials_that_only_read_are_told_so_once() {
    // D15: scope reduced. Reading works, so nothing recovers by being read.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes((0..50).map(|_| Some(Fault::Fails(denied()))));
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let writes = stage.provider.calls().1;
    stage.pass_time(minutes(10)).await;
    let tries = stage.provider.calls().1 - writes;
    assert!(tries <= 2, "{tries} tries in ten minutes");
    assert_eq!(stage.sets(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_only_said_to_be_made_is_not_ready_and_is_counted() {
    // D18, C7.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes((0..3).map(|_| Some(Fault::Ignored)));
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    let mut counters = Vec::new();
    while stage.condition("app", "Ready").await.as_deref() != Some("True/ProviderSuccess") {
        let counter = stage.status("app").await.write_counter.unwrap_or_default();
        if counters.last() != Some(&counter) {
            counters.push(counter);
        }
        assert!(counters.len() < 10, "{counters:?}");
        stage.pass_time(Duration::from_millis(200)).await;
    }
    assert!(counters.ends_with(&[1, 2, 3, 4]), "{counters:?}");
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    // For ever, it stops at the limit.
    let stage = Stage::running().await;
    stage
        .provider
        .fail_writes((0..100).map(|_| Some(Fault::Ignored)));
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until("app", "Ready", "False/WriteLimitReached").await;
    assert_eq!(stage.provider.calls().1, 20);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_edits_by_hand_is_repaired_when_it_is_next_looked_at() {
    // D19, C10.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    let queued_at = stage.now();
    stage.tamper("app", &["203.0.113.1", "192.0.2.1"]);
    while stage.addresses("app").as_deref() != Some("60 192.0.2.1") {
        assert!(stage.now().duration_since(queued_at) < SignedDuration::from_mins(16));
        stage.pass_time(Duration::from_secs(1)).await;
    }
    stage.until_ready("app").await;
    stage.tamper("app", &[]);
    stage.pass_time(minutes(16)).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
}

#[tokio::test(start_paused = true)]
async fn data_without_its_mark_is_kept_and_the_record_says_what_to_do() {
    // D20.
    let stage = Stage::running().await;
    stage.create("app", &["app 60 A 192.0.2.1"]).await;
    stage.until_ready("app").await;
    let mark = marks(&stage).remove(0);
    remove(&stage, &mark);
    stage.until("app", "Ready", "False/OwnerConflict").await;
    assert_eq!(
        stage.condition("app", "Conflicted").await.as_deref(),
        Some("True/OwnerConflict")
    );
    assert_eq!(
        stage.message("app", "Ready").await,
        "app.example.org. A is there already and nobody has marked it as theirs; remove it at the provider, and this goes on by itself"
    );
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.tamper("app", &[]);
    let waited = stage.until_ready("app").await;
    assert!(waited <= minutes(16), "{waited:?}");
    assert_eq!(stage.condition("app", "Conflicted").await, None);
    assert_eq!(stage.sets(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_type_that_we_do_not_manage_still_takes_the_place_of_a_cname() {
    // external-dns D12: nothing is even tried.
    let stage = Stage::running().await;
    put(&stage, "app", "60 MX 10 mail.example.org.");
    stage
        .create("app", &["app 60 CNAME other.example.org"])
        .await;
    stage.until("app", "Ready", "False/OwnerConflict").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("beside the MX"), "{message}");
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, 0);
    assert!(stage.held("app", Rtype::MX).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_name_too_long_for_a_mark_beside_it_is_marked_all_the_same() {
    // external-dns D7: no set is ever unowned because its mark has no room.
    let stage = Stage::running().await;
    let label = "a".repeat(60);
    stage
        .create(&label, &[&format!("{label} 60 A 192.0.2.1")])
        .await;
    stage.until_ready(&label).await;
    assert_eq!(marks(&stage).len(), 1);
    stage
        .edit(&label, &[&format!("{label} 60 A 192.0.2.2")])
        .await;
    stage.pass_time(Duration::from_secs(1)).await;
    stage.until_ready(&label).await;
    assert_eq!(stage.addresses(&label).as_deref(), Some("60 192.0.2.2"));
    stage.delete(&label).await;
    stage.until_gone(&label).await;
    assert_eq!(stage.sets(), 0);
}
