//! Bad names by table, each beside look-alikes that are fine: K5, G1 to G15.

use std::collections::BTreeSet;

use dns::{DomainName, Name, Rdata, RecordSet, Rtype, SetKey, Soa, Ttl, Zone, host_name};
use zonewright_dns as dns;

/// A field that takes a name, and what it makes of a text: the canonical name,
/// or the rule that was broken.
type Field = fn(&str) -> Result<String, String>;

const EMPTY: &str = "a name must not be empty; write \"@\" for the zone itself";
const EMPTY_LABEL: &str =
    "a name must not have an empty label (two dots in a row, or a dot at the start)";
const WILDCARD: &str = "\"*\" must be the whole leftmost label, in front of a name";
const ESCAPE: &str =
    "a backslash must be followed by one ASCII character or by three digits up to 255";
const ADDRESS: &str = "an IP address, or what looks like one, is no host name";

#[track_caller]
fn check(field: Field, refused: &[(&str, &str)], accepted: &[(&str, &str)]) {
    assert!(refused.len() >= 3 && accepted.len() >= 2, "too few rows");
    for (text, rule) in refused {
        assert_eq!(field(text), Err((*rule).to_owned()), "{text:?}");
    }
    for (text, canonical) in accepted {
        assert_eq!(field(text), Ok((*canonical).to_owned()), "{text:?}");
    }
}

/// A `domainName`, as it is.
fn domain_name(text: &str) -> Result<String, String> {
    let name = DomainName::parse(text).map_err(|err| err.to_string())?;
    Ok(name.to_string())
}

/// A `domainName`, completed by the zone `example.org.`.
fn in_example_org(text: &str) -> Result<String, String> {
    let name = DomainName::parse(text).map_err(|err| err.to_string())?;
    let name = name
        .under(&full("example.org."))
        .map_err(|err| err.to_string())?;
    Ok(name.to_string())
}

/// The host of an Ingress, a Gateway or a certificate.
fn host(text: &str) -> Result<String, String> {
    host_name(text)
        .map(|name| name.to_string())
        .map_err(|err| err.to_string())
}

/// The owner of an address record in the zone `example.org.`.
fn owner(text: &str) -> Result<String, String> {
    let zone = example_org();
    let key = SetKey::new(full(&in_example_org(text)?), Rtype::A);
    zone.admits(&key, &set(Rtype::A, "192.0.2.2"))
        .map_err(|err| err.to_string())?;
    Ok(key.name.to_string())
}

fn full(text: &str) -> Name {
    Name::parse(text).expect("test names are well-formed")
}

fn set(rtype: Rtype, text: &str) -> RecordSet {
    let data = Rdata::parse(rtype, text, &Name::root()).expect("test data is well-formed");
    RecordSet::new([(Ttl::ZERO, data)]).expect("one record is a set")
}

fn example_org() -> Zone {
    let soa = Soa {
        ttl: Ttl::ZERO,
        mname: full("ns.example.org."),
        rname: full("noc.example.org."),
        refresh: 1,
        retry: 1,
        expire: 1,
        minimum: Ttl::ZERO,
    };
    Zone::new(full("example.org."), soa)
}

/// A name of labels with these lengths, without the final dot.
fn labels(lengths: &[usize]) -> String {
    let labels: Vec<String> = lengths.iter().map(|length| "a".repeat(*length)).collect();
    labels.join(".")
}

/// G1: empty.
#[test]
fn an_empty_name_is_refused() {
    check(
        domain_name,
        &[
            ("", EMPTY),
            (
                " ",
                r"character ' ' is not allowed in a name here; escaped it would be \032",
            ),
            (
                "\t",
                r"character '\t' is not allowed in a name here; escaped it would be \009",
            ),
        ],
        &[("@", "@"), (".", "."), ("0", "0")],
    );
    let no_host = |label| {
        format!("label {label:?} is not part of a host name: letters, digits and hyphens only")
    };
    check(
        host,
        &[("", &no_host("")), (".", &no_host(".")), ("*.", WILDCARD)],
        &[("a", "a."), ("0.example", "0.example.")],
    );
}

/// G2: only dots, a leading dot, two dots in a row.
#[test]
fn an_empty_label_is_refused() {
    let refused = [
        ("..", EMPTY_LABEL),
        ("...", EMPTY_LABEL),
        (".example.org.", EMPTY_LABEL),
        (".www", EMPTY_LABEL),
        ("a..b", EMPTY_LABEL),
        ("a..b.", EMPTY_LABEL),
    ];
    let accepted = [("a.b", "a.b"), (r"a\..b", r"a\..b"), (".", ".")];
    check(domain_name, &refused, &accepted);
    check(host, &refused, &[("a.b", "a.b."), ("a.b.c", "a.b.c.")]);
}

