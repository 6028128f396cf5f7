//! Objects reduced to their metadata, for clients that need no more, such as garbage collectors.

use serde_json::{Value, json};

use crate::builtin;
use crate::media_type::MetaVersion;
use crate::object::{Object, ObjectExt};
use crate::refusal::Refusal;
use crate::resource::{Names, Origin, Resource};

/// One object as `PartialObjectMetadata`.
pub(crate) fn object(object: &Object, version: MetaVersion) -> Value {
    let metadata = object.metadata().cloned().unwrap_or_default();
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": metadata,
    })
}

/// Many objects as `PartialObjectMetadataList`; `metadata` is the list's own.
pub(crate) fn list<'o>(
    objects: impl IntoIterator<Item = &'o Object>,
    metadata: &Value,
    version: MetaVersion,
) -> Value {
    let items: Vec<Value> = objects
        .into_iter()
        .map(|item| object(item, version))
        .collect();
    json!({
        "kind": "PartialObjectMetadataList",
        "apiVersion": version.api_version(),
        "metadata": metadata,
        // As Go writes a list that was never filled.
        "items": (!items.is_empty()).then_some(items),
    })
}

/// 406: a list was asked for as one object.
pub(crate) fn refuse_list(resource: &Resource) -> Refusal {
    let found = go_type(resource, "List");
    not_acceptable(format!(
        "you requested PartialObjectMetadata, but the requested object is a list ({found})"
    ))
}

/// 406: one object was asked for as a list.
pub(crate) fn refuse_object(resource: &Resource) -> Refusal {
    let found = go_type(resource, "");
    not_acceptable(format!(
        "you requested PartialObjectMetadataList, but the requested object is not a list ({found})"
    ))
}

/// What kube-apiserver calls objects of a kind to itself.
fn go_type(resource: &Resource, suffix: &str) -> String {
    let Names { group, kind, .. } = &resource.names;
    match resource.origin {
        Origin::Builtin => {
            let name = builtin::go_type(group, kind).unwrap_or_else(|| kind.clone());
            format!("*{name}{suffix}")
        }
        Origin::Custom => format!("*unstructured.Unstructured{suffix}"),
    }
}

fn not_acceptable(message: String) -> Refusal {
    Refusal {
        message,
        ..Refusal::not_acceptable()
    }
}
