//! RFC 1034 §4.3.2: how a name server answers. With RFC 4035 §3.1.4.1 on DS.

use std::fmt::Write as _;

use super::{check, check_in};

/// N1.
#[test]
fn a_set_is_answered_whole_and_nothing_else() {
    check(
        "www.example.org. A",
        &[
            "NOERROR aa",
            "an www.example.org. 300 A 192.0.2.1",
            "an www.example.org. 300 A 192.0.2.2",
        ],
    );
    check(
        "_sip._tcp.example.org. SRV",
        &[
            "NOERROR aa",
            "an _sip._tcp.example.org. 300 SRV 0 0 5060 mail.example.org.",
        ],
    );
    check(
        "example.org. MX",
        &["NOERROR aa", "an example.org. 300 MX 10 mail.example.org."],
    );
}

#[test]
fn a_zone_tells_its_soa_with_the_serial_of_the_version() {
    check(
        "example.org. SOA",
        &[
            "NOERROR aa",
            "an example.org. 3600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600",
        ],
    );
}

#[test]
fn name_servers_are_told_with_the_addresses_the_zone_knows() {
    check(
        "example.org. NS",
        &[
            "NOERROR aa",
            "an example.org. 300 NS ns.example.net.",
            "an example.org. 300 NS ns1.example.org.",
            "ad ns1.example.org. 300 A 192.0.2.53",
            "ad ns1.example.org. 300 AAAA 2001:db8::53",
        ],
    );
}

/// The case of the question is kept (0x20), and that of the records is that of the question they point at.
#[test]
fn letters_are_compared_without_case() {
    check(
        "wWw.eXample.ORG. TXT",
        &["NOERROR aa", "an wWw.eXample.ORG. 300 TXT \"hello\""],
    );
}

#[test]
fn names_outside_our_zones_are_refused() {
    for query in ["www.example.com. A", "org. NS", ". NS", "badexample.org. A"] {
        check(query, &["REFUSED"]);
    }
    check(
        "www.example.com. A edns=1232",
        &["REFUSED edns=1232 reason=20"],
    );
    check_in(&[], "example.org. SOA", &["REFUSED"]);
}

#[test]
fn a_chain_of_aliases_is_followed() {
    check(
        "alias2.example.org. TXT",
        &[
            "NOERROR aa",
            "an alias2.example.org. 300 CNAME alias.example.org.",
            "an alias.example.org. 300 CNAME www.example.org.",
            "an www.example.org. 300 TXT \"hello\"",
        ],
    );
    check(
        "alias2.example.org. CNAME",
        &[
            "NOERROR aa",
            "an alias2.example.org. 300 CNAME alias.example.org.",
        ],
    );
}

#[test]
fn a_chain_goes_on_in_another_zone_of_ours() {
    check(
        "abroad.example.org. A",
        &[
            "NOERROR aa",
            "an abroad.example.org. 300 CNAME www.example.net.",
            "an www.example.net. 300 A 192.0.2.90",
        ],
    );
    check(
        "tochild.example.org. A",
        &[
            "NOERROR aa",
            "an tochild.example.org. 300 CNAME www.child.example.org.",
            "an www.child.example.org. 300 A 192.0.2.120",
        ],
    );
}

#[test]
fn a_chain_that_leaves_our_zones_ends_there() {
    check(
        "out.example.org. A",
        &[
            "NOERROR aa",
            "an out.example.org. 300 CNAME www.example.com.",
        ],
    );
}

/// G21, I11.
#[test]
fn a_chain_that_comes_back_ends_there() {
    check(
        "loop1.example.org. A",
        &[
            "NOERROR aa",
            "an loop1.example.org. 300 CNAME loop2.example.org.",
            "an loop2.example.org. 300 CNAME loop1.example.org.",
        ],
    );
    check(
        "self.example.org. A",
        &[
            "NOERROR aa",
            "an self.example.org. 300 CNAME self.example.org.",
        ],
    );
}

/// G21, I11.
#[test]
fn a_long_chain_is_followed_for_sixteen_aliases() {
    let mut text = String::from("$ORIGIN example.org.\n$TTL 1\n@ SOA ns noc 1 2 3 4 5\n");
    for number in 1..=20 {
        writeln!(text, "c{number} CNAME c{}", number + 1).unwrap();
    }
    let lines: Vec<String> = (1..=16)
        .map(|number| {
            format!(
                "an c{number}.example.org. 1 CNAME c{}.example.org.",
                number + 1
            )
        })
        .collect();
    let expected: Vec<&str> = ["NOERROR aa"]
        .into_iter()
        .chain(lines.iter().map(String::as_str))
        .collect();
    check_in(&[&text], "c1.example.org. A", &expected);
}