/// G3: labels of 64 octets, counted as they are on the wire.
#[test]
fn a_label_has_at_most_63_octets() {
    let long = |octets| {
        format!(
            "label \"aaaaaaaaaaaaaaaaaaaaaaaa…\" has {octets} octets, at most 63 are allowed (RFC 1035 §2.3.4)"
        )
    };
    let umlauts = "label \"xn--tdaaaaaaaaaaaaaaaaaa…\" has 64 octets, at most 63 are allowed (RFC 1035 §2.3.4)";
    let (a63, a64, a200) = (labels(&[63]), labels(&[64]), labels(&[200]));
    let escaped = format!("{}\\.", labels(&[63]));
    let printed = format!("{}\\.", labels(&[62]));
    check(
        domain_name,
        &[
            (&a64, &long(64)),
            (&format!("www.{a64}.org."), &long(64)),
            (&a200, &long(200)),
            (&escaped, &long(64)),
            (&"ü".repeat(58), umlauts),
        ],
        &[
            (&a63, &a63),
            (&format!("www.{a63}.org."), &format!("www.{a63}.org.")),
            (&printed, &printed),
            (&"ü".repeat(57), &format!("xn--tda{}", "a".repeat(56))),
        ],
    );
    check(
        host,
        &[
            (&a64, &long(64)),
            (&format!("{a64}.org"), &long(64)),
            (&format!("*.{a64}.org"), &long(64)),
        ],
        &[
            (&a63, &format!("{a63}.")),
            (&format!("*.{a63}.org"), &format!("*.{a63}.org.")),
        ],
    );
}

/// G4: names of 256 octets in wire form, which is 254 characters and a dot.
#[test]
fn a_name_has_at_most_255_octets() {
    let long = |octets| {
        format!(
            "the name has {octets} octets on the wire, at most 255 are allowed (RFC 1035 §2.3.4)"
        )
    };
    let most = labels(&[63, 63, 63, 61]);
    let (one_more, many) = (labels(&[63, 63, 63, 62]), labels(&[63, 63, 63, 63, 63]));
    check(
        domain_name,
        &[
            (&one_more, &long(256)),
            (&format!("{one_more}."), &long(256)),
            (&many, &long(321)),
        ],
        &[(&most, &most), (&format!("{most}."), &format!("{most}."))],
    );
    // Behind a relative name comes the zone: `example.org.` has 13 octets.
    let fits = labels(&[63, 63, 63, 49]);
    let too_long = labels(&[63, 63, 63, 50]);
    check(
        in_example_org,
        &[
            (&too_long, &long(256)),
            (&most, &long(267)),
            (&one_more, &long(256)),
        ],
        &[
            (&fits, &format!("{fits}.example.org.")),
            (&format!("{most}."), &format!("{most}.")),
        ],
    );
}

/// G5: 128 labels do not fit into 255 octets.
#[test]
fn a_name_has_at_most_127_labels() {
    let long = |octets| {
        format!(
            "the name has {octets} octets on the wire, at most 255 are allowed (RFC 1035 §2.3.4)"
        )
    };
    let most = labels(&[1; 127]);
    check(
        domain_name,
        &[
            (&labels(&[1; 128]), &long(257)),
            (&format!("{}.", labels(&[1; 128])), &long(257)),
            (&labels(&[1; 500]), &long(1001)),
        ],
        &[
            (&most, &most),
            (&format!("{most}."), &format!("{most}.")),
            (
                &format!("*.{}", labels(&[1; 126])),
                &format!("*.{}", labels(&[1; 126])),
            ),
        ],
    );
}

/// G6: hyphens at the edges of a label.
#[test]
fn a_hyphen_is_inside_a_label() {
    let edge = |label| format!("label {label:?} must not start or end with a hyphen");
    let refused = [
        ("-a", &*edge("-a")),
        ("a-", &edge("a-")),
        ("-", &edge("-")),
        ("www.a-.org", &edge("a-")),
        ("www.-a.org", &edge("-a")),
        ("-bücher", &edge("-bücher")),
        ("bücher-", &edge("bücher-")),
    ];
    let accepted = [
        ("a-b", "a-b"),
        ("a--b", "a--b"),
        ("r3---sn-4g5e6nz7", "r3---sn-4g5e6nz7"),
        ("bücher-laden", "xn--bcher-laden-thb"),
        ("_-a", "_-a"),
    ];
    check(domain_name, &refused, &accepted);
    check(
        host,
        &refused,
        &[("a-b", "a-b."), ("1-2.a--b", "1-2.a--b.")],
    );
}

