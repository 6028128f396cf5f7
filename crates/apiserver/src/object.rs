//! An object as JSON, and the few fields of it that every kind has.
//!
//! Objects stay JSON from the request to the disk: the API's promise is to keep what it was given, and
//! types of ours would lose what they do not know. Reading a field that has the wrong type is
//! reading a field that is not there; whoever cares about the difference validates first.

use serde_json::{Map, Value};

/// A JSON object that is, or is about to become, a Kubernetes object.
pub(crate) type Object = Map<String, Value>;

/// The fields that all objects share.
pub(crate) trait ObjectExt {
    /// `metadata`, if it is an object.
    fn metadata(&self) -> Option<&Object>;
    /// `metadata`, made if it is missing or not an object.
    fn metadata_mut(&mut self) -> &mut Object;
    /// A text in `metadata`; empty counts as missing, as everywhere in Kubernetes.
    fn metadata_text(&self, field: &str) -> Option<&str>;

    /// `apiVersion`, or nothing.
    fn api_version(&self) -> &str;
    /// `kind`, or nothing.
    fn kind(&self) -> &str;

    /// `metadata.name`, or nothing.
    fn name(&self) -> &str {
        self.metadata_text("name").unwrap_or_default()
    }
    /// `metadata.namespace`, or nothing.
    fn namespace(&self) -> &str {
        self.metadata_text("namespace").unwrap_or_default()
    }
    /// `metadata.uid`, or nothing.
    fn uid(&self) -> &str {
        self.metadata_text("uid").unwrap_or_default()
    }
    /// Whether someone asked for the object's deletion.
    fn is_deleting(&self) -> bool {
        self.metadata_text("deletionTimestamp").is_some()
    }
    /// The texts of a list in `metadata`, such as `finalizers`.
    fn metadata_texts(&self, field: &str) -> impl Iterator<Item = &str> {
        let list = self
            .metadata()
            .and_then(|metadata| metadata.get(field))
            .and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }
}

impl ObjectExt for Object {
    fn metadata(&self) -> Option<&Object> {
        self.get("metadata").and_then(Value::as_object)
    }

    fn metadata_mut(&mut self) -> &mut Object {
        let metadata = self.entry("metadata").or_insert(Value::Null);
        if !metadata.is_object() {
            *metadata = Value::Object(Object::new());
        }
        metadata.as_object_mut().expect("made an object just now")
    }

    fn metadata_text(&self, field: &str) -> Option<&str> {
        let text = self.metadata()?.get(field)?.as_str()?;
        (!text.is_empty()).then_some(text)
    }

    fn api_version(&self) -> &str {
        self.get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn kind(&self) -> &str {
        self.get("kind").and_then(Value::as_str).unwrap_or_default()
    }
}
