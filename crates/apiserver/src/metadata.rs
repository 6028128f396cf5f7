//! What holds for the metadata of every object: names, labels, annotations, owners, finalizers.
//!
//! Pure judgement of objects whose JSON types are right (a field of the wrong type is read as one
//! that is not there). What the API fills in itself, such as uid and creation time, the engine has
//! put into the object before it asks here.

pub(crate) mod text;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::object::{Object, ObjectExt as _};
use crate::refusal::{Fault, FieldError, FieldPath};
use crate::resource::{Origin, Resource};

/// All annotations of an object together, keys and values, in bytes: kube-apiserver's own limit.
const MOST_ANNOTATIONS: usize = 256 * 1024;
/// The longest name of a subresource in managed fields: kube-apiserver's own limit.
const LONGEST_SUBRESOURCE: usize = 256;
/// The longest name of a field manager: kube-apiserver's own limit.
const LONGEST_MANAGER: usize = 128;

/// How a kind's objects may be called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NameRule {
    /// Names with dots, which most kinds take.
    Subdomain,
    /// One label, because the name becomes part of a DNS name.
    Label,
    /// Whatever can stand between two slashes of a path.
    PathSegment,
}

impl NameRule {
    /// The rule for a kind.
    pub(crate) fn of(resource: &Resource) -> Self {
        if resource.origin == Origin::Custom {
            return Self::Subdomain;
        }
        match (resource.names.group.as_str(), resource.names.kind.as_str()) {
            ("", "Namespace" | "Service") => Self::Label,
            ("rbac.authorization.k8s.io", _)
            | ("", "Event")
            | ("policy", "PodDisruptionBudget") => Self::PathSegment,
            _ => Self::Subdomain,
        }
    }

    /// What is wrong with a whole name.
    fn problems(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain => text::subdomain(name),
            Self::Label => text::label(name),
            Self::PathSegment => text::path_segment(name),
        }
    }

    /// What is wrong with the beginning of a name, to which the API adds characters of its own.
    fn prefix_problems(self, prefix: &str) -> Vec<String> {
        match self {
            Self::PathSegment => text::path_segment_prefix(prefix),
            Self::Subdomain | Self::Label => self.problems(&without_last_dash(prefix)),
        }
    }
}

/// Judges the metadata of an object that is about to be created, its name generated already.
pub(crate) fn validate(resource: &Resource, object: &Object) -> Vec<FieldError> {
    whole_errors(NameRule::of(resource), resource, object)
}

/// Judges the metadata that an update leaves, and the change itself.
///
/// kube-apiserver judges it so before the rules of a kind come in, which look at metadata once more; so a fault is among
/// the causes of a refusal several times.
pub(crate) fn validate_update(resource: &Resource, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = whole_errors(NameRule::PathSegment, resource, new);
    errors.extend(validate_change(new, old));
    errors
}

fn whole_errors(rule: NameRule, resource: &Resource, object: &Object) -> Vec<FieldError> {
    let at = FieldPath::of("metadata");
    let mut errors = name_errors(rule, object, &at);
    errors.extend(namespace_errors(resource, object, &at));
    if let Some(generation) = number(object, "generation").filter(|number| *number < 0) {
        errors.push(FieldError::invalid(
            at.field("generation"),
            generation,
            "must be greater than or equal to 0",
        ));
    }
    errors.extend(content_errors(object, &at));
    errors.extend(finalizer_errors(object, &at.field("finalizers")));
    errors.extend(managed_errors(object, &at));
    errors
}

/// Judges a change of an object's metadata, but for the names of finalizers.
pub(crate) fn validate_change(new: &Object, old: &Object) -> Vec<FieldError> {
    let at = FieldPath::of("metadata");
    let mut errors = Vec::new();
    if old.is_deleting() {
        errors.extend(new_finalizer_error(new, old, &at.field("finalizers")));
    }
    if new.metadata_text("resourceVersion").is_none() {
        let path = at.field("resourceVersion");
        errors.push(FieldError::invalid(
            path,
            "",
            "must be specified for an update",
        ));
    }
    let (generation, before) = (number(new, "generation"), number(old, "generation"));
    if generation.unwrap_or_default() < before.unwrap_or_default() {
        errors.push(FieldError::invalid(
            at.field("generation"),
            generation.unwrap_or_default(),
            "must not be decremented",
        ));
    }
    errors.extend(
        UNCHANGEABLE
            .iter()
            .filter_map(|field| changed(new, old, field, &at)),
    );
    errors.extend(content_errors(new, &at));
    errors.extend(managed_errors(new, &at));
    errors
}

