//! Refusals: every way in which the API says no, as the `Status` object that clients read.
//!
//! Clients branch on code and reason, people read the message. Both are kube-apiserver's own, down to
//! the order of words, because scripts have been written against them.

mod field;

pub(crate) use field::{Fault, FieldError, FieldPath, Fraction};

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::media_type::ACCEPTED;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// The HTTP status code.
    pub(crate) code: u16,
    /// The word that clients branch on, such as `NotFound`; empty where the API gives none.
    pub(crate) reason: &'static str,
    /// What people read.
    pub(crate) message: String,
    /// `details` of the status, if any.
    pub(crate) details: Option<Value>,
    /// A token with which a list can go on in spite of the refusal.
    pub(crate) continue_token: Option<String>,
    /// What few refusals have.
    pub(crate) besides: Option<Box<Besides>>,
}

/// What a refusal may come with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Besides {
    /// The status in someone else's words, which is then answered as it is.
    status: Option<Value>,
    /// What was found before the request was refused.
    warnings: Vec<String>,
}

/// What a refusal is about: a group, the word for its objects and one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) group: &'a str,
    /// The plural of the resource or, for `Invalid`, the kind: kube-apiserver uses both.
    pub(crate) what: &'a str,
    pub(crate) name: &'a str,
}

impl Subject<'_> {
    /// `zones.dns.kubi.zone "a"`, as messages say it.
    fn qualified(self) -> String {
        format!("{} \"{}\"", self.words(), self.name)
    }

    /// `zones.dns.kubi.zone`
    fn words(self) -> String {
        match (self.group, self.what) {
            ("", what) => what.to_owned(),
            (group, what) => format!("{what}.{group}"),
        }
    }

    fn details(self) -> Value {
        let mut details = json!({});
        for (field, text) in [
            ("name", self.name),
            ("group", self.group),
            ("kind", self.what),
        ] {
            if !text.is_empty() {
                details[field] = text.into();
            }
        }
        details
    }
}

