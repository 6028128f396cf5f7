//! An object at rest: the JSON that answers are made of, and the little that has to be known without
//! parsing it.
//!
//! What is kept has no `apiVersion` and `kind`. Its place says both but for the version, and the version is
//! the reader's choice: the same bytes answer in every version a kind is served in.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, de};
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
        let json = written(&object);
        Self::describe(&Outline::of(object), json, revision)
    }

    /// An object that is answered with but not kept. The revision, if any, is the one it would replace.
    pub(crate) fn unwritten(object: Object, revision: Option<u64>) -> Self {
        let mut stored = Self::new(object, revision.unwrap_or_default());
        if revision.is_none() {
            let mut object = stored.object();
            object.metadata_mut().remove("resourceVersion");
            stored.json = written(&object);
        }
        stored
    }

    /// An object as it was written down, which says its revision itself.
    ///
    /// All of it is read, and no more of it is remembered than is needed: a start reads every object there is.
    pub(crate) fn read(json: Bytes, revision: u64) -> serde_json::Result<Self> {
        if !json.starts_with(b"{") {
            return Err(de::Error::custom("not an object"));
        }
        let outline: Outline = serde_json::from_slice(&json)?;
        Ok(Self::describe(&outline, json, revision))
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

    fn describe(outline: &Outline, json: Bytes, revision: u64) -> Self {
        let Metadata {
            uid,
            labels,
            owner_references,
            deletion_timestamp,
        } = &outline.metadata;
        Self {
            revision,
            json,
            uid: uid.as_str().unwrap_or_default().into(),
            labels: self::labels(labels).collect(),
            owners: owners(owner_references).collect(),
            deleting: deletion_timestamp
                .as_str()
                .is_some_and(|text| !text.is_empty()),
        }
    }
}

/// What of an object has to be known without parsing it. A field of the wrong type counts as missing, as everywhere.
#[derive(Debug, Default, Deserialize)]
struct Outline {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    uid: Value,
    labels: Value,
    owner_references: Value,
    deletion_timestamp: Value,
}

impl Outline {
    fn of(mut object: Object) -> Self {
        let metadata = object.metadata_mut();
        let mut field = |name| metadata.remove(name).unwrap_or_default();
        Self {
            metadata: Metadata {
                uid: field("uid"),
                labels: field("labels"),
                owner_references: field("ownerReferences"),
                deletion_timestamp: field("deletionTimestamp"),
            },
        }
    }
}

/// The JSON of an object, in no more memory than it takes: it stays there for as long as the object.
fn written(object: &Object) -> Bytes {
    let json = serde_json::to_vec(object).expect("JSON values have no way to fail");
    json.into_boxed_slice().into()
}

fn labels(labels: &Value) -> impl Iterator<Item = (Box<str>, Box<str>)> {
    let labels = labels.as_object().into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.as_str().into(), value.as_str()?.into())))
}

fn owners(references: &Value) -> impl Iterator<Item = Arc<str>> {
    let references = references.as_array().into_iter().flatten();
    references.filter_map(|reference| Some(reference.get("uid")?.as_str()?.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(metadata: &Value, uid: &str, label: Option<&str>, owners: &[&str], deleting: bool) {
        let Value::Object(object) = json!({
            "metadata": metadata,
            "data": { "metadata": { "uid": "another" } },
        }) else {
            unreachable!("written as one");
        };
        let written = Stored::new(object, 7);
        let read = Stored::read(written.json().clone(), 7).unwrap();
        for stored in [&written, &read] {
            assert_eq!(stored.revision(), 7);
            assert_eq!(&**stored.uid(), uid);
            assert_eq!(stored.label("a"), label);
            let found: Vec<&str> = stored.owners().iter().map(|owner| &**owner).collect();
            assert_eq!(found, owners);
            assert_eq!(stored.is_deleting(), deleting);
        }
        assert_eq!(read.json(), written.json());
    }

    #[test]
    fn what_is_known_of_an_object_is_the_same_when_it_is_read_again() {
        check(&json!({ "name": "n" }), "", None, &[], false);
        let full = json!({
            "name": "n",
            "uid": "u-\u{fc}\"\n",
            "labels": { "a": "b" },
            "ownerReferences": [{ "uid": "o1", "kind": "K" }, { "kind": "K" }, { "uid": "o2" }],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{ "fieldsV1": { "f:metadata": { "f:labels": { "f:a": {} } } } }],
        });
        check(&full, "u-\u{fc}\"\n", Some("b"), &["o1", "o2"], true);
    }

    #[test]
    fn a_field_of_the_wrong_type_is_a_field_that_is_not_there() {
        let wrong = json!({
            "uid": 5,
            "labels": ["a"],
            "ownerReferences": { "uid": "o" },
            "deletionTimestamp": false,
        });
        check(&wrong, "", None, &[], false);
        let partly = json!({
            "uid": null,
            "labels": { "a": 1 },
            "ownerReferences": [7, { "uid": 8 }],
            "deletionTimestamp": "",
        });
        check(&partly, "", None, &[], false);
    }

    #[test]
    fn what_is_no_object_or_goes_on_behind_it_cannot_be_read() {
        for text in [
            "",
            "7",
            "[]",
            "{\"metadata\":{}",
            "{\"metadata\":{}}}",
            "{\"a\":tru}",
        ] {
            let read = Stored::read(Bytes::from_static(text.as_bytes()), 1);
            assert!(read.is_err(), "{text}");
        }
    }
}
