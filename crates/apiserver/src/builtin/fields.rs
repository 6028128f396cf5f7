//! Reading and filling the fields of objects by path.
//!
//! As in Go, whose zero values the API's rules are written for, a field that is missing, `null` or
//! of another type reads as nothing: the empty text, zero, false, the empty list.

use serde_json::{Map, Value};

/// Reads by a path such as `spec.type`.
pub(super) trait Fields {
    /// One field; nothing if it is missing or `null`.
    fn field(&self, name: &str) -> Option<&Value>;

    /// A field further down; nothing if it is missing or `null`.
    fn at(&self, path: &str) -> Option<&Value> {
        let mut steps = path.split('.');
        let first = self.field(steps.next().unwrap_or_default())?;
        steps.try_fold(first, |value, step| value.field(step))
    }

    fn text(&self, path: &str) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, path: &str) -> i64 {
        self.at(path).and_then(Value::as_i64).unwrap_or_default()
    }

    fn truth(&self, path: &str) -> bool {
        self.at(path).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, path: &str) -> &[Value] {
        let list = self.at(path).and_then(Value::as_array);
        list.map(Vec::as_slice).unwrap_or_default()
    }

    fn texts(&self, path: &str) -> Vec<&str> {
        self.list(path).iter().filter_map(Value::as_str).collect()
    }

    /// The entries of a map or the fields of an object.
    fn entries(&self, path: &str) -> impl Iterator<Item = (&str, &Value)> {
        let map = self.at(path).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The value of an annotation.
    fn annotation(&self, key: &str) -> Option<&str> {
        let mut all = self.entries("metadata.annotations");
        all.find(|(name, _)| *name == key)?.1.as_str()
    }

    /// Whether there is anything at all.
    fn has(&self, path: &str) -> bool {
        self.at(path).is_some()
    }
}

impl Fields for Map<String, Value> {
    fn field(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }
}

impl Fields for Value {
    fn field(&self, name: &str) -> Option<&Value> {
        self.as_object()?.field(name)
    }
}

/// Fills what was left out.
pub(super) trait Fill {
    /// Puts `value` where nothing is.
    fn fill(&mut self, name: &str, value: impl Into<Value>);
    /// An object below, made if nothing is there; nothing if something else is there.
    fn below(&mut self, name: &str) -> Option<&mut Map<String, Value>>;
    /// An object below, if there is one.
    fn present(&mut self, name: &str) -> Option<&mut Map<String, Value>>;
    /// The objects of a list.
    fn each(&mut self, name: &str) -> impl Iterator<Item = &mut Map<String, Value>>;
}

impl Fill for Map<String, Value> {
    fn fill(&mut self, name: &str, value: impl Into<Value>) {
        if !self.has(name) {
            self.insert(name.to_owned(), value.into());
        }
    }

    fn below(&mut self, name: &str) -> Option<&mut Map<String, Value>> {
        self.fill(name, Map::new());
        self.present(name)
    }

    fn present(&mut self, name: &str) -> Option<&mut Map<String, Value>> {
        self.get_mut(name).and_then(Value::as_object_mut)
    }

    fn each(&mut self, name: &str) -> impl Iterator<Item = &mut Map<String, Value>> {
        let list = self.get_mut(name).and_then(Value::as_array_mut);
        list.into_iter().flatten().filter_map(Value::as_object_mut)
    }
}
