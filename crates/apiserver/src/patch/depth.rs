//! How deep an object may become.
//!
//! A request is parsed by `serde_json`, which refuses what is nested too deeply, but a patch of many
//! small copies and moves could nest an object in itself until whoever walks it runs out of stack.

use serde_json::Value;

/// What `serde_json` still reads. A deeper object could be stored, but never loaded again.
pub(super) const DEEPEST: usize = 127;

/// Whether `value`, placed below `levels` others, would nest more deeply than can be read back.
pub(super) fn too_deep(value: &Value, levels: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => levels > DEEPEST,
        Value::Array(items) => {
            levels >= DEEPEST || items.iter().any(|item| too_deep(item, levels + 1))
        }
        Value::Object(fields) => {
            levels >= DEEPEST || fields.values().any(|field| too_deep(field, levels + 1))
        }
    }
}
