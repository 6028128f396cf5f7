//! Watches across restarts: whoever watches either goes on without a gap or is told that it cannot, on the embedded
//! API and on the real one alike.

use std::collections::BTreeMap;
use std::time::Duration;

use apiserver::{Apiserver, Options};
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use tempfile::TempDir;
use testkit::control_plane::{ControlPlane, Identity};
use testkit::eventually;

/// How long a watcher may take to see what is there, on a busy machine.
const SEEN_WITHIN: Duration = Duration::from_secs(30);

/// An API that can be ended and started again.
enum Home {
    Embedded(Option<Apiserver>, TempDir),
    Real(Box<ControlPlane>),
}

impl Home {
    async fn embedded() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let apiserver = open(&directory).await;
        Self::Embedded(Some(apiserver), directory)
    }

    async fn real() -> Self {
        let plane = ControlPlane::start().await;
        Self::Real(Box::new(
            plane.unwrap_or_else(|error| panic!("no control plane: {error}")),
        ))
    }

    fn client(&self) -> Client {
        match self {
            Self::Embedded(apiserver, _) => apiserver.as_ref().expect("it is open").client(),
            Self::Real(plane) => plane.client(Identity::Admin),
        }
    }

    async fn restart(&mut self) {
        match self {
            Self::Embedded(apiserver, directory) => {
                let running = apiserver.take().expect("it is open");
                running.shutdown(Duration::ZERO).await;
                *apiserver = Some(open(directory).await);
            }
            Self::Real(plane) => plane.restart_api_server().await.expect("it starts again"),
        }
    }
}

async fn open(directory: &TempDir) -> Apiserver {
    let data = Some(directory.path().join("data"));
    let options = Options {
        data,
        ..Options::default()
    };
    Apiserver::open(options).await.expect("it opens")
}

/// What one watcher knows: names and revisions, and how far it has come.
#[derive(Debug, Default)]
struct Watcher {
    known: BTreeMap<String, String>,
    revision: Option<String>,
}

impl Watcher {
    /// Looks until it knows `expected`: goes on from where it was, and lists only when it is told to.
    async fn catch_up(&mut self, maps: &Api<ConfigMap>, expected: &BTreeMap<String, String>) {
        let mut known = std::mem::take(self);
        let caught_up = eventually(SEEN_WITHIN, "the watcher to know everything", async || {
            known.look(maps).await;
            if known.known == *expected {
                Ok(())
            } else {
                Err(format!("{known:?}"))
            }
        });
        caught_up.await.expect("nothing is missed");
        *self = known;
    }

    async fn look(&mut self, maps: &Api<ConfigMap>) {
        let Some(revision) = self.revision.clone() else {
            return self.list(maps).await;
        };
        let params = WatchParams::default().timeout(1);
        let Ok(events) = maps.watch(&params, &revision).await else {
            self.revision = None;
            return;
        };
        let mut events = events.boxed();
        while let Ok(Some(event)) = events.try_next().await {
            match event {
                WatchEvent::Added(map) | WatchEvent::Modified(map) => self.put(&map),
                WatchEvent::Deleted(map) => {
                    self.known.remove(&map.name_any());
                    self.revision = map.resource_version();
                }
                WatchEvent::Bookmark(bookmark) => {
                    self.revision = Some(bookmark.metadata.resource_version);
                }
                WatchEvent::Error(status) => {
                    assert_eq!(status.code, 410, "{status:?}");
                    self.revision = None;
                }
            }
        }
    }

    async fn list(&mut self, maps: &Api<ConfigMap>) {
        let list = maps.list(&ListParams::default()).await.expect("it answers");
        self.known.clear();
        list.items.iter().for_each(|map| self.put(map));
        self.revision = list.metadata.resource_version;
    }

    fn put(&mut self, map: &ConfigMap) {
        let revision = map.resource_version().expect("a revision");
        self.known.insert(map.name_any(), revision.clone());
        self.revision = Some(revision);
    }
}

/// Some changes of every sort; what is there afterwards.
async fn change(maps: &Api<ConfigMap>, round: usize) -> BTreeMap<String, String> {
    for index in 0..3 {
        let map = json!({ "metadata": { "name": format!("r{round}-{index}") } });
        let map = serde_json::from_value(map).expect("a ConfigMap");
        maps.create(&PostParams::default(), &map)
            .await
            .expect("it is new");
    }
    let patch = json!({ "data": { "round": round.to_string() } });
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    maps.patch(&format!("r{round}-1"), &params, &patch)
        .await
        .expect("it is there");
    maps.delete(&format!("r{round}-2"), &DeleteParams::default())
        .await
        .expect("it is there");
    let list = maps.list(&ListParams::default()).await.expect("it answers");
    let entry = |map: &ConfigMap| (map.name_any(), map.resource_version().unwrap_or_default());
    list.items.iter().map(entry).collect()
}

async fn a_watcher_misses_nothing(mut home: Home) {
    let namespace = testkit::namespace(&home.client(), "restarts")
        .await
        .expect("a namespace");
    let mut watcher = Watcher::default();
    for round in 0..3 {
        let maps: Api<ConfigMap> = Api::namespaced(home.client(), &namespace);
        let expected = change(&maps, round).await;
        watcher.catch_up(&maps, &expected).await;
        // These happen while nobody looks, right before the end.
        let expected = change(&maps, round + 10).await;
        home.restart().await;
        let maps: Api<ConfigMap> = Api::namespaced(home.client(), &namespace);
        watcher.catch_up(&maps, &expected).await;
    }
}

#[tokio::test]
async fn a_watcher_misses_nothing_when_the_embedded_api_restarts() {
    a_watcher_misses_nothing(Home::embedded().await).await;
}

mod on_cluster {
    use super::{Home, a_watcher_misses_nothing};

    #[tokio::test]
    async fn a_watcher_misses_nothing_when_kube_apiserver_restarts() {
        a_watcher_misses_nothing(Home::real().await).await;
    }
}
