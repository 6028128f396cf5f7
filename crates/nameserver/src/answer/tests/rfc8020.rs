//! RFC 8020: names that are there only because something is below them exist.

use super::check;

const SOA: &str =
    "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600";

#[test]
fn an_empty_non_terminal_exists_and_has_nothing() {
    for query in [
        "b.c.example.org. A",
        "c.example.org. TXT",
        "c.example.org. ANY",
    ] {
        check(query, &["NOERROR aa", SOA]);
    }
    check(
        "a.b.c.example.org. TXT",
        &["NOERROR aa", "an a.b.c.example.org. 300 TXT \"deep\""],
    );
}

#[test]
fn below_a_name_that_does_not_exist_nothing_exists() {
    check("x.c.example.org. A", &["NXDOMAIN aa", SOA]);
    check("x.y.z.c.example.org. A", &["NXDOMAIN aa", SOA]);
}
