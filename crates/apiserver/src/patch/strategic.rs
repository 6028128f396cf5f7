//! Strategic merge patch: a partial object whose lists are merged as the schema says.
//!
//! A patch may carry directives beside the fields: `$patch` replaces or deletes what it stands in,
//! `$retainKeys` lists the fields that stay, `$deleteFromPrimitiveList/x` takes values out of the
//! list `x`, and `$setElementOrder/x` says in which order its entries shall be. kubectl sends all
//! of them.

mod flaw;
mod list;
mod order;

use std::collections::BTreeSet;

use serde_json::Value;

use self::flaw::Flaw;
use super::go_syntax::type_of;
use super::merge::without_nulls;
use super::undecodable;
use crate::managed_fields::object_meta;
use crate::object::Object;
use crate::refusal::Refusal;
use crate::schema::Schema;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// What `current` becomes under `patch`, which must be an object or null, which changes nothing.
pub(super) fn apply(schema: &Schema, current: &Object, patch: &Value) -> Result<Object, Refusal> {
    match patch {
        Value::Object(patch) => {
            let root = Node {
                schema: Some(schema),
                is_root: true,
            };
            let mut merged = merge(root, current.clone(), patch)?;
            // What it is was clear before, whatever the patch leaves.
            for field in ["apiVersion", "kind"] {
                if let (false, Some(value)) = (merged.contains_key(field), current.get(field)) {
                    merged.insert(field.to_owned(), value.clone());
                }
            }
            Ok(merged)
        }
        Value::Null => Ok(current.clone()),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => Err(
            undecodable("", other, "value of type map[string]interface {}"),
        ),
    }
}

/// A place in the schema, or in a part of the object that has none.
#[derive(Clone, Copy)]
struct Node<'s> {
    schema: Option<&'s Schema>,
    is_root: bool,
}

impl<'s> Node<'s> {
    /// A field. Metadata is the same for all kinds, whether or not their schemas spell it out.
    fn field(self, name: &str) -> Self {
        let declared = self
            .schema
            .and_then(|schema| schema.properties.get(name).or(schema.additional.as_deref()));
        let schema = if self.is_root && name == "metadata" {
            Some(object_meta())
        } else {
            declared
        };
        Self {
            schema,
            is_root: false,
        }
    }

    /// An entry of a list.
    fn item(self) -> Self {
        let schema = self.schema.and_then(|schema| schema.items.as_deref());
        Self {
            schema,
            is_root: false,
        }
    }

    /// The rule by which a list is merged; nothing if it is replaced.
    fn merge(self) -> Option<&'s crate::schema::Merge> {
        self.schema.and_then(|schema| schema.merge.as_ref())
    }
}

fn merge(node: Node<'_>, mut original: Object, patch: &Object) -> Result<Object, Flaw> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return replace_or_delete(directive, patch);
    }
    if let Some(keys) = patch.get(RETAIN_KEYS) {
        retain_keys(&mut original, patch, keys)?;
    }
    let ordered = merge_ordered_lists(node, &mut original, patch)?;
    for (name, value) in patch {
        if name == RETAIN_KEYS || name.starts_with(ELEMENT_ORDER) || ordered.contains(name.as_str())
        {
            continue;
        }
        if name.starts_with(DELETE_FROM_LIST) {
            let name = directed_field(name, DELETE_FROM_LIST).ok_or(Flaw::PrimitiveList)?;
            delete_from_list(node.field(name), &mut original, name, value)?;
        } else {
            merge_field(node.field(name), &mut original, name, value)?;
        }
    }
    Ok(original)
}

/// A patch that does not merge: it stands for the whole, or nothing is left.
fn replace_or_delete(directive: &Value, patch: &Object) -> Result<Object, Flaw> {
    match directive.as_str() {
        Some("replace") => {
            let fields = patch
                .iter()
                .filter(|(name, value)| *name != DIRECTIVE && !value.is_null());
            Ok(fields
                .map(|(name, value)| (name.clone(), without_nulls(value.clone())))
                .collect())
        }
        Some("delete") => Ok(Object::new()),
        Some(_) | None => Err(Flaw::unknown_directive(directive, patch)),
    }
}

