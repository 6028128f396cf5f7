//! Where two transcripts differ.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::side::Answer;
use crate::transcript::Exchange;

/// What stands for a value that is not there.
pub(crate) const ABSENT: &str = "absent";

/// More of a value is not shown, only compared.
const SHOWN: usize = 600;

/// One place in which two answers differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The place of the sequence, the step's number and the line it is written in.
    pub(crate) step: String,
    /// The line of the step.
    pub(crate) request: String,
    /// `code`, a header's name, or a path into the body.
    pub(crate) place: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

/// All differences between two transcripts of the sequence at `place`.
pub(crate) fn differences(place: &str, ours: &[Exchange], theirs: &[Exchange]) -> Vec<Difference> {
    let pairs = ours.iter().zip(theirs);
    pairs
        .flat_map(|(ours, theirs)| {
            let mut found = in_answer(&ours.answer, &theirs.answer);
            let asked = |exchange: &Exchange| Value::from(exchange.asked.clone());
            let (asked, theirs_asked) = (asked(ours), asked(theirs));
            in_value(&mut found, "asked", Some(&asked), Some(&theirs_asked));
            found.into_iter().map(|(at, one, other)| Difference {
                step: format!("{place}, step {}", ours.number),
                request: ours.title.clone(),
                place: at,
                ours: one,
                theirs: other,
            })
        })
        .collect()
}

type Found = (String, String, String);

fn in_answer(ours: &Answer, theirs: &Answer) -> Vec<Found> {
    let mut found = Vec::new();
    let code = |answer: &Answer| {
        answer
            .code
            .map_or(ABSENT.to_owned(), |code| code.to_string())
    };
    note(&mut found, "code", code(ours), code(theirs));
    let names: BTreeSet<_> = ours.headers.keys().chain(theirs.headers.keys()).collect();
    for name in names {
        let header = |answer: &Answer| {
            answer
                .headers
                .get(name)
                .map_or(ABSENT.to_owned(), Clone::clone)
        };
        note(&mut found, name, header(ours), header(theirs));
    }
    if ours.code == theirs.code {
        in_value(&mut found, "", Some(&ours.body), Some(&theirs.body));
    } else {
        // An object and a refusal differ in every field: that is one difference, not twenty.
        note(
            &mut found,
            "/",
            shown(Some(&ours.body)),
            shown(Some(&theirs.body)),
        );
    }
    found
}

fn note(found: &mut Vec<Found>, at: &str, ours: String, theirs: String) {
    if ours != theirs {
        found.push((at.to_owned(), ours, theirs));
    }
}

fn in_value(found: &mut Vec<Found>, at: &str, ours: Option<&Value>, theirs: Option<&Value>) {
    match (ours, theirs) {
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
            for key in keys {
                let at = format!("{at}/{}", key.replace('/', "~1"));
                in_value(found, &at, ours.get(key), theirs.get(key));
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            for index in 0..ours.len().max(theirs.len()) {
                in_value(
                    found,
                    &format!("{at}/{index}"),
                    ours.get(index),
                    theirs.get(index),
                );
            }
        }
        (ours, theirs) if ours == theirs => {}
        (ours, theirs) => {
            let at = if at.is_empty() { "/" } else { at };
            found.push((at.to_owned(), shown(ours), shown(theirs)));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => ABSENT.to_owned(),
        // In quotes only where it could be taken for something else.
        Some(Value::String(text)) if text != ABSENT && !text.is_empty() => text.clone(),
        Some(value) => value.to_string(),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            request,
            place,
            ours,
            theirs,
        } = self;
        writeln!(f, "{step}: {request}")?;
        writeln!(f, "  at      {place}")?;
        writeln!(f, "  ours    {}", cut(ours))?;
        write!(f, "  theirs  {}", cut(theirs))
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests;
