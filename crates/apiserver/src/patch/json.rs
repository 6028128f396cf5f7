//! JSON patch (RFC 6902) in kube-apiserver's dialect.

mod explain;
mod operation;
mod pointer;

use std::io;

use serde_json::Value;

use super::depth::too_deep;
use super::{rejected, undecodable};
use crate::object::Object;
use crate::refusal::Refusal;
use operation::{Operation, Verb};
use pointer::Pointer;

pub(crate) use operation::stray_fields;

/// kube-apiserver's `maxJSONPatchOperations`.
const MOST_OPERATIONS: usize = 10_000;

/// kube-apiserver's default for how much the `copy` operations of one patch may add.
const MOST_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// What `current` becomes under the operations in `patch`; a list, if a patch replaces the whole.
pub(super) fn apply(current: &Object, patch: &Value) -> Result<Value, Refusal> {
    let operations = match patch {
        Value::Array(operations) => operations.as_slice(),
        Value::Null => &[],
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            return Err(undecodable(
                operation::PREFIX,
                other,
                "value of type []handlers.jsonPatchOp",
            ));
        }
    };
    let operations: Vec<Operation<'_>> = operations
        .iter()
        .map(Operation::read)
        .collect::<Result<_, _>>()?;
    if operations.len() > MOST_OPERATIONS {
        return Err(Refusal::too_large(format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut document = Document {
        root: Value::Object(current.clone()),
        copied: 0,
    };
    for operation in &operations {
        // The API does not tell which operation failed, nor why.
        document.perform(operation).ok_or_else(rejected)?;
    }
    Ok(document.root)
}

/// What `current` becomes under `operations`, or why one of them cannot be performed.
pub(super) fn apply_explained(current: &Object, operations: &[Value]) -> Result<Value, String> {
    let mut document = Document {
        root: Value::Object(current.clone()),
        copied: 0,
    };
    for value in operations {
        let operation = Operation::read(value).map_err(|refusal| refusal.message)?;
        if document.perform(&operation).is_none() {
            let word = value.get("op").and_then(Value::as_str).unwrap_or("unknown");
            return Err(explain::explain(&mut document.root, &operation, word));
        }
    }
    Ok(document.root)
}

/// The object while operations are performed on it.
struct Document {
    root: Value,
    /// How many bytes of JSON were copied so far.
    copied: usize,
}

/// Each operation returns nothing if it cannot be performed.
impl Document {
    fn perform(&mut self, operation: &Operation<'_>) -> Option<()> {
        let path = Pointer::parse(operation.path?);
        let from = operation.from.map(Pointer::parse);
        let value = operation.value.unwrap_or(&Value::Null);
        match operation.verb {
            Verb::Add => self.add(&path, value.clone()),
            Verb::Remove => self.remove(&path).map(drop),
            Verb::Replace => self.replace(&path, value.clone()),
            Verb::Move => self.move_to(&from?, &path),
            Verb::Copy => self.copy_to(&from?, &path),
            Verb::Test => self.test(&path, value),
            Verb::Unknown => None,
        }
    }

    fn add(&mut self, path: &Pointer, value: Value) -> Option<()> {
        let (parent, last) = self.place(path, &value)?;
        match parent {
            Value::Object(fields) => drop(fields.insert(last.to_owned(), value)),
            Value::Array(items) => items.insert(pointer::gap(last, items.len())?, value),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
        Some(())
    }

    fn remove(&mut self, path: &Pointer) -> Option<Value> {
        let (parent, last) = path.parent_mut(&mut self.root)?;
        match parent {
            Value::Object(fields) => fields.remove(last),
            Value::Array(items) => Some(items.remove(pointer::index(last, items.len())?)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// Unlike the RFC's this one sets a field that is not there.
    fn replace(&mut self, path: &Pointer, value: Value) -> Option<()> {
        if path.is_root() {
            let is_container = value.is_object() || value.is_array();
            return is_container.then(|| self.root = value);
        }
        let (parent, last) = self.place(path, &value)?;
        match parent {
            Value::Object(fields) => drop(fields.insert(last.to_owned(), value)),
            Value::Array(items) => {
                let index = pointer::index(last, items.len())?;
                items[index] = value;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
        Some(())
    }

    fn move_to(&mut self, from: &Pointer, path: &Pointer) -> Option<()> {
        let value = self.remove(from)?;
        self.add(path, value)
    }

    /// A field that is not there is copied as null.
    fn copy_to(&mut self, from: &Pointer, path: &Pointer) -> Option<()> {
        let source = from.find(&self.root).ok()?.unwrap_or(&Value::Null);
        let budget = MOST_COPIED_BYTES - self.copied;
        self.copied += size_within(source, budget)?;
        let copy = source.clone();
        self.add(path, copy)
    }

    /// Null and nothing are the same.
    fn test(&self, path: &Pointer, expected: &Value) -> Option<()> {
        let found = if path.is_root() {
            &self.root
        } else {
            path.find(&self.root).ok()?.unwrap_or(&Value::Null)
        };
        (found == expected).then_some(())
    }

    /// Where `value` shall go, provided that the whole can still be read back with it.
    fn place<'a>(
        &'a mut self,
        path: &'a Pointer,
        value: &Value,
    ) -> Option<(&'a mut Value, &'a str)> {
        if too_deep(value, path.len()) {
            return None;
        }
        path.parent_mut(&mut self.root)
    }
}

/// The size of `value` as JSON, or nothing if that is more than `budget`.
fn size_within(value: &Value, budget: usize) -> Option<usize> {
    let mut left = Budget(budget);
    serde_json::to_writer(&mut left, value).ok()?;
    Some(budget - left.0)
}

/// Counts down what is written to it and fails when there is nothing left.
struct Budget(usize);

impl io::Write for Budget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
