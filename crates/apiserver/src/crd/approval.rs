//! Groups that belong to the Kubernetes community: a definition in one of them says who approved
//! it.

use http::Uri;

use super::condition::{API_APPROVED, Condition};
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, FieldPath};

/// The annotation that says who approved a definition.
const ANNOTATION: &str = "api-approved.kubernetes.io";

/// Where the rule is explained, as messages end with it.
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What the annotation says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Approval {
    Missing,
    /// A reason why it is not approved: allowed, and shown in the status.
    Bypassed,
    /// The address of the discussion.
    Approved,
    /// Anything else.
    Invalid,
}

/// Refuses a definition in a protected group without an approval. One that already has a bad
/// approval may keep it, so that it stays changeable.
pub(super) fn validate(definition: &Object, old: Option<&Object>) -> Option<FieldError> {
    let approval = Approval::of(definition);
    if !is_protected(group(definition)) || old.map(Approval::of) == Some(approval) {
        return None;
    }
    let path = FieldPath::of("metadata.annotations").key(ANNOTATION);
    match approval {
        Approval::Missing => Some(FieldError::required(path, approval.explained(definition))),
        Approval::Invalid => Some(FieldError::invalid(
            path,
            annotation(definition),
            approval.explained(definition),
        )),
        Approval::Bypassed | Approval::Approved => None,
    }
}

/// The condition that shows the approval; only protected groups have it.
pub(super) fn condition(definition: &Object) -> Option<Condition> {
    if !is_protected(group(definition)) {
        return None;
    }
    let approval = Approval::of(definition);
    let reason = match approval {
        Approval::Missing => "MissingAnnotation",
        Approval::Bypassed => "UnapprovedAnnotation",
        Approval::Approved => "ApprovedAnnotation",
        Approval::Invalid => "InvalidAnnotation",
    };
    Some(Condition {
        kind: API_APPROVED,
        holds: approval == Approval::Approved,
        reason,
        message: approval.explained(definition),
    })
}

fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].into_iter().any(|domain| {
        let host = group.strip_suffix(domain);
        host.is_some_and(|host| host.is_empty() || host.ends_with('.'))
    })
}

impl Approval {
    fn of(definition: &Object) -> Self {
        match annotation(definition) {
            "" => Self::Missing,
            text if text.starts_with("unapproved") => Self::Bypassed,
            text if is_address(text) => Self::Approved,
            _ => Self::Invalid,
        }
    }

    fn explained(self, definition: &Object) -> String {
        let text = annotation(definition);
        match self {
            Self::Missing => {
                format!("protected groups must have approval annotation \"{ANNOTATION}\", {SEE}")
            }
            Self::Bypassed => format!("not approved: {text:?}"),
            Self::Approved => format!("approved in {text}"),
            Self::Invalid => format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL \
                 or a reason starting with \"unapproved\", {SEE}"
            ),
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<Uri>()
        .is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()))
}

fn annotation(definition: &Object) -> &str {
    let annotations = definition
        .metadata()
        .and_then(|metadata| metadata.get("annotations"));
    let text = annotations.and_then(|annotations| annotations.get(ANNOTATION));
    text.and_then(serde_json::Value::as_str).unwrap_or_default()
}

fn group(definition: &Object) -> &str {
    let group = definition.get("spec").and_then(|spec| spec.get("group"));
    group
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
}
