//! Values that a sequence remembers, and texts that name them: `{rv}`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// A name in braces. Braces around anything else, such as JSON, mean themselves.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([a-z][a-z0-9_]*)\}").expect("a constant"));

/// What a sequence has saved so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(BTreeMap<String, String>);

impl Values {
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Saves what each pointer finds in `body`; what is not there is saved as an empty text, so that
    /// one difference does not hide those that follow.
    pub(crate) fn save(&mut self, wanted: &BTreeMap<String, String>, body: &Value) {
        for (name, pointer) in wanted {
            let text = match body.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            self.set(name, text);
        }
    }

    /// A saved answer with a merge patch on it.
    pub(crate) fn edited(&self, name: &str, with: &Value) -> Result<Value, String> {
        let text = self.0.get(name);
        let text = text.ok_or_else(|| format!("nothing is saved as `{name}`"))?;
        let mut whole =
            serde_json::from_str(text).map_err(|error| format!("`{name}` is no JSON: {error}"))?;
        json_patch::merge(&mut whole, &self.fill_value(with)?);
        Ok(whole)
    }

    /// The text with every name replaced, or the name that is not known.
    pub(crate) fn fill(&self, text: &str) -> Result<String, String> {
        let mut unknown = None;
        let filled = NAME.replace_all(text, |found: &Captures<'_>| {
            self.0.get(&found[1]).cloned().unwrap_or_else(|| {
                unknown = Some(format!("nothing is saved as `{}`", &found[1]));
                String::new()
            })
        });
        let filled = filled.into_owned();
        unknown.map_or(Ok(filled), Err)
    }

    /// The same for every text in a value, keys included.
    pub(crate) fn fill_value(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => Value::String(self.fill(text)?),
            Value::Array(items) => items
                .iter()
                .map(|item| self.fill_value(item))
                .collect::<Result<_, _>>()?,
            Value::Object(map) => {
                let fields = map
                    .iter()
                    .map(|(key, value)| Ok((self.fill(key)?, self.fill_value(value)?)));
                Value::Object(fields.collect::<Result<_, String>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
