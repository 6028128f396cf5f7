//! Values as Go's `%v` and `%T` write them, which is how kube-apiserver's messages about strategic
//! merge patches show them.

use std::fmt;

use serde_json::Value;

/// A value as `%v` writes it: `map[a:1 b:[x y]]`.
pub(super) struct Shown<'a>(pub(super) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("<nil>"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::String(value) => f.write_str(value),
            Value::Array(items) => write!(f, "{}", ShownList(items)),
            Value::Object(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}:{}", Shown(value)))
                    .collect();
                write!(f, "map[{}]", fields.join(" "))
            }
        }
    }
}

/// A list as `%v` writes it: `[x y]`.
pub(super) struct ShownList<'a>(pub(super) &'a [Value]);

impl fmt::Display for ShownList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(|item| Shown(item).to_string()).collect();
        write!(f, "[{}]", items.join(" "))
    }
}

/// The type that Go decodes a value to.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
