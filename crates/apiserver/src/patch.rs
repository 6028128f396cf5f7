//! Patches: what an object becomes when a client sends only what shall change.
//!
//! Three languages are spoken: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes'
//! own strategic merge patch, which knows from the schema which lists are merged entry by entry.
//! Here an object and a patch go in and an object or a refusal comes out. Whether the result is a
//! valid object, and who may ask for it, is decided elsewhere.
//!
//! JSON patch and merge patch are not done by the `json-patch` crate, because kube-apiserver does
//! not do what the RFCs say: `replace` sets a field that is not there, indices may be negative,
//! `test` finds null where nothing is, and merge patches lose the nulls inside lists too. Clients
//! have come to rely on it. Where the dialects agree a test holds ours against the crate.

mod depth;
mod go_syntax;
mod json;
mod merge;
#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod oracle_tests;
mod strategic;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::object::Object;
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};
use crate::resource::Origin;
use crate::schema::Schema;

/// The language that a patch is written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PatchKind {
    /// A list of operations, RFC 6902.
    Json,
    /// A partial object, RFC 7386: null removes, lists are replaced.
    Merge,
    /// A partial object whose lists are merged as the schema says.
    StrategicMerge,
}

impl PatchKind {
    /// The language of a request's `Content-Type`, or 415 if objects of this origin cannot be patched
    /// in it.
    pub(crate) fn negotiate(content_type: &str, origin: Origin) -> Result<Self, Refusal> {
        let media_type = content_type.split(';').next().unwrap_or_default();
        match (media_type, origin) {
            ("application/json-patch+json", _) => Ok(Self::Json),
            ("application/merge-patch+json", _) => Ok(Self::Merge),
            ("application/strategic-merge-patch+json", Origin::Builtin) => Ok(Self::StrategicMerge),
            (_, Origin::Builtin) => Err(unknown_to_builtin()),
            (_, Origin::Custom) => Err(unknown_to_custom()),
        }
    }

    /// The `Content-Type` of requests in this language.
    #[cfg(test)]
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::StrategicMerge => "application/strategic-merge-patch+json",
        }
    }
}

/// What `current` becomes under `patch`.
///
/// Only strategic merge patches read the schema. Fields that no schema knows are kept: the caller
/// prunes, fills in defaults and validates what comes out, as with any object a client sends.
pub(crate) fn apply(
    kind: PatchKind,
    schema: &Schema,
    current: &Object,
    patch: &Value,
) -> Result<Object, Refusal> {
    match kind {
        PatchKind::Json => match json::apply(current, patch)? {
            Value::Object(object) => Ok(object),
            list @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => Err(no_object(&list)),
        },
        PatchKind::Merge => merge::apply(current, patch),
        PatchKind::StrategicMerge => strategic::apply(schema, current, patch),
    }
}

/// Fields of a patch that mean nothing, as the API warns of them.
pub(crate) fn stray_fields(kind: PatchKind, patch: &Value) -> Vec<String> {
    match kind {
        PatchKind::Json => json::stray_fields(patch),
        PatchKind::Merge | PatchKind::StrategicMerge => Vec::new(),
    }
}

/// 422: the patch is well-formed, but it does not fit the object. Which of its parts is at fault the
/// API does not say.
fn rejected() -> Refusal {
    Refusal {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request".to_owned(),
        details: Some(json!({})),
        continue_token: None,
    }
}

/// 400: `value` stands where Go expected something of type `wanted`.
fn undecodable(prefix: &str, value: &Value, wanted: &str) -> Refusal {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Refusal::bad_request(format!(
        "{prefix}json: cannot unmarshal {found} into Go {wanted}"
    ))
}

/// 422: a JSON patch replaced the whole object by a list.
fn no_object(result: &Value) -> Refusal {
    let nobody = Subject {
        group: "",
        what: "",
        name: "",
    };
    let why = "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type \
               struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
    let error = FieldError::invalid(FieldPath::of("patch"), result.to_string(), why);
    Refusal::invalid(nobody, &[error])
}

/// 415 in the words of the framework in front of the built-in kinds.
fn unknown_to_builtin() -> Refusal {
    Refusal {
        code: 415,
        reason: "UnsupportedMediaType",
        message: "415: Unsupported Media Type".to_owned(),
        details: Some(json!({})),
        continue_token: None,
    }
}

/// 415 for custom resources, whose schemas do not say how lists merge.
fn unknown_to_custom() -> Refusal {
    Refusal::unsupported_media_type(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}
