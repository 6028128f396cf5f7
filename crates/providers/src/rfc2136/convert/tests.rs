use super::*;
use dns::RecordSet;
use dns::hosted::HostedKey;

const APEX: &str = "example.org.";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn set(rtype: Rtype, ttl: u32, data: &[&str]) -> Option<HostedSet> {
    let ttl = Ttl::from_secs(ttl).unwrap();
    let data = data.iter();
    let data = data.map(|text| (ttl, Rdata::parse(rtype, text, &Name::root()).unwrap()));
    RecordSet::new(data).ok().map(HostedSet::plain)
}

/// `www` is below the zone, `@` the zone itself; no data is no set.
fn change(owner: &str, rtype: Rtype, before: &[&str], after: &[&str]) -> Change {
    let owner = match owner {
        "@" => APEX.to_owned(),
        label => format!("{label}.{APEX}"),
    };
    Change {
        key: HostedKey::plain(name(&owner), rtype),
        before: set(rtype, 300, before),
        after: set(rtype, 60, after),
    }
}

fn batch(changes: &[Change]) -> Batch {
    Batch {
        changes: changes.to_vec(),
    }
}

fn told(entries: &[Entry<'_>]) -> Vec<String> {
    let tell = |entry: &Entry<'_>| {
        let Entry {
            name,
            rtype,
            class,
            ttl,
            data,
        } = entry;
        let data = match Rdata::from_wire(*rtype, data) {
            Ok(data) => format!(" {data}"),
            Err(_) => String::new(),
        };
        format!("{name} {ttl} {class} {rtype}{data}")
    };
    entries.iter().map(tell).collect()
}

fn check(changes: &[Change], prerequisites: &[&str], updates: &[&str]) {
    let batch = batch(changes);
    let sections = Sections::of(&name(APEX), &batch).unwrap();
    assert_eq!(told(&sections.prerequisites), prerequisites);
    assert_eq!(told(&sections.updates), updates);
}

#[test]
fn a_new_set_must_not_be_there() {
    check(
        &[change("www", Rtype::A, &[], &["192.0.2.1", "192.0.2.2"])],
        &["www.example.org. 0 NONE A"],
        &[
            "www.example.org. 60 IN A 192.0.2.1",
            "www.example.org. 60 IN A 192.0.2.2",
        ],
    );
}

#[test]
fn a_set_that_changes_must_be_as_it_was() {
    check(
        &[change("www", Rtype::A, &["192.0.2.1"], &["192.0.2.2"])],
        &["www.example.org. 0 IN A 192.0.2.1"],
        &[
            "www.example.org. 0 * A",
            "www.example.org. 60 IN A 192.0.2.2",
        ],
    );
}

#[test]
fn a_set_that_goes_must_be_as_it_was() {
    check(
        &[change("www", Rtype::A, &["192.0.2.1"], &[])],
        &["www.example.org. 0 IN A 192.0.2.1"],
        &["www.example.org. 0 * A"],
    );
}

#[test]
fn all_that_goes_stands_before_all_that_comes() {
    // RFC 2136 §3.4.2.2: an alias is ignored where other types are still there.
    check(
        &[
            change("www", Rtype::CNAME, &[], &["target.example."]),
            change("www", Rtype::A, &["192.0.2.1"], &[]),
        ],
        &[
            "www.example.org. 0 NONE CNAME",
            "www.example.org. 0 IN A 192.0.2.1",
        ],
        &[
            "www.example.org. 0 * A",
            "www.example.org. 60 IN CNAME target.example.",
        ],
    );
}

#[test]
fn the_zone_never_is_without_name_servers() {
    // RFC 2136 §3.4.2.3 and §3.4.2.4.
    check(
        &[change("@", Rtype::NS, &["a.", "b.", "c."], &["b.", "d."])],
        &[
            "example.org. 0 IN NS a.",
            "example.org. 0 IN NS b.",
            "example.org. 0 IN NS c.",
        ],
        &[
            "example.org. 0 NONE NS a.",
            "example.org. 0 NONE NS b.",
            "example.org. 60 IN NS b.",
            "example.org. 60 IN NS d.",
            "example.org. 0 NONE NS c.",
        ],
    );
    let gone = batch(&[change("@", Rtype::NS, &["a."], &[])]);
    let refused = update(&name(APEX), &gone).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
    // Those of a delegation may go.
    check(
        &[change("sub", Rtype::NS, &["a."], &[])],
        &["sub.example.org. 0 IN NS a."],
        &["sub.example.org. 0 * NS"],
    );
}

#[test]
fn a_message_takes_no_more_than_its_changes_are_said_to() {
    let limits = limits();
    let text = format!("\"{}\"", "x".repeat(255));
    let rows = [
        change("www", Rtype::A, &[], &["192.0.2.1"]),
        change("www", Rtype::A, &["192.0.2.1"], &["192.0.2.2", "192.0.2.3"]),
        change("www", Rtype::TXT, &[&text], &[]),
        change("@", Rtype::NS, &["a."], &["b."]),
        change("@", Rtype::NS, &["a.", "b.", "c.", "d."], &["e."]),
    ];
    let octets = |changes: &[Change]| {
        let request = update(&name(APEX), &batch(changes)).unwrap();
        request.as_slice().len()
    };
    let empty = octets(&[]);
    for row in rows {
        let said = (limits.load)(&row).octets;
        let taken = octets(std::slice::from_ref(&row)) - empty;
        assert!(taken <= said, "{row:?} takes {taken}, not {said}");
    }
}

#[test]
fn the_largest_batch_leaves_room_for_the_longest_signature() {
    use domain::rdata::tsig::Time48;
    use domain::tsig::{Algorithm, ClientTransaction, Key};

    let long = format!("{0}.{0}.{0}.{1}.", "x".repeat(63), "y".repeat(61));
    let zone = name(&long);
    assert_eq!(zone.as_wire().len(), 255);
    let make = |index: usize| {
        let data = format!("\"{index:0>255}\"");
        let key = HostedKey::plain(zone.clone(), Rtype::TXT);
        let (before, after) = (None, set(Rtype::TXT, 60, &[&data]));
        vec![Change { key, before, after }]
    };
    let batches = limits().cut((0..200).map(make));
    let mut request = update(&zone, &batches[0]).unwrap();
    let key = Key::new(
        Algorithm::Sha512,
        &[0; 64],
        long.parse().unwrap(),
        None,
        None,
    )
    .unwrap();
    ClientTransaction::request(&key, &mut request, Time48::now()).unwrap();
    assert!(request.as_slice().len() <= MESSAGE_OCTETS_MAX);
    assert!(limits().load_of(&batches[0].changes).octets > 60_000);
}
