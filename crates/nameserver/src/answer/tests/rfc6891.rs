//! RFC 6891: EDNS.

use super::*;

const HELLO: &str = "an www.example.org. 300 TXT \"hello\"";

/// Question `www.example.org. TXT` with an OPT record of the test's own.
fn with_opt(version: u8, flags: u16, options: &[u8]) -> Vec<u8> {
    let mut octets = compose("www.example.org. TXT edns=1232");
    octets.truncate(octets.len() - 6);
    octets.extend([0, version]);
    octets.extend(flags.to_be_bytes());
    octets.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
    octets.extend(options);
    octets
}

#[track_caller]
fn check_opt(octets: &[u8], expected: &[&str]) {
    let answer = ask(octets, Transport::Udp, &USUAL).unwrap();
    assert_eq!(show(&answer), expected);
}

#[test]
fn edns_is_answered_with_edns_and_only_then() {
    check("www.example.org. TXT", &["NOERROR aa", HELLO]);
    check(
        "www.example.org. TXT edns=4096",
        &["NOERROR aa edns=1232", HELLO],
    );
    check(
        "www.example.org. TXT edns=0 do",
        &["NOERROR aa edns=1232 do", HELLO],
    );
}

/// §6.1.3: not even the question is looked at.
#[test]
fn a_version_that_does_not_exist_yet_is_told_the_one_that_does() {
    for version in [1, 255] {
        check_opt(&with_opt(version, 0, &[]), &["BADVERS edns=1232"]);
    }
}

/// G55.
#[test]
fn options_and_flags_nobody_knows_are_ignored() {
    let unknown = [0xfd, 0xe9, 0, 2, b'a', b'b'];
    let nsid = [0, 3, 0, 0];
    let cookie = [0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
    for options in [&unknown[..], &nsid, &cookie, &[unknown, unknown].concat()] {
        check_opt(&with_opt(0, 0, options), &["NOERROR aa edns=1232", HELLO]);
    }
    check_opt(&with_opt(0, 0x7fff, &[]), &["NOERROR aa edns=1232", HELLO]);
    check_opt(
        &with_opt(0, 0xffff, &[]),
        &["NOERROR aa edns=1232 do", HELLO],
    );
}

/// G55.
#[test]
fn an_opt_record_that_is_wrong_is_a_format_error() {
    let whole = with_opt(0, 0, &[]);
    let opt = whole[whole.len() - 11..].to_vec();
    let base = &whole[..whole.len() - 11];
    let counted = |answer, authority, additional, octets: &[u8]| {
        let mut message = [base, octets].concat();
        message[7] = answer;
        message[9] = authority;
        message[11] = additional;
        message
    };
    check_opt(&counted(0, 0, 2, &[&opt[..], &opt].concat()), &["FORMERR"]);
    check_opt(&counted(1, 0, 0, &opt), &["FORMERR"]);
    check_opt(&counted(0, 1, 0, &opt), &["FORMERR"]);
    check_opt(
        &counted(0, 0, 1, &[b"\x01a", &opt[..]].concat()),
        &["FORMERR"],
    );
    check_opt(&counted(0, 0, 1, &opt[..10]), &["FORMERR"]);
    check_opt(&with_opt(0, 0, &[0, 3, 0, 9]), &["FORMERR"]);
    check_opt(&with_opt(0, 0, &[0, 3, 0]), &["FORMERR"]);
}

/// The record that makes room for itself: an answer with OPT is never longer than one may be.
#[test]
fn opt_counts_against_the_limit() {
    for count in 20..80 {
        let zone = rfc2181::addresses(count);
        let zones = zones(&[&zone]);
        for payload in [0, 512, 513, 600, 1231, 1232, 4096] {
            let octets = compose(&format!("many.example.org. A edns={payload}"));
            let answer = ask(&octets, Transport::Udp, &zones).unwrap();
            let limit = payload.clamp(512, 1232);
            assert!(answer.len() <= limit, "{} > {limit}", answer.len());
            let whole = 34 + usize::from(count) * 16 + 11;
            let message = Message::from_slice(&answer).unwrap();
            assert_eq!(message.header().tc(), whole > limit, "{whole} of {limit}");
        }
    }
}
