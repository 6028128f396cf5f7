//! Patches: what an object becomes when a client sends only what shall change.
//!
//! Three languages are spoken: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes'
//! own strategic merge patch, which knows from the schema which lists are merged entry by entry.
//! Here an object and a patch go in and an object or a refusal comes out. Whether the result is a
//! valid object, and who may ask for it, is decided elsewhere.
//!
//! Server-side apply comes as a patch, too, but says what shall be rather than what shall change:
//! [`configuration()`] reads it, and [`managed_fields`](crate::managed_fields) merges it.
//!
//! JSON patch and merge patch are not done by the `json-patch` crate, because kube-apiserver does
//! not do what the RFCs say: `replace` sets a field that is not there, indices may be negative,
//! `test` finds null where nothing is, and merge patches lose the nulls inside lists too. Clients
//! have come to rely on it. Where the dialects agree a test holds ours against the crate.

mod configuration;
mod depth;
pub(crate) mod go_syntax;
mod json;
mod merge;
#[cfg(test)]
mod on_cluster;
#[cfg(test)]
pub(crate) mod oracle;
mod strategic;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::object::Object;
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};
use crate::resource::Origin;
use crate::schema::Schema;

pub(crate) use configuration::{configuration, repeated_field, unapplied, unreadable};

/// What the body of a patch is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Patch {
    /// What shall change.
    Change(PatchKind),
    /// What shall be: the fields that somebody applies.
    Apply,
}

impl Patch {
    /// What a request's `Content-Type` says, or 415 if objects of this origin cannot be patched so.
    pub(crate) fn negotiate(content_type: &str, origin: Origin) -> Result<Self, Refusal> {
        if Self::is_apply(content_type) {
            return Ok(Self::Apply);
        }
        PatchKind::negotiate(content_type, origin).map(Self::Change)
    }

    /// Whether a request's `Content-Type` says that its body is applied.
    pub(crate) fn is_apply(content_type: &str) -> bool {
        content_type.split(';').next() == Some("application/apply-patch+yaml")
    }
}

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

/// What `current` becomes under the operations of a webhook, or why it does not.
pub(crate) fn apply_operations(current: &Object, operations: &[Value]) -> Result<Object, String> {
    match json::apply_explained(current, operations)? {
        Value::Object(object) => Ok(object),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => Err(no_object(&other).message),
    }
}

/// The refusal of a patch whose fields are not to be checked: it is read in another way then, and refused in other words.
pub(crate) fn unchecked(kind: PatchKind, patch: &Value, refusal: Refusal) -> Refusal {
    let unread = refusal.message.strip_prefix(UNDECODED).map(str::to_owned);
    match (kind, unread) {
        (PatchKind::Json, Some(why)) => Refusal::bad_request(
            why.replace("[]handlers.jsonPatchOp", "jsonpatch.Patch")
                .replace("handlers.jsonPatchOp", "jsonpatch.Operation"),
        ),
        (PatchKind::Merge, Some(_)) if patch.is_array() => no_object(patch),
        (PatchKind::Merge, Some(_)) => Refusal::bad_request("Invalid JSON Patch"),
        (PatchKind::Json | PatchKind::Merge | PatchKind::StrategicMerge, _) => refusal,
    }
}

/// How messages about patches that cannot be read begin, if they are checked.
const UNDECODED: &str = "error decoding patch: ";

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
    let message = "the server rejected our request due to an error in our request";
    Refusal::plain(422, "Invalid", message).with_details(json!({}))
}

/// 400: `value` stands where Go expected something of type `wanted`.
fn undecodable(prefix: &str, value: &Value, wanted: &str) -> Refusal {
    let found = go_word(value);
    Refusal::bad_request(format!(
        "{prefix}json: cannot unmarshal {found} into Go {wanted}"
    ))
}

/// What Go calls a JSON value.
pub(crate) fn go_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
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
    let message = "415: Unsupported Media Type";
    Refusal::plain(415, "UnsupportedMediaType", message).with_details(json!({}))
}

/// 415 for custom resources, whose schemas do not say how lists merge.
fn unknown_to_custom() -> Refusal {
    Refusal::unsupported_media_type(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}
