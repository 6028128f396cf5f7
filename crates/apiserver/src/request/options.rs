//! Queries, taken apart: the options of each verb.
//!
//! Options are read as kube-apiserver reads them, which is lenient in places: any flag that is there and
//! does not say `false` or `0` is on.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath, Refusal, Subject};

/// The parameters of a query. Of a parameter that is given twice the first counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

/// Options of `list` and `watch`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) labels: String,
    pub(crate) fields: String,
    /// 0 is no limit.
    pub(crate) limit: usize,
    pub(crate) continue_token: String,
    pub(crate) revision: Option<u64>,
    pub(crate) revision_match: Option<Match>,
    pub(crate) bookmarks: bool,
    pub(crate) initial_events: Option<bool>,
    pub(crate) timeout_seconds: Option<u64>,
}

/// What `resourceVersionMatch` says about the revision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Match {
    Exact,
    NotOlderThan,
}

/// Options of everything that writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_manager: Option<String>,
    pub(crate) field_validation: FieldValidation,
}

/// What happens to fields that a kind does not have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// Options of `delete`.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) propagation: Option<Propagation>,
    /// The older way to say `propagation`; who uses it is told with a code of its own that it takes time.
    pub(crate) orphan_dependents: Option<bool>,
    pub(crate) uid: Option<String>,
    pub(crate) revision: Option<String>,
}

