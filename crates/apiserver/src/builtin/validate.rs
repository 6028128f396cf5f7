//! The rules of each kind, with kube-apiserver's paths and words.
//!
//! What pods themselves must look like is judged only as far as a template could never work: no
//! containers, or containers without a name or an image.

mod data;
mod event;
mod ingress;
mod network_policy;
mod node;
mod problems;
mod rbac;
mod service;
mod webhook;
mod workload;

use super::fields::Fields as _;
use super::kind::Kind;
use crate::metadata::text;
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};
use problems::Problems;

/// Judges a new object.
pub(super) fn create(kind: Kind, object: &Object) -> Vec<FieldError> {
    let mut problems = Problems::default();
    finalizers(kind, object, &mut problems);
    match kind {
        Kind::Namespace => namespace(object, &mut problems),
        Kind::Node => node::judge(object, &mut problems),
        Kind::ConfigMap => data::config_map(object, &mut problems),
        Kind::Event | Kind::NewEvent => event::create(kind, object, &mut problems),
        Kind::Secret => data::secret(object, &mut problems),
        Kind::Service => service::judge(object, &mut problems),
        Kind::Lease => lease(object, &mut problems),
        Kind::Deployment => workload::deployment(object, &mut problems),
        Kind::ClusterRoleBinding | Kind::RoleBinding => rbac::binding(kind, object, &mut problems),
        Kind::ClusterRole | Kind::Role => rbac::role(kind, object, &mut problems),
        Kind::IngressClass => ingress::class(object, &mut problems),
        Kind::Ingress => {
            ingress::judge(object, &mut problems);
            ingress::class_annotation(object, &mut problems);
        }
        Kind::NetworkPolicy => network_policy::judge(object, &mut problems),
        Kind::PodDisruptionBudget => workload::budget(object, &mut problems),
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => {
            webhook::judge(object, &mut problems);
        }
        Kind::ServiceAccount | Kind::CustomResourceDefinition => {}
    }
    problems.found()
}

/// Judges a change.
pub(super) fn update(kind: Kind, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut problems = Problems::default();
    match kind {
        // Its finalizers cannot be changed, so they are not judged again.
        Kind::Namespace => {
            finalizers(kind, new, &mut problems);
            return problems.found();
        }
        Kind::Node => node::change(new, old, &mut problems),
        Kind::ConfigMap => data::config_map_change(new, old, &mut problems),
        Kind::Event | Kind::NewEvent => {
            finalizers(kind, new, &mut problems);
            event::change(kind, new, old, &mut problems);
            return problems.found();
        }
        Kind::Secret => data::secret_change(new, old, &mut problems),
        Kind::Service => service::change(new, old, &mut problems),
        Kind::Deployment => {
            finalizers(kind, new, &mut problems);
            workload::deployment(new, &mut problems);
            problems.immutable("spec.selector", new, old);
            return problems.found();
        }
        Kind::ClusterRoleBinding | Kind::RoleBinding => {
            rbac::binding_change(new, old, &mut problems);
        }
        Kind::IngressClass => problems.immutable("spec.controller", new, old),
        Kind::Ingress => {
            finalizers(kind, new, &mut problems);
            ingress::judge(new, &mut problems);
            if new.at("status") != old.at("status") {
                service::status_points(new, &mut problems);
            }
            return problems.found();
        }
        Kind::ServiceAccount
        | Kind::Lease
        | Kind::ClusterRole
        | Kind::Role
        | Kind::NetworkPolicy
        | Kind::PodDisruptionBudget
        | Kind::MutatingWebhookConfiguration
        | Kind::ValidatingWebhookConfiguration
        | Kind::CustomResourceDefinition => {}
    }
    let mut found = problems.found();
    found.extend(create(kind, new));
    found
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
    let anything = [
        Kind::Event,
        Kind::Lease,
        Kind::PodDisruptionBudget,
        Kind::MutatingWebhookConfiguration,
        Kind::ValidatingWebhookConfiguration,
        Kind::CustomResourceDefinition,
    ];
    if anything.contains(&kind) {
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
        let number = object
            .at(&format!("spec.{field}"))
            .and_then(serde_json::Value::as_i64);
        if let Some(number) = number.filter(|number| *number < least) {
            problems.invalid(&at.field(field), number, detail);
        }
    }
    if !object.text("spec.preferredHolder").is_empty() && object.text("spec.strategy").is_empty() {
        let detail = "may only be specified if `strategy` is defined";
        problems.forbidden(&at.field("preferredHolder"), detail);
    }
}
