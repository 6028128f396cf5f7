//! RFC 9471: a referral that loses in-domain glue is truncated; other addresses are a courtesy.

use std::fmt::Write as _;

use super::check_in;

/// A zone that delegates `sub` to servers in it and servers beside it.
fn delegation(within: u8, beside: u8) -> String {
    let mut text = String::from("$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc 1 2 3 4 5\n");
    for number in 0..within {
        writeln!(
            text,
            "sub NS ns{number:03}.sub\nns{number:03}.sub A 192.0.2.{number}"
        )
        .unwrap();
    }
    for number in 0..beside {
        writeln!(
            text,
            "sub NS z{number:03}\nz{number:03} A 198.51.100.{number}"
        )
        .unwrap();
    }
    text
}

fn expected(first: &str, servers: (u8, u8), addresses: (u8, u8)) -> Vec<String> {
    let beside = (0..servers.1)
        .map(|number| format!("au sub.example.org. 300 NS z{number:03}.example.org."));
    let within = (0..servers.0)
        .map(|number| format!("au sub.example.org. 300 NS ns{number:03}.sub.example.org."));
    let glue = (0..addresses.0)
        .map(|number| format!("ad ns{number:03}.sub.example.org. 300 A 192.0.2.{number}"));
    let others = (0..addresses.1)
        .map(|number| format!("ad z{number:03}.example.org. 300 A 198.51.100.{number}"));
    [first.to_owned()]
        .into_iter()
        .chain(beside)
        .chain(within)
        .chain(glue)
        .chain(others)
        .collect()
}

#[track_caller]
fn check(servers: (u8, u8), first: &str, addresses: (u8, u8)) {
    let lines = expected(first, servers, addresses);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check_in(
        &[&delegation(servers.0, servers.1)],
        "www.sub.example.org. A",
        &lines,
    );
}

#[test]
fn all_addresses_are_told_where_they_fit() {
    check((3, 2), "NOERROR", (3, 2));
}

#[test]
fn a_referral_without_some_of_its_glue_is_truncated() {
    check((17, 0), "NOERROR tc", (8, 0));
}

#[test]
fn addresses_beside_the_cut_are_left_out_first_and_are_not_missed() {
    check((2, 14), "NOERROR", (2, 8));
}

#[test]
fn a_referral_whose_servers_do_not_fit_is_empty() {
    check_in(
        &[&delegation(40, 0)],
        "www.sub.example.org. A",
        &["NOERROR tc"],
    );
}
