//! Words into questions.

use clap::Parser as _;

use super::*;
use crate::args::{Args, Command};

/// What the words after `zonewright query` ask, as `name type server`.
fn asked(words: &str) -> Result<String, String> {
    let words = ["zonewright", "query"].into_iter().chain(words.split(' '));
    let args = Args::try_parse_from(words).map_err(|error| error.to_string())?;
    let Command::Query(query) = args.command else {
        panic!("{:?}", args.command);
    };
    let Inquiry {
        name,
        rtype,
        server,
    } = query.inquiry()?;
    Ok(format!("{name} {rtype} {server}"))
}

#[test]
fn name_type_and_server_are_told_apart_in_any_order() {
    for (words, question) in [
        ("example.org", "example.org. A 127.0.0.1:1053"),
        ("example.org. mx", "example.org. MX 127.0.0.1:1053"),
        ("example.org @192.0.2.1", "example.org. A 192.0.2.1:53"),
        (
            "@192.0.2.1 example.org txt",
            "example.org. TXT 192.0.2.1:53",
        ),
        (
            "example.org @192.0.2.1 TXT",
            "example.org. TXT 192.0.2.1:53",
        ),
        ("mx", "mx. A 127.0.0.1:1053"),
        (". NS", ". NS 127.0.0.1:1053"),
    ] {
        assert_eq!(asked(words).as_deref(), Ok(question), "{words}");
    }
}

#[test]
fn names_may_be_written_as_people_write_them() {
    for (name, canonical) in [
        ("WWW.Example.ORG", "www.example.org."),
        ("bücher.example", "xn--bcher-kva.example."),
        ("_sip._tcp.example.org", "_sip._tcp.example.org."),
        ("*.example.org", "*.example.org."),
        (r"a\.b.example.org", r"a\.b.example.org."),
        ("1/25.2.0.192.in-addr.arpa", "1/25.2.0.192.in-addr.arpa."),
    ] {
        assert_eq!(
            asked(name),
            Ok(format!("{canonical} A 127.0.0.1:1053")),
            "{name}"
        );
    }
}

#[test]
fn types_are_mnemonics_or_numbers() {
    for (word, rtype) in [
        ("aaaa", "AAAA"),
        ("TYPE1", "A"),
        ("type65280", "TYPE65280"),
        ("any", "ANY"),
    ] {
        assert_eq!(
            asked(&format!("a {word}")),
            Ok(format!("a. {rtype} 127.0.0.1:1053"))
        );
    }
}

#[test]
fn servers_are_hosts_or_addresses_with_or_without_a_port() {
    for (server, shown) in [
        ("127.0.0.1:5353", "127.0.0.1:5353"),
        ("localhost", "localhost:53"),
        ("ns1.example.org:5353", "ns1.example.org:5353"),
        ("[::1]:5353", "[::1]:5353"),
        ("[2001:db8::1]", "[2001:db8::1]:53"),
        ("::1", "[::1]:53"),
    ] {
        assert_eq!(asked(&format!("a @{server}")), Ok(format!("a. A {shown}")));
    }
}

#[test]
fn what_makes_no_question_is_refused_with_the_reason() {
    for (words, reason) in [
        ("@127.0.0.1", "there is no name to ask for"),
        ("a b..c", "is no record type"),
        (
            "a..b",
            "\"a..b\" is no name: a name must not have an empty label",
        ),
        ("a A b", "\"b\" is one word too many"),
        (
            "a @::1 @::2",
            "one server is asked, and @[::2]:53 is a second",
        ),
        ("a axfr", "AXFR is a transfer, not a question"),
        ("a OPT", "OPT cannot be asked for"),
        ("a @", "write a name server such as"),
        ("a @1.2.3.4:0", "write a name server such as"),
        ("a @1.2.3.4:dns", "write a name server such as"),
        ("a @[::1]53", "write a name server such as"),
        ("a @[127.0.0.1]:53", "write a name server such as"),
        ("a @b_c", "write a name server such as"),
    ] {
        let message = asked(words).unwrap_err();
        assert!(message.contains(reason), "{words}: {message}");
    }
}
