//! Kinds in, documents out; what is asked is what kubectl asks.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Library;
use crate::builtin;
use crate::resource::{Resource, Subresources};
use crate::table::fixtures::resource;

fn kinds() -> Vec<Resource> {
    let mut gadgets = resource("views.example.org", "v1", "Gadget", "gadgets");
    gadgets.subresources = Subresources {
        status: true,
        scale: None,
    };
    gadgets.selectable_fields = ["spec.color".to_owned()].into();
    let mut namespaces = builtin::resources();
    namespaces.retain(|resource| resource.names.plural == "namespaces");
    std::iter::once(gadgets).chain(namespaces).collect()
}

fn gadgets() -> Value {
    document("views.example.org", "v1")
}

fn document(group: &str, version: &str) -> Value {
    let library = Library::new(&kinds(), None);
    let document = library.find(group, version).unwrap();
    serde_json::from_slice(&document.octets).unwrap()
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
    let library = Library::new(&kinds(), None);
    let root: Value = serde_json::from_slice(&library.root().octets).unwrap();
    let paths: Vec<&String> = root["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["api/v1", "apis/views.example.org/v1"]);
    assert_eq!(library.find("views.example.org", "v2"), None);
    let core = library.find("", "v1").unwrap();
    let url = format!("/openapi/v3/api/v1?hash={}", core.hash);
    assert_eq!(root["paths"]["api/v1"], json!({ "serverRelativeURL": url }));
    assert_eq!(core.address("", "v1"), url);
}

#[test]
fn only_what_changed_is_described_again() {
    let mut kinds = kinds();
    let first = Library::new(&kinds, None);
    kinds[0].schema = Arc::default();
    kinds[0].openapi = Arc::new(json!({ "type": "object", "description": "Another." }));
    let second = Library::new(&kinds, Some(&first));
    let address = |library: &Library, group| library.find(group, "v1").unwrap().octets.as_ptr();
    assert_eq!(address(&first, ""), address(&second, ""));
    let gadgets = |library: &Library| library.find("views.example.org", "v1").unwrap().clone();
    assert_ne!(gadgets(&first).hash, gadgets(&second).hash);
    assert_ne!(first.root().hash, second.root().hash);
    // The same kinds without one of them are other kinds.
    let less = Library::new(&kinds[1..], Some(&second));
    assert_eq!(address(&less, ""), address(&second, ""));
    assert_eq!(less.find("views.example.org", "v1"), None);
}

#[test]
fn kubectl_finds_that_patches_can_be_validated_and_tried() {
    for (kind, group, at) in [
        (
            "Gadget",
            "views.example.org",
            "/apis/views.example.org/v1/namespaces/{namespace}/gadgets/{name}",
        ),
        ("Namespace", "", "/api/v1/namespaces/{name}"),
    ] {
        let document = document(group, "v1");
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
    let custom = gadgets();
    let schema = &custom["components"]["schemas"]["org.example.views.v1.Gadget"];
    let gvk = json!([{"group": "views.example.org", "kind": "Gadget", "version": "v1"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], gvk);
    assert_eq!(
        schema["x-kubernetes-selectable-fields"],
        json!([{"fieldPath": "spec.color"}])
    );
    assert_eq!(schema["type"], "object");
    let list = &custom["components"]["schemas"]["org.example.views.v1.GadgetList"];
    assert_eq!(list["required"], json!(["items"]));
    let core = document("", "v1");
    let schema = &core["components"]["schemas"]["io.k8s.api.core.v1.Namespace"];
    let gvk = json!([{"group": "", "kind": "Namespace", "version": "v1"}]);
    assert_eq!(schema["x-kubernetes-group-version-kind"], gvk);
    assert_eq!(schema.get("x-kubernetes-selectable-fields"), None);
    let paths: Vec<&String> = core["paths"].as_object().unwrap().keys().collect();
    let one = "/api/v1/namespaces/{name}";
    let below = ["/finalize", "/status"].map(|below| format!("{one}{below}"));
    assert_eq!(paths, ["/api/v1/namespaces", one, &below[0], &below[1]]);
}

#[test]
fn every_reference_leads_somewhere() {
    for group in ["", "views.example.org"] {
        let document = document(group, "v1");
        let references = references(&document);
        assert!(!references.is_empty());
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{group} {reference}");
        }
    }
}

#[test]
fn one_document_of_everything_is_told_in_the_words_of_swagger() {
    let library = Library::new(&kinds(), None);
    let document: Value = serde_json::from_slice(&library.v2().octets).unwrap();
    assert_eq!(document["swagger"], "2.0");
    let definitions = document["definitions"].as_object().unwrap();
    for reference in references(&document) {
        let name = reference.strip_prefix("#/definitions/").unwrap();
        assert!(definitions.contains_key(name), "{name}");
    }
    let gadget = &definitions["org.example.views.v1.Gadget"];
    let gvk = json!([{ "group": "views.example.org", "version": "v1", "kind": "Gadget" }]);
    assert_eq!(gadget["x-kubernetes-group-version-kind"], gvk);
    let metadata = &gadget["properties"]["metadata"];
    let object_meta = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    assert_eq!(metadata["$ref"], object_meta);
    let at = "/apis/views.example.org/v1/namespaces/{namespace}/gadgets";
    let post = &document["paths"][at]["post"];
    let of_body = |parameter: &&Value| parameter["in"] == "body";
    let body = post["parameters"].as_array().unwrap().iter().find(of_body);
    let own = json!({ "$ref": "#/definitions/org.example.views.v1.Gadget" });
    assert_eq!(body.unwrap()["schema"], own);
    assert_eq!(post["responses"]["200"]["schema"], own);
    let dry_run = &post["parameters"][0];
    assert_eq!(
        (&dry_run["name"], &dry_run["type"]),
        (&json!("dryRun"), &json!("string"))
    );
    let text = document.to_string();
    for word in ["requestBody", "oneOf", "#/components"] {
        assert!(!text.contains(word), "{word}");
    }
}
