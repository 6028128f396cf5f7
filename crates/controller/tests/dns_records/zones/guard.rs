//! Reads that lie, and what is held back because of them (P10, D8).

use std::time::Duration;

use api::well_known::annotation;
use dns::Rtype;
use dns::hosted::Holdings;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use provider::{Error, Fault};
use serde_json::json;

use super::house::{crowd, member, run_behind_door, saying, until_ready};
use crate::stage::{Stage, minutes, name};

/// What is left when only the SOA is.
fn emptied(stage: &Stage) -> Holdings {
    let holdings = stage.provider.holdings(&stage.zone);
    let soa = holdings
        .into_iter()
        .filter(|(key, _)| key.rtype == Rtype::SOA);
    soa.collect()
}

/// What is left without the sets and marks of the first records.
fn without(stage: &Stage, records: usize) -> Holdings {
    let gone: Vec<String> = (0..records).map(member).collect();
    let holdings = stage.provider.holdings(&stage.zone).into_iter();
    let left = holdings.filter(|(key, _)| {
        let name = key.name.to_string();
        gone.iter().all(|record| !name.contains(record.as_str()))
    });
    left.collect()
}

#[tokio::test(start_paused = true)]
async fn an_empty_read_makes_nothing_anew_and_deletes_nothing() {
    // D8: everybody is held, and goes on when the zone shows itself again.
    let stage = Stage::open().await;
    crowd(&stage, 20).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 20).await;
    let holdings = stage.provider.holdings(&stage.zone);
    let writes = stage.provider.calls().1;
    door.lie(Some(emptied(&stage)));
    stage.pass_time(minutes(17)).await;
    assert_eq!(saying(&stage, "Held", "True").await.len(), 20);
    assert_eq!(
        stage.condition("r000", "Ready").await.as_deref(),
        Some("False/Held")
    );
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls().1, writes);
    door.lie(None);
    let waited = until_ready(&stage, 20).await;
    assert!(waited <= minutes(16), "{waited:?}");
    assert!(saying(&stage, "Held", "True").await.is_empty());
    assert_eq!(stage.provider.calls().1, writes);
    assert_eq!(stage.provider.holdings(&stage.zone), holdings);
}

#[tokio::test(start_paused = true)]
async fn a_shrunken_read_holds_those_it_left_out_and_nobody_else() {
    // D8, D9, P10: a deletion and an edit go on meanwhile.
    let stage = Stage::open().await;
    crowd(&stage, 20).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 20).await;
    door.lie(Some(without(&stage, 8)));
    stage.pass_time(minutes(17)).await;
    let held: Vec<String> = (0..8).map(member).collect();
    assert_eq!(saying(&stage, "Held", "True").await, held);
    door.lie(None);
    stage.edit("r010", &["r010 60 A 203.0.113.1"]).await;
    stage.delete("r011").await;
    stage.until_gone("r011").await;
    assert_eq!(stage.addresses("r010").as_deref(), Some("60 203.0.113.1"));
    until_ready(&stage, 19).await;
}

/// A zone that was really emptied, with everybody held.
async fn emptied_for_real(records: usize) -> (Stage, controller::Running) {
    let stage = Stage::open().await;
    crowd(&stage, records).await;
    let (running, _) = run_behind_door(&stage);
    until_ready(&stage, records).await;
    stage.provider.delete_zone(&stage.zone);
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    stage.pass_time(minutes(17)).await;
    assert_eq!(saying(&stage, "Held", "True").await.len(), records);
    assert_eq!(stage.sets(), 0);
    (stage, running)
}

#[tokio::test(start_paused = true)]
async fn a_zone_made_anew_is_filled_when_a_person_approves() {
    // D8, D12, P10: record by record.
    let (stage, _running) = emptied_for_real(12).await;
    let message = stage.message("r003", "Held").await;
    let (_, hash) = message.split_once("zonewright.dev/approve: \"").unwrap();
    let (hash, _) = hash.split_once('"').unwrap();
    stage.annotate("r003", annotation::APPROVE, hash).await;
    let waited = stage.until_ready("r003").await;
    assert!(waited < Duration::from_secs(20), "{waited:?}");
    assert_eq!(stage.sets(), 2);
    assert_eq!(saying(&stage, "Held", "True").await.len(), 11);
}

#[tokio::test(start_paused = true)]
async fn everything_in_a_namespace_is_approved_at_once() {
    // P10.
    let (stage, _running) = emptied_for_real(12).await;
    let namespaces: Api<Namespace> = Api::all(stage.client.clone());
    let patch = json!({ "metadata": { "annotations": { annotation::APPROVE: "all" } } });
    let patch = Patch::Merge(patch);
    let params = PatchParams::default();
    let patched = namespaces.patch(&stage.namespace, &params, &patch).await;
    patched.unwrap();
    let waited = until_ready(&stage, 12).await;
    assert!(waited < Duration::from_secs(20), "{waited:?}");
    assert_eq!(stage.sets(), 24);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_does_not_count_as_changed() {
    // P10 with D2: a repair within the bound is not held because it took several tries.
    let stage = Stage::open().await;
    crowd(&stage, 12).await;
    let (_running, _) = run_behind_door(&stage);
    until_ready(&stage, 12).await;
    let failure = || {
        Fault::Fails(Error::Throttled {
            after: Duration::from_secs(5),
        })
    };
    stage.provider.fail_writes((0..3).map(|_| Some(failure())));
    for index in 0..3 {
        stage.tamper(&member(index), &[]);
    }
    stage.pass_time(minutes(17)).await;
    assert!(saying(&stage, "Held", "True").await.is_empty());
    assert_eq!(stage.sets(), 24);
}

#[tokio::test(start_paused = true)]
async fn a_repair_that_meets_another_writer_is_counted_once() {
    // P10 with C8: reading and planning again is not another change.
    let stage = Stage::open().await;
    crowd(&stage, 12).await;
    let (_running, _) = run_behind_door(&stage);
    until_ready(&stage, 12).await;
    stage
        .provider
        .fail_writes((0..3).map(|_| Some(Fault::Fails(Error::Stale))));
    for index in 0..3 {
        stage.tamper(&member(index), &[]);
    }
    stage.pass_time(minutes(17)).await;
    assert!(saying(&stage, "Held", "True").await.is_empty());
    assert_eq!(stage.sets(), 24);
}
