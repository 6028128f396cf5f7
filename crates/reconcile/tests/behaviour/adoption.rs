//! Which zone a Record belongs to (R1–R3), with the peer's examples and integration tests.

use crate::story::check;

/// R1, R3: the peer's first example and `record_adoption`.
#[test]
fn a_record_belongs_to_the_zone_that_delegates_it() {
    check(
        "zone default/example-org example.org. records=*
         record default/www www.example.org. A = 127.0.0.1
         ? record default/www fqdn=www.example.org. parent=example-org.default Accepted=True/Accepted Published=True/Served
         ? zone default/example-org fqdn=example.org. serial=2026111500
         ? entries default/example-org www.example.org. 360 A 127.0.0.1
         ? message record default/www Accepted: part of Zone default/example-org",
    );
}

/// R1: the peer's `no-delegation`.
#[test]
fn a_record_that_nobody_delegates_has_a_name_and_no_zone() {
    check(
        "zone default/example-org example.org.
         record default/www www.example.org. A = 127.0.0.1
         ? record default/www fqdn=www.example.org. parent=- Accepted=False/NotDelegated Published=False/NotAccepted
         ? zone default/example-org serial=2026111500
         ? entries default/example-org
         ? message record default/www Accepted: spec.domainName: Zone default/example-org does not delegate www.example.org. A to namespace default; to allow it, add {namespaces: [default], records: [{pattern: www.example.org., types: [A]}]} to the spec.delegations of that Zone
         ? message record default/www Published: not accepted, so it is not published: condition Accepted says why
         zone default/example-org example.org. records=www.example.org.:A@default
         ? record default/www parent=example-org.default Accepted=True/Accepted",
    );
}

/// R3.
#[test]
fn a_record_without_a_zone_above_it_says_so() {
    check(
        "record default/www www.example.org. A = 127.0.0.1
         ? record default/www fqdn=www.example.org. parent=- Accepted=False/NoZone
         ? message record default/www Accepted: spec.domainName: there is no Zone at or above www.example.org.; create one or correct the name, and this goes on by itself
         zone default/bad badexample.org. records=*
         ? record default/www Accepted=False/NoZone
         zone default/org org. records=*
         ? record default/www parent=org.default Accepted=True/Accepted",
    );
}

/// R3: the peer's `cross-namespace-delegation`.
#[test]
fn a_delegation_is_for_the_namespaces_it_lists() {
    check(
        "zone default/org example.org. records=*.dev@development records=*@default
         record development/dev www.dev.example.org. A = 127.0.0.1
         record development/prod www.example.org. A = 127.0.0.1
         record default/prod www.example.org. A = 127.0.0.2
         ? record development/dev parent=org.default
         ? record development/prod fqdn=www.example.org. parent=- Accepted=False/NotDelegated
         ? record default/prod parent=org.default
         ? entries default/org www.dev.example.org. 360 A 127.0.0.1 | www.example.org. 360 A 127.0.0.2",
    );
}

/// R3, B2: the peer's `longest-matching-wins`: gone and back again. The zone that loses a record hears of it at once.
#[test]
fn the_longest_zone_that_delegates_a_record_adopts_it() {
    check(
        "zone default/org example.org. records=*
         zone default/sub sub.example.org. records=*
         record default/www www.sub.example.org. A = 127.0.0.1
         ? record default/www parent=sub.default
         ? entries default/org
         delete zone default/sub
         ? record default/www parent=org.default Published=True/Served
         ? entries default/org www.sub.example.org. 360 A 127.0.0.1
         zone default/sub sub.example.org. records=*
         ? record default/www parent=sub.default Published=True/Served
         ? entries default/sub www.sub.example.org. 360 A 127.0.0.1
         ? entries default/org",
    );
}

/// R3 where the peer differs: a longer zone that does not delegate the record does not keep it from the one above.
#[test]
fn a_longer_zone_that_does_not_delegate_is_passed_over() {
    check(
        "zone default/org example.org. records=*
         zone default/sub sub.example.org. records=*:MX
         record default/www www.sub.example.org. A = 127.0.0.1
         ? record default/www parent=org.default Accepted=True/Accepted Published=False/Occluded",
    );
}

