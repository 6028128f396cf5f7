//! A place in the schema of an object: what walks an object side by side with its schema stands on
//! these.
//!
//! The schema says how finely to look: maps field by field unless they are atomic, lists as a
//! whole unless their entries have keys or are a set. Where there is no schema, maps are looked
//! into and lists are not.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field_set::{FieldSet, PathElement, Scalar};
use super::object_meta::{object_meta, text};
use crate::schema::{ListKind, MapKind, Schema, Type};

/// A place in the schema, or in a part of the object that has none.
#[derive(Clone, Copy)]
pub(super) struct Node<'s> {
    pub(super) schema: Option<&'s Schema>,
    level: usize,
    /// Whether a level above has fields that no schema knows: then those below may, too.
    open: bool,
}

/// How a value is looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// As a whole.
    Leaf,
    Map,
    List,
}

/// A value that does not have the shape its schema promises, so that fields cannot be named.
#[derive(Debug, PartialEq)]
pub(super) struct Shapeless;

/// Why an entry of a list cannot be told from the others.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Nameless {
    #[error("associative list with keys may not have a null element")]
    Null,
    #[error("associative list with keys may not have non-map elements")]
    NoMap,
    #[error(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
        quoted(.0)
    )]
    NoKeys(Vec<String>),
    #[error("associative list without keys has an element that's a map type")]
    MapInSet,
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
    #[error("invalid indexing of non-associative list")]
    Atomic,
}

/// Below this level values are owned as a whole. A record names a field five levels deeper than it
/// is, and what nests more than `serde_json`'s 128 levels could not be read back from the disk.
pub(super) const DEEPEST: usize = 100;

impl<'s> Node<'s> {
    /// The place of the object itself.
    pub(super) fn root(schema: &'s Schema) -> Self {
        Self {
            schema: Some(schema),
            level: 0,
            open: false,
        }
    }

    /// The place of a field or of an entry of a map.
    pub(super) fn field(self, name: &str) -> Self {
        let declared = self.schema.and_then(|schema| schema.properties.get(name));
        let schema = match name {
            "metadata" if self.has_meta() => Some(object_meta()),
            "apiVersion" | "kind" if self.has_meta() => declared.or(Some(text())),
            _ => declared.or(self.schema.and_then(|schema| schema.additional.as_deref())),
        };
        self.below(schema)
    }

    /// The place of an entry of a list.
    pub(super) fn item(self) -> Self {
        self.below(self.schema.and_then(|schema| schema.items.as_deref()))
    }

    /// The place that one step of a path leads to.
    pub(super) fn step(self, element: &PathElement) -> Self {
        match element {
            PathElement::Field(name) => self.field(name),
            PathElement::Key(_) => self.item(),
            PathElement::Value(_) | PathElement::Index(_) => self.below(None),
        }
    }

    fn below(self, schema: Option<&'s Schema>) -> Self {
        Self {
            schema,
            level: self.level + 1,
            open: self.is_open()
                && !schema.is_some_and(|schema| std::ptr::eq(schema, object_meta())),
        }
    }

    /// Whether this is an object of its own: the whole, or one that is embedded in it.
    fn has_meta(self) -> bool {
        self.level == 0 || self.schema.is_some_and(|schema| schema.embedded_resource)
    }

    fn is_open(self) -> bool {
        self.open || self.schema.is_some_and(|schema| schema.preserve_unknown)
    }

    /// Whether the schema has a field of this name; the entries of a map have none.
    pub(super) fn names(self, field: &str) -> bool {
        let declared = self
            .schema
            .is_some_and(|schema| schema.properties.contains_key(field));
        declared || self.has_meta() && matches!(field, "apiVersion" | "kind" | "metadata")
    }

    /// Whether there may be a field of this name.
    pub(super) fn allows(self, field: &str) -> bool {
        let Some(schema) = self.schema else {
            return true;
        };
        // An object of which nothing is known may have anything in it.
        let is_free = schema.properties.is_empty() && !schema.closed && !self.has_meta();
        self.names(field) || schema.additional.is_some() || self.is_open() || is_free
    }

