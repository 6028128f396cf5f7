//! Deleting records whose Secret, zone or namespace goes with them (P6).

use std::time::Duration;

use api::parse::provider_secret::Credentials;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams};
use provider::{Error, Fault, ZoneId};
use serde_json::json;
use testkit::eventually;

use crate::log::Log;
use crate::stage::{Home, Stage, minutes, name};

const APP: &[&str] = &["app 60 A 192.0.2.1"];

/// What is waited for takes a second or two, and a minute where a minute is waited for; the rest is for a machine that is
/// busy building.
const SOON: Duration = Duration::from_mins(3);

fn namespaces(stage: &Stage) -> Api<Namespace> {
    Api::all(stage.client.clone())
}

async fn delete_namespace(stage: &Stage) {
    let namespaces = namespaces(stage);
    let deleted = namespaces
        .delete(&stage.namespace, &DeleteParams::default())
        .await;
    deleted.unwrap();
}

async fn until_namespace_gone(stage: &Stage) {
    let gone = eventually(SOON, "the namespace to go", async || {
        let found = namespaces(stage).get_opt(&stage.namespace).await.unwrap();
        found.map_or(Ok(()), |it| Err(format!("{:?}", it.status)))
    });
    gone.await.unwrap();
}

/// Whoever runs before that could still withdraw what was published.
async fn until_secret_gone(stage: &Stage) {
    let gone = eventually(SOON, "the Secret to go", async || {
        let found = stage.secrets().get_opt("dns").await.unwrap();
        found.is_none().then_some(())
    });
    gone.await.unwrap();
}

/// What is told about the namespace where nobody deletes it.
async fn told(stage: &Stage) -> Vec<String> {
    let events: Api<Event> = Api::namespaced(stage.client.clone(), "default");
    let events = events.list(&ListParams::default()).await.unwrap();
    let about = |event: &Event| {
        let regarding = event.regarding.clone().unwrap_or_default();
        regarding.kind.as_deref() == Some("Namespace")
            && regarding.name.as_deref() == Some(&stage.namespace)
    };
    let own = events.items.into_iter().filter(about);
    own.map(|it| {
        format!(
            "{}: {}",
            it.reason.unwrap_or_default(),
            it.note.unwrap_or_default()
        )
    })
    .collect()
}

fn left_behind(stage: &Stage) -> Option<String> {
    let measured = stage.measured();
    let line = measured
        .lines()
        .find_map(|line| line.strip_prefix("zonewright_dns_records_left_behind_total "));
    line.map(str::to_owned)
}

async fn what_was_published_is_withdrawn_though_its_secret_has_gone(stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.delete_secret("dns").await;
    stage.until("app", "Ready", "False/DNSProviderError").await;
    stage.delete("app").await;
    stage.until_gone("app").await;
    assert_eq!(stage.sets(), 0);
}

async fn a_namespace_takes_along_what_it_published(stage: Stage) {
    for record in ["one", "two"] {
        let endpoint = format!("{record} 60 A 192.0.2.1");
        stage.create(record, &[&endpoint]).await;
        stage.until_ready(record).await;
    }
    delete_namespace(&stage).await;
    until_namespace_gone(&stage).await;
    assert_eq!(stage.sets(), 0);
    assert_eq!(left_behind(&stage).as_deref(), Some("0"));
}

async fn without_credentials_a_namespace_goes_after_a_minute(mut stage: Stage) {
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.stop().await;
    delete_namespace(&stage).await;
    until_secret_gone(&stage).await;
    stage.run();
    stage.until("app", "Ready", "False/DNSProviderError").await;
    let announced = eventually(SOON, "what will come of it", async || {
        let message = stage.message("app", "Ready").await;
        let of_its_end = message.contains("goes with its namespace");
        of_its_end.then_some(()).ok_or(message)
    });
    announced.await.unwrap();
    stage.pass_time(Duration::from_secs(40)).await;
    assert!(stage.records().get_opt("app").await.unwrap().is_some());
    until_namespace_gone(&stage).await;
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
    let seen = eventually(SOON, "an Event", async || {
        let told = told(&stage).await;
        (told.len() == 1).then_some(told).ok_or("none")
    });
    let expected = "LeftBehind: DNSRecord app has gone with its namespace, and nothing reached zone example.org any more; there remain app.example.org; remove them at the provider";
    assert_eq!(seen.await.unwrap(), [expected]);
    assert_eq!(left_behind(&stage).as_deref(), Some("1"));
}

mod embedded {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_published_is_withdrawn_though_its_secret_has_gone() {
        super::what_was_published_is_withdrawn_though_its_secret_has_gone(Stage::running().await)
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_takes_along_what_it_published() {
        super::a_namespace_takes_along_what_it_published(Stage::running().await).await;
    }

    #[tokio::test(start_paused = true)]
    async fn without_credentials_a_namespace_goes_after_a_minute() {
        super::without_credentials_a_namespace_goes_after_a_minute(Stage::running().await).await;
    }
}

mod on_cluster {
    use super::*;

    async fn running() -> Stage {
        let mut stage = Stage::at(Home::Real).await;
        stage.options.validation = Duration::from_millis(200);
        stage.run();
        stage
    }

    #[tokio::test]
    async fn what_was_published_is_withdrawn_though_its_secret_has_gone() {
        super::what_was_published_is_withdrawn_though_its_secret_has_gone(running().await).await;
    }

    #[tokio::test]
    async fn a_namespace_takes_along_what_it_published() {
        super::a_namespace_takes_along_what_it_published(running().await).await;
    }

