//! Gathering every problem of an object while the good values pass through.

use std::fmt;

use crate::problem::{FieldPath, Problem};

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Collect(Vec<Problem>);

impl Collect {
    /// The value, or nothing and a problem with the text it was read from.
    pub(super) fn check<T>(
        &mut self,
        field: &FieldPath,
        text: impl fmt::Display,
        result: Result<T, impl fmt::Display>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(rule) => {
                self.refuse(field, rule, text);
                None
            }
        }
    }

    /// A value that breaks a rule.
    pub(super) fn refuse(
        &mut self,
        field: &FieldPath,
        rule: impl fmt::Display,
        value: impl fmt::Display,
    ) {
        self.0.push(Problem::new(field, rule, value));
    }

    /// Something that is missing, or does not go together.
    pub(super) fn refuse_bare(&mut self, field: &FieldPath, rule: impl fmt::Display) {
        self.0.push(Problem::bare(field, rule));
    }

    /// Problems found elsewhere.
    pub(super) fn extend(&mut self, problems: Vec<Problem>) {
        self.0.extend(problems);
    }

    /// Everything that was found, for an object whose parts stand alone.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.0
    }

    /// The object if it is whole and nothing was found, else everything that was found.
    pub(super) fn finish<T>(self, object: Option<T>) -> Result<T, Vec<Problem>> {
        match object {
            Some(object) if self.0.is_empty() => Ok(object),
            Some(_) | None => Err(self.0),
        }
    }
}
