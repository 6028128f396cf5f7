//! Watches: many at a time, with slow readers, and to their end.

#[path = "watchers/ends.rs"]
mod ends;

use std::time::Duration;

use apiserver::{Apiserver, Options};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tokio::time::timeout;

/// How many watch a kind at once.
const MANY: usize = 1000;

/// Longer than anything takes that happens at all.
const SOON: Duration = Duration::from_secs(20);

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

/// An event as `Added a`.
fn told<K: ResourceExt>(event: &WatchEvent<K>) -> String {
    match event {
        WatchEvent::Added(object) => format!("Added {}", object.name_any()),
        WatchEvent::Modified(object) => format!("Modified {}", object.name_any()),
        WatchEvent::Deleted(object) => format!("Deleted {}", object.name_any()),
        WatchEvent::Bookmark(bookmark) => {
            format!("Bookmark {}", bookmark.metadata.resource_version)
        }
        WatchEvent::Error(status) => format!("Error {}", status.code),
    }
}

type Events<K> = BoxStream<'static, kube::Result<WatchEvent<K>>>;

/// What comes next, or that nothing does.
async fn next<K: ResourceExt>(watch: &mut Events<K>) -> Option<String> {
    let event = timeout(SOON, watch.next()).await;
    let event = event.expect("something happens")?;
    Some(told(&event.expect("a watch breaks off without an error")))
}

async fn create(maps: &Api<ConfigMap>, name: &str) -> ConfigMap {
    let created = maps.create(&PostParams::default(), &config_map(name)).await;
    created.expect("nothing has this name yet")
}

/// A watch from now on.
async fn watch<K>(api: &Api<K>, params: &WatchParams) -> Events<K>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let now = api.list(&ListParams::default().limit(1)).await;
    let now = now.expect("the kind is served").metadata.resource_version;
    let watch = api.watch(params, &now.unwrap_or_default()).await;
    watch.expect("what is now can be watched").boxed()
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

#[tokio::test(start_paused = true)]
async fn a_bookmark_says_how_far_all_kinds_have_come() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let secrets: Api<Secret> = Api::default_namespaced(client);
    let mut watch = watch(&secrets, &WatchParams::default()).await;
    let map = create(&maps, "a").await;
    let revision = map.resource_version().unwrap();
    let event = watch.try_next().await.unwrap().unwrap();
    assert_eq!(told(&event), format!("Bookmark {revision}"));
}

/// J8.
#[tokio::test]
async fn a_watcher_that_was_away_is_told_everything_in_order() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = watch(&maps, &WatchParams::default()).await;
    // One event, a few, more than are kept ready, one again.
    let mut written = 0;
    for away in [1, 5, 700, 1] {
        for index in written..written + away {
            create(&maps, &format!("m{index}")).await;
        }
        for index in written..written + away {
            assert_eq!(next(&mut watch).await, Some(format!("Added m{index}")));
        }
        written += away;
    }
}

/// J8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_that_begin_while_others_write_miss_nothing_and_see_nothing_twice() {
    const WRITERS: usize = 3;
    const WRITES: usize = 60;
    let directory = tempfile::tempdir().unwrap();
    let data = Some(directory.path().join("data"));
    let options = Options {
        data,
        ..Options::default()
    };
    let apiserver = Apiserver::open(options).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(apiserver.client());
    let writers = (0..WRITERS).map(|writer| {
        let maps = maps.clone();
        tokio::spawn(async move {
            for index in 0..WRITES {
                create(&maps, &format!("m{writer}-{index}")).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut watchers = Vec::new();
    for _ in 0..20 {
        watchers.push(tokio::spawn(follow(maps.clone(), WRITERS * WRITES)));
        tokio::task::yield_now().await;
    }
    for task in writers.into_iter().chain(watchers) {
        task.await.unwrap();
    }
    apiserver.shutdown(SOON).await;
}

/// Lists and watches until there are as many objects as there should be.
async fn follow(maps: Api<ConfigMap>, count: usize) {
    let list = maps.list(&ListParams::default()).await;
    let list = list.expect("the kind is served");
    let mut names: Vec<String> = list.items.iter().map(ResourceExt::name_any).collect();
    let mut at = list.metadata.resource_version.unwrap_or_default();
    let watch = maps.watch(&WatchParams::default(), &at).await;
    let mut watch = watch.expect("what was listed can be watched").boxed();
    while names.len() < count {
        let event = timeout(SOON, watch.next()).await;
        let Ok(Some(Ok(WatchEvent::Added(map)))) = event else {
            panic!("not an object that is new: {event:?}");
        };
        let revision = map.resource_version().unwrap_or_default();
        assert!(is_later(&revision, &at), "{revision} after {at}");
        at = revision;
        names.push(map.name_any());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Revisions are numbers.
fn is_later(revision: &str, than: &str) -> bool {
    (revision.len(), revision) > (than.len(), than)
}

#[tokio::test]
async fn an_object_that_leaves_a_selection_is_told_as_it_last_matched() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = watch(&maps, &WatchParams::default().labels("team=a")).await;
    create(&maps, "a").await;
    let mut last = None;
    for labels in [json!({ "team": "a" }), json!({ "team": "b" })] {
        let patch = json!({ "metadata": { "labels": labels } });
        let params = PatchParams::default();
        let patched = maps.patch("a", &params, &Patch::Merge(&patch)).await;
        last = patched.unwrap().resource_version();
    }
    assert_eq!(next(&mut watch).await.as_deref(), Some("Added a"));
    let event = watch.try_next().await.unwrap();
    let Some(WatchEvent::Deleted(map)) = event else {
        panic!("not the end of it: {event:?}");
    };
    assert_eq!(map.labels()["team"], "a");
    assert_eq!(map.resource_version(), last);
}
