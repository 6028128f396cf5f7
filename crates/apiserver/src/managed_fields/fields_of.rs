//! The fields that whoever applies an object owns then: all that it mentions.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field_set::{FieldSet, PathElement};
use super::node::{Node, Shape};
use crate::object::Object;
use crate::schema::Schema;

/// The fields of an object that has been judged.
pub(super) fn fields_of(schema: &Schema, object: &Object) -> FieldSet {
    below_map(Node::root(schema), object)
}

/// What is owned of a value: itself, and what is below it.
struct Owned {
    itself: bool,
    below: FieldSet,
}

fn owned(node: Node<'_>, value: &Value) -> Owned {
    let container = |below| Owned {
        itself: false,
        below,
    };
    match (node.judged_shape(value), value) {
        (Shape::Leaf, _) => Owned {
            itself: true,
            below: FieldSet::default(),
        },
        (Shape::Map, Value::Object(fields)) => container(below_map(node, fields)),
        (Shape::List, Value::Array(entries)) => container(below_list(node, entries)),
        // Null: whoever mentions it owns it, see below.
        (Shape::Map | Shape::List, _) => container(FieldSet::default()),
    }
}

fn below_map(node: Node<'_>, fields: &Map<String, Value>) -> FieldSet {
    let mut set = FieldSet::default();
    for (name, value) in fields {
        let Owned { itself, below } = owned(node.field(name), value);
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        // The entries of a map are made by whoever mentions them; fields of a schema are just there.
        let itself = itself || is_empty || !node.names(name);
        set.attach(PathElement::Field(name.clone()), itself, below);
    }
    set
}

/// Entries belong to whoever mentions them. Of twins nobody can own parts.
fn below_list(node: Node<'_>, entries: &[Value]) -> FieldSet {
    let mut named: BTreeMap<PathElement, Option<&Value>> = BTreeMap::new();
    for entry in entries {
        if let Ok(element) = node.element(entry) {
            named
                .entry(element)
                .and_modify(|twin| *twin = None)
                .or_insert(Some(entry));
        }
    }
    let mut set = FieldSet::default();
    for (element, entry) in named {
        let below = entry.map(|entry| owned(node.item(), entry).below);
        set.attach(element, true, below.unwrap_or_default());
    }
    set
}