/// The peer's trap 4: a child of the same namespace adopts without having been delegated.
#[test]
fn an_undelegated_child_of_the_same_namespace_adopts() {
    check(
        "zone ns/org example.org. records=*
         zone ns/sub sub.example.org. records=*
         record ns/good good.sub.sub.example.org. A = 127.0.0.1
         ? record ns/good parent=sub.ns
         ? entries ns/org",
    );
}

/// The peer's `split_namespace_delegation` and trap 3: patterns whose dot the serializer added.
#[test]
fn patterns_are_relative_with_or_without_a_final_dot() {
    check(
        "zone prod/org example.org. records=*.dev.@dev records=*.@prod
         record prod/good good.example.org. A = 127.0.0.1
         record dev/bad bad.example.org. A = 127.0.0.1
         record dev/good good.dev.example.org. A = 127.0.0.1
         ? record prod/good parent=org.prod
         ? record dev/bad parent=-
         ? record dev/good parent=org.prod",
    );
}

/// The peer's `limited_adoption` and trap 2: data that no AAAA can be is told, and the name stands.
#[test]
fn a_delegation_is_for_the_types_it_lists() {
    check(
        "zone ns/org example.org. records=good:A
         record ns/good good.example.org. A = 127.0.0.1
         record ns/bad bad.example.org. A = 127.0.0.1
         record ns/six good.example.org. AAAA = 127.0.0.1
         ? record ns/good parent=org.ns
         ? record ns/bad fqdn=bad.example.org. parent=-
         ? record ns/six fqdn=good.example.org. parent=- Accepted=False/Invalid
         ? entries ns/org good.example.org. 360 A 127.0.0.1
         delete record ns/good
         ? entries ns/org",
    );
}

/// The peer's trap 1: a zone with all timers 0 is served.
#[test]
fn a_zone_without_timers_is_served() {
    check(
        "zone ns/org example.org. records=* ttl=0 refresh=0 retry=0 expire=0 negative=0
         record ns/www www.example.org. A = 127.0.0.1
         ? zone ns/org Accepted=True/NoNameServers Published=True/Served
         ? entries ns/org www.example.org. 0 A 127.0.0.1",
    );
}

/// Both dialects of patterns, and the zone's own name.
#[test]
fn manifests_of_both_dialects_are_understood() {
    check(
        "zone ns/org example.org. records=*.example.org. records=example.org:MX
         record ns/www www.example.org. A = 127.0.0.1
         record ns/mx example.org. MX = 10 www
         record ns/apex example.org. A = 127.0.0.1
         zone ns/com example.com. records=@:MX records=ns1.@
         record ns/com-mx @ ref=com MX = 10 ns1
         record ns/com-ns ns1.example.com. A = 127.0.0.1
         ? record ns/www parent=org.ns
         ? record ns/mx parent=org.ns
         ? record ns/apex parent=- Accepted=False/NotDelegated
         ? record ns/com-mx fqdn=example.com. parent=com.ns
         ? record ns/com-ns parent=com.ns",
    );
}

/// R2: with a zoneRef it is that zone or none.
#[test]
fn a_record_with_a_reference_belongs_to_that_zone_or_to_none() {
    check(
        "zone dns/org example.org. records=*
         zone dns/sub sub.example.org. records=*:MX
         zone dns/com example.com. records=*
         record web/sub www.sub.example.org. ref=dns/sub A = 192.0.2.1
         record web/gone www.example.org. ref=dns/gone A = 192.0.2.1
         record web/outside www.example.org. ref=dns/com A = 192.0.2.1
         ? record web/sub fqdn=www.sub.example.org. parent=- Accepted=False/NotDelegated
         ? record web/gone fqdn=www.example.org. parent=- Accepted=False/ParentNotFound
         ? record web/outside fqdn=www.example.org. parent=- Accepted=False/NotDelegated
         ? message record web/outside Accepted: spec.domainName: www.example.org. is not in Zone dns/com of spec.zoneRef, which is example.com.; correct one of the two",
    );
}
