//! Schemas that describe some fields and leave the rest open.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceValidation,
};
use serde_json::{Map, Value, json};

/// An object with these fields, and any others.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": properties
    })
}

/// A list of such items.
pub(super) fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// A text.
pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// A whole number.
pub(super) fn number() -> Value {
    json!({ "type": "integer", "format": "int32" })
}

/// The schema with the fields that must be there.
pub(super) fn required(mut schema: Value, fields: &[&str]) -> Value {
    schema["required"] = json!(fields);
    schema
}

/// Groups below `k8s.io` are for approved APIs. An API server takes a definition in one only if this
/// says that it is approved, or that it is not.
const APPROVAL: (&str, &str) = (
    "api-approved.kubernetes.io",
    "unapproved, stands in where the Gateway API is not installed",
);

/// The definition with the schema of an object whose `spec` and `status` are as given, in every version.
pub(super) fn complete(
    mut crd: CustomResourceDefinition,
    spec: &Value,
    status: &Value,
) -> CustomResourceDefinition {
    let schema = json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": { "type": "object" },
            "spec": spec,
            "status": status
        }
    });
    let schema = serde_json::from_value(schema).expect("a schema built here is a schema");
    let schema = CustomResourceValidation {
        open_api_v3_schema: Some(schema),
    };
    for version in &mut crd.spec.versions {
        version.schema = Some(schema.clone());
    }
    if crd.spec.group.ends_with(".k8s.io") {
        let (key, value) = APPROVAL;
        crd.metadata
            .annotations
            .get_or_insert_default()
            .insert(key.to_owned(), value.to_owned());
    }
    crd
}
