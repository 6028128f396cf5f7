//! RFC 8482 §4.1: one set is answer enough for ANY. As Knot does, it is the one with the lowest type.

use super::check;

#[test]
fn any_type_is_the_lowest_there_is() {
    check(
        "www.example.org. ANY",
        &[
            "NOERROR aa",
            "an www.example.org. 300 A 192.0.2.1",
            "an www.example.org. 300 A 192.0.2.2",
        ],
    );
    check(
        "x.wild.example.org. ANY",
        &["NOERROR aa", "an x.wild.example.org. 300 A 192.0.2.77"],
    );
    check(
        "child.example.org. ANY",
        &[
            "NOERROR aa",
            "an child.example.org. 300 NS ns.child.example.org.",
            "ad ns.child.example.org. 300 A 192.0.2.103",
        ],
    );
}

#[test]
fn the_soa_counts_like_any_other_set() {
    let soa = "SOA ns.example. noc.example. 1 2 3 4 5";
    let with = |more: &str| format!("example.org. 300 {soa}\n{more}");
    let line = format!("an example.org. 300 {soa}");
    for more in ["", "example.org. 300 TXT x\n"] {
        super::check_in(&[&with(more)], "example.org. ANY", &["NOERROR aa", &line]);
    }
    super::check_in(
        &[&with("example.org. 300 A 192.0.2.1\n")],
        "example.org. ANY",
        &["NOERROR aa", "an example.org. 300 A 192.0.2.1"],
    );
}

#[test]
fn an_alias_is_an_answer_to_any_and_is_not_followed() {
    check(
        "alias.example.org. ANY",
        &[
            "NOERROR aa",
            "an alias.example.org. 300 CNAME www.example.org.",
        ],
    );
}

#[test]
fn any_below_a_dname_is_the_answer_of_where_it_leads() {
    check(
        "www.old.example.org. ANY",
        &[
            "NOERROR aa",
            "an old.example.org. 300 DNAME new.example.org.",
            "an www.old.example.org. 300 CNAME www.new.example.org.",
            "an www.new.example.org. 300 A 192.0.2.33",
        ],
    );
}
