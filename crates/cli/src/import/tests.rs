//! Zone files through the whole way: text, objects, YAML, and back to a zone by the parsers of the controllers.

use std::collections::{BTreeMap, BTreeSet};

use api::parse;
use api::{Record, Zone};
use dns::delegation::{Claim, Judge};
use dns::{Name, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl, zonefile};
use kube::ResourceExt;
use proptest::prelude::*;

use super::*;

fn identity() -> Identity {
    Identity {
        zone: "zone".to_owned(),
        namespace: "dns".to_owned(),
    }
}

/// What importing a text prints, or the problems.
fn import(text: &str) -> Result<String, Vec<LineProblem>> {
    let (_, objects) = read(text.as_bytes(), None, &identity())?;
    Ok(yaml(&documents(&objects).unwrap()).unwrap())
}

/// The objects in a YAML stream.
fn objects(yaml: &str) -> (Zone, Vec<Record>) {
    let documents: Vec<Value> = serde_saphyr::from_multiple(yaml).unwrap();
    let mut documents = documents.into_iter();
    let zone = serde_json::from_value(documents.next().unwrap()).unwrap();
    let records = documents.map(|record| serde_json::from_value(record).unwrap());
    (zone, records.collect())
}

/// The zone that a controller makes of objects: every record that parses and is let in.
fn controlled(zone: &Zone, records: &[Record]) -> dns::Zone {
    let (claim, problems) = parse::zone::parse(zone);
    assert_eq!(problems, []);
    let origin = claim.place.unwrap().full_name().unwrap().clone();
    let soa = claim.soa.unwrap().under(&origin).unwrap();
    let mut sets = BTreeMap::<SetKey, Vec<(Ttl, Rdata)>>::new();
    for server in claim.name_servers {
        let key = SetKey::new(origin.clone(), Rtype::NS);
        sets.entry(key)
            .or_default()
            .push((soa.ttl, server.under(&origin).unwrap()));
    }
    let judge = Judge {
        origin: &origin,
        namespace: "dns",
        delegations: &claim.delegations,
    };
    for record in records {
        let (claim, problems) = parse::record::parse(record);
        assert_eq!(problems, []);
        let name = claim.place.unwrap().under(&origin).unwrap();
        let content = claim.content.unwrap();
        let data = content.under(&origin).unwrap();
        assert!(
            judge.allows_record(Claim {
                name: &name,
                rtype: data.rtype(),
                namespace: "dns"
            }),
            "{name} {data:?}"
        );
        let stranger = Claim {
            name: &name,
            rtype: data.rtype(),
            namespace: "web",
        };
        assert!(!judge.allows_record(stranger), "{name} {data:?}");
        let ttl = content.ttl.unwrap_or(soa.ttl);
        sets.entry(SetKey::new(name, data.rtype()))
            .or_default()
            .push((ttl, data));
    }
    let mut zone = dns::Zone::new(origin, soa);
    for (key, members) in sets {
        zone.put(key, RecordSet::new(members).unwrap()).unwrap();
    }
    zone
}

