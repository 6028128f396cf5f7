//! One step on the way to a field.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::FieldsError;
use super::order::Scalar;

/// One step on the way to a field.
///
/// The order is the one in which API servers write them.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum PathElement {
    /// A field of an object or an entry of a map.
    Field(String),
    /// The entry of a list that has these values in its key fields.
    Key(BTreeMap<String, Scalar>),
    /// This value in a set.
    Value(Scalar),
    /// An entry of a list by its place. Old records have them; nobody writes them any more.
    Index(i64),
}

/// The way to a field, from the top. At least one step.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Path(pub(crate) Vec<PathElement>);

impl Path {
    /// The same way, after one more step at its start.
    pub(super) fn after(mut self, element: PathElement) -> Self {
        self.0.insert(0, element);
        self
    }
}

/// As messages write it: `.spec.ports[port=80].name`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|element| write!(f, "{}", element.shown()))
    }
}

impl PathElement {
    /// As messages write it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Field(name) => format!(".{name}"),
            Self::Key(fields) => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("{name}={}", shown_value(&value.0)))
                    .collect();
                format!("[{}]", fields.join(","))
            }
            Self::Value(value) => format!("[={}]", shown_value(&value.0)),
            Self::Index(index) => format!("[{index}]"),
        }
    }

    /// Reads a key of `FieldsV1`; nothing if it is of a kind that is not known.
    pub(super) fn read(text: &str) -> Result<Option<Self>, FieldsError> {
        let bad = || FieldsError::Element(text.to_owned());
        let (kind, content) = text
            .split_once(':')
            .filter(|(kind, _)| kind.len() == 1)
            .ok_or_else(bad)?;
        let element = match kind {
            "f" => Self::Field(content.to_owned()),
            "k" => Self::Key(read_key(content).ok_or_else(bad)?),
            "v" => Self::Value(Scalar(serde_json::from_str(content).map_err(|_| bad())?)),
            "i" => Self::Index(content.parse().map_err(|_| bad())?),
            _ => return Ok(None),
        };
        Ok(Some(element))
    }
}

fn read_key(content: &str) -> Option<BTreeMap<String, Scalar>> {
    let fields: BTreeMap<String, Value> = serde_json::from_str(content).ok()?;
    Some(
        fields
            .into_iter()
            .map(|(name, value)| (name, Scalar(value)))
            .collect(),
    )
}

/// As a key of `FieldsV1`.
impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, "f:{name}"),
            Self::Value(value) => write!(f, "v:{value}"),
            Self::Index(index) => write!(f, "i:{index}"),
            Self::Key(fields) => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())))
                    .collect();
                write!(f, "k:{{{}}}", fields.join(","))
            }
        }
    }
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Scalar(value.clone()).to_string()
        }
    }
}
