//! One operation of a JSON patch, read as leniently as kube-apiserver reads it.

use serde_json::{Map, Value};

use super::super::undecodable;
use crate::refusal::Refusal;

/// How messages about patches that cannot be read begin.
pub(super) const PREFIX: &str = "error decoding patch: ";

/// The fields that an operation may have.
const FIELDS: [&str; 4] = ["op", "path", "from", "value"];

/// One operation. What it lacks is found out when it is performed.
#[derive(Debug)]
pub(super) struct Operation<'a> {
    pub(super) verb: Verb,
    pub(super) path: Option<&'a str>,
    pub(super) from: Option<&'a str>,
    pub(super) value: Option<&'a Value>,
}

/// What to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verb {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
    /// A word that means nothing, or none at all.
    Unknown,
}

impl<'a> Operation<'a> {
    pub(super) fn read(value: &'a Value) -> Result<Self, Refusal> {
        let fields = match value {
            Value::Object(fields) => Some(fields),
            Value::Null => None,
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return Err(undecodable(
                    PREFIX,
                    other,
                    "value of type handlers.jsonPatchOp",
                ));
            }
        };
        Ok(Self {
            verb: Verb::of(text(fields, "op")?.unwrap_or_default()),
            path: text(fields, "path")?,
            from: text(fields, "from")?,
            value: fields.and_then(|fields| fields.get("value")),
        })
    }
}

impl Verb {
    fn of(word: &str) -> Self {
        match word {
            "add" => Self::Add,
            "remove" => Self::Remove,
            "replace" => Self::Replace,
            "move" => Self::Move,
            "copy" => Self::Copy,
            "test" => Self::Test,
            _ => Self::Unknown,
        }
    }
}

/// Fields of operations that mean nothing, as the API warns of them.
pub(crate) fn stray_fields(patch: &Value) -> Vec<String> {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let names = operations.flat_map(|(index, operation)| {
        let fields = operation.as_object().into_iter().flat_map(Map::keys);
        fields.map(move |name| (index, name))
    });
    names
        .filter(|(_, name)| !FIELDS.contains(&name.as_str()))
        .map(|(index, name)| format!("json patch unknown field \"[{index}].{name}\""))
        .collect()
}

/// A text, if there is one; null counts as none.
fn text<'a>(
    fields: Option<&'a Map<String, Value>>,
    name: &str,
) -> Result<Option<&'a str>, Refusal> {
    match fields.and_then(|fields| fields.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(undecodable(
            PREFIX,
            other,
            &format!("struct field jsonPatchOp.{name} of type string"),
        )),
    }
}