/// Whether an object could be called this (RFC 1123 §2.1, as Kubernetes reads it).
fn is_object_name(name: &str) -> bool {
    let is_label = |label: &str| {
        let plain = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit();
        let octets = label.as_bytes();
        octets.first().is_some_and(|octet| plain(*octet))
            && octets.last().is_some_and(|octet| plain(*octet))
            && octets.iter().all(|octet| plain(*octet) || *octet == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// R5, R7, Z8: the objects say what the file says, but for what a signer made.
#[track_caller]
fn check_round_trip(text: &str, left_out: &[Rtype]) {
    let printed = import(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let (zone, records) = objects(&printed);
    let (mut expected, _) = zonefile::parse(text, None).zone.unwrap();
    let keys: Vec<SetKey> = expected.sets().map(|(key, _)| key.clone()).collect();
    for key in keys.iter().filter(|key| left_out.contains(&key.rtype)) {
        expected.remove(key);
    }
    assert_eq!(controlled(&zone, &records).hash(), expected.hash());
    let names: BTreeSet<String> = records.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names.len(), records.len(), "two have one name");
    assert!(names.iter().all(|name| is_object_name(name)), "{names:?}");
}

#[test]
fn a_company_s_zone_survives() {
    check_round_trip(include_str!("../../tests/zones/company.zone"), &[]);
}

#[test]
fn a_reverse_zone_survives() {
    check_round_trip(include_str!("../../tests/zones/reverse.zone"), &[]);
}

#[test]
fn a_signed_zone_survives_without_its_signatures() {
    let left_out = [Rtype::RRSIG, Rtype::DNSKEY, Rtype::NSEC3, Rtype::NSEC3PARAM];
    check_round_trip(include_str!("../../tests/zones/signed.zone"), &left_out);
}

#[test]
fn the_same_file_gives_the_same_objects_whatever_the_order_of_its_lines() {
    let text = include_str!("../../tests/zones/signed.zone");
    let (zone, serial) = zonefile::parse(text, None).zone.unwrap();
    let printed = zonefile::print(&zone, serial);
    let mut lines: Vec<&str> = printed.lines().collect();
    lines[2..].reverse();
    assert_eq!(import(text), import(&lines.join("\n")));
}

/// What people read: defaults are left out, names are relative, values that are text are quoted.
#[test]
fn objects_are_written_as_people_write_them() {
    let text = "$ORIGIN example.org.\n$TTL 360\n@ SOA ns noc 1 86400 7200 3600000 360\n NS ns\n NS ns.example.net.\n\
        ns A 192.0.2.53\nwww 60 CNAME @\n";
    let printed = "\
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata:
  name: zone
  namespace: dns
spec:
  delegations:
  - namespaces:
    - dns
    records:
    - pattern: \"@\"
      types: []
    - pattern: \"*\"
      types: []
    zones: []
  domainName: example.org.
  expire: 3600000
  nameservers:
  - ns.example.net.
  - ns
  negativeResponseCache: 360
  refresh: 86400
  retry: 7200
  ttl: 360
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata:
  name: ns-a.zone
  namespace: dns
spec:
  domainName: ns
  rdata: \"192.0.2.53\"
  type: A
  zoneRef:
    name: zone
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata:
  name: www-cname.zone
  namespace: dns
spec:
  domainName: www
  rdata: example.org.
  ttl: 60
  type: CNAME
  zoneRef:
    name: zone
";
    assert_eq!(import(text).as_deref(), Ok(printed));
}

/// A Zone's name servers have the TTL of the zone; others are Records.
#[test]
fn name_servers_with_a_ttl_of_their_own_are_records() {
    let text = "$ORIGIN example.org.\n@ 360 SOA ns noc 1 2 3 4 5\n@ 86400 NS ns1\n@ 86400 NS ns2\n";
    check_round_trip(text, &[]);
    let (zone, records) = objects(&import(text).unwrap());
    assert_eq!(zone.spec.nameservers, Vec::<String>::new());
    let shown: Vec<_> = records
        .iter()
        .map(|it| (it.spec.type_.as_str(), it.spec.ttl))
        .collect();
    assert_eq!(shown, [("NS", Some(86_400)); 2]);
}

/// Z12: types that an empty list leaves out are let in by name, and only where they are.
#[test]
fn types_of_dnssec_that_stay_are_let_in_by_name() {
    let ds = "12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let text = format!(
        "$ORIGIN example.org.\n$TTL 1\n@ SOA ns noc 1 2 3 4 5\nsub NS ns.example.net.\nsub DS {ds}\n"
    );
    check_round_trip(&text, &[]);
    let (zone, _) = objects(&import(&text).unwrap());
    let rules = &zone.spec.delegations[0].records;
    let rules: Vec<(&str, &[String])> = rules
        .iter()
        .map(|rule| (rule.pattern.as_str(), &rule.types[..]))
        .collect();
    assert_eq!(
        rules,
        [("@", &[][..]), ("*", &[]), ("*", &["DS".to_owned()])]
    );
}

/// A name that ends in the zone's own looks like one whose final dot was forgotten.
#[test]
fn a_name_that_repeats_the_zone_s_is_written_in_full() {
    let text = "$TTL 1\nexample.org. SOA ns.example.org.example.org. a. 1 2 3 4 5\n\
        example.org.example.org. TXT a\nexample.org. NS example.org.example.org.\n\
        example.org.example.org. A 192.0.2.1\n";
    check_round_trip(text, &[]);
    let (zone, records) = objects(&import(text).unwrap());
    assert_eq!(zone.spec.nameservers, ["example.org.example.org."]);
    assert_eq!(records[0].spec.domain_name, "example.org.example.org.");
}

/// All problems at once: of the text, of the zone, and of what no Record can say.
#[test]
fn every_problem_is_told_with_its_line() {
    let text = "$ORIGIN example.org.\n$TTL 1\n@ SOA -ns noc 1 2 3 4 5\n\
        a A 300.0.0.1\n\
        b CNAME c\n\
        b A 192.0.2.1\n\
        c 1 A 192.0.2.1\n\
        c 2 A 192.0.2.2\n\
        www.example.net. A 192.0.2.1\n\
        $INCLUDE other\n\
        _a A 192.0.2.1\n\
        x.*.y TXT a\n\
        -b TXT a\n\
        c MX 10 not_a_host\n\
        d SRV 0 0 0 host\n\
        @ NS ns\n\
        @ NS under_score\n\
        good A 192.0.2.1\n";
    let problems = import(text).unwrap_err();
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 17]);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told[0],
        "line 3: soa.mname: label \"-ns\" must not start or end with a hyphen"
    );
    assert_eq!(
        told[6],
        "line 11: _a A: type A needs a host name: letters, digits and hyphens only"
    );
    assert!(
        told[11].starts_with("line 17: NS under_score.example.org.: "),
        "{told:?}"
    );
}

