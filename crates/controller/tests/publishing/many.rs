//! Ten thousand at once: everything goes, each after its look, and nothing else is kept waiting.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use kube::api::{DeleteParams, ListParams, PostParams};
use reconcile::publishing::SourceKind;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::stage::{EXPORT, Home, Stage};

const MANY: usize = 10_000;
const AT_ONCE: usize = 64;

/// How long they may take, on a clock that stands still while anybody works.
const WITHIN: Duration = Duration::from_mins(5);

/// A ServiceRecord whose source is gone, as a process that was killed has left it.
fn orphan(stage: &Stage, number: usize) -> Value {
    let source = json!([{
        "group": "projectcontour.io", "kind": "HTTPProxy", "namespace": stage.namespace,
        "name": format!("p{number}"), "uid": format!("{number}"),
    }]);
    let host = format!("h{number}.example.org");
    json!({
        "apiVersion": "connectivity.tanzu.vmware.com/v1alpha1",
        "kind": "ServiceRecord",
        "metadata": {
            "name": host,
            "labels": { EXPORT: "" },
            "annotations": { "zonewright.dev/sources": source.to_string() },
        },
        "spec": { "fqdn": host, "endpoints": [{ "address": "192.0.2.1", "port": 443 }] },
    })
}

/// As many as that of them.
async fn orphans(stage: &Stage) {
    let records = stage.service_records();
    let create = |number: usize| {
        let record = serde_json::from_value(orphan(stage, number)).unwrap();
        let records = records.clone();
        async move {
            let created = records.create(&PostParams::default(), &record).await;
            created.unwrap();
        }
    };
    stream::iter(0..MANY)
        .for_each_concurrent(AT_ONCE, create)
        .await;
}

/// Waits until so many ServiceRecords are left, and tells how long that took. They are too many to be listed often.
async fn until_left(stage: &Stage, count: usize) -> Duration {
    let began = Instant::now();
    loop {
        let page = ListParams::default().limit(5);
        let left = stage.service_records().list(&page).await.unwrap();
        if left.items.len() <= count {
            return began.elapsed();
        }
        assert!(began.elapsed() < WITHIN, "they do not go");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_orphans_go_at_a_bounded_rate_and_a_newcomer_does_not_wait() {
    // S4: no limit, and no grace.
    let mut stage = Stage::open(Home::Embedded).await;
    let by_hand = json!({
        "apiVersion": "connectivity.tanzu.vmware.com/v1alpha1",
        "kind": "ServiceRecord",
        "metadata": { "name": "zzz.example.org" },
        "spec": { "fqdn": "zzz.example.org", "endpoints": [] },
    });
    stage.service_record(by_hand).await;
    orphans(&stage).await;
    let began = Instant::now();
    stage.run();
    stage.proxy("app", "app.example.net", &["192.0.2.1"]).await;
    let published = [
        "app.example.net 192.0.2.1:443",
        "zzz.example.org",
        "app.example.net. A 192.0.2.1",
    ];
    stage
        .until_says("app.example.net", "Published", "True/Published", "")
        .await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "the newcomer waits"
    );
    until_left(&stage, 2).await;
    // Two hundred a second.
    assert!(
        began.elapsed() >= Duration::from_secs(45),
        "{:?}",
        began.elapsed()
    );
    stage.until(&published).await;
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_sources_that_are_deleted_at_once_are_all_withdrawn() {
    // S3.
    let mut stage = Stage::open(Home::Embedded).await;
    let numbers = || stream::iter(0..MANY);
    let create = |number: usize| {
        let stage = &stage;
        async move {
            let (name, fqdn) = (format!("p{number}"), format!("h{number}.example.org"));
            let proxy = json!({
                "metadata": { "name": name, "labels": { EXPORT: "" } },
                "spec": { "virtualhost": { "fqdn": fqdn } },
            });
            let namespace = stage.namespace.clone();
            stage.create(SourceKind::HttpProxy, &namespace, proxy).await;
        }
    };
    numbers().for_each_concurrent(AT_ONCE, create).await;
    stage.run();
    let proxies = stage.sources(SourceKind::HttpProxy);
    until_published(&stage).await;
    let all = DeleteParams::default();
    proxies
        .delete_collection(&all, &ListParams::default())
        .await
        .unwrap();
    until_left(&stage, 0).await;
}

/// Waits until the last of them has its ServiceRecord.
async fn until_published(stage: &Stage) {
    let began = Instant::now();
    loop {
        let page = ListParams::default().limit(1);
        let found = stage.service_records().list(&page).await.unwrap();
        let more = found.metadata.remaining_item_count.unwrap_or_default();
        if found.items.len() + usize::try_from(more).unwrap() == MANY {
            return;
        }
        assert!(began.elapsed() < WITHIN, "they do not come");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
