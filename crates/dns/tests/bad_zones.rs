//! Records that are bad together or in their zone, each beside look-alikes that are
//! fine: R6, G18 to G24, G30, G31, G33 and G34. Data that is bad by itself is in
//! `bad_rdata.rs`.

use std::collections::BTreeMap;

use dns::delegation::{Claim, Delegation, Judge, RecordRule};
use dns::{
    DomainName, Name, Rdata, RecordSet, Rtype, Serial, SetKey, Severity, Soa, Ttl, TtlError, Zone,
    zonefile,
};
use zonewright_dns as dns;

const ORIGIN: &str = "example.org.";

/// Records of the zone `example.org.` that cannot be together, with the rule
/// they break, and such that can.
#[track_caller]
fn check_sets(refused: &[(&[&str], &str)], accepted: &[&[&str]]) {
    assert!(refused.len() >= 3 && accepted.len() >= 2, "too few rows");
    for (lines, rule) in refused {
        let zone = zone(lines).map(|_| ());
        assert_eq!(zone, Err((*rule).to_owned()), "{lines:?}");
    }
    for lines in accepted {
        assert!(zone(lines).is_ok(), "{lines:?}");
    }
}

/// Records that a zone takes, each with what it finds wrong with them.
#[track_caller]
fn check_findings(flawed: &[(&[&str], &[&str])], clean: &[&[&str]]) {
    assert!(flawed.len() >= 3 && clean.len() >= 2, "too few rows");
    let clean = clean.iter().map(|lines| (*lines, &[][..]));
    for (lines, expected) in flawed.iter().copied().chain(clean) {
        let findings = zone(lines).expect("the zone takes them").check();
        let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{lines:?}");
    }
}

/// The zone `example.org.` with a name server elsewhere and these records, each
/// `<name> <type> <data>`.
fn zone(lines: &[&str]) -> Result<Zone, String> {
    let mut zone = Zone::new(name(ORIGIN), soa());
    let mut sets = BTreeMap::<SetKey, Vec<(Ttl, Rdata)>>::new();
    for line in [&["@ NS ns.example.net."], lines].concat() {
        let (owner, rest) = line.split_once(' ').expect("a name");
        let (rtype, text) = rest.split_once(' ').expect("a type");
        let owner = DomainName::parse(owner).and_then(|owner| owner.under(&name(ORIGIN)));
        let key = SetKey::new(
            owner.expect("a good name"),
            rtype.parse().expect("a good type"),
        );
        let data = Rdata::parse(key.rtype, text, &name(ORIGIN)).expect("well-formed data");
        sets.entry(key).or_default().push((Ttl::ZERO, data));
    }
    for (key, members) in sets {
        let set = RecordSet::new(members).map_err(|err| err.to_string())?;
        zone.put(key, set).map_err(|err| err.to_string())?;
    }
    Ok(zone)
}

fn soa() -> Soa {
    Soa {
        ttl: Ttl::ZERO,
        mname: name("ns.example.net."),
        rname: name("noc.example.net."),
        refresh: 1,
        retry: 1,
        expire: 1,
        minimum: Ttl::ZERO,
    }
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("test names are well-formed")
}

/// G18: addresses that are not reachable from everywhere are published, for
/// zones inside a network are common; whoever looks is told.
#[test]
fn an_address_of_limited_scope_is_noted() {
    let noted = [
        ("A", "10.0.0.1", "a private address (RFC 1918)"),
        ("A", "172.16.0.1", "a private address (RFC 1918)"),
        ("A", "192.168.0.1", "a private address (RFC 1918)"),
        ("A", "127.0.0.1", "a loopback address"),
        ("A", "0.0.0.0", "the unspecified address"),
        (
            "A",
            "169.254.169.254",
            "a link-local address; cloud metadata services live there",
        ),
        ("A", "224.0.0.1", "a multicast or broadcast address"),
        ("A", "255.255.255.255", "a multicast or broadcast address"),
        ("AAAA", "::1", "a loopback address"),
        ("AAAA", "::", "the unspecified address"),
        ("AAAA", "fe80::1", "a link-local address"),
        ("AAAA", "fd00:ec2::254", "a private address (RFC 4193)"),
        ("AAAA", "ff02::1", "a multicast address"),
    ];
    for (rtype, address, scope) in noted {
        let line = format!("www {rtype} {address}");
        let findings = zone(&[&line]).expect("the zone takes it").check();
        assert_eq!(findings.len(), 1, "{line}");
        let message = format!("www.example.org. {rtype}: {address} is {scope}");
        assert_eq!(findings[0].to_string(), message);
        assert_eq!(findings[0].flaw.severity(), Severity::Note);
    }
    let lines = [
        "a A 11.0.0.1",
        "b A 172.32.0.1",
        "c A 169.253.0.1",
        "d AAAA 2001:db8::1",
    ];
    assert_eq!(zone(&lines).expect("the zone takes them").check(), []);
}