const SUB: [&str; 5] = [
    "NOERROR",
    "au sub.example.org. 300 NS ns.sub.example.org.",
    "au sub.example.org. 300 NS ns.example.net.",
    "ad ns.sub.example.org. 300 A 192.0.2.100",
    "ad ns.sub.example.org. 300 AAAA 2001:db8::100",
];

#[test]
fn what_is_below_a_cut_is_referred_whatever_the_zone_holds_there() {
    for query in [
        "sub.example.org. NS",
        "sub.example.org. A",
        "sub.example.org. ANY",
        "www.sub.example.org. A",
        "ns.sub.example.org. A",
        "hidden.sub.example.org. TXT",
        "www.sub.example.org. DS",
    ] {
        check(query, &SUB);
    }
}

/// The zone's own data counts as much as glue, below another cut too.
#[test]
fn a_referral_has_all_addresses_the_zone_knows() {
    check(
        "www.sibling.example.org. A",
        &[
            "NOERROR",
            "au sibling.example.org. 300 NS ns.sub.example.org.",
            "au sibling.example.org. 300 NS mail.example.org.",
            "ad ns.sub.example.org. 300 A 192.0.2.100",
            "ad ns.sub.example.org. 300 AAAA 2001:db8::100",
            "ad mail.example.org. 300 A 192.0.2.25",
        ],
    );
}

#[test]
fn an_alias_into_a_delegated_zone_is_answered_and_referred() {
    let mut expected = vec![
        "NOERROR aa",
        "an tosub.example.org. 300 CNAME host.sub.example.org.",
    ];
    expected.extend(&SUB[1..]);
    check("tosub.example.org. A", &expected);
}

#[test]
fn ds_is_answered_above_the_cut() {
    check(
        "sub.example.org. DS",
        &[
            "NOERROR aa",
            "an sub.example.org. 300 DS 60485 13 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A",
        ],
    );
    check(
        "plain.example.org. DS",
        &[
            "NOERROR aa",
            "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600",
        ],
    );
}

/// RFC 4035 §3.1.4.1.
#[test]
fn ds_of_a_zone_of_ours_is_answered_by_its_parent_if_that_is_ours_too() {
    check(
        "child.example.org. DS",
        &[
            "NOERROR aa",
            "an child.example.org. 300 DS 1 13 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A",
        ],
    );
    check(
        "example.net. DS",
        &[
            "NOERROR aa",
            "au example.net. 500 SOA ns.example.net. noc.example.net. 7 7200 3600 1209600 900",
        ],
    );
}

#[test]
fn the_zone_below_a_cut_answers_for_itself_where_it_is_ours() {
    check(
        "child.example.org. NS",
        &[
            "NOERROR aa",
            "an child.example.org. 300 NS ns.child.example.org.",
            "ad ns.child.example.org. 300 A 192.0.2.103",
        ],
    );
}

/// The parent has no such name, so it says so, although the child exists.
#[test]
fn ds_of_a_zone_that_its_parent_does_not_know_does_not_exist() {
    let parent = "example.org. 300 SOA ns.example. noc.example. 1 2 3 4 5\n";
    let child = "b.example.org. 300 SOA ns.example. noc.example. 1 2 3 4 5\n";
    check_in(
        &[parent, child],
        "b.example.org. DS",
        &[
            "NXDOMAIN aa",
            "au example.org. 5 SOA ns.example. noc.example. 1 2 3 4 5",
        ],
    );
}

#[test]
fn the_root_is_a_zone_like_any_other() {
    let root = ". 300 SOA ns. noc. 1 2 3 4 5\norg. 300 NS ns.org.\nns.org. 300 A 192.0.2.1\n";
    check_in(
        &[root],
        "www.example.org. A",
        &[
            "NOERROR",
            "au org. 300 NS ns.org.",
            "ad ns.org. 300 A 192.0.2.1",
        ],
    );
    check_in(
        &[root],
        "com. A",
        &["NXDOMAIN aa", "au . 5 SOA ns. noc. 1 2 3 4 5"],
    );
}
