//! `zonewright check`: manifests judged offline, all problems at once.

use std::fmt;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use crate::args::{Check, Output};
use crate::manifest::{self, Document};

/// Checks every document; fails if any has a problem.
pub(crate) fn run(check: &Check, output: Output) -> anyhow::Result<ExitCode> {
    let report = Report::new(&manifest::read(&check.paths)?);
    match output {
        Output::Text => print!("{report}"),
        Output::Json => println!("{}", serde_json::to_string(&report)?),
    }
    Ok(if report.problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What was checked and what was found.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Objects of our kinds.
    checked: usize,
    /// Objects of other kinds, which were left alone.
    skipped: usize,
    problems: Vec<Found>,
}

/// A problem and the document it is in.
#[derive(Debug, Serialize)]
struct Found {
    file: String,
    line: usize,
    kind: String,
    namespace: Option<String>,
    name: String,
    field: String,
    message: String,
    value: Option<String>,
}

impl Report {
    fn new(documents: &[Document]) -> Report {
        let mut report = Report::default();
        for document in documents {
            report.add(document);
        }
        report
    }

    fn add(&mut self, document: &Document) {
        let object = match &document.content {
            Ok(object) => object,
            Err(error) => return self.problems.push(Found::unreadable(document, error)),
        };
        for object in items(object) {
            match api::review(object) {
                Some(problems) => {
                    self.checked += 1;
                    self.problems.extend(
                        problems
                            .into_iter()
                            .map(|problem| Found::new(document, object, problem)),
                    );
                }
                None if is_object(object) => self.skipped += 1,
                None => self.problems.push(Found::unreadable(
                    document,
                    "no apiVersion and kind: not a Kubernetes object",
                )),
            }
        }
    }
}

/// The objects of a List, or the one object there is.
fn items(object: &Value) -> &[Value] {
    let list = object.get("kind").and_then(Value::as_str) == Some("List");
    match object.get("items").and_then(Value::as_array) {
        Some(items) if list => items,
        Some(_) | None => std::slice::from_ref(object),
    }
}

fn is_object(value: &Value) -> bool {
    ["apiVersion", "kind"]
        .iter()
        .all(|field| value.get(field).is_some_and(Value::is_string))
}

impl Found {
    fn new(document: &Document, object: &Value, problem: api::Problem) -> Found {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let metadata = object.get("metadata");
        Found {
            file: document.path.display().to_string(),
            line: document.line,
            kind: text(object.get("kind")).unwrap_or_default(),
            namespace: text(metadata.and_then(|metadata| metadata.get("namespace"))),
            name: text(metadata.and_then(|metadata| metadata.get("name"))).unwrap_or_default(),
            field: problem.field,
            message: problem.message,
            value: problem.value,
        }
    }

    fn unreadable(document: &Document, message: &str) -> Found {
        Found {
            file: document.path.display().to_string(),
            line: document.line,
            kind: String::new(),
            namespace: None,
            name: String::new(),
            field: String::new(),
            message: message.to_owned(),
            value: None,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.kind.is_empty() {
            let namespace = self
                .namespace
                .as_ref()
                .map(|namespace| format!("{namespace}/"))
                .unwrap_or_default();
            write!(f, "{} {namespace}{}: ", self.kind, self.name)?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        self.value
            .as_ref()
            .map_or(Ok(()), |value| write!(f, ": got \"{value}\""))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for found in &self.problems {
            writeln!(f, "{found}")?;
        }
        write!(f, "{} checked", self.checked)?;
        if self.skipped > 0 {
            write!(f, ", {} of other kinds left alone", self.skipped)?;
        }
        match self.problems.len() {
            0 => writeln!(f, ", no problems"),
            1 => writeln!(f, ", 1 problem"),
            count => writeln!(f, ", {count} problems"),
        }
    }
}
