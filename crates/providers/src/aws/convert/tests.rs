//! Both directions, as data.

use aws_sdk_route53::types::AliasTarget;

use super::*;

fn key(name: &str, rtype: Rtype, identifier: &str) -> HostedKey {
    HostedKey {
        identifier: identifier.to_owned(),
        ..HostedKey::plain(Name::parse(name).unwrap(), rtype)
    }
}

fn data(rtype: Rtype, text: &str) -> Rdata {
    Rdata::parse(rtype, text, &Name::root()).unwrap()
}

fn set(rtype: Rtype, texts: &[&str], routing: Routing) -> HostedSet {
    let ttl = Ttl::from_secs(300).unwrap();
    let records = texts.iter().map(|text| (ttl, data(rtype, text)));
    HostedSet {
        records: RecordSet::new(records).unwrap(),
        routing,
    }
}

fn geo(code: &str) -> Routing {
    Routing {
        weight: None,
        geo: Some(code.parse().unwrap()),
    }
}

fn weight(weight: &str) -> Routing {
    Routing {
        weight: Some(weight.parse().unwrap()),
        geo: None,
    }
}

/// A set as Route 53 lists it.
fn listed(name: &str, rtype: &str, value: &str) -> ResourceRecordSet {
    let record = ResourceRecord::builder().value(value).build().unwrap();
    let set = ResourceRecordSet::builder()
        .name(name)
        .r#type(rtype.into())
        .ttl(300)
        .resource_records(record);
    set.build().unwrap()
}

/// What every listing has.
fn apex() -> [ResourceRecordSet; 2] {
    let soa = "ns.example. noc.example. 1 7200 900 1209600 86400";
    [
        listed("example.org.", "NS", "ns.example."),
        listed("example.org.", "SOA", soa),
    ]
}

