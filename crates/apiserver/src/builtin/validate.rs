//! The rules of the kinds that are read here, with kube-apiserver's paths and words. Others keep those of their types.

mod data;
mod event;
mod ingress;
mod problems;
mod rbac;
mod service;
mod webhook;

use serde_json::{Value, json};

use super::fields::Fields as _;
use super::kind::Kind;
use crate::metadata::{self, text};
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};
use crate::resource::Resource;
pub(super) use ingress::CLASS_ANNOTATION;
use problems::Problems;

/// Judges a new object.
pub(super) fn create((resource, kind): (&Resource, Kind), object: &Object) -> Vec<FieldError> {
    let mut problems = Problems::default();
    finalizers(kind, object, &mut problems);
    match kind {
        Kind::Namespace => namespace(object, &mut problems),
        Kind::ConfigMap => data::config_map(object, &mut problems),
        Kind::Event | Kind::NewEvent => event::create(kind, object, &mut problems),
        Kind::Secret => data::secret(object, &mut problems),
        Kind::Service => service::judge(object, &mut problems),
        Kind::Lease => lease(object, &mut problems),
        Kind::ClusterRoleBinding | Kind::RoleBinding => rbac::binding(kind, object, &mut problems),
        Kind::ClusterRole | Kind::Role => rbac::role(kind, object, &mut problems),
        Kind::Ingress => {
            ingress::judge(object, &mut problems);
            ingress::class_annotation(object, &mut problems);
        }
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => {
            webhook::judge(object, &mut problems);
        }
        Kind::Stored(_) => problems.extend(by_type(resource, object)),
        Kind::ServiceAccount | Kind::CustomResourceDefinition => {}
    }
    problems.found()
}

/// Judges a change.
///
/// Some kinds judge the whole object again, others only what they ask for; the order is that of the causes of a refusal.
pub(super) fn update(
    (resource, kind): (&Resource, Kind),
    new: &Object,
    old: &Object,
) -> Vec<FieldError> {
    let mut own = Problems::default();
    let whole = || {
        let mut found = metadata::validate(resource, new);
        found.extend(create((resource, kind), new));
        found
    };
    match kind {
        Kind::Namespace | Kind::ClusterRole | Kind::Role => {
            in_order([whole(), changed_metadata(kind, new, old)])
        }
        Kind::ConfigMap => {
            data::config_map_change(new, old, &mut own);
            in_order([changed_metadata(kind, new, old), own.found(), whole()])
        }
        Kind::Event | Kind::NewEvent => {
            finalizers(kind, new, &mut own);
            event::change(kind, new, old, &mut own);
            own.found()
        }
        Kind::Secret => {
            data::secret_change(new, old, &mut own);
            in_order([changed_metadata(kind, new, old), own.found(), whole()])
        }
        Kind::Service => {
            service::change(new, old, &mut own);
            service::judge(new, &mut own);
            in_order([changed_metadata(kind, new, old), own.found()])
        }
        Kind::Lease => {
            lease(new, &mut own);
            in_order([changed_metadata(kind, new, old), own.found()])
        }
        Kind::ClusterRoleBinding | Kind::RoleBinding => {
            rbac::binding_change(new, old, &mut own);
            in_order([whole(), changed_metadata(kind, new, old), own.found()])
        }
        Kind::Ingress => {
            finalizers(kind, new, &mut own);
            ingress::judge(new, &mut own);
            let whole = metadata::validate(resource, new);
            in_order([changed_metadata(kind, new, old), whole, own.found()])
        }
        Kind::ServiceAccount => in_order([changed_metadata(kind, new, old), whole()]),
        Kind::Stored(_) => in_order([changed_metadata(kind, new, old), by_type(resource, new)]),
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => whole(),
        Kind::CustomResourceDefinition => Vec::new(),
    }
}

/// Judges a change of the status.
pub(super) fn status(kind: Kind, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut own = Problems::default();
    if new.at("status") != old.at("status") {
        if kind == Kind::Ingress {
            service::status_points(new, &mut own);
        }
        if kind == Kind::Service {
            service::status(new, &mut own);
        }
    }
    in_order([changed_metadata(kind, new, old), own.found()])
}

/// What most kinds say of changed metadata, after everybody has said it already.
fn changed_metadata(kind: Kind, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut own = Problems::default();
    finalizers(kind, new, &mut own);
    in_order([metadata::validate_change(new, old), own.found()])
}

fn in_order<const PARTS: usize>(parts: [Vec<FieldError>; PARTS]) -> Vec<FieldError> {
    parts.into_iter().flatten().collect()
}

/// What a published type requires must be there, and where it lists values no other is taken. What everything has and what
/// others have found is not asked for.
fn by_type(resource: &Resource, object: &Object) -> Vec<FieldError> {
    let mut asked = object.clone();
    for field in ["apiVersion", "kind", "metadata", "status"] {
        asked.remove(field);
    }
    let mut asked = Value::Object(asked);
    drop_nothing(&mut asked);
    resource.schema.validate_keywords(&asked)
}

/// Drops what Go could not tell from what was left out.
fn drop_nothing(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(drop_nothing);
            fields.retain(|_, value| !value.is_null() && value != "" && *value != json!([]));
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nothing),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn namespace(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec.finalizers");
    for finalizer in object.texts("spec.finalizers") {
        problems.all_invalid(&at, finalizer, text::qualified_name(finalizer));
        if !is_known_finalizer(finalizer) {
            problems.invalid(&at, finalizer, UNKNOWN_FINALIZER);
        }
    }
}

/// Most built-in kinds take only finalizers that say whose they are.
fn finalizers(kind: Kind, object: &Object, problems: &mut Problems) {
    if kind.facts().has("any-finalizer") {
        return;
    }
    let at = FieldPath::of("metadata.finalizers");
    for (index, finalizer) in object.texts("metadata.finalizers").into_iter().enumerate() {
        if !is_known_finalizer(finalizer) {
            problems.invalid(&at.index(index), finalizer, UNKNOWN_FINALIZER);
        }
    }
}

const UNKNOWN_FINALIZER: &str =
    "name is neither a standard finalizer name nor is it fully qualified";

fn is_known_finalizer(name: &str) -> bool {
    name.contains('/') || matches!(name, "kubernetes" | "orphan" | "foregroundDeletion")
}

fn lease(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("spec");
    for (field, least, detail) in [
        ("leaseDurationSeconds", 1, "must be greater than 0"),
        ("leaseTransitions", 0, "must be greater than or equal to 0"),
    ] {
        let number = object.at(&format!("spec.{field}")).and_then(Value::as_i64);
        if let Some(number) = number.filter(|number| *number < least) {
            problems.invalid(&at.field(field), number, detail);
        }
    }
    if !object.text("spec.preferredHolder").is_empty() && object.text("spec.strategy").is_empty() {
        let detail = "may only be specified if `strategy` is defined";
        problems.forbidden(&at.field("preferredHolder"), detail);
    }
}
