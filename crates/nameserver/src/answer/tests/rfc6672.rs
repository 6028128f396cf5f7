//! RFC 6672: DNAME.

use super::check;

const SOA: &str =
    "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600";

#[test]
fn a_dname_moves_what_is_below_it() {
    check(
        "www.old.example.org. A",
        &[
            "NOERROR aa",
            "an old.example.org. 300 DNAME new.example.org.",
            "an www.old.example.org. 300 CNAME www.new.example.org.",
            "an www.new.example.org. 300 A 192.0.2.33",
        ],
    );
    check(
        "a.b.old.example.org. A",
        &[
            "NXDOMAIN aa",
            "an old.example.org. 300 DNAME new.example.org.",
            "an a.b.old.example.org. 300 CNAME a.b.new.example.org.",
            SOA,
        ],
    );
}

/// §2.3.
#[test]
fn a_dname_does_not_move_its_own_name() {
    check(
        "old.example.org. DNAME",
        &[
            "NOERROR aa",
            "an old.example.org. 300 DNAME new.example.org.",
        ],
    );
    check(
        "old.example.org. TXT",
        &["NOERROR aa", "an old.example.org. 300 TXT \"moved\""],
    );
    check("old.example.org. A", &["NOERROR aa", SOA]);
}

#[test]
fn the_alias_that_follows_from_a_dname_can_be_asked_for() {
    check(
        "www.old.example.org. CNAME",
        &[
            "NOERROR aa",
            "an old.example.org. 300 DNAME new.example.org.",
            "an www.old.example.org. 300 CNAME www.new.example.org.",
        ],
    );
}

#[test]
fn a_dname_leads_into_another_zone_and_an_alias_into_a_dname() {
    check(
        "www.far.example.org. A",
        &[
            "NOERROR aa",
            "an far.example.org. 300 DNAME example.net.",
            "an www.far.example.org. 300 CNAME www.example.net.",
            "an www.example.net. 300 A 192.0.2.90",
        ],
    );
    check(
        "toold.example.org. A",
        &[
            "NOERROR aa",
            "an toold.example.org. 300 CNAME www.old.example.org.",
            "an old.example.org. 300 DNAME new.example.org.",
            "an www.old.example.org. 300 CNAME www.new.example.org.",
            "an www.new.example.org. 300 A 192.0.2.33",
        ],
    );
}

#[test]
fn a_dname_into_a_delegated_zone_is_answered_and_referred() {
    check(
        "x.there.example.org. A",
        &[
            "NOERROR aa",
            "an there.example.org. 300 DNAME sub.example.org.",
            "an x.there.example.org. 300 CNAME x.sub.example.org.",
            "au sub.example.org. 300 NS ns.sub.example.org.",
            "au sub.example.org. 300 NS ns.example.net.",
            "ad ns.sub.example.org. 300 A 192.0.2.100",
            "ad ns.sub.example.org. 300 AAAA 2001:db8::100",
        ],
    );
}

/// §2.2.
#[test]
fn a_name_that_would_become_too_long_is_told() {
    let long = "x".repeat(60);
    let target = ["a", "b", "c"].map(|letter| letter.repeat(63)).join(".");
    let line = format!("an long.example.org. 300 DNAME {target}.example.com.");
    check(
        &format!("{long}.long.example.org. A"),
        &["YXDOMAIN aa", &line],
    );
}

/// I11: it is told once, and the chain is as bounded as any other.
#[test]
fn a_dname_that_leads_below_itself_is_told_once() {
    check(
        "x.round.example.org. A",
        &[
            "NOERROR aa",
            "an round.example.org. 300 DNAME round.example.org.",
            "an x.round.example.org. 300 CNAME x.round.example.org.",
        ],
    );
    let names: Vec<String> = (0..=16)
        .map(|times| format!("x{}.grow.example.org.", ".more".repeat(times)))
        .collect();
    let chain = names
        .windows(2)
        .map(|pair| format!("an {} 300 CNAME {}", pair[0], pair[1]));
    let mut expected = vec![
        "NOERROR aa".to_owned(),
        "an grow.example.org. 300 DNAME more.grow.example.org.".to_owned(),
    ];
    expected.extend(chain);
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check("x.grow.example.org. A edns=1232 tcp", &{
        let mut with_edns = expected.clone();
        with_edns[0] = "NOERROR aa edns=1232";
        with_edns
    });
}
