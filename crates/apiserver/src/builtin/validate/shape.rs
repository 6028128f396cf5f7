//! Kinds that nobody here reads: what their schema requires must be there, and where it lists values no other is taken.

use serde_json::Value;

use super::Problems;
use crate::builtin::definitions::{self, Definitions};
use crate::builtin::kind::Kind;
use crate::object::Object;
use crate::refusal::FieldPath;

/// Fields of an object that are not its own: what everything has, and what others have found.
const NOT_ASKED: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

pub(super) fn judge(kind: Kind, object: &Object, problems: &mut Problems) {
    let definitions = definitions::all();
    let Some(root) = definitions.get(definitions.root(kind)) else {
        return;
    };
    fields(
        definitions,
        root,
        object,
        &|name| FieldPath::of(name),
        problems,
    );
}

fn fields(
    definitions: &Definitions,
    schema: &Value,
    object: &Object,
    at: &dyn Fn(&str) -> FieldPath,
    problems: &mut Problems,
) {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    for name in required.filter(|name| !NOT_ASKED.contains(name)) {
        if is_nothing(object.get(name)) {
            problems.required(&at(name), "");
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let value = object
            .get(name)
            .filter(|_| !NOT_ASKED.contains(&name.as_str()));
        if let Some(value) = value.filter(|value| !is_nothing(Some(value))) {
            judge_value(definitions, schema, value, &at(name), problems);
        }
    }
}

fn judge_value(
    definitions: &Definitions,
    schema: &Value,
    value: &Value,
    at: &FieldPath,
    problems: &mut Problems,
) {
    let whole = definitions
        .resolve(schema)
        .map_or(schema, |(_, whole)| whole);
    match value {
        Value::Object(object) => {
            fields(definitions, whole, object, &|name| at.field(name), problems);
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                if let Some(items) = whole.get("items") {
                    judge_value(definitions, items, value, &at.index(index), problems);
                }
            }
        }
        Value::String(_) => {
            let listed = schema.get("enum").and_then(Value::as_array);
            let listed: Option<Vec<&str>> =
                listed.map(|all| all.iter().filter_map(Value::as_str).collect());
            if let Some(listed) = listed {
                problems.one_of(at, Some(value), &listed);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether Go could not tell a value from one that was left out.
fn is_nothing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(values)) => values.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
    }
}