/// G19: a CNAME at the apex, where the SOA is.
#[test]
fn the_apex_is_no_alias() {
    let rule = "example.org. has SOA, so it cannot also have CNAME: a CNAME stands alone (RFC 1034 §3.6.2)";
    check_sets(
        &[
            (&["@ CNAME www.example.net."], rule),
            (&["example.org. CNAME www.example.net."], rule),
            (&["EXAMPLE.org. CNAME @"], rule),
        ],
        &[
            &["www CNAME @"],
            &["@ DNAME example.net."],
            &["@ HTTPS 0 www.example.net."],
            &["org CNAME www.example.net."],
        ],
    );
}

/// G20: a CNAME beside other data.
#[test]
fn a_cname_stands_alone() {
    let rule = |has: &str, wants: &str| {
        format!(
            "www.example.org. has {has}, so it cannot also have {wants}: a CNAME stands alone (RFC 1034 §3.6.2)"
        )
    };
    let cname = "www CNAME a.example.net.";
    check_sets(
        &[
            (&[cname, "www A 192.0.2.1"], &rule("A", "CNAME")),
            (&[cname, "www TXT x"], &rule("CNAME", "TXT")),
            (
                &[cname, "WWW MX 10 mail.example.net."],
                &rule("CNAME", "MX"),
            ),
            (&[cname, "www NS ns.example.net."], &rule("NS", "CNAME")),
            (&[cname, "www DNAME example.net."], &rule("CNAME", "DNAME")),
            (&[cname, r"www TYPE65280 \# 0"], &rule("CNAME", "TYPE65280")),
        ],
        &[
            &[cname, "www2 A 192.0.2.1"],
            &[cname, "a.www A 192.0.2.1"],
            &[cname, "* A 192.0.2.1"],
            &[cname, "www NSEC z CNAME NSEC"],
            &[
                "www A 192.0.2.1",
                "www TXT x",
                "www MX 10 mail.example.net.",
            ],
        ],
    );
}

/// G21: aliases that lead back to themselves or nowhere soon.
#[test]
fn a_loop_or_a_long_chain_of_aliases_is_found() {
    let chain = |length: usize| -> Vec<String> {
        (1..=length)
            .map(|link| format!("c{link} CNAME c{}", link + 1))
            .chain([format!("c{} A 11.0.0.1", length + 1)])
            .collect()
    };
    let (eight, nine) = (chain(8), chain(9));
    let (eight, nine): (Vec<&str>, Vec<&str>) = (
        eight.iter().map(String::as_str).collect(),
        nine.iter().map(String::as_str).collect(),
    );
    check_findings(
        &[
            (
                &["a CNAME a"],
                &["a.example.org. CNAME: the CNAME leads back to itself"],
            ),
            (
                &["a CNAME A.Example.ORG."],
                &["a.example.org. CNAME: the CNAME leads back to itself"],
            ),
            (
                &["a CNAME b", "b CNAME a"],
                &[
                    "a.example.org. CNAME: the CNAME leads back to itself",
                    "b.example.org. CNAME: the CNAME leads back to itself",
                ],
            ),
            (
                &nine,
                &["c1.example.org. CNAME: more than 8 CNAMEs follow one another"],
            ),
        ],
        &[
            &eight,
            &["a CNAME b", "b CNAME c.example.net."],
            &["a CNAME c.example.net.", "b CNAME c.example.net."],
            &["a CNAME a.a"],
        ],
    );
}

/// G22: several CNAMEs at one name.
#[test]
fn a_name_has_one_alias() {
    let several = |rtype: &str, count: usize| {
        format!("a name has at most one {rtype} record, here are {count}")
    };
    check_sets(
        &[
            (&["a CNAME b", "a CNAME c"], &several("CNAME", 2)),
            (
                &["a CNAME b", "A CNAME c", "a.example.org. CNAME d"],
                &several("CNAME", 3),
            ),
            (&["* CNAME b", "* CNAME c"], &several("CNAME", 2)),
            (&["a DNAME b", "a DNAME c"], &several("DNAME", 2)),
        ],
        &[
            &["a CNAME b", "a CNAME B", "a CNAME b.example.org."],
            &["a CNAME c", "b CNAME c"],
            &["a A 192.0.2.1", "a A 192.0.2.2"],
        ],
    );
}

