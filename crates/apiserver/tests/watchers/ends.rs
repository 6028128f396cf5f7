//! How watches end: by their time, with their kind, with the API.

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    WatchParams,
};
use kube::{Api, Client};
use serde_json::json;

use super::{SOON, next, open, watch};

#[tokio::test(start_paused = true)]
async fn a_watch_that_another_task_goes_on_with_ends_in_time() {
    let (_apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let params = WatchParams::default().timeout(200).disable_bookmarks();
    let mut watch = watch(&maps, &params).await;
    let began = tokio::time::Instant::now();
    assert!(watch.next().now_or_never().is_none());
    let events = tokio::spawn(watch.collect::<Vec<_>>()).await.unwrap();
    assert_eq!(events.len(), 0);
    assert_eq!(began.elapsed(), Duration::from_secs(200));
}

#[tokio::test]
async fn a_watch_ends_when_the_api_stops() {
    let (apiserver, client) = open().await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut watch = watch(&maps, &WatchParams::default()).await;
    assert!(watch.next().now_or_never().is_none());
    apiserver.shutdown(SOON).await;
    assert_eq!(next(&mut watch).await, None);
}

/// The definition of Things in two versions, of which the second may be switched off.
fn definition(second_served: bool) -> CustomResourceDefinition {
    let version = |name: &str, served: bool| {
        json!({ "name": name, "served": served, "storage": name == "v1", "schema": {
            "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true }
        } })
    };
    let definition = json!({ "metadata": { "name": "things.example.dev" }, "spec": {
        "group": "example.dev", "scope": "Namespaced",
        "names": { "plural": "things", "kind": "Thing" },
        "versions": [version("v1", true), version("v2", second_served)],
    } });
    serde_json::from_value(definition).expect("a definition")
}

fn things(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.dev", version, "Thing");
    let resource = ApiResource::from_gvk(&kind);
    Api::default_namespaced_with(client.clone(), &resource)
}

async fn make_thing(client: &Client, name: &str) {
    let thing =
        json!({ "apiVersion": "example.dev/v1", "kind": "Thing", "metadata": { "name": name } });
    let thing: DynamicObject = serde_json::from_value(thing).expect("a Thing");
    let made = things(client, "v1")
        .create(&PostParams::default(), &thing)
        .await;
    made.expect("nothing has this name yet");
}

#[tokio::test]
async fn a_watch_ends_with_its_kind_after_the_end_of_its_objects_is_told() {
    let (_apiserver, client) = open().await;
    testkit::crds::install(&client, &[definition(true)])
        .await
        .unwrap();
    let mut watch = watch(&things(&client, "v2"), &WatchParams::default()).await;
    make_thing(&client, "a").await;
    assert_eq!(next(&mut watch).await.as_deref(), Some("Added a"));
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let params = DeleteParams::default();
    definitions
        .delete("things.example.dev", &params)
        .await
        .unwrap();
    assert_eq!(next(&mut watch).await.as_deref(), Some("Deleted a"));
    assert_eq!(next(&mut watch).await, None);
}

#[tokio::test]
async fn a_version_that_is_no_longer_served_ends_its_watches_and_no_others() {
    let (_apiserver, client) = open().await;
    testkit::crds::install(&client, &[definition(true)])
        .await
        .unwrap();
    let mut first = watch(&things(&client, "v1"), &WatchParams::default()).await;
    let mut second = watch(&things(&client, "v2"), &WatchParams::default()).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let patch = json!({ "spec": definition(false).spec });
    let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
    let patched = definitions.patch("things.example.dev", &params, &patch);
    patched.await.unwrap();
    assert_eq!(next(&mut second).await, None);
    make_thing(&client, "a").await;
    assert_eq!(next(&mut first).await.as_deref(), Some("Added a"));
}
