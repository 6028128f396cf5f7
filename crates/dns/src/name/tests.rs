//! What names are: one form, one order, one way up the tree. K5; what is no
//! name is in `tests/bad_names.rs`.

use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

#[track_caller]
fn check(text: &str, canonical: &str, wire: &[u8]) {
    let name = name(text);
    assert_eq!(name.to_string(), canonical, "{text:?} printed");
    assert_eq!(name.as_wire(), wire, "{text:?} on the wire");
    assert_eq!(Name::from_wire(wire), Ok(name), "{text:?} from the wire");
}

/// P3: names in other scripts are names like any other.
#[test]
fn every_spelling_of_a_name_has_one_form() {
    check(".", ".", b"\0");
    check("example.org.", "example.org.", b"\x07example\x03org\0");
    check("EXAMPLE.Org.", "example.org.", b"\x07example\x03org\0");
    check("*.Example.", "*.example.", b"\x01*\x07example\0");
    check("_sip._TCP.a.", "_sip._tcp.a.", b"\x04_sip\x04_tcp\x01a\0");
    check("0/25.2.", "0/25.2.", b"\x040/25\x012\0");
    check("bücher.", "xn--bcher-kva.", b"\x0dxn--bcher-kva\0");
    check("bu\u{308}CHER.", "xn--bcher-kva.", b"\x0dxn--bcher-kva\0");
    check("XN--BCHER-KVA.", "xn--bcher-kva.", b"\x0dxn--bcher-kva\0");
}

