//! Why an operation cannot be performed, in the words of the library that kube-apiserver patches with.
//!
//! Whoever sends a patch is not told; whoever debugs a webhook needs to know.

use serde_json::Value;

use super::operation::{Operation, Verb};
use super::pointer::Pointer;

/// Says why `operation`, whose word is `word`, failed on `root`.
pub(super) fn explain(root: &mut Value, operation: &Operation<'_>, word: &str) -> String {
    let Some(text) = operation.path else {
        return format!("{word} operation failed to decode path: missing value");
    };
    let path = Pointer::parse(text);
    let from = operation.from.unwrap_or_default();
    match operation.verb {
        Verb::Unknown => format!("Unexpected kind: {word}"),
        Verb::Add => match container(&path, root) {
            None => format!(
                "add operation does not apply: doc is missing path: \"{text}\": missing value"
            ),
            Some((_, last)) => format!("error in add for path: '{text}': {}", wrong_index(last)),
        },
        Verb::Remove => match container(&path, root) {
            None => format!(
                "remove operation does not apply: doc is missing path: \"{text}\": missing value"
            ),
            Some((Value::Array(_), last)) => {
                format!("error in remove for path: '{text}': {}", wrong_index(last))
            }
            Some((_, last)) => format!(
                "error in remove for path: '{text}': Unable to remove nonexistent key: {last}: missing value"
            ),
        },
        Verb::Replace if container(&path, root).is_none() => {
            format!("replace operation does not apply: doc is missing path: {text}: missing value")
        }
        Verb::Replace => {
            format!("replace operation does not apply: doc is missing key: {text}: missing value")
        }
        Verb::Test if !path.is_root() && container(&path, root).is_none() => {
            format!("test operation does not apply: is missing path: {text}: missing value")
        }
        Verb::Test => format!("testing value {text} failed: test failed"),
        Verb::Move | Verb::Copy if container(&Pointer::parse(from), root).is_none() => {
            format!(
                "{word} operation does not apply: doc is missing from path: {from}: missing value"
            )
        }
        Verb::Move | Verb::Copy if container(&path, root).is_none() => {
            format!(
                "{word} operation does not apply: doc is missing destination path: {text}: missing value"
            )
        }
        Verb::Move | Verb::Copy => format!("error in {word} for path: '{text}': missing value"),
    }
}

/// What a path points into, if anything can be in it.
fn container<'a>(path: &'a Pointer, root: &'a mut Value) -> Option<(&'a mut Value, &'a str)> {
    let found = path.parent_mut(root)?;
    (found.0.is_object() || found.0.is_array()).then_some(found)
}

fn wrong_index(last: &str) -> String {
    match last.parse::<i64>() {
        Ok(index) => format!("Unable to access invalid index: {index}: invalid index referenced"),
        Err(_) => format!(
            "value was not a proper array index: '{last}': strconv.Atoi: parsing {last:?}: invalid syntax"
        ),
    }
}
