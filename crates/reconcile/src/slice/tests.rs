//! Where zones are cut.

use std::sync::LazyLock;

use dns::{RecordSet, Soa};
use proptest::prelude::*;

use super::*;

const OWNER: &str = "uid-of-the-zone";

/// Eight names that begin a slice and two dozen that do not, mixed.
static NAMES: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let all = (0..).map(|number| name(&format!("n{number}.example.org.")));
    let mut quota = [24, 8];
    let mut names = Vec::new();
    for name in all {
        let left = &mut quota[usize::from(is_beginning(&name))];
        if *left > 0 {
            *left -= 1;
            names.push(name);
        }
        if quota == [0, 0] {
            break;
        }
    }
    names
});

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn zone() -> Zone {
    let soa = Soa {
        ttl: Ttl::ZERO,
        mname: name("ns.example.org."),
        rname: name("noc.example.org."),
        refresh: 0,
        retry: 0,
        expire: 0,
        minimum: Ttl::ZERO,
    };
    Zone::new(name("example.org."), soa)
}

/// TXT data of about so many bytes.
fn text(bytes: usize, number: usize) -> Rdata {
    let string = [vec![250], vec![b'x'; 250]].concat();
    let mut wire = string.repeat(bytes / 251);
    wire.extend([1, b'a' + u8::try_from(number).unwrap()]);
    Rdata::from_wire(Rtype::TXT, &wire).unwrap()
}

fn put(zone: &mut Zone, name: &Name, data: &[Rdata]) {
    let key = SetKey::new(name.clone(), Rtype::TXT);
    let set = RecordSet::new(data.iter().map(|data| (Ttl::ZERO, data.clone())));
    match set {
        Ok(set) => drop(zone.put(key, set).unwrap()),
        Err(_) => drop(zone.remove(&key)),
    }
}

fn all(layout: &Layout, zone: &Zone) -> Vec<Slice> {
    layout.slices(zone, &layout.names().into_iter().collect())
}

/// Z11: the slices in their order are the zone, each is named once, none is empty or too large.
fn check(layout: &Layout, zone: &Zone) {
    let names = layout.names();
    let slices = all(layout, zone);
    let found: Vec<&String> = slices.iter().map(|slice| &slice.name).collect();
    assert_eq!(found, names.iter().collect::<Vec<_>>());
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for slice in &slices {
        assert!(!slice.content.is_empty());
        assert!(slice.content.len() <= CONTENT_BYTES_MAX);
    }
    let sets = zone.sets();
    let lines = sets.flat_map(|(key, set)| {
        let data = set.data().iter();
        data.map(|data| zonefile::print_record(&key.name, set.ttl(), data))
    });
    let content: String = slices.into_iter().map(|slice| slice.content).collect();
    assert_eq!(content, lines.collect::<String>());
}

#[test]
fn an_empty_zone_has_no_slices() {
    check(&Layout::of(&zone(), OWNER), &zone());
    assert_eq!(Layout::of(&zone(), OWNER).names(), Vec::<String>::new());
}

/// Z11: two zones with the same content do not share slices.
#[test]
fn slices_are_named_by_content_and_owner() {
    let mut zone = zone();
    put(&mut zone, &NAMES[0], &[text(10, 0)]);
    let names = Layout::of(&zone, OWNER).names();
    assert_eq!(names, ["zone-136b6780525663ec304ca5e147aed464"]);
    assert_ne!(names, Layout::of(&zone, "another").names());
}

/// Z11: a single name with more than a slice holds is cut between its records.
#[test]
fn a_name_that_is_too_large_is_cut_between_its_records() {
    let mut zone = zone();
    put(&mut zone, &NAMES[1], &[text(10, 0)]);
    let large: Vec<Rdata> = (0..4).map(|number| text(15_000, number)).collect();
    put(&mut zone, &NAMES[2], &large);
    put(&mut zone, &name("large.example.org."), &large);
    let layout = Layout::of(&zone, OWNER);
    check(&layout, &zone);
    assert!(layout.names().len() >= 2);
    let wide: Vec<Rdata> = (0..25).map(|number| text(2_500, number)).collect();
    put(&mut zone, &NAMES[3], &wide);
    check(&Layout::of(&zone, OWNER), &zone);
}