/// G7: underscores name services and attributes, but no hosts.
#[test]
fn an_underscore_is_no_part_of_a_host() {
    let no_host = |label| {
        format!("label {label:?} is not part of a host name: letters, digits and hyphens only")
    };
    check(
        host,
        &[
            ("my_app.example.org", &no_host("my_app")),
            ("_dmarc.example.org", &no_host("_dmarc")),
            ("www._tcp.example.org", &no_host("_tcp")),
            ("_", &no_host("_")),
        ],
        &[
            ("my-app.example.org", "my-app.example.org."),
            ("myapp.example.org", "myapp.example.org."),
        ],
    );
    for text in [
        "_dmarc",
        "_sip._tcp.example.org.",
        "my_app",
        "selector._domainkey",
    ] {
        assert_eq!(domain_name(text), Ok(text.to_owned()));
    }
}

/// G8: a star that is not the whole leftmost label.
#[test]
fn a_star_is_the_whole_leftmost_label() {
    let refused = [
        ("*foo", WILDCARD),
        ("foo*", WILDCARD),
        ("f*o.example.org", WILDCARD),
        ("**", WILDCARD),
        ("a.*.b", WILDCARD),
        ("a.*", WILDCARD),
        ("*.*.example.org", WILDCARD),
    ];
    let accepted = [
        ("*", "*.example.org."),
        ("*.dev", "*.dev.example.org."),
        ("*.example.org.", "*.example.org."),
        // On the wire there is no difference.
        (r"\*.dev", "*.dev.example.org."),
        (r"\042.dev", "*.dev.example.org."),
    ];
    check(in_example_org, &refused, &accepted);
    check(
        host,
        &refused,
        &[("*.dev", "*.dev."), ("*.example.org.", "*.example.org.")],
    );
    check(
        host,
        &[("*", WILDCARD), ("*.", WILDCARD), ("**.a", WILDCARD)],
        &[("*.a", "*.a."), ("a", "a.")],
    );
}

/// G9: a name in another case is the same name.
#[test]
fn case_does_not_make_another_name() {
    let mut zone = example_org();
    let existing = SetKey::new(full("www.example.org."), Rtype::A);
    zone.put(existing, set(Rtype::A, "192.0.2.1"))
        .expect("nothing is in its way");
    for text in ["www", "WWW", "wWw.EXAMPLE.org."] {
        let name = full(&in_example_org(text).expect("a good name"));
        let cname = zone.admits(&SetKey::new(name, Rtype::CNAME), &set(Rtype::CNAME, "a."));
        let rule = "www.example.org. has A, so it cannot also have CNAME: a CNAME stands alone (RFC 1034 §3.6.2)";
        assert_eq!(
            cname.map_err(|err| err.to_string()),
            Err(rule.to_owned()),
            "{text}"
        );
    }
    let spellings = [
        "bücher.",
        "BÜCHER.",
        "Bu\u{308}cher.",
        "xn--bcher-kva.",
        "XN--BCHER-KVA.",
    ];
    let names: BTreeSet<Name> = spellings.map(full).into();
    assert_eq!(names.len(), 1);
    let others = ["www1.", "ww-w.", "vvww.", "www.a.", "wwŵ."];
    assert_eq!(BTreeSet::from(others.map(full)).len(), others.len());
}

