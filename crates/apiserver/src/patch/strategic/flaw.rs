//! What can be wrong with a strategic merge patch, in kube-apiserver's words and with its codes.

use serde_json::Value;

use super::super::go_syntax::{Shown, ShownList};
use super::super::rejected;
use crate::object::Object;
use crate::refusal::Refusal;

/// Why a strategic merge patch cannot be applied.
#[derive(Debug)]
pub(super) enum Flaw {
    /// `$retainKeys` is no list, or does not name a field that the patch sets.
    RetainKeys,
    /// `$deleteFromPrimitiveList` without a field.
    PrimitiveList,
    /// `$setElementOrder` without a field.
    ElementOrder,
    /// A list whose entries are lists.
    ListOfLists,
    /// What kube-apiserver did not foresee, and answers with 500 although the client is at fault.
    Unforeseen(String),
}

impl Flaw {
    pub(super) fn unknown_directive(directive: &Value, patch: &Object) -> Self {
        let patch = Value::Object(patch.clone());
        Self::Unforeseen(format!(
            "unknown patch type: {} in map: {}",
            Shown(directive),
            Shown(&patch)
        ))
    }

    pub(super) fn wrong_type(expected: &str, found: &str) -> Self {
        Self::Unforeseen(format!("expected a {expected}, but received a {found}"))
    }

    pub(super) fn unknown_field(name: &str) -> Self {
        Self::Unforeseen(format!(
            "unable to find api field in struct for the json field \"{name}\""
        ))
    }

    pub(super) fn no_merge_key(entry: &Value, key: &str) -> Self {
        Self::Unforeseen(format!(
            "map: {} does not contain declared merge key: {key}",
            Shown(entry)
        ))
    }

    pub(super) fn mixed_types(lists: [&[Value]; 2]) -> Self {
        let [first, second] = lists.map(ShownList);
        Self::Unforeseen(format!(
            "list element types are not identical: [{first} {second}]"
        ))
    }

    pub(super) fn wrong_order(patch: &[Value], order: &[Value]) -> Self {
        let (patch, order) = (ShownList(patch), ShownList(order));
        Self::Unforeseen(format!(
            "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n"
        ))
    }
}

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::RetainKeys => Self::bad_request("invalid patch format of retainKeys"),
            Flaw::PrimitiveList => Self::bad_request("invalid patch format of primitive list"),
            Flaw::ElementOrder => Self::bad_request("invalid patch format of setElementOrder list"),
            Flaw::ListOfLists => rejected(),
            Flaw::Unforeseen(message) => Self::unreasoned(500, message),
        }
    }
}
