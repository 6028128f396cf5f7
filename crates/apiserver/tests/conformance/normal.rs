//! Makes the answers of two servers comparable: what each is free to choose gets a name.
//!
//! Uids, resource versions, times, continue tokens, generated names, ages in tables and signed
//! tokens, nothing else; and the order of `managedFields`, which goes by their times. Names keep what can be known of the choice: equal uids stay equal, resource
//! versions keep their order, a time its precision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::transcript::Exchange;

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a constant")
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").expect("a constant"));
static AGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d+[smhd](\d+[smhd])?$").expect("a constant"));
/// A resource version in a message, after what announces it.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(resource ?version[^\d<,]{0,24}(?:\d+ \()?|, current: )(\d+)")
        .expect("a constant")
});
/// The prefix of a name that the server was asked to make.
static GENERATE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""generateName":"([^"]*)""#).expect("a constant"));
static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^eyJ[\w-]+\.[\w-]+\.[\w-]+$").expect("a constant"));

/// Renames in place what the server that gave these answers chose. `ns` is the sequence's namespace
/// there.
pub(crate) fn normalise(exchanges: &mut [Exchange], ns: &str) {
    let mut choices = Choices::default();
    for exchange in &*exchanges {
        choices.learn(&exchange.answer.body);
        choices.learn_refused_name(exchange);
        exchange.asked.iter().for_each(|asked| choices.learn(asked));
    }
    for exchange in exchanges {
        let sent = exchange.sent.replace(ns, "{ns}");
        let mut renaming = Renaming {
            choices: &mut choices,
            sent: &sent,
            ns,
        };
        renaming.value(&mut exchange.answer.body);
        for asked in &mut exchange.asked {
            renaming.value(asked);
        }
        for text in exchange.answer.headers.values_mut() {
            *text = renaming.text(text);
        }
    }
}

/// What one server chose in the course of a sequence.
#[derive(Default)]
struct Choices {
    /// The resource versions of objects. A list's or a bookmark's is that of the whole store, which
    /// others write to as well: it is only ever placed among these.
    versions: BTreeSet<u64>,
    /// Uids in the order in which they were met.
    uids: Vec<String>,
    /// Names that were made from a `generateName`, and what they are called instead.
    names: BTreeMap<String, String>,
}

impl Choices {
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                if let Some(Value::Object(metadata)) = map.get("metadata") {
                    self.learn_metadata(metadata);
                }
                sorted(map).for_each(|(_, value)| self.learn(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn learn_metadata(&mut self, metadata: &Map<String, Value>) {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        if let Some(uid) = text("uid") {
            self.uid(uid);
            self.versions
                .extend(text("resourceVersion").and_then(|version| version.parse::<u64>().ok()));
        }
        if let (Some(prefix), Some(name)) = (text("generateName"), text("name"))
            && name.strip_prefix(prefix).is_some_and(is_generated)
        {
            self.learn_name(prefix, name);
        }
    }

    /// A refusal names the object, too, but not what its name was made from.
    fn learn_refused_name(&mut self, exchange: &Exchange) {
        let name = exchange
            .answer
            .body
            .pointer("/details/name")
            .and_then(Value::as_str);
        let prefix = GENERATE
            .captures(&exchange.sent)
            .map(|found| found[1].to_owned());
        if let (Some(name), Some(prefix)) = (name, prefix)
            && name.strip_prefix(&prefix).is_some_and(is_generated)
        {
            self.learn_name(&prefix, name);
        }
    }

    fn learn_name(&mut self, prefix: &str, name: &str) {
        let renamed = format!("{prefix}<generated {}>", self.names.len() + 1);
        self.names.entry(name.to_owned()).or_insert(renamed);
    }

    fn version(&self, version: u64, of_an_object: bool) -> String {
        let place = self.versions.range(..=version).count();
        if of_an_object {
            format!("<version {place}>")
        } else {
            format!("<version {place} or later>")
        }
    }

    fn uid(&mut self, uid: &str) -> String {
        let known = self.uids.iter().position(|known| known == uid);
        let number = known.unwrap_or_else(|| {
            self.uids.push(uid.to_owned());
            self.uids.len() - 1
        });
        format!("<uid {}>", number + 1)
    }
}

/// Five characters without vowels and look-alikes, as generated names have them.
fn is_generated(suffix: &str) -> bool {
    suffix.len() == 5
        && suffix
            .bytes()
            .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte))
}

struct Renaming<'a> {
    choices: &'a mut Choices,
    sent: &'a str,
    ns: &'a str,
}

impl Renaming<'_> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Object(map) => self.object(map),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::String(text) => *text = self.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            self.metadata(metadata);
        }
        if let Some(Value::String(version)) = map
            .get_mut("preconditions")
            .and_then(|wanted| wanted.get_mut("resourceVersion"))
            && let Ok(number) = version.parse::<u64>()
        {
            *version = self.choices.version(number, true);
        }
        if let Some(Value::Array(cells)) = map.get_mut("cells") {
            cells
                .iter_mut()
                .filter(|cell| is_age(cell))
                .for_each(|cell| *cell = "<age>".into());
        }
        let keys: Vec<String> = sorted(map).map(|(key, _)| key.clone()).collect();
        for key in keys {
            if let Some(mut value) = map.remove(&key) {
                self.value(&mut value);
                // A key may hold a choice, too: `managedFields` names owners by their uids.
                map.insert(self.text(&key), value);
            }
        }
    }

    fn metadata(&mut self, metadata: &mut Map<String, Value>) {
        let of_an_object = metadata.contains_key("uid");
        if let Some(Value::String(version)) = metadata.get_mut("resourceVersion")
            && let Ok(number) = version.parse::<u64>()
            && number > 0
        {
            *version = self.choices.version(number, of_an_object);
        }
        if let Some(Value::Array(managed)) = metadata.get_mut("managedFields") {
            managed.sort_by_key(|entry| {
                ["manager", "operation", "subresource"].map(|key| entry[key].to_string())
            });
        }
        if let Some(Value::String(token)) = metadata.get_mut("continue")
            && !token.is_empty()
        {
            "<continue>".clone_into(token);
        }
    }

    fn text(&mut self, text: &str) -> String {
        if TOKEN.is_match(text) {
            return "<token>".to_owned();
        }
        let mut text = text.to_owned();
        for (name, renamed) in &self.choices.names {
            text = text.replace(name, renamed);
        }
        let text = text.replace(self.ns, "{ns}");
        let text = TIME.replace_all(&text, |found: &Captures<'_>| self.time(found));
        let text = UID.replace_all(&text, |found: &Captures<'_>| {
            let known = self.choices.uids.iter().any(|uid| *uid == found[0]);
            if known || !self.sent.contains(&found[0]) {
                self.choices.uid(&found[0])
            } else {
                found[0].to_owned()
            }
        });
        VERSION
            .replace_all(&text, |found: &Captures<'_>| self.version(found))
            .into_owned()
    }

    /// A time that was sent stays: it is not the server's choice.
    fn time(&self, found: &Captures<'_>) -> String {
        if self.sent.contains(&found[0]) {
            return found[0].to_owned();
        }
        let digits = found.get(1).map_or(0, |fraction| fraction.len() - 1);
        match digits {
            0 => "<time>".to_owned(),
            digits => format!("<time with {digits} digits>"),
        }
    }

    fn was_sent(&self, word: &str) -> bool {
        self.sent
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|sent| sent == word)
    }

    fn version(&self, found: &Captures<'_>) -> String {
        let (before, number) = (&found[1], &found[2]);
        let renamed = match number.parse::<u64>() {
            Ok(version) if self.choices.versions.contains(&version) => {
                self.choices.version(version, true)
            }
            Ok(version) if version > 0 && !self.was_sent(number) => {
                self.choices.version(version, false)
            }
            Ok(_) | Err(_) => number.to_owned(),
        };
        format!("{before}{renamed}")
    }
}

fn is_age(cell: &Value) -> bool {
    cell.as_str().is_some_and(|text| AGE.is_match(text))
}

/// The fields by name, whatever order the server wrote them in.
fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.iter().collect::<BTreeMap<_, _>>().into_iter()
}

#[cfg(test)]
mod tests;
