//! The cases as data.
//!
//! A file belongs to one kind. `base` is an object of it that is valid, without apiVersion, kind
//! and name. Each of the `places` is a node of the schema that has rules: `at` is the way to it,
//! `[]` standing for the entries of a list; `base` there is merged into the base of the file first.
//! For each rule, told by the beginning of its text, there is a value that keeps it and one that
//! breaks it. The value is what the rule calls `self`: it is merged into whatever the base has at
//! the place (JSON merge patch), in the first entry of lists. Rules that speak of `oldSelf` have
//! values before (`old`) and after (`new`).
//!
//! `also` are parts of further messages that the broken rule cannot come without. `never` says why
//! nothing can break a rule; `fail` is then an object that is refused for another reason, or
//! nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rules::Rule;

/// One request and what should come of it.
pub(super) struct Trial {
    pub(super) kind: String,
    /// `/apis/<group>/<version>`
    pub(super) root: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
    /// Whether the rule is about the status, which is written on its own.
    pub(super) of_status: bool,
    /// What is there before, for rules about changes and for the status, which is never new.
    pub(super) old: Option<Value>,
    pub(super) new: Value,
    pub(super) expected: Expected,
    what: String,
}

/// What should come of a request.
#[derive(Debug)]
pub(super) enum Expected {
    Accepted,
    /// Refused because of one rule, and of what it cannot be broken without.
    Refused {
        field: String,
        message: String,
        also: Vec<String>,
    },
    /// Refused, but not because of this rule.
    RefusedOtherwise {
        message: String,
    },
}

/// A kind with its rules and its cases.
pub(super) struct Kind {
    group: String,
    name: String,
    plural: String,
    namespaced: bool,
    versions: Vec<Version>,
    corpus: Corpus,
}

struct Version {
    name: String,
    rules: Vec<Rule>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    base: Value,
    places: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    at: String,
    #[serde(default)]
    base: Value,
    rules: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    rule: String,
    pass: Value,
    fail: Option<Value>,
    never: Option<String>,
    #[serde(default)]
    also: Vec<String>,
}

/// The values around a change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    old: Value,
    new: Value,
}

impl Case {
    /// What should come of breaking the rule that the case is about.
    fn breaking(&self, rule: &Rule) -> Expected {
        let message = rule.message.clone();
        match self.never {
            Some(_) => Expected::RefusedOtherwise { message },
            None => Expected::Refused {
                field: rule.field(),
                message,
                also: self.also.clone(),
            },
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.root, self.kind, self.what)
    }
}

/// The files of the corpus.
pub(super) fn files() -> BTreeSet<PathBuf> {
    let folders = entries(&folder()).into_iter().filter(|path| path.is_dir());
    folders.flat_map(|folder| entries(&folder)).collect()
}

/// The kinds that the definitions declare, in all versions that are served.
pub(super) fn kinds(definitions: &[CustomResourceDefinition]) -> Vec<Kind> {
    definitions.iter().map(Kind::of).collect()
}

impl Kind {
    fn of(definition: &CustomResourceDefinition) -> Self {
        let spec = &definition.spec;
        let served = spec.versions.iter().filter(|version| version.served);
        let versions = served.map(|version| {
            let schema = version
                .schema
                .as_ref()
                .and_then(|schema| schema.open_api_v3_schema.as_ref());
            Version {
                name: version.name.clone(),
                rules: Rule::all(schema.expect("every version has a schema")),
            }
        });
        let mut kind = Self {
            group: spec.group.clone(),
            name: spec.names.kind.clone(),
            plural: spec.names.plural.clone(),
            namespaced: spec.scope == "Namespaced",
            versions: versions.collect(),
            corpus: Corpus::default(),
        };
        if let Ok(text) = fs::read_to_string(kind.file()) {
            let read = serde_saphyr::from_str(&text);
            kind.corpus = read.unwrap_or_else(|error| panic!("{}: {error}", kind.file().display()));
        }
        kind
    }

    pub(super) fn file(&self) -> PathBuf {
        folder()
            .join(&self.group)
            .join(&self.name)
            .with_extension("yaml")
    }

    pub(super) fn has_rules(&self) -> bool {
        self.versions
            .iter()
            .any(|version| !version.rules.is_empty())
    }