/// Fields of metadata that keep the value they were born with, or got from the API.
const UNCHANGEABLE: [&str; 6] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Judges labels, wherever they are.
pub(crate) fn label_errors(labels: Option<&Value>, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        let wrong = text::qualified_name(key).into_iter();
        errors.extend(wrong.map(|detail| FieldError::invalid(at.clone(), key.as_str(), detail)));
        let value = value.as_str().unwrap_or_default();
        let wrong = text::label_value(value).into_iter();
        errors.extend(wrong.map(|detail| FieldError::invalid(at.clone(), value, detail)));
    }
    errors
}

/// Judges annotations, wherever they are.
pub(crate) fn annotation_errors(annotations: Option<&Value>, at: &FieldPath) -> Vec<FieldError> {
    let (mut errors, mut size) = (Vec::new(), 0);
    for (key, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
        // Keys are qualified names, but for their case, which never mattered here.
        let wrong = text::qualified_name(&key.to_lowercase()).into_iter();
        errors.extend(wrong.map(|detail| FieldError::invalid(at.clone(), key.as_str(), detail)));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > MOST_ANNOTATIONS {
        errors.push(too_long(at.clone(), MOST_ANNOTATIONS));
    }
    errors
}

/// Judges a label selector, wherever it is.
pub(crate) fn label_selector_errors(selector: &Value, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = label_errors(selector.get("matchLabels"), &at.field("matchLabels"));
    let requirements = selector.get("matchExpressions").and_then(Value::as_array);
    for (index, requirement) in requirements.into_iter().flatten().enumerate() {
        let at = at.field("matchExpressions").index(index);
        errors.extend(requirement_errors(requirement, &at));
    }
    errors
}

/// A text or list that is longer than it may be.
pub(crate) fn too_long(path: FieldPath, bytes: usize) -> FieldError {
    FieldError::new(
        path,
        Fault::TooLong,
        format!("may not be more than {bytes} bytes"),
    )
}

fn requirement_errors(requirement: &Value, at: &FieldPath) -> Vec<FieldError> {
    let text = |field: &str| {
        requirement
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let values = requirement.get("values").and_then(Value::as_array);
    let values = values.map(Vec::as_slice).unwrap_or_default();
    let mut errors = Vec::new();
    match text("operator") {
        "In" | "NotIn" if values.is_empty() => errors.push(FieldError::required(
            at.field("values"),
            "must be specified when `operator` is 'In' or 'NotIn'",
        )),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push(FieldError::forbidden(
            at.field("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => {
            let path = at.field("operator");
            errors.push(FieldError::invalid(
                path,
                other,
                "not a valid selector operator",
            ));
        }
    }
    let key = text("key");
    for detail in text::qualified_name(key) {
        errors.push(FieldError::invalid(at.field("key"), key, detail));
    }
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        for detail in text::label_value(value) {
            errors.push(FieldError::invalid(
                at.field("values").index(index),
                value,
                detail,
            ));
        }
    }
    errors
}

fn name_errors(rule: NameRule, object: &Object, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(prefix) = object.metadata_text("generateName") {
        for detail in rule.prefix_problems(prefix) {
            errors.push(FieldError::invalid(
                at.field("generateName"),
                prefix,
                detail,
            ));
        }
    }
    let name = object.name();
    if name.is_empty() {
        let path = at.field("name");
        errors.push(FieldError::required(
            path,
            "name or generateName is required",
        ));
        return errors;
    }
    for detail in rule.problems(name) {
        errors.push(FieldError::invalid(at.field("name"), name, detail));
    }
    errors
}

fn namespace_errors(resource: &Resource, object: &Object, at: &FieldPath) -> Vec<FieldError> {
    let (path, namespace) = (at.field("namespace"), object.namespace());
    match (resource.is_namespaced(), namespace) {
        (true, "") => vec![FieldError::required(path, "")],
        (true, namespace) => {
            let wrong = text::label(namespace).into_iter();
            let error = |detail| FieldError::invalid(path.clone(), namespace, detail);
            wrong.map(error).collect()
        }
        (false, "") => Vec::new(),
        (false, _) => vec![FieldError::forbidden(path, "not allowed on this type")],
    }
}

/// Labels, annotations and owners, which are judged alike at birth and at changes.
fn content_errors(object: &Object, at: &FieldPath) -> Vec<FieldError> {
    let field = |field: &str| object.metadata().and_then(|metadata| metadata.get(field));
    let mut errors = label_errors(field("labels"), &at.field("labels"));
    errors.extend(annotation_errors(
        field("annotations"),
        &at.field("annotations"),
    ));
    errors.extend(owner_errors(
        field("ownerReferences"),
        &at.field("ownerReferences"),
    ));
    errors
}

fn managed_errors(object: &Object, at: &FieldPath) -> Vec<FieldError> {
    let managed = object
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"));
    managed_field_errors(managed, &at.field("managedFields"))
}

fn owner_errors(owners: Option<&Value>, at: &FieldPath) -> Vec<FieldError> {
    let Some(owners) = owners.and_then(Value::as_array) else {
        return Vec::new();
    };
    let (mut errors, mut controller) = (Vec::new(), None::<String>);
    for owner in owners {
        errors.extend(owner_reference_errors(owner, at));
        if owner.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        let named = format!("{}/{}", text("kind"), text("name"));
        match &controller {
            None => controller = Some(named),
            Some(first) => errors.push(FieldError::invalid(
                at.clone(),
                owners.clone(),
                format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {named}"
                ),
            )),
        }
    }
    errors
}

fn owner_reference_errors(owner: &Value, at: &FieldPath) -> Vec<FieldError> {
    let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let mut errors = Vec::new();
    if version.is_empty() {
        let path = at.field("apiVersion");
        errors.push(FieldError::invalid(
            path,
            api_version,
            "version must not be empty",
        ));
    }
    for field in ["kind", "name", "uid"] {
        if text(field).is_empty() {
            errors.push(FieldError::invalid(
                at.field(field),
                "",
                "must not be empty",
            ));
        }
    }
    if (api_version, kind) == ("v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(FieldError::invalid(at.clone(), owner.clone(), detail));
    }
    errors
}

fn managed_field_errors(managed: Option<&Value>, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let entries = managed.and_then(Value::as_array);
    for (index, entry) in entries.into_iter().flatten().enumerate() {
        let at = at.index(index);
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            let path = at.field("operation");
            let detail = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(path, text("operation"), detail));
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let path = at.field("fieldsType");
            errors.push(FieldError::invalid(
                path,
                text("fieldsType"),
                "must be `FieldsV1`",
            ));
        }
        if text("manager").len() > LONGEST_MANAGER {
            errors.push(too_long(at.field("manager"), LONGEST_MANAGER));
        }
        if text("subresource").len() > LONGEST_SUBRESOURCE {
            errors.push(too_long(at.field("subresource"), LONGEST_SUBRESOURCE));
        }
    }
    errors
}

