//! Values as Go's `%v`, `%#v` and `%T` write them, which is how kube-apiserver's messages about
//! patches show them.

use std::fmt;

use serde_json::Value;

/// A value as `%v` writes it: `map[a:1 b:[x y]]`.
pub(crate) struct Shown<'a>(pub(crate) &'a Value);

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
pub(crate) struct ShownList<'a>(pub(crate) &'a [Value]);

impl fmt::Display for ShownList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(|item| Shown(item).to_string()).collect();
        write!(f, "[{}]", items.join(" "))
    }
}

/// A value as `%#v` writes it: `map[string]interface {}{"a":1}`.
pub(crate) struct Literal<'a>(pub(crate) &'a Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("interface {}(nil)"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::String(value) => write!(f, "{value:?}"),
            Value::Array(items) => {
                let items: Vec<String> =
                    items.iter().map(|item| Literal(item).to_string()).collect();
                write!(f, "[]interface {{}}{{{}}}", items.join(", "))
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("{name:?}:{}", Literal(value)))
                    .collect();
                write!(f, "map[string]interface {{}}{{{}}}", fields.join(", "))
            }
        }
    }
}

/// The type that Go decodes a value to.
pub(crate) fn type_of(value: &Value) -> &'static str {
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
