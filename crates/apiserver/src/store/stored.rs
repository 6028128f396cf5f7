//! An object at rest: the JSON that answers are made of, and the little that has to be known without
//! parsing it.
//!
//! What is kept has no `apiVersion` and `kind`. Its place says both but for the version, and the version is
//! the reader's choice: the same bytes answer in every version a kind is served in.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::object::{Object, ObjectExt as _};

/// One object at one revision. Never changes.
#[derive(Debug)]
pub(crate) struct Stored {
    revision: u64,
    json: Bytes,
    uid: Arc<str>,
    labels: BTreeMap<Box<str>, Box<str>>,
    /// The uids of its owners.
    owners: Vec<Arc<str>>,
    /// Whether someone asked for its deletion.
    deleting: bool,
}

impl Stored {
    /// Writes the revision into the object and the object down.
    pub(crate) fn new(mut object: Object, revision: u64) -> Self {
        object.remove("apiVersion");
        object.remove("kind");
        object
            .metadata_mut()
            .insert("resourceVersion".into(), revision.to_string().into());
        let json = serde_json::to_vec(&object)
            .expect("JSON values have no way to fail")
            .into();
        Self::describe(&object, json, revision)
    }

    /// An object that is answered with but not kept. The revision, if any, is the one it would replace.
    pub(crate) fn unwritten(object: Object, revision: Option<u64>) -> Self {
        let mut stored = Self::new(object, revision.unwrap_or_default());
        if revision.is_none() {
            let mut object = stored.object();
            object.metadata_mut().remove("resourceVersion");
            stored.json = serde_json::to_vec(&object)
                .expect("JSON values have no way to fail")
                .into();
        }
        stored
    }

    /// An object as it was written down, which says its revision itself.
    pub(crate) fn read(json: Bytes, revision: u64) -> serde_json::Result<Self> {
        let object: Object = serde_json::from_slice(&json)?;
        Ok(Self::describe(&object, json, revision))
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// The object, parsed.
    pub(crate) fn object(&self) -> Object {
        serde_json::from_slice(&self.json).expect("was an object when it was written down")
    }

    pub(crate) fn uid(&self) -> &Arc<str> {
        &self.uid
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(|value| &**value)
    }

    pub(crate) fn owners(&self) -> &[Arc<str>] {
        &self.owners
    }

    pub(crate) fn is_deleting(&self) -> bool {
        self.deleting
    }

    /// The same object with another revision.
    pub(super) fn at(&self, revision: u64) -> Self {
        Self::new(self.object(), revision)
    }

    fn describe(object: &Object, json: Bytes, revision: u64) -> Self {
        Self {
            revision,
            json,
            uid: object.uid().into(),
            labels: labels(object).collect(),
            owners: owners(object).collect(),
            deleting: object.is_deleting(),
        }
    }
}

fn labels(object: &Object) -> impl Iterator<Item = (Box<str>, Box<str>)> {
    let labels = object
        .metadata()
        .and_then(|metadata| metadata.get("labels"))
        .and_then(Value::as_object);
    labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())))
}

fn owners(object: &Object) -> impl Iterator<Item = Arc<str>> {
    let references = object
        .metadata()
        .and_then(|metadata| metadata.get("ownerReferences"))
        .and_then(Value::as_array);
    references
        .into_iter()
        .flatten()
        .filter_map(|reference| Some(reference.get("uid")?.as_str()?.into()))
}
