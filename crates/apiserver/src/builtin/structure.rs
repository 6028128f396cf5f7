//! The tree that patches, pruning and managed fields walk, read from a kind's JSON schema.

use serde_json::Value;

use crate::schema::{ListKind, MapKind, Merge, Schema, Type};

/// Reads a schema without references.
pub(super) fn read(schema: &Value) -> Schema {
    let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let boxed = |key: &str| {
        let below = schema.get(key).filter(|value| value.is_object());
        below.map(|below| Box::new(read(below)))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    Schema {
        kind: kind(text("type")),
        properties: properties
            .map(|(name, value)| (name.clone(), read(value)))
            .collect(),
        additional: boxed("additionalProperties"),
        items: boxed("items"),
        default: schema.get("default").cloned(),
        list: match text("x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => ListKind::Map(texts(schema.get("x-kubernetes-list-map-keys"))),
            _ => ListKind::Atomic,
        },
        map: match text("x-kubernetes-map-type") {
            "atomic" => MapKind::Atomic,
            _ => MapKind::Granular,
        },
        preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
        int_or_string: flag("x-kubernetes-int-or-string"),
        any_scalar: text("type") == "string" && !matches!(text("format"), "" | "byte"),
        replaced: text("x-kubernetes-patch-strategy") == "replace",
        merge: merge(
            text("x-kubernetes-patch-strategy"),
            text("x-kubernetes-patch-merge-key"),
        ),
        ..Schema::default()
    }
}

fn merge(strategy: &str, key: &str) -> Option<Merge> {
    let has = |word: &str| strategy.split(',').any(|strategy| strategy == word);
    (has("merge") || has("retainKeys")).then(|| Merge {
        key: (!key.is_empty()).then(|| key.to_owned()),
        retain_keys: has("retainKeys"),
    })
}

fn kind(name: &str) -> Option<Type> {
    Some(match name {
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        _ => return None,
    })
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
