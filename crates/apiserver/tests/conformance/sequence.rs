//! Sequences of requests as they are written in `conformance/api`.
//!
//! A file holds one or more YAML documents, each a sequence with a `name` and `steps`. A step is one
//! line, or a line and what belongs to it:
//!
//! ```yaml
//! name: a finalizer holds an object
//! steps:
//! - POST /api/v1/namespaces/{ns}/configmaps:
//!     body: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.dev/x]}}
//!     save: {rv: /metadata/resourceVersion}      # from the answer, for `{rv}` further down
//! - watch w GET /api/v1/namespaces/{ns}/configmaps?watch=1&resourceVersion={rv}:
//! - DELETE /api/v1/namespaces/{ns}/configmaps/a:
//! - PATCH /api/v1/namespaces/{ns}/configmaps/a: {type: json, body: [{op: remove, path: /x}], code: 422}
//! - events w: 1                                  # that many, bookmarks not counted
//! - eventually GET /api/v1/namespaces/{ns}/configmaps/a: {code: 404}
//! ```
//!
//! An update is written as clients make it with `save: {object: ""}`, which saves a whole answer, and
//! `edit: {of: object, with: {data: {k: w}}}`, which sends it back with a merge patch on it.
//!
//! Every step expects success from the real API unless it names a `code`; that both sides answer
//! alike is checked besides. `{ns}` is a namespace of the sequence's own, `{i}` counts the `times`
//! that a request is sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use http::Method;
use serde::Deserialize;
use serde_json::Value;

/// Requests that are sent one after the other, in a namespace of their own.
pub(crate) struct Sequence {
    /// Where it is written: the file's name and the document's number in it, such as `lists-2`.
    /// It is the name of the namespace, too.
    pub(crate) place: String,
    /// What it shows, in words.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// One line of a sequence.
pub(crate) struct Step {
    /// The line, which is how differences and their rules name it.
    pub(crate) title: String,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    /// Send it, this many times.
    Send(Request, u32),
    /// Send it until the answer is as expected.
    Eventually(Request),
    /// Send it and read its answer as a stream with this name.
    Watch(String, Request),
    /// Take events from the stream with this name.
    Events(String, Events),
}

/// A request whose texts may name saved values.
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) details: Details,
}

/// What a step may say besides method and path.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Details {
    /// Sent as JSON.
    pub(crate) body: Option<Value>,
    /// Sent as it stands.
    pub(crate) raw: Option<Raw>,
    /// Sent as JSON: an object as it was answered, and what is different.
    pub(crate) edit: Option<Edit>,
    /// What kind of patch it is: `merge`, `json`, `strategic` or `apply`.
    #[serde(rename = "type")]
    pub(crate) patch: Option<Patch>,
    pub(crate) headers: BTreeMap<String, String>,
    /// Names for values of the answer, found by JSON pointer.
    pub(crate) save: BTreeMap<String, String>,
    /// The code that the real API must answer with, if it is not one of success.
    pub(crate) code: Option<u16>,
    /// Values that the answer must have: JSON pointers and what is there.
    pub(crate) has: BTreeMap<String, Value>,
    /// Elements of arrays that are compared, the others are not: the array's JSON pointer, a key of
    /// its elements, and the values of that key.
    pub(crate) keep: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
    /// Whether kube-apiserver gives the causes of a refusal in an order that is different each time,
    /// because it reads them from a map: they are put into one here.
    pub(crate) unordered: bool,
    pub(crate) times: Option<u32>,
}

/// A body that is not made from JSON: a text, or texts of which some are repeated.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Raw {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Part {
    Text(String),
    Repeated { text: String, times: usize },
}

/// A saved answer and a merge patch for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    pub(crate) of: String,
    pub(crate) with: Value,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Patch {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// How many events a step takes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Events {
    /// This many; nothing: all until the server ends the stream.
    pub(crate) count: Option<usize>,
    /// Whether bookmarks are events, too.
    pub(crate) bookmarks: bool,
    pub(crate) save: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: String,
    steps: Vec<Value>,
}

