//! Differences that are accepted, as `conformance/dns/differences.toml` lists them.
//!
//! A rule says from which server, for which queries, where in the answer, what we say, what it says, and why we leave it
//! so. `*` stands for any text in all but the last, and several texts may stand for one. A rule that no difference needs is
//! itself an error, and so is one of several texts: the list cannot outlive its reasons.

use std::cell::Cell;
use std::fmt;
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
    /// Server, query, place, ours, theirs.
    fields: [Vec<Pattern>; 5],
    used: Cell<usize>,
}

/// One text of a rule, and whether it was ever needed.
struct Pattern {
    text: String,
    whole: Regex,
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
    /// `nsd`, `knot` or `bind`.
    server: Texts,
    /// The query's text, such as `udp *.example.org. ANY, *`.
    query: Texts,
    /// `rcode`, a flag, `edns`, `question` or a section.
    #[serde(rename = "where")]
    place: Texts,
    ours: Texts,
    theirs: Texts,
    why: String,
}

/// One text, or any of several.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
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
            return Err(format!("the rule {rule} has no reason"));
        }
        Ok(Self(difference.into_iter().map(Rule::new).collect()))
    }

    /// Whether a rule accepts the difference.
    pub(crate) fn accept(&self, difference: &Difference) -> bool {
        self.0.iter().any(|rule| rule.accept(difference))
    }

    /// The rules that accepted nothing so far, and the texts of others that were not needed.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.0.iter().flat_map(Rule::unused).collect()
    }

    /// How many rules there are, and how many differences they accepted.
    pub(crate) fn uses(&self) -> (usize, usize) {
        let uses = self.0.iter().map(|rule| rule.used.get());
        (self.0.len(), uses.sum())
    }
}

impl Rule {
    fn new(text: Text) -> Self {
        let fields = [
            &text.server,
            &text.query,
            &text.place,
            &text.ours,
            &text.theirs,
        ];
        Self {
            fields: fields.map(|texts| texts.iter().map(|text| Pattern::new(text)).collect()),
            used: Cell::new(0),
            text,
        }
    }

    fn accept(&self, difference: &Difference) -> bool {
        let Difference {
            server,
            query,
            place,
            ours,
            theirs,
            ..
        } = difference;
        let fields = self
            .fields
            .iter()
            .zip([*server, query, place, ours, theirs]);
        let found =
            fields.map(|(patterns, text)| patterns.iter().find(|one| one.whole.is_match(text)));
        let Some(needed) = found.collect::<Option<Vec<_>>>() else {
            return false;
        };
        for one in needed {
            one.used.set(true);
        }
        self.used.set(self.used.get() + 1);
        true
    }

    fn unused(&self) -> Vec<String> {
        if self.used.get() == 0 {
            return vec![format!("the rule {} accepts nothing", self.text)];
        }
        let [server, query, place, ..] = &self.fields;
        let unused = [server, query, place].into_iter().flatten();
        let unused = unused.filter(|one| !one.used.get());
        let unused =
            unused.map(|one| format!("the rule {} does not need `{}`", self.text, one.text));
        unused.collect()
    }
}

impl Pattern {
    /// The whole text, with `*` for any part of it and `[*]` for itself. Letters are letters in either case, as in names.
    fn new(text: &str) -> Self {
        let escaped = regex::escape(text);
        let escaped = escaped.replace(r"\[\*\]", "[*]").replace(r"\*", ".*");
        let pattern = format!("(?is)^{escaped}$");
        Self {
            text: text.to_owned(),
            whole: Regex::new(&pattern).expect("an escaped text is a pattern"),
            used: Cell::new(false),
        }
    }
}

impl Texts {
    fn iter(&self) -> impl Iterator<Item = &String> {
        match self {
            Texts::One(text) => std::slice::from_ref(text).iter(),
            Texts::Several(texts) => texts.iter(),
        }
    }
}

impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.iter().map(|text| format!("`{text}`")).collect();
        f.write_str(&texts.join(", "))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at {}", self.server, self.query, self.place)
    }
}
