//! Requests that failed, in words that say what to do next.

use std::error::Error as _;
use std::io;

use kube::core::Status;

use super::source::Source;

/// Whether a request failed because nobody listens where it was sent.
pub(crate) fn nobody_listens(error: &kube::Error) -> bool {
    let refused = |kind| kind == io::ErrorKind::ConnectionRefused;
    io_kind(error).is_some_and(refused)
}

/// Whether the API said that there is no such thing.
pub(crate) fn is_missing(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 404)
}

/// Whether we are not allowed to.
pub(crate) fn is_forbidden(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 403)
}

/// Whether the API answered and said no to this very request, so that others may fare better.
pub(crate) fn is_refusal(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| matches!(status.code, 400 | 403 | 404 | 409 | 413 | 422))
}

/// The API's own words where it said no; the chain of causes otherwise.
pub(crate) fn words(error: &kube::Error) -> String {
    let Some(status) = status(error) else {
        return chain(error);
    };
    match &status.details {
        Some(details) if status.code == 404 && details.kind == "namespaces" => format!(
            "{}; `kubectl create namespace {}` makes it",
            status.message, details.name
        ),
        Some(_) | None => status.message.clone(),
    }
}

pub(super) fn explain(error: &kube::Error, url: &str, source: &Source) -> anyhow::Error {
    if nobody_listens(error) {
        let start = match source {
            Source::Own(_) => "start it with `zonewright up`, or name another with --kubeconfig",
            Source::Given(_) | Source::Variable(_) | Source::User(_) | Source::Pod => {
                "start what should be there, or name another with --kubeconfig"
            }
        };
        return anyhow::anyhow!("nobody listens at {url}, where {source} leads; {start}");
    }
    match status(error) {
        Some(status) if status.code == 401 => anyhow::anyhow!(
            "the API at {url} does not know who we are: the credentials in {source} are not, or no longer, accepted"
        ),
        Some(status) => anyhow::anyhow!("{}", status.message),
        None => anyhow::anyhow!(
            "no answer from {url}, where {source} leads: {}",
            chain(error)
        ),
    }
}

/// What the API answered, if it did.
fn status(error: &kube::Error) -> Option<&Status> {
    if let kube::Error::Api(status) = error {
        Some(status)
    } else {
        None
    }
}

/// An error and its causes, each said once.
fn chain(error: &kube::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// What kind of trouble the socket had, if it was the socket.
fn io_kind(error: &kube::Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}