#[test]
fn what_is_written_is_what_is_read() {
    let cases = [
        (
            key("www.example.org.", Rtype::A, ""),
            set(Rtype::A, &["192.0.2.1", "192.0.2.2"], Routing::default()),
        ),
        (
            key("*.example.org.", Rtype::CNAME, "GEO-EU"),
            set(Rtype::CNAME, &["eu.example."], geo("GEO-EU")),
        ),
        (
            key("g.example.org.", Rtype::CNAME, "IE"),
            set(Rtype::CNAME, &["ie.example."], geo("IE")),
        ),
        (
            key("g.example.org.", Rtype::CNAME, "NA"),
            set(Rtype::CNAME, &["na.example."], geo("NA")),
        ),
        (
            key("g.example.org.", Rtype::CNAME, "default"),
            set(Rtype::CNAME, &["other.example."], geo("*")),
        ),
        (
            key("w.example.org.", Rtype::A, "none"),
            set(Rtype::A, &["192.0.2.1"], weight("0")),
        ),
        (
            key("w.example.org.", Rtype::A, "most"),
            set(Rtype::A, &["192.0.2.2"], weight("255")),
        ),
        (
            key(r"a\.b\001.example.org.", Rtype::MX, ""),
            set(Rtype::MX, &[r"10 m\.x\255.example."], Routing::default()),
        ),
        (
            key("t.example.org.", Rtype::TXT, ""),
            set(
                Rtype::TXT,
                &[r#""\"q\" \\ \195\188" "b""#],
                Routing::default(),
            ),
        ),
    ];
    for (key, set) in cases {
        let written = resource_record_set(&key, &set).unwrap();
        assert_eq!(super::key(&written).as_ref(), Ok(&key));
        assert_eq!(held(&key, &written), Held::Set(set), "{key}");
    }
}

#[test]
fn places_are_continents_countries_and_everywhere_else() {
    let cases = [
        ("GEO-EU", (Some("EU"), None)),
        ("GEO-NA", (Some("NA"), None)),
        ("IE", (None, Some("IE"))),
        ("NA", (None, Some("NA"))),
        ("*", (None, Some("*"))),
    ];
    for (code, expected) in cases {
        let place = geo_location(&code.parse().unwrap()).unwrap();
        let parts = (place.continent_code(), place.country_code());
        assert_eq!(parts, expected, "{code}");
        assert_eq!(geo_code(&place), Ok(code.parse().unwrap()));
    }
    let region = geo_location(&"europe-west1".parse().unwrap());
    assert_eq!(
        region.unwrap_err(),
        "Route 53 does not know the place europe-west1"
    );
}

#[test]
fn places_that_we_have_no_words_for_are_told() {
    let place = |continent: &str, country: &str, subdivision: &str| {
        let part = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let place = GeoLocation::builder()
            .set_continent_code(part(continent))
            .set_country_code(part(country))
            .set_subdivision_code(part(subdivision));
        geo_code(&place.build()).unwrap_err()
    };
    assert_eq!(place("", "US", "CA"), "a set for the place US-CA");
    assert_eq!(place("XX", "", ""), "a set for the place XX");
    // Not the continent: Route 53 means a country.
    assert_eq!(place("", "EU", ""), "a set for the place EU");
}

#[test]
fn escapes_are_octal_there() {
    for (ours, theirs) in [
        (r"a\.b\001\255.example.org.", r"a\056b\001\377.example.org."),
        ("*.example.org.", "*.example.org."),
        (r"\\\@.example.org.", r"\134\100.example.org."),
        ("plain-_9.example.org.", "plain-_9.example.org."),
    ] {
        assert_eq!(with_octal_escapes(ours, Quoted::No), theirs);
        assert_eq!(name(theirs), Ok(Name::parse(ours).unwrap()));
    }
    assert_eq!(
        name(r"\052.example.org"),
        Ok(Name::parse("*.example.org.").unwrap())
    );
    assert_eq!(
        name(r"\999.example.org."),
        Err(Broken::Name(r"\999.example.org.".to_owned()))
    );
    assert_eq!(name("a..b."), Err(Broken::Name("a..b.".to_owned())));
    for (ours, theirs) in [
        (r#""say \"hi\"""#, r#""say \"hi\"""#),
        (r#""back\\slash""#, r#""back\\slash""#),
        (r#""\000gr\195\188n\127""#, r#""\000gr\303\274n\177""#),
        // Not an escape of a digit: a backslash, and then digits.
        (r#""\\195""#, r#""\\195""#),
    ] {
        assert_eq!(value(&data(Rtype::TXT, ours)), theirs);
        assert_eq!(
            data(Rtype::TXT, &with_decimal_escapes(theirs)),
            data(Rtype::TXT, ours)
        );
    }
}

#[test]
fn what_makes_room_comes_before_what_takes_it() {
    let plain = |rtype, text| Some(set(rtype, &[text], Routing::default()));
    let change = |rtype, before, after| Change {
        key: key("www.example.org.", rtype, ""),
        before,
        after,
    };
    let batch = Batch {
        changes: vec![
            change(Rtype::CNAME, None, plain(Rtype::CNAME, "a.example.")),
            change(Rtype::A, plain(Rtype::A, "192.0.2.1"), None),
            change(
                Rtype::TXT,
                plain(Rtype::TXT, "\"a\""),
                plain(Rtype::TXT, "\"b\""),
            ),
        ],
    };
    let written = changes(&batch).unwrap();
    let steps: Vec<(&str, &str)> = written
        .iter()
        .map(|change| {
            let set = change.resource_record_set().unwrap();
            (change.action().as_str(), set.r#type().as_str())
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("DELETE", "A"),
            ("DELETE", "TXT"),
            ("CREATE", "CNAME"),
            ("CREATE", "TXT")
        ]
    );
}

#[test]
fn both_sides_of_a_change_count_as_they_are_written() {
    let change = |before: &[&str], after: &[&str]| {
        let side = |texts: &[&str]| {
            (!texts.is_empty()).then(|| set(Rtype::TXT, texts, Routing::default()))
        };
        load(&Change {
            key: key("t.example.org.", Rtype::TXT, ""),
            before: side(before),
            after: side(after),
        })
    };
    let load = |count, octets| Load { count, octets };
    assert_eq!(change(&[], &["\"ab\""]), load(1, 4));
    assert_eq!(change(&["\"ab\""], &["\"ab\"", "\"c\""]), load(3, 11));
    assert_eq!(change(&["\"\\195\""], &[]), load(1, 6));
}

#[test]
fn a_listing_is_a_zone_or_nothing() {
    // D8, D9.
    let [ns, soa] = apex();
    let www = listed("www.example.org.", "A", "192.0.2.1");
    let whole = [ns.clone(), soa.clone(), www.clone()];
    assert_eq!(snapshot(&whole).map(|read| read.holdings.len()), Ok(3));
    for broken in [
        vec![],
        vec![www.clone()],
        vec![ns.clone(), www.clone()],
        vec![soa.clone(), www.clone()],
    ] {
        assert_eq!(snapshot(&broken), Err(Broken::NoApex));
    }
    let twice = [ns, soa, www.clone(), www];
    let key = key("www.example.org.", Rtype::A, "");
    assert_eq!(snapshot(&twice), Err(Broken::Repeated(key)));
}

#[test]
fn a_type_that_nobody_knows_is_not_left_out() {
    let [ns, soa] = apex();
    let sets = [ns, soa, listed("x.example.org.", "NOVEL", "1")];
    let broken = Broken::Type {
        name: Name::parse("x.example.org.").unwrap(),
        rtype: "NOVEL".to_owned(),
    };
    assert_eq!(snapshot(&sets), Err(broken));
}

#[test]
fn an_alias_is_told_with_what_it_stands_for() {
    let target = AliasTarget::builder()
        .hosted_zone_id("Z2FDTNDATAQYW2")
        .dns_name("d1.cloudfront.net.")
        .evaluate_target_health(false);
    let set = ResourceRecordSet::builder()
        .name("example.org.")
        .r#type(RrType::A)
        .alias_target(target.build().unwrap());
    let set = set.build().unwrap();
    let key = key("example.org.", Rtype::A, "");
    let told = Held::Opaque("an alias of d1.cloudfront.net.".to_owned());
    assert_eq!(held(&key, &set), told);
}

#[test]
fn ids_of_zones_come_with_and_without_what_stands_before_them() {
    assert_eq!(zone_id("/hostedzone/Z1"), "Z1");
    assert_eq!(zone_id("Z1"), "Z1");
}
