//! JSON merge patch (RFC 7386) as kube-apiserver does it.

use serde_json::Value;

use super::undecodable;
use crate::object::Object;
use crate::refusal::Refusal;

/// What `current` becomes under `patch`, which must be an object.
pub(super) fn apply(current: &Object, patch: &Value) -> Result<Object, Refusal> {
    match patch {
        Value::Object(patch) => {
            let mut object = current.clone();
            merge(&mut object, patch);
            Ok(object)
        }
        Value::Null => Err(Refusal::bad_request("Invalid JSON Patch")),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Err(undecodable(
                "error decoding patch: ",
                other,
                "value of type map[string]interface {}",
            ))
        }
    }
}

fn merge(object: &mut Object, patch: &Object) {
    for (name, value) in patch {
        match (object.get_mut(name), value) {
            (_, Value::Null) => drop(object.remove(name)),
            (Some(Value::Object(current)), Value::Object(patch)) => merge(current, patch),
            // Only here the API keeps nulls that are inside a list.
            (Some(current @ Value::Object(_)), value) => *current = value.clone(),
            (_, value) => drop(object.insert(name.clone(), without_nulls(value.clone()))),
        }
    }
}

/// The value without fields that are null, however deep they are. Entries of lists stay.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
    }
}