fn retain_keys(original: &mut Object, patch: &Object, keys: &Value) -> Result<(), Flaw> {
    let keys: BTreeSet<&str> = match keys {
        Value::Array(keys) => keys.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(Flaw::RetainKeys);
        }
    };
    let is_directive = |name: &str| {
        name == RETAIN_KEYS || name.starts_with(DELETE_FROM_LIST) || name.starts_with(ELEMENT_ORDER)
    };
    let is_listed = |(name, value): (&String, &Value)| {
        value.is_null() || is_directive(name) || keys.contains(name.as_str())
    };
    if !patch.iter().all(is_listed) {
        return Err(Flaw::RetainKeys);
    }
    original.retain(|name, _| keys.contains(name.as_str()));
    Ok(())
}

/// Merges the lists that come with an order and returns their names.
fn merge_ordered_lists<'p>(
    node: Node<'_>,
    original: &mut Object,
    patch: &'p Object,
) -> Result<BTreeSet<&'p str>, Flaw> {
    let mut done = BTreeSet::new();
    for (directive, order) in patch {
        if !directive.starts_with(ELEMENT_ORDER) {
            continue;
        }
        let order = list_or_flaw(order)?;
        let name = directed_field(directive, ELEMENT_ORDER).ok_or(Flaw::ElementOrder)?;
        let live = original.get(name).map(list_or_flaw).transpose()?;
        let patched = patch.get(name).map(list_or_flaw).transpose()?;
        let list = node.field(name);
        if list.schema.is_none() {
            return Err(Flaw::unknown_field(name));
        }
        if let Some(merged) = list::merge_in_order(list, live, patched, order)? {
            original.insert(name.to_owned(), Value::Array(merged));
            done.insert(name);
        }
    }
    Ok(done)
}

fn delete_from_list(
    node: Node<'_>,
    original: &mut Object,
    name: &str,
    value: &Value,
) -> Result<(), Flaw> {
    match (original.get_mut(name), value) {
        (_, Value::Null) => drop(original.remove(name)),
        (Some(Value::Array(live)), Value::Array(values)) => {
            *live = list::delete(node, live, values)?;
        }
        _ => {}
    }
    Ok(())
}

fn merge_field(
    node: Node<'_>,
    original: &mut Object,
    name: &str,
    value: &Value,
) -> Result<(), Flaw> {
    match (original.get_mut(name), value) {
        (_, Value::Null) => drop(original.remove(name)),
        // Taken as it stands: even what looks like a directive is a field here.
        (Some(_), value) if node.schema.is_some_and(|schema| schema.replaced) => {
            original.insert(name.to_owned(), value.clone());
        }
        (Some(Value::Object(live)), Value::Object(patch)) => {
            *live = merge(node, std::mem::take(live), patch)?;
        }
        (Some(Value::Array(live)), Value::Array(patch)) => {
            *live = list::merge(node, std::mem::take(live), patch)?;
        }
        (_, value) => match without_directives(without_nulls(value.clone())) {
            Some(value) => drop(original.insert(name.to_owned(), value)),
            None => drop(original.remove(name)),
        },
    }
    Ok(())
}

/// What is left of a value that has nothing to merge with: whatever carries a directive goes.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => Some(Value::Object(
            fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_directives(value)?)))
                .collect(),
        )),
        Value::Array(items) => Some(Value::Array(
            items.into_iter().filter_map(without_directives).collect(),
        )),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Some(scalar)
        }
    }
}

/// `x` in `$directive/x`.
fn directed_field<'a>(name: &'a str, directive: &str) -> Option<&'a str> {
    name.strip_prefix(directive)?.strip_prefix('/')
}

fn list_or_flaw(value: &Value) -> Result<&[Value], Flaw> {
    match value {
        Value::Array(items) => Ok(items),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => Err(Flaw::wrong_type("[]interface {}", type_of(other))),
    }
}
