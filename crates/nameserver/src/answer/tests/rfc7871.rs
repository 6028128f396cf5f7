//! RFC 7871: the network that a question is asked for.

use super::routing::routed;
use super::*;

const GEO: &str = "
    www 60 A 203.0.113.1 set=ie geo=IE
    www 61 A 203.0.113.2 set=eu geo=GEO-EU
    www 62 A 203.0.113.3 set=rest geo=*
    plain 60 A 203.0.113.4
    weight 60 A 203.0.113.5 set=one
";

const IRELAND: &str = "an www.example.org. 60 A 203.0.113.1";
const EUROPE: &str = "an www.example.org. 61 A 203.0.113.2";
const REST: &str = "an www.example.org. 62 A 203.0.113.3";

/// The client is in Ireland; the question is asked for a subnet. What is told back ends with the length of the network that
/// the database has for it.
#[test]
fn the_subnet_counts_instead_of_the_address() {
    let zones = routed(GEO);
    for (subnet, scope, answer) in [
        ("198.51.100.0/25", 25, EUROPE),
        ("198.51.100.128/25", 25, REST),
        ("192.0.2.0/24", 24, IRELAND),
        // A database that knows more than it was told says so.
        ("192.0.0.0/16", 23, REST),
        ("2001:db8::/56", 32, IRELAND),
        ("203.0.113.0/24", 5, REST),
    ] {
        let query = format!("www.example.org. A edns=1232 subnet={subnet}");
        let first = format!("NOERROR aa edns=1232 subnet={subnet}/{scope}");
        check_with(&zones, &query, &[&first, answer]);
    }
    check_with(&zones, "www.example.org. A", &["NOERROR aa", IRELAND]);
    check_with(
        &zones,
        "www.example.org. A edns=1232",
        &["NOERROR aa edns=1232", IRELAND],
    );
}

/// §7.1.2.
#[test]
fn a_subnet_of_no_bits_asks_not_to_look() {
    let first = "NOERROR aa edns=1232 subnet=0.0.0.0/0/0";
    check_with(
        &routed(GEO),
        "www.example.org. A edns=1232 subnet=0.0.0.0/0",
        &[first, REST],
    );
}

/// §7.2.1: resolvers may keep an answer for everyone that is one for everyone.
#[test]
fn an_answer_that_no_place_decided_is_for_everyone() {
    let zones = routed(GEO);
    let first = "NOERROR aa edns=1232 subnet=192.0.2.0/24/0";
    for (name, answer) in [
        ("plain", "an plain.example.org. 60 A 203.0.113.4"),
        ("weight", "an weight.example.org. 60 A 203.0.113.5"),
    ] {
        let query = format!("{name}.example.org. A edns=1232 subnet=192.0.2.0/24");
        check_with(&zones, &query, &[first, answer]);
    }
    check_with(
        &zones.knowing(None),
        "www.example.org. A edns=1232 subnet=192.0.2.0/24",
        &[first, REST],
    );
}

/// §6, §7.2.1: octets of the option, all of which are a fault.
#[test]
fn a_subnet_that_is_none_is_a_format_error() {
    let cases: [(&str, &[u8]); 9] = [
        ("nothing", &[]),
        ("an unknown family", &[0, 3, 8, 0, 1]),
        ("too many bits", &[0, 1, 33, 0, 192, 0, 2, 1, 1]),
        ("too few octets", &[0, 1, 24, 0, 192, 0]),
        ("too many octets", &[0, 1, 24, 0, 192, 0, 2, 0]),
        ("bits beyond its length", &[0, 1, 23, 0, 192, 0, 3]),
        ("a scope", &[0, 1, 24, 24, 192, 0, 2]),
        ("octets behind no bits", &[0, 1, 0, 0, 1]),
        ("half a header", &[0, 1, 24]),
    ];
    for (what, data) in cases {
        let answer = ask(&with_subnets(&[data]), Transport::Udp, &routed(GEO)).unwrap();
        assert_eq!(show(&answer), ["FORMERR edns=1232"], "{what}");
    }
    let good: &[u8] = &[0, 1, 24, 0, 192, 0, 2];
    let twice = ask(&with_subnets(&[good, good]), Transport::Udp, &routed(GEO)).unwrap();
    assert_eq!(show(&twice), ["FORMERR edns=1232"], "one is enough");
    let once = ask(&with_subnets(&[good]), Transport::Udp, &routed(GEO)).unwrap();
    assert_eq!(show(&once)[1], IRELAND);
}

/// The option has its room like everything else in an answer.
#[test]
fn an_answer_with_a_subnet_stays_within_its_limit() {
    let lines = (0..60).map(|it| format!("many 60 A 203.0.113.{it}\n"));
    let zones = routed(&lines.collect::<String>());
    for payload in 512..=1232 {
        let query = format!("many.example.org. A edns={payload} subnet=2001:db8::/128");
        let octets = compose(&query);
        let answer = ask(&octets, Transport::Udp, &zones).unwrap();
        assert!(answer.len() <= payload, "{payload}: {}", answer.len());
        assert!(show(&answer)[0].contains("subnet=2001:db8::/128/0"));
    }
}

/// A question for `www.example.org. A` with options of the test's own.
fn with_subnets(subnets: &[&[u8]]) -> Vec<u8> {
    let options = subnets.iter().flat_map(|data| {
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        [&[0, 8][..], &length, data].concat()
    });
    let options: Vec<u8> = options.collect();
    let mut octets = compose("www.example.org. A edns=1232");
    octets.truncate(octets.len() - 2);
    octets.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
    octets.extend(options);
    octets
}
