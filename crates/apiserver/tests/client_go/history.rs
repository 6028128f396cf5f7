//! What one program has seen and done, in a form that two of them can be compared in.
//!
//! Each version of each object counts, in order, with its whole content but for what a server or a clock chose. Where an API
//! was ended there is a gap: an informer that lists again may skip versions, so of a gap only the outcome counts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::witness::{Event, Line};

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a constant")
});

/// An informer and the name of an object.
type Key = (String, String);

/// The life of one program.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct History {
    seen: BTreeMap<Key, Vec<Moment>>,
    did: BTreeMap<String, Vec<String>>,
    leads: Vec<bool>,
    wire: BTreeSet<(String, String)>,
    /// What must not be, whatever the other side says.
    problems: Vec<String>,
}

/// What an informer told of an object.
#[derive(Clone, Debug, PartialEq)]
enum Moment {
    Told(Event, Value),
    /// What had become of it after a gap.
    Is(Value),
    Gone,
}

impl History {
    /// Reads what was said; `gaps` are places in it.
    pub(crate) fn of(said: &[Line], gaps: &[Range<usize>]) -> Self {
        let mut reader = Reader::default();
        for (place, line) in said.iter().enumerate() {
            let gap = gaps.iter().position(|gap| gap.contains(&place));
            reader.enter(gap);
            reader.read(line);
        }
        reader.enter(None);
        reader.history
    }

    /// Whether something that informers hide came to one of them.
    pub(crate) fn heard(&self, informer: &str, what: &str) -> bool {
        let heard = (informer.to_owned(), what.to_owned());
        self.wire.contains(&heard)
    }

    /// What each kind was told in, in both directions.
    pub(crate) fn languages(&self) -> impl Iterator<Item = (&str, &str)> {
        let wire = self.wire.iter().map(|(by, what)| (&**by, &**what));
        wire.filter(|(_, what)| what.starts_with("sent in ") || what.starts_with("answered in "))
    }

    /// How many events were told one by one.
    pub(crate) fn events(&self) -> usize {
        let moments = self.seen.values().flatten();
        moments
            .filter(|moment| matches!(moment, Moment::Told(..)))
            .count()
    }

    /// In what two differ; nothing if they saw and did the same.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for problem in self.problems.iter().chain(&other.problems) {
            found.push(problem.clone());
        }
        if self.leads != other.leads {
            found.push(format!("leads: {:?} and {:?}", self.leads, other.leads));
        }
        for (informer, name) in keys(&self.seen, &other.seen) {
            let key = (informer.clone(), name.clone());
            let place = format!("{informer} of {name}");
            found.extend(differ(&place, self.seen.get(&key), other.seen.get(&key)));
        }
        for name in keys(&self.did, &other.did) {
            let place = format!("what was done to {name}");
            found.extend(differ(&place, self.did.get(name), other.did.get(name)));
        }
        found
    }
}

fn keys<'a, K: Ord, V>(one: &'a BTreeMap<K, V>, other: &'a BTreeMap<K, V>) -> BTreeSet<&'a K> {
    one.keys().chain(other.keys()).collect()
}

fn differ<T: PartialEq + std::fmt::Debug>(
    place: &str,
    one: Option<&Vec<T>>,
    other: Option<&Vec<T>>,
) -> Option<String> {
    let (one, other) = (one.map_or(&[][..], |v| v), other.map_or(&[][..], |v| v));
    let longest = one.len().max(other.len());
    let first = (0..longest).find(|&index| one.get(index) != other.get(index))?;
    let show = |all: &[T]| {
        all.get(first)
            .map_or("nothing".to_owned(), |it| format!("{it:#?}"))
    };
    Some(format!(
        "{place}, number {first} of {} and {}:\n{}\nand\n{}",
        one.len(),
        other.len(),
        show(one),
        show(other)
    ))
}

#[derive(Default)]
struct Reader {
    history: History,
    present: BTreeSet<Key>,
    revisions: BTreeMap<Key, u64>,
    gap: Option<usize>,
    /// What was there when the gap began, and what has become of whatever changed since.
    before: BTreeSet<Key>,
    outcome: BTreeMap<Key, Option<Value>>,
}

impl Reader {
    /// Goes on in a gap, or outside of one.
    fn enter(&mut self, gap: Option<usize>) {
        if gap == self.gap {
            return;
        }
        for (key, outcome) in std::mem::take(&mut self.outcome) {
            let moment = match outcome {
                Some(object) => Moment::Is(object),
                None if self.before.contains(&key) => Moment::Gone,
                // It came and went: who did not look did not miss anything.
                None => continue,
            };
            self.history.seen.entry(key).or_default().push(moment);
        }
        self.gap = gap;
        self.before.clone_from(&self.present);
    }

