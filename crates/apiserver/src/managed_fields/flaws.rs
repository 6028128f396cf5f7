//! What is wrong with the shape of an object, before anything is merged into it.
//!
//! Server-side apply does not guess: an object with a field that its kind does not have, a value of
//! the wrong type or an entry that cannot be told from another is refused as it is. The words are
//! kube-apiserver's.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::field_set::PathElement;
use super::node::Node;
use crate::object::Object;
use crate::patch::go_syntax::{Literal, Shown, type_of};
use crate::schema::{ListKind, Schema, Type};

/// Everything that is wrong; at least one thing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Flaws(Vec<Flaw>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Flaw {
    path: String,
    what: String,
}

/// Whether entries of a list may be named alike. Stored objects may have such twins; nobody may
/// apply them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Twins {
    Allowed,
    Refused,
}

/// Judges an object.
pub(super) fn check(schema: &Schema, object: &Object, twins: Twins) -> Result<(), Flaws> {
    let judge = Judge { twins };
    match judge.fields(Node::root(schema), object) {
        flaws if flaws.is_empty() => Ok(()),
        flaws => Err(Flaws(flaws)),
    }
}

impl fmt::Display for Flaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => one.fmt(f),
            several => {
                f.write_str("errors:")?;
                several.iter().try_for_each(|flaw| write!(f, "\n  {flaw}"))
            }
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.what),
            path => write!(f, "{path}: {}", self.what),
        }
    }
}

struct Judge {
    twins: Twins,
}

impl Judge {
    fn value(&self, node: Node<'_>, value: &Value) -> Vec<Flaw> {
        match (node.schema.and_then(|schema| schema.kind), value) {
            (None | Some(Type::Object), Value::Object(fields)) => self.fields(node, fields),
            (None | Some(Type::Array), Value::Array(entries)) => self.entries(node, entries),
            (_, Value::Null) | (None, Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                Vec::new()
            }
            (Some(kind), value) => {
                let any = node.schema.is_some_and(|schema| schema.any_scalar);
                misfit(kind, any, value).map(flaw).unwrap_or_default()
            }
        }
    }

    fn fields(&self, node: Node<'_>, fields: &Map<String, Value>) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        for (name, value) in fields {
            let element = PathElement::Field(name.clone());
            if !node.allows(name) {
                let undeclared = flaw("field not declared in schema".to_owned());
                flaws.extend(at(&element, undeclared));
                break;
            }
            flaws.extend(at(&element, self.value(node.field(name), value)));
        }
        flaws
    }

    fn entries(&self, node: Node<'_>, entries: &[Value]) -> Vec<Flaw> {
        let is_atomic = node
            .schema
            .is_none_or(|schema| schema.list == ListKind::Atomic);
        let mut flaws = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, entry) in (0..).zip(entries) {
            let element = if is_atomic {
                PathElement::Index(index)
            } else {
                match node.element(entry) {
                    Ok(element) => element,
                    Err(nameless) => {
                        flaws.extend(flaw(format!("element {index}: {nameless}")));
                        return flaws;
                    }
                }
            };
            if self.twins == Twins::Refused && seen.contains(&element) {
                flaws.extend(flaw(format!(
                    "duplicate entries for key {}",
                    element.shown()
                )));
            }
            flaws.extend(at(&element, self.value(node.item(), entry)));
            seen.insert(element);
        }
        flaws
    }
}

/// Why a value is not of a type, if it is not. Some texts are `any` scalar.
fn misfit(kind: Type, any: bool, value: &Value) -> Option<String> {
    match (kind, value) {
        (Type::String, Value::String(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Integer | Type::Number, Value::Number(_)) => return None,
        (Type::String, Value::Bool(_) | Value::Number(_)) if any => return None,
        (_, _) => {}
    }
    let shown = Shown(value);
    Some(match kind {
        Type::Object => format!("expected map, got &{{{shown}}}"),
        Type::Array => format!("expected list, got &{{{shown}}}"),
        Type::Boolean => format!("expected boolean, got &{{{shown}}}"),
        Type::String if any => format!("expected any scalar, got &{{{shown}}}"),
        Type::String => {
            let literal = Literal(value);
            format!("expected string, got &value.valueUnstructured{{Value:{literal}}}")
        }
        Type::Integer | Type::Number => {
            format!("expected numeric (int or float), got {}", type_of(value))
        }
    })
}

fn flaw(what: String) -> Vec<Flaw> {
    let path = String::new();
    vec![Flaw { path, what }]
}

/// The flaws of what is one step further down.
fn at(element: &PathElement, mut flaws: Vec<Flaw>) -> Vec<Flaw> {
    if !flaws.is_empty() {
        let step = element.shown();
        for flaw in &mut flaws {
            flaw.path.insert_str(0, &step);
        }
    }
    flaws
}
