//! Specs in, claims and problems out.

use dns::routing::Weight;
use serde_json::{Value, json};

use super::*;

/// A Record `team/record` with these fields beside those no Record can be without.
fn object(fields: &Value) -> object::Record {
    let mut spec = json!({ "domainName": "www.example.org.", "type": "A", "rdata": "192.0.2.1" });
    let given = fields.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(given);
    let metadata = json!({ "name": "record", "namespace": "team" });
    serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap()
}

fn parse_spec(fields: &Value) -> (Record, Vec<String>) {
    let (record, problems) = parse(&object(fields));
    (record, problems.iter().map(ToString::to_string).collect())
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Asserts that the fields are refused for exactly this, while the name still stands.
fn refused(fields: &Value, problem: &str) {
    let (record, found) = parse_spec(fields);
    assert_eq!(found, [problem], "{fields}");
    assert_eq!(record.content, None, "{fields}");
    assert!(record.place.is_some(), "{fields}");
}

fn accepted(fields: &Value) -> Content {
    let (record, found) = parse_spec(fields);
    assert_eq!(found, [""; 0], "{fields}");
    record.content.unwrap()
}

/// R1, R5: type and data are read together, relative names are completed by the zone.
#[test]
fn data_is_read_by_type() {
    let cases = [
        ("A", "192.0.2.1", "A 192.0.2.1"),
        ("a", "192.0.2.1", "A 192.0.2.1"),
        ("AAAA", "2001:DB8::1", "AAAA 2001:db8::1"),
        ("CNAME", "web", "CNAME web.example.org."),
        ("CNAME", "web.example.net.", "CNAME web.example.net."),
        ("MX", "10 mail", "MX 10 mail.example.org."),
        ("TXT", "\"v=spf1 -all\"", "TXT \"v=spf1 -all\""),
        ("TYPE1", "192.0.2.1", "A 192.0.2.1"),
        ("TYPE65280", r"\# 2 abcd", r"TYPE65280 \# 2 ab cd"),
    ];
    for (rtype, rdata, text) in cases {
        let content = accepted(&json!({ "type": rtype, "rdata": rdata }));
        let data = content.under(&name("example.org.")).unwrap();
        assert_eq!(format!("{} {data}", content.rtype()), text);
    }
}

/// R5: bad data never leaves the object; the name stands all the same.
#[test]
fn bad_data_is_refused_and_the_name_stands() {
    let cases = [
        ("AAAA", "127.0.0.1"),
        ("A", "2001:db8::1"),
        ("A", "192.0.2.256"),
        ("A", ""),
        ("TXT", "\"a\"\nevil.example.org. 0 IN A 192.0.2.66"),
        ("TXT", "\"open"),
        ("TYPE65280", r"\# 3 abcd"),
    ];
    for (rtype, rdata) in cases {
        let (record, found) = parse_spec(&json!({ "type": rtype, "rdata": rdata }));
        assert_eq!(found.len(), 1, "{rdata:?}: {found:?}");
        assert!(found[0].starts_with("spec.rdata: "), "{found:?}");
        assert!(!found[0].contains('\n'), "{found:?}");
        assert_eq!(record.content, None);
        assert_eq!(
            record.place.unwrap().full_name(),
            Some(&name("www.example.org."))
        );
    }
}

/// G30.
#[test]
fn types_that_cannot_be_records_are_refused() {
    let soa = "is not for Records: the SOA record is made from the fields of the Zone";
    let meta = "is a meta type, which exists in messages only";
    let unknown = "must be a record type: a mnemonic such as A, or TYPE and a number up to 65535";
    let cases = [
        ("SOA", soa),
        ("soa", soa),
        ("TYPE6", soa),
        ("ANY", meta),
        ("TSIG", meta),
        ("TKEY", meta),
        ("OPT", meta),
        ("AXFR", meta),
        ("TYPE0", meta),
        ("ALIAS", unknown),
        ("TYPE65536", unknown),
        ("", unknown),
    ];
    for (rtype, rule) in cases {
        refused(
            &json!({ "type": rtype }),
            &format!("spec.type: {rule}: got \"{rtype}\""),
        );
    }
}

/// G31: whether they may be written is the delegation's to say.
#[test]
fn types_of_dnssec_are_read_like_any_other() {
    let digest = "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118";
    assert_eq!(
        accepted(&json!({ "type": "DS", "rdata": digest })).rtype(),
        Rtype::DS
    );
}

#[test]
fn only_class_in_is_published() {
    for class in ["CH", "HS"] {
        let rule = "is not supported: only class IN is published";
        refused(
            &json!({ "class": class }),
            &format!("spec.class: {rule}: got \"{class}\""),
        );
    }
    accepted(&json!({ "class": "IN" }));
}

/// G33, R7.
#[test]
fn the_time_to_live_is_bounded_and_optional() {
    let rule = "a TTL is a number of seconds from 0 to 2147483647 (RFC 2181 §8)";
    for seconds in [2_147_483_648_u32, 3_000_000_000, u32::MAX] {
        refused(
            &json!({ "ttl": seconds }),
            &format!("spec.ttl: {rule}: got \"{seconds}\""),
        );
    }
    for seconds in [0, 300, 2_147_483_647_u32] {
        let ttl = accepted(&json!({ "ttl": seconds })).ttl;
        assert_eq!(ttl, Some(Ttl::from_secs(seconds).unwrap()));
    }
    assert_eq!(accepted(&json!({})).ttl, None);
    assert_eq!(accepted(&json!({ "ttl": null })).ttl, None);
}

/// G7.
#[test]
fn addresses_and_mail_stand_at_host_names_only() {
    let data = [
        ("A", "192.0.2.1"),
        ("AAAA", "2001:db8::1"),
        ("MX", "10 mail.example.org."),
    ];
    for (rtype, rdata) in data {
        for text in [
            "_sip.example.org.",
            "a_b.example.org.",
            "0/25.2.0.192.in-addr.arpa.",
        ] {
            let fields = json!({ "domainName": text, "type": rtype, "rdata": rdata });
            let rule = format!("type {rtype} needs a host name: letters, digits and hyphens only");
            refused(&fields, &format!("spec.domainName: {rule}: got \"{text}\""));
        }
        for text in [
            "www.example.org.",
            "*.example.org.",
            "1.example.org.",
            "example.org.",
        ] {
            accepted(&json!({ "domainName": text, "type": rtype, "rdata": rdata }));
        }
    }
    let relative = json!({ "domainName": "_sip", "zoneRef": { "name": "zone" } });
    refused(
        &relative,
        "spec.domainName: type A needs a host name: letters, digits and hyphens only: got \"_sip\"",
    );
}

/// G7: look-alikes that are fine.
#[test]
fn other_types_may_stand_at_underscores() {
    let cases = [
        ("_sip._tcp.example.org.", "SRV", "0 5 5060 sip.example.org."),
        ("_dmarc.example.org.", "TXT", "\"v=DMARC1\""),
        ("_acme-challenge.example.org.", "CNAME", "acme.example.net."),
        (
            "_443._tcp.example.org.",
            "TLSA",
            &format!("3 1 1 {}", "ab".repeat(32)),
        ),
        ("1.0/25.2.0.192.in-addr.arpa.", "PTR", "www.example.org."),
    ];
    for (text, rtype, rdata) in cases {
        accepted(&json!({ "domainName": text, "type": rtype, "rdata": rdata }));
    }
}

/// R1, R2, R3, G35.
#[test]
fn a_record_is_where_its_name_and_its_reference_say() {
    let cases = [
        (
            json!({ "domainName": "www.example.org." }),
            "www.example.org.",
            None,
        ),
        (
            json!({ "domainName": "www", "zoneRef": { "name": "z" } }),
            "www.above.test.",
            Some("team/z"),
        ),
        (
            json!({ "domainName": "@", "zoneRef": { "name": "z" } }),
            "above.test.",
            Some("team/z"),
        ),
        (
            json!({ "domainName": "*", "zoneRef": { "name": "z" } }),
            "*.above.test.",
            Some("team/z"),
        ),
        (
            json!({ "domainName": "www.above.test.", "zoneRef": { "name": "z", "namespace": "dns" } }),
            "www.above.test.",
            Some("dns/z"),
        ),
    ];
    for (fields, fqdn, parent) in cases {
        let (record, found) = parse_spec(&fields);
        assert_eq!(found, [""; 0], "{fields}");
        let place = record.place.unwrap();
        assert_eq!(place.under(&name("above.test.")).unwrap().to_string(), fqdn);
        assert_eq!(place.parent().map(ToString::to_string).as_deref(), parent);
    }
    for text in ["www", "www.example.org", "@"] {
        let (record, found) = parse_spec(&json!({ "domainName": text }));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("spec.domainName: must end in a dot, or "),
            "{found:?}"
        );
        assert_eq!(record.place, None);
        assert!(
            record.content.is_some(),
            "the content stands without the name"
        );
    }
}

