//! RFC 5936, RFC 1995: transfers are not for strangers.

use super::check;

/// N4, G58.
#[test]
fn a_transfer_of_a_zone_of_ours_is_refused() {
    check(
        "example.org. AXFR tcp edns=1232",
        &["REFUSED edns=1232 reason=18"],
    );
    check("example.org. AXFR tcp", &["REFUSED"]);
    check("example.org. IXFR tcp", &["REFUSED"]);
    check("example.org. IXFR", &["REFUSED"]);
}

#[test]
fn there_is_no_transfer_of_a_whole_zone_over_udp() {
    check("example.org. AXFR", &["NOTIMP"]);
    check("example.com. AXFR", &["NOTIMP"]);
}

#[test]
fn what_is_no_zone_of_ours_cannot_be_transferred() {
    for query in [
        "www.example.org. AXFR tcp",
        "example.com. AXFR tcp",
        "www.example.org. IXFR",
    ] {
        check(query, &["NOTAUTH"]);
    }
}