/// Reads every sequence of a folder, or tells what is wrong with which file.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Sequence>, String> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    let mut sequences = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        sequences
            .extend(read(&stem, &text).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    Ok(sequences)
}

/// Reads the sequences of one file.
pub(crate) fn read(stem: &str, text: &str) -> Result<Vec<Sequence>, String> {
    // `y` and `no` are texts, as everywhere in Kubernetes' own manifests.
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| error.to_string())?;
    let numbered = documents.into_iter().enumerate();
    numbered
        .map(|(number, document)| {
            let place = format!("{stem}-{}", number + 1);
            let document: Document =
                serde_json::from_value(document).map_err(|error| format!("{place}: {error}"))?;
            Sequence::of(place, document.name, document.steps)
        })
        .collect()
}

impl Sequence {
    /// A sequence from the steps as they are written.
    pub(crate) fn of(place: String, name: String, steps: Vec<Value>) -> Result<Self, String> {
        let steps = steps.into_iter().enumerate();
        let steps = steps
            .map(|(at, value)| {
                step(value).map_err(|why| format!("{place}, step {}: {why}", at + 1))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { place, name, steps })
    }
}

/// A step as it is written.
pub(crate) fn step(value: Value) -> Result<Step, String> {
    let (title, rest) = line(value)?;
    let words: Vec<&str> = title.split(' ').collect();
    let action = match words.as_slice() {
        ["events", stream] => Action::Events((*stream).to_owned(), events(rest)?),
        ["watch", stream, method, path] => {
            Action::Watch((*stream).to_owned(), request(method, path, rest)?)
        }
        ["eventually", method, path] => Action::Eventually(request(method, path, rest)?),
        [method, path] => {
            let request = request(method, path, rest)?;
            let times = request.details.times.unwrap_or(1);
            Action::Send(request, times)
        }
        _ => return Err(format!("`{title}` is no step")),
    };
    Ok(Step { title, action })
}

/// A step's line and what belongs to it.
fn line(value: Value) -> Result<(String, Value), String> {
    match value {
        Value::String(title) => Ok((title, Value::Null)),
        Value::Object(map) if map.len() == 1 => Ok(map.into_iter().next().expect("it has one")),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Err(format!(
            "a step is one line, with or without details: {other}"
        )),
    }
}

fn request(method: &str, path: &str, details: Value) -> Result<Request, String> {
    let known = method.chars().all(|letter| letter.is_ascii_uppercase());
    let method: Method = match method.parse() {
        Ok(method) if known => method,
        Ok(_) | Err(_) => return Err(format!("`{method}` is no method")),
    };
    if !path.starts_with('/') {
        return Err(format!("`{path}` is no path"));
    }
    let details: Details = if details.is_null() {
        Details::default()
    } else {
        serde_json::from_value(details).map_err(|error| error.to_string())?
    };
    let bodies = [
        details.body.is_some(),
        details.raw.is_some(),
        details.edit.is_some(),
    ];
    if bodies.into_iter().filter(|given| *given).count() > 1 {
        return Err("one of `body`, `raw` and `edit`".to_owned());
    }
    Ok(Request {
        method,
        path: path.to_owned(),
        details,
    })
}

fn events(value: Value) -> Result<Events, String> {
    match value {
        Value::Number(count) => {
            let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
            Ok(Events {
                count: Some(count.ok_or("no number of events")?),
                ..Events::default()
            })
        }
        Value::String(end) if end == "end" => Ok(Events::default()),
        value @ (Value::Null
        | Value::Bool(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => serde_json::from_value(value).map_err(|error| error.to_string()),
    }
}

impl Raw {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts.iter().map(Part::text).collect(),
        }
    }
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Repeated { text, times } => text.repeat(*times),
        }
    }
}

impl Patch {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

#[cfg(test)]
mod tests;
