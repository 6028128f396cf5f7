//! Octets that are no query, or a bad one (G51 to G59). All get an answer but those that could start an endless
//! conversation.

use proptest::prelude::*;

use super::*;

const HELLO: &str = "an www.example.org. 300 TXT \"hello\"";

/// A header with these counts, and what follows it.
fn message(counts: [u16; 4], rest: &[u8]) -> Vec<u8> {
    let mut octets = vec![0x12, 0x34, 0, 0];
    octets.extend(counts.into_iter().flat_map(u16::to_be_bytes));
    octets.extend(rest);
    octets
}

/// `www.example.org. TXT` as a question.
fn question() -> Vec<u8> {
    b"\x03www\x07example\x03org\x00\x00\x10\x00\x01".to_vec()
}

/// An address record that nobody asked for.
const RECORD: &[u8] = b"\x01a\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04abcd";

#[track_caller]
fn check(octets: &[u8], expected: &[&str]) {
    let answer = ask(octets, Transport::Tcp, &USUAL).expect("an answer");
    assert_eq!(show(&answer), expected);
}

/// G51.
#[test]
fn what_is_shorter_than_a_header_is_dropped() {
    let query = compose("www.example.org. TXT");
    for length in 0..12 {
        assert_eq!(ask(&query[..length], Transport::Udp, &USUAL), None);
    }
}

/// G56: two servers that answer answers would never stop.
#[test]
fn answers_are_dropped() {
    let mut query = compose("www.example.org. TXT");
    query[2] |= 0x80;
    assert_eq!(ask(&query, Transport::Udp, &USUAL), None);
}

/// G51.
#[test]
fn a_query_that_ends_too_soon_is_a_format_error() {
    let query = compose("www.example.org. TXT edns=1232");
    for length in 12..query.len() {
        let answer = ask(&query[..length], Transport::Udp, &USUAL).unwrap();
        assert_eq!(show(&answer), ["FORMERR"], "{length} octets");
    }
}

/// G52.
#[test]
fn there_is_exactly_one_question() {
    let two = [question(), question()].concat();
    for (count, rest) in [
        (0, &[][..]),
        (2, &two),
        (2, &question()),
        (65_535, &question()),
    ] {
        check(&message([count, 0, 0, 0], rest), &["FORMERR"]);
    }
    let opt = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";
    check(&message([0, 0, 0, 1], opt), &["FORMERR edns=1232"]);
}

/// G53, G54.
#[test]
fn a_name_that_is_none_is_a_format_error() {
    let long = b"\x3faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(4);
    let labels = b"\x01a".repeat(128);
    let names: [&[u8]; 9] = [
        b"\xc0\x0c",
        b"\xc0\x20",
        b"\xff\xff",
        b"\xc0\x04",
        b"\x03www\xc0\x04",
        b"\x41a\x00",
        b"\x81a\x00",
        &[&long[..], b"\x00"].concat(),
        &[&labels[..], b"\x00"].concat(),
    ];
    for name in names {
        let rest = [name, b"\x00\x10\x00\x01", &[0; 32]].concat();
        check(&message([1, 0, 0, 0], &rest), &["FORMERR"]);
    }
}

/// G53: names of records may be compressed, and a chain of pointers ends.
#[test]
fn pointers_in_records_are_followed_for_a_while() {
    let record = |owner: &[u8]| [owner, b"\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04abcd"].concat();
    let good = [question(), record(b"\xc0\x0c")].concat();
    check(&message([1, 0, 0, 1], &good), &["NOERROR aa", HELLO]);
    for owner in [b"\xc0\x21", b"\xc0\xff", b"\xff\xff"] {
        let bad = [question(), record(owner)].concat();
        check(&message([1, 0, 0, 1], &bad), &["FORMERR"]);
    }
}

#[test]
fn records_nobody_asked_for_are_passed_over() {
    for counts in [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]] {
        let octets = message(counts, &[&question()[..], RECORD].concat());
        check(&octets, &["NOERROR aa", HELLO]);
        check(&message(counts, &question()), &["FORMERR"]);
    }
    let octets = [question(), b"trailing octets".to_vec()].concat();
    check(&message([1, 0, 0, 0], &octets), &["NOERROR aa", HELLO]);
}

/// I11: a message full of records would be followed through all its names.
#[test]
fn a_query_has_few_records() {
    for (count, expected) in [(8, &["NOERROR aa", HELLO][..]), (9, &["FORMERR"])] {
        let octets = [question(), RECORD.repeat(count.into())].concat();
        check(&message([1, 0, 0, count], &octets), expected);
    }
}

/// G59: nobody's key is known here. The answer is not signed, and says so.
#[test]
fn a_signed_query_is_told_that_its_key_is_unknown() {
    let query = [question(), tsig(32)].concat();
    let answer = ask(&message([1, 0, 0, 1], &query), Transport::Udp, &USUAL).unwrap();
    assert_eq!(
        show(&answer),
        [
            "NOTAUTH",
            "ad key. 0 TSIG hmac-sha256. 1778384896 300  4660 BADKEY(17) \"\""
        ]
    );
}

/// G59.
#[test]
fn a_signature_comes_last_and_once_and_is_whole() {
    let opt = b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";
    let signed_twice = [question(), tsig(32), tsig(32)].concat();
    let not_last = [question(), tsig(32), opt.to_vec()].concat();
    check(&message([1, 0, 0, 2], &signed_twice), &["FORMERR"]);
    check(&message([1, 0, 0, 2], &not_last), &["FORMERR"]);
    let mut wrong_length = tsig(32);
    let at = wrong_length.len() - 39;
    wrong_length[at] = 33;
    check(
        &message([1, 0, 0, 1], &[question(), wrong_length].concat()),
        &["FORMERR"],
    );
}

/// A TSIG record with a MAC of that many octets.
fn tsig(mac: u16) -> Vec<u8> {
    let mut data = b"\x0bhmac-sha256\x00\x00\x00\x6a\x00\x00\x00\x01\x2c".to_vec();
    data.extend(mac.to_be_bytes());
    data.extend(vec![7; usize::from(mac)]);
    data.extend(b"\x12\x34\x00\x00\x00\x00");
    let mut record = b"\x03key\x00\x00\xfa\x00\xff\x00\x00\x00\x00".to_vec();
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// One octet changed, or some cut off, or anything at all behind a header: there is an answer, it can be read, and
    /// it is ours.
    #[test]
    fn no_octets_make_it_panic(
        at in 0_usize..60, value: u8, length in 0_usize..70, noise in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut query = compose("x.sub.example.org. NS edns=1232");
        if at < query.len() {
            query[at] = value;
        }
        query.truncate(length.max(12));
        query.extend(noise);
        query[2] &= 0x7f;
        let answer = ask(&query, Transport::Udp, &USUAL).expect("an answer");
        prop_assert_eq!(&answer[..2], &query[..2]);
        prop_assert!(answer.len() <= 1232);
        Message::from_slice(&answer).unwrap().sections().unwrap();
    }
}
