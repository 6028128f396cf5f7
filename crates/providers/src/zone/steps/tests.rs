use api::{Decoded, ZoneKey};
use dns::{Name, RecordSet, Rtype, Ttl};
use proptest::prelude::*;

use super::*;
use crate::zone::convert::Version;

fn home() -> Home {
    Home {
        zone: ZoneKey::new("own", "zone"),
        namespace: "own".to_owned(),
        apex: Name::parse("example.org.").unwrap(),
        ttl: Ttl::ZERO,
    }
}

fn share() -> Share {
    Share {
        name: "app".to_owned(),
        uid: "uid".to_owned(),
    }
}

/// The sets of a text such as `60 A 192.0.2.1 | 60 A 192.0.2.2`, all at one name.
fn sets(text: &str) -> BTreeMap<HostedKey, HostedSet> {
    let mut sets: BTreeMap<Rtype, Vec<(Ttl, Rdata)>> = BTreeMap::new();
    for datum in text.split(" | ").filter(|text| !text.is_empty()) {
        let mut words = datum.splitn(3, ' ');
        let ttl = Ttl::from_secs(words.next().unwrap().parse::<u32>().unwrap()).unwrap();
        let rtype: Rtype = words.next().unwrap().parse().unwrap();
        let data = Rdata::parse(rtype, words.next().unwrap(), &Name::root()).unwrap();
        sets.entry(rtype).or_default().push((ttl, data));
    }
    let key = |rtype| HostedKey {
        share: Some(share()),
        ..HostedKey::plain(Name::parse("www.example.org.").unwrap(), rtype)
    };
    let sets = sets.into_iter();
    sets.map(|(rtype, data)| (key(rtype), HostedSet::plain(RecordSet::new(data).unwrap())))
        .collect()
}

fn batch(before: &str, after: &str) -> Batch {
    let (before, after) = (sets(before), sets(after));
    let keys: BTreeSet<&HostedKey> = before.keys().chain(after.keys()).collect();
    let changes = keys.into_iter().map(|key| Change {
        key: key.clone(),
        before: before.get(key).cloned(),
        after: after.get(key).cloned(),
    });
    Batch {
        changes: changes
            .filter(|change| change.before != change.after)
            .collect(),
    }
}

/// An API with Records in it.
#[derive(Clone, Default)]
struct Objects(BTreeMap<String, Standing>);

impl Objects {
    fn of(text: &str) -> Objects {
        let mut objects = Objects::default();
        let made = steps(&home(), &batch("", text), &[]).unwrap();
        made.iter()
            .flat_map(|it| &it.steps)
            .for_each(|step| objects.take(step));
        objects
    }

    fn standing(&self) -> Vec<Standing> {
        self.0.values().cloned().collect()
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Delete(record) => drop(self.0.remove(&record.name).unwrap()),
            Step::Patch(record, datum) => {
                let known = self.0.get_mut(&record.name).unwrap();
                known.datum = Some(datum.clone());
            }
            Step::Create(name, datum) => {
                let record = home().record(name, datum, &share()).unwrap();
                let standing = home().read(&Decoded::Object(record)).unwrap();
                assert_eq!(
                    self.0.insert(name.clone(), standing),
                    None,
                    "{name} is free"
                );
            }
        }
    }

    /// What stands there, in order.
    fn says(&self) -> Vec<String> {
        let data = self.0.values().filter_map(|record| record.datum.as_ref());
        let mut says: Vec<String> = data
            .map(|it| format!("{} {} {}", it.ttl, it.data.rtype(), it.data))
            .collect();
        says.sort();
        says
    }

    /// Whether no server could serve it.
    fn excluded(&self) -> bool {
        let says = self.says();
        let alone = |it: &String| it.contains(" CNAME ") || it.ends_with(" MX 0 .");
        says.len() > 1 && says.iter().any(alone)
    }
}

