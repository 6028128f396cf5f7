//! What an answer, or the lack of one, means for the request.

use serde_json::Value;

use super::hook::{FailurePolicy, Hook};
use super::review::{Question, Reply, Response};
use crate::object::Object;
use crate::refusal::Refusal;

/// An answer, or why there is none, in kube-apiserver's words.
pub(crate) type Answered = Result<Reply, String>;

/// What becomes of a request after a webhook was asked.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// It goes on, with what was answered.
    Admitted(Response),
    /// It goes on as if nobody had been asked.
    Overlooked,
    Refused(Refusal),
}

/// Judges an answer.
pub(super) fn verdict(question: &Question, answered: Answered) -> Verdict {
    let hook = &question.hook;
    match answered.and_then(|reply| question.read(&reply)) {
        Ok(response) if response.allowed => Verdict::Admitted(response),
        Ok(response) => {
            let denied = denied(&hook.name, response.status.as_ref());
            Verdict::Refused(denied.with_warnings(response.warnings))
        }
        Err(why) => failed(hook, &why),
    }
}

/// A webhook that could not be asked, or made no sense.
pub(super) fn failed(hook: &Hook, why: &str) -> Verdict {
    let failure = format!("failed calling webhook {:?}: {why}", hook.name);
    match hook.failure {
        FailurePolicy::Ignore => {
            tracing::warn!(webhook = hook.name, "going on without it: {failure}");
            Verdict::Overlooked
        }
        FailurePolicy::Fail => Verdict::Refused(Refusal::internal(failure)),
    }
}

/// A request that nothing may follow from cannot be shown to a webhook that does something all the same.
pub(super) fn without_dry_run(hook: &Hook) -> Refusal {
    Refusal::bad_request(format!(
        "admission webhook {:?} does not support dry run",
        hook.name
    ))
}

/// The webhook's own status, made one of a refusal.
fn denied(name: &str, status: Option<&Object>) -> Refusal {
    let mut status = status.cloned().unwrap_or_default();
    let text = |field: &str| {
        let text = status.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let explanation = text("message").or_else(|| text("reason"));
    let by = format!("admission webhook {name:?} denied the request");
    let message = match explanation {
        Some(explanation) => format!("{by}: {explanation}"),
        None => format!("{by} without explanation"),
    };
    let code = status.get("code").and_then(Value::as_u64);
    let code = code.and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| *code >= 400).unwrap_or(400);
    if text("status").is_none_or(|word| word == "Success") {
        status.insert("status".into(), "Failure".into());
    }
    status.insert("kind".into(), "Status".into());
    status.insert("apiVersion".into(), "v1".into());
    status
        .entry("metadata")
        .or_insert_with(|| Object::new().into());
    status.insert("message".into(), message.as_str().into());
    status.insert("code".into(), code.into());
    Refusal::in_own_words(code, &message, status.into())
}
