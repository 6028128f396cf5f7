//! Differences that are accepted, as `conformance/differences.toml` lists them.
//!
//! A rule says for which requests, where in the answer, what we say, what kube-apiserver says, and
//! why we leave it so. `*` stands for any text in all but the last. A rule that no difference needs
//! is itself an error: the list cannot outlive its reasons.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use crate::compare::Difference;

/// More rules than this, and the aim has been lost.
const MOST: usize = 25;

/// The accepted differences.
pub(crate) struct Rules(Vec<Rule>);

struct Rule {
    text: Text,
    request: Regex,
    place: Regex,
    ours: Regex,
    theirs: Regex,
    used: Cell<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    /// The step's line, such as `GET /api/v1/namespaces/{ns}/*`.
    request: String,
    /// `code`, a header's name, or a path such as `/metadata/*`; `/` is the body itself.
    #[serde(rename = "where")]
    place: String,
    ours: String,
    theirs: String,
    why: String,
}

impl Rules {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| error.to_string());
        let rules = text.and_then(|text| Self::parse(&text));
        rules.map_err(|why| format!("{}: {why}", file.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let File { difference } =
            toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
        if difference.len() > MOST {
            return Err(format!("{} rules, {MOST} are the most", difference.len()));
        }
        if let Some(rule) = difference.iter().find(|rule| rule.why.trim().is_empty()) {
            return Err(format!(
                "the rule for `{}` at `{}` has no reason",
                rule.request, rule.place
            ));
        }
        Ok(Self(difference.into_iter().map(Rule::new).collect()))
    }

    /// Whether a rule accepts the difference.
    pub(crate) fn accept(&self, difference: &Difference) -> bool {
        let accepting = self.0.iter().find(|rule| rule.accepts(difference));
        if let Some(rule) = accepting {
            rule.used.set(true);
        }
        accepting.is_some()
    }

    /// Whether a rule would, which is not counted.
    pub(crate) fn would_accept(&self, difference: &Difference) -> bool {
        self.0.iter().any(|rule| rule.accepts(difference))
    }

    /// The rules that accepted nothing so far, as text.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.0.iter().filter(|rule| !rule.used.get());
        unused
            .map(|rule| format!("`{}` at `{}`", rule.text.request, rule.text.place))
            .collect()
    }
}

impl Rule {
    fn new(text: Text) -> Self {
        Self {
            request: pattern(&text.request),
            place: pattern(&text.place),
            ours: pattern(&text.ours),
            theirs: pattern(&text.theirs),
            used: Cell::new(false),
            text,
        }
    }

    fn accepts(&self, difference: &Difference) -> bool {
        self.request.is_match(&difference.request)
            && self.place.is_match(&difference.place)
            && self.ours.is_match(&difference.ours)
            && self.theirs.is_match(&difference.theirs)
    }
}

/// The whole text, with `*` for any part of it.
fn pattern(text: &str) -> Regex {
    let escaped = regex::escape(text).replace(r"\*", ".*");
    Regex::new(&format!("(?s)^{escaped}$")).expect("an escaped text is a pattern")
}

#[cfg(test)]
mod tests;
