use super::*;
use crate::hosted::Share;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn owner(id: &str) -> Owner {
    Owner {
        id: OwnerId::new(id),
        share: Share {
            name: "record".to_owned(),
            uid: "uid".to_owned(),
        },
    }
}

fn key(text: &str, rtype: Rtype) -> HostedKey {
    HostedKey::plain(name(text), rtype)
}

fn apex() -> Name {
    name("example.com.")
}

fn text_of(set: &HostedSet) -> String {
    set.records.data()[0].to_string()
}

fn txt(text: &str) -> RecordSet {
    RecordSet::new([(Ttl::ZERO, strings(text))]).unwrap()
}

/// The subjects of a mark at a name, and what it says.
fn marked(at: &str, text: &str) -> Option<(Mark, Vec<Subject>)> {
    read(&key(at, Rtype::TXT), &txt(text), &apex())
}

#[test]
fn names_are_those_of_the_peer() {
    // P7: the peer's own example, and a wildcard.
    let id = OwnerId::new("32ah7xkb");
    let cases = [
        (
            "foo.example.com.",
            Rtype::A,
            "kuadrant-r7ywdbza-a-foo.example.com.",
        ),
        (
            "foo.example.com.",
            Rtype::CNAME,
            "kuadrant-r7ywdbza-cname-foo.example.com.",
        ),
        (
            "*.foo.example.com.",
            Rtype::A,
            "kuadrant-r7ywdbza-a-wildcard.foo.example.com.",
        ),
        (
            "wildcard-x.example.com.",
            Rtype::AAAA,
            "kuadrant-r7ywdbza-aaaa-wildcard-x.example.com.",
        ),
    ];
    for (set, rtype, expected) in cases {
        let mark = key_of(&id, &key(set, rtype), &apex()).unwrap();
        assert_eq!(mark.name, name(expected), "{set}");
        assert_eq!(mark.rtype, Rtype::TXT);
    }
}

#[test]
fn values_are_those_of_the_peer() {
    // P7.
    let none = BTreeMap::new();
    let plain = set_of(&owner("32ah7xkb"), &none, Ttl::ZERO, Routing::default());
    assert_eq!(
        text_of(&plain),
        r#""heritage=external-dns,external-dns/owner=32ah7xkb,external-dns/version=1""#
    );
    let labels = BTreeMap::from([("soft_delete".to_owned(), "true".to_owned())]);
    let full = set_of(&owner("32ah7xkb"), &labels, Ttl::ZERO, Routing::default());
    assert_eq!(
        text_of(&full),
        r#""heritage=external-dns,external-dns/owner=32ah7xkb,external-dns/soft_delete=true,external-dns/version=1""#
    );
}

#[test]
fn a_value_longer_than_a_string_is_divided() {
    let labels = BTreeMap::from([("note".to_owned(), "x".repeat(300))]);
    let set = set_of(&owner("32ah7xkb"), &labels, Ttl::ZERO, Routing::default());
    let mark = parse(&set.records.data()[0]).unwrap();
    assert_eq!(mark.labels, labels);
}

#[test]
fn a_mark_is_read_as_it_was_written() {
    let long = format!("{}.example.com.", "l".repeat(63));
    let deep = format!("{}example.com.", "label.".repeat(39));
    for set in [
        "foo.example.com.",
        "*.example.com.",
        "example.com.",
        "wildcard.example.com.",
        &long,
        &deep,
    ] {
        let owner = owner("32ah7xkb");
        let set = key(set, Rtype::CNAME);
        let at = key_of(&owner.id, &set, &apex()).unwrap();
        let value = set_of(&owner, &BTreeMap::new(), Ttl::ZERO, Routing::default());
        let (mark, subjects) = read(&at, &value.records, &apex()).unwrap();
        assert_eq!(mark.owners, [owner.id.clone()].into());
        assert_eq!(mark.dialect, Dialect::Shared);
        let plain = Subject::Set(set.name.clone(), Some(set.rtype));
        let hashed = may_be_hashed(&set.name).then(|| hashed_subject(&set));
        let found = subjects.contains(&plain) || hashed.is_some_and(|it| subjects.contains(&it));
        assert!(found, "{set}: {at} means {subjects:?}");
    }
}

#[test]
fn a_name_too_long_or_ambiguous_is_marked_by_its_hash() {
    // P7, D7: more than 63 characters; and what would look like a wildcard.
    let id = OwnerId::new("32ah7xkb");
    let fits = "l".repeat(63 - "kuadrant-r7ywdbza-cname-".len());
    let mark = |text: &str| key_of(&id, &key(text, Rtype::CNAME), &apex()).unwrap().name;
    let plain = mark(&format!("{fits}.example.com."));
    assert_eq!(
        plain,
        name(&format!("kuadrant-r7ywdbza-cname-{fits}.example.com."))
    );
    for text in [
        format!("{fits}l.example.com."),
        "wildcard.example.com.".to_owned(),
        "-x.example.com.".to_owned(),
    ] {
        let hash = &hash36(&text)[..20];
        let expected = format!("kuadrant-r7ywdbza-cname--{hash}.example.com.");
        assert_eq!(mark(&text), name(&expected));
    }
}

#[test]
fn marks_of_others_are_read() {
    // P7: older Kuadrant, external-dns, and its older versions.
    let set = |text: &str, rtype| Subject::Set(name(text), rtype);
    let cases = [
        (
            "kuadrant-a-foo.example.com.",
            "heritage=external-dns,external-dns/owner=one&&two",
            Dialect::Legacy,
            vec!["one", "two"],
            set("foo.example.com.", Some(Rtype::A)),
        ),
        (
            "kuadrant-foo.example.com.",
            "heritage=external-dns,external-dns/owner=one",
            Dialect::Legacy,
            vec!["one"],
            set("foo.example.com.", None),
        ),
        (
            "cname-foo.example.com.",
            "\"heritage=external-dns,external-dns/owner=default,external-dns/resource=ingress/default/web\"",
            Dialect::Exclusive,
            vec!["default"],
            set("foo.example.com.", Some(Rtype::CNAME)),
        ),
        (
            "foo.example.com.",
            "heritage=external-dns,external-dns/owner=default",
            Dialect::Exclusive,
            vec!["default"],
            set("foo.example.com.", None),
        ),
    ];
    for (at, text, dialect, owners, subject) in cases {
        let (mark, subjects) = marked(at, text).unwrap();
        assert_eq!(mark.dialect, dialect, "{at}");
        let owners: BTreeSet<OwnerId> = owners.into_iter().map(OwnerId::new).collect();
        assert_eq!(mark.owners, owners, "{at}");
        assert!(subjects.contains(&subject), "{at}: {subjects:?}");
    }
}

#[test]
fn what_is_no_mark_marks_nothing() {
    for text in [
        "v=spf1 -all",
        "heritage=octodns,external-dns/owner=a",
        "external-dns/owner=a,heritage=external-dns",
        "heritage=external-dns",
    ] {
        assert!(marked("a-foo.example.com.", text).is_none(), "{text}");
    }
    // The hash in the name is another owner's.
    let text = "heritage=external-dns,external-dns/owner=someone,external-dns/version=1";
    let (_, subjects) = marked("kuadrant-r7ywdbza-a-foo.example.com.", text).unwrap();
    assert_eq!(subjects, []);
}
