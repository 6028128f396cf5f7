//! Empty lists, maps and `null`: Go does not write them out, unless a list must be there. Nor does
//! it write the line breaks that base64 may have.
//!
//! Only what the published types know is looked at. Types that may hold anything are left alone,
//! and with them the whole of CustomResourceDefinitions, whose schemas are full of values that mean
//! something.

use serde_json::Value;

use crate::builtin::definitions::{self, Definitions};
use crate::builtin::kind::Kind;
use crate::builtin::published::QUANTITY;
use crate::object::Object;

pub(super) fn drop(kind: Kind, object: &mut Object) {
    // A list of rules is written even if it is empty, and an empty record of managers is a wish to forget them.
    let rules =
        matches!(kind, Kind::ClusterRole | Kind::Role) && is_empty_list(object.get("rules"));
    let record = object
        .get("metadata")
        .and_then(|all| all.get("managedFields"));
    let record = is_empty_list(record);
    let definitions = definitions::all();
    if let Some(root) = definitions.get(definitions.root(kind)) {
        fields(definitions, root, object);
    }
    if rules {
        object.insert("rules".to_owned(), Value::Array(Vec::new()));
    }
    if let (true, Some(Value::Object(metadata))) = (record, object.get_mut("metadata")) {
        metadata.insert("managedFields".to_owned(), Value::Array(Vec::new()));
    }
}

fn is_empty_list(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.as_array().is_some_and(Vec::is_empty))
}

fn fields(definitions: &Definitions, schema: &Value, object: &mut Object) {
    let required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().any(|one| one == name)
    };
    object.retain(|name, value| {
        let Some(schema) = schema.get("properties").and_then(|all| all.get(name)) else {
            return true;
        };
        below(definitions, schema, value);
        required(name) && !value.is_null() || !is_empty(schema, value)
    });
}

fn below(definitions: &Definitions, schema: &Value, value: &mut Value) {
    let (name, schema) = definitions.resolve(schema).unwrap_or(("", schema));
    match value {
        // Quantities are texts, whatever they were written as.
        Value::Number(number) if name == QUANTITY => *value = number.to_string().into(),
        Value::Object(object) => match schema.get("additionalProperties") {
            Some(of) => object
                .values_mut()
                .for_each(|value| entry(definitions, of, value)),
            None => fields(definitions, schema, object),
        },
        Value::Array(values) => {
            if let Some(items) = schema.get("items") {
                for value in values {
                    below(definitions, items, value);
                }
            }
        }
        Value::String(text) if schema.get("format") == Some(&"byte".into()) => {
            text.retain(|letter| !matches!(letter, '\r' | '\n'));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The value of a map's entry: the entry stays, and `null` is what its type calls nothing.
fn entry(definitions: &Definitions, schema: &Value, value: &mut Value) {
    if value.is_null() && schema.get("type") == Some(&"string".into()) {
        *value = "".into();
    }
    below(definitions, schema, value);
}

/// Whether Go leaves a value out. Empty objects that have fields are told apart from missing ones.
fn is_empty(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(entries) => {
            entries.is_empty() && schema.get("additionalProperties").is_some()
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
