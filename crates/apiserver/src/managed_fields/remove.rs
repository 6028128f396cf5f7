//! An object without some of its fields.

use serde_json::{Map, Value};

use super::field_set::{FieldSet, PathElement};
use super::node::{Node, Shape};
use crate::object::Object;
use crate::schema::Schema;

/// What is left of an object that has been judged when these fields are taken away, each with
/// everything below it.
pub(super) fn without(schema: &Schema, object: &Object, fields: &FieldSet) -> Object {
    keep_fields(Node::root(schema), object, fields)
}

/// A map or list of which nothing is left is null.
fn keep(node: Node<'_>, value: &Value, fields: &FieldSet) -> Value {
    match (node.judged_shape(value), value) {
        (Shape::Map, Value::Object(map)) => match keep_fields(node, map, fields) {
            kept if kept.is_empty() => Value::Null,
            kept => Value::Object(kept),
        },
        (Shape::List, Value::Array(entries)) => match keep_entries(node, entries, fields) {
            kept if kept.is_empty() => Value::Null,
            kept => Value::Array(kept),
        },
        // What is owned as a whole has no parts to take away.
        (Shape::Leaf, Value::Object(_) | Value::Array(_)) | (Shape::Map | Shape::List, _) => {
            Value::Null
        }
        (Shape::Leaf, scalar) => scalar.clone(),
    }
}

fn keep_fields(node: Node<'_>, map: &Map<String, Value>, fields: &FieldSet) -> Map<String, Value> {
    let kept = map.iter().filter_map(|(name, value)| {
        let element = PathElement::Field(name.clone());
        let value = keep_at(node.field(name), &element, value, fields)?;
        Some((name.clone(), value))
    });
    kept.collect()
}

fn keep_entries(node: Node<'_>, entries: &[Value], fields: &FieldSet) -> Vec<Value> {
    let kept = entries
        .iter()
        .filter_map(|entry| match node.element(entry) {
            Ok(element) => keep_at(node.item(), &element, entry, fields),
            Err(_nameless) => Some(entry.clone()),
        });
    kept.collect()
}

fn keep_at(
    node: Node<'_>,
    element: &PathElement,
    value: &Value,
    fields: &FieldSet,
) -> Option<Value> {
    if fields.has(element) {
        return None;
    }
    Some(match fields.below(element) {
        Some(below) => keep(node, value, below),
        None => value.clone(),
    })
}
