use std::collections::VecDeque;

use api::zone::{Delegation, RecordDelegation, ZoneSpec};
use api::{Decoded, ZoneKey};
use dns::routing::{Membership, Routing};
use dns::{Name, RecordSet, Rtype, SetKey, Ttl};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use proptest::prelude::*;
use reconcile::{Policy, RecordKey, World};

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

/// The sets of a text such as `60 A 192.0.2.1 | 60 A 192.0.2.2 @eu | 60 A 192.0.2.3 at klb`: behind the at sign is a member,
/// and at the end the name, if it is another than `www`.
fn sets(text: &str) -> BTreeMap<HostedKey, HostedSet> {
    type Data = Vec<(Ttl, Rdata)>;
    let mut sets: BTreeMap<(&str, Rtype, &str), Data> = BTreeMap::new();
    for datum in text.split(" | ").filter(|text| !text.is_empty()) {
        let (datum, name) = datum.split_once(" at ").unwrap_or((datum, "www"));
        let (datum, identifier) = datum.split_once(" @").unwrap_or((datum, ""));
        let mut words = datum.splitn(3, ' ');
        let ttl = Ttl::from_secs(words.next().unwrap().parse::<u32>().unwrap()).unwrap();
        let rtype: Rtype = words.next().unwrap().parse().unwrap();
        let data = Rdata::parse(rtype, words.next().unwrap(), &Name::root()).unwrap();
        sets.entry((name, rtype, identifier))
            .or_default()
            .push((ttl, data));
    }
    let key = |name: &str, rtype, identifier: &str| HostedKey {
        identifier: identifier.to_owned(),
        share: Some(share()),
        ..HostedKey::plain(Name::parse(&format!("{name}.example.org.")).unwrap(), rtype)
    };
    let set = |identifier: &str, data| HostedSet {
        records: RecordSet::new(data).unwrap(),
        routing: Routing {
            weight: (!identifier.is_empty()).then(|| "5".parse().unwrap()),
            geo: None,
        },
    };
    let sets = sets.into_iter();
    sets.map(|((name, rtype, identifier), data)| {
        (key(name, rtype, identifier), set(identifier, data))
    })
    .collect()
}

