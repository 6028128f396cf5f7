//! RFC 4592: what wildcards speak for.

use super::check;

const SOA: &str =
    "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600";

#[test]
fn a_wildcard_speaks_for_every_name_below_that_does_not_exist() {
    for name in ["x.wild.example.org.", "a.b.wild.example.org."] {
        let line = format!("an {name} 300 A 192.0.2.77");
        check(&format!("{name} A"), &["NOERROR aa", &line]);
    }
    check(
        "x.wild.example.org. MX",
        &[
            "NOERROR aa",
            "an x.wild.example.org. 300 MX 10 mail.example.org.",
        ],
    );
    check("x.wild.example.org. TXT", &["NOERROR aa", SOA]);
}

/// §2.2.1, §3.3.1.
#[test]
fn a_wildcard_does_not_speak_for_names_that_exist_nor_below_them() {
    check("here.wild.example.org. A", &["NOERROR aa", SOA]);
    check("x.here.wild.example.org. A", &["NXDOMAIN aa", SOA]);
    check("ent.wild.example.org. A", &["NOERROR aa", SOA]);
    check("x.ent.wild.example.org. A", &["NXDOMAIN aa", SOA]);
    check("wild.example.org. A", &["NOERROR aa", SOA]);
}

#[test]
fn a_wildcard_can_be_asked_for_by_its_own_name() {
    check(
        "*.wild.example.org. A",
        &["NOERROR aa", "an *.wild.example.org. 300 A 192.0.2.77"],
    );
    check("x.*.wild.example.org. A", &["NXDOMAIN aa", SOA]);
    check("*.*.wild.example.org. A", &["NXDOMAIN aa", SOA]);
}

#[test]
fn a_cut_below_a_wildcard_is_a_cut() {
    check(
        "x.sub.wild.example.org. A",
        &["NOERROR", "au sub.wild.example.org. 300 NS ns.example.net."],
    );
}

#[test]
fn a_wildcard_can_be_an_alias() {
    check(
        "a.b.calias.example.org. TXT",
        &[
            "NOERROR aa",
            "an a.b.calias.example.org. 300 CNAME www.example.org.",
            "an www.example.org. 300 TXT \"hello\"",
        ],
    );
    check(
        "y.cloop.example.org. A",
        &[
            "NOERROR aa",
            "an y.cloop.example.org. 300 CNAME x.cloop.example.org.",
            "an x.cloop.example.org. 300 CNAME x.cloop.example.org.",
        ],
    );
}

/// §2.2.3: the source of synthesis exists, and has nothing.
#[test]
fn a_wildcard_that_is_an_empty_non_terminal_has_no_data_for_anyone() {
    check("x.void.example.org. TXT", &["NOERROR aa", SOA]);
    check("a.x.void.example.org. TXT", &["NOERROR aa", SOA]);
    check(
        "a.*.void.example.org. TXT",
        &["NOERROR aa", "an a.*.void.example.org. 300 TXT \"x\""],
    );
}

#[test]
fn a_wildcard_gives_addresses_to_name_servers() {
    check(
        "www.bywild.example.org. A",
        &[
            "NOERROR",
            "au bywild.example.org. 300 NS server.wild.example.org.",
            "ad server.wild.example.org. 300 A 192.0.2.77",
        ],
    );
}