#[test]
fn octets_that_are_no_text_are_told_with_their_line() {
    let problems = text(b"a\nb\n\xff\n").unwrap_err();
    assert_eq!(problems[0].line, 3);
    assert_eq!(text("é".as_bytes()), Ok("é"));
}

mod generated {
    use super::*;

    fn origin() -> Name {
        Name::parse("example.org.").unwrap()
    }

    /// Labels that a `domainName` takes, and labels that it does not.
    fn label(hostile: bool) -> impl Strategy<Value = Vec<u8>> {
        let odd = if hostile { 2 } else { 0 };
        prop_oneof![
            8 => "[ab]{1,2}".prop_map(String::into_bytes),
            2 => "[a-z0-9]{1,3}-[a-z0-9]{1,3}".prop_map(String::into_bytes),
            2 => "_[a-z]{1,4}".prop_map(String::into_bytes),
            1 => "[a-z]{60,63}".prop_map(String::into_bytes),
            1 => prop::sample::select(vec!["apex", "wildcard", "xn--bcher-kva", "a--b", "0/25", "x", "a\u{0}b", "a.b", "a b", "example", "org"])
                .prop_map(|label| label.as_bytes().to_vec()),
            odd => prop_oneof![Just(b"*".to_vec()), Just(b"-a".to_vec()), prop::collection::vec(any::<u8>(), 1..6)],
        ]
    }

    fn owner(hostile: bool) -> impl Strategy<Value = Name> {
        (
            prop::collection::vec(label(hostile), 0..3),
            prop::bool::weighted(0.1),
        )
            .prop_map(|(mut labels, wildcard)| {
                if wildcard {
                    labels.insert(0, b"*".to_vec());
                }
                let mut wire = Vec::new();
                for label in labels {
                    wire.push(u8::try_from(label.len()).unwrap());
                    wire.extend(label);
                }
                wire.extend_from_slice(origin().as_wire());
                Name::from_wire(&wire).unwrap()
            })
    }

    fn host() -> impl Strategy<Value = String> {
        "[a-z]{1,8}(-[a-z0-9]{1,3})?(\\.[a-z]{2,5}\\.)?"
    }

    fn hex(octets: &[u8]) -> String {
        let digits = octets.iter().map(|octet| format!("{octet:02x}"));
        digits.collect::<Vec<_>>().concat()
    }

