//! Documents as clients keep them: by hash and etag, made once, and never in the way of others; and what Prometheus reads.

use std::time::Duration;

use apiserver::{Apiserver, Options, ResponseBody};
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderName, IF_NONE_MATCH, LOCATION, VARY,
};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use tower::ServiceExt as _;

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

async fn open() -> Apiserver {
    Apiserver::open(Options::default())
        .await
        .expect("an API without a disk opens")
}

async fn get(
    apiserver: &Apiserver,
    path: &str,
    headers: &[(HeaderName, &str)],
) -> Response<ResponseBody> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let request = request.body(Empty::<bytes::Bytes>::new());
    let request = request.expect("a path and headers make a request");
    apiserver.service().oneshot(request).await.unwrap()
}

fn header(response: &Response<ResponseBody>, name: HeaderName) -> Option<&str> {
    response
        .headers()
        .get(name)
        .map(|value| value.to_str().expect("our headers are texts"))
}

async fn body(response: Response<ResponseBody>) -> Value {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).expect("documents are JSON")
}

/// The address of a document, with its hash.
async fn address(apiserver: &Apiserver, path: &str) -> String {
    let root = body(get(apiserver, "/openapi/v3", &[]).await).await;
    let url = &root["paths"][path]["serverRelativeURL"];
    url.as_str()
        .expect("the root lists the document")
        .to_owned()
}

fn definition(number: usize) -> CustomResourceDefinition {
    let definition = json!({
        "metadata": { "name": format!("things.g{number}.example.dev") },
        "spec": {
            "group": format!("g{number}.example.dev"),
            "scope": "Namespaced",
            "names": { "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "a": { "type": "string" } } },
                } } },
            }],
        },
    });
    serde_json::from_value(definition).expect("a definition")
}

#[tokio::test]
async fn an_address_with_a_hash_never_changes() {
    let apiserver = open().await;
    let url = address(&apiserver, "api/v1").await;
    let response = get(&apiserver, &url, &[]).await;
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, CACHE_CONTROL), Some("public, immutable"));
    assert_eq!(header(&response, VARY), Some("Accept"));
    assert!(header(&response, EXPIRES).is_some());
    let hash = url.split_once("hash=").unwrap().1;
    assert_eq!(header(&response, ETAG), Some(&*format!("\"{hash}\"")));

    let outdated = get(&apiserver, "/openapi/v3/api/v1?hash=OUTDATED", &[]).await;
    assert_eq!(outdated.status(), 301);
    assert_eq!(header(&outdated, LOCATION), Some(&*url));

    let plain = get(&apiserver, "/openapi/v3/api/v1", &[]).await;
    assert_eq!(header(&plain, CACHE_CONTROL), Some("no-cache, private"));
    assert_eq!(header(&plain, EXPIRES), None);
}