/// Escapes are written so that a zone-file reader takes a label for this label
/// and nothing else.
#[test]
fn escapes_are_read_in_both_forms_and_written_in_one() {
    check(r"a\.b.", r"a\.b.", b"\x03a.b\0");
    check(r"a\046b.", r"a\.b.", b"\x03a.b\0");
    check(r"\065.", "a.", b"\x01a\0");
    check(r"a\ b.", r"a\032b.", b"\x03a b\0");
    check(r"\\.", r"\\.", b"\x01\\\0");
    check(r"\@.", r"\@.", b"\x01@\0");
    check(r"\$origin.", r"\$origin.", b"\x07$origin\0");
    check(r"\(\)\;\034.", r#"\(\)\;\"."#, b"\x04();\"\0");
    check(r"\000\010\255.", r"\000\010\255.", b"\x03\0\n\xff\0");
    // Octets that were escaped are no Unicode, even if they could be.
    check(r"\195\188.", r"\195\188.", b"\x02\xc3\xbc\0");
}

/// The example of RFC 4034 §6.1.
#[test]
fn names_are_in_canonical_order() {
    let sorted = [
        "example.",
        "a.example.",
        "yljkjljk.a.example.",
        "Z.a.example.",
        "zABC.a.EXAMPLE.",
        "z.example.",
        r"\001.z.example.",
        "*.z.example.",
        r"\200.z.example.",
    ]
    .map(name);
    assert!(sorted.is_sorted());
    assert!(Name::root() < sorted[0]);
}

#[test]
fn ancestors_lead_up_to_the_root() {
    let up = |text: &str| {
        let names: Vec<String> = name(text)
            .ancestors()
            .map(|name| name.to_string())
            .collect();
        names.join(" ")
    };
    assert_eq!(up("."), ".");
    assert_eq!(up("org."), "org. .");
    assert_eq!(up("a.b.org."), "a.b.org. b.org. org. .");
    assert_eq!(up(r"a\.b.org."), r"a\.b.org. org. .");
    assert_eq!(Name::root().parent(), None);
}

/// K5: each row is a name, one above it or not, whether it is at or below that
/// one, and the labels in front of it.
#[test]
fn below_is_a_matter_of_labels() {
    let rows = [
        ("example.org.", "example.org.", true, Some("@")),
        ("www.example.org.", "example.org.", true, Some("www")),
        ("WWW.Example.ORG.", "eXample.org.", true, Some("www")),
        ("a.b.example.org.", "example.org.", true, Some("a.b")),
        ("*.example.org.", "example.org.", true, Some("*")),
        ("example.org.", ".", true, Some("example.org")),
        (".", ".", true, Some("@")),
        (r"\@.example.org.", "example.org.", true, Some(r"\@")),
        ("badexample.org.", "example.org.", false, None),
        (r"bad\.example.org.", "example.org.", false, None),
        ("example.org.evil.", "example.org.", false, None),
        ("org.", "example.org.", false, None),
        (".", "example.org.", false, None),
        ("example.com.", "example.org.", false, None),
    ];
    for (text, above, at_or_below, front) in rows {
        let (name, above) = (name(text), name(above));
        assert_eq!(name.is_at_or_below(&above), at_or_below, "{text}");
        assert_eq!(
            name.is_below(&above),
            at_or_below && name != above,
            "{text}"
        );
        let relative = name.relative_to(&above);
        assert_eq!(
            relative.as_ref().map(RelativeName::to_string).as_deref(),
            front
        );
        if let Some(relative) = relative {
            assert_eq!(relative.under(&above), Ok(name));
        }
    }
}

#[test]
fn a_name_knows_its_labels() {
    let www = name("*.WWW.example.org.");
    assert_eq!(www.label_count(), 4);
    assert!(www.labels().eq([&b"*"[..], b"www", b"example", b"org"]));
    assert!(www.is_wildcard() && !name("www.example.org.").is_wildcard());
    assert!(!name("a*.example.org.").is_wildcard() && !name("a.*.org.").is_wildcard());
    assert!(Name::root().is_root() && !www.is_root());
    assert_eq!(Name::root().label_count(), 0);
}

#[test]
fn hosts_and_addresses_are_told_apart() {
    let hosts = [
        "a.",
        "a-b.c1.",
        "1.example.",
        "xn--bcher-kva.",
        "*.example.",
        ".",
    ];
    let not_hosts = [
        "_a.", "a_b.", "-a.", "a-.", "a.*.", "a/b.", r"a\.b.", r"a\032.",
    ];
    for text in hosts {
        assert!(name(text).is_host(), "{text}");
    }
    for text in not_hosts {
        assert!(!name(text).is_host(), "{text}");
    }
    let addresses = [
        "192.0.2.1.",
        "192.0.2.256.",
        "010.0.0.1.",
        "2001:db8::1.",
        "::ffff:192.0.2.1.",
    ];
    let names = [
        "10.0.0.1.nip.io.",
        "1.2.0.192.in-addr.arpa.",
        "1.2.3.",
        "1.2.3.4.5.",
        "a.0.2.1.",
        ".",
    ];
    for text in addresses {
        assert!(name(text).spells_address(), "{text}");
    }
    for text in names {
        assert!(!name(text).spells_address(), "{text}");
    }
}

/// The wildcard of a zone is put in front of its name, whatever that is.
#[test]
fn relative_names_are_completed_by_their_zone() {
    let zone = name("example.org.");
    assert_eq!(RelativeName::APEX.under(&zone), Ok(zone.clone()));
    assert_eq!(
        RelativeName::wildcard().under(&zone),
        Ok(name("*.example.org."))
    );
    assert_eq!(
        RelativeName::wildcard().under(&Name::root()),
        Ok(name("*."))
    );
    assert!(RelativeName::APEX.is_apex() && !RelativeName::wildcard().is_apex());
    let full = DomainName::parse("a.example.net.").unwrap();
    assert_eq!(full.under(&zone), Ok(name("a.example.net.")));
}

#[test]
fn octets_that_are_no_name_are_refused() {
    let long = [&[1, b'a'].repeat(127)[..], &[1, b'b', 0]].concat();
    let rows: [(&[u8], &str); 6] = [
        (b"", "not a name in wire form: unexpected end of input"),
        (b"\x01a", "not a name in wire form: relative name"),
        (
            b"\x03a\0",
            "not a name in wire form: unexpected end of input",
        ),
        (
            b"\xc0\x00",
            "not a name in wire form: compressed domain name",
        ),
        (b"\0\0", "not a name in wire form: trailing data"),
        (&long, "not a name in wire form: long domain name"),
    ];
    for (wire, message) in rows {
        assert_eq!(
            Name::from_wire(wire).unwrap_err().to_string(),
            message,
            "{wire:?}"
        );
    }
}

/// Whatever the wire can hold: any octets, any number of labels.
fn any_name() -> impl Strategy<Value = Name> {
    let octet = prop_oneof![
        any::<u8>(),
        prop::sample::select(&b"aA.*-_\\\"$@;() xn"[..])
    ];
    let label = prop_oneof![
        4 => prop::collection::vec(octet, 1..=12),
        1 => prop::collection::vec(any::<u8>(), 1..=63),
        1 => "[xX][nN]--[a-z0-9-]{0,9}".prop_map(String::into_bytes),
    ];
    let short = prop::collection::vec(any::<u8>(), 1..=1);
    let labels = prop_oneof![
        20 => prop::collection::vec(label, 0..6),
        1 => prop::collection::vec(short, 100..=127),
    ];
    labels.prop_map(|mut labels| {
        while labels.iter().map(|label| label.len() + 1).sum::<usize>() >= NAME_OCTETS_MAX {
            labels.pop();
        }
        let labels: Vec<Bytes> = labels.into_iter().map(Bytes::from).collect();
        let wire = labels.iter().fold(Vec::new(), |mut wire, label| {
            wire.push(u8::try_from(label.len()).unwrap());
            wire.extend_from_slice(label);
            wire
        });
        Name::from_wire(&[&wire[..], &[0]].concat()).unwrap()
    })
}

/// Text in which something is likely to go wrong.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(&[
        "a",
        "B",
        "-",
        ".",
        "..",
        "@",
        "*",
        "_",
        "/",
        "\\",
        "\\0",
        "\\046",
        "\\300",
        "$",
        "\"",
        " ",
        "xn--",
        "xn--bcher-kva",
        "ü",
        "u\u{308}",
        "а",
        "\u{200b}",
        "\u{3002}",
        "א",
        "1",
        "\n",
        "\0",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
    ]
}

