//! The status of a definition: which of its names are accepted, and whether its kinds are served.
//!
//! Names are handed out in the order in which they are asked for, group by group. Who has a name
//! keeps it; who asks for one that is taken gets the others, and this one when it becomes free.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::condition::{self, Condition, ESTABLISHED, NAMES_ACCEPTED};
use super::{approval, section, text};
use crate::object::Object;
use crate::resource::Names;

/// The names of one group that belong to someone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// Plurals, singulars and short names: all are words that kubectl looks up.
    words: BTreeSet<String>,
    /// Kinds and kinds of lists.
    kinds: BTreeSet<String>,
}

impl Taken {
    /// The accepted names of all definitions of a group, the one that asks among them.
    pub(crate) fn by_definitions<'a>(
        group: &str,
        definitions: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        let mut taken = Self::default();
        for definition in definitions {
            let of_group = spec(definition, "group").and_then(Value::as_str) == Some(group);
            if of_group && let Some(names) = accepted(definition) {
                taken.add(names);
            }
        }
        taken
    }

    /// Adds the names of a built-in kind of the same group.
    pub(crate) fn add_builtin(&mut self, names: &Names) {
        let Names {
            group: _,
            plural,
            singular,
            kind,
            list_kind,
            short_names,
            categories: _,
        } = names;
        self.words
            .extend([plural, singular].into_iter().chain(short_names).cloned());
        self.kinds.extend([kind, list_kind].into_iter().cloned());
    }

    fn add(&mut self, names: &Object) {
        let words = ["plural", "singular"].map(|field| text(names, field));
        let words = words.into_iter().chain(list(names, "shortNames"));
        self.words.extend(words.map(str::to_owned));
        let kinds = ["kind", "listKind"].map(|field| text(names, field));
        self.kinds.extend(kinds.into_iter().map(str::to_owned));
    }
}

/// Brings the status up to date and tells whether it changed.
///
/// kube-apiserver does not look again once the names asked for are those accepted. A definition
/// that gives up the name that was in its way stays unaccepted there for ever; here it is
/// established.
pub(crate) fn settle(definition: &mut Object, taken: &Taken, now: Timestamp) -> bool {
    let mut changed = false;
    if let Some(approval) = approval::condition(definition) {
        changed |= condition::set(definition, &approval, now);
    }
    let requested = spec(definition, "names").and_then(Value::as_object);
    let requested = requested.cloned().unwrap_or_default();
    let (names, conflict) = accept(&requested, accepted(definition), taken);
    let names = Value::Object(names);
    let old = section(definition, "status").insert("acceptedNames".to_owned(), names.clone());
    changed |= old != Some(names);
    changed |= condition::set(definition, &names_accepted(conflict.as_ref()), now);
    if !condition::is_established(definition) {
        changed |= condition::set(definition, &established(conflict.is_none()), now);
    }
    changed
}

/// A name that belongs to someone else.
struct Conflict {
    reason: &'static str,
    message: String,
}

/// The names that a definition gets of those it asks for. Of several conflicts the last is told, as
/// kube-apiserver does.
fn accept(requested: &Object, old: Option<&Object>, taken: &Taken) -> (Object, Option<Conflict>) {
    let mut names = old.cloned().unwrap_or_default();
    let mut conflict = None;
    for (field, reason, taken) in [
        ("plural", "PluralConflict", &taken.words),
        ("singular", "SingularConflict", &taken.words),
        ("shortNames", "ShortNamesConflict", &taken.words),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ] {
        let refused = refused(field, requested, &names, taken);
        if refused.is_empty() {
            copy(field, requested, &mut names);
        } else {
            conflict = Some(Conflict {
                reason,
                message: in_use(&refused),
            });
        }
    }
    copy("categories", requested, &mut names);
    (names, conflict)
}

/// The names under `field` that are asked for, not owned yet and not free.
fn refused<'a>(
    field: &str,
    requested: &'a Object,
    owned: &Object,
    taken: &BTreeSet<String>,
) -> Vec<&'a str> {
    let owned = list(owned, field);
    list(requested, field)
        .into_iter()
        .filter(|name| !owned.contains(name) && taken.contains(*name))
        .collect()
}

fn in_use(names: &[&str]) -> String {
    let mut said: Vec<String> = Vec::new();
    for text in names
        .iter()
        .map(|name| format!("\"{name}\" is already in use"))
    {
        if !said.contains(&text) {
            said.push(text);
        }
    }
    match said.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn copy(field: &str, from: &Object, to: &mut Object) {
    match from.get(field) {
        Some(value) => to.insert(field.to_owned(), value.clone()),
        None => to.remove(field),
    };
}

fn names_accepted(conflict: Option<&Conflict>) -> Condition {
    let (reason, message) = match conflict {
        Some(conflict) => (conflict.reason, conflict.message.as_str()),
        None => ("NoConflicts", "no conflicts found"),
    };
    Condition {
        kind: NAMES_ACCEPTED,
        holds: conflict.is_none(),
        reason,
        message: message.to_owned(),
    }
}

fn established(accepted: bool) -> Condition {
    let (reason, message) = if accepted {
        (
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )
    } else {
        ("NotAccepted", "not all names are accepted")
    };
    Condition {
        kind: ESTABLISHED,
        holds: accepted,
        reason,
        message: message.to_owned(),
    }
}

fn spec<'a>(definition: &'a Object, field: &str) -> Option<&'a Value> {
    definition.get("spec")?.get(field)
}

fn accepted(definition: &Object) -> Option<&Object> {
    definition.get("status")?.get("acceptedNames")?.as_object()
}

/// The names under `field`, whether it holds one or many. Empty ones are none.
fn list<'a>(names: &'a Object, field: &str) -> Vec<&'a str> {
    let many = names
        .get(field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let many = many.filter_map(Value::as_str);
    many.chain([text(names, field)])
        .filter(|name| !name.is_empty())
        .collect()
}
