//! Verdicts as the API reads them.

use api::Problem;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use kube::core::Status;
use kube::core::response::StatusSummary;
use serde_json::json;

use super::Verdict;

/// The code and the reason of something that was understood and breaks a rule.
const INVALID: (u16, &str) = (422, "Invalid");

/// The code and the reason of something that somebody may not do.
const FORBIDDEN: (u16, &str) = (403, "Forbidden");

/// A verdict as an answer.
pub(super) fn respond(verdict: Verdict) -> Response<Full<Bytes>> {
    let patch = verdict.patch.as_ref().map(|patch| STANDARD.encode(patch));
    let review = verdict.into_review();
    let mut review = serde_json::to_value(&review).expect("a verdict has no way to fail");
    // Octets are text in Kubernetes; kube writes them as a list of numbers.
    if let Some(patch) = patch {
        review["response"]["patch"] = json!(patch);
    }
    let body = review.to_string();
    let mut response = Response::new(Full::from(body));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// An answer that is no verdict: what asks takes it for a failure.
pub(super) fn words(status: StatusCode, why: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{why}\n")));
    *response.status_mut() = status;
    response
}

/// A no, because of what is in the object: every problem, each with its field.
pub(super) fn invalid(verdict: Verdict, problems: &[Problem]) -> Verdict {
    no(verdict, INVALID, &api::problem::summary(problems))
}

/// A no, because of who asks or what cannot be found out.
pub(super) fn forbidden(verdict: Verdict, why: &str) -> Verdict {
    no(verdict, FORBIDDEN, why)
}

fn no(mut verdict: Verdict, (code, reason): (u16, &str), why: &str) -> Verdict {
    verdict.allowed = false;
    verdict.result = Status {
        status: Some(StatusSummary::Failure),
        code,
        reason: reason.to_owned(),
        message: why.to_owned(),
        ..Status::default()
    };
    verdict
}
