//! RFC 8906: bits, types, classes and opcodes nobody expects must get an answer all the same.

use domain::base::iana::Opcode;

use super::*;

const HELLO: &str = "an www.example.org. 300 TXT \"hello\"";
const SOA: &str =
    "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600";

/// G56. §3.1: no recursion is offered, and nothing is vouched for.
#[test]
fn only_rd_comes_back() {
    check("www.example.org. TXT rd", &["NOERROR aa rd", HELLO]);
    check("www.example.org. TXT ad cd", &["NOERROR aa", HELLO]);
    let mut octets = compose("www.example.org. TXT");
    for bits in [
        0x0400_u16, 0x0200, 0x0080, 0x0040, 0x0020, 0x0010, 0x000f, 0x06ff,
    ] {
        octets[2..4].copy_from_slice(&bits.to_be_bytes());
        let answer = ask(&octets, Transport::Udp, &USUAL).unwrap();
        assert_eq!(show(&answer), ["NOERROR aa", HELLO], "{bits:#06x}");
    }
}

/// §3.1.2: a type we have not heard of is a type that is not there.
#[test]
fn unknown_types_are_looked_up_like_any_other() {
    check(
        "private.example.org. TYPE65280",
        &[
            "NOERROR aa",
            "an private.example.org. 300 TYPE65280 \\# 3 ab cd ef",
        ],
    );
    for rtype in [
        "TYPE1000",
        "TYPE0",
        "TYPE65535",
        "OPT",
        "TSIG",
        "TKEY",
        "MAILB",
        "TYPE128",
    ] {
        check(&format!("www.example.org. {rtype}"), &["NOERROR aa", SOA]);
    }
}

/// G56: CHAOS is among the classes we serve nothing in.
#[test]
fn other_classes_are_refused() {
    for query in [
        "version.bind. TXT CH",
        "version.server. TXT CH",
        "id.server. TXT CH",
        "hostname.bind. TXT CH",
        "www.example.org. A CH",
        "www.example.org. A HS",
        "www.example.org. A CLASS0",
        "www.example.org. A CLASS254",
    ] {
        check(query, &["REFUSED"]);
    }
}

/// RFC 1035 §6.2: nobody is an authority on all classes at once, and so nobody can say for how long a name is not there.
#[test]
fn any_class_is_answered_without_authority() {
    check("www.example.org. TXT CLASS255", &["NOERROR", HELLO]);
    check("nosuch.example.org. A CLASS255", &["NXDOMAIN"]);
    check("www.example.org. MX CLASS255", &["NOERROR"]);
    check(
        "plain.example.org. A CLASS255",
        &[
            "NOERROR",
            "au plain.example.org. 300 NS ns.plain.example.org.",
            "ad ns.plain.example.org. 300 A 192.0.2.102",
        ],
    );
}

/// G56, G58: NOTIFY and UPDATE from strangers among them. The header is all there is to say.
#[test]
fn other_opcodes_are_not_implemented_and_notify_is_refused() {
    for number in 1..16 {
        let mut octets = compose("example.org. SOA edns=1232");
        octets[2] = number << 3;
        let answer = ask(&octets, Transport::Udp, &USUAL).unwrap();
        let rcode = if Opcode::from_int(number) == Opcode::NOTIFY {
            "REFUSED"
        } else {
            "NOTIMP"
        };
        assert_eq!(show(&answer), [rcode], "opcode {number}");
        assert_eq!(answer.len(), 12);
        assert_eq!(answer[2] >> 3, 0b10000 | number, "the opcode is repeated");
    }
}

/// RFC 4035 §3.1.1: what DNSSEC says about an alias is not found where it leads.
#[test]
fn dnssec_types_do_not_follow_aliases() {
    check("alias.example.org. NSEC", &["NOERROR aa", SOA]);
    check("alias.example.org. RRSIG", &["NOERROR aa", SOA]);
}
