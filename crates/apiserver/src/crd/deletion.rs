//! How a definition goes: first its objects, then itself.
//!
//! A finalizer holds the definition until the last object is gone. The engine asks [`next`]
//! whenever the definition or one of its objects changed, writes the answer down with [`record`],
//! and carries it out:
//!
//! ```text
//! DELETE ─► mark_for_deletion ─► next ─┬─ DeleteInstances ─► delete what stays, then next again
//!                                      └─ Release ─► no finalizer is left: the definition goes
//! ```

use jiff::Timestamp;
use serde_json::{Value, json};

use super::condition::{self, Condition, TERMINATING};
use crate::object::{Object, ObjectExt as _};

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What to do about a definition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// Nothing: it is not going, or someone else's finalizer holds it.
    Rest,
    /// Delete those of its objects whose deletion has not been asked for. Objects with finalizers
    /// take their time.
    DeleteInstances,
    /// Its objects are gone: let go of it.
    Release,
    /// It never came into use: there is nothing to delete, let go of it.
    ReleaseUnused,
}

/// Writes into a definition that its deletion was asked for. The engine sets the time of deletion,
/// as for any object with finalizers.
pub(crate) fn mark_for_deletion(definition: &mut Object, now: Timestamp) {
    if definition
        .metadata_texts("finalizers")
        .all(|finalizer| finalizer != CLEANUP_FINALIZER)
    {
        let finalizers = definition
            .metadata_mut()
            .entry("finalizers")
            .or_insert_with(|| json!([]));
        if let Value::Array(finalizers) = finalizers {
            finalizers.push(CLEANUP_FINALIZER.into());
        }
    }
    let message =
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    condition::set(
        definition,
        &terminating(true, "InstanceDeletionPending", message),
        now,
    );
}

/// What is to be done, given how many of its objects there still are.
pub(crate) fn next(definition: &Object, remaining_instances: usize) -> Step {
    let held = definition
        .metadata_texts("finalizers")
        .any(|finalizer| finalizer == CLEANUP_FINALIZER);
    if !definition.is_deleting() || !held {
        return Step::Rest;
    }
    if !condition::is_established(definition) {
        return Step::ReleaseUnused;
    }
    match remaining_instances {
        0 => Step::Release,
        1.. => Step::DeleteInstances,
    }
}

/// Writes a step into the definition and tells whether that changed it.
pub(crate) fn record(definition: &mut Object, step: Step, now: Timestamp) -> bool {
    let condition = match step {
        Step::Rest => return false,
        Step::DeleteInstances => terminating(
            true,
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        ),
        Step::Release => terminating(false, "InstanceDeletionCompleted", "removed all instances"),
        Step::ReleaseUnused => {
            terminating(false, "NeverEstablished", "resource was never established")
        }
    };
    let changed = condition::set(definition, &condition, now);
    match step {
        Step::Rest | Step::DeleteInstances => changed,
        Step::Release | Step::ReleaseUnused => {
            release(definition);
            true
        }
    }
}

fn release(definition: &mut Object) {
    let metadata = definition.metadata_mut();
    if let Some(Value::Array(finalizers)) = metadata.get_mut("finalizers") {
        finalizers.retain(|finalizer| finalizer != CLEANUP_FINALIZER);
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        }
    }
}

fn terminating(holds: bool, reason: &'static str, message: &str) -> Condition {
    Condition {
        kind: TERMINATING,
        holds,
        reason,
        message: message.to_owned(),
    }
}