    /// Data that the rules of its type allow.
    fn data() -> impl Strategy<Value = (Rtype, String)> {
        let typed = |rtype: Rtype| move |text: String| (rtype, text);
        prop_oneof![
            4 => any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}")).prop_map(typed(Rtype::A)),
            2 => any::<u16>().prop_map(|last| format!("2001:db8::{last:x}")).prop_map(typed(Rtype::AAAA)),
            2 => prop::collection::vec(any::<u8>(), 0..40).prop_map(|octets| {
                let wire = [&[u8::try_from(octets.len()).unwrap()], &octets[..]].concat();
                (Rtype::TXT, Rdata::from_wire(Rtype::TXT, &wire).unwrap().to_string())
            }),
            2 => (any::<u16>(), host()).prop_map(|(preference, host)| format!("{preference} {host}")).prop_map(typed(Rtype::MX)),
            1 => host().prop_map(typed(Rtype::NS)),
            1 => host().prop_map(typed(Rtype::CNAME)),
            1 => (any::<[u16; 2]>(), 1..=u16::MAX, host()).prop_map(|([a, b], port, host)| format!("{a} {b} {port} {host}")).prop_map(typed(Rtype::SRV)),
            1 => "[a-z]{1,10}".prop_map(|value| format!("0 issue \"{value}\"")).prop_map(typed(Rtype::CAA)),
            1 => prop::collection::vec(any::<u8>(), 32..=32).prop_map(|digest| {
                (Rtype::DS, format!("1 13 2 {}", hex(&digest)))
            }),
            1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(|octets| {
                (Rtype::from_int(65_280), format!("\\# {} {}", octets.len(), hex(&octets)))
            }),
        ]
    }

    fn ttl() -> impl Strategy<Value = Ttl> {
        prop_oneof![Just(60_u32), Just(300), 0..=Ttl::MAX.as_secs()]
            .prop_map(|secs| Ttl::from_secs(secs).unwrap())
    }

    fn soa() -> impl Strategy<Value = Soa> {
        let name = || {
            prop_oneof![
                Just("ns"),
                Just("noc"),
                Just("dns\\.admin"),
                Just("a.example.net."),
                Just("@")
            ]
        };
        (ttl(), name(), name(), any::<[u32; 3]>(), ttl()).prop_map(
            |(ttl, mname, rname, [refresh, retry, expire], minimum)| {
                let name = |text: &str| {
                    dns::DomainName::parse(text)
                        .unwrap()
                        .under(&origin())
                        .unwrap()
                };
                Soa {
                    ttl,
                    mname: name(mname),
                    rname: name(rname),
                    refresh,
                    retry,
                    expire,
                    minimum,
                }
            },
        )
    }

    /// A zone of whatever a zone takes.
    fn zone(hostile: bool) -> impl Strategy<Value = dns::Zone> {
        let set = (owner(hostile), prop::collection::vec(data(), 1..4), ttl());
        (soa(), prop::collection::vec(set, 0..12)).prop_map(move |(soa, sets)| {
            let mut zone = dns::Zone::new(origin(), soa);
            for (owner, data, ttl) in sets {
                let rtype = data[0].0;
                let members = data.into_iter().filter(|(other, _)| *other == rtype);
                let members =
                    members.map(|(_, text)| (ttl, Rdata::parse(rtype, &text, &origin()).unwrap()));
                let needs_host = matches!(rtype, Rtype::A | Rtype::AAAA | Rtype::MX);
                if !hostile && needs_host && !is_host(&owner) {
                    continue;
                }
                if let Ok(set) = RecordSet::new(members) {
                    let _ = zone.put(SetKey::new(owner, rtype), set);
                }
            }
            zone
        })
    }

    fn is_host(name: &Name) -> bool {
        let name = if name.is_wildcard() {
            name.parent().unwrap()
        } else {
            name.clone()
        };
        dns::host_name(&name.to_string()).is_ok()
    }

    proptest! {
        /// R5, R7, Z8: whatever Zone and Records can say survives the way into YAML and back.
        #[test]
        fn a_zone_survives(zone in zone(false), serial: u32) {
            check_round_trip(&zonefile::print(&zone, Serial(serial)), &[]);
        }

        /// A zone is imported whole, or not at all and with the lines that are at fault.
        #[test]
        fn a_hostile_zone_survives_or_is_told_of(zone in zone(true)) {
            let text = zonefile::print(&zone, Serial(1));
            match import(&text) {
                Ok(_) => check_round_trip(&text, &[]),
                Err(problems) => {
                    let count = text.lines().count();
                    prop_assert!(problems.iter().all(|problem| (1..=count).contains(&problem.line)), "{:?}", problems);
                }
            }
        }
    }
}
