//! Values as expressions see them: what the schema says they are, and nothing that it does not know.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use kube_cel::cel;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value;

use super::kinds::{Kind, declared_metadata, escape};
use crate::object::Object;
use crate::schema::Schema;

/// Put before the names of fields that no expression can name, but that count when objects are compared.
const UNNAMEABLE: char = '\u{0}';

/// A value that a schema describes. Adds to `size` how many values it consists of.
pub(super) fn to_cel(
    schema: &Schema,
    is_resource: bool,
    value: &Value,
    size: &mut u64,
) -> cel::Value {
    *size += 1;
    match (Kind::of(schema, is_resource), value) {
        (Some(Kind::Map(_)), Value::Object(object)) => entries(schema, object, size),
        (Some(Kind::Object(_) | Kind::Resource(_)), Value::Object(object)) => {
            fields(schema, is_resource, object, size)
        }
        (Some(Kind::List(_)), Value::Array(list)) => {
            let items = schema.items.as_deref();
            let entries = list.iter().map(|value| match items {
                Some(items) => to_cel(items, items.embedded_resource, value, size),
                None => plain(value, size),
            });
            cel::Value::List(Arc::new(entries.collect()))
        }
        (Some(Kind::Double), Value::Number(number)) => {
            cel::Value::Float(number.as_f64().unwrap_or(f64::NAN))
        }
        (Some(Kind::Timestamp), Value::String(text)) => moment(text),
        (Some(Kind::Duration), Value::String(text)) => {
            cel::functions::duration(Arc::new(text.clone())).unwrap_or_else(|_| cel_text(text))
        }
        (Some(Kind::Bytes), Value::String(text)) => bytes(text),
        _ => plain(value, size),
    }
}

fn entries(schema: &Schema, object: &Object, size: &mut u64) -> cel::Value {
    let entries = object.iter().map(|(name, value)| {
        let value = match schema.additional.as_deref() {
            Some(values) => to_cel(values, values.embedded_resource, value, size),
            None => plain(value, size),
        };
        (Key::from(name.as_str()), value)
    });
    map(entries.collect())
}

/// Fields that are null are not there.
fn fields(schema: &Schema, is_resource: bool, object: &Object, size: &mut u64) -> cel::Value {
    let mut found = HashMap::with_capacity(object.len());
    for (name, value) in object {
        if value.is_null() {
            continue;
        }
        let value = match (name.as_str(), schema.properties.get(name)) {
            ("metadata", _) if is_resource && declared_metadata(schema).is_none() => {
                found.insert(Key::from("metadata"), names(value, size));
                continue;
            }
            ("apiVersion" | "kind", _) if is_resource => plain(value, size),
            (_, Some(property)) => to_cel(property, property.embedded_resource, value, size),
            (_, None) => {
                let hidden = format!("{UNNAMEABLE}{name}");
                found.insert(Key::from(hidden), plain(value, size));
                continue;
            }
        };
        let name = escape(name).unwrap_or_else(|| format!("{UNNAMEABLE}{name}"));
        found.insert(Key::from(name), value);
    }
    map(found)
}

/// Metadata is seen as the object's names.
fn names(metadata: &Value, size: &mut u64) -> cel::Value {
    let found = ["name", "generateName"].into_iter().filter_map(|name| {
        let value = metadata.get(name).filter(|value| !value.is_null())?;
        Some((Key::from(name), plain(value, size)))
    });
    map(found.collect())
}

/// A value that no schema describes.
pub(super) fn plain(value: &Value, size: &mut u64) -> cel::Value {
    *size += 1;
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => cel::Value::Int(whole),
            None => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel_text(text),
        Value::Array(list) => {
            let entries = list.iter().map(|value| plain(value, size));
            cel::Value::List(Arc::new(entries.collect()))
        }
        Value::Object(object) => {
            let entries = object
                .iter()
                .map(|(name, value)| (Key::from(name.as_str()), plain(value, size)));
            map(entries.collect())
        }
    }
}

/// A moment, or a day's first.
fn moment(text: &str) -> cel::Value {
    let at = if text.contains(['T', 't']) {
        text.to_owned()
    } else {
        format!("{text}T00:00:00Z")
    };
    cel::functions::timestamp(Arc::new(at)).unwrap_or_else(|_| cel_text(text))
}

fn bytes(text: &str) -> cel::Value {
    match base64::engine::general_purpose::STANDARD.decode(text) {
        Ok(bytes) => cel::Value::Bytes(Arc::new(bytes)),
        Err(_) => cel_text(text),
    }
}

fn cel_text(text: &str) -> cel::Value {
    cel::Value::String(Arc::new(text.to_owned()))
}

fn map(entries: HashMap<Key, cel::Value>) -> cel::Value {
    cel::Value::Map(Map {
        map: Arc::new(entries),
    })
}
