//! The same kinds, described by the real API.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};
use testkit::control_plane::{self, Identity};

use super::Library;
use crate::engine;
use crate::resource::Resource;
use crate::table::fixtures::{self, Question};

const GROUP: &str = "openapi.example.org";
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// Descriptions appear a moment after the kind.
const DESCRIBED_WITHIN: Duration = Duration::from_secs(30);

fn ours(kinds: &[Resource], (group, version): (&str, &str)) -> Value {
    let library = Library::new(kinds, None);
    serde_json::from_slice(&library.find(group, version).unwrap().octets).unwrap()
}

async fn real(client: &kube::Client, (group, version): (&str, &str)) -> Value {
    let url = format!("/openapi/v3/{}", super::path_of(group, version));
    let described = async || match Question::get(&url, "").ask_json(client).await {
        (200, real) => Ok(real),
        (code, _) => Err(format!("{code}")),
    };
    let real = testkit::eventually(DESCRIBED_WITHIN, "the kind to be described", described).await;
    real.unwrap()
}

async fn both() -> (Value, Value) {
    let plane = control_plane::shared().await;
    let definition = fixtures::gadget_definition(GROUP, &[]);
    plane
        .install(std::slice::from_ref(&definition))
        .await
        .unwrap();
    let group = (GROUP, "v1");
    let real = real(&plane.client(Identity::Admin), group).await;
    (ours(&fixtures::of_definition(&definition), group), real)
}

/// What is told of a document's operations, besides their parameters.
fn operations(document: &Value) -> Map<String, Value> {
    let mut operations = Map::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|method| item.get(method).is_some()) {
            let told = [
                "operationId",
                "tags",
                "x-kubernetes-action",
                "x-kubernetes-group-version-kind",
            ];
            let told: Value = told.map(|field| item[method][field].clone()).into();
            operations.insert(format!("{method} {path}"), told);
        }
    }
    operations
}

/// A schema without what readers do not look at: that Go writes out empty values is no default anyone chose, and
/// a reference on its own is as good as one in `allOf`, what is required has no order, and
/// unions were never made use of.
fn essence(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let is_zero =
                |value: &Value| [json!(""), json!({}), json!(0), json!(false)].contains(value);
            let mut fields: Map<String, Value> = fields
                .iter()
                .filter(|(key, value)| *key != "default" || !is_zero(value))
                .filter(|(key, _)| *key != "x-kubernetes-unions")
                .map(|(key, value)| (key.clone(), essence(value)))
                .collect();
            if let Some(Value::Array(required)) = fields.get_mut("required") {
                required.sort_by_key(ToString::to_string);
            }
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = without_meanings(description);
            }
            match fields
                .get("allOf")
                .and_then(Value::as_array)
                .map(Vec::as_slice)
            {
                Some([one]) if fields.len() == 1 => one.clone(),
                Some(_) | None => Value::Object(fields),
            }
        }
        Value::Array(values) => values.iter().map(essence).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// What the values of a field mean is told by the real API only.
fn without_meanings(description: &str) -> String {
    let Some((before, values)) = description.split_once("Possible enum values:") else {
        return description.to_owned();
    };
    let values = values.lines().filter(|line| line.starts_with(" - `"));
    let values = values.map(|line| line.split_inclusive('`').take(2).collect::<String>());
    let values: Vec<String> = values.collect();
    let before = before.trim_end();
    format!("{before}\n\nPossible enum values:\n{}", values.join("\n"))
}

#[tokio::test]
async fn built_in_kinds_are_described_as_the_real_ones() {
    let client = control_plane::shared().await.client(Identity::Admin);
    let kinds: Vec<Resource> = engine::permanent_kinds().collect();
    let groups: BTreeSet<(&str, &str)> = kinds
        .iter()
        .map(|kind| (kind.names.group.as_str(), kind.version.as_str()))
        .collect();
    let mut differences = Vec::new();
    for group in groups {
        let (ours, real) = (ours(&kinds, group), real(&client, group).await);
        let schemas = |document: &Value| {
            document["components"]["schemas"]
                .as_object()
                .unwrap()
                .clone()
        };
        let real_schemas = schemas(&real);
        for (name, ours) in schemas(&ours) {
            // Lists have descriptions of our own.
            if name.ends_with("List") {
                continue;
            }
            let mut real = essence(real_schemas.get(&name).unwrap_or(&Value::Null));
            // What all kinds share belongs to all groups there.
            if name.starts_with("io.k8s.apimachinery") {
                let real = real.as_object_mut();
                real.and_then(|real| real.remove("x-kubernetes-group-version-kind"));
            }
            tell(&name, &essence(&ours), &real, &mut differences);
        }
        let real_operations = operations(&real);
        for (operation, told) in operations(&ours) {
            let real = real_operations.get(&operation).unwrap_or(&Value::Null);
            tell(&operation, &told, real, &mut differences);
        }
    }
    let count = differences.len();
    assert!(count == 0, "{count} differ\n{}", differences.join("\n"));
}

#[tokio::test]
async fn one_document_of_everything_describes_kinds_as_the_real_one() {
    let client = control_plane::shared().await.client(Identity::Admin);
    let (_, real) = Question::get("/openapi/v2", "").ask_json(&client).await;
    let kinds: Vec<Resource> = engine::permanent_kinds().collect();
    let ours: Value = serde_json::from_slice(&Library::new(&kinds, None).v2().octets).unwrap();
    let mut differences = Vec::new();
    for (name, ours) in ours["definitions"].as_object().unwrap() {
        // Lists have descriptions of our own, and what all kinds share belongs to all groups there.
        if !name.ends_with("List") && !name.starts_with("io.k8s.apimachinery") {
            let real = essence(&real["definitions"][name]);
            tell(name, &essence(ours), &real, &mut differences);
        }
    }
    let count = differences.len();
    assert!(count == 0, "{count} differ\n{}", differences.join("\n"));
}

/// Where two values differ, as deep as it can be said.
fn tell(path: &str, ours: &Value, real: &Value, differences: &mut Vec<String>) {
    match (ours, real) {
        (Value::Object(ours), Value::Object(real)) => {
            let keys: BTreeSet<&String> = ours.keys().chain(real.keys()).collect();
            for key in keys {
                let of = |fields: &Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                tell(&format!("{path}/{key}"), &of(ours), &of(real), differences);
            }
        }
        (ours, real) if ours == real => {}
        (ours, real) => differences.push(format!("{path}\n  ours: {ours}\n  real: {real}")),
    }
}

#[tokio::test]
async fn custom_kinds_are_described_as_the_real_ones() {
    let (ours, real) = both().await;
    assert_eq!(operations(&ours), operations(&real));
    for path in ours["paths"].as_object().unwrap().keys() {
        let body =
            |document: &Value| document["paths"][path]["patch"]["requestBody"]["content"].clone();
        assert_eq!(body(&ours), body(&real), "{path}");
        // The real one moves what all operations of a path share to the path.
        let parameters = |document: &Value| -> Vec<String> {
            let item = &document["paths"][path];
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
