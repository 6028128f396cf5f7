//! What a run has met: operations by kind and outcome, and the cells that stayed empty.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::aim::{self, Aim, Outcome, Verb};
use super::hooks::{Effect, LABEL};
use super::kind::Kind;
use crate::sequence::Patch;
use crate::transcript::Exchange;

/// Counts of what kube-apiserver answered.
#[derive(Default)]
pub(crate) struct Tally {
    counts: BTreeMap<(String, Verb, bool), BTreeMap<Outcome, usize>>,
    /// Of those, what webhooks had a say in.
    hooked: BTreeMap<(String, Verb), BTreeMap<Effect, usize>>,
    /// All steps, those that are in no cell among them.
    pub(crate) operations: usize,
}

impl Tally {
    /// Adds the steps of a history and what came of them.
    pub(crate) fn add(&mut self, kinds: &[Kind], steps: &[Value], answers: &[Exchange]) {
        self.operations += answers.len();
        for exchange in answers {
            let step = &steps[exchange.number - 1];
            let Some((kind, verb, status)) = operation(kinds, &exchange.title, step) else {
                continue;
            };
            let reason = exchange.answer.body["reason"].as_str();
            let outcome = Outcome::of(exchange.answer.code, reason);
            let row = self.counts.entry((kind.kind.clone(), verb, status));
            *row.or_default().entry(outcome).or_default() += 1;
            let hooked = self.hooked.entry((kind.kind.clone(), verb)).or_default();
            for effect in Effect::ALL {
                if happened(effect, exchange) {
                    *hooked.entry(effect).or_default() += 1;
                }
            }
        }
    }

    /// What should have been met and was not.
    pub(crate) fn missing(&self, kinds: &[Kind]) -> Vec<String> {
        let expected = kinds.iter().flat_map(|kind| {
            let aims = aim::expected(kind).into_iter();
            aims.map(move |(aim, _)| (kind, aim))
        });
        let missing = expected.filter(|(kind, aim)| self.count(kind, *aim) == 0);
        let missing =
            missing.map(|(kind, aim)| format!("{} never met `{}`", row(kind, aim), aim.outcome));
        let effects = kinds.iter().flat_map(|kind| {
            let cells = aim::hooked(kind).into_iter();
            cells.map(move |(verb, effect)| (kind, verb, effect))
        });
        let unmet = effects.filter(|(kind, verb, effect)| {
            let row = self.hooked.get(&(kind.kind.clone(), *verb));
            row.is_none_or(|row| !row.contains_key(effect))
        });
        let unmet = unmet.map(|(kind, verb, effect)| {
            format!("{} {verb} never met a webhook: `{effect}`", kind.kind)
        });
        missing.chain(unmet).collect()
    }

    fn count(&self, kind: &Kind, aim: Aim) -> usize {
        let row = self.counts.get(&(kind.kind.clone(), aim.verb, aim.status));
        row.and_then(|row| row.get(&aim.outcome))
            .copied()
            .unwrap_or_default()
    }

    /// The counts as a table.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{:<45}", "");
        for outcome in Outcome::ALL {
            let _infallible = write!(text, "{outcome:>12}");
        }
        for ((kind, verb, status), row) in &self.counts {
            let part = if *status { "status" } else { "" };
            let _infallible = write!(text, "\n{kind:<20} {verb:<16} {part:<7}");
            for outcome in Outcome::ALL {
                let count = row.get(&outcome).copied().unwrap_or_default();
                let _infallible = write!(text, "{count:>12}");
            }
        }
        let _infallible = write!(text, "\n\n{:<45}", "webhooks had a say in");
        for effect in Effect::ALL {
            let _infallible = write!(text, "{effect:>12}");
        }
        for ((kind, verb), row) in &self.hooked {
            let counts = Effect::ALL.map(|effect| row.get(&effect).copied().unwrap_or_default());
            if counts.iter().all(|count| *count == 0) {
                continue;
            }
            let _infallible = write!(text, "\n{kind:<20} {verb:<24}");
            for count in counts {
                let _infallible = write!(text, "{count:>12}");
            }
        }
        let _infallible = write!(text, "\n{} operations", self.operations);
        text
    }
}

/// Whether webhooks did this to a write.
fn happened(effect: Effect, exchange: &Exchange) -> bool {
    let asked = |word: &str| exchange.asked.iter().any(|asked| asked["webhook"] == word);
    let answer = &exchange.answer;
    match effect {
        Effect::Changed => asked("change") && asked("late"),
        Effect::Warned => asked("warn") && asked("observe"),
        // Who is not there hears of nothing.
        Effect::Ignored => {
            let done = answer.code.is_some_and(|code| code < 300);
            done && answer.body["metadata"]["labels"][LABEL] == effect.word()
        }
    }
}

fn row(kind: &Kind, aim: Aim) -> String {
    let part = if aim.status { " status" } else { "" };
    format!("{} {}{part}", kind.kind, aim.verb)
}

/// What a step does: the kind, the verb, and whether it is about the status.
fn operation<'a>(kinds: &'a [Kind], title: &str, step: &Value) -> Option<(&'a Kind, Verb, bool)> {
    let words: Vec<&str> = title.split(' ').collect();
    let (watch, method, path) = match words.as_slice() {
        ["watch", _, method, path] => (true, *method, *path),
        [method, path] if path.starts_with('/') => (false, *method, *path),
        _ => return None,
    };
    let path = path.split('?').next().unwrap_or_default();
    kinds.iter().find_map(|kind| {
        let rest = path.strip_prefix(&kind.path)?;
        let parts: Vec<&str> = rest.split('/').collect();
        let (one, status) = match parts.as_slice() {
            [""] => (false, false),
            ["", _name] => (true, false),
            ["", _name, "status"] => (true, true),
            _ => return None,
        };
        let verb = match (method, one) {
            ("GET", _) if watch => Verb::Watch,
            ("GET", true) => Verb::Get,
            ("GET", false) => Verb::List,
            ("POST", false) => Verb::Create,
            ("PUT", true) => Verb::Update,
            ("PATCH", true) => Verb::Patch(patch(&step[title]["type"])?),
            ("DELETE", true) => Verb::Delete,
            ("DELETE", false) => Verb::DeleteCollection,
            _ => return None,
        };
        Some((kind, verb, status))
    })
}

fn patch(word: &Value) -> Option<Patch> {
    serde_json::from_value(word.clone()).ok()
}