fn www() -> Name {
    Name::parse("www.example.org.").unwrap()
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
            .flatten()
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
                let mut record = home().record(name, datum, &share()).unwrap();
                let last = self.0.values().filter_map(|record| record.created.clone());
                let created = last.max().map_or(0, |last| last.0.as_second() + 1);
                let created = k8s_openapi::jiff::Timestamp::from_second(created).unwrap();
                record.metadata.creation_timestamp = Some(Time(created));
                record.metadata.uid = Some(name.clone());
                let standing = home().read(&Decoded::Object(record)).unwrap();
                assert_eq!(
                    self.0.insert(name.clone(), standing),
                    None,
                    "{name} is free"
                );
            }
        }
    }

    /// Lets others be the oldest.
    fn rotate(&mut self, by: usize) {
        let mut ages: Vec<_> = self
            .0
            .values()
            .map(|record| record.created.clone())
            .collect();
        let by = by.checked_rem(ages.len()).unwrap_or(0);
        ages.rotate_left(by);
        for (record, age) in self.0.values_mut().zip(ages) {
            record.created = age;
        }
    }

    /// What stands there, in order.
    fn says(&self) -> Vec<String> {
        let data = self.0.values().filter_map(|record| record.datum.as_ref());
        let mut says: Vec<String> = data
            .map(|it| {
                let member = match it.key.identifier.as_str() {
                    "" => String::new(),
                    identifier => format!(" @{identifier}"),
                };
                format!("{} {} {}{member}", it.ttl, it.data.rtype(), it.data)
            })
            .collect();
        says.sort();
        says
    }

    /// The zone that the Zone makes of it.
    fn zone(&self) -> dns::Zone {
        let everything = Delegation {
            records: vec![RecordDelegation {
                pattern: "*".to_owned(),
                types: Vec::new(),
            }],
            ..Delegation::default()
        };
        let mut zone = api::Zone::new(
            "zone",
            ZoneSpec {
                domain_name: "example.org.".to_owned(),
                delegations: vec![everything],
                ..ZoneSpec::default()
            },
        );
        zone.metadata.namespace = Some("own".to_owned());
        let mut world = World::new(Policy::default(), BTreeMap::new());
        let key = ZoneKey::new("own", "zone");
        world.apply_zone(&key, Decoded::Object(zone));
        for (name, standing) in &self.0 {
            let datum = standing.datum.as_ref().unwrap();
            let mut record = home().record(name, datum, &share()).unwrap();
            record
                .metadata
                .creation_timestamp
                .clone_from(&standing.created);
            record.metadata.uid = Some(standing.version.uid.clone());
            world.apply_record(&RecordKey::new("own", name), Decoded::Object(record));
        }
        world.zone(&key).unwrap().content.unwrap().zone
    }

    /// All that a question for each type can be answered with.
    fn answers(&self) -> [BTreeSet<String>; 3] {
        let zone = self.zone();
        let get = |rtype| zone.get(&SetKey::new(www(), rtype));
        let member = |it: Option<&Membership>| it.map(ToString::to_string).unwrap_or_default();
        let record = |(membership, _, data): (Option<&Membership>, Ttl, &Rdata)| {
            format!("{} {data} {}", data.rtype(), member(membership))
        };
        [Rtype::A, Rtype::TXT, Rtype::MX].map(|rtype| {
            let set = get(Rtype::CNAME).or_else(|| get(rtype));
            set.into_iter()
                .flat_map(RecordSet::records)
                .map(record)
                .collect()
        })
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
    let steps = steps.into_iter().flatten();
    steps.flat_map(|it| it.steps).collect()
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
fn records_come_then_change_then_go() {
    let cases = [
        ("", "60 A 192.0.2.1", "c"),
        ("60 A 192.0.2.1", "", "d"),
        ("60 A 192.0.2.1", "60 A 192.0.2.2", "p"),
        ("60 A 192.0.2.1", "30 A 192.0.2.1", "p"),
        ("60 A 192.0.2.1", "60 A 192.0.2.1 | 60 A 192.0.2.2", "c"),
        ("60 A 192.0.2.1 | 60 A 192.0.2.2", "60 A 192.0.2.3", "pd"),
        ("60 A 192.0.2.1", "60 A 192.0.2.2 | 60 A 192.0.2.3", "cp"),
        ("60 CNAME a.example.", "60 CNAME b.example.", "p"),
        (
            "60 A 192.0.2.1 | 60 A 192.0.2.2",
            "60 CNAME a.example.",
            "pd",
        ),
        ("60 CNAME a.example.", "60 A 192.0.2.1 | 60 TXT \"x\"", "cp"),
        ("60 MX 1 a.example. | 60 MX 2 b.example.", "60 MX 0 .", "pd"),
        (
            "60 A 192.0.2.1",
            "60 CNAME a.example. @a | 60 CNAME b.example. @b",
            "cp",
        ),
        (
            "60 CNAME a.example. @a | 60 CNAME b.example. @b",
            "60 A 192.0.2.1 | 60 TXT \"x\"",
            "cpd",
        ),
        ("60 A 192.0.2.1", "60 A 192.0.2.1 @a", "p"),
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

/// Whether everybody who asks for addresses of a name gets some, whichever members answer.
fn leads_somewhere(zone: &dns::Zone, name: &Name) -> bool {
    let get = |rtype| zone.get(&SetKey::new(name.clone(), rtype));
    match get(Rtype::CNAME) {
        Some(alias) => {
            let mut targets = alias.records().filter_map(|(_, _, data)| data.target());
            targets.all(|target| leads_somewhere(zone, &target))
        }
        None => get(Rtype::A).is_some(),
    }
}

#[test]
fn nobody_is_led_to_where_there_is_nothing() {
    // D7. Names in one round are written in any order.
    let balanced = |place: &str| {
        format!(
            "300 CNAME klb.example.org. | 300 CNAME {place}.example.org. @{place} at klb | \
             60 CNAME own.example.org. @own at {place} | 60 A 192.0.2.1 at own"
        )
    };
    let states = ["60 A 192.0.2.1".to_owned(), balanced("eu"), balanced("ie")];
    let pairs = states
        .iter()
        .flat_map(|before| states.iter().map(move |after| (before, after)));
    for (before, after) in pairs {
        for backwards in [false, true] {
            let mut objects = Objects::of(before);
            let rounds = steps(&home(), &batch(before, after), &objects.standing()).unwrap();
            for mut round in rounds {
                if backwards {
                    round.reverse();
                }
                for step in round.iter().flat_map(|it| &it.steps) {
                    objects.take(step);
                    let zone = objects.zone();
                    assert!(leads_somewhere(&zone, &www()), "{step:?} of {after}");
                }
            }
        }
    }
}

#[test]
fn names_that_do_not_lead_to_each_other_are_written_together() {
    let names: Vec<String> = (0..9)
        .map(|name| format!("60 A 192.0.2.1 at n{name}"))
        .collect();
    let all = names.join(" | ");
    for (before, after) in [("", all.as_str()), (&all, "")] {
        let objects = Objects::of(before);
        let rounds = steps(&home(), &batch(before, after), &objects.standing()).unwrap();
        assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [9]);
    }
}

#[test]
fn a_loop_of_names_comes_to_an_end() {
    let before = "60 CNAME b.example.org. at a | 60 CNAME a.example.org. at b";
    let objects = Objects::of(before);
    assert_eq!(objects.0.len(), 2);
    assert_eq!(plan(&objects, before, "").len(), 2);
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
    const ALONE: &[&str] = &[
        "1 CNAME a.example.",
        "2 CNAME b.example.",
        "1 CNAME a.example. @a",
        "1 CNAME a.example. @a | 2 CNAME b.example. @b",
        "1 CNAME b.example. @a | 1 CNAME b.example. @b | 1 CNAME c.example. @c",
        "1 A 192.0.2.1 @a | 1 A 192.0.2.2 @a | 1 A 192.0.2.1 @b",
        "1 A 192.0.2.1 @b | 1 TXT \"1\"",
        "1 MX 0 .",
        "",
    ];
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
            objects.take(&step);
        }
        prop_assert_eq!(objects.says(), sorted(&after));
        prop_assert_eq!(plan(&objects, &before, &after), vec![]);
    }

    /// After every single write whoever had an answer before and has one after has one now, of what is there before or after:
    /// addresses become aliases, plain sets routed ones, and back, and nobody is told that there is nothing. The Zone judges, and the
    /// Records may have come in any order.
    #[test]
    fn nobody_is_told_that_there_is_nothing_while_a_name_changes(
        before in content(),
        after in content(),
        rotation in 0..4_usize,
        broken_off in prop::option::of(0..4_usize),
    ) {
        let mut objects = Objects::of(&before);
        objects.rotate(rotation);
        let first = objects.answers();
        let mut last = objects.clone();
        for step in plan(&last, &before, &after) {
            last.take(&step);
        }
        let last = last.answers();
        let mut steps: VecDeque<Step> = plan(&objects, &before, &after).into();
        let mut made = 0;
        while let Some(step) = steps.pop_front() {
            objects.take(&step);
            made += 1;
            for ((first, now), last) in first.iter().zip(objects.answers()).zip(&last) {
                let kept = first.is_empty() || last.is_empty() || !now.is_empty();
                prop_assert!(kept, "after {:?}: {:?}", step, objects.says());
                prop_assert!(now.is_subset(&(first | last)), "{:?} of {:?} and {:?}", now, first, last);
            }
            if broken_off == Some(made) {
                steps = plan(&objects, &before, &after).into();
            }
        }
        prop_assert_eq!(objects.says(), sorted(&after));
    }
}
