//! A set of fields: who owns what, as a tree.
//!
//! A field is named by the path that leads to it. Paths may be members of a set at any level:
//! owning `spec` does not mean owning `spec.color`, nor the other way round. On the wire a set is
//! JSON, `FieldsV1`: each level is an object whose keys are [`PathElement`]s, an empty object is a
//! member, and `.` tells that a field with members below it is a member itself.

mod element;
mod order;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value};

pub(crate) use element::{Path, PathElement};
pub(crate) use order::{Scalar, same};

/// A set of fields.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FieldSet {
    /// No node is empty: it is a member, or there are members below it.
    nodes: BTreeMap<PathElement, Node>,
}

/// A field that is in the set, or that leads to some that are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Node {
    is_member: bool,
    below: FieldSet,
}

/// `FieldsV1` that cannot be read.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FieldsError {
    #[error("a set of fields must be an object")]
    NoObject,
    #[error("not the name of a field, a key or a value: {0}")]
    Element(String),
}

impl FieldSet {
    /// Whether nothing is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether this step from the top is in the set.
    pub(crate) fn has(&self, element: &PathElement) -> bool {
        self.nodes.get(element).is_some_and(|node| node.is_member)
    }

    /// What is in the set below this step from the top, if anything is.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&Self> {
        let node = self.nodes.get(element)?;
        (!node.below.is_empty()).then_some(&node.below)
    }

    /// The paths of all members. At each level those that end there come first.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let here = self.nodes.iter().filter(|(_, node)| node.is_member);
        let here = here.map(|(element, _)| Path(vec![element.clone()]));
        let below = self.nodes.iter().flat_map(|(element, node)| {
            let paths = node.below.paths().into_iter();
            paths.map(|path| path.after(element.clone()))
        });
        here.chain(below).collect()
    }

    /// Whether the field at this path is in the set.
    #[cfg(test)]
    pub(crate) fn contains(&self, Path(path): &Path) -> bool {
        let Some((last, parents)) = path.split_last() else {
            return false;
        };
        let parent = parents
            .iter()
            .try_fold(self, |set, element| Some(&set.nodes.get(element)?.below));
        parent
            .and_then(|set| set.nodes.get(last))
            .is_some_and(|node| node.is_member)
    }

    /// Adds the field that is reached through these names.
    pub(crate) fn insert_fields(&mut self, names: &[&str]) {
        let path = names
            .iter()
            .map(|name| PathElement::Field((*name).to_owned()));
        self.insert(path);
    }

    /// Adds the field at this path. The root itself is never a member.
    pub(crate) fn insert(&mut self, path: impl IntoIterator<Item = PathElement>) {
        let mut path = path.into_iter().peekable();
        let mut set = self;
        while let Some(element) = path.next() {
            let node = set.nodes.entry(element).or_default();
            node.is_member |= path.peek().is_none();
            set = &mut node.below;
        }
    }

    /// Puts a whole branch at `element`, where nothing is yet.
    pub(crate) fn attach(&mut self, element: PathElement, is_member: bool, below: Self) {
        let node = Node { is_member, below };
        if !node.is_empty() {
            self.nodes.insert(element, node);
        }
    }

    /// What is in either.
    #[must_use]
    pub(crate) fn union(mut self, other: Self) -> Self {
        for (element, node) in other.nodes {
            match self.nodes.entry(element) {
                Entry::Vacant(free) => drop(free.insert(node)),
                Entry::Occupied(mut taken) => {
                    let mine = taken.get_mut();
                    mine.is_member |= node.is_member;
                    mine.below = std::mem::take(&mut mine.below).union(node.below);
                }
            }
        }
        self
    }

    /// What is in both.
    #[must_use]
    pub(crate) fn intersection(mut self, other: &Self) -> Self {
        self.keep(|element, node| match other.nodes.get(element) {
            Some(theirs) => Node {
                is_member: node.is_member && theirs.is_member,
                below: node.below.intersection(&theirs.below),
            },
            None => Node::default(),
        });
        self
    }

    /// What is in this one but not in `other`. Each path counts for itself: taking away `spec`
    /// leaves `spec.color`.
    #[must_use]
    pub(crate) fn difference(mut self, other: &Self) -> Self {
        self.keep(|element, node| match other.nodes.get(element) {
            Some(theirs) => Node {
                is_member: node.is_member && !theirs.is_member,
                below: node.below.difference(&theirs.below),
            },
            None => node,
        });
        self
    }

    /// What is in this one but neither in `other` nor below something that is.
    #[must_use]
    pub(crate) fn without_branches(mut self, other: &Self) -> Self {
        self.keep(|element, node| match other.nodes.get(element) {
            Some(theirs) if theirs.is_member => Node::default(),
            Some(theirs) => Node {
                below: node.below.without_branches(&theirs.below),
                ..node
            },
            None => node,
        });
        self
    }

    /// Rewrites each branch; `edit` is told where it is.
    pub(crate) fn map_branches(
        mut self,
        edit: impl Fn(&PathElement, bool, Self) -> (bool, Self),
    ) -> Self {
        self.keep(|element, node| {
            let (is_member, below) = edit(element, node.is_member, node.below);
            Node { is_member, below }
        });
        self
    }

    /// Reads `FieldsV1`. What kinds of path elements the future brings is skipped.
    pub(crate) fn read(fields: &Value) -> Result<Self, FieldsError> {
        Ok(Node::read(fields)?.below)
    }

    /// Writes `FieldsV1`.
    pub(crate) fn write(&self) -> Value {
        let nodes = self.nodes.iter();
        Value::Object(
            nodes
                .map(|(element, node)| (element.to_string(), node.write()))
                .collect(),
        )
    }

    fn keep(&mut self, edit: impl Fn(&PathElement, Node) -> Node) {
        self.nodes.retain(|element, node| {
            *node = edit(element, std::mem::take(node));
            !node.is_empty()
        });
    }
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }

    /// A field without anything below it is a member, or it would not have been written.
    fn read(value: &Value) -> Result<Self, FieldsError> {
        let none = Map::new();
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => &none,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(FieldsError::NoObject);
            }
        };
        let mut below = FieldSet::default();
        for (text, value) in fields.iter().filter(|(text, _)| *text != ".") {
            if let Some(element) = PathElement::read(text)? {
                below.nodes.insert(element, Self::read(value)?);
            }
        }
        let is_member = below.is_empty() || fields.contains_key(".");
        Ok(Self { is_member, below })
    }

    fn write(&self) -> Value {
        let mut value = self.below.write();
        if let Value::Object(fields) = &mut value
            && self.is_member
            && !self.below.is_empty()
        {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        value
    }
}
