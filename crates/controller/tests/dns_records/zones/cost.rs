//! What records cost at the provider: many of them little, idle ones next to nothing (P11).

use std::sync::Arc;
use std::time::Duration;

use dns::limits::{Limits, Load};
use provider::{InMemory, ZoneId};
use serde_json::json;
use testkit::valve::Valve;

use super::house::{Door, Doors, crowd, run, run_behind_door, unclear, until_ready};
use crate::stage::{Stage, minutes, name};

#[tokio::test(start_paused = true)]
async fn two_hundred_records_at_once_cost_a_few_reads_and_a_few_writes() {
    // P11. Whether they took effect is looked at by all of them in shared reads: one each second at most, over the five
    // seconds in which their waits end.
    let stage = Stage::open().await;
    crowd(&stage, 200).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 200).await;
    let (reads, writes) = stage.provider.calls();
    assert!(reads <= 8, "{reads} reads");
    assert!(writes <= 3, "{writes} writes: {:?}", door.batches());
    assert_eq!(stage.sets(), 400);
}

#[tokio::test(start_paused = true)]
async fn batches_are_as_large_as_the_provider_takes_them_and_no_larger() {
    // P11: in the provider's own limits. A set and its mark are two, and stay together.
    let mut stage = Stage::open().await;
    stage.provider = Arc::new(InMemory::new(Limits {
        batch_max: Load {
            count: 51,
            octets: usize::MAX,
        },
        ..InMemory::usual_limits()
    }));
    stage
        .provider
        .create_zone(&stage.zone, &name("example.org."));
    crowd(&stage, 200).await;
    let (_running, door) = run_behind_door(&stage);
    until_ready(&stage, 200).await;
    let batches = door.batches();
    assert!(batches.iter().all(|size| *size <= 50), "{batches:?}");
    assert!(
        batches.iter().all(|size| size % 2 == 0),
        "a name is not divided: {batches:?}"
    );
    assert!(batches.len() <= 10, "{batches:?}");
}

#[tokio::test(start_paused = true)]
async fn a_day_without_changes_costs_one_read_in_fifteen_minutes_and_no_write() {
    // P11, C3. Each record says once in fifteen minutes that it was looked at, and nothing else is written anywhere.
    let stage = Stage::open().await;
    crowd(&stage, 20).await;
    let valve = Valve::open();
    let door = Door::new(&stage.provider);
    let _running = run(&stage, valve.client(&stage.client), Doors::one(&door));
    until_ready(&stage, 20).await;
    let (reads, writes) = stage.provider.calls();
    let statuses = valve.writes();
    stage.pass_time(minutes(24 * 60)).await;
    let (reads_later, writes_later) = stage.provider.calls();
    assert_eq!(writes_later, writes);
    let looks = reads_later - reads;
    assert!((94..=97).contains(&looks), "{looks} reads in a day");
    let reported = valve.writes() - statuses;
    assert!(reported <= 20 * 97, "{reported} statuses in a day");
}

async fn second_zone(stage: &Stage) -> ZoneId {
    let zone = ZoneId("example.net".to_owned());
    stage.provider.create_zone(&zone, &name("example.net."));
    stage
        .secret(
            "net",
            &[("ZONE_ID", "example.net"), ("DOMAIN_NAME", "example.net")],
        )
        .await;
    let spec = json!({
        "rootHost": "app.example.net",
        "providerRef": { "name": "net" },
        "endpoints": [{
            "dnsName": "app.example.net", "recordTTL": 60, "recordType": "A", "targets": ["192.0.2.9"],
        }],
    });
    stage.create_with("net", spec, &[]).await;
    zone
}

#[tokio::test(start_paused = true)]
async fn a_slow_zone_does_not_delay_another() {
    // P11, D21: one writer for each zone.
    let stage = Stage::open().await;
    let (slow, fast) = (Door::new(&stage.provider), Door::new(&stage.provider));
    slow.slow_down(minutes(5));
    let doors = vec![
        ("example.org", Arc::clone(&slow)),
        ("example.net", Arc::clone(&fast)),
    ];
    let _running = run(&stage, stage.client.clone(), Doors::by_zone(doors));
    crowd(&stage, 20).await;
    second_zone(&stage).await;
    let waited = stage.until_ready("net").await;
    assert!(waited < Duration::from_secs(15), "{waited:?}");
    assert!(stage.addresses("r000").is_none());
    until_ready(&stage, 21).await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_zone_does_not_delay_another() {
    // P11, D2.
    let stage = Stage::open().await;
    let (broken, fine) = (Door::new(&stage.provider), Door::new(&stage.provider));
    broken.fail(Some(unclear));
    let doors = vec![
        ("example.org", Arc::clone(&broken)),
        ("example.net", Arc::clone(&fine)),
    ];
    let _running = run(&stage, stage.client.clone(), Doors::by_zone(doors));
    crowd(&stage, 20).await;
    second_zone(&stage).await;
    let waited = stage.until_ready("net").await;
    assert!(waited < Duration::from_secs(15), "{waited:?}");
    let calls = broken.calls();
    stage.pass_time(minutes(60)).await;
    let tries = broken.calls() - calls;
    // Twenty records come back every few minutes, and share reads: at most one each second, far fewer than records.
    assert!(tries <= 20 * 24, "{tries} tries in an hour");
    broken.fail(None);
    until_ready(&stage, 21).await;
}
