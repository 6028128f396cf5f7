//! Transfers as words: a number is the SOA of that serial, another word the name of an address.

use super::*;

const APEX: &str = "example.org.";

fn record(word: &str) -> Record {
    let (owner, rtype, text) = if let Ok(serial) = word.parse::<u32>() {
        let text = format!("ns. hostmaster. {serial} 2 3 4 5");
        (APEX.to_owned(), Rtype::SOA, text)
    } else {
        (format!("{word}.{APEX}"), Rtype::A, "192.0.2.1".to_owned())
    };
    let data = Rdata::parse(rtype, &text, &Name::root()).unwrap();
    Record {
        key: HostedKey::plain(Name::parse(&owner).unwrap(), rtype),
        ttl: 300,
        data: Data::Known(data),
    }
}

/// What messages of these words come to, beginning with what is there already.
fn run(base: Option<Content>, messages: &[&str]) -> Result<State, TransferError> {
    let apex = HostedKey::plain(Name::parse(APEX).unwrap(), Rtype::SOA);
    let mut state = State::Start { base };
    for message in messages {
        for word in message.split_whitespace() {
            state = state.step(record(word), &apex)?;
        }
        state = state.end_message()?;
    }
    Ok(state)
}

/// The content as words.
fn told(content: &Content) -> String {
    let word = |(key, records): (&HostedKey, &BTreeMap<Data, u32>)| match key.rtype {
        Rtype::SOA => {
            let soa = records.keys().next().and_then(serial_of).unwrap();
            soa.to_string()
        }
        _ => String::from_utf8_lossy(key.name.labels().next().unwrap()).into_owned(),
    };
    content.sets.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn outcome(base: Option<Content>, messages: &[&str]) -> String {
    match run(base, messages) {
        Ok(State::Done { content }) => told(&content),
        Ok(
            State::Start { .. }
            | State::Opened { .. }
            | State::Whole { .. }
            | State::Deleting { .. }
            | State::Adding { .. },
        ) => "unfinished".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn content(words: &str) -> Content {
    match run(None, &[words]) {
        Ok(State::Done { content }) => content,
        other => panic!("{other:?}"),
    }
}

const GAP: &str = "the differences are not those from the version that was asked for";
const CHANGED: &str = "the zone changed while it was transferred";

#[test]
fn a_whole_zone_begins_and_ends_with_its_soa() {
    let rows: [(&[&str], &str); 11] = [
        (&["1 a b 1"], "1 a b"),
        (&["1", "a", "b", "1"], "1 a b"),
        (&["1 b a b 1"], "1 a b"),
        (&["1 1"], "1"),
        (&[], "unfinished"),
        (&["1"], "unfinished"),
        (&["1 a", "b"], "unfinished"),
        (&["1 a 2"], CHANGED),
        (&["1 2"], CHANGED),
        (&["a 1"], "the transfer does not begin with the zone's SOA"),
        (&["1 a 1 b"], "the transfer goes on after its end"),
    ];
    for (messages, expected) in rows {
        assert_eq!(outcome(None, messages), expected, "{messages:?}");
    }
}

#[test]
fn differences_lead_from_what_is_there_to_what_is_new() {
    let rows: [(&[&str], &str); 17] = [
        // Up to date.
        (&["3"], "3 a b"),
        (&["4 3 a 4 c 4"], "4 b c"),
        (&["4", "3", "a", "4", "c", "4"], "4 b c"),
        (&["5 3 a 4 c 4 b c 5 a 5"], "5 a"),
        (&["4 3 4 4"], "4 a b"),
        // The whole zone instead.
        (&["4 x 4"], "4 x"),
        (&["4", "x", "4"], "4 x"),
        (&["4 4"], "4"),
        (&["4"], "unfinished"),
        (&["4 3 a"], "unfinished"),
        (&["4 3 a 4 c"], "unfinished"),
        // An older version, a foreign start, a missing link, a record that is not there, one that is.
        (&["2"], GAP),
        (&["4 2 a 4 4"], GAP),
        (&["5 3 a 4 5 5"], GAP),
        (&["4 3 x 4 4"], GAP),
        (&["4 3 4 a 4"], GAP),
        (&["4 3 a 4 c 4 d"], "the transfer goes on after its end"),
    ];
    for (messages, expected) in rows {
        let base = content("3 a b 3");
        assert_eq!(outcome(Some(base), messages), expected, "{messages:?}");
    }
}

#[test]
fn serials_run_in_a_circle() {
    let base = || Some(content("4294967295 a 4294967295"));
    assert_eq!(outcome(base(), &["1", "x", "1"]), "1 x");
    assert_eq!(outcome(base(), &["4294967294"]), GAP);
}

#[test]
fn what_makes_no_set_is_held_without_being_understood() {
    let held = |records: &[(Data, u32)]| match held(&records.iter().cloned().collect()) {
        Held::Set(set) => format!("{} {:?}", set.records.ttl(), set.records.data()),
        Held::Opaque(words) => words,
    };
    let known = |rtype, text| Data::Known(Rdata::parse(rtype, text, &Name::root()).unwrap());
    let (one, other) = (known(Rtype::A, "192.0.2.1"), known(Rtype::A, "192.0.2.2"));
    assert_eq!(
        held(&[(one.clone(), 300), (other, 60)]),
        "60 [A 192.0.2.1, A 192.0.2.2]"
    );
    assert_eq!(held(&[(one, u32::MAX)]), "records that cannot be read");
    assert_eq!(
        held(&[(Data::Odd(vec![1]), 300)]),
        "records that cannot be read"
    );
    let aliases = [known(Rtype::CNAME, "a."), known(Rtype::CNAME, "b.")];
    assert_eq!(
        held(&aliases.map(|data| (data, 300))),
        "a name has at most one CNAME record, here are 2"
    );
}