#[test]
fn a_line_that_no_slice_holds_is_measured() {
    let name = name("www.example.org.");
    assert_eq!(line_excess(&name, &text(60_000, 0), None), None);
    let excess = line_excess(&name, &text(65_250, 0), None).unwrap();
    assert!(excess > CONTENT_BYTES_MAX, "{excess}");
    // The longest text that 512 octets can have: a bitmap of types without mnemonics.
    let mut wire = vec![0];
    for window in 240..=254_u8 {
        wire.extend([window, 32]);
        wire.extend([0xff; 32]);
    }
    let bitmap = Rdata::from_wire(Rtype::NSEC, &wire).unwrap();
    assert!(bitmap.as_wire().len() <= SHORT_OCTETS_MAX);
    let line = zonefile::print_record(&name, Ttl::MAX, &bitmap);
    assert!(
        line.len() <= bitmap.as_wire().len() * 80 + 1_100,
        "{}",
        line.len()
    );
}

/// Z11: in a zone of 50,000 records a change touches the slice it is in, and a name that begins one also its neighbour.
#[test]
fn a_change_touches_few_slices_of_a_large_zone() {
    let mut zone = zone();
    let address = |number: u32| Rdata::from_wire(Rtype::A, &number.to_be_bytes()).unwrap();
    let put = |zone: &mut Zone, name: &Name, addresses: std::ops::Range<u32>| {
        let key = SetKey::new(name.clone(), Rtype::A);
        match RecordSet::new(addresses.map(|number| (Ttl::ZERO, address(number)))) {
            Ok(set) => drop(zone.put(key, set).unwrap()),
            Err(_) => drop(zone.remove(&key)),
        }
    };
    for number in 0..5_000 {
        let name = name(&format!("host{number}.example.org."));
        put(&mut zone, &name, 0..10);
    }
    let mut layout = Layout::of(&zone, OWNER);
    check(&layout, &zone);
    assert_eq!(zone.record_count(), 50_000);
    assert!(layout.names().len() > 20);
    let hosts = (0..40).map(|number| name(&format!("host{number}.example.org.")));
    for name in hosts.chain(NAMES.iter().cloned()) {
        for addresses in [0..3, 0..0] {
            let before: BTreeSet<String> = layout.names().into_iter().collect();
            put(&mut zone, &name, addresses);
            layout.update(&zone, &BTreeSet::from([name.clone()]));
            let after: BTreeSet<String> = layout.names().into_iter().collect();
            let created = after.difference(&before).count();
            assert!(
                created <= 1 + usize::from(is_beginning(&name)),
                "{name}: {created}"
            );
        }
    }
    assert_eq!(layout, Layout::of(&zone, OWNER));
}

/// What happens to one name: which, and how much text in how many records it has then.
fn change() -> impl Strategy<Value = (usize, usize, usize)> {
    let bytes = prop_oneof![20 => Just(20_usize), 2 => Just(9_000), 1 => Just(14_000)];
    (0..32_usize, bytes, 0..5_usize)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Z11: equal zones have equal slices, whatever their history.
    #[test]
    fn a_layout_that_followed_every_change_is_that_of_the_zone(
        rounds in prop::collection::vec(prop::collection::vec(change(), 1..6), 1..8),
    ) {
        let mut zone = zone();
        let mut layout = Layout::of(&zone, OWNER);
        for changes in rounds {
            let mut changed = BTreeSet::new();
            for (which, bytes, records) in changes {
                let data: Vec<Rdata> = (0..records).map(|number| text(bytes, number)).collect();
                put(&mut zone, &NAMES[which], &data);
                changed.insert(NAMES[which].clone());
            }
            layout.update(&zone, &changed);
            prop_assert_eq!(&layout, &Layout::of(&zone, OWNER));
        }
        check(&layout, &zone);
    }
}
