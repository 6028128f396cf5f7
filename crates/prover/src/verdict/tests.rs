//! Statements of several servers, and what they come to.

use super::*;

const WANTED: &str = " proof\n";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn server(index: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, u8::try_from(index).unwrap()], 53))
}

/// `-` is silence, `>x.` an alias, anything else texts with commas between.
fn heard(words: &str) -> Vec<Heard> {
    let statement = |word: &str| match word.strip_prefix('>') {
        Some(target) => Ok(Statement::Alias(name(target))),
        None if word == "-" => Err(Fault::Garbage),
        None => {
            let texts = word.split(',').filter(|text| !text.is_empty());
            let octets = |text: &str| text.replace('_', " ").into_bytes();
            Ok(Statement::Texts(texts.map(octets).collect()))
        }
    };
    let words = words.split('|').enumerate();
    words
        .map(|(index, word)| Heard {
            server: server(index),
            statement: statement(word.trim()),
        })
        .collect()
}

fn judged(words: &str, quorum: Quorum) -> Verdict {
    judge(Wanted::new(WANTED), &heard(words), quorum)
}

fn split(with: &[usize], without: &[usize]) -> Verdict {
    let servers = |indices: &[usize]| indices.iter().copied().map(server).collect();
    Verdict::Split {
        with: servers(with),
        without: servers(without),
    }
}

fn unheard(index: usize) -> Verdict {
    Verdict::Unheard(Fault::At(server(index), Box::new(Fault::Garbage)))
}

#[test]
fn all_that_answer_have_to_agree() {
    let elsewhere = Verdict::Elsewhere(name("x."));
    let cases = [
        ("proof", Verdict::Here),
        ("proof | a,proof | _proof__", Verdict::Here),
        ("", Verdict::Nowhere { others: 0 }),
        ("a | a,b | ", Verdict::Nowhere { others: 2 }),
        (">x. | >x.", elsewhere),
        ("proof | a", split(&[0], &[1])),
        (" | proof | proof", split(&[1, 2], &[0])),
        ("proof | >x.", split(&[0], &[1])),
        ("a | >x. | >x.", split(&[1, 2], &[0])),
        (">y. | >x.", split(&[1], &[0])),
    ];
    for (words, verdict) in cases {
        assert_eq!(judged(words, Quorum::Reachable), verdict, "{words}");
        assert_eq!(judged(words, Quorum::All), verdict, "{words}");
    }
}

#[test]
fn whose_silence_counts_is_up_to_the_quorum() {
    let cases = [
        ("- | proof", Verdict::Here),
        ("a | -", Verdict::Nowhere { others: 1 }),
        ("proof | - | a", split(&[0], &[2])),
        ("-", unheard(0)),
    ];
    for (words, verdict) in cases {
        assert_eq!(judged(words, Quorum::Reachable), verdict, "{words}");
    }
    for (words, index) in [
        ("- | proof", 0),
        ("a | -", 1),
        ("proof | - | a", 1),
        ("-", 0),
    ] {
        assert_eq!(judged(words, Quorum::All), unheard(index), "{words}");
    }
}

#[test]
fn nobody_agrees_on_nothing() {
    for quorum in [Quorum::Reachable, Quorum::All] {
        let verdict = judge(Wanted::new(WANTED), &[], quorum);
        assert_eq!(verdict, Verdict::Unheard(Fault::Nobody));
    }
}

#[test]
fn a_text_of_nothing_stands_nowhere() {
    let verdict = judge(Wanted::new("  "), &heard("_ | _"), Quorum::All);
    assert_eq!(verdict, Verdict::Nowhere { others: 1 });
}

#[test]
fn a_name_beside_it_that_says_the_same_gives_a_wildcard_away() {
    let here = Verdict::Here;
    let elsewhere = Verdict::Elsewhere(name("x."));
    let fault = Fault::At(server(0), Box::new(Fault::Garbage));
    let cases = [
        (&here, "", Ok(false)),
        (&here, "a | b", Ok(false)),
        (&here, ">x.", Ok(false)),
        (&here, "a | b,proof", Ok(true)),
        (&here, "- | proof", Ok(true)),
        (&here, "- | a", Ok(false)),
        (&here, "-", Err(fault.clone())),
        (&elsewhere, "proof", Ok(false)),
        (&elsewhere, ">y.", Ok(false)),
        (&elsewhere, " | >x.", Ok(true)),
        (&elsewhere, "-", Err(fault)),
    ];
    for (first, words, repeated) in cases {
        let found = is_repeated(Wanted::new(WANTED), first, &heard(words), Quorum::Reachable);
        assert_eq!(found, repeated, "{words}");
    }
}
