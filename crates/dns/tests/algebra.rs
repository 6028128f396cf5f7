//! The laws that zones, diffs, hashes and zone files obey, over random zones.

use std::collections::BTreeMap;

use dns::routing::{Membership, Routing};
use dns::{
    ApplyError, Diff, Name, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl, Zone, zonefile,
};
use proptest::prelude::*;
use zonewright_dns as dns;

const ORIGIN: &str = "example.org.";

fn name(text: &str) -> Name {
    Name::parse(text).expect("test names are well-formed")
}

fn ttl() -> impl Strategy<Value = Ttl> {
    prop_oneof![Just(0_u32), Just(60), Just(300), 0..=Ttl::MAX.as_secs()]
        .prop_map(|secs| Ttl::from_secs(secs).expect("within bounds"))
}

/// Labels of few letters, so that names meet, and of hostile ones.
fn label() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => "[ab]{1,2}".prop_map(String::into_bytes),
        1 => Just(b"*".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ]
}

fn owner() -> impl Strategy<Value = Name> {
    prop::collection::vec(label(), 0..3).prop_map(|labels| {
        let mut wire = Vec::new();
        for label in labels {
            wire.push(u8::try_from(label.len()).expect("short"));
            wire.extend(label);
        }
        wire.extend_from_slice(name(ORIGIN).as_wire());
        Name::from_wire(&wire).expect("labels are short")
    })
}

fn data(rtype: Rtype) -> impl Strategy<Value = Rdata> {
    let wire = match rtype {
        Rtype::A => prop::collection::vec(any::<u8>(), 4..=4).boxed(),
        Rtype::AAAA => prop::collection::vec(any::<u8>(), 16..=16).boxed(),
        Rtype::TXT => prop::collection::vec(any::<u8>(), 0..40)
            .prop_map(|text| [&[u8::try_from(text.len()).expect("short")], &text[..]].concat())
            .boxed(),
        Rtype::MX => (any::<[u8; 2]>(), owner())
            .prop_map(|(preference, name)| [&preference[..], name.as_wire()].concat())
            .boxed(),
        Rtype::NS | Rtype::CNAME => owner().prop_map(|name| name.as_wire().to_vec()).boxed(),
        _ => prop::collection::vec(any::<u8>(), 0..20).boxed(),
    };
    wire.prop_map(move |wire| Rdata::from_wire(rtype, &wire).expect("made to fit the type"))
}

fn rtype() -> impl Strategy<Value = Rtype> {
    let unknown = Rtype::from_int(65_280);
    prop::sample::select(vec![
        Rtype::A,
        Rtype::AAAA,
        Rtype::TXT,
        Rtype::MX,
        Rtype::NS,
        Rtype::CNAME,
        unknown,
    ])
}

/// A record set with its key; single-valued types get one value for each member.
fn entry() -> impl Strategy<Value = (SetKey, RecordSet)> {
    (owner(), rtype()).prop_flat_map(|(owner, rtype)| {
        let sets = prop_oneof![
            4 => part(rtype).prop_map(|part| (None, part)).prop_map(|part| vec![part]).boxed(),
            1 => prop::collection::btree_map("[ab\"]", (routing(), part(rtype)), 1..4).prop_map(members).boxed(),
        ];
        sets.prop_map(move |parts| {
            let records = parts.into_iter().flat_map(|(membership, part)| {
                part.into_iter().map(move |(ttl, data)| (membership.clone(), ttl, data))
            });
            let set = RecordSet::assemble(records).expect("no null MX below the origin");
            (SetKey::new(owner.clone(), rtype), set)
        })
    })
}

type Part = Vec<(Ttl, Rdata)>;

fn part(rtype: Rtype) -> impl Strategy<Value = Part> {
    let most = if rtype == Rtype::CNAME { 1 } else { 3 };
    (ttl(), prop::collection::vec(data(rtype), 1..=most))
        .prop_map(|(ttl, data)| data.into_iter().map(|data| (ttl, data)).collect())
}

