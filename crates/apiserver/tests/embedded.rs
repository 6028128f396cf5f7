//! The embedded API through its client: what a controller or a test sees of it.

use std::collections::BTreeMap;
use std::time::Duration;

use apiserver::{Apiserver, Clock, Options};
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, ServiceAccount};
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use testkit::eventually;

const SOON: Duration = Duration::from_secs(20);

async fn open() -> (Apiserver, Client) {
    let apiserver = Apiserver::open(Options::default())
        .await
        .expect("it can be made");
    let client = apiserver.client();
    (apiserver, client)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name }, "data": { "a": "1" } }))
        .expect("it can be made")
}

#[tokio::test]
async fn objects_are_created_read_changed_and_deleted() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let created = maps
        .create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    assert_eq!(maps.get("a").await.unwrap(), created);
    let patch = json!({ "data": { "b": "2" } });
    let patched = maps
        .patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    let expected = BTreeMap::from([
        ("a".to_owned(), "1".to_owned()),
        ("b".to_owned(), "2".to_owned()),
    ]);
    assert_eq!(patched.data, Some(expected));
    assert_ne!(patched.resource_version(), created.resource_version());
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let gone = maps.get("a").await.unwrap_err();
    assert!(matches!(gone, kube::Error::Api(status) if status.code == 404));
}

#[tokio::test]
async fn what_is_applied_is_merged_unless_somebody_else_owns_it() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let apply = async |manager: &str, value: &str| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": value, manager: value },
        });
        maps.patch("a", &PatchParams::apply(manager), &Patch::Apply(&object))
            .await
    };
    let created = apply("one", "1").await.unwrap();
    let again = apply("one", "1").await.unwrap();
    assert_eq!(again, created);
    let refused = apply("two", "2").await.unwrap_err();
    let kube::Error::Api(status) = refused else {
        panic!("the API refuses: {refused}");
    };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    let cause = &status.details.as_ref().unwrap().causes[0];
    assert_eq!(
        (cause.reason.as_str(), cause.field.as_str()),
        ("FieldManagerConflict", ".data.a")
    );
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "2" } });
    let force = PatchParams::apply("two").force();
    let taken = maps
        .patch("a", &force, &Patch::Apply(&object))
        .await
        .unwrap();
    let expected = BTreeMap::from(
        [("a", "2"), ("one", "1")].map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    assert_eq!(taken.data, Some(expected));
}

#[tokio::test]
async fn a_stale_update_is_refused() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let first = maps
        .create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    let patch = json!({ "data": { "b": "2" } });
    maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    let refused = maps
        .replace("a", &PostParams::default(), &first)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, kube::Error::Api(status) if status.code == 409 && status.reason == "Conflict")
    );
}

#[tokio::test]
async fn a_watch_tells_everything_in_order() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let begin = maps
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    let mut watch = maps
        .watch(&WatchParams::default(), &begin)
        .await
        .unwrap()
        .boxed();
    maps.create(&PostParams::default(), &config_map("a"))
        .await
        .unwrap();
    let patch = json!({ "data": { "b": "2" } });
    maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(match watch.try_next().await.unwrap().unwrap() {
            WatchEvent::Added(_) => "added",
            WatchEvent::Modified(_) => "modified",
            WatchEvent::Deleted(_) => "deleted",
            WatchEvent::Bookmark(_) | WatchEvent::Error(_) => "other",
        });
    }
    assert_eq!(seen, ["added", "modified", "deleted"]);
}

#[tokio::test]
async fn what_an_object_owned_goes_with_it() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let secrets: Api<Secret> = Api::default_namespaced(client);
    let owner = maps
        .create(&PostParams::default(), &config_map("owner"))
        .await
        .unwrap();
    let owned = json!({ "metadata": { "name": "owned", "ownerReferences": [
        { "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid().unwrap() }
    ] } });
    let owned: Secret = serde_json::from_value(owned).unwrap();
    secrets
        .create(&PostParams::default(), &owned)
        .await
        .unwrap();
    maps.delete("owner", &DeleteParams::default())
        .await
        .unwrap();
    let gone = eventually(SOON, "the owned secret to go", async || {
        match secrets.get_opt("owned").await.unwrap() {
            None => Ok(()),
            Some(_) => Err("it is still there"),
        }
    });
    gone.await.unwrap();
}

