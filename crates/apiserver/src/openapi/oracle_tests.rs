//! The same kind, described by the real API.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};

use super::document;
use crate::table::fixtures::{self, Question};

const GROUP: &str = "openapi.example.org";
const OBJECT_META: &str = "/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// Descriptions appear a moment after the kind.
const DESCRIBED_WITHIN: Duration = Duration::from_secs(30);

async fn both() -> (Value, Value) {
    let plane = control_plane::shared().await;
    let client = plane.client(Identity::Admin);
    let definition = fixtures::gadget_definition(GROUP, &[]);
    plane
        .install(std::slice::from_ref(&definition))
        .await
        .unwrap();
    let path = format!("apis/{GROUP}/v1");
    let ours = document(&fixtures::of_definition(&definition), &path)
        .unwrap()
        .document;
    let url = format!("/openapi/v3/{path}");
    let described = async || match Question::get(&url, "").ask_json(&client).await {
        (200, real) => Ok(real),
        (code, _) => Err(format!("{code}")),
    };
    let real = testkit::eventually(DESCRIBED_WITHIN, "the kind to be described", described).await;
    (ours, real.unwrap())
}

#[tokio::test]
async fn operations_and_schemas_are_the_real_ones() {
    let (ours, real) = both().await;
    let paths = |document: &Value| -> Vec<String> {
        document["paths"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(paths(&ours), paths(&real));
    for path in paths(&ours) {
        for method in METHODS {
            let operation = |document: &Value| document["paths"][&path][method].clone();
            let (ours, real) = (operation(&ours), operation(&real));
            for field in [
                "operationId",
                "tags",
                "x-kubernetes-action",
                "x-kubernetes-group-version-kind",
            ] {
                assert_eq!(ours[field], real[field], "{method} {path} {field}");
            }
            let body = |operation: &Value| operation["requestBody"]["content"].clone();
            if method == "patch" {
                assert_eq!(body(&ours), body(&real), "{path}");
            }
        }
        // The real one moves what all operations of a path share to the path.
        let parameters = |document: &Value| -> Vec<String> {
            let item = &document["paths"][&path];
            let lists = METHODS.iter().map(|method| &item[method]["parameters"]);
            let all = lists
                .chain([&item["parameters"]])
                .filter_map(Value::as_array)
                .flatten();
            all.map(|parameter| format!("{} {}", parameter["name"], parameter["in"]))
                .collect()
        };
        let real = parameters(&real);
        for parameter in parameters(&ours) {
            assert!(real.contains(&parameter), "{path} {parameter}");
        }
    }
    let own = "/components/schemas/org.example.openapi.v1.Gadget";
    assert_eq!(ours.pointer(own), real.pointer(own));
}

#[tokio::test]
async fn metadata_is_described_with_how_it_merges() {
    let (ours, real) = both().await;
    let fields = |document: &Value| -> Vec<Value> {
        let metadata = document.pointer(OBJECT_META).unwrap();
        let hints = |(name, schema): (&String, &Value)| {
            let hints = schema.as_object().unwrap().iter();
            let hints: Vec<_> = hints
                .filter(|(key, _)| key.starts_with("x-kubernetes"))
                .collect();
            json!([name, hints, schema["type"]])
        };
        metadata["properties"]
            .as_object()
            .unwrap()
            .iter()
            .map(hints)
            .collect()
    };
    for (ours, real) in fields(&ours).iter().zip(fields(&real)) {
        // Times are a reference in the one and a text in the other.
        if !ours[0].as_str().unwrap().ends_with("Timestamp") {
            assert_eq!(*ours, real);
        }
    }
}
