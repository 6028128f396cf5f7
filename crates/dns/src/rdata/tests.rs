//! Every type's data in text and on the wire. R5; what is no record data is in
//! `tests/bad_rdata.rs`.

use proptest::prelude::*;

use super::*;

const ORIGIN: &str = "example.org.";

/// One vector per type that the library knows: text as it may be written in the
/// zone `example.org.`, its canonical text, and its wire form in hex.
///
/// Names are in lower case where RFC 4034 §6.2 wants it; RFC 6840 §5.1 takes
/// NSEC from that list, and later types were never on it.
const VECTORS: &[(Rtype, &str, &str, &str)] = &[
    (Rtype::A, "192.0.2.1", "192.0.2.1", "c0000201"),
    (
        Rtype::AAAA,
        "2001:DB8:0:0::1",
        "2001:db8::1",
        "20010db8000000000000000000000001",
    ),
    (
        Rtype::CAA,
        "0 issue letsencrypt.org",
        r#"0 issue "letsencrypt.org""#,
        "000569737375656c657473656e63727970742e6f7267",
    ),
    (Rtype::CDNSKEY, "0 3 0 AA==", "0 3 0 AA==", "0000030000"),
    (Rtype::CDS, "0 0 0 00", "0 0 0 00", "0000000000"),
    (
        Rtype::CNAME,
        "WWW",
        "www.example.org.",
        "03777777076578616d706c65036f726700",
    ),
    (
        Rtype::DNAME,
        "Example.NET.",
        "example.net.",
        "076578616d706c65036e657400",
    ),
    (
        Rtype::DNSKEY,
        "257 3 13 AQ ID",
        "257 3 13 AQID",
        "0101030d010203",
    ),
    (
        Rtype::DS,
        "60485 5 1 2bb183af5f22588179a53b0a 98631fad1a292118",
        "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
        "ec4505012bb183af5f22588179a53b0a98631fad1a292118",
    ),
    (
        Rtype::HINFO,
        r#"x86 "free bsd""#,
        r#""x86" "free bsd""#,
        "037838360866726565206273 64",
    ),
    (
        Rtype::HTTPS,
        r#"1 . port=8443 alpn="h2,h3" no-default-alpn ipv4hint=192.0.2.1 ipv6hint=2001:db8::1 ech=AAAA"#,
        "1 . alpn=h2,h3 no-default-alpn port=8443 ipv4hint=192.0.2.1 ech=AAAA ipv6hint=2001:db8::1",
        "0001 00 0001 0006 026832 026833 0002 0000 0003 0002 20fb 0004 0004 c0000201 0005 0003 000000 \
         0006 0010 20010db8000000000000000000000001",
    ),
    (
        Rtype::IPSECKEY,
        "10 3 2 Gateway AQID",
        "10 3 2 Gateway.example.org. AQID",
        "0a0302 0747617465776179 076578616d706c65 036f7267 00 010203",
    ),
    (
        MB,
        "Mail",
        "mail.example.org.",
        "046d61696c 076578616d706c65 036f7267 00",
    ),
    (
        MD,
        "Mail",
        "mail.example.org.",
        "046d61696c 076578616d706c65 036f7267 00",
    ),
    (
        MF,
        "Mail",
        "mail.example.org.",
        "046d61696c 076578616d706c65 036f7267 00",
    ),
    (
        MG,
        "Mail",
        "mail.example.org.",
        "046d61696c 076578616d706c65 036f7267 00",
    ),
    (MINFO, "A. B.", "a. b.", "016100 016200"),
    (
        MR,
        "Mail",
        "mail.example.org.",
        "046d61696c 076578616d706c65 036f7267 00",
    ),
    (
        Rtype::MX,
        "010 @",
        "10 example.org.",
        "000a 076578616d706c65 036f7267 00",
    ),
    (
        Rtype::NAPTR,
        r#"100 50 u E2U+sip "!^.*$!sip:a@b!" ."#,
        r#"100 50 "u" "E2U+sip" "!^.*$!sip:a@b!" ."#,
        "0064 0032 0175 074532552b736970 0e215e2e2a24217369703a61406221 00",
    ),
    (
        Rtype::NS,
        "NS1",
        "ns1.example.org.",
        "036e7331 076578616d706c65 036f7267 00",
    ),
    (
        Rtype::NSEC,
        "B TXT A TYPE1234",
        "B.example.org. A TXT TYPE1234",
        "0142 076578616d706c65 036f7267 00 0003400080 041b 000000000000000000000000000000000000000000000000000020",
    ),
    (
        Rtype::NSEC3,
        "1 0 10 AABB 2t7b4g4vsa5smi47k61mv5bv1a22bojr A",
        "1 0 10 AABB 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR A",
        "01 00 000a 02aabb 14174eb2409fe28bcb4887a1836f957f0a8425e27b 000140",
    ),
    (Rtype::NSEC3PARAM, "1 0 0 -", "1 0 0 -", "0100000000"),
    (Rtype::OPENPGPKEY, "AQ ID", "AQID", "010203"),
    (
        Rtype::PTR,
        "Host.Example.",
        "host.example.",
        "04686f7374 076578616d706c65 00",
    ),
    (
        Rtype::RP,
        "Admin .",
        "admin.example.org. .",
        "0561646d696e 076578616d706c65 036f7267 00 00",
    ),
    (
        Rtype::RRSIG,
        "A 13 2 3600 20300101000000 20200101000000 12345 @ AQID",
        "A 13 2 3600 1893456000 1577836800 12345 example.org. AQID",
        "0001 0d 02 00000e10 70dbd880 5e0be100 3039 076578616d706c65 036f7267 00 010203",
    ),
    (
        Rtype::SOA,
        "NS NOC ( 7 86400 7200 3600000 360 )",
        "ns.example.org. noc.example.org. 7 86400 7200 3600000 360",
        "026e73 076578616d706c65 036f7267 00 036e6f63 076578616d706c65 036f7267 00 \
         00000007 00015180 00001c20 0036ee80 00000168",
    ),
    (
        Rtype::SRV,
        "0 5 5060 SIP",
        "0 5 5060 sip.example.org.",
        "0000 0005 13c4 03736970 076578616d706c65 036f7267 00",
    ),
    (
        Rtype::SSHFP,
        "4 1 0102030405060708090a0b0c0d0e0f1011121314",
        "4 1 0102030405060708090A0B0C0D0E0F1011121314",
        "04 01 0102030405060708090a0b0c0d0e0f1011121314",
    ),
    (
        Rtype::SVCB,
        r#"16 Foo.example.org. key667="hello\210qoo" alpn=h2 mandatory=alpn"#,
        r"16 Foo.example.org. mandatory=alpn alpn=h2 key667=hello\210qoo",
        "0010 03466f6f 076578616d706c65 036f7267 00 0000 0002 0001 0001 0003 026832 029b 0009 68656c6c6fd2716f6f",
    ),
    (
        Rtype::TLSA,
        "3 1 1 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f",
        "3 1 1 000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
        "03 01 01 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    ),
    (
        Rtype::TXT,
        r#""v=spf1 -all" "caf\233 é\"""#,
        r#""v=spf1 -all" "caf\233 \195\169\"""#,
        "0b763d73706631202d616c6c 08636166e920c3a922",
    ),
    (
        Rtype::ZONEMD,
        "7 1 1 feBE3d4ce2ec2ffa4ba99d46cd69d6d29711e55217057bee7eb1a7b641a47ba7fed2dd5b97ae499fafa4f22c6bd647de",
        "7 1 1 FEBE3D4CE2EC2FFA4BA99D46CD69D6D29711E55217057BEE7EB1A7B641A47BA7FED2DD5B97AE499FAFA4F22C6BD647DE",
        "00000007 01 01 febe3d4ce2ec2ffa4ba99d46cd69d6d29711e55217057bee7eb1a7b641a47ba7fed2dd5b97ae499fafa4f22c6bd647de",
    ),
];

const MD: Rtype = Rtype::from_int(3);
const MF: Rtype = Rtype::from_int(4);
const MB: Rtype = Rtype::from_int(7);
const MG: Rtype = Rtype::from_int(8);
const MR: Rtype = Rtype::from_int(9);
const MINFO: Rtype = Rtype::from_int(14);

fn origin() -> Name {
    Name::parse(ORIGIN).unwrap()
}

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect()
}

