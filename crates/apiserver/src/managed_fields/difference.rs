//! Which fields differ between two objects.
//!
//! The schema says how finely to look: maps field by field unless they are atomic, lists as a
//! whole unless their entries have keys or are a set. Where there is no schema, maps are looked
//! into and lists are not.

mod list;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::field_set::{FieldSet, PathElement, same};
use super::node::{Node, Shape, Shapeless};
use crate::object::Object;
use crate::schema::Schema;

/// What became of the fields of an object. No field is in more than one of the sets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Difference {
    pub(super) removed: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) added: FieldSet,
}

impl Difference {
    /// What makes `new` different from `old`. Something that was not there has no fields.
    pub(super) fn between(
        schema: &Schema,
        old: Option<&Object>,
        new: &Object,
    ) -> Result<Self, Shapeless> {
        let none = Map::new();
        compare_fields(Node::root(schema), old.unwrap_or(&none), new)
    }

    /// The same, but for these fields and everything below them.
    pub(super) fn without_branches(self, fields: &FieldSet) -> Self {
        Self {
            removed: self.removed.without_branches(fields),
            modified: self.modified.without_branches(fields),
            added: self.added.without_branches(fields),
        }
    }

    /// Attaches what was found out about a field or an entry.
    fn attach(&mut self, element: PathElement, found: Found) {
        let Found { itself, below } = found;
        let is = |fate| itself == Some(fate);
        self.removed
            .attach(element.clone(), is(Fate::Removed), below.removed);
        self.modified
            .attach(element.clone(), is(Fate::Modified), below.modified);
        self.added.attach(element, is(Fate::Added), below.added);
    }

    fn union(self, other: Self) -> Self {
        Self {
            removed: self.removed.union(other.removed),
            modified: self.modified.union(other.modified),
            added: self.added.union(other.added),
        }
    }
}

/// What became of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Removed,
    Modified,
    Added,
}

/// What became of a field and of those below it.
#[derive(Default)]
struct Found {
    itself: Option<Fate>,
    below: Difference,
}

impl Found {
    fn leaf(old: Option<&Value>, new: Option<&Value>) -> Self {
        let itself = match (old, new) {
            (Some(old), Some(new)) => (!same(old, new)).then_some(Fate::Modified),
            (old, new) => Self::container(old, new).itself,
        };
        Self {
            itself,
            below: Difference::default(),
        }
    }

    /// A container is only ever added or removed; what is modified is inside.
    fn container(old: Option<&Value>, new: Option<&Value>) -> Self {
        let itself = match (old, new) {
            (None, Some(_)) => Some(Fate::Added),
            (Some(_), None) => Some(Fate::Removed),
            (Some(_), Some(_)) | (None, None) => None,
        };
        Self {
            itself,
            below: Difference::default(),
        }
    }

    fn union(self, other: Self) -> Self {
        Self {
            itself: self.itself.or(other.itself),
            below: self.below.union(other.below),
        }
    }
}

fn compare(node: Node<'_>, old: Option<&Value>, new: Option<&Value>) -> Result<Found, Shapeless> {
    let shape = |value: Option<&Value>| value.map_or(Ok(None), |value| node.shape(value));
    match (shape(old)?, shape(new)?) {
        (None, None) => Ok(Found::leaf(old, new)),
        (Some(shape), None) | (None, Some(shape)) => compare_as(shape, node, old, new),
        (Some(before), Some(after)) if before == after => compare_as(after, node, old, new),
        (Some(before), Some(after)) => {
            Ok(compare_as(before, node, old, new)?.union(compare_as(after, node, old, new)?))
        }
    }
}

/// Compares two values as if both had this shape. One that has not counts as empty.
fn compare_as(
    shape: Shape,
    node: Node<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Result<Found, Shapeless> {
    let below = match shape {
        Shape::Leaf => return Ok(Found::leaf(old, new)),
        Shape::Map => {
            let none = Map::new();
            let old = old.and_then(Value::as_object).unwrap_or(&none);
            let new = new.and_then(Value::as_object).unwrap_or(&none);
            (!old.is_empty() || !new.is_empty()).then(|| compare_fields(node, old, new))
        }
        Shape::List => {
            let old = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let new = new.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            (!old.is_empty() || !new.is_empty()).then(|| list::compare_entries(node, old, new))
        }
    };
    match below {
        // Empty is still not the same as null or nothing.
        None => Ok(Found::leaf(old, new)),
        Some(below) => Ok(Found {
            below: below?,
            ..Found::container(old, new)
        }),
    }
}

fn compare_fields(
    node: Node<'_>,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Result<Difference, Shapeless> {
    let mut difference = Difference::default();
    let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
    let pairs = new
        .iter()
        .map(|(name, value)| (name, old.get(name), Some(value)));
    for (name, old, new) in gone
        .map(|(name, value)| (name, Some(value), None))
        .chain(pairs)
    {
        let found = compare(node.field(name), old, new)?;
        difference.attach(PathElement::Field(name.clone()), found);
    }
    Ok(difference)
}
