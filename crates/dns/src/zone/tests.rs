//! Invariants of a zone, and what `check` finds.

use super::*;
use crate::soa::tests::soa;
use crate::{Rdata, Ttl};

const ORIGIN: &str = "example.org.";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn key(owner: &str, rtype: Rtype) -> SetKey {
    SetKey::new(name(owner), rtype)
}

fn set(rtype: Rtype, texts: &[&str]) -> RecordSet {
    let ttl = Ttl::from_secs(300).unwrap();
    RecordSet::new(
        texts
            .iter()
            .map(|text| (ttl, Rdata::parse(rtype, text, &name(ORIGIN)).unwrap())),
    )
    .unwrap()
}

fn zone(records: &[(&str, Rtype, &str)]) -> Zone {
    let mut zone = Zone::new(name(ORIGIN), soa(ORIGIN));
    for (owner, rtype, text) in records {
        zone.put(key(owner, *rtype), set(*rtype, &[text])).unwrap();
    }
    zone
}

#[track_caller]
fn refuses(zone: &Zone, owner: &str, rtype: Rtype, text: &str, message: &str) {
    let refusal = zone
        .admits(&key(owner, rtype), &set(rtype, &[text]))
        .unwrap_err();
    assert_eq!(refusal.to_string(), message);
}

#[track_caller]
fn finds(records: &[(&str, Rtype, &str)], expected: &[&str]) {
    let findings: Vec<String> = zone(records)
        .check()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(findings, expected);
}

/// G14: in the zone means label by label.
#[test]
fn a_name_outside_the_zone_is_refused() {
    let zone = zone(&[]);
    refuses(
        &zone,
        "badexample.org.",
        Rtype::A,
        "192.0.2.1",
        "badexample.org. is not in zone example.org.",
    );
    refuses(
        &zone,
        "org.",
        Rtype::A,
        "192.0.2.1",
        "org. is not in zone example.org.",
    );
    refuses(
        &zone,
        ".",
        Rtype::A,
        "192.0.2.1",
        ". is not in zone example.org.",
    );
}

/// R6, G19, G20: a CNAME has its name to itself, whichever comes first.
#[test]
fn a_cname_has_its_name_to_itself() {
    let address = zone(&[("www.example.org.", Rtype::A, "192.0.2.1")]);
    let alias = zone(&[("www.example.org.", Rtype::CNAME, "web")]);
    let alone = "a CNAME stands alone (RFC 1034 §3.6.2)";
    let message = format!("www.example.org. has A, so it cannot also have CNAME: {alone}");
    refuses(&address, "www.example.org.", Rtype::CNAME, "web", &message);
    let message = format!("www.example.org. has CNAME, so it cannot also have TXT: {alone}");
    refuses(&alias, "www.example.org.", Rtype::TXT, "x", &message);
    let message = format!("example.org. has SOA, so it cannot also have CNAME: {alone}");
    refuses(&alias, ORIGIN, Rtype::CNAME, "web", &message);
    assert!(
        alias
            .admits(
                &key("www.example.org.", Rtype::CNAME),
                &set(Rtype::CNAME, &["other"])
            )
            .is_ok()
    );
    assert!(
        alias
            .admits(
                &key("a.www.example.org.", Rtype::A),
                &set(Rtype::A, &["192.0.2.1"])
            )
            .is_ok()
    );
}

/// G30.
#[test]
fn a_zone_has_its_own_soa_and_no_other() {
    let zone = zone(&[]);
    let text = "ns noc 1 2 3 4 5";
    refuses(
        &zone,
        ORIGIN,
        Rtype::SOA,
        text,
        "example.org. SOA: a zone's SOA is made of its own fields",
    );
    refuses(
        &zone,
        "a.example.org.",
        Rtype::SOA,
        text,
        "a.example.org. SOA: a zone's SOA is made of its own fields",
    );
}

#[test]
fn a_set_goes_under_its_own_type() {
    let refusal = zone(&[])
        .admits(&key(ORIGIN, Rtype::AAAA), &set(Rtype::A, &["192.0.2.1"]))
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "a set of type A was put at example.org. AAAA"
    );
}

#[test]
fn a_zone_without_name_servers_says_so() {
    finds(
        &[],
        &[
            "example.org. NS: the zone has no name servers (NS at its apex), so nobody can delegate to it",
        ],
    );
    finds(&[(ORIGIN, Rtype::NS, "ns.example.net.")], &[]);
}

const NS: (&str, Rtype, &str) = (ORIGIN, Rtype::NS, "ns.example.net.");