/// What happens to the objects that an object owns.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        let mut parameters = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            parameters
                .entry(key.into_owned())
                .or_insert_with(|| value.into_owned());
        }
        Self(parameters)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.switch(name).unwrap_or(false)
    }

    fn switch(&self, name: &str) -> Option<bool> {
        let value = self.0.get(name)?;
        Some(!(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    fn integer(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse();
        number.map(Some).map_err(|_| {
            Refusal::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        })
    }
}

impl Query {
    /// Refuses what a request for one object cannot ask.
    pub(crate) fn check_get(&self) -> Result<(), Refusal> {
        // What is not a number is a fault of the server to kube-apiserver, and has no reason.
        let checked = revision(self).map_err(|message| Refusal::unreasoned(500, message));
        checked.map(|_revision| ())
    }

    /// Who applies, which they have to say, and whether they take fields from others.
    pub(crate) fn applier(&self) -> Result<(&str, bool), Refusal> {
        let subject = Subject {
            group: "meta.k8s.io",
            what: "PatchOptions",
            name: "",
        };
        let manager = self.text("fieldManager").ok_or_else(|| {
            let why = "is required for apply patch";
            let error = FieldError::required(FieldPath::of("fieldManager"), why);
            Refusal::invalid(subject, &[error])
        })?;
        Ok((manager, self.flag("force")))
    }

    /// Refuses what only server-side apply may ask.
    pub(crate) fn check_patch(&self) -> Result<(), Refusal> {
        if self.text("force").is_none() {
            return Ok(());
        }
        let subject = Subject {
            group: "meta.k8s.io",
            what: "PatchOptions",
            name: "",
        };
        let why = "may not be specified for non-apply patch";
        Err(Refusal::invalid(
            subject,
            &[FieldError::forbidden(FieldPath::of("force"), why)],
        ))
    }
}

impl ListOptions {
    pub(crate) fn for_list(query: &Query) -> Result<Self, Refusal> {
        let options = Self::read(query)?;
        if query.switch("sendInitialEvents").is_some() {
            return Err(forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        options.check_match(query)?;
        Ok(Self {
            revision: revision(query).map_err(|message| no_such_revision(&message))?,
            ..options
        })
    }

    pub(crate) fn for_watch(query: &Query) -> Result<Self, Refusal> {
        let options = Self::read(query)?;
        let matched = options.revision_match;
        match options.initial_events {
            Some(_) if matched != Some(Match::NotOlderThan) => {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                let path = FieldPath::of("resourceVersionMatch");
                let mut errors = vec![FieldError::forbidden(path.clone(), why)];
                if let Some(Match::Exact) = matched {
                    let fault = Fault::NotSupported("Exact".into());
                    errors.push(FieldError::new(
                        path,
                        fault,
                        "supported values: \"NotOlderThan\"",
                    ));
                }
                return Err(Refusal::invalid(LIST_OPTIONS, &errors));
            }
            None if matched.is_some() => {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                return Err(forbidden("resourceVersionMatch", why));
            }
            Some(_) | None => {}
        }
        if !options.continue_token.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            return Err(forbidden("resourceVersionMatch", why));
        }
        // What is not a number is a fault of the server to kube-apiserver, and has no reason.
        let unparsed = |message: String| Refusal::unreasoned(500, message);
        Ok(Self {
            revision: revision(query).map_err(unparsed)?,
            ..options
        })
    }

    fn read(query: &Query) -> Result<Self, Refusal> {
        let text = |name| query.text(name).unwrap_or_default().to_owned();
        let natural = |name| -> Result<Option<u64>, Refusal> {
            Ok(query
                .integer(name)?
                .and_then(|number| u64::try_from(number).ok()))
        };
        let limit = natural("limit")?.unwrap_or_default();
        Ok(Self {
            labels: text("labelSelector"),
            fields: text("fieldSelector"),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            continue_token: text("continue"),
            revision: None,
            revision_match: revision_match(query)?,
            bookmarks: query.flag("allowWatchBookmarks"),
            initial_events: query.switch("sendInitialEvents"),
            timeout_seconds: natural("timeoutSeconds")?,
        })
    }

    fn check_match(&self, query: &Query) -> Result<(), Refusal> {
        let Some(matched) = self.revision_match else {
            return Ok(());
        };
        let revision = query.text("resourceVersion");
        let mut problems = Vec::new();
        if revision.is_none() {
            problems.push("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !self.continue_token.is_empty() {
            problems.push("resourceVersionMatch is forbidden when continue is provided");
        }
        if (revision, matched) == (Some("0"), Match::Exact) {
            problems.push("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
        match problems.as_slice() {
            [] => Ok(()),
            problems => Err(Refusal::invalid(
                LIST_OPTIONS,
                &problems
                    .iter()
                    .map(|why| FieldError::forbidden(FieldPath::of("resourceVersionMatch"), *why))
                    .collect::<Vec<_>>(),
            )),
        }
    }
}

fn revision_match(query: &Query) -> Result<Option<Match>, Refusal> {
    match query.text("resourceVersionMatch") {
        None => Ok(None),
        Some("Exact") => Ok(Some(Match::Exact)),
        Some("NotOlderThan") => Ok(Some(Match::NotOlderThan)),
        Some(other) => {
            let fault = Fault::NotSupported(other.into());
            let supported = "supported values: \"Exact\", \"NotOlderThan\", \"\"";
            let error = FieldError::new(FieldPath::of("resourceVersionMatch"), fault, supported);
            Err(Refusal::invalid(LIST_OPTIONS, &[error]))
        }
    }
}

/// The revision a query names. The error is what Go says of a text that is no number.
fn revision(query: &Query) -> Result<Option<u64>, String> {
    let Some(text) = query.text("resourceVersion") else {
        return Ok(None);
    };
    let unparsed = |_| {
        format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        )
    };
    text.parse().map(Some).map_err(unparsed)
}

fn no_such_revision(message: &str) -> Refusal {
    Refusal::bad_request(format!("invalid resource version: {message}"))
}

const LIST_OPTIONS: Subject<'static> = Subject {
    group: "meta.k8s.io",
    what: "ListOptions",
    name: "",
};

fn forbidden(field: &str, why: &str) -> Refusal {
    Refusal::invalid(
        LIST_OPTIONS,
        &[FieldError::forbidden(FieldPath::of(field), why)],
    )
}

impl WriteOptions {
    /// `kind` is what refusals call the options: `CreateOptions`, `UpdateOptions`, `PatchOptions`.
    pub(crate) fn read(query: &Query, kind: &'static str) -> Result<Self, Refusal> {
        let subject = Subject {
            group: "meta.k8s.io",
            what: kind,
            name: "",
        };
        let invalid = |field: &str, value: &str, supported: &str| {
            let fault = Fault::NotSupported(value.into());
            let supported = format!("supported values: {supported}");
            Refusal::invalid(
                subject,
                &[FieldError::new(FieldPath::of(field), fault, supported)],
            )
        };
        let field_validation = match query.text("fieldValidation") {
            None | Some("Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                return Err(invalid(
                    "fieldValidation",
                    other,
                    "\"\", \"Ignore\", \"Strict\", \"Warn\"",
                ));
            }
        };
        let dry_run = match query.0.get("dryRun").map(String::as_str) {
            None => false,
            Some("All") => true,
            Some(other) => return Err(unknown_dry_run(subject, &json!([other]))),
        };
        let field_manager = query.text("fieldManager").map(str::to_owned);
        Ok(Self {
            dry_run,
            field_manager,
            field_validation,
        })
    }
}

impl DeleteOptions {
    /// The options in a body, or in the query where there is no body.
    pub(crate) fn read(query: &Query, body: Option<&Object>) -> Result<Self, Refusal> {
        let body = body.cloned().unwrap_or_else(|| Self::from_query(query));
        let text = |field: &str| {
            body.get(field)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let precondition = |field: &str| {
            let value = body.get("preconditions")?.get(field)?.as_str()?;
            Some(value.to_owned())
        };
        let dry_run = body
            .get("dryRun")
            .and_then(Value::as_array)
            .is_some_and(|values| !values.is_empty());
        let orphan = body.get("orphanDependents").and_then(Value::as_bool);
        check_delete(query, &body)?;
        let propagation = match (text("propagationPolicy"), orphan) {
            (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (None, None) => None,
            (Some(other), _) => return Err(unknown_propagation(other)),
        };
        Ok(Self {
            dry_run: dry_run || query.text("dryRun") == Some("All"),
            propagation,
            orphan_dependents: orphan,
            uid: precondition("uid"),
            revision: precondition("resourceVersion"),
        })
    }

    /// The options in a query, as a body would say them.
    pub(crate) fn from_query(query: &Query) -> Object {
        let mut body = Object::new();
        if let Ok(Some(seconds)) = query.integer("gracePeriodSeconds") {
            body.insert("gracePeriodSeconds".into(), seconds.into());
        }
        if let Some(policy) = query.text("propagationPolicy") {
            body.insert("propagationPolicy".into(), policy.into());
        }
        if let Some(orphan) = query.switch("orphanDependents") {
            body.insert("orphanDependents".into(), orphan.into());
        }
        if query.text("dryRun") == Some("All") {
            body.insert("dryRun".into(), json!(["All"]));
        }
        body
    }
}

const DELETE_OPTIONS: Subject<'static> = Subject {
    group: "meta.k8s.io",
    what: "DeleteOptions",
    name: "",
};

fn check_delete(query: &Query, body: &Object) -> Result<(), Refusal> {
    query.integer("gracePeriodSeconds")?;
    if let Some(found) = body.get("gracePeriodSeconds").and_then(wrong_number) {
        return Err(Refusal::bad_request(format!(
            "json: cannot unmarshal {found} into Go struct field DeleteOptions.gracePeriodSeconds of type int64"
        )));
    }
    let sent = body.get("dryRun").filter(|sent| !sent.is_null());
    let all = |sent: &Value| {
        sent.as_array()
            .is_some_and(|values| values.iter().all(|value| value == "All"))
    };
    if let Some(sent) = sent.filter(|sent| !all(sent)) {
        return Err(unknown_dry_run(DELETE_OPTIONS, sent));
    }
    let policy = body.get("propagationPolicy").and_then(Value::as_str);
    if let (Some(policy), Some(Value::Bool(_))) = (policy, body.get("orphanDependents")) {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        let error = FieldError::invalid(FieldPath::of("propagationPolicy"), policy, why);
        return Err(Refusal::invalid(DELETE_OPTIONS, &[error]));
    }
    Ok(())
}

/// What is found where a whole number should be.
fn wrong_number(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.is_i64() => None,
        Value::Number(_) => Some("number"),
        Value::Bool(_) => Some("bool"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

fn unknown_dry_run(subject: Subject<'_>, sent: &Value) -> Refusal {
    let fault = Fault::NotSupported(sent.clone());
    let error = FieldError::new(FieldPath::of("dryRun"), fault, "supported values: \"All\"");
    Refusal::invalid(subject, &[error])
}

fn unknown_propagation(policy: &str) -> Refusal {
    let subject = Subject {
        group: "meta.k8s.io",
        what: "DeleteOptions",
        name: "",
    };
    let fault = Fault::NotSupported(policy.into());
    let supported = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    let error = FieldError::new(FieldPath::of("propagationPolicy"), fault, supported);
    Refusal::invalid(subject, &[error])
}
