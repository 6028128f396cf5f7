//! Manifests against the embedded API and against kube-apiserver.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apiserver::Apiserver;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::client::Body;
use serde_json::json;
use testkit::control_plane::{self, Identity};
use tower::service_fn;

use super::*;

/// Each behaviour on each API.
macro_rules! on_both {
    ($($name:ident;)+) => {
        mod embedded {
            $(#[tokio::test]
            async fn $name() {
                let api = super::embedded_api().await;
                super::$name(api.client()).await;
            })+
        }
        mod on_cluster {
            $(#[tokio::test]
            async fn $name() {
                let plane = super::control_plane::shared().await;
                super::$name(plane.client(super::Identity::Admin)).await;
            })+
        }
    };
}

on_both! {
    what_is_new_is_created_and_what_is_there_is_merged;
    a_kind_may_come_with_its_objects;
    every_refusal_tells_its_place_and_hides_no_other_object;
    unknown_fields_are_refused;
    objects_may_come_before_their_namespace_and_in_lists;
}

async fn embedded_api() -> Apiserver {
    Apiserver::open(apiserver::Options::default())
        .await
        .unwrap()
}

/// One document for each object, ten lines apart.
fn documents(objects: &[Value]) -> Vec<Document> {
    let place = |(number, object): (usize, &Value)| Document {
        path: PathBuf::from("all.yaml"),
        line: 10 * number + 1,
        content: Ok(object.clone()),
    };
    objects.iter().enumerate().map(place).collect()
}

fn config_map(namespace: &str, name: &str, data: &Value) -> Value {
    let metadata = json!({ "namespace": namespace, "name": name });
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data })
}

/// Applies and expects so many new, so many changed, and these refusals.
async fn check(client: &Client, documents: &[Document], counts: (usize, usize), refused: &[&str]) {
    let applied = apply(client, documents).await;
    let told: Vec<String> = applied.refused.iter().map(ToString::to_string).collect();
    assert_eq!(told, refused);
    assert_eq!((applied.created, applied.configured), counts);
}

async fn what_is_new_is_created_and_what_is_there_is_merged(client: Client) {
    let namespace = testkit::namespace(&client, "apply").await.unwrap();
    let first = [config_map(&namespace, "a", &json!({ "x": "1", "y": "1" }))];
    check(&client, &documents(&first), (1, 0), &[]).await;
    let second = [
        config_map(&namespace, "a", &json!({ "x": "2" })),
        config_map(&namespace, "b", &json!({})),
    ];
    check(&client, &documents(&second), (1, 1), &[]).await;
    let stored = Api::<ConfigMap>::namespaced(client, &namespace)
        .get("a")
        .await
        .unwrap();
    assert_eq!(json!(stored.data), json!({ "x": "2", "y": "1" }));
}

/// A definition, and an object of its kind.
fn kind_and_object(group: &str, namespace: &str) -> [Value; 2] {
    let names = json!({ "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" });
    let schema = json!({ "openAPIV3Schema": { "type": "object" } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": schema });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("things.{group}") },
        "spec": { "group": group, "scope": "Namespaced", "names": names, "versions": [version] },
    });
    let object = json!({
        "apiVersion": format!("{group}/v1"),
        "kind": "Thing",
        "metadata": { "namespace": namespace, "name": "first" },
    });
    [definition, object]
}

async fn a_kind_may_come_with_its_objects(client: Client) {
    let namespace = testkit::namespace(&client, "apply").await.unwrap();
    let group = format!("{namespace}.example.org");
    let both = kind_and_object(&group, &namespace);
    check(&client, &documents(&both), (2, 0), &[]).await;
}

#[tokio::test]
async fn the_objects_of_a_kind_may_follow_it_at_once() {
    // What `up` does: first the kinds, then the manifests, without a look at the clock.
    let client = embedded_api().await.client();
    let [definition, object] = kind_and_object("example.org", "default");
    check(&client, &documents(&[definition]), (1, 0), &[]).await;
    check(&client, &documents(&[object]), (1, 0), &[]).await;
}

/// A way to an API that does not tell of a group for the first few times that it is asked.
fn late(api: &Client, group: &'static str) -> Client {
    let (api, asked) = (api.clone(), Arc::new(AtomicUsize::new(0)));
    let service = service_fn(move |mut request: Request<Body>| {
        let about = request.uri().path() == format!("/apis/{group}/v1");
        if about && asked.fetch_add(1, Ordering::SeqCst) < 4 {
            *request.uri_mut() = "/apis/unheard-of.example.org/v1".parse().unwrap();
        }
        let api = api.clone();
        async move { api.send(request).await }
    });
    Client::new(service, "default")
}

#[tokio::test]
async fn a_kind_is_waited_for_until_the_api_tells_of_it() {
    // kube-apiserver says that a definition is established a moment before it lists the kind.
    let client = late(&embedded_api().await.client(), "example.org");
    let both = kind_and_object("example.org", "default");
    check(&client, &documents(&both), (2, 0), &[]).await;
}

async fn every_refusal_tells_its_place_and_hides_no_other_object(client: Client) {
    let namespace = testkit::namespace(&client, "apply").await.unwrap();
    let mut documents = documents(&[
        config_map(&namespace, "Wrong", &json!({})),
        json!({ "apiVersion": "example.org/v1", "kind": "Thing", "metadata": { "name": "a" } }),
        json!({ "apiVersion": "v1", "kind": "Thing", "metadata": { "name": "a" } }),
        json!({ "just": "data" }),
        config_map(&namespace, "typo", &json!({ "x": 1 })),
        config_map(&namespace, "good", &json!({})),
    ]);
    documents.push(Document {
        path: PathBuf::from("broken.yaml"),
        line: 7,
        content: Err("not YAML".to_owned()),
    });
    let applied = apply(&client, &documents).await;
    assert_eq!((applied.created, applied.configured), (1, 0));
    let told: Vec<String> = applied.refused.iter().map(ToString::to_string).collect();
    let expected = [
        "broken.yaml:7: not YAML".to_owned(),
        format!("all.yaml:1: ConfigMap {namespace}/Wrong: "),
        "all.yaml:11: Thing a: the API has no kind Thing in example.org/v1".to_owned(),
        "all.yaml:21: Thing a: the API has no kind Thing in v1".to_owned(),
        "all.yaml:31: no apiVersion and kind: not a Kubernetes object".to_owned(),
        format!("all.yaml:41: ConfigMap {namespace}/typo: "),
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(&expected) {
        assert!(told.starts_with(expected), "{told}\n{expected}");
    }
    assert!(
        told[1].contains("a lowercase RFC 1123 subdomain"),
        "{}",
        told[1]
    );
}

async fn unknown_fields_are_refused(client: Client) {
    let namespace = testkit::namespace(&client, "apply").await.unwrap();
    let mut object = config_map(&namespace, "a", &json!({}));
    object["dtaa"] = json!({});
    let applied = apply(&client, &documents(&[object])).await;
    let told = applied.refused[0].to_string();
    assert!(told.contains("unknown field \"dtaa\""), "{told}");
}

async fn objects_may_come_before_their_namespace_and_in_lists(client: Client) {
    let namespace = testkit::namespace(&client, "apply").await.unwrap();
    let later = format!("{namespace}-later");
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [
        config_map(&later, "a", &json!({})),
        config_map(&later, "b", &json!({})),
        { "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": later } },
    ]});
    check(&client, &documents(&[list]), (3, 0), &[]).await;
}
