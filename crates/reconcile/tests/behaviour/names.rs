//! What zones and Records are called (Z1, Z2, R1).

use crate::story::check;

/// Z1, K5: one canonical form, whatever was written.
#[test]
fn a_full_name_is_kept_in_canonical_form() {
    let rows = [
        ("Example.ORG.", "example.org."),
        ("bücher.example.", "xn--bcher-kva.example."),
        ("0/25.2.0.192.in-addr.arpa.", "0/25.2.0.192.in-addr.arpa."),
        (".", "."),
    ];
    for (written, name) in rows {
        check(&format!(
            "zone dns/zone {written}
             record dns/record {written} TXT = \"t\"
             ? zone dns/zone fqdn={name} Accepted=True/NoNameServers
             ? record dns/record fqdn={name}"
        ));
    }
}

/// Z2: the name of a relative zone is made of its parent's, through any number of zones, whether or not they delegate.
#[test]
fn a_relative_name_is_completed_by_the_zone_it_refers_to() {
    check(
        "zone team/api api ref=dev
         record team/www www ref=api A = 192.0.2.1
         zone team/dev dev ref=dns/org age=9
         zone dns/org example.org. age=1
         ? zone team/api fqdn=api.dev.example.org.
         ? zone team/dev fqdn=dev.example.org. Accepted=False/NotDelegated
         ? record team/www fqdn=www.api.dev.example.org.",
    );
}

/// Z2, B1: whoever waits is woken by the zone it waits for.
#[test]
fn a_zone_waits_for_its_parent_and_says_for_whom() {
    check(
        "zone team/api api ref=dev
         record team/www www ref=api A = 192.0.2.1
         ? zone team/api fqdn=- Accepted=False/ParentNotFound Published=False/NotAccepted
         ? message zone team/api Accepted: spec.zoneRef: there is no Zone team/dev; create it or correct the reference, and this goes on by itself
         zone team/dev dev ref=dns/org
         ? zone team/api fqdn=- Accepted=False/WaitingForParent
         ? message zone team/api Accepted: spec.zoneRef: waits for Zone team/dev, which has no full name yet; the conditions of that Zone say why
         ? record team/www fqdn=- Accepted=False/WaitingForParent
         zone dns/org example.org.
         ? zone team/api fqdn=api.dev.example.org.
         ? record team/www fqdn=www.api.dev.example.org.
         delete zone dns/org
         ? zone team/dev fqdn=- Accepted=False/ParentNotFound
         ? zone team/api fqdn=- Accepted=False/WaitingForParent
         ? record team/www fqdn=- Accepted=False/WaitingForParent",
    );
}

/// R1, B4: a zone that is called something else takes everyone along who is named after it.
#[test]
fn a_renamed_zone_renames_what_is_named_after_it() {
    check(
        "zone dns/org example.org. records=*
         zone dns/dev dev ref=org records=*
         record dns/www www ref=dev A = 192.0.2.1
         ? record dns/www fqdn=www.dev.example.org. Published=True/Served
         zone dns/org example.com. records=*
         ? zone dns/dev fqdn=dev.example.com. serial=2026111501
         ? record dns/www fqdn=www.dev.example.com. Published=True/Served
         ? entries dns/dev www.dev.example.com. 360 A 192.0.2.1",
    );
}

/// Z2: both a zoneRef and a full name are legal, neither is refused.
#[test]
fn a_name_is_full_or_refers_to_a_zone_or_both() {
    check(
        "zone dns/org example.org. records=*
         zone dns/both dev.example.org. ref=org
         record dns/both www.example.org. ref=org A = 192.0.2.1
         zone dns/neither dev
         record dns/neither www A = 192.0.2.1
         ? zone dns/both fqdn=dev.example.org. parent=org.dns Accepted=True/NoNameServers
         ? record dns/both fqdn=www.example.org. parent=org.dns Accepted=True/Accepted
         ? zone dns/neither fqdn=- Accepted=False/Invalid
         ? record dns/neither fqdn=- Accepted=False/Invalid
         ? message zone dns/neither Accepted: spec.domainName: must end in a dot, or spec.zoneRef must name the zone it is relative to: got \"dev\"",
    );
}

/// Z2, B7: references that lead back are refused, and nobody's name grows.
#[test]
fn references_that_lead_back_to_a_zone_are_refused() {
    check(
        "zone a/one one ref=b/two
         zone b/two two ref=c/three
         zone c/three three ref=a/one
         zone a/outside outside ref=one
         ? zone a/one fqdn=- Accepted=False/CyclicReference
         ? zone b/two fqdn=- Accepted=False/CyclicReference
         ? zone c/three fqdn=- Accepted=False/CyclicReference
         ? zone a/outside fqdn=- Accepted=False/WaitingForParent
         ? message zone a/one Accepted: spec.zoneRef: leads from Zone to Zone back to this one, so none of them has a full name; give one of them a domainName that ends in a dot
         zone c/three three.example. ref=a/one
         ? zone c/three fqdn=three.example.
         ? zone b/two fqdn=two.three.example.
         ? zone a/one fqdn=one.two.three.example.
         ? zone a/outside fqdn=outside.one.two.three.example.
         zone c/three three ref=a/nowhere
         ? zone c/three fqdn=- Accepted=False/ParentNotFound
         ? zone b/two fqdn=- Accepted=False/WaitingForParent",
    );
}

/// Z2, B7.
#[test]
fn a_zone_that_refers_to_itself_is_refused() {
    check(
        "zone a/one one ref=one zones=*
         ? zone a/one fqdn=- Accepted=False/Invalid
         ? message zone a/one Accepted: spec.zoneRef: a zone cannot be its own parent: got \"a/one\"",
    );
}

