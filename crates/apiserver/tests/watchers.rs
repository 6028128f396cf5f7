//! Many watchers, and slow ones.

use std::time::Duration;

use apiserver::{Apiserver, Options};
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client};
use serde_json::json;

/// How many watch a kind at once.
const MANY: usize = 1000;

async fn open() -> (Apiserver, Client) {
    let apiserver = Apiserver::open(Options::default())
        .await
        .expect("an empty API opens");
    let client = apiserver.client();
    (apiserver, client)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name } })).expect("a ConfigMap")
}

#[tokio::test]
async fn one_write_reaches_each_of_a_thousand_watchers() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watches = Vec::new();
    for _ in 0..MANY {
        let watch = maps.watch(&WatchParams::default(), "0").await.unwrap();
        watches.push(watch.boxed());
    }
    maps.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    for watch in &mut watches {
        let event = watch.try_next().await.unwrap();
        assert!(
            matches!(event, Some(WatchEvent::Added(map)) if map.metadata.name.as_deref() == Some("a"))
        );
    }
}

#[tokio::test]
async fn a_watcher_that_does_not_read_is_told_and_hinders_nobody() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    maps.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    let mut slow = maps
        .watch(&WatchParams::default(), "0")
        .await
        .unwrap()
        .boxed();
    let mut quick = maps
        .watch(&WatchParams::default(), "0")
        .await
        .unwrap()
        .boxed();
    assert!(matches!(
        quick.try_next().await.unwrap(),
        Some(WatchEvent::Added(_))
    ));
    let text = "x".repeat(500_000);
    for round in 0..400 {
        let patch = json!({ "data": { "text": format!("{round}{text}") } });
        maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .unwrap();
        assert!(matches!(
            quick.try_next().await.unwrap(),
            Some(WatchEvent::Modified(_))
        ));
    }
    let mut last = None;
    while let Some(event) = slow.try_next().await.unwrap() {
        last = Some(event);
    }
    assert!(matches!(last, Some(WatchEvent::Error(status)) if status.code == 410));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_asks_for_bookmarks_gets_one_every_minute() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let params = WatchParams::default().timeout(200);
    let began = tokio::time::Instant::now();
    let events: Vec<_> = maps
        .watch(&params, "0")
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert!(
        events
            .iter()
            .all(|event| matches!(event, WatchEvent::Bookmark(_))),
        "{events:?}"
    );
    assert_eq!(events.len(), 3);
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(200),
        "the time it was to last"
    );
}
