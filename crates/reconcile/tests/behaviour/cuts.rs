//! What a zone carries of the zones below it, and what is hidden by them (Z5, B10).

use crate::story::check;

/// Z5: NS, the addresses of the name servers inside, and DS are copied up, and follow.
#[test]
fn a_zone_carries_the_delegation_of_its_sub_zone() {
    check(
        "zone dns/org example.org. zones=*
         zone team/sub sub.example.org. records=* records=@:DS ns=ns1,ns2.example.net.
         record team/ns1 ns1.sub.example.org. A = 192.0.2.53
         record team/six ns1.sub.example.org. AAAA = 2001:db8::53
         record team/www www.sub.example.org. A = 192.0.2.80
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org. | sub.example.org. 360 NS ns2.example.net. | ns1.sub.example.org. 360 A 192.0.2.53 | ns1.sub.example.org. 360 AAAA 2001:db8::53
         record team/ns1 ns1.sub.example.org. A = 192.0.2.54
         delete record team/six
         record team/ds sub.example.org. DS = 1 8 2 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org. | sub.example.org. 360 NS ns2.example.net. | sub.example.org. 360 DS 1 8 2 E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855 | ns1.sub.example.org. 360 A 192.0.2.54
         zone team/sub sub.example.org. records=*
         ? entries dns/org
         ? entries team/sub ns1.sub.example.org. 360 A 192.0.2.54 | www.sub.example.org. 360 A 192.0.2.80",
    );
}

/// Z5: NS Records at the apex of the sub-zone count like its `nameservers`.
#[test]
fn ns_records_of_the_sub_zone_are_carried() {
    check(
        "zone dns/org example.org.
         zone dns/sub sub.example.org. records=* records=@
         record dns/ns sub.example.org. ttl=60 NS = ns1
         record dns/ns1 ns1.sub.example.org. A = 192.0.2.53
         ? entries dns/org sub.example.org. 60 NS ns1.sub.example.org. | ns1.sub.example.org. 360 A 192.0.2.53",
    );
}

/// Z5: a zone may be its own name server.
#[test]
fn a_sub_zone_that_is_its_own_name_server_is_carried_with_its_addresses() {
    check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=@ ns=@
         record dns/address sub.example.org. A = 192.0.2.53
         record dns/stranger sub ref=org A = 192.0.2.66
         ? entries dns/org sub.example.org. 360 A 192.0.2.53 | sub.example.org. 360 NS sub.example.org.
         ? record dns/stranger parent=org.dns Published=False/Occluded",
    );
}

/// Z5: addresses of the sub-zone's name servers come only from the sub-zone.
#[test]
fn nobody_else_says_where_the_name_servers_of_a_sub_zone_are() {
    check(
        "zone dns/org example.org. records=*
         record evil/glue ns1.sub ref=dns/org A = 192.0.2.66
         ? entries dns/org ns1.sub.example.org. 360 A 192.0.2.66
         zone dns/sub sub.example.org. ns=ns1
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org.
         ? record evil/glue parent=org.dns Accepted=True/Accepted Published=False/Occluded
         ? message record evil/glue Published: never answered: ns1.sub.example.org. is a name server of sub-zone dns/sub, which alone says where it is; make this a Record of that Zone
         delete zone dns/sub
         ? record evil/glue Published=True/Served",
    );
}

/// Z5, B10: what is below a cut keeps label and entry and is not answered.
#[test]
fn a_record_below_a_sub_zone_is_occluded() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.sub ref=dns/org A = 192.0.2.1
         record web/apex sub ref=dns/org A = 192.0.2.1
         record web/beside www ref=dns/org A = 192.0.2.1
         ? record web/www Published=True/Served
         zone dns/sub sub.example.org. records=*
         ? record web/www parent=org.dns Accepted=True/Accepted Published=False/Occluded
         ? record web/apex Published=False/Occluded
         ? record web/beside Published=True/Served
         ? entries dns/org sub.example.org. 360 A 192.0.2.1 | www.sub.example.org. 360 A 192.0.2.1 | www.example.org. 360 A 192.0.2.1
         ? message record web/www Published: never answered: Zone dns/sub answers for sub.example.org. and everything below it; move the Record there or remove it
         delete zone dns/sub
         ? record web/www Published=True/Served",
    );
}

/// Z5: so is what is below NS or DNAME records of the zone itself.
#[test]
fn a_record_below_a_cut_by_records_is_occluded() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.sub.example.org. A = 192.0.2.1
         record web/deep deep.tree.example.org. A = 192.0.2.1
         record web/ns sub.example.org. NS = ns.example.net.
         record web/tree tree.example.org. DNAME = example.net.
         ? record web/ns Published=True/Served
         ? record web/www Accepted=True/Accepted Published=False/Occluded
         ? message record web/www Published: never answered: the NS record at sub.example.org. hands over everything below it; move the Record there or remove it
         ? record web/tree Published=True/Served
         ? record web/deep Published=False/Occluded
         delete record web/ns
         ? record web/www Published=True/Served",
    );
}

/// Z5: what stands at the cut on the side above it belongs to the zone directly above it, and to no other.
#[test]
fn the_upper_side_of_a_cut_belongs_to_the_zone_above_it() {
    check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=*
         zone dns/deep deep.sub.example.org.
         record dns/upper deep.sub ref=org NS = ns.example.net.
         record dns/right deep ref=sub NS = ns.example.net.
         ? record dns/right Published=True/Served
         ? record dns/upper Published=False/Occluded",
    );
}