fn routing() -> impl Strategy<Value = Routing> {
    let geo = prop::sample::select(vec!["*", "DE", "GEO-EU"]);
    (prop::option::of(any::<u8>()), prop::option::of(geo)).prop_map(|(weight, geo)| Routing {
        weight: weight.map(|weight| weight.to_string().parse().expect("a weight")),
        geo: geo.map(|geo| geo.parse().expect("a place")),
    })
}

fn members(members: BTreeMap<String, (Routing, Part)>) -> Vec<(Option<Membership>, Part)> {
    let member = |(identifier, (routing, part)): (String, (Routing, Part))| {
        let identifier = identifier.parse().expect("an identifier");
        let membership = Membership {
            identifier,
            routing,
        };
        (Some(membership), part)
    };
    members.into_iter().map(member).collect()
}

/// The zone as zone files can say it: of each routed set the default member.
fn plain(zone: &Zone) -> Zone {
    let records = |set: &RecordSet| {
        let data = set.data().iter();
        let records: Vec<_> = data.map(|data| (set.ttl(), data.clone())).collect();
        RecordSet::new(records).expect("it was a set before")
    };
    let sets = zone.sets().map(|(key, set)| (key.clone(), records(set)));
    build(zone.soa().clone(), sets)
}

fn soa() -> impl Strategy<Value = Soa> {
    (ttl(), owner(), owner(), any::<[u32; 3]>(), ttl()).prop_map(
        |(ttl, mname, rname, [refresh, retry, expire], minimum)| Soa {
            ttl,
            mname,
            rname,
            refresh,
            retry,
            expire,
            minimum,
        },
    )
}

/// A zone made of whatever of the entries a zone takes.
fn build(soa: Soa, entries: impl IntoIterator<Item = (SetKey, RecordSet)>) -> Zone {
    let mut zone = Zone::new(name(ORIGIN), soa);
    for (key, set) in entries {
        let _ = zone.put(key, set);
    }
    zone
}

fn zone() -> impl Strategy<Value = Zone> {
    (soa(), prop::collection::vec(entry(), 0..12)).prop_map(|(soa, entries)| build(soa, entries))
}

/// Two zones that share most of their sets.
fn versions() -> impl Strategy<Value = (Zone, Zone)> {
    (
        zone(),
        soa(),
        prop::collection::vec(entry(), 0..6),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(old, soa, extra, keep_soa, drop)| {
            let kept = old
                .sets()
                .enumerate()
                .filter(|(position, _)| drop >> (position % 64) & 1 == 0);
            let kept: Vec<_> = kept
                .map(|(_, (key, set))| (key.clone(), set.clone()))
                .collect();
            let soa = if keep_soa { old.soa().clone() } else { soa };
            let new = build(soa, extra.into_iter().chain(kept));
            (old, new)
        })
}