    /// The shape of a value; nothing for null, which is whatever it is compared with.
    pub(super) fn shape(self, value: &Value) -> Result<Option<Shape>, Shapeless> {
        let kind = self.schema.and_then(|schema| schema.kind);
        match (value, kind) {
            (Value::Null, _) => Ok(None),
            _ if self.level > DEEPEST => Ok(Some(Shape::Leaf)),
            (Value::Object(_), None | Some(Type::Object)) => Ok(Some(self.map_shape())),
            (Value::Array(_), None | Some(Type::Array)) => Ok(Some(self.list_shape())),
            (Value::Object(_) | Value::Array(_), Some(_))
            | (_, Some(Type::Object | Type::Array)) => Err(Shapeless),
            (Value::Bool(_) | Value::Number(_) | Value::String(_), _) => Ok(Some(Shape::Leaf)),
        }
    }

    /// The shape of what has been judged before. Null is what its schema says, or else an empty map.
    pub(super) fn judged_shape(self, value: &Value) -> Shape {
        match self.shape(value) {
            Ok(Some(shape)) => shape,
            Err(Shapeless) => Shape::Leaf,
            Ok(None) => match self.schema.and_then(|schema| schema.kind) {
                Some(Type::Object) | None => self.map_shape(),
                Some(Type::Array) => self.list_shape(),
                Some(Type::String | Type::Integer | Type::Number | Type::Boolean) => Shape::Leaf,
            },
        }
    }

    fn map_shape(self) -> Shape {
        match self.schema.map(|schema| schema.map) {
            Some(MapKind::Atomic) => Shape::Leaf,
            Some(MapKind::Granular) | None => Shape::Map,
        }
    }

    fn list_shape(self) -> Shape {
        match self.schema.map(|schema| &schema.list) {
            Some(ListKind::Atomic) | None => Shape::Leaf,
            Some(ListKind::Set | ListKind::Map(_)) => Shape::List,
        }
    }

    /// How an entry of the list at this place is named.
    pub(super) fn element(self, entry: &Value) -> Result<PathElement, Nameless> {
        match self.schema.map(|schema| &schema.list) {
            Some(ListKind::Map(keys)) => self.key(keys, entry),
            Some(ListKind::Set) => match entry {
                Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    Ok(PathElement::Value(Scalar(entry.clone())))
                }
                Value::Null => Err(Nameless::NullInSet),
                Value::Array(_) => Err(Nameless::ListInSet),
                Value::Object(_) => Err(Nameless::MapInSet),
            },
            Some(ListKind::Atomic) | None => Err(Nameless::Atomic),
        }
    }

    /// The values of the key fields that an entry has, or else their defaults.
    fn key(self, keys: &[String], entry: &Value) -> Result<PathElement, Nameless> {
        let entry = match entry {
            Value::Object(entry) => entry,
            Value::Null => return Err(Nameless::Null),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(Nameless::NoMap);
            }
        };
        let items = self.item().schema;
        let default =
            |name: &str| items.and_then(|items| items.properties.get(name)?.default.as_ref());
        let mut fields = BTreeMap::new();
        for name in keys {
            if let Some(value) = entry.get(name).or_else(|| default(name)) {
                fields.insert(name.clone(), Scalar(value.clone()));
            }
        }
        if fields.is_empty() && !keys.is_empty() {
            return Err(Nameless::NoKeys(keys.to_vec()));
        }
        Ok(PathElement::Key(fields))
    }
}

/// These fields, and those of the schema's own that lead to them: who owns `spec.color` has a say
/// in whether there is a `spec`, but not in whether there is a map that an entry is in.
pub(super) fn with_named_parents(node: Node<'_>, fields: FieldSet) -> FieldSet {
    fields.map_branches(|element, is_member, below| {
        let is_parent =
            !below.is_empty() && matches!(element, PathElement::Field(name) if node.names(name));
        (
            is_member || is_parent,
            with_named_parents(node.step(element), below),
        )
    })
}

fn quoted(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    texts.join(" ")
}
