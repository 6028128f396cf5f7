//! Who has authority over a name (Z13, S1, B11).

use crate::story::{check, check_open};

/// S1, Z13: a tenant's newer zone below another namespace's has no authority.
#[test]
fn a_squatter_below_an_older_zone_gets_nothing() {
    check(
        "zone dns/org example.org. records=*
         record web/www www.shop.example.org. A = 192.0.2.1
         ? record web/www parent=org.dns Published=True/Served
         zone evil/shop shop.example.org. records=*
         ? zone evil/shop fqdn=shop.example.org. parent=- Accepted=False/NotDelegated entries=0
         ? record web/www parent=org.dns Published=True/Served
         ? entries dns/org www.shop.example.org. 360 A 192.0.2.1",
    );
}

/// S1, Z13: a tenant's newer zone above another namespace's has no say at or below it.
#[test]
fn a_squatter_above_an_older_zone_has_no_say_over_it() {
    check(
        "zone shop/zone shop.example.org. records=*@shop
         record shop/www www.shop.example.org. A = 192.0.2.1
         zone evil/org example.org. records=*
         record evil/full api.shop.example.org. A = 192.0.2.66
         record evil/referring api.shop ref=org A = 192.0.2.66
         record evil/beside www.example.org. A = 192.0.2.66
         ? zone shop/zone Accepted=True/NoNameServers Published=True/Served
         ? record evil/full parent=- Accepted=False/NotDelegated
         ? record evil/referring parent=- Accepted=False/NotDelegated
         ? message record evil/referring Accepted: spec.zoneRef: Zone shop/zone is older than Zone evil/org, which never delegated it, so evil/org has no say at or below the name of shop/zone; name shop/zone instead
         ? record evil/beside parent=org.evil
         ? entries evil/org www.example.org. 360 A 192.0.2.66
         delete zone shop/zone
         ? record evil/full parent=org.evil
         ? record evil/referring parent=org.evil",
    );
}

/// Z13: whoever squats below a zone gains nothing when that zone is divided by its owner.
#[test]
fn a_zone_in_between_does_not_lift_a_squatter() {
    check(
        "zone dns/org example.org. age=1
         zone evil/deep a.b.example.org. records=* age=5
         ? zone evil/deep Accepted=False/NotDelegated
         zone dns/b b.example.org. age=9
         ? zone dns/b Accepted=True/NoNameServers
         ? zone evil/deep Accepted=False/NotDelegated
         delete zone dns/org
         ? zone evil/deep Accepted=True/NoNameServers",
    );
}

/// Z13: leave that was given once is not taken back by a newer zone in between.
#[test]
fn a_newer_zone_in_between_does_not_take_away_what_was_delegated() {
    check(
        "zone dns/org example.org. zones=*@team zones=b@other records=*@web age=1
         zone team/deep a.b.example.org. records=*@team age=5
         zone other/b b.example.org. records=*@web age=9
         record web/www www.a.b.example.org. A = 192.0.2.1
         record web/referring www.a.b.example.org. ref=other/b A = 192.0.2.1
         ? zone team/deep Accepted=True/NoNameServers parent=b.other
         ? record web/www parent=org.dns Published=False/Occluded
         ? record web/referring parent=- Accepted=False/NotDelegated",
    );
}

/// Z13: leave that is given to an older zone makes the newer one above it a zone like any other.
#[test]
fn an_older_zone_that_is_given_leave_no_longer_overrules() {
    check(
        "zone shop/zone shop.example.org. records=*@shop
         zone new/org example.org. records=*
         record web/full api.shop.example.org. A = 192.0.2.1
         record web/referring api.shop ref=new/org A = 192.0.2.2
         ? record web/full parent=- Accepted=False/NotDelegated
         ? record web/referring parent=- Accepted=False/NotDelegated
         zone new/org example.org. records=* zones=shop@shop
         ? record web/full parent=org.new Published=False/Occluded
         ? record web/referring parent=org.new Published=False/Occluded",
    );
}

/// Z13: a delegation from the nearest zone is leave enough, and one from the namespace itself needs none.
#[test]
fn a_newer_zone_stands_with_leave_or_in_the_same_namespace() {
    check(
        "zone dns/org example.org. zones=*.team@team
         zone dns/same same.example.org.
         zone team/api api.team.example.org.
         zone team/team team.example.org.
         zone other/api api2.team.example.org.
         ? zone dns/same Accepted=True/NoNameServers
         ? zone team/api Accepted=True/NoNameServers
         ? zone team/team Accepted=False/NotDelegated
         ? zone other/api Accepted=False/NotDelegated",
    );
}

/// B11, Z13: of two with one name the oldest stands, whatever they are called; then the next.
#[test]
fn of_two_zones_with_one_name_the_oldest_stands() {
    check(
        "zone zz/first example.org. records=* age=1
         zone aa/second example.org. records=* age=2
         record web/www www.example.org. A = 192.0.2.1
         ? zone zz/first Accepted=True/NoNameServers
         ? zone aa/second fqdn=example.org. Accepted=False/Conflicted Published=False/NotAccepted entries=0
         ? message zone aa/second Accepted: spec.domainName: Zone zz/first is called example.org., too, and is older, so it is the one that counts; rename or delete one of the two
         ? record web/www parent=first.zz
         delete zone zz/first
         ? zone aa/second Accepted=True/NoNameServers Published=True/Served
         ? record web/www parent=second.aa Published=True/Served",
    );
}

/// Z13: created in one second, the uid decides.
#[test]
fn of_two_zones_of_one_age_the_lower_uid_stands() {
    check(
        "zone b/first example.org. age=1
         zone a/second example.org. age=1
         ? zone b/first Accepted=True/NoNameServers
         ? zone a/second Accepted=False/Conflicted",
    );
}

/// Z13: an older zone without leave does not stand in the way of a newer one that has it.
#[test]
fn a_zone_without_leave_conflicts_with_nobody() {
    check(
        "zone dns/org example.org. zones=team@team age=1
         zone evil/team team.example.org. age=2
         zone team/team team.example.org. age=3
         ? zone evil/team Accepted=False/NotDelegated
         ? zone team/team Accepted=True/NoNameServers",
    );
}

/// R2: a Record that refers to a zone without authority belongs to it and is not published.
#[test]
fn a_record_of_a_zone_without_authority_is_not_published() {
    check(
        "zone a/first example.org. age=1
         zone b/second example.org. records=* age=2
         record b/www www ref=second A = 192.0.2.1
         ? record b/www parent=second.b Accepted=True/Accepted Published=False/NotAccepted
         ? message record b/www Published: Zone b/second is not accepted, so nothing of it is published; the conditions of that Zone say why
         delete zone a/first
         ? record b/www Published=True/Served",
    );
}

/// Z13: `--zone-authority=open`.
#[test]
fn where_authority_is_open_every_zone_counts() {
    check_open(
        "zone dns/org example.org. records=*
         zone evil/shop shop.example.org. records=*
         zone evil/again example.org. records=*
         record web/www www.shop.example.org. A = 192.0.2.1
         ? zone evil/shop Accepted=True/NoNameServers parent=org.dns
         ? zone evil/again Accepted=False/Conflicted
         ? record web/www parent=shop.evil",
    );
}

/// B17 stays as it is: a name that may become a zone is not reserved before it is one.
#[test]
fn a_delegated_name_without_a_zone_is_not_reserved() {
    check(
        "zone dns/org example.org. zones=team@team records=*
         record web/www www.team.example.org. A = 192.0.2.1
         ? record web/www parent=org.dns Published=True/Served",
    );
}
