//! RFC 2181 §9 and RFC 1035 §4.2.1: answers that do not fit. Sets stay whole.

use std::fmt::Write as _;

use super::check_in;

/// A zone with a set of that many addresses.
pub(super) fn addresses(count: u8) -> String {
    let mut text = String::from("$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc 1 2 3 4 5\n");
    for number in 0..count {
        writeln!(text, "many A 192.0.2.{number}").unwrap();
    }
    text + "alias CNAME many\n"
}

#[test]
fn a_set_that_does_not_fit_is_left_out_whole() {
    let zone = addresses(100);
    check_in(&[&zone], "many.example.org. A", &["NOERROR aa tc"]);
    check_in(
        &[&zone],
        "many.example.org. A edns=4096",
        &["NOERROR aa tc edns=1232"],
    );
}

#[test]
fn sets_before_the_one_that_does_not_fit_are_kept() {
    check_in(
        &[&addresses(100)],
        "alias.example.org. A",
        &[
            "NOERROR aa tc",
            "an alias.example.org. 300 CNAME many.example.org.",
        ],
    );
}

#[test]
fn over_tcp_everything_fits() {
    let lines: Vec<String> = (0..100)
        .map(|number| format!("an many.example.org. 300 A 192.0.2.{number}"))
        .collect();
    let expected: Vec<&str> = ["NOERROR aa"]
        .into_iter()
        .chain(lines.iter().map(String::as_str))
        .collect();
    check_in(&[&addresses(100)], "many.example.org. A tcp", &expected);
}

/// Without EDNS the limit is 512 octets to the octet: 12 of header, 22 of question, 16 for each address.
#[test]
fn the_limit_is_exact() {
    let fits = addresses(29);
    let lines: Vec<String> = (0..29)
        .map(|number| format!("an many.example.org. 300 A 192.0.2.{number}"))
        .collect();
    let expected: Vec<&str> = ["NOERROR aa"]
        .into_iter()
        .chain(lines.iter().map(String::as_str))
        .collect();
    check_in(&[&fits], "many.example.org. A", &expected);
    check_in(&[&addresses(30)], "many.example.org. A", &["NOERROR aa tc"]);
}

/// A denial whose SOA does not fit says no more than its code.
#[test]
fn an_soa_that_does_not_fit_is_left_out() {
    let long = |letters: [&str; 3]| letters.map(|letter| letter.repeat(63)).join(".");
    let (mname, rname) = (long(["a", "b", "c"]), long(["d", "e", "f"]));
    let zone = format!("example.org. 300 SOA {mname}. {rname}. 1 2 3 4 5\n");
    let name = long(["x", "y", "z"]);
    check_in(
        &[&zone],
        &format!("{name}.example.org. A"),
        &["NXDOMAIN aa tc"],
    );
}