#[tokio::test]
async fn a_namespace_goes_with_everything_in_it() {
    let (_apiserver, client) = open().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace: Namespace =
        serde_json::from_value(json!({ "metadata": { "name": "team" } })).unwrap();
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "team");
    for index in 0..250 {
        maps.create(&PostParams::default(), &config_map(&format!("m{index}")))
            .await
            .unwrap();
    }
    namespaces
        .delete("team", &DeleteParams::default())
        .await
        .unwrap();
    let gone = eventually(SOON, "the namespace to go", async || {
        match namespaces.get_opt("team").await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    });
    gone.await.unwrap();
    assert_eq!(
        maps.list(&ListParams::default()).await.unwrap().items.len(),
        0
    );
}

#[tokio::test]
async fn a_list_is_read_page_by_page_at_one_revision() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for index in 0..10 {
        maps.create(&PostParams::default(), &config_map(&format!("m{index}")))
            .await
            .unwrap();
    }
    let mut names = Vec::new();
    let mut params = ListParams::default().limit(3);
    loop {
        let page = maps.list(&params).await.unwrap();
        names.extend(page.items.iter().map(ResourceExt::name_any));
        // Writes in between do not show.
        maps.delete(&format!("m{}", names.len()), &DeleteParams::default())
            .await
            .ok();
        maps.create(
            &PostParams::default(),
            &config_map(&format!("later{}", names.len())),
        )
        .await
        .unwrap();
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    let expected: Vec<String> = (0..10).map(|index| format!("m{index}")).collect();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn kinds_of_definitions_are_served_once_established() {
    let (_apiserver, client) = open().await;
    testkit::crds::install(&client, &api::crds::all())
        .await
        .unwrap();
    let zones: Api<api::Zone> = Api::default_namespaced(client);
    let zone = json!({ "apiVersion": "dns.kubi.zone/v1alpha1", "kind": "Zone", "metadata": { "name": "a" }, "spec": { "domainName": "example.org.", "delegations": [] } });
    let zone = serde_json::from_value(zone).unwrap();
    let created = zones.create(&PostParams::default(), &zone).await.unwrap();
    assert_eq!(created.metadata.generation, Some(1));
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let options = || Options {
        data: Some(directory.path().join("data")),
        ..Options::default()
    };
    let apiserver = Apiserver::open(options()).await.unwrap();
    testkit::crds::install(&apiserver.client(), &api::crds::all())
        .await
        .unwrap();
    let accounts: Api<ServiceAccount> = Api::default_namespaced(apiserver.client());
    let account = serde_json::from_value(json!({ "metadata": { "name": "a" } })).unwrap();
    let created = accounts
        .create(&PostParams::default(), &account)
        .await
        .unwrap();
    apiserver.shutdown(SOON).await;

    let apiserver = Apiserver::open(options()).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::default_namespaced(apiserver.client());
    assert_eq!(accounts.get("a").await.unwrap(), created);
    let zones: Api<api::Zone> = Api::default_namespaced(apiserver.client());
    assert_eq!(
        zones
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        0
    );
    apiserver.shutdown(SOON).await;
}

/// A few controllers' worth of traffic, told as a trace.
async fn trace(seed: u64) -> String {
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().expect("it works"));
    let apiserver = Apiserver::open(Options {
        seed: Some(seed),
        clock,
        ..Options::default()
    })
    .await
    .expect("it works");
    let client = apiserver.client();
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let watch = tokio::spawn({
        let maps = maps.clone();
        async move {
            let events = maps
                .watch(&WatchParams::default(), "0")
                .await
                .expect("it works");
            let events: Vec<_> = events.take(60).collect().await;
            format!("{events:?}")
        }
    });
    let mut writers = Vec::new();
    for writer in 0..4 {
        let maps = maps.clone();
        writers.push(tokio::spawn(async move {
            for round in 0..10 {
                let map: ConfigMap = serde_json::from_value(
                    json!({ "metadata": { "generateName": format!("w{writer}-") } }),
                )
                .expect("it works");
                let made = maps
                    .create(&PostParams::default(), &map)
                    .await
                    .expect("it works");
                tokio::time::sleep(Duration::from_secs(1 + round % 3)).await;
                if round % 2 == 0 {
                    maps.delete(&made.name_any(), &DeleteParams::default())
                        .await
                        .expect("it works");
                }
            }
        }));
    }
    for writer in writers {
        writer.await.expect("it works");
    }
    let events = watch.await.expect("it works");
    let list = maps.list(&ListParams::default()).await.expect("it works");
    format!("{events}\n{list:?}")
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(trace(seed))
    };
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
}
