//! A disk that can be told to be full, or to break.

use std::sync::Mutex;

use futures_util::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams, WatchParams};
use kube::{Api, Client, ResourceExt};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;

use super::*;
use crate::admission::Caller;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::service::{Documents, Service};
use crate::store::Store;
use crate::tokens::Signer;
use crate::user::User;

/// Remembers what was committed, and fails as it is told.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    fails: Option<StorageError>,
    revision: u64,
}

impl Storage for Disk {
    fn commit(&mut self, batches: &[Batch]) -> Result<(), StorageError> {
        let mut state = self.0.lock().unwrap();
        if let Some(error) = &state.fails {
            return Err(error.clone());
        }
        let last = batches.last().map(|batch| batch.revision);
        state.revision = last.unwrap_or(state.revision);
        Ok(())
    }
}

impl Disk {
    fn fail(&self, error: Option<StorageError>) {
        self.0.lock().unwrap().fails = error;
    }
}

/// An API over such a disk, with the namespace `default` in it.
async fn api() -> (Disk, Arc<Shared>, Client) {
    let disk = Disk::default();
    let engine = Engine::new(Store::default(), StdRng::seed_from_u64(1));
    let (durability, committer) = Committer::new();
    let shared = Arc::new(Shared::new(
        engine,
        durability,
        Caller::default(),
        Clock::System,
    ));
    committer.start(Box::new(disk.clone()), Arc::downgrade(&shared));
    let herald = Arc::clone(&shared);
    tokio::spawn(async move { herald.herald().await });
    let documents = Arc::new(Documents::default());
    let service = Service::new(
        Arc::clone(&shared),
        documents,
        Signer::default(),
        User::admin(),
    );
    let client = Client::new(service, "default");
    let namespace = serde_json::from_value(json!({ "metadata": { "name": "default" } })).unwrap();
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client.clone());
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    (disk, shared, client)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap()
}

async fn names(maps: &Api<ConfigMap>) -> Vec<String> {
    let list = maps.list(&ListParams::default()).await.unwrap();
    list.items.iter().map(ResourceExt::name_any).collect()
}

fn code(error: &kube::Error) -> Option<u16> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    Some(status.code)
}

#[tokio::test]
async fn a_full_disk_refuses_writes_keeps_reading_and_recovers() {
    let (disk, _shared, client) = api().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    maps.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    disk.fail(Some(StorageError::Full));
    let refused = maps
        .create(&PostParams::default(), &config_map("b"))
        .await
        .unwrap_err();
    assert_eq!(code(&refused), Some(507), "{refused}");
    assert_eq!(names(&maps).await, ["a"]);
    disk.fail(None);
    maps.create(&PostParams::default(), &config_map("b"))
        .await
        .unwrap();
    assert_eq!(names(&maps).await, ["a", "b"]);
}

#[tokio::test]
async fn a_broken_disk_refuses_writes_and_keeps_reading() {
    let (disk, _shared, client) = api().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    maps.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    disk.fail(Some(StorageError::Broken("input/output error".into())));
    let refused = maps
        .create(&PostParams::default(), &config_map("b"))
        .await
        .unwrap_err();
    assert_eq!(code(&refused), Some(503), "{refused}");
    assert_eq!(names(&maps).await, ["a"]);
}

#[tokio::test]
async fn nobody_hears_of_what_did_not_reach_the_disk() {
    let (disk, shared, client) = api().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let params = WatchParams::default().timeout(1).disable_bookmarks();
    let revision = shared.published().to_string();
    disk.fail(Some(StorageError::Full));
    maps.create(&PostParams::default(), &config_map("lost"))
        .await
        .unwrap_err();
    disk.fail(None);
    maps.create(&PostParams::default(), &config_map("kept"))
        .await
        .unwrap();
    let events = maps.watch(&params, &revision).await.unwrap();
    let events: Vec<_> = futures_util::TryStreamExt::try_collect(events)
        .await
        .unwrap();
    let [kube::api::WatchEvent::Added(map)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(map.name_any(), "kept");
}

#[tokio::test]
async fn who_is_watching_hears_nothing_of_what_did_not_reach_the_disk() {
    let (disk, shared, client) = api().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let revision = shared.published().to_string();
    let params = WatchParams::default();
    let mut watch = maps.watch(&params, &revision).await.unwrap().boxed();
    assert!(watch.next().now_or_never().is_none());
    for (fails, name) in [(Some(StorageError::Full), "lost"), (None, "kept")] {
        disk.fail(fails);
        let (params, map) = (PostParams::default(), config_map(name));
        let written = maps.create(&params, &map).await;
        assert_eq!(written.is_ok(), name == "kept");
    }
    let event = watch.next().await;
    let Some(Ok(kube::api::WatchEvent::Added(map))) = event else {
        panic!("{event:?}");
    };
    assert_eq!(map.name_any(), "kept");
}

#[tokio::test]
async fn many_writers_share_one_commit_and_all_are_answered() {
    let (disk, shared, client) = api().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let writers = (0..64).map(|index| {
        let maps = maps.clone();
        tokio::spawn(async move {
            maps.create(&PostParams::default(), &config_map(&format!("m{index}")))
                .await
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(names(&maps).await.len(), 64);
    assert_eq!(disk.0.lock().unwrap().revision, shared.published());
}
