//! Embedded resources: objects inside an object that are whole objects themselves, and the metadata they all have.

use serde_json::Value;

use super::Schema;
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};

/// The fields of `metadata`.
const METADATA: &[&str] = &[
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];
const OWNER_REFERENCE: &[&str] = &[
    "apiVersion",
    "blockOwnerDeletion",
    "controller",
    "kind",
    "name",
    "uid",
];
const MANAGED_FIELDS: &[&str] = &[
    "apiVersion",
    "fieldsType",
    "fieldsV1",
    "manager",
    "operation",
    "subresource",
    "time",
];

/// Judges the type and kind of every embedded resource. The object itself is not one.
pub(super) fn judge(schema: &Schema, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    judge_below(schema, value, &FieldPath::root(), &mut errors);
    errors
}

/// Drops unknown fields of the metadata of an object at a path, and returns their paths.
pub(super) fn prune_metadata(object: &mut Object, path: &str) -> Vec<String> {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return Vec::new();
    };
    let at = match path {
        "" => "metadata".to_owned(),
        path => format!("{path}.metadata"),
    };
    let mut unknown = keep(metadata, METADATA, &at);
    for (list, fields) in [
        ("managedFields", MANAGED_FIELDS),
        ("ownerReferences", OWNER_REFERENCE),
    ] {
        let entries = metadata.get_mut(list).and_then(Value::as_array_mut);
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            if let Value::Object(entry) = entry {
                unknown.extend(keep(entry, fields, &format!("{at}.{list}[{index}]")));
            }
        }
    }
    unknown
}

fn keep(object: &mut Object, known: &[&str], path: &str) -> Vec<String> {
    let unknown: Vec<String> = object
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .cloned()
        .collect();
    for name in &unknown {
        object.remove(name);
    }
    let at = |name| format!("{path}.{name}");
    unknown.into_iter().map(at).collect()
}

fn judge_below(schema: &Schema, value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(object) => {
            if schema.embedded_resource {
                judge_resource(object, path, errors);
            }
            for (name, value) in object {
                if let Some(property) = schema.properties.get(name) {
                    judge_below(property, value, &path.field(name), errors);
                } else if let Some(additional) = &schema.additional {
                    judge_below(additional, value, &path.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                if let Some(items) = &schema.items {
                    judge_below(items, value, &path.index(index), errors);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn judge_resource(object: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        let at = path.field(name);
        match object.get(name) {
            None => errors.push(FieldError::required(at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(at, "", "must not be empty"));
            }
            Some(Value::String(text)) => {
                let fault = if name == "kind" {
                    kind_fault(text)
                } else {
                    version_fault(text)
                };
                if let Some(detail) = fault {
                    errors.push(FieldError::invalid(at, text.as_str(), detail));
                }
            }
            Some(other) => {
                errors.push(FieldError::invalid(at, other.clone(), "must be a string"));
            }
        }
    }
    if let Some(metadata) = object.get("metadata")
        && !metadata.is_object()
        && !metadata.is_null()
    {
        let at = path.field("metadata");
        errors.push(FieldError::invalid(
            at,
            metadata.clone(),
            "must be an object",
        ));
    }
}

fn version_fault(api_version: &str) -> Option<String> {
    (api_version.matches('/').count() > 1)
        .then(|| format!("unexpected GroupVersion string: {api_version}"))
}

/// Kinds are labels of DNS, but for their case.
fn kind_fault(kind: &str) -> Option<String> {
    let kind = kind.to_lowercase();
    let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let shaped = kind.starts_with(|letter: char| letter.is_ascii_lowercase())
        && kind.ends_with(inner)
        && kind.chars().all(|letter| inner(letter) || letter == '-');
    let mut faults = Vec::new();
    if kind.len() > 63 {
        faults.push("must be no more than 63 bytes");
    }
    if !shaped {
        faults.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
             alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
             regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        );
    }
    (!faults.is_empty()).then(|| {
        let faults = faults.join(",");
        format!("may have mixed case, but should otherwise match: {faults}")
    })
}
