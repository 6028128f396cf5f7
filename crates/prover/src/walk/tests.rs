//! Walks without a network: answers in, steps out.

use super::*;
use crate::message::{Code, Data, Record};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(address: &str) -> SocketAddr {
    SocketAddr::new(address.parse().unwrap(), 53)
}

fn ask(server: &str, about: &str) -> Step {
    Step::Ask(at(server), Question::new(name(about), Rtype::NS))
}

/// Records as `owner NS host` or `owner A address`, with semicolons between.
fn records(text: &str) -> Vec<Record> {
    let lines = text.split(';').map(str::trim).filter(|it| !it.is_empty());
    let record = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let data = match words[1] {
            "NS" => Data::Server(name(words[2])),
            "CNAME" => Data::Alias(name(words[2])),
            _ => Data::Address(words[2].parse().unwrap()),
        };
        let owner = name(words[0]);
        Record { owner, data }
    };
    lines.map(record).collect()
}

/// What a server says that speaks for the zone.
fn spoken(code: Code, answer: &str) -> Answer {
    Answer {
        authoritative: true,
        recursive: false,
        code,
        records: records(answer),
        authority: Vec::new(),
        additional: Vec::new(),
    }
}

fn nothing() -> Answer {
    spoken(Code::NoError, "")
}

/// What a server says that leads elsewhere.
fn referral(authority: &str, glue: &str) -> Answer {
    Answer {
        authoritative: false,
        recursive: false,
        code: Code::NoError,
        records: Vec::new(),
        authority: records(authority),
        additional: records(glue),
    }
}

/// Walks with these answers, and returns the last step.
fn walked(to: &str, egress: &Egress, answers: Vec<(Step, Answer)>) -> Step {
    let rules = Rules { egress, port: 53 };
    let mut walk = Walk::new(&name(to), &[at("10.0.0.1"), at("10.0.0.2")], rules);
    let mut step = walk.step();
    for (expected, answer) in answers {
        assert_eq!(step, expected);
        step = walk.heard(Ok(answer));
    }
    step
}

/// The way to `example.`, whose server is 8.8.8.8.
fn first() -> (Step, Answer) {
    let answer = referral("example. NS ns.example.", "ns.example. A 8.8.8.8");
    (ask("10.0.0.1", "example."), answer)
}

fn lame(server: &str, zone: &str) -> Stop {
    Fault::At(at(server), Box::new(Fault::Lame(name(zone)))).into()
}

#[test]
fn each_name_on_the_way_is_asked_about_until_the_last() {
    let egress = Egress::default();
    let step = walked(
        "c.b.a.example.",
        &egress,
        vec![
            first(),
            (ask("8.8.8.8", "a.example."), nothing()),
            (
                ask("8.8.8.8", "b.a.example."),
                referral(
                    "b.a.example. NS ns.b.a.example.; b.a.example. NS other.test.",
                    "ns.b.a.example. AAAA 2600::1; ns.b.a.example. A 9.9.9.9; other.test. A 9.9.9.8",
                ),
            ),
            (ask("9.9.9.9", "c.b.a.example."), nothing()),
        ],
    );
    let Step::Arrived(place) = step else {
        panic!("{step:?}");
    };
    assert_eq!(place.zone.apex, name("b.a.example."));
    assert_eq!(place.reach, [at("9.9.9.9"), at("2600::1")]);
    let hosts = [
        Host {
            name: name("ns.b.a.example."),
            addresses: vec!["2600::1".parse().unwrap(), "9.9.9.9".parse().unwrap()],
        },
        // What came with it is hearsay: the server does not know that zone.
        Host {
            name: name("other.test."),
            addresses: Vec::new(),
        },
    ];
    assert_eq!(place.zone.servers, Servers::Named(hosts.to_vec()));
}

#[test]
fn where_nothing_is_below_the_way_ends() {
    let egress = Egress::default();
    let gone = spoken(Code::NxDomain, "");
    let step = walked(
        "c.b.a.example.",
        &egress,
        vec![first(), (ask("8.8.8.8", "a.example."), gone)],
    );
    assert!(matches!(step, Step::Arrived(place) if place.zone.apex == name("example.")));
    // An alias is there, whatever its end is.
    for code in [Code::NoError, Code::NxDomain] {
        let alias = spoken(code, "a.example. CNAME nowhere.test.");
        let answers = vec![first(), (ask("8.8.8.8", "a.example."), alias)];
        let step = walked("b.a.example.", &egress, answers);
        assert_eq!(step, ask("8.8.8.8", "b.a.example."));
    }
}