/// G10: what looks like another name, is invisible or runs the other way.
#[test]
fn misleading_unicode_is_refused() {
    let idna = |label: &str, why: &str| {
        format!("label {label:?} is not a valid internationalised label (IDNA): {why}")
    };
    let mixed = "it mixes scripts; write the A-label (xn--…) if that is meant";
    let invisible = "it contains an invisible character";
    let dot = "it contains a character that stands for a dot";
    let no_letter = "it contains a character that is no letter or digit in use; \
                     write the A-label (xn--…) if that is meant";
    let uts_46 = "UTS 46 refuses it";
    let rows = [
        // A Cyrillic а in Latin, a Greek ο in Latin.
        ("p\u{430}ypal", mixed),
        ("g\u{3bf}ogle", mixed),
        // Zero width space, soft hyphen, byte order mark, a direction mark, a variation selector.
        ("a\u{200b}b", invisible),
        ("a\u{ad}b", invisible),
        ("\u{feff}a", invisible),
        ("\u{202e}gpj", invisible),
        ("a\u{fe0f}", invisible),
        // A joiner where no script needs one.
        ("a\u{200d}b", uts_46),
        // Right to left and left to right in one label.
        ("\u{5d0}a", uts_46),
        ("1\u{5d0}", uts_46),
        // A combining mark with nothing to combine with, a space, an unassigned character.
        ("\u{301}a", uts_46),
        ("a\u{a0}b", uts_46),
        ("\u{378}", uts_46),
        // Dots of other scripts.
        ("a\u{3002}b", dot),
        ("a\u{ff0e}b", dot),
        // A slash that is none, and pictures.
        ("a\u{2044}b", no_letter),
        ("\u{1f4a9}", no_letter),
    ];
    let rows = rows.map(|(label, why)| (label, idna(label, why)));
    let refused: Vec<(&str, &str)> = rows.iter().map(|(label, rule)| (*label, &**rule)).collect();
    let accepted = [
        ("bücher", "xn--bcher-kva"),
        ("bu\u{308}cher", "xn--bcher-kva"),
        ("BÜCHER", "xn--bcher-kva"),
        ("faß", "xn--fa-hia"),
        ("日本語", "xn--wgv71a119e"),
        ("日本abc", "xn--abc-s08fl0d"),
        ("почта", "xn--80a1acny"),
        ("\u{5d0}\u{5d1}1", "xn--1-zhcd"),
        ("क्\u{200d}ष", "xn--11b2ezcw70k"),
        // Full-width letters and the Kelvin sign are letters in another dress.
        ("ｗｗｗ", "www"),
        ("\u{212a}8s", "k8s"),
    ];
    check(domain_name, &refused, &accepted);
    let refused: Vec<_> = refused.iter().map(|(text, rule)| (*text, *rule)).collect();
    check(
        host,
        &refused,
        &[
            ("bücher.example", "xn--bcher-kva.example."),
            ("ｗｗｗ.a", "www.a."),
        ],
    );
}

/// G11: A-labels that are none; those that are must be taken.
#[test]
fn an_a_label_must_be_one() {
    let none = |label: &str| {
        format!("label {label:?} is not a valid internationalised label (IDNA): UTS 46 refuses it")
    };
    let refused = [
        ("xn--a", &*none("xn--a")),
        ("XN--A", &none("xn--a")),
        ("www.xn--zzzzzzzzz", &none("xn--zzzzzzzzz")),
        // Punycode of `Ücher` with its capital letter, and of `bücher` not composed.
        ("xn--cher-fna", &none("xn--cher-fna")),
        ("xn--bucher-xyd", &none("xn--bucher-xyd")),
        ("xn--", "label \"xn--\" must not start or end with a hyphen"),
    ];
    let accepted = [
        ("xn--bcher-kva", "xn--bcher-kva"),
        ("XN--Bcher-KVA", "xn--bcher-kva"),
        ("xn--fa-hia", "xn--fa-hia"),
        // Mixed scripts, but nobody writes this by mistake.
        ("xn--pypal-4ve", "xn--pypal-4ve"),
        ("xn-bcher-kva", "xn-bcher-kva"),
        ("axn--a", "axn--a"),
    ];
    check(domain_name, &refused, &accepted);
    let accepted = [
        ("xn--bcher-kva.de", "xn--bcher-kva.de."),
        ("xn--p1ai", "xn--p1ai."),
    ];
    check(host, &refused, &accepted);
    // From other servers anything may come, and has to be printed and read.
    assert_eq!(
        Name::parse("xn--a.").map(|name| name.to_string()),
        Ok("xn--a.".to_owned())
    );
}