proptest! {
    /// parse ∘ print = id.
    #[test]
    fn a_printed_zone_reads_back_as_itself(zone in zone(), serial: u32) {
        let text = zonefile::print(&zone, Serial(serial));
        let reading = zonefile::parse(&text, None);
        prop_assert_eq!(reading.problems, vec![]);
        prop_assert_eq!(reading.zone, Some((plain(&zone), Serial(serial))));
    }

    /// N6: canonical lines carry every member, in any order.
    #[test]
    fn lines_read_back_as_the_sets_they_were((key, set) in entry(), seed: u64) {
        let mut text = String::new();
        zonefile::push_lines(&mut text, &key.name, &set);
        let lines = zonefile::read_lines(&text);
        let mut lines = lines.map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
        prop_assert!(lines.iter().all(|line| line.record.name == key.name));
        let rotation = usize::try_from(seed).unwrap_or(1) % lines.len();
        lines.rotate_left(rotation);
        let records = lines.into_iter().map(|line| (line.membership, line.record.ttl, line.record.data));
        prop_assert_eq!(RecordSet::assemble(records), Ok(set));
    }

    /// print ∘ parse is idempotent: the printed form is canonical.
    #[test]
    fn the_printed_form_is_canonical(zone in zone()) {
        let once = zonefile::print(&zone, Serial(1));
        let (again, serial) = zonefile::parse(&once, Some(&name(ORIGIN))).zone.expect("reads back");
        prop_assert_eq!(zonefile::print(&again, serial), once);
    }

    #[test]
    fn a_zone_does_not_differ_from_itself(zone in zone()) {
        prop_assert!(Diff::between(&zone, &zone.clone()).is_empty());
    }

    #[test]
    fn applying_a_difference_gives_the_other_version((old, new) in versions()) {
        let diff = Diff::between(&old, &new);
        let mut zone = old.clone();
        zone.apply(&diff).expect("it was made for this zone");
        prop_assert_eq!(&zone, &new);
        prop_assert_eq!(zone.hash(), new.hash());
        zone.apply(&diff.inverse()).expect("the way back");
        prop_assert_eq!(&zone, &old);
        prop_assert_eq!(zone.hash(), old.hash());
    }

    /// A caller who knows which keys changed gets the same difference.
    #[test]
    fn a_difference_at_the_changed_keys_is_the_whole_difference((old, new) in versions()) {
        let whole = Diff::between(&old, &new);
        let keys: Vec<SetKey> = whole.changes().map(|(key, _)| key.clone()).collect();
        prop_assert_eq!(Diff::at(&old, &new, &keys), whole);
        prop_assert_eq!(Diff::at(&old, &new, []).changes().count(), 0);
    }

    /// A difference for another state changes nothing.
    #[test]
    fn a_stale_difference_is_refused_whole((old, new) in versions(), other in zone()) {
        let diff = Diff::between(&old, &new);
        let mut zone = other.clone();
        if zone.apply(&diff).is_err() {
            prop_assert_eq!(zone.hash(), other.hash());
            prop_assert_eq!(zone, other);
        }
    }

    /// Neither order nor history shows in the value, its hash or its text.
    #[test]
    fn the_order_of_inputs_never_matters(
        soa in soa(),
        entries in prop::collection::btree_map(owner(), prop::collection::vec(data(Rtype::A), 1..3), 0..8),
        detour in prop::collection::vec(entry(), 0..4),
        seed: u64,
    ) {
        let set = |data: &Vec<Rdata>| RecordSet::new(data.iter().cloned().map(|data| (Ttl::ZERO, data))).expect("addresses");
        let sets: Vec<_> = entries.iter().map(|(name, data)| (SetKey::new(name.clone(), Rtype::A), set(data))).collect();
        let straight = build(soa.clone(), sets.clone());
        let mut shuffled = sets.clone();
        shuffled.sort_by_key(|(key, _)| seed.wrapping_mul(key.name.as_wire().iter().map(|octet| u64::from(*octet)).sum::<u64>() | 1));
        let mut winding = build(soa, detour.clone());
        for (key, _) in detour {
            winding.remove(&key);
        }
        for (key, set) in shuffled {
            winding.put(key, set).expect("addresses get along");
        }
        prop_assert_eq!(winding.hash(), straight.hash());
        prop_assert_eq!(zonefile::print(&winding, Serial(1)), zonefile::print(&straight, Serial(1)));
        prop_assert_eq!(winding, straight);
    }

    #[test]
    fn any_text_is_a_zone_file_or_a_list_of_problems(text in "(?s).{0,200}") {
        let _ = zonefile::parse(&text, None);
    }
}

fn set(rtype: Rtype, ttl: u32, texts: &[&str]) -> RecordSet {
    let ttl = Ttl::from_secs(ttl).expect("within bounds");
    let data = texts
        .iter()
        .map(|text| Rdata::parse(rtype, text, &name(ORIGIN)).expect("test data is well-formed"));
    RecordSet::new(data.map(|data| (ttl, data))).expect("test sets are well-formed")
}

