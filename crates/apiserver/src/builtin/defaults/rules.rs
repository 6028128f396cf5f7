//! The rules of `defaults.txt`, by type.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::builtin::definitions;
use crate::builtin::fields::{Fields as _, Fill as _};
use crate::builtin::rows;
use crate::object::Object;

/// A value for a field that was left out.
pub(super) struct Rule {
    /// Field names down to the field.
    path: Vec<&'static str>,
    value: Assumed,
    conditions: Vec<Condition>,
}

enum Assumed {
    Value(Value),
    /// That of another field of the same object, also in place of 0.
    Of(&'static str),
}

enum Condition {
    Is(&'static str, &'static str),
    Missing(&'static str),
    Present(&'static str),
    Alone,
    Latest,
}

impl Rule {
    /// The rules of a type, which may be none.
    pub(super) fn of(name: &str) -> &'static [Self] {
        static ALL: LazyLock<HashMap<String, Vec<Rule>>> = LazyLock::new(read);
        ALL.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn apply(&self, object: &mut Object) {
        if !self.conditions.iter().all(|one| one.holds(object)) {
            return;
        }
        let value = match &self.value {
            Assumed::Value(value) => Some(value.clone()),
            Assumed::Of(path) => object.at(path).cloned(),
        };
        let zero_too = matches!(self.value, Assumed::Of(_));
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
        }
    }

    fn read(word: &'static str) -> Self {
        match word {
            "alone" => Self::Alone,
            "latest" => Self::Latest,
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

fn read() -> HashMap<String, Vec<Rule>> {
    let mut all: HashMap<String, Vec<Rule>> = HashMap::new();
    for (name, line) in rows::of(include_str!("../defaults.txt")) {
        all.entry(name.to_owned()).or_default().push(rule(line));
    }
    for (name, definition) in definitions::all().types() {
        let properties = definition.get("properties").and_then(Value::as_object);
        for (field, schema) in properties.into_iter().flatten() {
            if let Some(value) = schema.get("default") {
                all.entry(name.clone()).or_default().push(Rule {
                    path: vec![field],
                    value: Assumed::Value(value.clone()),
                    conditions: Vec::new(),
                });
            }
        }
    }
    all
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
