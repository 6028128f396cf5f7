//! Where two answers to one query differ.

use crate::answer::{ADDITIONAL, Answer, SECTIONS, Said};
use crate::query::{Kind, Query, Transport};

/// What stands for a record that is not there.
pub(crate) const ABSENT: &str = "absent";

/// One place in which our answer and another server's differ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The other server.
    pub(crate) server: &'static str,
    /// The index of the query, and its text.
    pub(crate) index: usize,
    pub(crate) query: String,
    pub(crate) kind: Kind,
    /// `rcode`, a flag, `opcode`, `question`, `edns` or a section.
    pub(crate) place: &'static str,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

/// The flags of an answer that are compared; Z is none, and must be clear.
const FLAGS: [&str; 7] = ["aa", "tc", "rd", "ra", "z", "ad", "cd"];

/// All places in which two answers differ, ours first.
pub(crate) fn differences(
    server: &'static str,
    index: usize,
    query: &Query,
    ours: &Answer,
    theirs: &Answer,
) -> Vec<Difference> {
    let found = match (ours, theirs) {
        // Of what cannot be read, only what became of it matters.
        (Answer::Said(ours), Answer::Said(theirs))
            if !query.kind.is_fault() && ours.rcode == theirs.rcode =>
        {
            in_message(ours, theirs, query.transport)
        }
        // An answer and a refusal differ in everything: that is one difference, not ten.
        (ours, theirs) if ours.outcome() != theirs.outcome() => {
            vec![(
                "rcode",
                ours.outcome().to_owned(),
                theirs.outcome().to_owned(),
            )]
        }
        _ => Vec::new(),
    };
    let found = found.into_iter();
    found
        .map(|(place, ours, theirs)| Difference {
            server,
            index,
            query: query.to_string(),
            kind: query.kind,
            place,
            ours,
            theirs,
        })
        .collect()
}

type Found = (&'static str, String, String);

fn in_message(ours: &Said, theirs: &Said, transport: Transport) -> Vec<Found> {
    let mut found = Vec::new();
    let mut note = |place, ours: String, theirs: String| {
        if ours != theirs {
            found.push((place, ours, theirs));
        }
    };
    let opcode = |said: &Said| (said.bits >> 11 & 0xf).to_string();
    note("opcode", opcode(ours), opcode(theirs));
    for flag in FLAGS {
        let set = |said: &Said| if said.has(flag) { "set" } else { "clear" }.to_owned();
        note(flag, set(ours), set(theirs));
    }
    note("question", ours.question.clone(), theirs.question.clone());
    let edns = |said: &Said| {
        said.edns
            .map_or(ABSENT.to_owned(), |version| version.to_string())
    };
    note("edns", edns(ours), edns(theirs));
    for (index, place) in SECTIONS.into_iter().enumerate() {
        let (ours, theirs) = match (transport, place) {
            // What there was no room for differs from server to server; it is asked for again over TCP.
            _ if ours.has("tc") || theirs.has("tc") => break,
            (Transport::Udp, ADDITIONAL) => break,
            (Transport::Udp | Transport::Tcp, _) => {
                (&ours.sections[index], &theirs.sections[index])
            }
        };
        let (only_ours, only_theirs) = (ours.difference(theirs), theirs.difference(ours));
        found.extend(only_ours.map(|record| (place, record.clone(), ABSENT.to_owned())));
        found.extend(only_theirs.map(|record| (place, ABSENT.to_owned(), record.clone())));
    }
    found
}

/// Whether there may have been no room for all that is to be said: then it is worth asking again over TCP.
pub(crate) fn is_worth_asking_again(answers: &[&Answer]) -> bool {
    let additional = |answer: &Answer| match answer {
        Answer::Said(said) => Some(said.sections[2].clone()),
        Answer::None | Answer::Unreadable(_) => None,
    };
    let differ = answers
        .windows(2)
        .any(|pair| additional(pair[0]) != additional(pair[1]));
    differ || answers.iter().any(|answer| answer.is_truncated())
}
