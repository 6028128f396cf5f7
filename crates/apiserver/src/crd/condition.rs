//! Conditions of a definition.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::section;
use crate::object::Object;

/// What a condition says, without the time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) holds: bool,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

pub(super) const NAMES_ACCEPTED: &str = "NamesAccepted";
pub(super) const ESTABLISHED: &str = "Established";
pub(super) const TERMINATING: &str = "Terminating";
pub(super) const API_APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// Whether the kinds of a definition are served.
pub(crate) fn is_established(definition: &Object) -> bool {
    holds(definition, ESTABLISHED)
}

/// Whether its objects are being deleted because it is. New ones are refused from then on:
/// `create not allowed while custom resource definition is terminating`.
pub(crate) fn is_terminating(definition: &Object) -> bool {
    holds(definition, TERMINATING)
}

/// Writes a condition and tells whether that changed anything. The time of the last transition
/// moves only when the condition starts or ceases to hold.
pub(super) fn set(definition: &mut Object, condition: &Condition, now: Timestamp) -> bool {
    let status = section(definition, "status");
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let conditions = conditions.as_array_mut().expect("made an array just now");
    let Some(old) = conditions
        .iter_mut()
        .find(|old| old["type"] == condition.kind)
    else {
        conditions.push(condition.written(now));
        return true;
    };
    let mut new = condition.written(now);
    if old["status"] == new["status"] && old["lastTransitionTime"].is_string() {
        new["lastTransitionTime"] = old["lastTransitionTime"].clone();
    }
    let changed = *old != new;
    *old = new;
    changed
}

fn holds(definition: &Object, kind: &str) -> bool {
    let conditions = definition
        .get("status")
        .and_then(|status| status.get("conditions"))
        .and_then(Value::as_array);
    let found = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind);
    found.is_some_and(|condition| condition["status"] == "True")
}

impl Condition {
    fn written(&self, now: Timestamp) -> Value {
        json!({
            "type": self.kind,
            "status": if self.holds { "True" } else { "False" },
            "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "reason": self.reason,
            "message": self.message,
        })
    }
}