/// Z5, G23: glue is answered, everything else below a cut is not.
#[test]
fn what_lies_below_a_cut_is_occluded() {
    finds(
        &[
            NS,
            ("sub.example.org.", Rtype::NS, "ns.sub"),
            (
                "sub.example.org.",
                Rtype::DS,
                "60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a",
            ),
            ("ns.sub.example.org.", Rtype::A, "203.0.113.1"),
            ("www.sub.example.org.", Rtype::A, "203.0.113.2"),
            ("sub.example.org.", Rtype::TXT, "x"),
        ],
        &[
            "sub.example.org. TXT: never answered: sub.example.org. NS hands over everything below it",
            "www.sub.example.org. A: never answered: sub.example.org. NS hands over everything below it",
        ],
    );
}

#[test]
fn what_lies_below_a_dname_is_occluded() {
    finds(
        &[
            NS,
            ("old.example.org.", Rtype::DNAME, "new.example.org."),
            ("old.example.org.", Rtype::TXT, "moved"),
            ("www.old.example.org.", Rtype::A, "203.0.113.2"),
        ],
        &[
            "www.old.example.org. A: never answered: old.example.org. DNAME hands over everything below it",
        ],
    );
}

/// R6, G23, G24: in-zone targets have addresses and are no aliases.
#[test]
fn targets_in_the_zone_must_have_addresses() {
    finds(
        &[
            (ORIGIN, Rtype::NS, "ns"),
            (ORIGIN, Rtype::MX, "10 mail"),
            ("_sip._tcp.example.org.", Rtype::SRV, "0 0 5060 sip"),
            ("mail.example.org.", Rtype::CNAME, "mail.example.net."),
            ("any.example.org.", Rtype::MX, "10 mx.wild"),
            ("*.wild.example.org.", Rtype::AAAA, "2001:db8::1"),
            ("none.example.org.", Rtype::MX, "0 ."),
        ],
        &[
            "example.org. NS: points at ns.example.org., which has no A or AAAA record in this zone",
            "example.org. MX: points at mail.example.org., which is a CNAME: MX needs a name with addresses (RFC 2181 §10.3)",
            "_sip._tcp.example.org. SRV: points at sip.example.org., which has no A or AAAA record in this zone",
        ],
    );
}

/// RFC 4592: a wildcard speaks for names that do not exist, not beyond a cut,
/// and not past a name that does exist.
#[test]
fn a_wildcard_gives_addresses_only_where_it_would_answer() {
    let wildcard = ("*.example.org.", Rtype::A, "203.0.113.9");
    finds(
        &[NS, wildcard, ("m.example.org.", Rtype::MX, "10 a.b")],
        &[],
    );
    finds(
        &[NS, wildcard, ("sub.example.org.", Rtype::NS, "ns.sub")],
        &[
            "sub.example.org. NS: points at ns.sub.example.org., which has no A or AAAA record in this zone",
        ],
    );
    let missing = "m.example.org. MX: points at mail.example.org., which has no A or AAAA record in this zone";
    let mx = ("m.example.org.", Rtype::MX, "10 mail");
    finds(
        &[NS, wildcard, mx, ("mail.example.org.", Rtype::TXT, "x")],
        &[missing],
    );
    finds(
        &[NS, wildcard, mx, ("a.mail.example.org.", Rtype::TXT, "x")],
        &[missing],
    );
}

/// G21.
#[test]
fn aliases_that_lead_nowhere_are_found() {
    finds(
        &[NS, ("a.example.org.", Rtype::CNAME, "a")],
        &["a.example.org. CNAME: the CNAME leads back to itself"],
    );
    finds(
        &[
            NS,
            ("a.example.org.", Rtype::CNAME, "b"),
            ("b.example.org.", Rtype::CNAME, "a"),
        ],
        &[
            "a.example.org. CNAME: the CNAME leads back to itself",
            "b.example.org. CNAME: the CNAME leads back to itself",
        ],
    );
    let chain: Vec<(String, String)> = (0..10)
        .map(|number| {
            (
                format!("c{number}.example.org."),
                format!("c{}", number + 1),
            )
        })
        .collect();
    let records: Vec<_> = chain
        .iter()
        .map(|(owner, target)| (owner.as_str(), Rtype::CNAME, target.as_str()))
        .collect();
    let findings = zone(&[&[NS], &records[..]].concat()).check();
    assert_eq!(
        findings[0].to_string(),
        "c0.example.org. CNAME: more than 8 CNAMEs follow one another"
    );
    assert_eq!(
        findings.len(),
        2,
        "only the ends that are too long: {findings:?}"
    );
}