#[test]
fn who_does_not_help_is_not_asked_again() {
    let egress = Egress::default();
    let useless = [
        spoken(Code::Other("SERVFAIL".to_owned()), ""),
        spoken(Code::Other("REFUSED".to_owned()), ""),
        // Upwards, sideways, to where it stands, and nowhere.
        referral(". NS a.root.", "a.root. A 8.8.8.8"),
        referral("test. NS ns.test.", "ns.test. A 8.8.8.8"),
        referral("b.example. NS ns.test.", ""),
        referral("", ""),
    ];
    for answer in useless {
        let step = walked(
            "a.example.",
            &egress,
            vec![(ask("10.0.0.1", "example."), answer)],
        );
        assert_eq!(step, ask("10.0.0.2", "example."));
    }
    let step = walked(
        "a.example.",
        &egress,
        vec![
            (ask("10.0.0.1", "example."), referral("", "")),
            (
                ask("10.0.0.2", "example."),
                referral(
                    "example. NS ns.example.",
                    "ns.example. A 8.8.8.8; ns.example. A 8.8.4.4",
                ),
            ),
            (
                ask("8.8.8.8", "a.example."),
                referral("example. NS ns.example.", ""),
            ),
            (ask("8.8.4.4", "a.example."), referral(". NS a.root.", "")),
        ],
    );
    assert_eq!(step, Step::Lost(lame("8.8.8.8", "example.")));
}

#[test]
fn hosts_without_an_address_are_looked_for_two_at_a_time() {
    let egress = Egress::default();
    let rules = Rules {
        egress: &egress,
        port: 53,
    };
    let mut walk = Walk::new(&name("a.example."), &[at("10.0.0.1")], rules);
    assert_eq!(walk.step(), ask("10.0.0.1", "example."));
    let hosts = "example. NS 1.test.; example. NS 2.test.; example. NS 3.test.";
    let step = walk.heard(Ok(referral(hosts, "")));
    assert_eq!(step, Step::Find(vec![name("1.test."), name("2.test.")]));
    let nowhere = || Err(Stop::Refused(EgressError::NoAddress("1.test".to_owned())));
    let circle = || Err(Fault::Circle(name("2.test.")).into());
    let step = walk.found(vec![nowhere(), circle()]);
    assert_eq!(step, Step::Find(vec![name("3.test.")]));
    let step = walk.found(vec![Ok(vec!["8.8.8.8".parse().unwrap()])]);
    assert_eq!(step, ask("8.8.8.8", "a.example."));
    // Of everything that stood in the way, what may pass is told before what is missing.
    let step = walk.heard(Err(Fault::Garbage));
    assert_eq!(step, Step::Lost(Fault::Circle(name("2.test.")).into()));
}

#[test]
fn an_address_that_is_refused_is_not_asked() {
    let egress = Egress::default();
    let glue = "ns.example. A 127.0.0.1; ns.example. A 10.1.1.1";
    let inside = || {
        (
            ask("10.0.0.1", "example."),
            referral("example. NS ns.example.", glue),
        )
    };
    let refused = EgressError::Address("10.1.1.1".parse().unwrap());
    let step = walked("a.example.", &egress, vec![inside()]);
    assert_eq!(step, Step::Lost(Stop::Refused(refused)));
    let egress = Egress {
        ranges: vec!["127.0.0.0/8".parse().unwrap()],
        hosts: Vec::new(),
    };
    let step = walked("a.example.", &egress, vec![inside()]);
    assert_eq!(step, ask("127.0.0.1", "a.example."));
}

#[test]
fn who_speaks_for_both_sides_of_a_cut_is_asked_on() {
    let egress = Egress::default();
    let both = spoken(
        Code::NoError,
        "a.example. NS ns.a.example.; a.example. NS 2.test.",
    );
    let step = walked(
        "b.a.example.",
        &egress,
        vec![first(), (ask("8.8.8.8", "a.example."), both)],
    );
    assert_eq!(step, ask("8.8.8.8", "b.a.example."));
    // A resolver that happens to know them does not.
    let hearsay = Answer {
        authoritative: false,
        ..spoken(Code::NoError, "a.example. NS ns.a.example.")
    };
    let step = walked(
        "b.a.example.",
        &egress,
        vec![first(), (ask("8.8.8.8", "a.example."), hearsay)],
    );
    assert_eq!(step, Step::Lost(lame("8.8.8.8", "example.")));
}
