//! Merging: an object with what somebody applies to it.
//!
//! Nothing is ever removed here. Where both have a value, that of the applied object counts; maps
//! are merged field by field and lists entry by entry where the schema says so.

mod list;

use serde_json::{Map, Value};

use super::node::{Node, Shape};
use crate::object::Object;
use crate::schema::Schema;

/// `live` with everything that is in `applied`. Both have been judged.
pub(super) fn merged(schema: &Schema, live: &Object, applied: &Object) -> Object {
    merge_fields(Node::root(schema), live, applied)
}

/// A value from either side or from both.
fn merge(node: Node<'_>, live: Option<&Value>, applied: Option<&Value>) -> Value {
    let Some(newest) = applied.or(live) else {
        return Value::Null;
    };
    let map = |value: Option<&Value>| {
        let map = value.and_then(Value::as_object);
        map.filter(|map| !map.is_empty()).cloned()
    };
    let list = |value: Option<&Value>| {
        let list = value.and_then(Value::as_array);
        list.filter(|list| !list.is_empty()).cloned()
    };
    match node.judged_shape(newest) {
        Shape::Leaf => newest.clone(),
        Shape::Map => match (map(live), map(applied)) {
            // Empty is not the same as null.
            (None, None) => newest.clone(),
            (live, applied) => {
                let (live, applied) = (live.unwrap_or_default(), applied.unwrap_or_default());
                Value::Object(merge_fields(node, &live, &applied))
            }
        },
        Shape::List => match (list(live), list(applied)) {
            (None, None) => newest.clone(),
            (live, applied) => {
                let (live, applied) = (live.unwrap_or_default(), applied.unwrap_or_default());
                Value::Array(list::merge_entries(node, &live, &applied))
            }
        },
    }
}

fn merge_fields(
    node: Node<'_>,
    live: &Map<String, Value>,
    applied: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = Map::new();
    let added = applied.keys().filter(|name| !live.contains_key(*name));
    for name in live.keys().chain(added) {
        let value = merge(node.field(name), live.get(name), applied.get(name));
        merged.insert(name.clone(), value);
    }
    merged
}