/// Z5: through two levels.
#[test]
fn delegations_are_carried_one_level_up() {
    check(
        "zone dns/org example.org.
         zone dns/sub sub.example.org. records=* ns=ns.deep
         zone dns/deep deep.sub.example.org. records=* ns=ns
         record dns/ns ns.deep.sub.example.org. A = 192.0.2.53
         ? entries dns/sub sub.example.org. 360 NS ns.deep.sub.example.org. | deep.sub.example.org. 360 NS ns.deep.sub.example.org. | ns.deep.sub.example.org. 360 A 192.0.2.53
         ? entries dns/org sub.example.org. 360 NS ns.deep.sub.example.org. | ns.deep.sub.example.org. 360 A 192.0.2.53
         delete zone dns/sub
         ? entries dns/org deep.sub.example.org. 360 NS ns.deep.sub.example.org. | ns.deep.sub.example.org. 360 A 192.0.2.53",
    );
}

/// Z5: a zone that has content anew carries what is below it.
#[test]
fn a_zone_that_is_whole_again_carries_its_sub_zones() {
    check(
        "zone dns/org example.org. ttl=4294967295
         zone dns/sub sub.example.org. ns=ns.example.net.
         ? zone dns/org Accepted=False/Invalid entries=0
         zone dns/org example.org.
         ? entries dns/org sub.example.org. 360 NS ns.example.net.
         zone dns/org org.
         ? entries dns/org sub.example.org. 360 NS ns.example.net.",
    );
}

/// R6: what a sub-zone says about itself came before any Record.
#[test]
fn a_cname_at_the_name_of_a_sub_zone_makes_way_for_its_delegation() {
    check(
        "zone dns/org example.org. records=*
         record web/alias sub ref=dns/org CNAME = www.example.net.
         ? record web/alias Published=True/Served
         zone dns/sub sub.example.org. ns=ns.example.net.
         ? record web/alias Accepted=False/Conflicted
         ? message record web/alias Accepted: spec.domainName: the name has NS, and a CNAME stands alone (RFC 1034 §3.6.2); sub-zone dns/sub was there first, so remove that or rename this
         ? entries dns/org sub.example.org. 360 NS ns.example.net.",
    );
}

/// Z5: addresses are copied wherever the NS stands.
#[test]
fn name_servers_that_only_the_zone_above_names_are_carried_with_their_addresses() {
    check(
        "zone dns/org example.org. records=*
         record dns/cut sub.example.org. ref=org NS = ns1.sub
         ? record dns/cut Accepted=True/TargetMissing Published=True/Served
         ? message record dns/cut Accepted: spec.rdata: points at ns1.sub.example.org., which has no A or AAAA record, so nobody can find this name server; add one to the zone of sub.example.org.
         zone dns/sub sub.example.org. records=*
         record dns/ns1 ns1 ref=sub A = 192.0.2.53
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org. | ns1.sub.example.org. 360 A 192.0.2.53
         ? record dns/cut Accepted=True/Accepted Published=True/Served
         record dns/ns1 ns1 ref=sub AAAA = 2001:db8::53
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org. | ns1.sub.example.org. 360 AAAA 2001:db8::53
         delete record dns/ns1
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org.
         ? record dns/cut Accepted=True/TargetMissing
         record dns/ns1 ns1 ref=sub A = 192.0.2.54
         delete record dns/cut
         ? entries dns/org",
    );
}

/// Z5: in whatever order they come, and only from the sub-zone.
#[test]
fn the_address_of_a_name_server_comes_from_the_sub_zone_wherever_its_ns_stands() {
    check(
        "zone dns/sub sub.example.org. records=* records=@
         record dns/ns1 ns1 ref=sub A = 192.0.2.53
         zone dns/org example.org. records=*
         record evil/glue ns1.sub ref=dns/org A = 192.0.2.66
         ? entries dns/org ns1.sub.example.org. 360 A 192.0.2.66
         record dns/cut sub ref=org NS = ns1.sub.example.org.
         ? entries dns/org sub.example.org. 360 NS ns1.sub.example.org. | ns1.sub.example.org. 360 A 192.0.2.53
         ? record evil/glue Published=False/Occluded
         record dns/cut sub ref=org NS = sub.example.org.
         record dns/apex @ ref=sub A = 192.0.2.55
         ? entries dns/org sub.example.org. 360 A 192.0.2.55 | sub.example.org. 360 NS sub.example.org. | ns1.sub.example.org. 360 A 192.0.2.66",
    );
}

/// Z5: said of the zone as well, where it is its own name servers that are missing.
#[test]
fn a_zone_whose_name_servers_have_no_address_says_so() {
    check(
        "zone dns/sub sub.example.org. records=* ns=ns1
         ? zone dns/sub Accepted=True/TargetMissing
         ? message zone dns/sub Accepted: the NS record at sub.example.org. points at ns1.sub.example.org., which has no A or AAAA record in this zone
         record dns/ns1 ns1 ref=sub A = 192.0.2.53
         ? zone dns/sub Accepted=True/Accepted",
    );
}
