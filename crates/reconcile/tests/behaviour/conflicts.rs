//! Records that do not go together (R6, R7).

use crate::story::check;

const ZONE: &str = "zone dns/org example.org. records=* records=@ ns=ns1.example.net.\n";

fn story(lines: &str) {
    check(&format!("{ZONE}{lines}"));
}

/// R6: of two that exclude each other the older stays.
#[test]
fn a_cname_stands_alone_and_the_older_stays() {
    story(
        "record web/alias www.example.org. age=2 CNAME = web.example.net.
         record web/address www.example.org. age=1 A = 192.0.2.1
         ? record web/address Accepted=True/Accepted
         ? record web/alias parent=org.dns Accepted=False/Conflicted Published=False/NotAccepted
         ? message record web/alias Accepted: spec.domainName: the name has A, and a CNAME stands alone (RFC 1034 §3.6.2); Record web/address was there first, so remove that or rename this
         delete record web/address
         ? record web/alias Accepted=True/Accepted Published=True/Served
         record web/text www.example.org. age=3 TXT = \"t\"
         ? record web/text Accepted=False/Conflicted
         ? entries dns/org example.org. 360 NS ns1.example.net. | www.example.org. 360 CNAME web.example.net.",
    );
}

/// R6.
#[test]
fn a_name_has_one_cname_and_one_dname() {
    story(
        "record web/one www.example.org. CNAME = a.example.net.
         record web/two www.example.org. CNAME = b.example.net.
         record web/three sub.example.org. DNAME = a.example.net.
         record web/four sub.example.org. DNAME = b.example.net.
         ? record web/one Accepted=True/Accepted
         ? record web/two Accepted=False/Conflicted
         ? record web/three Accepted=True/Accepted
         ? record web/four Accepted=False/Conflicted
         ? message record web/two Accepted: spec.domainName: a name has at most one CNAME record, here are 2; Record web/one was there first, so remove that or rename this",
    );
}

/// R6: the zone's own name has an SOA.
#[test]
fn a_cname_at_the_name_of_the_zone_is_refused() {
    story(
        "record web/apex example.org. CNAME = web.example.net.
         ? record web/apex Accepted=False/Conflicted
         ? message record web/apex Accepted: spec.domainName: a CNAME stands alone, and the zone's own name has an SOA (RFC 1034 §3.6.2); use A, AAAA or HTTPS there",
    );
}

/// R6: what two Records say alike is in the zone once, and lives until the last goes.
#[test]
fn duplicates_are_in_the_zone_once() {
    story(
        "record a/one www.example.org. A = 192.0.2.1
         record b/two WWW.example.org. A = 192.0.2.1
         ? record a/one Accepted=True/Accepted
         ? record b/two Accepted=True/Duplicate Published=True/Served
         ? message record b/two Accepted: Record a/one says exactly this already; one of the two can go
         ? entries dns/org example.org. 360 NS ns1.example.net. | www.example.org. 360 A 192.0.2.1
         ? zone dns/org serial=2026111500
         delete record a/one
         ? record b/two Accepted=True/Accepted Published=True/Served
         ? zone dns/org serial=2026111500",
    );
}

/// R6, R7, RFC 2181 §5.2: a set has one TTL, the lowest.
#[test]
fn the_lowest_ttl_of_a_set_wins() {
    story(
        "record web/one www.example.org. A = 192.0.2.1
         record web/two www.example.org. ttl=60 A = 192.0.2.2
         record web/other www.example.org. ttl=30 TXT = \"t\"
         ? entries dns/org example.org. 360 NS ns1.example.net. | www.example.org. 60 A 192.0.2.1 | www.example.org. 60 A 192.0.2.2 | www.example.org. 30 TXT \"t\"
         ? record web/one Accepted=True/DifferingTtl Published=True/Served
         ? record web/two Accepted=True/Accepted
         ? message record web/one Accepted: spec.ttl: other records of www.example.org. A have a lower one, and a set has one TTL, so this is answered with 60
         delete record web/two
         ? record web/one Accepted=True/Accepted
         ? entries dns/org example.org. 360 NS ns1.example.net. | www.example.org. 360 A 192.0.2.1 | www.example.org. 30 TXT \"t\"",
    );
}

/// R7.
#[test]
fn a_record_without_a_ttl_has_that_of_its_zone() {
    check(
        "zone dns/org example.org. records=* ttl=100
         record web/one one.example.org. A = 192.0.2.1
         record web/two two.example.org. ttl=7 A = 192.0.2.1
         ? entries dns/org one.example.org. 100 A 192.0.2.1 | two.example.org. 7 A 192.0.2.1
         zone dns/org example.org. records=* ttl=200
         ? entries dns/org one.example.org. 200 A 192.0.2.1 | two.example.org. 7 A 192.0.2.1",
    );
}

/// R6: NS, MX and SRV that point at an alias are told, and so is the end of it.
#[test]
fn a_target_that_is_an_alias_is_told() {
    story(
        "record web/mx example.org. MX = 10 mail
         record web/srv _sip._tcp.example.org. SRV = 0 0 5060 mail
         record web/mail mail.example.org. CNAME = mail.example.net.
         ? record web/mx Accepted=True/TargetIsAlias Published=True/Served
         ? record web/srv Accepted=True/TargetIsAlias
         ? message record web/mx Accepted: spec.rdata: points at mail.example.org., which is a CNAME: MX needs a name with addresses (RFC 2181 §10.3)
         delete record web/mail
         ? record web/mx Accepted=True/Accepted
         ? record web/srv Accepted=True/Accepted",
    );
}

/// R6: so are the zone's own name servers.
#[test]
fn a_name_server_of_the_zone_that_is_an_alias_is_told() {
    check(
        "zone dns/org example.org. records=* ns=ns1
         record dns/ns1 ns1.example.org. CNAME = ns.example.net.
         ? zone dns/org Accepted=True/TargetIsAlias
         ? message zone dns/org Accepted: the NS record at example.org. points at ns1.example.org., which is a CNAME: NS needs a name with addresses (RFC 2181 §10.3)",
    );
}

/// R6, RFC 7505 §3.
#[test]
fn a_null_mx_stands_alone() {
    story(
        "record web/null example.org. MX = 0 .
         record web/mx example.org. MX = 10 mail
         ? record web/null Accepted=True/Accepted
         ? record web/mx Accepted=False/Conflicted",
    );
}

/// R5: relative names in data are the zone's, whichever that is.
#[test]
fn names_in_data_are_relative_to_the_zone() {
    check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=*
         record web/www www.sub.example.org. CNAME = web
         ? entries dns/sub www.sub.example.org. 360 CNAME web.sub.example.org.
         delete zone dns/sub
         ? entries dns/org www.sub.example.org. 360 CNAME web.example.org.",
    );
}

/// B5: name and data change together.
#[test]
fn a_record_that_changes_name_and_data_is_never_a_mixture() {
    let mut cluster = check(
        "zone dns/org example.org. records=*
         record web/one a.example.org. A = 192.0.2.1",
    );
    crate::story::play(
        &mut cluster,
        "record web/one b.example.org. A = 192.0.2.2
         ? entries dns/org b.example.org. 360 A 192.0.2.2
         ? zone dns/org serial=2026111501
         record web/one b A = 192.0.2.3
         ? entries dns/org
         ? record web/one fqdn=- parent=- Accepted=False/Invalid",
    );
}
