//! Octets that are no query, or a bad one (G51 to G58 of the faults a server must survive).
//!
//! Each starts from a good query to which one thing is done. Of the answers only the code is compared, or that there is none.

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use crate::query::{Draft, Kind, Query, Transport, name_octets, record};

/// The octets of a header.
const HEADER: usize = 12;

/// What can be wrong: its name, and how it is done.
type Fault = (&'static str, fn(&Draft, &mut StdRng) -> Vec<u8>);

const FAULTS: [Fault; 23] = [
    ("shorter than a header", |draft, chance| {
        cut(draft, chance, 0, HEADER)
    }),
    ("a header alone", |draft, _| {
        draft.octets()[..HEADER].to_vec()
    }),
    ("cut in the question", |draft, chance| {
        let end = HEADER + question(draft).len();
        cut(draft, chance, HEADER + 1, end)
    }),
    ("cut in a record", |draft, chance| {
        let end = draft.octets().len() + OPT.len();
        let mut octets = with_records(draft, 3, &[OPT]);
        octets.truncate(chance.random_range(end - OPT.len() + 1..end));
        octets
    }),
    ("no question", |draft, _| with_question(draft, 0, &[])),
    ("no question but EDNS", |draft, _| {
        let mut octets = with_question(draft, 0, OPT);
        set_count(&mut octets, 3, 1);
        octets
    }),
    ("two questions", |draft, _| {
        with_question(draft, 2, &question(draft).repeat(2))
    }),
    ("two questions of which one is there", |draft, _| {
        with_question(draft, 2, &question(draft))
    }),
    ("65535 questions", |draft, _| {
        with_question(draft, u16::MAX, &question(draft))
    }),
    ("a pointer to itself", |draft, _| {
        with_name(draft, b"\xc0\x0c")
    }),
    ("a pointer forward", |draft, _| {
        with_name(draft, b"\xc0\x12")
    }),
    ("a pointer beyond the end", |draft, _| {
        with_name(draft, b"\xff\xff")
    }),
    ("a chain of pointers", |draft, _| {
        let mut records = Vec::new();
        let start = HEADER + question(draft).len();
        // Each owner points at the one before it; the first at the question's name.
        for index in 0..127_u16 {
            let before = if index == 0 {
                HEADER
            } else {
                start + usize::from(index - 1) * 12
            };
            let pointer = 0xc000 | u16::try_from(before).expect("the message is short");
            records.push([&pointer.to_be_bytes()[..], &record(1, 1, 0, &[])].concat());
        }
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        with_records(draft, 3, &records)
    }),
    ("a label of type 0x40", |draft, _| {
        with_name(draft, b"\x41a\x00")
    }),
    ("a label of type 0x80", |draft, _| {
        with_name(draft, b"\x81a\x00")
    }),
    ("a name of 256 octets", |draft, _| {
        let labels = [
            vec![b'a'; 63],
            vec![b'b'; 63],
            vec![b'c'; 63],
            vec![b'd'; 62],
        ];
        with_name(draft, &name_octets(&labels))
    }),
    ("EDNS twice", |draft, _| with_records(draft, 3, &[OPT, OPT])),
    ("EDNS among the answers", |draft, _| {
        with_records(draft, 1, &[OPT])
    }),
    ("EDNS with a length beyond the end", |draft, _| {
        with_records(draft, 3, &[b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x09"])
    }),
    ("EDNS with an option beyond its end", |draft, _| {
        with_records(
            draft,
            3,
            &[b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x04\xfd\xe9\x00\x05"],
        )
    }),
    ("EDNS below the root", |draft, _| {
        with_records(draft, 3, &[&[b"\x01a", OPT].concat()])
    }),
    ("an answer", |draft, _| {
        let mut octets = draft.octets();
        octets[2] |= 0x80;
        octets
    }),
    ("records that are not there", |draft, chance| {
        let mut octets = with_records(draft, 3, &[]);
        let section = *[1, 2, 3].choose(chance).expect("three");
        set_count(&mut octets, section, chance.random_range(1..=u16::MAX));
        octets
    }),
];

/// An OPT record: EDNS version 0, 1232 octets.
const OPT: &[u8] = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";

/// Does something to a query.
pub(crate) fn query(draft: &Draft, transport: Transport, chance: &mut StdRng) -> Query {
    let fault = FAULTS.choose(chance).expect("many");
    made(fault, draft, transport, chance)
}

/// Does everything there is to a query, one thing at a time.
pub(crate) fn queries(draft: &Draft, transport: Transport, chance: &mut StdRng) -> Vec<Query> {
    let faults = FAULTS.iter();
    faults
        .map(|fault| made(fault, draft, transport, chance))
        .collect()
}

fn made((fault, make): &Fault, draft: &Draft, transport: Transport, chance: &mut StdRng) -> Query {
    // Of these, EDNS comes only where it is what is wrong.
    let draft = Draft {
        edns: None,
        ..draft.clone()
    };
    Query {
        kind: Kind::Malformed,
        transport,
        octets: make(&draft, chance),
        what: format!("malformed: {fault}"),
    }
}

fn cut(draft: &Draft, chance: &mut StdRng, from: usize, to: usize) -> Vec<u8> {
    let mut octets = draft.octets();
    octets.truncate(chance.random_range(from..to));
    octets
}

fn question(draft: &Draft) -> Vec<u8> {
    let mut octets = name_octets(&draft.name);
    octets.extend(draft.rtype.to_int().to_be_bytes());
    octets.extend(draft.class.to_be_bytes());
    octets
}

/// The query with something else in place of its question and all that follows.
fn with_question(draft: &Draft, count: u16, rest: &[u8]) -> Vec<u8> {
    let mut octets = draft.octets();
    octets.truncate(HEADER);
    for section in 1..4 {
        set_count(&mut octets, section, 0);
    }
    set_count(&mut octets, 0, count);
    octets.extend(rest);
    octets
}

/// The query with other octets for its name.
fn with_name(draft: &Draft, name: &[u8]) -> Vec<u8> {
    with_question(draft, 1, &[name, b"\x00\x01\x00\x01"].concat())
}

/// The question with records in one section.
fn with_records(draft: &Draft, section: usize, records: &[&[u8]]) -> Vec<u8> {
    let rest = [&question(draft)[..], &records.concat()].concat();
    let mut octets = with_question(draft, 1, &rest);
    let count = u16::try_from(records.len()).expect("there are few");
    set_count(&mut octets, section, count);
    octets
}

/// Sets the count of the question (0), answer (1), authority (2) or additional section (3).
fn set_count(octets: &mut [u8], section: usize, count: u16) {
    let at = 4 + 2 * section;
    octets[at..at + 2].copy_from_slice(&count.to_be_bytes());
}
