//! Lists whose entries are told apart: no entry may occur twice, and an entry has a past.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{ListKind, Schema};
use crate::refusal::{Fault, FieldError, FieldPath};

/// Judges sets and maps of the new object, unless those of the old object were already wrong.
pub(super) fn judge(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    if let Some(old) = old
        && !duplicates(schema, old, &FieldPath::root()).is_empty()
    {
        return Vec::new();
    }
    duplicates(schema, new, &FieldPath::root())
}

/// The entries that a list had before, by what tells them apart.
///
/// Only lists of type map have such entries: what an entry of any other list was before cannot be known.
#[derive(Default)]
pub(super) struct OldEntries<'a> {
    keys: &'a [String],
    entries: BTreeMap<String, &'a Value>,
}

impl<'a> OldEntries<'a> {
    /// The entries of the list as it was.
    pub(super) fn of(kind: &'a ListKind, old: Option<&'a Value>) -> Self {
        let (ListKind::Map(keys), Some(Value::Array(old))) = (kind, old) else {
            return Self::default();
        };
        let mut entries = BTreeMap::new();
        for entry in old {
            if let Some(key) = scalar_key(keys, entry) {
                entries.entry(key).or_insert(entry);
            }
        }
        Self { keys, entries }
    }

    /// What an entry of the new list was before.
    pub(super) fn of_entry(&self, entry: &Value) -> Option<&'a Value> {
        if self.entries.is_empty() {
            return None;
        }
        let key = scalar_key(self.keys, entry)?;
        self.entries.get(&key).copied()
    }
}

/// What tells an entry apart, if all of it is there.
fn scalar_key(keys: &[String], entry: &Value) -> Option<String> {
    let mut parts = Vec::with_capacity(keys.len());
    for key in keys {
        let part = entry.get(key)?;
        if part.is_null() || part.is_array() || part.is_object() {
            return None;
        }
        parts.push(part);
    }
    serde_json::to_string(&parts).ok()
}

fn duplicates(schema: &Schema, value: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match value {
        Value::Array(list) => {
            match &schema.list {
                ListKind::Set => errors.extend(set(list, path)),
                ListKind::Map(keys) => errors.extend(map(keys, list, path)),
                ListKind::Atomic => {}
            }
            for (index, value) in list.iter().enumerate() {
                if let Some(items) = &schema.items {
                    errors.extend(duplicates(items, value, &path.index(index)));
                }
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                if let Some(property) = schema.properties.get(name) {
                    errors.extend(duplicates(property, value, &path.field(name)));
                } else if let Some(additional) = &schema.additional {
                    errors.extend(duplicates(additional, value, &path.key(name)));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    errors
}

fn set(list: &[Value], path: &FieldPath) -> Vec<FieldError> {
    let seconds = second_occurrences(list.iter().map(Value::to_string));
    let duplicate = |index: usize| {
        let fault = Fault::Duplicate(list[index].clone());
        FieldError::new(path.index(index), fault, "")
    };
    seconds.into_iter().map(duplicate).collect()
}

fn map(keys: &[String], list: &[Value], path: &FieldPath) -> Vec<FieldError> {
    for (index, entry) in list.iter().enumerate() {
        if !entry.is_object() && !entry.is_null() {
            let detail = "must be an object for an array of list-type map";
            let error = FieldError::invalid(path.index(index), entry.clone(), detail);
            return vec![error];
        }
    }
    let found: Vec<Value> = list.iter().map(|entry| key_fields(keys, entry)).collect();
    let seconds = second_occurrences(found.iter().map(Value::to_string));
    let duplicate = |index: usize| {
        let fault = Fault::Duplicate(found[index].clone());
        FieldError::new(path.index(index), fault, "")
    };
    seconds.into_iter().map(duplicate).collect()
}

/// The fields that tell an entry apart, as far as they are there.
fn key_fields(keys: &[String], entry: &Value) -> Value {
    let fields: Map<String, Value> = keys
        .iter()
        .filter_map(|key| Some((key.clone(), entry.get(key)?.clone())))
        .collect();
    Value::Object(fields)
}

/// Where something occurs for the second time; further times are not told.
fn second_occurrences(texts: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut seconds = Vec::new();
    for (index, text) in texts.enumerate() {
        let times = seen.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            seconds.push(index);
        }
    }
    seconds
}
