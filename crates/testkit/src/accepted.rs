//! Differences that are accepted: what a program of ours may do otherwise than the one it is compared with.
//!
//! A rule says in a few fields what it is about, what we say, what they say, and why we leave it so. `*` stands for any text in
//! all but the last, `[*]` for itself, and several texts may stand for one. A rule that no difference needs is itself a
//! problem, and so is one of several texts that say what it is about: the list cannot outlive its reasons.
//!
//! ```
//! use testkit::accepted::{Accepted, Letters};
//!
//! let text = "[[difference]]\ncommand = 'version*'\nours = '*'\ntheirs = '*'\nwhy = 'it is another program'";
//! let accepted = Accepted::parse(text, ["command", "ours", "theirs"], Letters::AsWritten)?;
//! assert!(accepted.accept(["version -o json", "1", "2"]));
//! assert!(!accepted.accept(["get pods", "1", "2"]));
//! # Ok::<(), String>(())
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// More rules than this, and the aim has been lost.
pub const MOST: usize = 25;

/// What both sides said. Of several texts for them not all need to be met: they say what a difference looks like, not
/// where it is.
const SAID: [&str; 2] = ["ours", "theirs"];

/// The field that says why.
const WHY: &str = "why";

/// The accepted differences of one comparison, each described by `N` texts.
#[derive(Debug)]
pub struct Accepted<const N: usize> {
    fields: [&'static str; N],
    rules: Vec<Rule<N>>,
}

/// Whether letters of different case are different.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Letters {
    /// As in texts.
    AsWritten,
    /// As in names of the DNS.
    InEitherCase,
}

#[derive(Debug)]
struct Rule<const N: usize> {
    patterns: [Vec<Pattern>; N],
    used: Cell<usize>,
}

/// One text of a rule, and whether it was ever needed.
#[derive(Debug)]
struct Pattern {
    text: String,
    whole: Regex,
    used: Cell<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    difference: Vec<BTreeMap<String, Texts>>,
}

/// One text, or any of several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl<const N: usize> Accepted<N> {
    /// Reads a file whose rules have these fields, and `why`.
    ///
    /// # Errors
    ///
    /// Tells which rule is wrong, and how.
    pub fn read(file: &Path, fields: [&'static str; N], letters: Letters) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| error.to_string());
        let accepted = text.and_then(|text| Self::parse(&text, fields, letters));
        accepted.map_err(|why| format!("{}: {why}", file.display()))
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn parse(text: &str, fields: [&'static str; N], letters: Letters) -> Result<Self, String> {
        let File { difference } =
            toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
        if difference.len() > MOST {
            return Err(format!("{} rules, {MOST} are the most", difference.len()));
        }
        let rules = difference.into_iter().enumerate().map(|(index, texts)| {
            let rule = Rule::new(texts, &fields, letters);
            rule.map_err(|why| format!("rule {}: {why}", index + 1))
        });
        let rules = rules.collect::<Result<_, _>>()?;
        Ok(Self { fields, rules })
    }

    /// Whether a rule accepts the difference. The first that does is the one that is needed.
    pub fn accept(&self, difference: [&str; N]) -> bool {
        let needed = self.rules.iter().find_map(|rule| {
            let patterns = rule.matching(difference)?;
            Some((rule, patterns))
        });
        let Some((rule, patterns)) = needed else {
            return false;
        };
        rule.used.set(rule.used.get() + 1);
        for pattern in patterns {
            pattern.used.set(true);
        }
        true
    }

    /// Whether a rule would, which is not counted.
    pub fn would_accept(&self, difference: [&str; N]) -> bool {
        let matches = |rule: &Rule<N>| rule.matching(difference).is_some();
        self.rules.iter().any(matches)
    }

    /// The rules that accepted nothing so far, and the texts of others that were not needed, as sentences.
    pub fn unused(&self) -> Vec<String> {
        let rules = self.rules.iter();
        rules.flat_map(|rule| rule.unused(&self.fields)).collect()
    }

    /// How many rules there are, and how many differences they accepted.
    pub fn uses(&self) -> (usize, usize) {
        let uses = self.rules.iter().map(|rule| rule.used.get());
        (self.rules.len(), uses.sum())
    }
}

impl<const N: usize> Rule<N> {
    fn new(
        mut texts: BTreeMap<String, Texts>,
        fields: &[&'static str; N],
        letters: Letters,
    ) -> Result<Self, String> {
        let mut taken = Vec::new();
        for field in fields {
            let texts = texts.remove(*field);
            let texts = texts.ok_or_else(|| format!("no field `{field}`"))?;
            taken.push(texts.patterns(letters));
        }
        match texts.remove(WHY) {
            Some(Texts::One(why)) if !why.trim().is_empty() => {}
            Some(_) | None => return Err("no reason: `why` is empty or missing".to_owned()),
        }
        if let Some(field) = texts.keys().next() {
            return Err(format!("unknown field `{field}`"));
        }
        let patterns = taken.try_into();
        Ok(Self {
            patterns: patterns.map_err(|_| "another number of fields".to_owned())?,
            used: Cell::new(0),
        })
    }

    /// What of the rule matches the difference, if everything does.
    fn matching(&self, difference: [&str; N]) -> Option<Vec<&Pattern>> {
        let fields = self.patterns.iter().zip(difference);
        fields
            .map(|(patterns, text)| patterns.iter().find(|one| one.whole.is_match(text)))
            .collect()
    }

    fn unused(&self, fields: &[&'static str; N]) -> Vec<String> {
        if self.used.get() == 0 {
            return vec![format!("the rule {} accepts nothing", self.about(fields))];
        }
        let about = self.patterns.iter().zip(fields);
        let about = about.filter(|(_, field)| !SAID.contains(field));
        about
            .flat_map(|(patterns, _)| patterns)
            .filter(|pattern| !pattern.used.get())
            .map(|pattern| {
                let about = self.about(fields);
                format!("the rule {about} does not need `{}`", pattern.text)
            })
            .collect()
    }

    /// What it is about, as text.
    fn about(&self, fields: &[&'static str; N]) -> String {
        let about = self.patterns.iter().zip(fields);
        let about = about.filter(|(_, field)| !SAID.contains(field));
        let texts = about.map(|(patterns, _)| {
            let texts = patterns.iter().map(|pattern| format!("`{}`", pattern.text));
            texts.collect::<Vec<_>>().join(", ")
        });
        texts.collect::<Vec<_>>().join(" at ")
    }
}

impl Texts {
    fn patterns(self, letters: Letters) -> Vec<Pattern> {
        let texts = match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts,
        };
        let texts = texts.into_iter();
        texts.map(|text| Pattern::new(text, letters)).collect()
    }
}

impl Pattern {
    fn new(text: String, letters: Letters) -> Self {
        let escaped = regex::escape(&text);
        let escaped = escaped.replace(r"\[\*\]", "[*]").replace(r"\*", ".*");
        let whole = RegexBuilder::new(&format!("^{escaped}$"))
            .case_insensitive(letters == Letters::InEitherCase)
            .dot_matches_new_line(true)
            .build();
        Self {
            text,
            whole: whole.expect("an escaped text is a pattern"),
            used: Cell::new(false),
        }
    }
}

#[cfg(test)]
mod tests;