fn finalizer_errors(object: &Object, at: &FieldPath) -> Vec<FieldError> {
    let finalizers: Vec<&str> = object.metadata_texts("finalizers").collect();
    let mut errors = Vec::new();
    for finalizer in &finalizers {
        for detail in text::qualified_name(finalizer) {
            errors.push(FieldError::invalid(at.clone(), *finalizer, detail));
        }
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(at.clone(), finalizers, detail));
    }
    errors
}

fn new_finalizer_error(new: &Object, old: &Object, at: &FieldPath) -> Option<FieldError> {
    let known: Vec<&str> = old.metadata_texts("finalizers").collect();
    let added = new
        .metadata_texts("finalizers")
        .filter(|name| !known.contains(name));
    let mut added: Vec<String> = added.map(|name| format!("\"{name}\"")).collect();
    added.sort();
    added.dedup();
    (!added.is_empty()).then(|| {
        let added = added.join(", ");
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers \
             []string{{{added}}}"
        );
        FieldError::forbidden(at.clone(), detail)
    })
}

fn changed(new: &Object, old: &Object, field: &str, at: &FieldPath) -> Option<FieldError> {
    let value = |object: &Object| {
        let value = object.metadata().and_then(|metadata| metadata.get(field));
        value.cloned().unwrap_or(Value::Null)
    };
    let (now, before) = (value(new), value(old));
    (now != before).then(|| FieldError::invalid(at.field(field), now, "field is immutable"))
}

fn number(object: &Object, field: &str) -> Option<i64> {
    object.metadata()?.get(field)?.as_i64()
}

/// What comes after a prefix is a letter or digit, so that a dash at its end is no fault.
fn without_last_dash(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        // The character before the dash goes as well, as it does in kube-apiserver: "a.-" is fine.
        Some(rest) if !rest.is_empty() => {
            let kept = rest.char_indices().last().map_or(0, |(at, _)| at);
            format!("{}a", &rest[..kept])
        }
        Some(_) | None => prefix.to_owned(),
    }
}