/// RFC 4034 §6.1 word by word: labels from the right, each as octets.
fn naive_order(one: &Name, other: &Name) -> Ordering {
    one.labels().rev().cmp(other.labels().rev())
}

proptest! {
    #[test]
    fn a_printed_name_reads_back(name in any_name()) {
        let text = name.to_string();
        prop_assert!(text.is_ascii() && !text.contains([' ', '\n']), "{}", text);
        prop_assert_eq!(Name::parse(&text), Ok(name));
    }

    #[test]
    fn the_canonical_form_is_its_own(name in any_name()) {
        prop_assert_eq!(Name::canonical(name.as_octets()), name.clone());
        prop_assert_eq!(Name::from_wire(name.as_wire()), Ok(name.clone()));
        prop_assert!(name.labels().all(|label| !label.iter().any(u8::is_ascii_uppercase)));
    }

    #[test]
    fn the_order_is_that_of_rfc_4034(one in any_name(), other in any_name()) {
        prop_assert_eq!(one.cmp(&other), naive_order(&one, &other));
        prop_assert_eq!(one == other, naive_order(&one, &other).is_eq());
    }

    /// Everything below a name follows it without a gap.
    #[test]
    fn a_subtree_is_a_range(one in any_name(), other in any_name()) {
        for above in one.ancestors() {
            prop_assert!(above <= one && one.is_at_or_below(&above));
            if above < other && other < one {
                prop_assert!(other.is_at_or_below(&above));
            }
        }
    }

    #[test]
    fn what_is_in_front_of_an_ancestor_leads_back(name in any_name()) {
        for above in name.ancestors() {
            let relative = name.relative_to(&above).unwrap();
            prop_assert_eq!(relative.labels().len(), name.label_count() - above.label_count());
            // Only a name that says its ancestor twice cannot be told from a mistake (G13).
            let twice = relative.under(&Name::root()).unwrap().is_at_or_below(&above);
            match relative.under(&above) {
                Ok(whole) => prop_assert_eq!(whole, name.clone()),
                Err(_) => prop_assert!(twice && !above.is_root()),
            }
        }
    }

    /// What people write is either refused or has a form that reads as itself.
    #[test]
    fn any_text_is_refused_or_has_a_canonical_form(text in any_text()) {
        if let Ok(name) = Name::parse(&text) {
            prop_assert_eq!(Name::parse(&name.to_string()), Ok(name));
        }
        if let Ok(Ok(name)) = DomainName::parse(&text).map(|name| name.under(&Name::root())) {
            prop_assert_eq!(Name::parse(&name.to_string()), Ok(name));
        }
        if let Ok(name) = host_name(&text) {
            prop_assert!(name.is_host());
            prop_assert_eq!(host_name(&name.to_string()), Ok(name));
        }
    }
}