    /// Rules that no case or several cases are about, and cases that no rule or several rules are
    /// about.
    pub(super) fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        for version in &self.versions {
            for rule in &version.rules {
                let cases = self
                    .cases()
                    .filter(|(place, case)| rule.is(&place.at, &case.rule))
                    .count();
                if cases != 1 {
                    gaps.push(format!("{}: {cases} cases for {rule}", self.root(version)));
                }
            }
        }
        for (place, case) in self.cases() {
            let rules = |version: &&Version| {
                version
                    .rules
                    .iter()
                    .filter(|rule| rule.is(&place.at, &case.rule))
                    .count()
                    == 1
            };
            if self.versions.iter().filter(rules).count() == 0 {
                gaps.push(format!(
                    "{} {}: not one rule begins with {}",
                    self.name, place.at, case.rule
                ));
            }
            if case.fail.is_none() && case.never.is_none() {
                gaps.push(format!(
                    "{} {}: nothing breaks {}",
                    self.name, place.at, case.rule
                ));
            }
        }
        gaps
    }

    /// The requests for every version: its base, and each rule kept and broken.
    pub(super) fn trials(&self) -> Vec<Trial> {
        let with_rules = self
            .versions
            .iter()
            .filter(|version| !version.rules.is_empty());
        with_rules
            .flat_map(|version| self.version_trials(version))
            .collect()
    }

    fn version_trials(&self, version: &Version) -> Vec<Trial> {
        let mut trials = vec![self.trial(
            version,
            "",
            "base",
            self.corpus.base.clone(),
            Expected::Accepted,
        )];
        for rule in &version.rules {
            for (place, case) in self
                .cases()
                .filter(|(place, case)| rule.is(&place.at, &case.rule))
            {
                trials.push(self.case_trial(version, rule, place, &case.pass, Expected::Accepted));
                if let Some(fail) = &case.fail {
                    trials.push(self.case_trial(version, rule, place, fail, case.breaking(rule)));
                }
            }
        }
        trials
    }

    fn case_trial(
        &self,
        version: &Version,
        rule: &Rule,
        place: &Place,
        value: &Value,
        expected: Expected,
    ) -> Trial {
        let mut base = self.corpus.base.clone();
        if !place.base.is_null() {
            json_patch::merge(&mut base, &place.base);
        }
        let put = |value: &Value| {
            let mut object = base.clone();
            json_patch::merge(at(&mut object, &place.at), value);
            object
        };
        let mut trial = self.trial(version, &place.at, &rule.text, Value::Null, expected);
        if rule.is_transition() {
            let change: Change = serde_json::from_value(value.clone())
                .unwrap_or_else(|error| panic!("{trial}: old and new: {error}"));
            (trial.old, trial.new) = (Some(put(&change.old)), put(&change.new));
        } else {
            trial.new = put(value);
            trial.old = trial.of_status.then_some(base);
        }
        trial
    }

    fn trial(
        &self,
        version: &Version,
        place: &str,
        what: &str,
        new: Value,
        expected: Expected,
    ) -> Trial {
        Trial {
            kind: self.name.clone(),
            root: self.root(version),
            plural: self.plural.clone(),
            namespaced: self.namespaced,
            of_status: place.starts_with("status"),
            old: None,
            new,
            expected,
            what: format!("{place}: {what}"),
        }
    }

    fn cases(&self) -> impl Iterator<Item = (&Place, &Case)> {
        self.corpus
            .places
            .iter()
            .flat_map(|place| place.rules.iter().map(move |case| (place, case)))
    }

    fn root(&self, version: &Version) -> String {
        format!("/apis/{}/{}", self.group, version.name)
    }
}

/// The value at a place, which is made where it is missing.
fn at<'a>(object: &'a mut Value, place: &str) -> &'a mut Value {
    place.split('.').fold(object, |value, step| {
        let (field, is_list) = step
            .strip_suffix("[]")
            .map_or((step, false), |field| (field, true));
        let value = &mut value[field];
        if !is_list {
            return value;
        }
        if value.get(0).is_none() {
            *value = json!([null]);
        }
        &mut value[0]
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cel")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the corpus is there");
    entries
        .map(|entry| entry.expect("the corpus can be read").path())
        .collect()
}
