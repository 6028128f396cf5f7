//! The types of the built-in kinds as the API's documents show them, in the words of `OpenAPI` v3.
//!
//! [`super::definitions`] has them in the words of JSON schema, with what structural schemas need in addition. The
//! documents of kube-apiserver tell what each of the values means that a field may have; here they are only listed.

use serde_json::{Map, Value, json};

use super::definitions::{self, PRESERVE, referred};
use super::kind::Kind;

const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
pub(super) const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// A reference to a type by its name, such as `io.k8s.api.core.v1.Secret`.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The name of the type that a schema refers to.
pub(crate) fn name(schema: &Value) -> Option<&str> {
    referred(schema)
}

/// The types with these names, and all that they lead to.
pub(crate) fn types<'a>(names: impl IntoIterator<Item = &'a str>) -> Map<String, Value> {
    let definitions = definitions::all();
    let mut found = Map::new();
    let mut open: Vec<&str> = names.into_iter().collect();
    while let Some(name) = open.pop() {
        let definition = definitions.get(name).filter(|_| !found.contains_key(name));
        if let Some(definition) = definition {
            collect(definition, &mut open);
            found.insert(name.to_owned(), whole(name, definition));
        }
    }
    found
}

pub(super) fn of(kind: Kind) -> Value {
    reference(definitions::all().root(kind))
}

/// The names that a schema refers to.
fn collect<'a>(schema: &'a Value, names: &mut Vec<&'a str>) {
    names.extend(referred(schema));
    for key in ["items", "additionalProperties"] {
        if let Some(below) = schema.get(key) {
            collect(below, names);
        }
    }
    let fields = schema.get("properties").and_then(Value::as_object);
    for field in fields.into_iter().flat_map(Map::values) {
        collect(field, names);
    }
}

/// A type.
fn whole(name: &str, definition: &Value) -> Value {
    let mut shown = shown(definition);
    match name {
        INT_OR_STRING => {
            shown["format"] = "int-or-string".into();
            shown["oneOf"] = json!([{ "type": "integer" }, { "type": "string" }]);
        }
        QUANTITY => shown["oneOf"] = json!([{ "type": "string" }, { "type": "number" }]),
        _ => {}
    }
    shown
}

/// A schema somewhere in a type. A reference that something is said of besides stands in `allOf`, because readers look
/// at nothing next to a reference.
fn shown(schema: &Value) -> Value {
    let mut shown = Map::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let value = match key.as_str() {
            "$ref" | PRESERVE | "x-kubernetes-int-or-string" => continue,
            "items" | "additionalProperties" => self::shown(value),
            "properties" => fields(value),
            _ => value.clone(),
        };
        shown.insert(key.clone(), value);
    }
    list_values(&mut shown);
    match referred(schema) {
        Some(name) if shown.is_empty() => return reference(name),
        Some(name) => shown.insert("allOf".to_owned(), json!([reference(name)])),
        None => None,
    };
    Value::Object(shown)
}

fn fields(properties: &Value) -> Value {
    let fields = properties.as_object().into_iter().flatten();
    fields
        .map(|(name, schema)| (name.clone(), shown(schema)))
        .collect()
}

/// The values of a field are part of its description.
fn list_values(schema: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = schema.get("enum") else {
        return;
    };
    let values: Vec<String> = values.iter().map(|value| format!(" - `{value}`")).collect();
    if let Some(Value::String(description)) = schema.get_mut("description") {
        description.push_str("\n\nPossible enum values:\n");
        description.push_str(&values.join("\n"));
    }
}
