//! A growing list of what is wrong with an object.

use serde_json::Value;

use crate::builtin::fields::Fields as _;
use crate::metadata::text;
use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath};

#[derive(Default)]
pub(super) struct Problems(Vec<FieldError>);

impl Problems {
    pub(super) fn found(self) -> Vec<FieldError> {
        self.0
    }

    pub(super) fn extend(&mut self, more: Vec<FieldError>) {
        self.0.extend(more);
    }

    pub(super) fn required(&mut self, at: &FieldPath, detail: &str) {
        self.0.push(FieldError::required(at.clone(), detail));
    }

    pub(super) fn forbidden(&mut self, at: &FieldPath, detail: &str) {
        self.0.push(FieldError::forbidden(at.clone(), detail));
    }

    pub(super) fn invalid(
        &mut self,
        at: &FieldPath,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.0.push(FieldError::invalid(at.clone(), value, detail));
    }

    /// One error for each thing that is wrong with a text.
    pub(super) fn all_invalid(&mut self, at: &FieldPath, value: &str, wrong: Vec<String>) {
        for detail in wrong {
            self.invalid(at, value, detail);
        }
    }

    /// A value of several fields that is there already.
    pub(super) fn duplicate_struct(&mut self, at: &FieldPath, shown: String) {
        let fault = Fault::DuplicateText(shown);
        self.0.push(FieldError::new(at.clone(), fault, ""));
    }

    pub(super) fn duplicate(&mut self, at: &FieldPath, value: impl Into<Value>) {
        self.duplicate_because(at, value, "");
    }

    /// A duplicate of something that is told apart by less than the whole value.
    pub(super) fn duplicate_because(
        &mut self,
        at: &FieldPath,
        value: impl Into<Value>,
        detail: &str,
    ) {
        let fault = Fault::Duplicate(value.into());
        self.0.push(FieldError::new(at.clone(), fault, detail));
    }

    /// A value that is not among the ones there are.
    pub(super) fn unsupported(
        &mut self,
        at: &FieldPath,
        value: impl Into<Value>,
        supported: &[&str],
    ) {
        let supported: Vec<String> = supported.iter().map(|one| format!("\"{one}\"")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        let fault = Fault::NotSupported(value.into());
        self.0.push(FieldError::new(at.clone(), fault, detail));
    }

    /// The same for a value that is shown field by field.
    pub(super) fn unsupported_struct(&mut self, at: &FieldPath, shown: &str, supported: &[&str]) {
        self.unsupported(at, Value::Null, supported);
        if let Some(last) = self.0.last_mut() {
            last.fault = Fault::NotSupportedText(shown.to_owned());
        }
    }

    /// A value of several fields that do not fit each other.
    pub(super) fn invalid_struct(&mut self, at: &FieldPath, shown: &str, detail: &str) {
        let fault = Fault::InvalidText(shown.to_owned());
        self.0.push(FieldError::new(at.clone(), fault, detail));
    }

    /// A text that is there must be among the ones there are.
    pub(super) fn one_of(&mut self, at: &FieldPath, value: Option<&Value>, supported: &[&str]) {
        if let Some(value) = value.and_then(Value::as_str)
            && !supported.contains(&value)
        {
            self.unsupported(at, value, supported);
        }
    }

    /// A number that may not be negative.
    pub(super) fn not_negative(&mut self, at: &FieldPath, number: i64) {
        if number < 0 {
            self.invalid(at, number, "must be greater than or equal to 0");
        }
    }

    /// A port's number or name.
    pub(super) fn port(&mut self, at: &FieldPath, port: &Value) {
        if let Some(name) = port.as_str() {
            self.all_invalid(at, name, text::port_name(name));
            return;
        }
        let number = port.as_i64().unwrap_or_default();
        if let Some(detail) = text::port_number(number) {
            self.invalid(at, number, detail);
        }
    }

    /// A field that keeps its value.
    pub(super) fn immutable(&mut self, path: &str, new: &Object, old: &Object) {
        if new.at(path) != old.at(path) {
            let value = new.at(path).cloned().unwrap_or(Value::Null);
            self.invalid(&FieldPath::of(path), value, "field is immutable");
        }
    }
}

/// A value of a type with these fields as Go writes it: in the order of the type, not of the alphabet.
pub(super) fn go_struct(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}