/// R1, Z2: a final dot that was forgotten is told, and nothing is guessed.
#[test]
fn a_relative_name_that_looks_full_is_concatenated_and_says_what_it_became() {
    check(
        "zone dns/org example.org. records=* ns=ns.example.net.
         zone dns/dev dev.example.org ref=org ns=ns.example.net.
         record dns/www www.example.org ref=org A = 192.0.2.1
         record web/stranger x.example.org ref=dns/dev A = 192.0.2.1
         record dns/twice www.example.org ref=org ttl=60 A = 192.0.2.2
         ? zone dns/dev fqdn=dev.example.org.example.org. Accepted=True/LooksFull Published=True/Served
         ? message zone dns/dev Accepted: spec.domainName: already ends in the name of Zone dns/org, which is put behind it all the same: this is dev.example.org.example.org.; if it was meant as it stands, end it with a dot
         ? record dns/www fqdn=www.example.org.example.org. parent=org.dns Accepted=True/LooksFull Published=True/Served
         ? message record dns/www Accepted: spec.domainName: already ends in the name of Zone dns/org, which is put behind it all the same: this is www.example.org.example.org.; if it was meant as it stands, end it with a dot; spec.ttl: other records of www.example.org.example.org. A have a lower one, and a set has one TTL, so this is answered with 60
         ? record web/stranger fqdn=x.example.org.dev.example.org.example.org. Accepted=False/NotDelegated
         zone dns/org example.com. records=* ns=ns.example.net.
         ? record dns/www fqdn=www.example.org.example.com. Accepted=True/DifferingTtl",
    );
}

/// R1: what the name became is told beside what is wrong with it.
#[test]
fn a_name_that_looks_full_and_is_refused_is_told_what_it_became() {
    check(
        "zone dns/org example.org.
         record dns/www www.example.org ref=org A = 192.0.2.1
         ? record dns/www fqdn=www.example.org.example.org. Accepted=False/NotDelegated
         ? message record dns/www Accepted: spec.domainName: Zone dns/org does not delegate www.example.org.example.org. A to namespace dns; to allow it, add {namespaces: [dns], records: [{pattern: www.example.org.example.org., types: [A]}]} to the spec.delegations of that Zone; spec.domainName: already ends in the name of Zone dns/org, which is put behind it all the same: this is www.example.org.example.org.; if it was meant as it stands, end it with a dot",
    );
}

/// Z2: a full name does not need its zoneRef, and says so if that leads nowhere.
#[test]
fn a_zone_with_a_full_name_says_what_is_wrong_with_its_reference() {
    check(
        "zone dns/sub sub.example.org. ref=org records=* ns=ns.example.net.
         record dns/www www ref=sub A = 192.0.2.1
         ? zone dns/sub fqdn=sub.example.org. parent=- Accepted=False/ParentNotFound Published=True/Served
         ? message zone dns/sub Accepted: spec.zoneRef: there is no Zone dns/org; create it or correct the reference, and this goes on by itself; the Zone is in force under its full name
         ? record dns/www Published=True/Served
         zone dns/org org ref=dns/none
         ? zone dns/sub Accepted=False/WaitingForParent Published=True/Served
         zone dns/org example.net.
         ? zone dns/sub parent=- Accepted=False/OutsideParent Published=True/Served
         ? message zone dns/sub Accepted: spec.zoneRef: sub.example.org. is not below Zone dns/org, which is example.net.; correct one of the two, or leave spec.zoneRef out; the Zone is in force under its full name
         zone dns/org example.org.
         ? zone dns/sub parent=org.dns Accepted=True/Accepted Published=True/Served
         delete zone dns/org
         ? zone dns/sub parent=- Accepted=False/ParentNotFound Published=True/Served",
    );
}

/// Z2: of zones whose references lead round in a circle one is not below the zone it names, whatever their names are.
#[test]
fn a_circle_of_references_is_told_also_where_names_are_full() {
    check(
        "zone dns/org example.org. ref=sub ns=ns.example.net.
         zone dns/sub sub.example.org. ref=org ns=ns.example.net.
         ? zone dns/sub parent=org.dns Accepted=True/Accepted
         ? zone dns/org parent=- Accepted=False/OutsideParent
         zone dns/self self.example. ref=self
         ? zone dns/self Accepted=False/Invalid
         ? message zone dns/self Accepted: spec.zoneRef: a zone cannot be its own parent: got \"dns/self\"",
    );
}

/// P2: the name of a zone never has a star in it.
#[test]
fn a_zone_is_no_wildcard() {
    check(
        "zone dns/star *.example.org. records=*
         record dns/www www ref=star A = 192.0.2.1
         ? zone dns/star fqdn=- Accepted=False/Invalid
         ? record dns/www fqdn=- Accepted=False/WaitingForParent",
    );
}

/// K5: a chain of zones ends where names do.
#[test]
fn a_name_that_grows_too_long_is_refused() {
    let rest = "x".repeat(60);
    check(&format!(
        "zone a/one a{rest}.
         zone a/two b{rest} ref=one
         zone a/three c{rest} ref=two
         zone a/four d{rest} ref=three
         zone a/five e{rest} ref=four
         zone a/six six ref=five
         ? zone a/four Accepted=True/NoNameServers
         ? zone a/five fqdn=- Accepted=False/Invalid
         ? zone a/six fqdn=- Accepted=False/WaitingForParent"
    ));
}