#[track_caller]
fn check(rtype: Rtype, text: &str, canonical: &str, hex: &str) {
    let data = RdataText::parse(rtype, text).and_then(|text| text.resolve(&origin()));
    let data = data.unwrap_or_else(|err| panic!("{rtype} {text}: {err}"));
    assert_eq!(data.to_string(), canonical, "{rtype} {text} printed");
    assert_eq!(data.as_wire(), octets(hex), "{rtype} {text} on the wire");
    assert_eq!(data.rtype(), rtype);
    assert_eq!(Rdata::from_wire(rtype, data.as_wire()), Ok(data.clone()));
    assert_eq!(Rdata::parse(rtype, canonical, &Name::root()), Ok(data));
}

#[test]
fn every_type_has_one_canonical_text_and_wire_form() {
    for (rtype, text, canonical, hex) in VECTORS {
        check(*rtype, text, canonical, hex);
    }
}

/// A new type in the library wants a vector here and a form for its errors.
#[test]
fn every_type_the_library_knows_has_a_vector() {
    for rtype in (1..=u16::MAX)
        .map(Rtype::from_int)
        .filter(|rtype| !rtype.is_meta())
    {
        let unknown = scan(rtype, "", &Name::root())
            .is_err_and(|why| why == "unknown record type with concrete data");
        let vector = VECTORS.iter().any(|(known, ..)| *known == rtype);
        let generic = form::explain(rtype, "") == RdataError::GenericOnly(rtype);
        assert_eq!((!vector, generic), (unknown, unknown), "{rtype}");
    }
}

