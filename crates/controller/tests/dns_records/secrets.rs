//! From a record to its Secret and its zone, and what happens when they change (P1–P6, P9).

use std::time::Duration;

use api::parse::provider_secret::Credentials;
use provider::ZoneId;
use serde_json::json;

use crate::stage::{Stage, minutes, name};

const APP: &[&str] = &["app 60 A 192.0.2.1"];
const PLACE: [(&str, &str); 2] = [("ZONE_ID", "example.org"), ("DOMAIN_NAME", "example.org")];

async fn label_default(stage: &Stage, secret: &str, value: Option<&str>) {
    let labels = json!({ "kuadrant.io/default-provider": value });
    let patch = json!({ "metadata": { "labels": labels } });
    stage.patch_secret(secret, patch).await;
}

#[tokio::test(start_paused = true)]
async fn a_record_that_names_no_secret_uses_the_one_that_is_the_default() {
    // P1: none, one, several, one again.
    let stage = Stage::running().await;
    stage.secret("spare", &PLACE).await;
    let nameless = json!({ "providerRef": null });
    stage.create_with("app", nameless, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("No default provider secret"), "{message}");
    assert_eq!(stage.provider.calls(), (0, 0));

    label_default(&stage, "dns", Some("true")).await;
    stage.until_ready("app").await;
    let used = stage.status("app").await.provider_ref.unwrap();
    assert_eq!(used.name, "dns");

    label_default(&stage, "spare", Some("true")).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("dns, spare"), "{message}");
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));

    label_default(&stage, "spare", None).await;
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn every_bad_field_of_a_secret_is_named_at_once() {
    // P2.
    let stage = Stage::running().await;
    stage.secret("bad", &[("DOMAIN_NAME", "no..domain")]).await;
    let bad = json!({ "providerRef": { "name": "bad" } });
    stage.create_with("app", bad, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    for type_ in ["Ready", "Synchronised"] {
        let message = stage.message("app", type_).await;
        for part in ["Secret bad", "data.ZONE_ID", "data.DOMAIN_NAME"] {
            assert!(message.contains(part), "{message}");
        }
    }
    let data = json!({ "stringData": { "ZONE_ID": "example.org", "DOMAIN_NAME": "example.org" } });
    stage.patch_secret("bad", data).await;
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_not_for_the_host_is_refused() {
    // P2, P3: outside the domain, no such zone, a zone that the domain is not in.
    let stage = Stage::running().await;
    let other = ZoneId("other".to_owned());
    stage.provider.create_zone(&other, &name("other.test."));
    let cases = [
        (
            ("example.org", "b.example.org"),
            "spec.rootHost: is outside the DOMAIN_NAME of Secret s0, b.example.org",
        ),
        (
            ("example.org", "*.app.example.org"),
            "spec.rootHost: is outside the DOMAIN_NAME of Secret s1, *.app.example.org",
        ),
        (
            ("nowhere", "example.org"),
            "Unable to find suitable zone in provider: Secret s2: zone nowhere: there is no such zone",
        ),
        (
            ("other", "example.org"),
            "Unable to find suitable zone in provider: Secret s3: zone other: data.DOMAIN_NAME: example.org",
        ),
    ];
    for (index, ((zone, domain), says)) in cases.into_iter().enumerate() {
        let (secret, record) = (format!("s{index}"), format!("r{index}"));
        let place = [("ZONE_ID", zone), ("DOMAIN_NAME", domain)];
        stage.secret(&secret, &place).await;
        let spec = json!({ "rootHost": "app.example.org", "providerRef": { "name": secret } });
        stage.create_with(&record, spec, APP).await;
        for type_ in ["Ready", "Synchronised"] {
            stage.until(&record, type_, "False/DNSProviderError").await;
            let message = stage.message(&record, type_).await;
            assert!(message.starts_with(says), "{message}");
        }
    }
    assert_eq!(stage.provider.calls().1, 0);
    assert_eq!(stage.provider.holdings(&ZoneId("nowhere".into())).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_comes_goes_and_comes_back() {
    // P4: what is published stays, and the record says what is missing.
    let stage = Stage::running().await;
    let late = json!({ "providerRef": { "name": "late" } });
    stage.create_with("app", late, APP).await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let missing = stage.message("app", "Ready").await;
    assert!(missing.contains("there is no Secret late"), "{missing}");

    stage.secret("late", &PLACE).await;
    stage.until_ready("app").await;

    let calls = stage.provider.calls();
    stage.delete_secret("late").await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    assert_eq!(stage.message("app", "Ready").await, missing);
    assert_eq!(stage.message("app", "Synchronised").await, missing);
    stage.pass_time(minutes(60)).await;
    assert_eq!(stage.provider.calls(), calls);
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    assert_eq!(stage.sets(), 2);

    stage.secret("late", &PLACE).await;
    stage.until_ready("app").await;
    assert_eq!(stage.provider.calls().1, calls.1);
}

#[tokio::test(start_paused = true)]
async fn new_credentials_are_used_within_one_pass() {
    // P4.
    let stage = Stage::running().await;
    let keys = |id| {
        let place = ("ZONE_ID", "Z0123456789ABCDEFGHIJ");
        let secret = ("AWS_SECRET_ACCESS_KEY", "secret");
        [place, PLACE[1], ("AWS_ACCESS_KEY_ID", id), secret]
    };
    let zone = ZoneId("Z0123456789ABCDEFGHIJ".to_owned());
    stage.provider.create_zone(&zone, &name("example.org."));
    stage
        .typed_secret("aws", "kuadrant.io/aws", &keys("OLD"))
        .await;
    let spec = json!({ "providerRef": { "name": "aws" } });
    stage.create_with("app", spec, APP).await;
    stage.until_ready("app").await;
    let data = json!({ "stringData": { "AWS_ACCESS_KEY_ID": "NEW" } });
    stage.patch_secret("aws", data).await;
    stage.pass_time(Duration::from_secs(1)).await;
    let opened = stage.opened.lock().unwrap().clone();
    let ids = opened.iter().map(|credentials| match credentials {
        Credentials::Aws(aws) => aws.keys.as_ref().unwrap().id.clone(),
        Credentials::Rfc2136(_) | Credentials::Zone | Credentials::InMemory => String::new(),
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["OLD", "NEW"]);
    stage.until_ready("app").await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_was_changed_while_nobody_ran_is_used_at_the_start() {
    // P4: and one that was not is no reason to ask anybody.
    let mut stage = Stage::running().await;
    stage.secret("spare", &PLACE).await;
    let spare = json!({ "providerRef": { "name": "spare" } });
    stage.create("app", APP).await;
    stage
        .create_with("other", spare, &["other 60 A 192.0.2.2"])
        .await;
    stage.until_ready("app").await;
    stage.until_ready("other").await;
    stage.stop().await;
    let version = stage.version("app").await;
    let data = json!({ "stringData": { "DOMAIN_NAME": "b.example.org" } });
    stage.patch_secret("spare", data).await;
    stage.run();
    stage
        .until("other", "Ready", "False/DNSProviderError")
        .await;
    stage.settled().await;
    assert_eq!(stage.version("app").await, version);
}

#[tokio::test(start_paused = true)]
async fn a_secret_concerns_only_the_records_that_use_it() {
    // P4.
    let stage = Stage::running().await;
    stage.secret("spare", &PLACE).await;
    let spare = json!({ "providerRef": { "name": "spare" } });
    stage.create("app", APP).await;
    stage
        .create_with("other", spare, &["other 60 A 192.0.2.2"])
        .await;
    stage.until_ready("app").await;
    stage.until_ready("other").await;
    stage.pass_time(minutes(1)).await;
    let (app, other) = (stage.version("app").await, stage.version("other").await);
    let (reads, writes) = stage.provider.calls();
    let data = json!({ "stringData": { "DOMAIN_NAME": "other.example.org" } });
    stage.patch_secret("spare", data).await;
    stage.pass_time(minutes(1)).await;
    assert_eq!(stage.version("app").await, app);
    assert_ne!(stage.version("other").await, other);
    assert_eq!(stage.provider.calls(), (reads + 1, writes));
    stage.delete_secret("spare").await;
    stage
        .until("other", "Ready", "False/DNSProviderError")
        .await;
    assert_eq!(stage.version("app").await, app);
}

#[tokio::test(start_paused = true)]
async fn a_record_whose_way_is_gone_says_how_it_can_go() {
    // P6: the Secret, then the zone.
    for gone in ["Secret", "zone"] {
        let mut stage = Stage::running().await;
        stage.create("app", APP).await;
        stage.until_ready("app").await;
        if gone == "Secret" {
            // While nobody runs who could keep what it says.
            stage.stop().await;
            stage.delete_secret("dns").await;
            stage.run();
        } else {
            stage.provider.delete_zone(&stage.zone);
            stage.annotate("app", "zonewright.dev/check", "now").await;
        }
        stage.until("app", "Ready", "False/DNSProviderError").await;
        stage.delete("app").await;
        stage.pass_time(minutes(5)).await;
        let message = stage.message("app", "Ready").await;
        let how = "set annotation zonewright.dev/abandon: \"true\"";
        assert!(message.contains(how), "{gone}: {message}");
        stage
            .annotate("app", "zonewright.dev/abandon", "true")
            .await;
        stage.until_gone("app").await;
        if gone == "Secret" {
            assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_record_that_was_published_says_how_it_can_go() {
    // P6.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.edit("app", &["app 60 A none"]).await;
    stage.until("app", "Ready", "False/ValidationError").await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    stage.delete("app").await;
    stage.pass_time(minutes(1)).await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("zonewright.dev/abandon"), "{message}");
    stage
        .annotate("app", "zonewright.dev/abandon", "true")
        .await;
    stage.until_gone("app").await;
}

/// Watches a record move from one zone to the other, and that it is always in at least one.
async fn moves(stage: &Stage, from: &str, to: &str, secret: &str) {
    let mut seen = Vec::new();
    for _ in 0..600 {
        let places = (stage.is_in(from, "app"), stage.is_in(to, "app"));
        assert_ne!(places, (false, false), "never absent from both");
        if seen.last() != Some(&places) {
            seen.push(places);
        }
        stage.pass_time(Duration::from_millis(100)).await;
    }
    assert_eq!(seen, [(true, false), (true, true), (false, true)]);
    stage.until_ready("app").await;
    let status = stage.status("app").await;
    assert_eq!(status.zone_id.as_deref(), Some(to));
    assert_eq!(status.provider_ref.unwrap().name, secret);
    assert_eq!(status.write_counter, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_record_with_another_secret_is_published_there_before_it_goes_from_the_old_place() {
    // P9.
    let stage = Stage::running().await;
    stage.second_zone("second", "new").await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage
        .patch(
            "app",
            json!({ "spec": { "providerRef": { "name": "new" } } }),
        )
        .await;
    moves(&stage, "example.org", "second", "new").await;
    assert_eq!(stage.sets(), 0, "the marks have gone, too");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_leave_its_old_place_is_published_and_says_so() {
    // P9, P6.
    let stage = Stage::running().await;
    stage.second_zone("second", "new").await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let gone = kube::api::DeleteParams::default();
    stage.secrets().delete("dns", &gone).await.unwrap();
    let new = json!({ "spec": { "providerRef": { "name": "new" } } });
    stage.patch("app", new).await;
    stage
        .until("app", "Ready", "False/AwaitingValidation")
        .await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    assert!(stage.is_in("example.org", "app") && stage.is_in("second", "app"));
    let told = stage.message("app", "Ready").await;
    assert!(
        told.contains("Secret dns") && told.contains("zonewright.dev/abandon"),
        "{told}"
    );
    stage
        .annotate("app", "zonewright.dev/abandon", "true")
        .await;
    stage.until_ready("app").await;
    let status = stage.status("app").await;
    assert_eq!(status.zone_id.as_deref(), Some("second"));
    assert!(
        stage.is_in("example.org", "app"),
        "what is out of reach stays"
    );
}

#[tokio::test(start_paused = true)]
async fn what_does_not_arrive_at_the_new_place_stays_at_the_old_one() {
    // P9.
    let stage = Stage::running().await;
    let place = [("ZONE_ID", "second"), ("DOMAIN_NAME", "example.org")];
    stage.secret("new", &place).await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage
        .patch(
            "app",
            json!({ "spec": { "providerRef": { "name": "new" } } }),
        )
        .await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    stage.pass_time(minutes(20)).await;
    assert!(stage.is_in("example.org", "app"));
    let second = ZoneId("second".to_owned());
    stage.provider.create_zone(&second, &name("example.org."));
    // The next scheduled read sees the zone.
    stage.until_ready("app").await;
    assert!(!stage.is_in("example.org", "app"));
    assert!(stage.is_in("second", "app"));
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_leads_to_another_zone_moves_its_records_as_carefully() {
    // P9, and C10: a move is no fight.
    let stage = Stage::running().await;
    let second = ZoneId("second".to_owned());
    stage.provider.create_zone(&second, &name("example.org."));
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let zones = ["example.org", "second"];
    for turn in 0..5 {
        let (from, to) = (zones[turn % 2], zones[(turn + 1) % 2]);
        let data = json!({ "stringData": { "ZONE_ID": to } });
        stage.patch_secret("dns", data).await;
        moves(&stage, from, to, "dns").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_deleted_while_it_moves_goes_from_both_places() {
    // P9, C4.
    let stage = Stage::running().await;
    stage.second_zone("second", "new").await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage
        .patch(
            "app",
            json!({ "spec": { "providerRef": { "name": "new" } } }),
        )
        .await;
    while !stage.is_in("second", "app") {
        stage.pass_time(Duration::from_millis(100)).await;
    }
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert!(!stage.is_in("example.org", "app"));
    assert!(!stage.is_in("second", "app"));
}