fn small_zone() -> Zone {
    let soa = Soa {
        ttl: Ttl::from_secs(360_u32).expect("within bounds"),
        mname: name("ns.example.org."),
        rname: name("noc.example.org."),
        refresh: 86_400,
        retry: 7_200,
        expire: 3_600_000,
        minimum: Ttl::from_secs(360_u32).expect("within bounds"),
    };
    let www = (
        SetKey::new(name("www.example.org."), Rtype::A),
        set(Rtype::A, 300, &["192.0.2.1", "192.0.2.2"]),
    );
    build(soa, [www])
}

type Edit = fn(&mut Soa);

/// Z6: every part of the content shows in the hash, the serial does not.
#[test]
fn the_hash_covers_origin_soa_and_every_record() {
    let zone = small_zone();
    let www = SetKey::new(name("www.example.org."), Rtype::A);
    let mut hashes = BTreeMap::from([(zone.hash(), "as it is")]);
    let mut differs = |what, zone: &Zone| {
        assert_eq!(
            hashes.insert(zone.hash(), what),
            None,
            "{what} does not show in the hash"
        );
    };
    let soas: [(&str, Edit); 7] = [
        ("SOA TTL", |soa| soa.ttl = Ttl::ZERO),
        ("mname", |soa| soa.mname = Name::root()),
        ("rname", |soa| soa.rname = Name::root()),
        ("refresh", |soa| soa.refresh = 1),
        ("retry", |soa| soa.retry = 1),
        ("expire", |soa| soa.expire = 1),
        ("minimum", |soa| soa.minimum = Ttl::ZERO),
    ];
    for (what, edit) in soas {
        let (mut soa, mut edited) = (zone.soa().clone(), zone.clone());
        edit(&mut soa);
        edited.set_soa(soa);
        differs(what, &edited);
    }
    let sets = [
        ("TTL", set(Rtype::A, 301, &["192.0.2.1", "192.0.2.2"])),
        ("one address less", set(Rtype::A, 300, &["192.0.2.1"])),
        (
            "another address",
            set(Rtype::A, 300, &["192.0.2.1", "192.0.2.3"]),
        ),
    ];
    for (what, set) in sets {
        let mut edited = zone.clone();
        edited.put(www.clone(), set).expect("fits");
        differs(what, &edited);
    }
    for (what, membership) in [
        ("routing", r#"{"setIdentifier":"a"}"#),
        ("another member", r#"{"setIdentifier":"b"}"#),
        ("weight", r#"{"setIdentifier":"a","weight":0}"#),
        ("place", r#"{"setIdentifier":"a","geo":"*"}"#),
    ] {
        let mut edited = zone.clone();
        let (ttl, data) = (
            zone.get(&www).expect("there").ttl(),
            zone.get(&www).expect("there").data(),
        );
        let membership: Membership = membership.parse().expect("canonical");
        let records = data
            .iter()
            .map(|data| (Some(membership.clone()), ttl, data.clone()));
        let set = RecordSet::assemble(records).expect("a member");
        edited.put(www.clone(), set).expect("fits");
        differs(what, &edited);
    }
    let mut removed = zone.clone();
    removed.remove(&www);
    differs("no records", &removed);
    differs(
        "origin",
        &Zone::new(name("example.com."), zone.soa().clone()),
    );
}

/// Z6: the vectors of the definition, read from the page that defines it.
#[test]
fn the_hash_has_the_values_of_its_definition() {
    let page = include_str!("../../../docs/reference/hash.md");
    let vectors: Vec<&str> = page.split("```zone\n").skip(1).collect();
    assert!(vectors.len() >= 4, "the page has vectors");
    for vector in vectors {
        let (text, expected) = vector_of(vector);
        let reading = zonefile::parse(text, None);
        assert_eq!(reading.problems, [], "{text}");
        let (zone, _) = reading.zone.expect("vectors are zones");
        assert_eq!(zone.hash().to_string(), expected, "{text}");
    }
}

/// Z6, N6: so have routed sets, which zone files cannot say: their vectors are canonical lines, the SOA first.
#[test]
fn the_hash_of_routed_sets_has_the_values_of_its_definition() {
    let page = include_str!("../../../docs/reference/hash.md");
    let vectors: Vec<&str> = page.split("```lines\n").skip(1).collect();
    assert!(!vectors.is_empty(), "the page has vectors");
    for vector in vectors {
        let (text, expected) = vector_of(vector);
        let mut lines = zonefile::read_lines(text).expect("canonical lines");
        let soa = lines.remove(0).record;
        let (soa, _) = Soa::from_rdata(soa.ttl, &soa.data).expect("the SOA is the first");
        let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
        for line in lines {
            let key = SetKey::new(line.record.name, line.record.data.rtype());
            let record = (line.membership, line.record.ttl, line.record.data);
            sets.entry(key).or_default().push(record);
        }
        let sets = sets.into_iter();
        let sets = sets.map(|(key, records)| (key, RecordSet::assemble(records).expect("a set")));
        assert_eq!(build(soa, sets).hash().to_string(), expected, "{text}");
    }
}

/// A block of the page, and the hash in backticks behind it.
fn vector_of(block: &str) -> (&str, &str) {
    let (text, rest) = block.split_once("```").expect("the block ends");
    let expected = rest.split('`').nth(1).expect("the hash follows");
    (text, expected)
}

#[test]
fn a_difference_of_another_zone_or_state_is_refused() {
    let zone = small_zone();
    let other = Zone::new(name("example.com."), zone.soa().clone());
    let mut target = zone.clone();
    let foreign = Diff::between(&other, &other);
    assert!(matches!(
        target.apply(&foreign),
        Err(ApplyError::OtherZone { .. })
    ));

    let mut emptied = zone.clone();
    emptied.remove(&SetKey::new(name("www.example.org."), Rtype::A));
    let diff = Diff::between(&zone, &emptied);
    target.apply(&diff).expect("fits once");
    assert!(
        matches!(target.apply(&diff), Err(ApplyError::Stale(_))),
        "and only once"
    );
}

#[test]
fn a_difference_from_another_soa_is_refused() {
    let old = small_zone();
    let with_refresh = |refresh| {
        let mut zone = old.clone();
        zone.set_soa(Soa {
            refresh,
            ..old.soa().clone()
        });
        zone
    };
    let diff = Diff::between(&old, &with_refresh(1));
    let mut moved_on = with_refresh(2);
    assert_eq!(moved_on.apply(&diff), Err(ApplyError::StaleSoa));
    assert_eq!(moved_on, with_refresh(2));
}

/// A CNAME takes the place of addresses, and the other way round, in one step.
#[test]
fn types_that_exclude_each_other_change_places() {
    let old = small_zone();
    let mut new = old.clone();
    new.remove(&SetKey::new(name("www.example.org."), Rtype::A));
    new.put(
        SetKey::new(name("www.example.org."), Rtype::CNAME),
        set(Rtype::CNAME, 60, &["web"]),
    )
    .expect("alone");
    let diff = Diff::between(&old, &new);
    let mut zone = old.clone();
    zone.apply(&diff).expect("addresses go first");
    assert_eq!(zone, new);
    zone.apply(&diff.inverse()).expect("the alias goes first");
    assert_eq!(zone, old);
}

/// A refusal half way leaves nothing behind.
#[test]
fn a_refused_difference_leaves_the_zone_as_it_was() {
    let empty = Zone::new(name(ORIGIN), small_zone().soa().clone());
    let mut alias = empty.clone();
    alias
        .put(
            SetKey::new(name("www.example.org."), Rtype::CNAME),
            set(Rtype::CNAME, 60, &["web"]),
        )
        .expect("alone");
    let mut zone = small_zone();
    let before = zone.clone();
    let refused = zone.apply(&Diff::between(&empty, &alias));
    assert!(
        matches!(refused, Err(ApplyError::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(zone, before);
    assert_eq!(zone.hash(), before.hash());
}