/// RFC 3597 §5: any type may be written as octets, and unknown ones must be.
#[test]
fn the_generic_form_is_every_types() {
    // No name in it needs completing, so that the longest origin does no harm.
    let longest = Name::parse(&"a.".repeat(127)).unwrap();
    for (rtype, text, canonical, hex) in VECTORS {
        let length = octets(hex).len();
        let generic = Rdata::parse(
            *rtype,
            &format!("\\# {length} {}", hex.to_uppercase()),
            &longest,
        );
        let printed = generic.map(|data| data.to_string());
        assert_eq!(printed, Ok((*canonical).to_owned()), "{rtype} {text}");
    }
    let unknown = Rtype::from_int(65_280);
    check(unknown, r"\# 0", r"\# 0", "");
    check(unknown, r"\# 3 AbC dEf", r"\# 3 ab cd ef", "abcdef");
    check(unknown, r"\# 3 ( ab cd ef )", r"\# 3 ab cd ef", "abcdef");
    check(
        Rtype::URI,
        r"\# 5 000a0001 68",
        r"\# 5 00 0a 00 01 68",
        "000a000168",
    );
}

/// What the library prints but could not read is printed as octets, so that a
/// text always stands for its data and nothing else.
#[test]
fn text_that_would_not_read_back_is_generic() {
    let rows = [
        // A comment, a quote, a parenthesis and an origin in a name.
        (Rtype::CNAME, "03613b6200", r"\# 5 03 61 3b 62 00"),
        (Rtype::CNAME, "03612262 00", r"\# 5 03 61 22 62 00"),
        (Rtype::NS, "03612862 00", r"\# 5 03 61 28 62 00"),
        (Rtype::MX, "000a 0140 00", r"\# 5 00 0a 01 40 00"),
        // Names that need escapes and have them.
        (Rtype::CNAME, "03612e62 00", r"a\.b."),
        (Rtype::PTR, "03612062 00", r"a\ b."),
        (Rtype::PTR, "03610a62 00", r"a\010b."),
        // Two protocols, one with a comma in its name; a key with a nine in its number.
        (
            Rtype::SVCB,
            "0001 00 0001 0006 03612c62 0168",
            r"\# 13 00 01 00 00 01 00 06 03 61 2c 62 01 68",
        ),
        (
            Rtype::SVCB,
            "0001 00 ff09 0000",
            r"\# 7 00 01 00 ff 09 00 00",
        ),
        // Values of the wrong form: a port of one octet, an empty alpn, a filled no-default-alpn.
        (
            Rtype::HTTPS,
            "0001 00 0003 0001 50",
            r"\# 8 00 01 00 00 03 00 01 50",
        ),
        (
            Rtype::HTTPS,
            "0001 00 0001 0000",
            r"\# 7 00 01 00 00 01 00 00",
        ),
        (
            Rtype::HTTPS,
            "0001 00 0002 0001 00",
            r"\# 8 00 01 00 00 02 00 01 00",
        ),
        (Rtype::IPSECKEY, "0a 00 02 0102", r"\# 5 0a 00 02 01 02"),
    ];
    for (rtype, hex, text) in rows {
        let data = Rdata::from_wire(rtype, &octets(hex)).unwrap();
        assert_eq!(data.to_string(), text);
        assert_eq!(Rdata::parse(rtype, text, &Name::root()), Ok(data));
    }
}

