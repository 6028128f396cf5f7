//! RFC 2308: how to say that there is nothing, and for how long.

use super::check;

const SOA: &str =
    "au example.org. 600 SOA ns1.example.org. noc.example.org. 2026010100 7200 3600 1209600 600";
const SOA_ABROAD: &str =
    "au example.net. 500 SOA ns.example.net. noc.example.net. 7 7200 3600 1209600 900";

#[test]
fn a_name_that_does_not_exist_is_denied_with_the_soa() {
    check("nosuch.example.org. A", &["NXDOMAIN aa", SOA]);
    check("a.nosuch.example.org. A", &["NXDOMAIN aa", SOA]);
    check("x.www.example.org. A", &["NXDOMAIN aa", SOA]);
}

#[test]
fn a_type_that_does_not_exist_is_denied_with_the_soa() {
    check("www.example.org. MX", &["NOERROR aa", SOA]);
    check("example.org. TXT", &["NOERROR aa", SOA]);
}

/// §3: the lower of the SOA's TTL and its minimum; the two zones have it the other way round.
#[test]
fn a_denial_may_be_kept_for_the_lower_of_two_times() {
    check("nosuch.example.org. A", &["NXDOMAIN aa", SOA]);
    check("nosuch.example.net. A", &["NXDOMAIN aa", SOA_ABROAD]);
}

/// §2.1: the code is that of the last name.
#[test]
fn the_end_of_a_chain_decides() {
    check(
        "gone.example.org. A",
        &[
            "NXDOMAIN aa",
            "an gone.example.org. 300 CNAME nosuch.example.org.",
            SOA,
        ],
    );
    check(
        "gone2.example.org. A",
        &[
            "NXDOMAIN aa",
            "an gone2.example.org. 300 CNAME nosuch.example.net.",
            SOA_ABROAD,
        ],
    );
    check(
        "alias.example.org. MX",
        &[
            "NOERROR aa",
            "an alias.example.org. 300 CNAME www.example.org.",
            SOA,
        ],
    );
}
