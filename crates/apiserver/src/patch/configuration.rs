//! What somebody applies: the body of a patch of the kind `application/apply-patch+yaml`.
//!
//! It is read and refused here, in kube-apiserver's words. Merging it into an object is the
//! business of [`managed_fields`](crate::managed_fields).

use serde_json::Value;

use super::undecodable;
use crate::body::{Body, Repeated};
use crate::managed_fields::ApplyError;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::Refusal;
use crate::resource::Resource;

/// The object in a body, which must be of the kind that the path names.
pub(crate) fn configuration(resource: &Resource, body: &Body) -> Result<Object, Refusal> {
    let object = match &body.value {
        Value::Object(object) => object.clone(),
        Value::Null => Object::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            let prefix = "error decoding YAML: error unmarshaling JSON: while decoding JSON: ";
            return Err(undecodable(
                prefix,
                other,
                "value of type map[string]interface {}",
            ));
        }
    };
    if (object.kind(), object.api_version()) != (&*resource.names.kind, &*resource.api_version()) {
        return Err(Refusal::bad_request(format!(
            "invalid object type: {}",
            type_of(&object)
        )));
    }
    let record = object
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"));
    if record.is_some_and(Value::is_array) {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    Ok(object)
}

/// What is said of a field that was given twice.
pub(crate) fn repeated_field(Repeated { field, line }: &Repeated) -> String {
    format!("line {line}: key {field:?} already set in map")
}

/// The refusal of what was merged, but is nothing that a built-in kind could be read from.
pub(crate) fn unreadable(applied: &Object, refusal: &Refusal) -> Refusal {
    let what = " cannot be handled as a ";
    let why = refusal.message.split_once(what).map(|(_, why)| why);
    let why = why
        .and_then(|why| why.split_once(": "))
        .map(|(_kind, why)| why);
    let why = why.unwrap_or(&refusal.message);
    // The field is not told: values are read one by one.
    let why = match (
        why.split_once("Go struct field "),
        why.split_once(" of type "),
    ) {
        (Some((before, _)), Some((_, after))) => format!("{before}Go value of type {after}"),
        (_, _) => why.to_owned(),
    };
    let (which, kind) = (described(applied), type_of(applied));
    Refusal::unreasoned(
        500,
        format!(
            "failed to convert new object ({which}) to proper version: unable to convert unstructured object to {kind}: {why}"
        ),
    )
}

/// The refusal of what could not be applied.
pub(crate) fn unapplied(applied: &Object, live: Option<&Object>, error: &ApplyError) -> Refusal {
    let message = match error {
        ApplyError::Conflicts(conflicts) => {
            return Refusal::apply_conflict(conflicts.message(), &conflicts.causes());
        }
        ApplyError::Applied(flaws) => {
            let which = described(applied);
            format!("failed to create typed patch object ({which}): {flaws}")
        }
        ApplyError::Live(flaws) => {
            let which = described(live.unwrap_or(applied));
            format!("failed to create typed live object ({which}): {flaws}")
        }
        ApplyError::Record(_)
        | ApplyError::Conversion(_)
        | ApplyError::Version(_)
        | ApplyError::Shapeless => error.to_string(),
    };
    // To kube-apiserver these are faults of the server, without a reason.
    Refusal::unreasoned(500, message)
}

/// `namespace/name; group/version, Kind=kind`
fn described(object: &Object) -> String {
    let (namespace, name) = (object.namespace(), object.name());
    format!("{namespace}/{name}; {}", type_of(object))
}

/// `group/version, Kind=kind`, as Go writes it: nothing of it if the version cannot be read.
fn type_of(object: &Object) -> String {
    let (group, version, kind) = match object.api_version().split('/').collect::<Vec<_>>()[..] {
        [version] => ("", version, object.kind()),
        [group, version] => (group, version, object.kind()),
        _ => ("", "", ""),
    };
    format!("{group}/{version}, Kind={kind}")
}
