//! Delegations that are withdrawn leave nothing behind (B6, Z12).

use crate::story::check;

/// B6, the peer's `record_delegation_withdrawn`.
#[test]
fn a_withdrawn_delegation_takes_label_and_entry_away() {
    check(
        "zone dns/org example.org. records=*
         record web/full www.example.org. A = 192.0.2.1
         record web/relative api ref=dns/org A = 192.0.2.2
         ? entries dns/org api.example.org. 360 A 192.0.2.2 | www.example.org. 360 A 192.0.2.1
         zone dns/org example.org.
         ? entries dns/org
         ? record web/full fqdn=www.example.org. parent=- Accepted=False/NotDelegated Published=False/NotAccepted
         ? record web/relative fqdn=api.example.org. parent=- Accepted=False/NotDelegated
         zone dns/org example.org. records=*
         ? record web/full parent=org.dns Published=True/Served",
    );
}

/// B6: a record that the next zone above delegates goes there.
#[test]
fn a_withdrawn_delegation_hands_the_record_to_the_zone_above() {
    check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=*
         record web/www www.sub.example.org. A = 192.0.2.1
         ? record web/www parent=sub.dns
         zone dns/sub sub.example.org.
         ? record web/www parent=org.dns Published=False/Occluded
         ? entries dns/sub",
    );
}

/// B6, Z13: a sub-zone whose delegation is withdrawn has no authority any more.
#[test]
fn a_sub_zone_whose_delegation_is_withdrawn_loses_everything() {
    check(
        "zone dns/org example.org. zones=team@team records=*@dns
         zone team/zone team.example.org. records=* ns=ns1.example.net.
         record team/www www.team.example.org. A = 192.0.2.1
         ? zone team/zone parent=org.dns Accepted=True/Accepted Published=True/Served
         ? entries dns/org team.example.org. 360 NS ns1.example.net.
         zone dns/org example.org. records=*@dns
         ? zone team/zone fqdn=team.example.org. parent=- entries=0 Accepted=False/NotDelegated Published=False/NotAccepted
         ? record team/www parent=- Accepted=False/NotDelegated
         ? entries dns/org
         ? message zone team/zone Accepted: spec.domainName: team.example.org. is below Zone dns/org, which is older and does not delegate it to namespace team; to allow it, add {namespaces: [team], zones: [team.example.org.]} to the spec.delegations of that Zone",
    );
}

/// Z12, S4: an empty list of types hands out neither the zone nor its keys.
#[test]
fn an_empty_list_of_types_does_not_hand_out_the_zone_itself() {
    check(
        "zone dns/org example.org. records=* records=@
         record dns/ns example.org. NS = ns1.example.net.
         record web/ns example.org. NS = ns.evil.example.
         record web/cut sub.example.org. NS = ns.sub.example.
         record web/ds sub.example.org. DS = 1 8 2 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
         record web/soa example.org. SOA = ns. noc. 1 2 3 4 5
         record web/rrsig www.example.org. RRSIG = A 8 3 60 20261115000000 20261115000000 1 example.org. AAAA
         record web/tsig www.example.org. TSIG = x
         ? record dns/ns parent=org.dns
         ? record web/ns Accepted=False/NotDelegated
         ? record web/cut Accepted=True/Accepted
         ? record web/ds Accepted=False/NotDelegated
         ? record web/soa Accepted=False/Invalid
         ? record web/tsig Accepted=False/Invalid
         ? record web/rrsig parent=-
         ? entries dns/org example.org. 360 NS ns1.example.net. | sub.example.org. 360 NS ns.sub.example.",
    );
}