/// G12: what a zone file would take for something else than a name.
#[test]
fn special_characters_are_escaped_or_refused() {
    let character = |shown: &str, escaped: &str| {
        format!("character {shown} is not allowed in a name here; escaped it would be {escaped}")
    };
    let rows = [
        ("a\0b", character(r"'\0'", r"\000")),
        ("a\nb", character(r"'\n'", r"\010")),
        ("a\u{7f}b", character(r"'\u{7f}'", r"\127")),
        ("a b", character("' '", r"\032")),
        ("$ORIGIN", character("'$'", r"\036")),
        ("$INCLUDE /etc/passwd", character("'$'", r"\036")),
        ("a;b", character("';'", r"\059")),
        ("\"a\"", character("'\"'", r"\034")),
        ("(a)", character("'('", r"\040")),
        ("a@b", character("'@'", r"\064")),
        ("@.", character("'@'", r"\064")),
        ("https://example.org", character("':'", r"\058")),
        ("a,b", character("','", r"\044")),
        (r"a\", ESCAPE.to_owned()),
        (r"a\25", ESCAPE.to_owned()),
        (r"a\256", ESCAPE.to_owned()),
        (r"a\é", ESCAPE.to_owned()),
        ("a\\\nb", ESCAPE.to_owned()),
    ];
    let refused: Vec<(&str, &str)> = rows.iter().map(|(text, rule)| (*text, &**rule)).collect();
    let accepted = [
        (r"a\.b", r"a\.b"),
        (r"a\046b", r"a\.b"),
        (r"a\000b", r"a\000b"),
        (r"a\ b", r"a\032b"),
        (r"\$ORIGIN", r"\$origin"),
        (r"\@", r"\@"),
        (r"a\059b", r"a\;b"),
        (r"\065", "a"),
        ("0/25", "0/25"),
    ];
    check(domain_name, &refused, &accepted);
    let backslash = character(r"'\\'", r"\092");
    check(
        host,
        &[
            (r"a\.b.example", &backslash),
            (r"\065.example", &backslash),
            ("a b.example", &character("' '", r"\032")),
            ("192.0.2.1", ADDRESS),
            ("192.0.2.1.", ADDRESS),
            ("192.0.2.256", ADDRESS),
            ("2001:db8::1", ADDRESS),
        ],
        &[("10.0.0.1.nip.io", "10.0.0.1.nip.io."), ("1.2.3", "1.2.3.")],
    );
}

/// G13: a full name whose final dot was forgotten.
#[test]
fn a_relative_name_that_repeats_its_zone_is_refused() {
    let repeats = |doubled: &str| {
        format!(
            "the relative name already ends in the zone's name and would become {doubled}; \
             end it with a dot if it is meant as it stands"
        )
    };
    check(
        in_example_org,
        &[
            ("www.example.org", &repeats("www.example.org.example.org.")),
            ("example.org", &repeats("example.org.example.org.")),
            ("*.Example.ORG", &repeats("*.example.org.example.org.")),
            ("a.b.example.org", &repeats("a.b.example.org.example.org.")),
        ],
        &[
            ("www.example.org.", "www.example.org."),
            ("www", "www.example.org."),
            ("org", "org.example.org."),
            ("example", "example.example.org."),
            ("badexample.org", "badexample.org.example.org."),
            ("example.org.www", "example.org.www.example.org."),
            (r"www.example\.org", r"www.example\.org.example.org."),
            ("example.com", "example.com.example.org."),
        ],
    );
}

/// G14: names of another zone, some of which only look like this one's.
#[test]
fn a_name_out_of_its_zone_is_refused() {
    let elsewhere = |name: &str| format!("{name} is not in zone example.org.");
    let names = [
        "badexample.org.",
        r"bad\.example.org.",
        "example.org.evil.com.",
        "example.com.",
        "org.",
        ".",
        "2.0.192.in-addr.arpa.",
        "0/25.2.0.192.in-addr.arpa.",
        "localhost.",
        "abc.onion.",
    ];
    let rows = names.map(|name| (name, elsewhere(name)));
    let refused: Vec<(&str, &str)> = rows.iter().map(|(name, rule)| (*name, &**rule)).collect();
    let accepted = [
        ("www", "www.example.org."),
        ("@", "example.org."),
        ("EXAMPLE.org.", "example.org."),
        ("bad.example.org.", "bad.example.org."),
        ("localhost", "localhost.example.org."),
        ("a.b.c.d", "a.b.c.d.example.org."),
    ];
    check(owner, &refused, &accepted);
    // In a zone of their own they are names like any other.
    for name in names {
        assert_eq!(domain_name(name), Ok(name.to_owned()));
    }
}

/// G15: several dots at the end.
#[test]
fn one_dot_ends_a_name() {
    let refused = [
        ("example.org..", EMPTY_LABEL),
        ("example.org...", EMPTY_LABEL),
        ("www..", EMPTY_LABEL),
        ("..", EMPTY_LABEL),
    ];
    let accepted = [
        ("example.net.", "example.net."),
        ("www", "www.example.org."),
        (r"www\.", r"www\..example.org."),
        (r"example.org\..", r"example.org\.."),
    ];
    check(in_example_org, &refused, &accepted);
    check(
        host,
        &refused,
        &[
            ("example.org.", "example.org."),
            ("example.org", "example.org."),
        ],
    );
}