/// K5: names in record data are names like any other.
#[test]
fn names_in_data_are_completed_and_encoded() {
    let rows = [
        (Rtype::CNAME, "@", "example.org."),
        (Rtype::CNAME, "www", "www.example.org."),
        (Rtype::CNAME, "WWW.Example.NET.", "www.example.net."),
        (Rtype::CNAME, "bücher", "xn--bcher-kva.example.org."),
        (
            Rtype::CNAME,
            "Bu\u{308}cher.example.",
            "xn--bcher-kva.example.",
        ),
        (Rtype::CNAME, r#""www""#, "www.example.org."),
        (Rtype::CNAME, ".", "."),
        (Rtype::NS, "@", "example.org."),
        (Rtype::PTR, "@", "example.org."),
        (Rtype::DNAME, "@", "example.org."),
        (Rtype::NSEC, "@ A", "example.org. A"),
        (MB, "@", "example.org."),
        (MINFO, ". @", ". example.org."),
        (Rtype::SRV, "0 0 443 @", "0 0 443 example.org."),
        (Rtype::SVCB, "0 @", "0 example.org."),
        (Rtype::HTTPS, "0 @", "0 example.org."),
        (
            Rtype::SOA,
            "@ noc 1 2 3 4 5",
            "example.org. noc.example.org. 1 2 3 4 5",
        ),
        (
            Rtype::NAPTR,
            r#"1 1 "" "" "" @"#,
            r#"1 1 "" "" "" example.org."#,
        ),
        (Rtype::RP, "@ .", "example.org. ."),
        (Rtype::IPSECKEY, "1 3 2 @ AQID", "1 3 2 example.org. AQID"),
        // Case is kept where it is part of the data.
        (Rtype::HTTPS, "1 WWW.example.net.", "1 WWW.example.net."),
    ];
    for (rtype, text, printed) in rows {
        let data = RdataText::parse(rtype, text)
            .unwrap()
            .resolve(&origin())
            .unwrap();
        assert_eq!(data.to_string(), printed, "{rtype} {text}");
    }
}

#[test]
fn types_that_point_somewhere_say_where() {
    let rows = [
        (Rtype::CNAME, "www", Some("www.example.org.")),
        (Rtype::DNAME, "Example.net.", Some("example.net.")),
        (Rtype::HTTPS, "1 WWW.example.net.", Some("www.example.net.")),
        (Rtype::MX, "10 mail", Some("mail.example.org.")),
        (Rtype::NS, "ns", Some("ns.example.org.")),
        (Rtype::PTR, "host", Some("host.example.org.")),
        (Rtype::SRV, "0 0 0 .", Some(".")),
        (Rtype::SVCB, "0 svc", Some("svc.example.org.")),
        (Rtype::TXT, "www", None),
        (Rtype::A, "192.0.2.1", None),
        (Rtype::SOA, "ns noc 1 2 3 4 5", None),
    ];
    for (rtype, text, target) in rows {
        let data = Rdata::parse(rtype, text, &origin()).unwrap();
        assert_eq!(
            data.target().map(|name| name.to_string()).as_deref(),
            target,
            "{rtype}"
        );
    }
}

#[test]
fn octets_that_are_no_data_are_refused() {
    let too_long = vec![0; 65_536];
    let rows = [
        (
            Rtype::A,
            &octets("c00002")[..],
            "not A data: unexpected end of input",
        ),
        (
            Rtype::A,
            &octets("c0000201 00"),
            "not A data: 1 octets too many",
        ),
        (Rtype::TXT, &[], "not TXT data: it has no string"),
        (
            Rtype::RP,
            &octets("016100 c000"),
            "not RP data: a name in it is compressed",
        ),
        (
            Rtype::RP,
            &octets("016100 c002"),
            "not RP data: a name in it is compressed",
        ),
        (
            Rtype::CNAME,
            &octets("c000"),
            "not CNAME data: too many compression pointers",
        ),
        (
            Rtype::CNAME,
            &octets("0161 c000"),
            "not CNAME data: long domain name",
        ),
        (
            Rtype::URI,
            &too_long,
            "record data has 65536 octets, at most 65535 are allowed",
        ),
        (
            Rtype::OPT,
            &[],
            "OPT is a meta type and cannot be zone data",
        ),
    ];
    for (rtype, wire, rule) in rows {
        let err = Rdata::from_wire(rtype, wire).unwrap_err();
        assert_eq!(err.to_string(), rule);
    }
    let any = Rtype::from_int(255);
    assert_eq!(RdataText::parse(any, "x"), Err(RdataError::Meta(any)));
}

/// RFC 4034 §6.3: as octets from the left, a shorter one first.
#[test]
fn data_of_a_type_is_in_canonical_order() {
    let sorted = |rtype, texts: &[&str]| {
        let data = texts
            .iter()
            .map(|text| Rdata::parse(rtype, text, &Name::root()).unwrap());
        data.is_sorted()
    };
    assert!(sorted(Rtype::A, &["9.0.0.1", "10.0.0.1", "192.0.2.1"]));
    assert!(sorted(
        Rtype::MX,
        &["1 z.", "2 a.", "10 A.", "10 b.", "256 a."]
    ));
    assert!(sorted(Rtype::TXT, &["b", "aa", r#""aa" """#, "ab"]));
}

/// White space around the data, such as the newline of a YAML block, is no part of it.
#[test]
fn surrounding_white_space_is_dropped() {
    for text in ["192.0.2.1\n", "\n  192.0.2.1", "\t192.0.2.1 \r\n"] {
        assert_eq!(
            RdataText::parse(Rtype::A, text),
            RdataText::parse(Rtype::A, "192.0.2.1")
        );
    }
    // White space of other scripts is text.
    check(Rtype::TXT, "\u{a0}x", r#""\194\160x""#, "03c2a078");
}

fn any_vector() -> impl Strategy<Value = (Rtype, &'static str, Vec<u8>)> {
    prop::sample::select(VECTORS).prop_map(|(rtype, text, _, hex)| (rtype, text, octets(hex)))
}

fn known_rtype() -> impl Strategy<Value = Rtype> {
    any_vector().prop_map(|(rtype, ..)| rtype)
}

/// Well-formed data, with some octets replaced, put in or cut off.
fn mutated_wire() -> impl Strategy<Value = (Rtype, Vec<u8>)> {
    let edit = (any::<prop::sample::Index>(), 0..4, any::<u8>());
    (any_vector(), prop::collection::vec(edit, 0..4)).prop_map(|((rtype, _, mut wire), edits)| {
        for (at, kind, octet) in edits {
            let at = at.index(wire.len() + 1);
            match kind {
                0 => wire.insert(at, octet),
                1 => wire.truncate(at),
                _ => wire
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|old| *old = octet),
            }
        }
        (rtype, wire)
    })
}

/// Octets of no particular form, for a known type or any other.
fn arbitrary_wire() -> impl Strategy<Value = (Rtype, Vec<u8>)> {
    let rtype = prop_oneof![known_rtype(), any::<u16>().prop_map(Rtype::from_int)];
    // Small numbers are lengths more often than others.
    let octet = prop_oneof![0..4_u8, any::<u8>()];
    (rtype, prop::collection::vec(octet, 0..48))
}

/// A type and text in which something is likely to go wrong.
fn any_text() -> impl Strategy<Value = (Rtype, String)> {
    const PIECES: &[&str] = &[
        " ",
        "\t",
        "\n",
        "\r",
        "\0",
        "\\",
        "\"",
        "\"\"",
        "(",
        ")",
        ";",
        "@",
        ".",
        "..",
        "a..b",
        "\\#",
        "\\# 3 abcdef",
        "\\000",
        "\\300",
        "\\é",
        "é",
        "0",
        "1",
        "65535",
        "65536",
        "-",
        "+1",
        "=",
        ",",
        "192.0.2.1",
        "2001:db8::1",
        "alpn=",
        "alpn=h2",
        "port=",
        "mandatory=port",
        "key1=",
        "key667=",
        "ipv4hint=",
        "ech=",
        "dohpath=/",
        "AQID",
        "A",
        "TYPE1",
        "20300101000000",
        "abcdef",
        "xn--a",
        "$INCLUDE",
        "\u{a0}",
        "\u{3002}",
        "\u{85}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ];
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..10);
    let edited = (
        any_vector(),
        any::<prop::sample::Index>(),
        prop::sample::select(PIECES),
    );
    let edited = edited.prop_map(|((rtype, text, _), at, piece)| {
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        (rtype, [&text[..at], piece, &text[at..]].concat())
    });
    prop_oneof![
        2 => edited,
        2 => (known_rtype(), pieces).prop_map(|(rtype, pieces)| (rtype, pieces.concat())),
        1 => (known_rtype(), any::<String>()),
    ]
}

fn survives(rtype: Rtype, wire: &[u8]) -> Result<(), TestCaseError> {
    let Ok(data) = Rdata::from_wire(rtype, wire) else {
        return Ok(());
    };
    prop_assert_eq!(Rdata::from_wire(rtype, data.as_wire()), Ok(data.clone()));
    let text = data.to_string();
    prop_assert!(text.is_ascii() && !text.contains('\n'), "{}", text);
    prop_assert_eq!(Rdata::parse(rtype, &text, &origin()), Ok(data.clone()));
    // Judging it does not panic either.
    _ = (data.check(), data.target());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn nearly_well_formed_data_survives_text_and_wire((rtype, wire) in mutated_wire()) {
        survives(rtype, &wire)?;
    }

    #[test]
    fn any_octets_survive_text_and_wire((rtype, wire) in arbitrary_wire()) {
        survives(rtype, &wire)?;
    }

    /// Whatever is written is refused, or stands for data that prints as one
    /// line which reads back.
    #[test]
    fn any_text_is_refused_or_is_one_record((rtype, text) in any_text()) {
        let Ok(text) = RdataText::parse(rtype, &text) else {
            return Ok(());
        };
        let Ok(data) = text.resolve(&origin()) else {
            return Ok(());
        };
        survives(rtype, data.as_wire())?;
    }
}