    #[tokio::test]
    async fn without_credentials_a_namespace_goes_after_a_minute() {
        super::without_credentials_a_namespace_goes_after_a_minute(running().await).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_stays_behind_is_one_line_in_the_log() {
    let mut stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.stop().await;
    let log = Log::capture();
    delete_namespace(&stage).await;
    until_secret_gone(&stage).await;
    stage.run();
    until_namespace_gone(&stage).await;
    let warnings = log.warnings();
    let left = warnings
        .iter()
        .filter(|(_, reason, _)| reason == "LeftBehind");
    let [(object, _, message)] = &left.collect::<Vec<_>>()[..] else {
        panic!("{warnings:?}");
    };
    assert_eq!(object, "Namespace /web");
    assert!(
        message.contains("zone example.org") && message.contains("app.example.org"),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_is_gone_keeps_no_namespace() {
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.provider.delete_zone(&stage.zone);
    delete_namespace(&stage).await;
    until_namespace_gone(&stage).await;
    assert_eq!(left_behind(&stage).as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn an_hour_after_its_secret_a_record_waits_for_a_person() {
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.delete_secret("dns").await;
    stage.pass_time(minutes(61)).await;
    let calls = stage.provider.calls();
    stage.delete("app").await;
    stage.pass_time(minutes(5)).await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("zonewright.dev/abandon"), "{message}");
    assert_eq!(stage.provider.calls(), calls);
    assert_eq!(stage.addresses("app").as_deref(), Some("60 192.0.2.1"));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_with_credentials_that_were_kept_for_an_hour() {
    // A provider that does not answer is asked again until then, and not after it.
    let stage = Stage::running().await;
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    let silent = || Some(Fault::Fails(Error::Unclear("no answer".into())));
    stage.provider.fail_reads((0..10_000).map(|_| silent()));
    stage.provider.fail_writes((0..10_000).map(|_| silent()));
    stage.delete_secret("dns").await;
    stage.delete("app").await;
    let before = stage.provider.calls();
    stage.pass_time(minutes(55)).await;
    assert_ne!(stage.provider.calls(), before);
    stage.pass_time(minutes(10)).await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("there is no Secret dns"), "{message}");
    let calls = stage.provider.calls();
    stage.pass_time(minutes(120)).await;
    assert_eq!(stage.provider.calls(), calls);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_comes_back_with_other_content_is_the_only_one_that_counts() {
    // The credentials that published it are good still, and the owner of the Secret does not want them used.
    let stage = Stage::running().await;
    let keys = |id| {
        let zone = ("ZONE_ID", "Z0123456789ABCDEFGHIJ");
        let secret = ("AWS_SECRET_ACCESS_KEY", "confidential");
        [
            zone,
            ("DOMAIN_NAME", "example.org"),
            ("AWS_ACCESS_KEY_ID", id),
            secret,
        ]
    };
    let zone = ZoneId("Z0123456789ABCDEFGHIJ".to_owned());
    stage.provider.create_zone(&zone, &name("example.org."));
    stage
        .typed_secret("aws", "kuadrant.io/aws", &keys("OLD"))
        .await;
    let spec = json!({ "providerRef": { "name": "aws" } });
    stage.create_with("app", spec, APP).await;
    stage.until_ready("app").await;
    let denied = || Some(Fault::Fails(Error::Denied("no such key".into())));
    stage.delete_secret("aws").await;
    stage
        .typed_secret("aws", "kuadrant.io/aws", &keys("NEW"))
        .await;
    stage.provider.fail_reads((0..100).map(|_| denied()));
    stage.delete("app").await;
    stage.pass_time(minutes(5)).await;
    let opened = stage.opened.lock().unwrap().clone();
    let ids = opened.iter().map(|credentials| match credentials {
        Credentials::Aws(aws) => aws.keys.as_ref().unwrap().id.clone(),
        Credentials::Rfc2136(_) | Credentials::Zone | Credentials::InMemory => String::new(),
    });
    assert_eq!(ids.last().as_deref(), Some("NEW"));
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("access is denied"), "{message}");
    assert_eq!(
        stage.records().get("app").await.unwrap().finalizers().len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_of_a_secret_is_never_told() {
    let stage = Stage::running().await;
    let log = Log::capture_all();
    let zone = ZoneId("Z0123456789ABCDEFGHIJ".to_owned());
    stage.provider.create_zone(&zone, &name("example.org."));
    let keys = [
        ("ZONE_ID", "Z0123456789ABCDEFGHIJ"),
        ("DOMAIN_NAME", "example.org"),
        ("AWS_ACCESS_KEY_ID", "AKIDKEPT"),
        ("AWS_SECRET_ACCESS_KEY", "confidential"),
    ];
    stage.typed_secret("aws", "kuadrant.io/aws", &keys).await;
    let spec = json!({ "providerRef": { "name": "aws" } });
    stage.create_with("app", spec, APP).await;
    stage.until_ready("app").await;
    let denied = || Some(Fault::Fails(Error::Denied("no such key".into())));
    stage.provider.fail_writes((0..10).map(|_| denied()));
    stage.delete_secret("aws").await;
    stage.delete("app").await;
    stage.pass_time(minutes(5)).await;
    let message = stage.message("app", "Ready").await;
    assert!(message.contains("access is denied"), "{message}");
    assert!(log.text().contains("DNSRecord web/app"), "it tells of it");
    for said in [message, log.text()] {
        assert!(
            !said.contains("confidential") && !said.contains("AKIDKEPT"),
            "{said}"
        );
    }
}