/// N6, G40.
#[test]
fn routing_is_read_into_weights_and_places() {
    let content = accepted(&json!({
        "routing": { "setIdentifier": "eu 1", "weight": 0, "geo": "geo-eu" },
    }));
    let Membership {
        identifier,
        routing,
    } = content.routing.unwrap();
    assert_eq!(identifier.as_str(), "eu 1");
    assert_eq!(routing.weight.map(Weight::get), Some(0));
    assert_eq!(
        routing.geo.map(|geo| geo.to_string()).as_deref(),
        Some("GEO-EU")
    );
    for geo in ["*", "DE", "de", "GEO-AF"] {
        accepted(&json!({ "routing": { "setIdentifier": "a", "geo": geo } }));
    }
    for weight in [0, 120, 255] {
        accepted(&json!({ "routing": { "setIdentifier": "a", "weight": weight } }));
    }
    assert_eq!(accepted(&json!({ "routing": null })).routing, None);
}

/// N6, G40.
#[test]
fn routing_that_leads_nowhere_is_refused() {
    let geo = "unexpected geo code. Prefix with GEO- for continents or use ISO_3166 Alpha 2 supported code for countries";
    let printable = "must be 1 to 128 printable ASCII characters";
    let cases = [
        (json!({ "setIdentifier": "" }), format!("setIdentifier: {printable}: got \"\"")),
        (json!({ "setIdentifier": "a\nb" }), format!("setIdentifier: {printable}: got \"a\\nb\"")),
        (json!({ "setIdentifier": "é" }), format!("setIdentifier: {printable}: got \"é\"")),
        (
            json!({ "setIdentifier": "a", "weight": 256 }),
            "weight: a weight is a whole number from 0 to 255: got \"256\"".to_owned(),
        ),
        (json!({ "setIdentifier": "a", "geo": "ZZ" }), format!("geo: {geo}: got \"ZZ\"")),
        (json!({ "setIdentifier": "a", "geo": "" }), format!("geo: {geo}: got \"\"")),
        (
            json!({ "setIdentifier": "a", "geo": "GEO-XX" }),
            "geo: unexpected continent code. The continents are AF, AN, AS, EU, NA, OC and SA: got \"GEO-XX\"".to_owned(),
        ),
        (
            json!({ "setIdentifier": "a", "geo": "europe-west1" }),
            "geo: is a region of one provider; use a country or a continent: got \"europe-west1\"".to_owned(),
        ),
    ];
    for (routing, problem) in cases {
        refused(
            &json!({ "routing": routing }),
            &format!("spec.routing.{problem}"),
        );
    }
    let long = "a".repeat(129);
    let (record, found) = parse_spec(&json!({ "routing": { "setIdentifier": long } }));
    assert_eq!((record.content, found.len()), (None, 1));
    accepted(&json!({ "routing": { "setIdentifier": "a".repeat(128) } }));
}

#[test]
fn all_problems_are_told_at_once() {
    let (record, found) = parse_spec(&json!({
        "domainName": "a..b.",
        "zoneRef": { "name": "" },
        "type": "AAAA",
        "class": "HS",
        "ttl": u32::MAX,
        "rdata": "127.0.0.1",
        "routing": { "setIdentifier": "", "weight": 5000, "geo": "Mars" },
    }));
    let fields: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split(": ").next())
        .collect();
    assert_eq!(
        fields,
        [
            "spec.zoneRef.name",
            "spec.domainName",
            "spec.class",
            "spec.ttl",
            "spec.routing.setIdentifier",
            "spec.routing.weight",
            "spec.routing.geo",
            "spec.rdata",
        ]
    );
    assert_eq!(
        record,
        Record {
            place: None,
            content: None
        }
    );
}

/// Data whose rules depend on the completed names.
#[test]
fn data_that_breaks_a_rule_only_in_its_zone_is_refused_there() {
    let label = "a".repeat(63);
    let origin = name(&format!("{label}.{label}.{label}."));
    let content = accepted(&json!({ "type": "CNAME", "rdata": label }));
    let problem = content.under(&origin).unwrap_err();
    assert_eq!(problem.field, "spec.rdata");
}
