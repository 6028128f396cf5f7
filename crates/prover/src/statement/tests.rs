//! Answers, and what they say about the texts of `a.example.`.

use super::*;
use crate::message::Record;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn text(owner: &str, text: &str) -> Record {
    Record {
        owner: name(owner),
        data: Data::Text(text.as_bytes().to_vec()),
    }
}

fn alias(owner: &str, target: &str) -> Record {
    Record {
        owner: name(owner),
        data: Data::Alias(name(target)),
    }
}

fn texts(texts: &[&str]) -> Statement {
    let octets = |text: &&str| text.as_bytes().to_vec();
    Statement::Texts(texts.iter().map(octets).collect())
}

fn answer(code: Code, records: Vec<Record>) -> Answer {
    Answer {
        authoritative: true,
        recursive: false,
        code,
        records,
        authority: Vec::new(),
        additional: Vec::new(),
    }
}

fn said(answer: &Answer) -> Result<Statement, Fault> {
    read(
        answer,
        &name("a.example."),
        &Standing::Speaks(name("example.")),
    )
}

#[test]
fn each_answer_says_one_thing() {
    let elsewhere = || Ok(Statement::Alias(name("b.example.")));
    let failed = Fault::Code("SERVFAIL".to_owned());
    let code = || Code::Other("SERVFAIL".to_owned());
    let cases = [
        (
            Code::NoError,
            vec![text("a.example.", "x"), text("a.example.", "y")],
            Ok(texts(&["x", "y"])),
        ),
        (Code::NoError, vec![text("b.example.", "x")], Ok(texts(&[]))),
        (Code::NoError, vec![], Ok(texts(&[]))),
        (Code::NxDomain, vec![], Ok(texts(&[]))),
        (code(), vec![text("a.example.", "x")], Err(failed)),
        // The first link of a chain, wherever it ends.
        (
            Code::NoError,
            vec![alias("a.example.", "b.example."), text("b.example.", "x")],
            elsewhere(),
        ),
        (
            Code::NxDomain,
            vec![alias("a.example.", "b.example.")],
            elsewhere(),
        ),
        (code(), vec![alias("a.example.", "b.example.")], elsewhere()),
        // A name has one alias (RFC 2181 §10.1).
        (
            Code::NoError,
            vec![
                alias("a.example.", "b.example."),
                alias("a.example.", "c.example."),
            ],
            Err(Fault::Garbage),
        ),
    ];
    for (code, records, statement) in cases {
        let answer = answer(code, records);
        assert_eq!(said(&answer), statement, "{answer:?}");
    }
}

#[test]
fn whoever_does_not_speak_for_the_zone_says_nothing_unless_believed() {
    for records in [
        vec![text("a.example.", "x")],
        vec![alias("a.example.", "b.example.")],
    ] {
        let spoken = answer(Code::NoError, records);
        let lame = Answer {
            authoritative: false,
            ..spoken.clone()
        };
        let resolved = Answer {
            recursive: true,
            ..lame.clone()
        };
        let believed = |answer: &Answer| read(answer, &name("a.example."), &Standing::Believed);
        assert_eq!(said(&lame), Err(Fault::Lame(name("example."))));
        assert_eq!(said(&resolved), Err(Fault::Lame(name("example."))));
        assert_eq!(believed(&lame), Err(Fault::Lame(name("a.example."))));
        assert_eq!(believed(&resolved), said(&spoken));
        assert_eq!(believed(&spoken), said(&spoken));
    }
}
