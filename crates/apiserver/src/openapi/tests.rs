//! Kinds in, documents out; what is asked is what kubectl asks.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{document, paths, root};
use crate::resource::{Resource, Scope, Subresources};
use crate::table::fixtures::{builtin, resource};

fn kinds() -> Vec<Resource> {
    let mut gadgets = resource("views.example.org", "v1", "Gadget", "gadgets");
    gadgets.subresources = Subresources { status: true };
    gadgets.selectable_fields = ["spec.color".to_owned()].into();
    let mut namespaces = builtin("", "Namespace", "namespaces", Scope::Cluster);
    namespaces.selectable_fields = ["status.phase".to_owned()].into();
    vec![gadgets, namespaces]
}

fn gadgets() -> Value {
    document(&kinds(), "apis/views.example.org/v1")
        .unwrap()
        .document
}

/// Every `$ref` in a document.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields
                .get("$ref")
                .and_then(Value::as_str)
                .map(str::to_owned);
            own.into_iter()
                .chain(fields.values().flat_map(references))
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn there_is_one_document_for_each_group_and_version() {
    let paths: Vec<String> = paths(&kinds()).into_iter().collect();
    assert_eq!(paths, ["api/v1", "apis/views.example.org/v1"]);
    assert_eq!(document(&kinds(), "apis/views.example.org/v2"), None);
    let hash = document(&kinds(), "api/v1").unwrap().hash;
    let root = root(&BTreeMap::from([("api/v1".to_owned(), hash.clone())]));
    let url = format!("/openapi/v3/api/v1?hash={hash}");
    assert_eq!(
        root,
        json!({"paths": {"api/v1": {"serverRelativeURL": url}}})
    );
}

#[test]
fn kubectl_finds_that_patches_can_be_validated_and_tried() {
    for (path, kind, group, at) in [
        (
            "apis/views.example.org/v1",
            "Gadget",
            "views.example.org",
            "/apis/views.example.org/v1/namespaces/{namespace}/gadgets/{name}",
        ),
        ("api/v1", "Namespace", "", "/api/v1/namespaces/{name}"),
    ] {
        let document = document(&kinds(), path).unwrap().document;
        let patch = &document["paths"][at]["patch"];
        let gvk = json!({"group": group, "version": "v1", "kind": kind});
        assert_eq!(patch["x-kubernetes-group-version-kind"], gvk);
        assert_eq!(patch["x-kubernetes-action"], "patch");
        let parameters = patch["parameters"].as_array().unwrap();
        let names: Vec<&Value> = parameters
            .iter()
            .map(|parameter| &parameter["name"])
            .collect();
        assert_eq!(
            names,
            ["dryRun", "fieldManager", "fieldValidation", "force"]
        );
        assert!(
            parameters
                .iter()
                .all(|parameter| parameter["in"] == "query")
        );
    }
}

#[test]
fn operations_are_named_as_the_real_ones() {
    let document = gadgets();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "put", "post", "patch", "delete"] {
            if let Some(id) = item[method]["operationId"].as_str() {
                found.push(format!("{method} {path} {id}"));
            }
        }
    }
    let base = "/apis/views.example.org/v1";
    let all = format!("{base}/namespaces/{{namespace}}/gadgets");
    let mut expected = vec![
        format!("get {base}/gadgets listViewsExampleOrgV1GadgetForAllNamespaces"),
        format!("get {all} listViewsExampleOrgV1NamespacedGadget"),
        format!("post {all} createViewsExampleOrgV1NamespacedGadget"),
        format!("delete {all} deleteViewsExampleOrgV1CollectionNamespacedGadget"),
        format!("get {all}/{{name}} readViewsExampleOrgV1NamespacedGadget"),
        format!("put {all}/{{name}} replaceViewsExampleOrgV1NamespacedGadget"),
        format!("patch {all}/{{name}} patchViewsExampleOrgV1NamespacedGadget"),
        format!("delete {all}/{{name}} deleteViewsExampleOrgV1NamespacedGadget"),
        format!("get {all}/{{name}}/status readViewsExampleOrgV1NamespacedGadgetStatus"),
        format!("put {all}/{{name}}/status replaceViewsExampleOrgV1NamespacedGadgetStatus"),
        format!("patch {all}/{{name}}/status patchViewsExampleOrgV1NamespacedGadgetStatus"),
    ];
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_schema_says_which_kind_it_is_of() {
    let document = gadgets();
    let schema = &document["components"]["schemas"]["org.example.views.v1.Gadget"];
    let gvk = json!([{"group": "views.example.org", "kind": "Gadget", "version": "v1"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], gvk);
    assert_eq!(
        schema["x-kubernetes-selectable-fields"],
        json!([{"fieldPath": "spec.color"}])
    );
    assert_eq!(schema["type"], "object");
    let list = &document["components"]["schemas"]["org.example.views.v1.GadgetList"];
    assert_eq!(list["required"], json!(["items"]));
    let core = document_of("api/v1");
    let schema = &core["components"]["schemas"]["io.k8s.api.core.v1.Namespace"];
    assert!(schema.is_object());
    assert_eq!(schema.get("x-kubernetes-selectable-fields"), None);
    let paths: Vec<&String> = core["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/api/v1/namespaces", "/api/v1/namespaces/{name}"]);
}

fn document_of(path: &str) -> Value {
    document(&kinds(), path).unwrap().document
}

#[test]
fn every_reference_leads_somewhere() {
    for path in paths(&kinds()) {
        let document = document_of(&path);
        let references = references(&document);
        assert!(!references.is_empty());
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{path} {reference}");
        }
    }
}