/// G23: name servers without an address, at an address, or at an alias.
#[test]
fn a_name_server_has_an_address() {
    let address = "NS points at a name, not at an address";
    let no_address = "points at ns.sub.example.org., which has no A or AAAA record in this zone";
    check_findings(
        &[
            (
                &["sub NS ns.sub"],
                &[&format!("sub.example.org. NS: {no_address}")],
            ),
            (
                &["sub NS ns.sub", "ns.sub TXT x"],
                &[
                    "sub.example.org. NS: points at ns.sub.example.org., which has no A or AAAA record in this zone",
                    "ns.sub.example.org. TXT: never answered: sub.example.org. NS hands over everything below it",
                ],
            ),
            (
                &["sub NS ns", "ns CNAME ns.example.net."],
                &[
                    "sub.example.org. NS: points at ns.example.org., which is a CNAME: NS needs a name with addresses (RFC 2181 §10.3)",
                ],
            ),
            (
                &["sub NS 192.0.2.1."],
                &[&format!("sub.example.org. NS: {address}")],
            ),
        ],
        &[
            &["sub NS ns.sub", "ns.sub A 11.0.0.1"],
            &["sub NS ns.sub", "ns.sub AAAA 2001:db8::1"],
            &["sub NS ns.example.net."],
            &["sub NS ns", "ns A 11.0.0.1"],
        ],
    );
}

/// G24: mail servers and services at an alias, or without an address.
#[test]
fn a_mail_server_or_service_has_an_address() {
    let alias = |rtype: &str| {
        format!(
            "points at mail.example.org., which is a CNAME: {rtype} needs a name with addresses (RFC 2181 §10.3)"
        )
    };
    let missing = "points at mail.example.org., which has no A or AAAA record in this zone";
    let cname = "mail CNAME mail.example.net.";
    check_findings(
        &[
            (
                &["@ MX 10 mail", cname],
                &[&format!("example.org. MX: {}", alias("MX"))],
            ),
            (
                &["_s._tcp SRV 0 0 1 mail", cname],
                &[&format!("_s._tcp.example.org. SRV: {}", alias("SRV"))],
            ),
            (&["@ MX 10 mail"], &[&format!("example.org. MX: {missing}")]),
            (
                &["@ MX 10 mail", "mail TXT x"],
                &[&format!("example.org. MX: {missing}")],
            ),
        ],
        &[
            &["@ MX 10 mail", "mail A 11.0.0.1"],
            &["@ MX 10 mail", "* AAAA 2001:db8::1"],
            &["@ MX 10 mail.example.net."],
            &["@ MX 0 ."],
            &["_s._tcp SRV 0 0 0 ."],
        ],
    );
}

/// G24: a null MX beside another.
#[test]
fn a_null_mx_stands_alone() {
    let null = "the null MX \"0 .\" says that no mail is taken and stands alone (RFC 7505 §3)";
    check_sets(
        &[
            (&["@ MX 0 .", "@ MX 10 mail"], null),
            (&["@ MX 10 mail", "@ MX 20 ."], null),
            (&["* MX 0 .", "* MX 0 mail"], null),
        ],
        &[
            &["@ MX 0 ."],
            &["@ MX 0 .", "@ MX 0 ."],
            &["@ MX 0 a", "@ MX 0 b"],
        ],
    );
}

/// G30: an SOA from a user, or a second one.
#[test]
fn a_zone_has_its_own_soa() {
    let own = |name: &str| format!("{name} SOA: a zone's SOA is made of its own fields");
    check_sets(
        &[
            (&["@ SOA ns noc 1 1 1 1 1"], &own("example.org.")),
            (&["sub SOA ns noc 1 1 1 1 1"], &own("sub.example.org.")),
            (&["* SOA ns noc 1 1 1 1 1"], &own("*.example.org.")),
            (
                &["@ SOA ns noc 1 1 1 1 1", "@ SOA ns noc 2 1 1 1 1"],
                "a name has at most one SOA record, here are 2",
            ),
        ],
        &[&["soa A 192.0.2.1"], &["@ NS ns.example.com."]],
    );
    let text =
        "@ 1 IN SOA ns noc 1 1 1 1 1\n@ 1 IN SOA ns noc 2 1 1 1 1\nsub 1 IN SOA ns noc 3 1 1 1 1\n";
    let reading = zonefile::parse(text, Some(&name(ORIGIN)));
    let problems: Vec<&str> = reading
        .problems
        .iter()
        .map(|problem| &*problem.message)
        .collect();
    assert_eq!(problems, ["a zone has one SOA record, this is another"; 2]);
    assert_eq!(reading.zone.map(|(_, serial)| serial), Some(Serial(1)));
}

