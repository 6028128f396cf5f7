//! Secrets that name no zone: the provider is asked which of its zones a host is in (P2).

use provider::ZoneId;
use serde_json::json;

use crate::stage::{Stage, minutes, name};

/// A Secret `any` that names no zone, and zones of these names, besides `example.org`.
async fn finding(zones: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::open().await;
    stage.options.policy.discovery = true;
    for (id, apex) in zones {
        let id = ZoneId((*id).to_owned());
        stage.provider.create_zone(&id, &name(apex));
    }
    stage.secret("any", &[]).await;
    stage.run();
    stage
}

async fn create(stage: &Stage, record: &str) {
    let any = json!({ "providerRef": { "name": "any" } });
    let endpoint = format!("{record} 60 A 192.0.2.1");
    stage.create_with(record, any, &[&endpoint]).await;
}

#[tokio::test(start_paused = true)]
async fn a_record_is_in_the_zone_with_the_longest_name() {
    let zones = [
        ("below", "eu.example.org."),
        ("beside", "us.example.org."),
        ("above", "org."),
    ];
    let stage = finding(&zones).await;
    for (record, zone) in [("app", "example.org"), ("app.eu", "below"), ("eu", "below")] {
        create(&stage, record).await;
        stage.until_ready(record).await;
        assert!(stage.is_in(zone, record), "{record}");
        assert_eq!(stage.status(record).await.zone_id.as_deref(), Some(zone));
    }
}

#[tokio::test(start_paused = true)]
async fn zones_are_listed_once_for_all_records() {
    let stage = finding(&[]).await;
    for index in 0..20 {
        create(&stage, &format!("r{index}")).await;
    }
    for index in 0..20 {
        stage.until_ready(&format!("r{index}")).await;
    }
    let text = stage.measured();
    let once = "zonewright_provider_calls_total{call=\"zones\",result=\"ok\"} 1";
    assert!(text.lines().any(|line| line == once), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_host_in_no_zone_says_so_until_there_is_one() {
    let stage = finding(&[]).await;
    let any = json!({ "providerRef": { "name": "any" }, "rootHost": "app.example.net" });
    stage.create_with("app", any, &[]).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(
        message.contains("no zone for host: app.example.net"),
        "{message}"
    );
    let later = ZoneId("later".to_owned());
    stage.provider.create_zone(&later, &name("example.net."));
    let took = stage.until_ready("app").await;
    assert!(took < minutes(25), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn of_two_zones_with_one_name_a_person_has_to_choose() {
    let stage = finding(&[("twin", "example.org.")]).await;
    create(&stage, "app").await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("ZONE_ID"), "{message}");
    assert_eq!(stage.sets(), 0);
    stage
        .patch_secret(
            "any",
            json!({ "stringData": { "ZONE_ID": "twin", "DOMAIN_NAME": "example.org" } }),
        )
        .await;
    stage.until_ready("app").await;
    assert!(stage.is_in("twin", "app") && !stage.is_in("example.org", "app"));
}

#[tokio::test(start_paused = true)]
async fn without_discovery_a_secret_has_to_name_its_zone() {
    let mut stage = Stage::open().await;
    stage.secret("any", &[]).await;
    stage.run();
    create(&stage, "app").await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    for field in ["ZONE_ID", "DOMAIN_NAME"] {
        assert!(message.contains(field), "{message}");
    }
    stage.pass_time(minutes(1)).await;
    assert_eq!(stage.provider.calls(), (0, 0));
}
