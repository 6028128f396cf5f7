//! Differences that are accepted, as `conformance/kubectl.toml` lists them.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

/// Where two texts differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    command: String,
    place: &'static str,
    ours: String,
    theirs: String,
}

impl Difference {
    /// The lines that differ, without those that both begin and end with.
    pub(crate) fn between(ours: &str, theirs: &str, command: impl Fn() -> String) -> Option<Self> {
        if ours == theirs {
            return None;
        }
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            (ours.split('\n').collect(), theirs.split('\n').collect());
        let same = |(one, other): &(&&str, &&str)| one == other;
        let begin = ours.iter().zip(&theirs).take_while(same).count();
        let (ours, theirs) = (&ours[begin..], &theirs[begin..]);
        let end = ours.iter().rev().zip(theirs.iter().rev());
        let end = end.take_while(same).count();
        let text = |lines: &[&str]| lines[..lines.len() - end].join("\n");
        Some(Self {
            command: command(),
            place: "",
            ours: text(ours),
            theirs: text(theirs),
        })
    }

    /// The same, found there.
    pub(crate) fn in_its(self, place: &'static str) -> Self {
        Self { place, ..self }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            place,
            ours,
            theirs,
        } = self;
        write!(
            f,
            "{command}: {place}\n--- ours\n{ours}\n--- theirs\n{theirs}"
        )
    }
}

/// The accepted differences.
pub(crate) struct Rules(Vec<Rule>);

struct Rule {
    text: Text,
    command: Regex,
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
    /// The command without `kubectl`.
    command: String,
    /// The lines that differ.
    ours: String,
    theirs: String,
    why: String,
}

impl Rules {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let tell = |why: String| format!("{}: {why}", file.display());
        let text = fs::read_to_string(file).map_err(|error| tell(error.to_string()))?;
        let read = toml_edit::de::from_str(&text);
        let File { difference } = read.map_err(|error| tell(error.to_string()))?;
        if let Some(rule) = difference.iter().find(|rule| rule.why.trim().is_empty()) {
            return Err(tell(format!(
                "the rule for `{}` has no reason",
                rule.command
            )));
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

    /// The rules that accepted nothing so far, as text.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.0.iter().filter(|rule| !rule.used.get());
        unused
            .map(|rule| format!("`{}`", rule.text.command))
            .collect()
    }
}

impl Rule {
    fn new(text: Text) -> Self {
        Self {
            command: pattern(&format!("*: {}", text.command)),
            ours: pattern(&text.ours),
            theirs: pattern(&text.theirs),
            used: Cell::new(false),
            text,
        }
    }

    fn accepts(&self, difference: &Difference) -> bool {
        self.command.is_match(&difference.command)
            && self.ours.is_match(&difference.ours)
            && self.theirs.is_match(&difference.theirs)
    }
}

/// The whole text, with `*` for any part of it.
fn pattern(text: &str) -> Regex {
    let escaped = regex::escape(text).replace(r"\*", ".*");
    Regex::new(&format!("(?s)^{escaped}$")).expect("an escaped text is a pattern")
}

#[test]
fn only_lines_that_differ_are_told() {
    let found = Difference::between("a\nb\nc\n", "a\nx\ny\nc\n", String::new).unwrap();
    assert_eq!((found.ours.as_str(), found.theirs.as_str()), ("b", "x\ny"));
    let found = Difference::between("a\na\n", "a\n", String::new).unwrap();
    assert_eq!((found.ours.as_str(), found.theirs.as_str()), ("a", ""));
    assert!(Difference::between("a", "a", String::new).is_none());
}
