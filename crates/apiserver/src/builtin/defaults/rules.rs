//! The rules of `defaults.txt` and `zeros.txt`, by type.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::builtin::definitions;
use crate::builtin::fields::{Fields as _, Fill as _};
use crate::object::Object;

/// What is filled in of one type.
#[derive(Default)]
pub(super) struct Rules {
    zeros: Vec<(String, Value)>,
    assumed: Vec<Rule>,
}

/// A value for a field that was left out.
struct Rule {
    /// Field names down to the field.
    path: Vec<&'static str>,
    value: Assumed,
    conditions: Vec<Condition>,
}

enum Assumed {
    Value(Value),
    /// That of another field of the same object.
    Of(&'static str),
}

enum Condition {
    Is(&'static str, &'static str),
    Missing(&'static str),
    Present(&'static str),
    Alone,
    Latest,
    ZeroIsNothing,
}

impl Rules {
    /// The rules of a type, which may be none.
    pub(super) fn of(name: &str) -> &'static Self {
        static ALL: LazyLock<HashMap<String, Rules>> = LazyLock::new(read);
        static NONE: Rules = Rules {
            zeros: Vec::new(),
            assumed: Vec::new(),
        };
        ALL.get(name).unwrap_or(&NONE)
    }

    pub(super) fn write_zeros(&self, object: &mut Object) {
        for (field, zero) in &self.zeros {
            object.fill(field, zero.clone());
        }
    }

    pub(super) fn apply(&self, object: &mut Object) {
        self.write_zeros(object);
        for rule in &self.assumed {
            rule.apply(object);
        }
    }
}

impl Rule {
    fn apply(&self, object: &mut Object) {
        if !self.conditions.iter().all(|one| one.holds(object)) {
            return;
        }
        let value = match &self.value {
            Assumed::Value(value) => Some(value.clone()),
            Assumed::Of(path) => object.at(path).cloned(),
        };
        let zero_too = self
            .conditions
            .iter()
            .any(|one| matches!(one, Condition::ZeroIsNothing));
        let (Some(value), Some((field, above))) = (value, self.path.split_last()) else {
            return;
        };
        let parent = above
            .iter()
            .try_fold(object, |object, field| object.below(field));
        if let Some(parent) = parent
            && parent
                .field(field)
                .is_none_or(|there| there == "" || zero_too && there == 0)
        {
            parent.insert((*field).to_owned(), value);
        }
    }
}

impl Condition {
    fn holds(&self, object: &Object) -> bool {
        let missing = |path: &str| object.at(path).is_none_or(|value| value == "");
        match self {
            Self::Is(field, text) => object.text(field) == *text,
            Self::Missing(field) => missing(field),
            Self::Present(field) => !missing(field),
            Self::Alone => object
                .iter()
                .all(|(field, value)| field == "name" || value.is_null()),
            Self::Latest => may_change(object.text("image")),
            Self::ZeroIsNothing => true,
        }
    }

    fn read(word: &'static str) -> Self {
        match word {
            "alone" => Self::Alone,
            "latest" => Self::Latest,
            "zero" => Self::ZeroIsNothing,
            word => match (word.split_once('='), word.strip_suffix('-')) {
                (Some((field, text)), _) => Self::Is(field, text),
                (None, Some(field)) => Self::Missing(field),
                (None, None) => Self::Present(word.trim_end_matches('+')),
            },
        }
    }
}

/// Whether an image is named by its latest version, or by none.
fn may_change(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.rsplit_once(':').map(|(_, tag)| tag);
    !name.contains('@') && tag.is_none_or(|tag| tag == "latest")
}

fn read() -> HashMap<String, Rules> {
    let mut all: HashMap<String, Rules> = HashMap::new();
    for (name, line) in lines(include_str!("../zeros.txt")) {
        let rules = all.entry(name.to_owned()).or_default();
        rules.zeros.extend(line.split_whitespace().map(zero));
    }
    for (name, line) in lines(include_str!("../defaults.txt")) {
        let rules = all.entry(name.to_owned()).or_default();
        rules.assumed.push(rule(line));
    }
    for (name, definition) in definitions::all().types() {
        let properties = definition.get("properties").and_then(Value::as_object);
        for (field, schema) in properties.into_iter().flatten() {
            if let Some(value) = schema.get("default") {
                let rules = all.entry(name.clone()).or_default();
                rules.assumed.push(Rule {
                    path: vec![field],
                    value: Assumed::Value(value.clone()),
                    conditions: Vec::new(),
                });
            }
        }
    }
    all
}

/// The indented lines of a table, each with the line at the margin that it stands below.
fn lines(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let told = lines.scan("", |above, line| {
        if line.starts_with(' ') {
            return Some(Some((*above, line.trim())));
        }
        *above = line;
        Some(None)
    });
    told.flatten()
}

fn zero(word: &str) -> (String, Value) {
    let (field, zero) = word
        .split_once('=')
        .expect("a word of the table has a zero");
    (field.to_owned(), json(zero))
}

fn rule(line: &'static str) -> Rule {
    let mut words = line.split_whitespace();
    let mut word = || words.next().expect("a rule has a field and a value");
    let (path, value) = (word(), word());
    Rule {
        path: path.split('.').collect(),
        value: match value.strip_prefix('@') {
            Some(other) => Assumed::Of(other),
            None => Assumed::Value(json(value)),
        },
        conditions: words.map(Condition::read).collect(),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the values of the tables are JSON")
}
