//! Records of which each answer holds some (N6).

use crate::story::{check, play};

const ZONE: &str = "zone dns/org example.org. records=* ttl=300\n";

fn story(lines: &str) {
    check(&format!("{ZONE}{lines}"));
}

/// N6: members of one set stand beside each other, even CNAMEs.
#[test]
fn records_with_different_identifiers_are_one_routed_set() {
    story(
        "record web/eu www.example.org. set=eu weight=120 geo=geo-eu CNAME = eu
         record web/us www.example.org. set=us geo=US ttl=60 CNAME = us
         record web/rest www.example.org. set=rest geo=* CNAME = rest
         ? record web/eu Accepted=True/Accepted Published=True/Served
         ? record web/us Accepted=True/Accepted Published=True/Served
         ? entries dns/org www.example.org. 300 CNAME eu.example.org. set=eu weight=120 geo=GEO-EU | www.example.org. 300 CNAME rest.example.org. set=rest geo=* | www.example.org. 60 CNAME us.example.org. set=us geo=US",
    );
}

/// N6: what shares an identifier is answered together, so it has one TTL, and for CNAMEs one target.
#[test]
fn records_with_one_identifier_are_one_member() {
    story(
        "record web/one www.example.org. set=eu ttl=60 A = 192.0.2.1
         record web/two www.example.org. set=eu A = 192.0.2.2
         record web/us www.example.org. set=us A = 192.0.2.2
         ? record web/two Accepted=True/DifferingTtl
         ? record web/us Accepted=True/Accepted
         ? entries dns/org www.example.org. 60 A 192.0.2.1 set=eu | www.example.org. 60 A 192.0.2.2 set=eu | www.example.org. 300 A 192.0.2.2 set=us
         record web/same www.example.org. set=us A = 192.0.2.2
         ? record web/same Accepted=True/Duplicate
         record web/first alias.example.org. age=1 set=first CNAME = first
         record web/alias alias.example.org. age=2 set=a CNAME = one
         record web/other alias.example.org. age=3 set=a CNAME = two
         ? record web/other Accepted=False/Conflicted
         ? message record web/other Accepted: spec.domainName: a name has at most one CNAME record, here are 2; Record web/alias was there first, so remove that or rename this",
    );
}

/// N6: the oldest decides whether a set is routed; the others wait, and take over when it goes.
#[test]
fn a_set_is_routed_as_a_whole_or_not_at_all() {
    story(
        "record web/plain www.example.org. age=1 A = 192.0.2.1
         record web/eu www.example.org. age=2 set=eu A = 192.0.2.2
         record web/more www.example.org. age=3 A = 192.0.2.3
         ? record web/plain Accepted=True/Accepted
         ? record web/more Accepted=True/Accepted
         ? record web/eu Accepted=False/Conflicted Published=False/NotAccepted
         ? message record web/eu Accepted: spec.domainName: the name has a plain A set, and a set is routed as a whole or not at all: either all of its Records have spec.routing or none; Record web/plain was there first, so remove that or rename this
         delete record web/plain
         ? record web/eu Accepted=True/Accepted Published=True/Served
         ? record web/more Accepted=False/Conflicted
         ? message record web/more Accepted: spec.domainName: the name has a routed A set, and a set is routed as a whole or not at all: either all of its Records have spec.routing or none; Record web/eu was there first, so remove that or rename this
         ? entries dns/org www.example.org. 300 A 192.0.2.2 set=eu",
    );
}

/// N6: other types at the name have nothing to do with it, but a CNAME stands alone, routed or not.
#[test]
fn each_type_is_a_set_of_its_own() {
    story(
        "record web/a www.example.org. age=1 set=eu A = 192.0.2.1
         record web/t www.example.org. age=2 TXT = \"t\"
         record web/c www.example.org. age=3 set=eu CNAME = eu
         ? record web/a Accepted=True/Accepted
         ? record web/t Accepted=True/Accepted
         ? record web/c Accepted=False/Conflicted",
    );
}

/// N6: the oldest of a member says which part of the traffic it is for; the others are told.
#[test]
fn the_oldest_record_of_a_member_says_what_the_member_is_for() {
    let mut cluster = check(&format!(
        "{ZONE}record web/one www.example.org. age=1 set=eu weight=10 A = 192.0.2.1
         record web/two www.example.org. age=2 set=eu weight=20 A = 192.0.2.2
         ? record web/one Accepted=True/Accepted
         ? record web/two Accepted=True/DifferingRouting Published=True/Served
         ? message record web/two Accepted: spec.routing: Record web/one is the oldest of this member and has another weight or geo, which counts for all of it; make them the same, or give this its own setIdentifier
         ? entries dns/org www.example.org. 300 A 192.0.2.1 set=eu weight=10 | www.example.org. 300 A 192.0.2.2 set=eu weight=10"
    ));
    play(
        &mut cluster,
        "delete record web/one
         ? record web/two Accepted=True/Accepted
         ? entries dns/org www.example.org. 300 A 192.0.2.2 set=eu weight=20",
    );
}

/// N6, Z6: routing is content; a serial stands for one of it.
#[test]
fn another_weight_is_another_version() {
    story(
        "record web/eu www.example.org. set=eu weight=1 A = 192.0.2.1
         ? zone dns/org serial=2026111500
         record web/eu www.example.org. set=eu weight=2 A = 192.0.2.1
         ? zone dns/org serial=2026111501
         ? entries dns/org www.example.org. 300 A 192.0.2.1 set=eu weight=2
         record web/eu www.example.org. set=eu weight=2 A = 192.0.2.1
         ? zone dns/org serial=2026111501
         restart
         ? zone dns/org serial=2026111501",
    );
}

/// N6: what a provider alone knows, and weights that are none.
#[test]
fn routing_that_cannot_be_read_is_refused() {
    story(
        "record web/eu www.example.org. set=eu geo=europe-west1 A = 192.0.2.1
         ? record web/eu Accepted=False/Invalid
         ? message record web/eu Accepted: spec.routing.geo: is a region of one provider; use a country or a continent: got \"europe-west1\"
         ? entries dns/org",
    );
}

/// N6: a zone above carries one answer for everyone: delegations know no routing.
#[test]
fn the_zone_above_carries_the_default_member() {
    check(
        "zone dns/org example.org. records=* zones=*
         zone dns/sub sub.example.org. records=* records=@ ns=ns.sub.example.org.
         record dns/eu ns.sub.example.org. set=eu geo=GEO-EU A = 192.0.2.1
         record dns/rest ns.sub.example.org. set=rest geo=* A = 192.0.2.2
         ? entries dns/org sub.example.org. 360 NS ns.sub.example.org. | ns.sub.example.org. 360 A 192.0.2.2",
    );
}