/// N6: each member is somebody's answer, so none of them may lead astray.
#[test]
fn every_member_of_a_routed_set_is_looked_at() {
    let routed = |rtype, members: &[(&str, &str)]| {
        let ttl = Ttl::from_secs(300).unwrap();
        let record = |(identifier, text): &(&str, &str)| {
            let membership = format!("{{\"setIdentifier\":\"{identifier}\"}}");
            let data = Rdata::parse(rtype, text, &name(ORIGIN)).unwrap();
            (Some(membership.parse().unwrap()), ttl, data)
        };
        RecordSet::assemble(members.iter().map(record)).unwrap()
    };
    let mut zone = zone(&[
        ("example.org.", Rtype::NS, "ns.example.net."),
        ("alias.example.org.", Rtype::CNAME, "web.example.net."),
    ]);
    let www = key("www.example.org.", Rtype::CNAME);
    let aliases = routed(Rtype::CNAME, &[("a", "a.example.net."), ("b", "loop")]);
    zone.put(www, aliases).unwrap();
    zone.put(
        key("loop.example.org.", Rtype::CNAME),
        set(Rtype::CNAME, &["www"]),
    )
    .unwrap();
    let mail = routed(
        Rtype::MX,
        &[
            ("a", "10 mx.example.net."),
            ("b", "10 alias"),
            ("c", "10 alias"),
        ],
    );
    zone.put(key(ORIGIN, Rtype::MX), mail).unwrap();
    let findings: Vec<String> = zone.check().iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "example.org. MX: points at alias.example.org., which is a CNAME: MX needs a name with addresses (RFC 2181 §10.3)",
            "loop.example.org. CNAME: the CNAME leads back to itself",
            "www.example.org. CNAME: the CNAME leads back to itself",
        ]
    );
    assert_eq!(zone.record_count(), 8);
}

#[test]
fn ds_belongs_to_a_delegation() {
    let ds = "60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a";
    finds(
        &[NS, (ORIGIN, Rtype::DS, ds)],
        &["example.org. DS: DS belongs beside the NS records of a delegation"],
    );
}

/// G18: published on purpose more often than not, so it is a note.
#[test]
fn addresses_of_limited_scope_are_noted() {
    let rows = [
        (
            Rtype::A,
            "10.0.0.1",
            "10.0.0.1 is a private address (RFC 1918)",
        ),
        (Rtype::A, "127.0.0.1", "127.0.0.1 is a loopback address"),
        (
            Rtype::A,
            "169.254.169.254",
            "169.254.169.254 is a link-local address; cloud metadata services live there",
        ),
        (
            Rtype::A,
            "100.100.100.200",
            "100.100.100.200 is an address shared behind a provider's NAT (RFC 6598)",
        ),
        (Rtype::A, "0.0.0.0", "0.0.0.0 is the unspecified address"),
        (Rtype::AAAA, "::1", "::1 is a loopback address"),
        (
            Rtype::AAAA,
            "fd00::1",
            "fd00::1 is a private address (RFC 4193)",
        ),
        (Rtype::AAAA, "fe80::1", "fe80::1 is a link-local address"),
    ];
    for (rtype, text, message) in rows {
        finds(
            &[NS, ("a.example.org.", rtype, text)],
            &[&format!("a.example.org. {rtype}: {message}")],
        );
        let findings = zone(&[NS, ("a.example.org.", rtype, text)]).check();
        assert_eq!(findings[0].flaw.severity(), Severity::Note);
    }
    finds(
        &[
            NS,
            ("a.example.org.", Rtype::A, "192.0.2.1"),
            ("b.example.org.", Rtype::A, "11.0.0.1"),
            ("c.example.org.", Rtype::A, "100.128.0.1"),
        ],
        &[],
    );
}

#[test]
fn data_that_breaks_a_rule_of_its_type_is_found() {
    finds(
        &[NS, ("a.example.org.", Rtype::AAAA, "::ffff:192.0.2.1")],
        &["a.example.org. AAAA: an IPv4-mapped address belongs into an A record"],
    );
}

/// A caller who knows what changed sees the same as one who looks at everything.
#[test]
fn checking_set_by_set_finds_the_same() {
    let zone = zone(&[
        (ORIGIN, Rtype::NS, "ns"),
        ("a.example.org.", Rtype::CNAME, "a"),
        ("b.example.org.", Rtype::A, "10.0.0.1"),
    ]);
    let by_set: Vec<Finding> = zone
        .sets()
        .flat_map(|(key, _)| zone.check_at(key))
        .collect();
    assert_eq!(by_set, zone.check());
    assert_eq!(zone.check_at(&key("nowhere.example.org.", Rtype::A)), []);
}

/// N2: whoever holds a version is not disturbed by the next one being made.
#[test]
fn a_clone_stays_as_it_was() {
    let mut zone = zone(&[("www.example.org.", Rtype::A, "192.0.2.1")]);
    let (before, hash) = (zone.clone(), zone.hash());
    let www = key("www.example.org.", Rtype::A);
    zone.put(www.clone(), set(Rtype::A, &["192.0.2.2"]))
        .unwrap();
    assert_eq!(before.get(&www), Some(&set(Rtype::A, &["192.0.2.1"])));
    assert_eq!(before.hash(), hash);
    assert_ne!(zone.hash(), hash);
}