#[tokio::test]
async fn what_a_client_has_is_not_sent_again() {
    let apiserver = open().await;
    let document = address(&apiserver, "apis/apps/v1").await;
    for (path, accept) in [
        ("/openapi/v3", "application/json"),
        (&*document, "application/json"),
        ("/api", AGGREGATED),
        ("/apis", AGGREGATED),
    ] {
        let accept = (ACCEPT, accept);
        let first = get(&apiserver, path, std::slice::from_ref(&accept)).await;
        let etag = header(&first, ETAG)
            .expect("documents have etags")
            .to_owned();
        let known = [accept.clone(), (IF_NONE_MATCH, &*etag)];
        let second = get(&apiserver, path, &known).await;
        assert_eq!(second.status(), 304, "{path}");
        assert_eq!(header(&second, CONTENT_TYPE), None, "{path}");
        assert_eq!(header(&second, ETAG), Some(&*etag), "{path}");
        let other = [accept, (IF_NONE_MATCH, "\"OTHER\"")];
        assert_eq!(get(&apiserver, path, &other).await.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn a_new_kind_changes_its_own_document_and_the_roots() {
    let apiserver = open().await;
    testkit::crds::install(&apiserver.client(), &[definition(1)])
        .await
        .unwrap();
    let before = [
        address(&apiserver, "api/v1").await,
        address(&apiserver, "apis/g1.example.dev/v1").await,
    ];
    let root = get(&apiserver, "/openapi/v3", &[]).await;
    let accept = [(ACCEPT, AGGREGATED)];
    let groups = get(&apiserver, "/apis", &accept).await;
    testkit::crds::install(&apiserver.client(), &[definition(2)])
        .await
        .unwrap();
    let after = [
        address(&apiserver, "api/v1").await,
        address(&apiserver, "apis/g1.example.dev/v1").await,
    ];
    assert_eq!(before, after);
    let new_root = get(&apiserver, "/openapi/v3", &[]).await;
    assert_ne!(header(&root, ETAG), header(&new_root, ETAG));
    let new_groups = get(&apiserver, "/apis", &accept).await;
    assert_ne!(header(&groups, ETAG), header(&new_groups, ETAG));
}

#[tokio::test]
async fn nobody_waits_while_documents_are_made() {
    let apiserver = open().await;
    let definitions: Vec<_> = (0..50).map(definition).collect();
    testkit::crds::install(&apiserver.client(), &definitions)
        .await
        .unwrap();
    // On one thread: whatever is not handed to another holds up the other request.
    let mut order = Vec::new();
    let (ended, mut ends) = tokio::sync::mpsc::unbounded_channel();
    let (ended, other) = (ended.clone(), ended);
    let documents = async {
        let response = get(&apiserver, "/openapi/v3", &[]).await;
        ended.send("documents").unwrap();
        response.status()
    };
    let object = async {
        let response = get(&apiserver, "/api/v1/namespaces/default", &[]).await;
        other.send("object").unwrap();
        response.status()
    };
    let (documents, object) = tokio::join!(biased; documents, object);
    assert_eq!((documents.as_u16(), object.as_u16()), (200, 200));
    while let Ok(end) = ends.try_recv() {
        order.push(end);
    }
    assert_eq!(order, ["object", "documents"]);
}

#[tokio::test]
async fn the_second_document_costs_next_to_nothing() {
    let apiserver = open().await;
    let timed = async |path: &str| {
        let begun = std::time::Instant::now();
        let response = get(&apiserver, path, &[]).await;
        assert_eq!(response.status(), 200);
        begun.elapsed()
    };
    let first = timed("/openapi/v3/apis/apps/v1").await;
    let second = timed("/openapi/v3/apis/apps/v1").await;
    println!("first {first:?}, second {second:?}");
    assert!(
        second * 4 < first.max(Duration::from_millis(4)),
        "{first:?} {second:?}"
    );
}

#[tokio::test]
async fn one_document_of_everything_is_there_in_both_forms() {
    let apiserver = open().await;
    let asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let message = get(&apiserver, "/openapi/v2", &[(ACCEPT, asked)]).await;
    let answered = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    assert_eq!(header(&message, CONTENT_TYPE), Some(answered));
    let etag = header(&message, ETAG).unwrap().to_owned();
    let again = [(ACCEPT, asked), (IF_NONE_MATCH, &*etag)];
    assert_eq!(get(&apiserver, "/openapi/v2", &again).await.status(), 304);
    let octets = message.into_body().collect().await.unwrap().to_bytes();
    // A protobuf message begins with the key of one of its fields.
    assert!([0x0a, 0x12, 0x42, 0x4a].contains(&octets[0]));
    let document = get(&apiserver, "/openapi/v2", &[]).await;
    assert_eq!(header(&document, CONTENT_TYPE), Some("application/json"));
    let document = body(document).await;
    assert!(document["definitions"]["io.k8s.api.core.v1.Pod"].is_object());
    let yaml = get(&apiserver, "/openapi/v2", &[(ACCEPT, "application/yaml")]).await;
    assert_eq!(yaml.status(), 406);
}

#[tokio::test]
async fn prometheus_reads_what_there_is_and_what_was_asked() {
    let apiserver = open().await;
    let metrics = async || {
        let response = get(&apiserver, "/metrics", &[]).await;
        assert_eq!(response.status(), 200);
        let form = "text/plain; version=0.0.4; charset=utf-8";
        assert_eq!(header(&response, CONTENT_TYPE), Some(form));
        let text = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(text.to_vec()).expect("it is text")
    };
    testkit::crds::install(&apiserver.client(), &[definition(1)])
        .await
        .unwrap();
    for (path, code) in [
        ("/api/v1/namespaces/default", 200),
        ("/api/v1/namespaces/missing", 404),
        ("/api/v1/namespaces/other", 404),
        ("/apis/example.dev/v1/unknown", 404),
    ] {
        assert_eq!(get(&apiserver, path, &[]).await.status(), code, "{path}");
    }
    let watch = get(&apiserver, "/api/v1/configmaps?watch=1", &[]).await;
    let told = metrics().await;
    for line in [
        "# TYPE apiserver_resource_objects gauge",
        r#"apiserver_resource_objects{group="",resource="namespaces"} 4"#,
        r#"apiserver_storage_objects{resource="namespaces"} 4"#,
        r#"apiserver_storage_objects{resource="customresourcedefinitions.apiextensions.k8s.io"} 1"#,
        r#"apiserver_longrunning_requests{verb="WATCH",group="",resource="configmaps"} 1"#,
        "# TYPE apiserver_request_total counter",
        r#"apiserver_request_total{verb="GET",group="",version="v1",resource="namespaces",code="200"} 1"#,
        r#"apiserver_request_total{verb="GET",group="",version="v1",resource="namespaces",code="404"} 2"#,
        r#"apiserver_request_total{verb="WATCH",group="",version="v1",resource="configmaps",code="200"} 1"#,
    ] {
        assert!(told.lines().any(|told| told == line), "{line}\n{told}");
    }
    assert!(!told.contains("unknown"), "{told}");
    drop(watch);
    assert!(!metrics().await.contains("apiserver_longrunning_requests{"));
}