    fn read(&mut self, line: &Line) {
        match line {
            Line::Seen {
                seen,
                by,
                name,
                revision,
                object,
            } => {
                let key = (by.clone(), name.clone());
                self.check(&key, *seen, revision);
                self.see(key, *seen, comparable(object));
            }
            // A write whose acknowledgement was lost with the API was done all the same.
            Line::Did { .. } if self.gap.is_some() => {}
            Line::Did { did, name } => {
                let done = self.history.did.entry(name.clone()).or_default();
                done.push(did.clone());
            }
            Line::Wire { wire, by } => {
                self.history.wire.insert((by.clone(), wire.clone()));
            }
            Line::Leads { leads } => self.history.leads.push(*leads),
            Line::Synced { .. } | Line::Ended { .. } => {}
            Line::Odd(odd) => self.history.problems.push(odd.to_string()),
        }
    }

    fn see(&mut self, key: Key, event: Event, object: Value) {
        let there = matches!(event, Event::Added | Event::Updated);
        if there {
            self.present.insert(key.clone());
        } else {
            self.present.remove(&key);
        }
        if self.gap.is_some() {
            self.outcome.insert(key, there.then_some(object));
        } else {
            let moment = Moment::Told(event, object);
            self.history.seen.entry(key).or_default().push(moment);
        }
    }

    /// Time goes forward for each object, also where an API was ended.
    fn check(&mut self, key: &Key, event: Event, revision: &str) {
        let (Event::Added | Event::Updated | Event::Deleted) = event else {
            // The last that was known is told once more.
            return;
        };
        let number = revision.parse().unwrap_or_default();
        let before = self.revisions.insert(key.clone(), number);
        if before.is_some_and(|before| before >= number) {
            let problem = format!("{key:?}: revision {revision} after {before:?}");
            self.history.problems.push(problem);
        }
    }
}

/// An object without what a server or a clock chose.
fn comparable(object: &Value) -> Value {
    // Uids are also in the names of fields, where they say which owner somebody set.
    let text = object.to_string();
    let text = UID.replace_all(&text, "<uid>");
    let mut object: Value = serde_json::from_str(&text).expect("it was JSON before");
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return object;
    };
    for chosen in ["resourceVersion", "creationTimestamp"] {
        metadata.remove(chosen);
    }
    if let Some(time) = metadata.get_mut("deletionTimestamp") {
        *time = "<time>".into();
    }
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        for entry in entries.iter_mut() {
            entry["time"] = "<time>".into();
        }
        // They are in the order of their times, which are those of two clocks.
        entries.sort_by_key(ToString::to_string);
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(seen: Event, name: &str, revision: u32, text: &str) -> Line {
        Line::Seen {
            seen,
            by: "maps".to_owned(),
            name: name.to_owned(),
            revision: revision.to_string(),
            object: json!({ "metadata": { "resourceVersion": revision }, "text": text }),
        }
    }

    fn with_gap(said: &[Line], gap: Range<usize>) -> History {
        History::of(said, &[gap])
    }

    #[test]
    fn every_version_counts_in_order() {
        let one = [
            seen(Event::Added, "a", 1, "x"),
            seen(Event::Updated, "a", 2, "y"),
        ];
        let other = [
            seen(Event::Added, "a", 7, "x"),
            seen(Event::Updated, "a", 9, "y"),
        ];
        let short = [seen(Event::Added, "a", 7, "y")];
        let of = |said: &[Line]| History::of(said, &[]);
        assert_eq!(of(&one).differences(&of(&other)), [] as [String; 0]);
        assert_eq!(of(&one).differences(&of(&short)).len(), 1);
    }

    #[test]
    fn of_a_gap_only_the_outcome_counts() {
        let slow = [
            seen(Event::Added, "a", 1, "x"),
            seen(Event::Updated, "a", 2, "y"),
            seen(Event::Deleted, "a", 3, "y"),
            seen(Event::Added, "a", 4, "z"),
            seen(Event::Added, "b", 5, "brief"),
            seen(Event::Deleted, "b", 6, "brief"),
        ];
        let quick = [
            seen(Event::Added, "a", 1, "x"),
            seen(Event::Updated, "a", 4, "z"),
        ];
        let (slow, quick) = (with_gap(&slow, 1..6), with_gap(&quick, 1..2));
        assert_eq!(slow.differences(&quick), [] as [String; 0]);
        let gone = [
            seen(Event::Added, "a", 1, "x"),
            seen(Event::Missed, "a", 1, "x"),
        ];
        assert_eq!(slow.differences(&with_gap(&gone, 1..2)).len(), 1);
    }

    #[test]
    fn a_revision_that_goes_back_is_a_problem() {
        let back = [
            seen(Event::Added, "a", 5, "x"),
            seen(Event::Updated, "a", 4, "x"),
        ];
        let back = with_gap(&back, 0..2);
        assert_eq!(back.differences(&back).len(), 2);
    }
}
