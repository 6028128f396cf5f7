//! The rules, each broken once.

use super::super::xml::GeoLocation;
use super::*;

fn zone() -> Zone {
    Zone::new("Example.org")
}

fn address(name: &str, value: &str) -> ResourceRecordSet {
    plain(name, "A", 300, vec![value.to_owned()])
}

fn alias(name: &str) -> ResourceRecordSet {
    plain(name, "CNAME", 300, vec!["target.example.".to_owned()])
}

fn routed(identifier: &str, weight: Option<u8>, country: Option<&str>) -> ResourceRecordSet {
    ResourceRecordSet {
        set_identifier: Some(identifier.to_owned()),
        weight,
        geo_location: country.map(|code| GeoLocation {
            country_code: Some(code.to_owned()),
            ..GeoLocation::default()
        }),
        ..address("www.example.org", "192.0.2.1")
    }
}

fn change(action: Action, set: ResourceRecordSet) -> Change {
    Change {
        action,
        resource_record_set: set,
    }
}

/// Makes changes one after the other, all but the last of which must go well.
fn refusal(zone: &mut Zone, changes: Vec<Change>) -> String {
    let mut last = Ok(());
    for change in changes {
        last.expect("all but the last go well");
        last = zone.change(vec![change]);
    }
    match last.unwrap_err() {
        Refusal::InvalidInput(message) => message,
        Refusal::InvalidChangeBatch(messages) => messages.join(", "),
    }
}

#[test]
fn what_is_refused_is_refused_in_the_words_of_route_53() {
    use Action::{Create, Delete};
    let www = || address("www.example.org", "192.0.2.1");
    let cases: [(Vec<Change>, &str); 12] = [
        (
            vec![change(Create, www()), change(Create, www())],
            "Tried to create resource record set [name='www.example.org.', type='A'] but it already exists",
        ),
        (
            vec![change(Delete, www())],
            "Tried to delete resource record set [name='www.example.org.', type='A'] but it was not found",
        ),
        (
            vec![
                change(Create, www()),
                change(Delete, address("www.example.org", "192.0.2.2")),
            ],
            "Tried to delete resource record set [name='www.example.org.', type='A'] but the values provided do not match \
             the current values",
        ),
        (
            vec![
                change(Create, www()),
                change(Create, alias("www.example.org")),
            ],
            "RRSet of type CNAME with DNS name www.example.org. is not permitted as it conflicts with other records with \
             the same DNS name in zone example.org.",
        ),
        (
            vec![
                change(Create, alias("www.example.org")),
                change(Create, www()),
            ],
            "RRSet of type A with DNS name www.example.org. is not permitted as it conflicts with other records with the \
             same DNS name in zone example.org.",
        ),
        (
            vec![change(Create, address("www.example.net", "192.0.2.1"))],
            "RRSet with DNS name www.example.net. is not permitted in zone example.org.",
        ),
        (
            vec![change(Create, address("www.example.org", "localhost"))],
            "Invalid Resource Record: 'FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) \
             encountered with 'localhost''",
        ),
        (
            vec![change(
                Create,
                plain("t.example.org", "TXT", 1, vec!["bare".into()]),
            )],
            "Invalid Resource Record: 'FATAL problem: InvalidCharacterString (Value should be enclosed in quotation \
             marks) encountered with 'bare''",
        ),
        (
            vec![
                change(Create, www()),
                change(Create, routed("one", Some(1), None)),
            ],
            "RRSet with DNS name www.example.org., type A, SetIdentifier one cannot be created as a set with another kind \
             of routing exists with the same name and type",
        ),
        (
            vec![
                change(Create, routed("one", Some(1), None)),
                change(Create, routed("other", None, Some("IE"))),
            ],
            "RRSet with DNS name www.example.org., type A, SetIdentifier other cannot be created as a set with another \
             kind of routing exists with the same name and type",
        ),
        (
            vec![
                change(Create, routed("one", None, Some("IE"))),
                change(Create, routed("other", None, Some("IE"))),
            ],
            "RRSet with DNS name www.example.org., type A, SetIdentifier other cannot be created as a set for the same \
             place exists with the same name and type",
        ),
        (
            vec![change(Create, routed("one", None, None))],
            "Invalid request: Expected exactly one of [Weight, Region, Failover, MultiValueAnswer, or GeoLocation], but \
             found none in Change with [Action=CREATE, Name=www.example.org., Type=A, SetIdentifier=one]",
        ),
    ];
    for (changes, words) in cases {
        assert_eq!(refusal(&mut zone(), changes), words);
    }
}

#[test]
fn equal_weights_stand_beside_each_other() {
    let mut zone = zone();
    for identifier in ["one", "other"] {
        let set = routed(identifier, Some(1), None);
        zone.change(vec![change(Action::Create, set)]).unwrap();
    }
    assert_eq!(zone.len(), 4);
}

#[test]
fn a_batch_is_made_whole_or_not_at_all() {
    let mut zone = zone();
    let batch = vec![
        change(Action::Create, address("a.example.org", "192.0.2.1")),
        change(Action::Delete, address("b.example.org", "192.0.2.1")),
    ];
    assert!(zone.change(batch).is_err());
    assert_eq!(zone.len(), 2);
}

#[test]
fn what_is_upserted_counts_twice() {
    let upserts = |count: usize| -> Vec<Change> {
        let set = |index| address(&format!("h{index}.example.org"), "192.0.2.1");
        (0..count)
            .map(|index| change(Action::Upsert, set(index)))
            .collect()
    };
    let limit =
        Refusal::InvalidChangeBatch(vec!["Number of records limit of 1000 exceeded.".to_owned()]);
    assert_eq!(zone().change(upserts(501)), Err(limit));
    assert_eq!(zone().change(upserts(500)), Ok(()));
    let long = |length: usize| {
        let value = format!("\"{}\"", "x".repeat(253)).repeat(length / 255);
        vec![change(
            Action::Upsert,
            plain("t.example.org", "TXT", 1, vec![value]),
        )]
    };
    let limit = Refusal::InvalidChangeBatch(vec![
        "Number of characters limit of 32000 exceeded.".to_owned(),
    ]);
    assert_eq!(zone().change(long(16_065)), Err(limit));
    assert_eq!(zone().change(long(15_810)), Ok(()));
}

#[test]
fn sets_are_listed_by_their_names_from_the_right() {
    let mut zone = zone();
    let names = [
        "b.example.org",
        "*.example.org",
        "z.a.example.org",
        "a.example.org",
        "a-b.example.org",
    ];
    let sets = names.map(|name| change(Action::Create, address(name, "192.0.2.1")));
    zone.change(sets.into()).unwrap();
    let listed =
        |page: &Page| -> Vec<String> { page.sets.iter().map(|set| set.name.clone()).collect() };
    let first = zone.page(&Key::default(), 3, 0);
    assert_eq!(
        listed(&first),
        ["example.org.", "example.org.", r"\052.example.org."]
    );
    let next = first.next.unwrap();
    let rest = zone.page(&key(&next), 300, 0);
    assert_eq!(
        listed(&rest),
        [
            // A hyphen comes before the dot at the end.
            "a-b.example.org.",
            "a.example.org.",
            "z.a.example.org.",
            "b.example.org."
        ]
    );
    assert!(rest.next.is_none());
}

#[test]
fn a_zone_keeps_its_soa_and_name_servers() {
    let mut zone = zone();
    let apex = zone.page(&Key::default(), 2, 0).sets;
    for set in apex {
        let words = refusal(&mut zone, vec![change(Action::Delete, set)]);
        assert!(words.starts_with("A HostedZone must contain"), "{words}");
    }
}
