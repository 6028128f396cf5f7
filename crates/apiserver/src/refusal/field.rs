//! What is wrong with one field: the errors inside an `Invalid` refusal.

use std::fmt;

use serde_json::{Value, json};

/// One field that breaks one rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldError {
    pub(crate) path: FieldPath,
    pub(crate) fault: Fault,
    /// What the rule says, for people.
    pub(crate) detail: String,
}

/// How a field breaks a rule. The value, where there is one, is shown to the user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Required,
    Invalid(Value),
    /// An object or list as a whole, which is not shown.
    InvalidWhole,
    /// A value in a form of its own.
    InvalidText(String),
    /// A value of the wrong type; shown like `Invalid`.
    TypeInvalid(Value),
    NotSupported(Value),
    Duplicate(Value),
    /// A value in a form of its own.
    DuplicateText(String),
    /// An object or list as a whole, which is not shown.
    DuplicateWhole,
    Forbidden,
    TooLong,
    /// More entries than allowed, and how many there are.
    TooMany(usize),
    Internal,
}

/// A field's place in an object: `spec.ports[0].name`, `metadata.labels`.
///
/// Empty means the object itself, which messages show as `<nil>`.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct FieldPath(String);

impl FieldPath {
    /// The object itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// A path that is already written out.
    pub(crate) fn of(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// `path.field`
    #[must_use]
    pub(crate) fn field(&self, field: &str) -> Self {
        if self.0.is_empty() {
            Self(field.to_owned())
        } else {
            Self(format!("{}.{field}", self.0))
        }
    }

    /// `path[3]`
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// `path[key]`, an entry of a map.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// As it is written in messages; nothing for the object itself.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}

impl FieldError {
    pub(crate) fn new(path: FieldPath, fault: Fault, detail: impl Into<String>) -> Self {
        Self {
            path,
            fault,
            detail: detail.into(),
        }
    }

    pub(crate) fn required(path: FieldPath, detail: impl Into<String>) -> Self {
        Self::new(path, Fault::Required, detail)
    }

    pub(crate) fn invalid(
        path: FieldPath,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(path, Fault::Invalid(value.into()), detail)
    }

    pub(crate) fn forbidden(path: FieldPath, detail: impl Into<String>) -> Self {
        Self::new(path, Fault::Forbidden, detail)
    }

    /// An entry of `details.causes`.
    pub(super) fn cause(&self) -> Value {
        json!({ "reason": self.fault.reason(), "message": self.body(), "field": self.path.to_string() })
    }

    /// The message without the path.
    fn body(&self) -> String {
        let mut body = String::from(self.fault.title());
        match &self.fault {
            Fault::Invalid(value)
            | Fault::TypeInvalid(value)
            | Fault::NotSupported(value)
            | Fault::Duplicate(value) => body = format!("{body}: {}", Shown(value)),
            Fault::InvalidText(text) | Fault::DuplicateText(text) => {
                body = format!("{body}: {text}");
            }
            Fault::TooMany(count) => body = format!("{body}: {count}"),
            Fault::Required
            | Fault::InvalidWhole
            | Fault::DuplicateWhole
            | Fault::Forbidden
            | Fault::TooLong
            | Fault::Internal => {}
        }
        if !self.detail.is_empty() {
            body = format!("{body}: {}", self.detail);
        }
        body
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.body())
    }
}

impl Fault {
    fn title(&self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid(_) | Self::InvalidWhole | Self::InvalidText(_) | Self::TypeInvalid(_) => {
                "Invalid value"
            }
            Self::NotSupported(_) => "Unsupported value",
            Self::Duplicate(_) | Self::DuplicateText(_) | Self::DuplicateWhole => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany(_) => "Too many",
            Self::Internal => "Internal error",
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid(_) | Self::InvalidWhole | Self::InvalidText(_) => "FieldValueInvalid",
            Self::TypeInvalid(_) => "FieldValueTypeInvalid",
            Self::NotSupported(_) => "FieldValueNotSupported",
            Self::Duplicate(_) | Self::DuplicateText(_) | Self::DuplicateWhole => {
                "FieldValueDuplicate"
            }
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany(_) => "FieldValueTooMany",
            Self::Internal => "InternalError",
        }
    }
}

/// A value as messages show it: texts in quotes, fractions as Go prints them, everything else as JSON.
struct Shown<'a>(&'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_f64() {
            Some(number) if self.0.is_f64() => Fraction(number).fmt(f),
            Some(_) | None => self.0.fmt(f),
        }
    }
}

/// A number as Go prints it: the shortest digits, with an exponent only where it is far from 1.
pub(crate) struct Fraction(pub(crate) f64);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0;
        let far = number != 0.0 && !(1e-4..1e21).contains(&number.abs());
        if !far || !number.is_finite() {
            return write!(f, "{number}");
        }
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(f, "{digits}e{sign}{:02}", exponent.abs())
    }
}
