//! What objects are called.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn namer(zone: &str) -> Namer {
    Namer::new(&name("example.org."), zone)
}

fn named(owner: &str, rtype: Rtype) -> String {
    let owner = if owner == "@" {
        "example.org.".to_owned()
    } else {
        format!("{owner}.example.org.")
    };
    namer("z").name(&name(&owner), rtype, None)
}

#[test]
fn names_without_odd_letters_are_spelled_out() {
    for (owner, rtype, expected) in [
        ("www", Rtype::A, "www-a.z"),
        ("@", Rtype::MX, "apex-mx.z"),
        ("*", Rtype::A, "wildcard-a.z"),
        ("*.apps", Rtype::AAAA, "wildcard--apps-aaaa.z"),
        ("www.dev", Rtype::A, "www--dev-a.z"),
        ("www-dev", Rtype::A, "www-dev-a.z"),
        ("1", Rtype::PTR, "1-ptr.z"),
        ("a", Rtype::from_int(65_280), "a-type65280.z"),
    ] {
        assert_eq!(named(owner, rtype), expected);
    }
}

#[test]
fn what_cannot_be_spelled_gets_a_hash() {
    for (owner, start) in [
        ("_dmarc", "dmarc-txt-"),
        ("_sip._tcp", "sip--tcp-txt-"),
        ("xn--bcher-kva", "xn-bcher-kva-txt-"),
        ("a--b", "a-b-txt-"),
        ("apex", "apex-txt-"),
        ("wildcard", "wildcard-txt-"),
        ("0/25", "0-25-txt-"),
        (r"\001\002", "x-txt-"),
        (r"a\.b", "a-b-txt-"),
    ] {
        let full = named(owner, Rtype::TXT);
        let hash = full
            .strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(".z"));
        let hash = hash.unwrap_or_else(|| panic!("{full}"));
        assert_eq!(hash.len(), HASH_DIGITS, "{full}");
    }
}

#[test]
fn several_values_are_told_apart_by_their_data() {
    let www = name("www.example.org.");
    let data = |text: &str| Rdata::parse(Rtype::A, text, &Name::root()).unwrap();
    let (one, two) = (data("192.0.2.1"), data("192.0.2.2"));
    let name = |data: &Rdata| namer("z").name(&www, Rtype::A, Some(data));
    assert_ne!(name(&one), name(&two));
    assert_eq!(name(&one), name(&one));
    assert!(name(&one).starts_with("www-a-"));
}

#[test]
fn long_names_are_cut_and_stay_apart() {
    let label = "a".repeat(60);
    let (one, two) = (format!("{label}.{label}.b"), format!("{label}.{label}.c"));
    let (one, two) = (named(&one, Rtype::A), named(&two, Rtype::A));
    assert_ne!(one, two);
    let long = "z".repeat(253);
    let with_long_zone = namer(&long).name(
        &name(&format!("{label}.{label}.example.org.")),
        Rtype::OPENPGPKEY,
        None,
    );
    assert!(
        with_long_zone.len() <= OBJECT_NAME_MAX,
        "{}",
        with_long_zone.len()
    );
    let other = format!("{}y", &long[1..]);
    let www = name("www.example.org.");
    assert_ne!(
        namer(&long).name(&www, Rtype::A, None),
        namer(&other).name(&www, Rtype::A, None)
    );
}

#[test]
fn no_type_can_be_taken_for_a_hash() {
    for code in 0..=u16::MAX {
        let text = Rtype::from_int(code).to_string();
        assert!(text.len() < HASH_DIGITS && text.len() <= TYPE_MAX, "{text}");
        assert!(
            text.bytes().all(|octet| octet.is_ascii_alphanumeric()),
            "{text}"
        );
    }
}

/// Owners that are likely to be spelled alike.
fn owner() -> impl Strategy<Value = Name> {
    let label = prop::sample::select(vec![
        "a", "b", "a-b", "a--b", "_a", "a_", "*", "apex", "wildcard", "x", "a-a", "\\001", "A\\.b",
    ]);
    prop::collection::vec(label, 0..4).prop_map(|labels| {
        let labels: Vec<String> = labels.iter().map(|label| format!("{label}.")).collect();
        name(&format!("{}example.org.", labels.concat()))
    })
}

proptest! {
    /// Two records have two names, in one zone or in two.
    #[test]
    fn no_two_records_have_one_name(
        owners in prop::collection::vec((owner(), prop::sample::select(vec![Rtype::A, Rtype::AAAA, Rtype::MX]), prop::sample::select(vec!["a", "a.b", "a-a.b", "b"])), 2..30)
    ) {
        let mut names = BTreeMap::new();
        for (owner, rtype, zone) in owners {
            let name = namer(zone).name(&owner, rtype, None);
            let record = (owner, rtype, zone);
            if let Some(other) = names.insert(name.clone(), record.clone()) {
                prop_assert_eq!(other, record, "{}", name);
            }
        }
    }
}
