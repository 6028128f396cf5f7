//! A growing list of what is wrong with an object.

use std::net::IpAddr;

use serde_json::Value;

use crate::builtin::fields::Fields as _;
use crate::metadata::text;
use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath};
use crate::schema::is_cidr;

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
        let fault = Fault::Duplicate(value.into());
        self.0.push(FieldError::new(at.clone(), fault, ""));
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

    /// A text that is there must be among the ones there are.
    pub(super) fn one_of(&mut self, at: &FieldPath, value: Option<&Value>, supported: &[&str]) {
        if let Some(value) = value.and_then(Value::as_str)
            && !supported.contains(&value)
        {
            self.unsupported(at, value, supported);
        }
    }

    /// The same for a field of an object.
    pub(super) fn listed(&mut self, object: &Object, path: &str, supported: &[&str]) {
        self.one_of(&FieldPath::of(path), object.at(path), supported);
    }

    /// An address, if the text is one.
    pub(super) fn ip(&mut self, at: &FieldPath, text: &str) -> Option<IpAddr> {
        let parsed = text.parse().ok();
        if parsed.is_none() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            self.invalid(at, text, detail);
        }
        parsed
    }

    /// A network.
    pub(super) fn cidr(&mut self, at: &FieldPath, text: &str) {
        if !is_cidr(text) {
            let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            self.invalid(at, text, detail);
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