/// G31: types that steer a zone are not handed out with all the others.
#[test]
fn tenants_do_not_write_what_steers_the_zone() {
    let rule = |types: &[Rtype]| Delegation {
        records: vec![RecordRule {
            pattern: "*".parse().expect("a pattern"),
            types: types.to_vec(),
        }],
        ..Delegation::default()
    };
    let allows = |types: &[Rtype], rtype: Rtype| {
        let (origin, host, delegations) = (name(ORIGIN), name("www.example.org."), [rule(types)]);
        let judge = Judge {
            origin: &origin,
            namespace: "zones",
            delegations: &delegations,
        };
        judge.allows_record(Claim {
            name: &host,
            rtype,
            namespace: "tenant",
        })
    };
    let steering = [
        "SOA",
        "DNSKEY",
        "RRSIG",
        "NSEC",
        "NSEC3",
        "NSEC3PARAM",
        "DS",
        "CDS",
        "CDNSKEY",
        "DLV",
        "TA",
        "KEY",
        "SIG",
        "NXT",
        "ZONEMD",
        "TYPE46",
    ];
    for rtype in steering.map(|rtype| rtype.parse().expect("a type")) {
        assert!(!allows(&[], rtype), "{rtype} by a rule for all types");
        assert!(!allows(&[Rtype::A], rtype), "{rtype} by a rule for another");
        assert!(allows(&[rtype], rtype), "{rtype} by name");
    }
    let ordinary = [
        "A",
        "AAAA",
        "CNAME",
        "TXT",
        "MX",
        "SRV",
        "CAA",
        "TLSA",
        "SSHFP",
        "NS",
        "DNAME",
        "TYPE65280",
    ];
    for rtype in ordinary.map(|rtype| rtype.parse().expect("a type")) {
        assert!(allows(&[], rtype), "{rtype} by a rule for all types");
        assert!(
            !allows(&[Rtype::PTR], rtype),
            "{rtype} by a rule for another"
        );
    }
}

/// G33: numbers that are no TTL; in one set the lowest is everybody's.
#[test]
fn a_ttl_is_within_bounds_and_one_per_set() {
    let rule = "a TTL is a number of seconds from 0 to 2147483647 (RFC 2181 §8)";
    assert_eq!(TtlError.to_string(), rule);
    for secs in [
        -1,
        -300,
        2_147_483_648,
        4_294_967_295,
        4_294_967_296,
        i64::MAX,
        i64::MIN,
    ] {
        assert_eq!(Ttl::from_secs(secs), Err(TtlError), "{secs}");
    }
    for secs in [0, 1, 300, 2_147_483_647] {
        assert_eq!(
            Ttl::from_secs(secs).map(|ttl| ttl.to_string()),
            Ok(secs.to_string())
        );
    }
    for (ttls, lowest) in [(&[300, 60, 3600][..], 60), (&[0, 60], 0), (&[5, 5], 5)] {
        let records = ttls.iter().zip(1_u8..).map(|(secs, host)| {
            let data = Rdata::from_wire(Rtype::A, &[192, 0, 2, host]).expect("an address");
            (Ttl::from_secs(*secs).expect("within bounds"), data)
        });
        let set = RecordSet::new(records).expect("a set");
        assert_eq!(set.ttl().as_secs(), lowest);
        assert_eq!(set.data().len(), ttls.len());
    }
}

/// G34: more than an answer can carry.
#[test]
fn a_set_fits_into_an_answer() {
    let addresses = |count: u32| {
        RecordSet::new((0..count).map(|number| {
            let data = Rdata::from_wire(Rtype::A, &number.to_be_bytes()).expect("an address");
            (Ttl::ZERO, data)
        }))
    };
    let texts = |count: u8, strings: usize| {
        let chunk = [&[255_u8][..], &[b'x'; 255]].concat();
        RecordSet::new((0..count).map(|number| {
            let wire = [vec![1, number], chunk.repeat(strings)].concat();
            (
                Ttl::ZERO,
                Rdata::from_wire(Rtype::TXT, &wire).expect("strings"),
            )
        }))
    };
    let large = |octets| format!("the set takes {octets} octets in an answer, at most 65253 fit");
    let refused = [
        (addresses(10_000), large(160_000)),
        (addresses(4_079), large(65_264)),
        (texts(1, 255), large(65_294)),
        (texts(2, 130), large(66_588)),
    ];
    for (set, rule) in refused {
        assert_eq!(set.map_err(|err| err.to_string()), Err(rule));
    }
    for set in [addresses(4_078), addresses(1), texts(1, 254), texts(2, 127)] {
        assert!(set.is_ok());
    }
    // What is there often counts once.
    let same = Rdata::from_wire(Rtype::A, &[192, 0, 2, 1]).expect("an address");
    let set = RecordSet::new(std::iter::repeat_n((Ttl::ZERO, same), 10_000)).expect("one record");
    assert_eq!(set.data().len(), 1);
}
