//! The schemas that operations and other schemas refer to by name.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::builtin::{self, published};
use crate::discovery::verbs;
use crate::resource::{Origin, Resource};

pub(super) use crate::builtin::published::reference;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";
pub(super) const TOKEN_REQUEST: &str = "io.k8s.api.authentication.v1.TokenRequest";

const PATCH_WORDS: &str =
    "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.";
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// `org.example.views.v1.Gadget`, `io.k8s.api.core.v1.ConfigMap`
pub(super) fn schema_name(resource: &Resource) -> String {
    match (resource.origin, published::name(&resource.openapi)) {
        (Origin::Builtin, Some(name)) => name.to_owned(),
        (Origin::Builtin | Origin::Custom, _) => {
            let package = reversed(&resource.names.group);
            format!("{package}.{}.{}", resource.version, resource.names.kind)
        }
    }
}

/// The name of the kind's list.
pub(super) fn list_name(resource: &Resource) -> String {
    let own = schema_name(resource);
    let package = own.strip_suffix(&resource.names.kind).unwrap_or(&own);
    format!("{package}{}", resource.names.list_kind)
}

/// All schemas of the document of these kinds: theirs, those of their lists, and whatever these and the operations
/// refer to.
pub(super) fn schemas(kinds: &[&Resource], paths: &Map<String, Value>) -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut referred = BTreeSet::new();
    paths.values().for_each(|path| note(path, &mut referred));
    for resource in kinds {
        if verbs(resource).contains(&"list") {
            schemas.insert(list_name(resource), list_schema(resource));
        }
        if resource.origin == Origin::Custom {
            schemas.insert(schema_name(resource), custom_schema(resource));
        }
    }
    schemas
        .values()
        .for_each(|schema| note(schema, &mut referred));
    if referred.contains(PATCH) {
        let patch = json!({ "description": PATCH_WORDS, "type": "object" });
        schemas.insert(PATCH.to_owned(), patch);
    }
    let referred = referred.iter().map(String::as_str);
    schemas.append(&mut published::types(referred));
    // A type may be of a kind that is served elsewhere: claims in a StatefulSet are.
    let builtin = builtin::resources();
    for resource in builtin.iter().chain(kinds.iter().copied()) {
        if let Some(own) = schemas.get_mut(&schema_name(resource)) {
            own[GROUP_VERSION_KIND] = self::kinds(resource, &resource.names.kind);
        }
    }
    for (name, group, kind) in [
        (SCALE, "autoscaling", "Scale"),
        (TOKEN_REQUEST, "authentication.k8s.io", "TokenRequest"),
    ] {
        if let Some(body) = schemas.get_mut(name) {
            body[GROUP_VERSION_KIND] = json!([{ "group": group, "kind": kind, "version": "v1" }]);
        }
    }
    schemas
}

/// Notes which schemas something refers to.
fn note(value: &Value, referred: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            referred.extend(published::name(value).map(str::to_owned));
            fields.values().for_each(|field| note(field, referred));
        }
        Value::Array(items) => items.iter().for_each(|item| note(item, referred)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn custom_schema(resource: &Resource) -> Value {
    let mut schema = resource.openapi.as_object().cloned().unwrap_or_default();
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["apiVersion"] = json!({ "description": API_VERSION, "type": "string" });
    properties["kind"] = json!({ "description": KIND, "type": "string" });
    properties["metadata"] = json!({
        "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        "allOf": [reference(OBJECT_META)],
    });
    schema.insert("type".to_owned(), "object".into());
    if !resource.selectable_fields.is_empty() {
        let field = |field: &String| json!({ "fieldPath": field });
        let fields: Value = resource.selectable_fields.iter().map(field).collect();
        schema.insert("x-kubernetes-selectable-fields".to_owned(), fields);
    }
    Value::Object(schema)
}

fn list_schema(resource: &Resource) -> Value {
    let names = &resource.names;
    let about = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
    json!({
        "description": format!("{} is a list of {}", names.list_kind, names.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": { "description": API_VERSION, "type": "string" },
            "kind": { "description": KIND, "type": "string" },
            "metadata": {
                "description": format!("Standard list metadata. {about}#types-kinds"),
                "allOf": [reference(LIST_META)],
            },
            "items": {
                "description": format!("List of {}. {about}", names.plural),
                "type": "array",
                "items": reference(&schema_name(resource)),
            },
        },
        GROUP_VERSION_KIND: kinds(resource, &names.list_kind),
    })
}

pub(super) const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

fn kinds(resource: &Resource, kind: &str) -> Value {
    json!([{ "group": resource.names.group, "kind": kind, "version": resource.version }])
}

/// `org.example.views` from `views.example.org`
fn reversed(group: &str) -> String {
    let mut labels: Vec<&str> = group.split('.').collect();
    labels.reverse();
    labels.join(".")
}
