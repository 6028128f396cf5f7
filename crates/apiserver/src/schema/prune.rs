//! Pruning: what the schema does not know is not stored.
//!
//! The object's own metadata, and that of embedded resources, is not described by the schema but is the same for all
//! kinds.

use serde_json::Value;

use super::{Schema, embedded};
use crate::object::Object;

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what is unknown from an object, and nulls that mean nothing.
///
/// Returns the paths of what was unknown: of the object's metadata, of the object, of embedded resources' metadata.
pub(super) fn object(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Value::Object(object) = object {
        unknown = embedded::prune_metadata(object, "");
    }
    let mut fields = Vec::new();
    let kept = Kept {
        meta: true,
        unknown: schema.preserve_unknown,
    };
    prune(Some(schema), kept, object, "", &mut fields);
    fields.sort();
    unknown.extend(fields);
    drop_nulls(schema, object);
    let mut fields = Vec::new();
    prune_embedded_metadata(schema, object, "", &mut fields);
    fields.sort();
    unknown.extend(fields);
    unknown
}

/// Drops what is unknown from a default value.
pub(super) fn value(schema: &Schema, value: &mut Value) {
    prune(Some(schema), Kept::by(schema), value, "", &mut Vec::new());
}

/// How much of a value is kept although its schema does not know it.
#[derive(Clone, Copy)]
struct Kept {
    /// Version, kind and metadata.
    meta: bool,
    /// All fields.
    unknown: bool,
}

impl Kept {
    fn by(schema: &Schema) -> Self {
        Self {
            meta: schema.embedded_resource,
            unknown: schema.preserve_unknown,
        }
    }

    const NOTHING: Self = Self {
        meta: false,
        unknown: false,
    };
}

fn prune(
    schema: Option<&Schema>,
    kept: Kept,
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
) {
    match value {
        Value::Object(object) => prune_object(schema, kept, object, path, unknown),
        Value::Array(list) => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            // Entries of a list that keeps everything keep everything too.
            let mut below = items.map_or(Kept::NOTHING, Kept::by);
            below.unknown |= kept.unknown;
            for (index, value) in list.iter_mut().enumerate() {
                prune(items, below, value, &format!("{path}[{index}]"), unknown);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_object(
    schema: Option<&Schema>,
    kept: Kept,
    object: &mut Object,
    path: &str,
    unknown: &mut Vec<String>,
) {
    let mut gone = Vec::new();
    for (name, value) in object.iter_mut() {
        if kept.meta && META.contains(&name.as_str()) {
            continue;
        }
        let below = join(path, name);
        match schema.and_then(|schema| field(schema, name)) {
            Some(known) => prune(Some(known), Kept::by(known), value, &below, unknown),
            None if kept.unknown => {}
            None if schema.is_some_and(|schema| schema.closed) => {
                prune(None, Kept::NOTHING, value, &below, unknown);
            }
            None => {
                gone.push(name.clone());
                unknown.push(below);
            }
        }
    }
    for name in gone {
        object.remove(&name);
    }
}

/// The schema of a field.
fn field<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
    schema.properties.get(name).or(schema.additional.as_deref())
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// A null where none is allowed is as good as nothing; if there is a default it is filled in later.
fn drop_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|name, value| {
                let Some(known) = field(schema, name) else {
                    return true;
                };
                drop_nulls(known, value);
                !value.is_null() || known.nullable || known.default.is_some()
            });
        }
        Value::Array(list) => {
            if let Some(items) = &schema.items {
                for value in list {
                    drop_nulls(items, value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn prune_embedded_metadata(
    schema: &Schema,
    value: &mut Value,
    path: &str,
    unknown: &mut Vec<String>,
) {
    match value {
        Value::Object(object) => {
            if schema.embedded_resource {
                unknown.extend(embedded::prune_metadata(object, path));
            }
            for (name, value) in object {
                if let Some(known) = field(schema, name) {
                    prune_embedded_metadata(known, value, &join(path, name), unknown);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &schema.items {
                for (index, value) in list.iter_mut().enumerate() {
                    prune_embedded_metadata(items, value, &format!("{path}[{index}]"), unknown);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
