//! Records that were written under another schema.
//!
//! A map or list that has become atomic since cannot be owned in parts any more: whoever owned a
//! part owns the whole.

use super::field_set::{FieldSet, PathElement};
use super::object_meta;
use crate::schema::{ListKind, MapKind, Schema, Type};

/// The fields as they are owned under this schema.
pub(super) fn reconcile(fields: FieldSet, schema: &Schema) -> FieldSet {
    fields.map_branches(|element, is_member, below| {
        let is_metadata = matches!(element, PathElement::Field(name) if name == "metadata");
        let child = if is_metadata {
            Some(object_meta())
        } else {
            child(schema, element)
        };
        fit(child, is_member, below)
    })
}

fn fit(schema: Option<&Schema>, is_member: bool, below: FieldSet) -> (bool, FieldSet) {
    match schema {
        None => (is_member, below),
        Some(schema) if is_atomic(schema) => (true, FieldSet::default()),
        Some(schema) => {
            let below = below.map_branches(|element, is_member, below| {
                fit(child(schema, element), is_member, below)
            });
            (is_member, below)
        }
    }
}

fn is_atomic(schema: &Schema) -> bool {
    match schema.kind {
        Some(Type::Array) => schema.list == ListKind::Atomic,
        Some(Type::Object) | None => schema.map == MapKind::Atomic,
        Some(Type::String | Type::Integer | Type::Number | Type::Boolean) => false,
    }
}

fn child<'s>(schema: &'s Schema, element: &PathElement) -> Option<&'s Schema> {
    match element {
        PathElement::Field(name) if name == "metadata" && schema.embedded_resource => {
            Some(object_meta())
        }
        PathElement::Field(name) => schema.properties.get(name).or(schema.additional.as_deref()),
        PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => {
            schema.items.as_deref()
        }
    }
}