fn sorted(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text
        .split(" | ")
        .map(str::to_owned)
        .filter(|it| !it.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

fn plan(objects: &Objects, before: &str, after: &str) -> Vec<Step> {
    let steps = steps(&home(), &batch(before, after), &objects.standing()).unwrap();
    steps.into_iter().flat_map(|it| it.steps).collect()
}

/// The kinds of writes that make one state of another: deletions, patches, creations.
fn writes(before: &str, after: &str) -> String {
    let steps = plan(&Objects::of(before), before, after);
    let letter = |step: &Step| match step {
        Step::Delete(_) => 'd',
        Step::Patch(..) => 'p',
        Step::Create(..) => 'c',
    };
    steps.iter().map(letter).collect()
}

#[test]
fn a_record_becomes_another_one_before_records_come_and_after_records_go() {
    let cases = [
        ("", "60 A 192.0.2.1", "c"),
        ("60 A 192.0.2.1", "", "d"),
        ("60 A 192.0.2.1", "60 A 192.0.2.2", "p"),
        ("60 A 192.0.2.1", "30 A 192.0.2.1", "p"),
        ("60 A 192.0.2.1", "60 A 192.0.2.1 | 60 A 192.0.2.2", "c"),
        ("60 A 192.0.2.1 | 60 A 192.0.2.2", "60 A 192.0.2.3", "dp"),
        ("60 A 192.0.2.1", "60 A 192.0.2.2 | 60 A 192.0.2.3", "pc"),
        ("60 CNAME a.example.", "60 CNAME b.example.", "p"),
        (
            "60 A 192.0.2.1 | 60 A 192.0.2.2",
            "60 CNAME a.example.",
            "dp",
        ),
        ("60 CNAME a.example.", "60 A 192.0.2.1 | 60 TXT \"x\"", "pc"),
        ("60 MX 1 a.example. | 60 MX 2 b.example.", "60 MX 0 .", "dp"),
        (
            "60 A 192.0.2.1 | 60 TXT \"x\"",
            "60 A 192.0.2.2 | 60 TXT \"y\"",
            "pp",
        ),
    ];
    for (before, after, expected) in cases {
        assert_eq!(writes(before, after), expected, "{before} → {after}");
    }
}

#[test]
fn sets_that_are_neither_here_nor_there_are_stale() {
    let (before, after) = (
        "60 A 192.0.2.1 | 60 A 192.0.2.2",
        "60 A 192.0.2.2 | 60 A 192.0.2.3",
    );
    let check = |held: &str| {
        let objects = Objects::of(held);
        let steps = steps(&home(), &batch(before, after), &objects.standing());
        !matches!(steps, Err(Error::Stale))
    };
    for fine in [
        before,
        after,
        "60 A 192.0.2.2",
        "60 A 192.0.2.1 | 60 A 192.0.2.2 | 60 A 192.0.2.3",
    ] {
        assert!(check(fine), "{fine}");
    }
    for stale in [
        "",
        "60 A 192.0.2.1",
        "60 A 192.0.2.1 | 60 A 192.0.2.3",
        "60 A 192.0.2.2 | 60 A 192.0.2.9",
        "30 A 192.0.2.1 | 30 A 192.0.2.2",
    ] {
        assert!(!check(stale), "{stale}");
    }
}

#[test]
fn a_set_of_nobody_is_refused() {
    let mut batch = batch("", "60 A 192.0.2.1");
    batch.changes[0].key.share = None;
    let refused = steps(&home(), &batch, &[]).unwrap_err().story();
    assert_eq!(
        refused,
        "the provider refused: www.example.org. A is no DNSRecord's"
    );
}

#[test]
fn names_in_use_are_passed_over() {
    let objects = Objects::of("60 A 192.0.2.1 | 60 TXT \"x\"");
    let names: Vec<&String> = objects.0.keys().collect();
    let steps = plan(
        &objects,
        "60 A 192.0.2.1",
        "60 A 192.0.2.1 | 60 A 192.0.2.2",
    );
    let [Step::Create(name, _)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert!(name.ends_with("-2") && !names.contains(&name), "{name}");
}

#[test]
fn records_of_others_under_a_name_of_ours_are_not_touched() {
    let mut objects = Objects::of("60 A 192.0.2.1");
    for record in objects.0.values_mut() {
        record.share.uid = "another".to_owned();
        record.datum = None;
        record.version = Version::default();
    }
    let steps = plan(&objects, "", "60 A 192.0.2.1");
    assert!(
        matches!(&steps[..], [Step::Create(name, _)] if name.ends_with("-0")),
        "{steps:?}"
    );
}

/// Everything that can be at one name.
fn content() -> impl Strategy<Value = String> {
    const ALONE: &[&str] = &["1 CNAME a.example.", "2 CNAME b.example.", "1 MX 0 .", ""];
    let addresses = prop::collection::vec(1..6_u8, 0..5);
    let texts = prop::collection::vec(1..4_u8, 0..3);
    let several = (addresses, texts, 1..3_u32).prop_map(|(addresses, texts, ttl)| {
        let addresses = addresses.iter().map(|it| format!("{ttl} A 192.0.2.{it}"));
        let texts = texts.iter().map(|it| format!("{ttl} TXT \"{it}\""));
        addresses.chain(texts).collect::<Vec<_>>().join(" | ")
    });
    prop_oneof![several, prop::sample::select(ALONE).prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn a_batch_can_be_broken_off_anywhere(before in content(), after in content()) {
        let mut objects = Objects::of(&before);
        let steps = plan(&objects, &before, &after);
        for step in steps {
            let mut again = objects.clone();
            for step in plan(&again, &before, &after) {
                again.take(&step);
            }
            prop_assert_eq!(again.says(), sorted(&after));
            prop_assert!(before.is_empty() || after.is_empty() || !objects.0.is_empty());
            prop_assert!(!objects.excluded(), "{:?}", objects.says());
            objects.take(&step);
        }
        prop_assert_eq!(objects.says(), sorted(&after));
        prop_assert_eq!(plan(&objects, &before, &after), vec![]);
    }
}