impl Refusal {
    /// 400: the request itself makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(400, "BadRequest", message)
    }

    /// 401: who asks is not known.
    pub(crate) fn unauthorized() -> Self {
        Self::plain(401, "Unauthorized", "Unauthorized")
    }

    /// A refusal that has no reason: kube-apiserver's own slips, which clients have learned to expect.
    pub(crate) fn unreasoned(code: u16, message: impl Into<String>) -> Self {
        Self::plain(code, "", message)
    }

    /// 403 with a reason of its own, such as a namespace that is going away.
    pub(crate) fn forbidden(subject: Subject<'_>, why: &str) -> Self {
        let message = match subject {
            Subject { what: "", .. } => format!("forbidden: {why}"),
            Subject { name: "", .. } => format!("{} is forbidden: {why}", subject.words()),
            Subject { .. } => format!("{} is forbidden: {why}", subject.qualified()),
        };
        Self::about(403, "Forbidden", message, subject)
    }

    /// 404: there is no such object.
    pub(crate) fn not_found(subject: Subject<'_>) -> Self {
        let message = format!("{} not found", subject.qualified());
        Self::about(404, "NotFound", message, subject)
    }

    /// 404: there is no such path.
    pub(crate) fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        Self::plain(404, "NotFound", message).with_details(json!({}))
    }

    /// 405: the path is known, the method is not allowed on it.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::plain(405, "MethodNotAllowed", message).with_details(json!({}))
    }

    /// 406: none of the media types that the client accepts is spoken here.
    pub(crate) fn not_acceptable() -> Self {
        Self::plain(
            406,
            "NotAcceptable",
            format!("only the following media types are accepted: {ACCEPTED}"),
        )
    }

    /// 409: an object of this name is already there.
    pub(crate) fn already_exists(subject: Subject<'_>) -> Self {
        let message = format!("{} already exists", subject.qualified());
        Self::about(409, "AlreadyExists", message, subject)
    }

    /// 409: the object is not as the request assumes.
    pub(crate) fn conflict(subject: Subject<'_>, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {}: {why}",
            subject.qualified()
        );
        Self::about(409, "Conflict", message, subject)
    }

    /// 409: somebody else owns fields that are applied.
    pub(crate) fn apply_conflict(message: String, causes: &Value) -> Self {
        Self::plain(409, "Conflict", message).with_details(json!({ "causes": causes }))
    }

    /// 410: the revision asked for is no longer known.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::plain(410, "Expired", message)
    }

    /// 504: the revision asked for is still to come.
    pub(crate) fn too_large_revision(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause =
            json!({ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" });
        Self::plain(504, "Timeout", message)
            .with_details(json!({ "causes": [cause], "retryAfterSeconds": 1 }))
    }

    /// 413: more than the server is willing to read.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::plain(413, "RequestEntityTooLarge", message)
    }

    /// 415: the body is in a form that is not read here.
    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        Self::plain(
            415,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: {accepted}"
            ),
        )
    }

    /// 422: the object breaks rules of its kind. `kind` is what the subject is called here.
    pub(crate) fn invalid(subject: Subject<'_>, errors: &[FieldError]) -> Self {
        let all = match errors {
            [one] => one.to_string(),
            many => {
                let mut texts: Vec<String> = Vec::new();
                for text in many.iter().map(ToString::to_string) {
                    if !texts.contains(&text) {
                        texts.push(text);
                    }
                }
                match texts.as_slice() {
                    [one] => one.clone(),
                    several => format!("[{}]", several.join(", ")),
                }
            }
        };
        let message = format!("{} is invalid: {all}", subject.qualified());
        let mut refusal = Self::about(422, "Invalid", message, subject);
        if let Some(details) = &mut refusal.details {
            details["causes"] = errors.iter().map(FieldError::cause).collect();
        }
        refusal
    }

    /// 500: our own fault.
    pub(crate) fn internal(message: impl std::fmt::Display) -> Self {
        let mut refusal = Self::plain(
            500,
            "InternalError",
            format!("Internal error occurred: {message}"),
        );
        refusal.details = Some(json!({ "causes": [{ "message": message.to_string() }] }));
        refusal
    }

    /// 504: the request took longer than it may.
    pub(crate) fn timeout(message: &str) -> Self {
        Self::plain(504, "Timeout", format!("Timeout: {message}")).with_details(json!({}))
    }

    /// A refusal that someone else has put into words: a status with a message and a code.
    pub(crate) fn in_own_words(code: u16, message: &str, status: Value) -> Self {
        let mut refusal = Self::plain(code, "", message);
        refusal.besides.get_or_insert_default().status = Some(status);
        refusal
    }

    /// 507: the disk is full; nothing was changed, and reading goes on.
    pub(crate) fn no_space(message: impl Into<String>) -> Self {
        Self::plain(507, "InsufficientStorage", message)
    }

    /// 503: writes are refused until someone looks at the disk.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::plain(503, "ServiceUnavailable", message)
    }

    /// The `Status` object.
    pub(crate) fn status(&self) -> Value {
        let own = self
            .besides
            .as_ref()
            .and_then(|besides| besides.status.as_ref());
        if let Some(own) = own {
            return own.clone();
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(token) = &self.continue_token {
            status["metadata"]["continue"] = token.as_str().into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }

    /// The same refusal, with what the sender is told besides.
    #[must_use]
    pub(crate) fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        let mut warnings = warnings.into_iter().peekable();
        if warnings.peek().is_some() {
            let told = &mut self.besides.get_or_insert_default().warnings;
            told.splice(..0, warnings);
            // The same is not said twice.
            let mut said = BTreeSet::new();
            told.retain(|warning| said.insert(warning.clone()));
        }
        self
    }

    /// What the sender is told besides.
    pub(crate) fn warnings(&self) -> &[String] {
        let besides = self.besides.as_ref();
        besides
            .map(|besides| besides.warnings.as_slice())
            .unwrap_or_default()
    }

    /// Takes away what the sender is told besides.
    pub(crate) fn take_warnings(&mut self) -> Vec<String> {
        let besides = self.besides.as_mut();
        besides
            .map(|besides| std::mem::take(&mut besides.warnings))
            .unwrap_or_default()
    }

    /// The same refusal with these `details`.
    #[must_use]
    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// A code, a reason and a message.
    pub(crate) fn plain(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            reason,
            message,
            details: None,
            continue_token: None,
            besides: None,
        }
    }

    fn about(code: u16, reason: &'static str, message: String, subject: Subject<'_>) -> Self {
        let details = Some(subject.details());
        Self {
            details,
            ..Self::plain(code, reason, message)
        }
    }
}
