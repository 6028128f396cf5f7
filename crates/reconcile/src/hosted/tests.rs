//! Zones and asks as text; agendas as text.

use dns::hosted::{Held, Holdings, HostedSet, Share};
use dns::limits::{Load, Ownership, RoutingLimits, records_of};
use dns::routing::Routing;
use dns::{RecordSet, Ttl};
use proptest::prelude::*;

use super::*;

const RULES: GuardRules = GuardRules {
    percent_max: 30,
    deletions: false,
};

fn limits() -> Limits {
    Limits {
        types: &[],
        ttl_min: Ttl::ZERO,
        ttl_default: Ttl::from_secs(300).unwrap(),
        routing: RoutingLimits::default(),
        ownership: Ownership::Registry,
        atomic: true,
        batch_max: Load {
            count: usize::MAX,
            octets: usize::MAX,
        },
        load: |change| Load {
            count: records_of(change),
            octets: 0,
        },
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn name(label: &str) -> Name {
    Name::parse(&format!("{label}.example.org.")).unwrap()
}

/// `www 60 A 192.0.2.1 192.0.2.2`, below example.org.
fn line(text: &str) -> (HostedKey, Wanted) {
    let words: Vec<&str> = text.split(' ').collect();
    let rtype: Rtype = words[2].parse().unwrap();
    let data = words[3..].iter().map(|word| {
        let data = Rdata::parse(rtype, word, &Name::root());
        data.unwrap()
    });
    let mut data: Vec<Rdata> = data.collect();
    data.sort();
    let wanted = Wanted {
        data,
        ttl: Some(Ttl::from_secs(words[1].parse::<u32>().unwrap()).unwrap()),
        routing: Routing::default(),
        labels: BTreeMap::new(),
    };
    (HostedKey::plain(name(words[0]), rtype), wanted)
}

/// A record that is its own owner, has just been edited and has put nothing there before.
fn ask(record: &str, wanted: &[&str]) -> Ask {
    Ask {
        record: DnsRecordKey::new("web", record),
        owner: Owner {
            id: OwnerId::new(record),
            share: Share {
                name: record.to_owned(),
                uid: format!("uid-{record}"),
            },
        },
        scope: Name::parse("example.org.").unwrap(),
        root_host: Name::parse("example.org.").unwrap(),
        domain: None,
        wanted: wanted.iter().map(|text| line(text)).collect(),
        last: BTreeMap::new(),
        spared: BTreeSet::new(),
        names_wanted: NamesWanted::default(),
        cause: Cause::Edited,
        approval: Approval::None,
        may_write: true,
        owned_total: 0,
    }
}

impl Ask {
    /// Looked at again without anybody having changed anything.
    fn again(&self) -> Ask {
        let last = self.wanted.iter();
        Ask {
            last: last
                .map(|(key, wanted)| (key.clone(), wanted.data.clone()))
                .collect(),
            cause: Cause::Unasked,
            ..self.clone()
        }
    }

    fn leaving(&self) -> Ask {
        Ask {
            wanted: BTreeMap::new(),
            cause: Cause::Deleted,
            ..self.again()
        }
    }

    fn edited(&self, wanted: &[&str]) -> Ask {
        Ask {
            wanted: wanted.iter().map(|text| line(text)).collect(),
            cause: Cause::Edited,
            ..self.again()
        }
    }

    fn approving(&self, approval: Approval) -> Ask {
        Ask {
            approval,
            ..self.clone()
        }
    }
}

/// A zone with its guard.
#[derive(Clone)]
struct Place {
    hosted: Hosted,
    guard: Guard,
    rules: GuardRules,
    /// How many sets wait for a person already.
    waiting: usize,
}

impl Place {
    fn empty() -> Place {
        let apex = Name::parse("example.org.").unwrap();
        Place {
            hosted: Hosted {
                inventory: Inventory::new(apex, Holdings::new()),
                complaints: BTreeMap::new(),
            },
            guard: Guard::new(RULES.percent_max),
            rules: RULES,
            waiting: 0,
        }
    }

    /// Where these have been written.
    fn after(asks: &[Ask]) -> Place {
        let mut place = Place::empty();
        place.write(asks);
        place
    }

    /// The agenda. It leaves the inventory as it was, and every change starts from what is there.
    fn plan(&mut self, asks: &[Ask]) -> Agenda {
        let before = self.hosted.inventory.holdings().clone();
        let (guard, rules) = (&self.guard, self.rules);
        let guarded = Guarded {
            guard,
            rules,
            waiting: self.waiting,
            now: now(),
        };
        let asks: Vec<&Ask> = asks.iter().collect();
        let agenda = agenda(&mut self.hosted, &asks, &limits(), &guarded);
        assert_eq!(*self.hosted.inventory.holdings(), before, "it only plans");
        assert_eq!(agenda.verdicts.len(), asks.len());
        let mut names = BTreeSet::new();
        for (group, records) in &agenda.groups {
            assert!(names.insert(&group.name), "{} comes twice", group.name);
            assert!(!records.is_empty());
            for change in &group.changes {
                let held = before.get(&change.key).and_then(Held::set);
                assert_eq!(change.before.as_ref(), held, "{}", change.key);
            }
        }
        agenda
    }

    /// Writes the agenda, and tells what each was told.
    fn write(&mut self, asks: &[Ask]) -> Vec<Work> {
        let agenda = self.plan(asks);
        for change in agenda.groups.iter().flat_map(|(group, _)| &group.changes) {
            self.hosted.inventory.apply(change);
        }
        agenda.verdicts.into_iter().map(|it| it.work).collect()
    }

    /// Somebody else changes a set; nothing: it goes.
    fn tamper(&mut self, label: &str, to: Option<&str>) {
        let set = to.map(|text| set(&line(text).1));
        let change = Change {
            key: HostedKey::plain(name(label), Rtype::A),
            before: None,
            after: set,
        };
        self.hosted.inventory.apply(&change);
    }

    /// The addresses at a name.
    fn addresses(&self, label: &str) -> String {
        let key = HostedKey::plain(name(label), Rtype::A);
        shown(self.hosted.inventory.get(&key).and_then(Held::set))
    }
}

fn set(wanted: &Wanted) -> HostedSet {
    let ttl = wanted.ttl.unwrap_or_default();
    let data = wanted.data.iter().map(|data| (ttl, data.clone()));
    HostedSet::plain(RecordSet::new(data).unwrap())
}

fn shown(set: Option<&HostedSet>) -> String {
    let data = set.map(|set| set.records.data().iter().map(ToString::to_string));
    data.map_or_else(
        || "nothing".to_owned(),
        |data| data.collect::<Vec<_>>().join(" "),
    )
}

/// The changes of sets, without marks: `www A: nothing -> 192.0.2.1 for a, b`.
fn sets(agenda: &Agenda) -> Vec<String> {
    let groups = agenda.groups.iter().flat_map(|(group, records)| {
        let records: Vec<&str> = records.iter().map(|it| it.name.as_str()).collect();
        let records = records.join(", ");
        let changes = group.changes.iter();
        let data = changes.filter(|change| change.key.rtype != Rtype::TXT);
        data.map(move |change| {
            let (before, after) = (change.before.as_ref(), change.after.as_ref());
            let key = change.key.to_string().replace(".example.org.", "");
            format!("{key}: {} -> {} for {records}", shown(before), shown(after))
        })
    });
    groups.collect()
}

fn held(work: &Work) -> Option<&str> {
    match work {
        Work::Held { hash, .. } => Some(hash),
        Work::Nothing | Work::Write | Work::Exhausted => None,
    }
}

/// Ten records, each with a set of its own, as they are looked at later.
fn ten() -> (Place, Vec<Ask>) {
    let asks: Vec<Ask> = (0..10)
        .map(|index| {
            ask(
                &format!("r{index}"),
                &[&format!("n{index} 60 A 192.0.2.{index}")],
            )
        })
        .collect();
    let place = Place::after(&asks);
    (place, asks.iter().map(Ask::again).collect())
}

#[test]
fn two_records_that_share_a_name_have_one_change_with_the_data_of_both() {
    // P7, E7: targets are merged, and what two do to one set is one change.
    let mut place = Place::empty();
    let asks = [
        ask("a", &["www 60 A 192.0.2.1"]),
        ask("b", &["www 60 A 192.0.2.2"]),
    ];
    let agenda = place.plan(&asks);
    assert_eq!(
        sets(&agenda),
        ["www A: nothing -> 192.0.2.1 192.0.2.2 for a, b"]
    );
    assert_eq!(agenda.groups.len(), 1);
    assert_eq!(agenda.groups[0].0.changes.len(), 3, "the set and two marks");
    place.write(&asks);
    let again = asks.map(|ask| ask.again());
    assert_eq!(
        place.write(&again),
        [Work::Nothing, Work::Nothing],
        "D10: done"
    );
}

#[test]
fn a_name_is_never_empty_when_one_goes_while_another_joins() {
    // P11: whoever asks first.
    let leaver = ask("a", &["www 60 A 192.0.2.1"]);
    let joiner = ask("b", &["www 60 A 192.0.2.2"]);
    for leaver_first in [true, false] {
        let mut place = Place::after(std::slice::from_ref(&leaver));
        let mut asks = vec![leaver.leaving(), joiner.clone()];
        if !leaver_first {
            asks.reverse();
        }
        let agenda = place.plan(&asks);
        assert_eq!(
            sets(&agenda),
            ["www A: 192.0.2.1 -> 192.0.2.2 for a, b"],
            "leaver first: {leaver_first}"
        );
        place.write(&asks);
        assert_eq!(place.addresses("www"), "192.0.2.2");
        let later = [leaver.leaving(), joiner.again()];
        assert_eq!(place.write(&later), [Work::Nothing, Work::Nothing]);
    }
}

#[test]
fn changes_of_one_name_are_one_group_whoever_makes_them() {
    // P11: a name is not divided between batches.
    let mut place = Place::empty();
    let asks = [
        ask("a", &["www 60 A 192.0.2.1", "other 60 A 192.0.2.9"]),
        ask("b", &["www 60 AAAA 2001:db8::1"]),
    ];
    let agenda = place.plan(&asks);
    let mut groups: Vec<String> = agenda
        .groups
        .iter()
        .map(|(group, records)| {
            let records: Vec<&str> = records.iter().map(|it| it.name.as_str()).collect();
            format!("{} for {}", group.name, records.join(", "))
        })
        .collect();
    groups.sort();
    assert_eq!(
        groups,
        ["other.example.org. for a", "www.example.org. for a, b"]
    );
}

#[test]
fn what_two_records_undo_together_is_no_change_at_all() {
    let one = ask("a", &["www 60 A 192.0.2.1"]);
    let mut place = Place::after(std::slice::from_ref(&one));
    // The other one takes over just what the first one leaves.
    let agenda = place.plan(&[one.leaving(), ask("b", &["www 60 A 192.0.2.1"])]);
    assert_eq!(
        sets(&agenda),
        Vec::<String>::new(),
        "only the marks change hands"
    );
    assert_eq!(agenda.groups[0].0.changes.len(), 2);
}

#[test]
fn whoever_goes_makes_room_and_does_not_take_along_what_another_wants() {
    // P7, E8: in the same agenda, whoever asks first.
    let leaver = ask("a", &["www 60 A 192.0.2.1", "x 60 A 192.0.2.1"]);
    let others = ask("b", &["www 60 A 192.0.2.2"]);
    let joiner = ask("c", &["www 60 A 192.0.2.1", "x 60 CNAME www.example.org."]);
    for leaver_first in [true, false] {
        let mut place = Place::after(&[leaver.clone(), others.clone()]);
        let mut asks = vec![leaver.leaving(), joiner.clone()];
        if !leaver_first {
            asks.reverse();
        }
        let agenda = place.plan(&asks);
        assert!(agenda.verdicts.iter().all(|it| it.conflicts.is_empty()));
        place.write(&asks);
        assert_eq!(place.addresses("www"), "192.0.2.1 192.0.2.2");
        assert_eq!(place.addresses("x"), "nothing");
        let later = [leaver.leaving(), joiner.again(), others.again()];
        let works = place.write(&later);
        assert!(works.iter().all(|it| *it == Work::Nothing), "{works:?}");
    }
}

#[test]
fn a_mark_comes_before_its_set_and_goes_after_it() {
    // D5: what a batch that is made in part leaves behind is marked.
    let types = |agenda: &Agenda| -> Vec<Rtype> {
        let (group, _) = &agenda.groups[0];
        group
            .changes
            .iter()
            .map(|change| change.key.rtype)
            .collect()
    };
    let asks = [
        ask("a", &["www 60 A 192.0.2.1"]),
        ask("b", &["www 60 A 192.0.2.2"]),
    ];
    let mut place = Place::empty();
    let comes = types(&place.plan(&asks));
    assert_eq!(comes, [Rtype::TXT, Rtype::TXT, Rtype::A]);
    place.write(&asks);
    let goes = types(&place.plan(&asks.map(|ask| ask.leaving())));
    assert_eq!(goes, [Rtype::A, Rtype::TXT, Rtype::TXT]);
}

#[test]
fn a_held_record_does_not_change_what_others_find() {
    // P10: those DNSRecords are held and the others go on.
    let (mut place, mut asks) = ten();
    for index in 0..4 {
        place.tamper(&format!("n{index}"), None);
    }
    asks.push(ask("joins", &["n0 60 A 192.0.2.99"]));
    let agenda = place.plan(&asks);
    for (ask, verdict) in asks.iter().zip(&agenda.verdicts).take(4) {
        assert!(
            held(&verdict.work).is_some(),
            "{}: {:?}",
            ask.record,
            verdict.work
        );
    }
    assert_eq!(agenda.verdicts[4].work, Work::Nothing);
    assert_eq!(agenda.verdicts[10].work, Work::Write);
    assert_eq!(
        sets(&agenda),
        ["n0 A: nothing -> 192.0.2.99 for joins"],
        "as if the held one were not there"
    );
}

#[test]
fn an_approved_record_is_planned_with_the_others_although_its_neighbours_are_held() {
    // P10: the approved changes are the base of whoever comes behind them.
    let mut asks: Vec<Ask> = vec![
        ask("a", &["www 60 A 192.0.2.1"]),
        ask("b", &["www 60 A 192.0.2.2"]),
    ];
    for index in 0..8 {
        asks.push(ask(
            &format!("r{index}"),
            &[&format!("n{index} 60 A 192.0.2.7")],
        ));
    }
    let mut place = Place::after(&asks);
    let mut asks: Vec<Ask> = asks.iter().map(Ask::again).collect();
    place.tamper("www", None);
    for index in 0..8 {
        place.tamper(&format!("n{index}"), None);
    }
    let agenda = place.plan(&asks);
    let hash = held(&agenda.verdicts[1].work).unwrap().to_owned();
    asks[1].approval = Approval::Of(hash);
    asks.push(ask("c", &["www 60 A 192.0.2.3"]));
    let agenda = place.plan(&asks);
    assert!(held(&agenda.verdicts[0].work).is_some());
    assert_eq!(agenda.verdicts[1].work, Work::Write);
    assert_eq!(
        sets(&agenda),
        ["www A: nothing -> 192.0.2.2 192.0.2.3 for b, c"]
    );
}

#[test]
fn whoever_is_held_counts_for_as_long_as_it_waits() {
    // P10: one after the other they are no fewer.
    let (mut place, asks) = ten();
    place.tamper("n0", None);
    let alone = &asks[..1];
    let due = Ask {
        owned_total: 10,
        ..alone[0].clone()
    };
    let works = |place: &mut Place| {
        place.plan(std::slice::from_ref(&due)).verdicts[0]
            .work
            .clone()
    };
    assert_eq!(works(&mut place), Work::Write);
    place.waiting = 3;
    assert!(held(&works(&mut place)).is_some());
}

#[test]
fn the_guard_counts_against_all_that_the_zone_has_of_ours() {
    // P10: per hosted zone, also where only a few are due.
    let (mut place, asks) = ten();
    for index in 0..3 {
        place.tamper(&format!("n{index}"), None);
    }
    let few = |total: usize| -> Vec<Ask> {
        let due = asks.iter().take(3).cloned();
        due.map(|ask| Ask {
            owned_total: total,
            ..ask
        })
        .collect()
    };
    for (total, held) in [(0, false), (9, false), (10, false), (100, false)] {
        let works: Vec<bool> = place
            .plan(&few(total))
            .verdicts
            .iter()
            .map(|it| self::held(&it.work).is_some())
            .collect();
        assert_eq!(works, [held; 3], "3 of {total}");
    }
    place.tamper("n3", None);
    let due = |count: usize, total: usize| -> Vec<Ask> {
        let due = asks.iter().take(count).cloned();
        due.map(|ask| Ask {
            owned_total: total,
            ..ask
        })
        .collect()
    };
    let is_held =
        |place: &mut Place, asks: &[Ask]| held(&place.plan(asks).verdicts[0].work).is_some();
    assert!(is_held(&mut place, &due(4, 10)), "4 of 10");
    assert!(is_held(&mut place, &due(4, 13)), "4 of 13");
    assert!(!is_held(&mut place, &due(4, 14)), "4 of 14");
    assert!(
        is_held(&mut place, &due(10, 0)),
        "those who are due count, too"
    );
}

#[test]
fn what_is_let_through_is_counted_by_record() {
    let (mut place, asks) = ten();
    place.tamper("n1", None);
    place.tamper("n2", Some("n2 60 A 198.51.100.1"));
    let agenda = place.plan(&asks);
    let counted: Vec<(&str, usize)> = agenda
        .unasked
        .iter()
        .map(|(record, count)| (record.name.as_str(), *count))
        .collect();
    assert_eq!(counted, [("r1", 1), ("r2", 1)], "sets, not their marks");
}

#[test]
fn what_is_held_runs_when_its_hash_is_approved_or_everything_is() {
    // P10.
    let (mut place, asks) = ten();
    for index in 0..4 {
        place.tamper(&format!("n{index}"), None);
    }
    let agenda = place.plan(&asks);
    let hash = held(&agenda.verdicts[0].work).unwrap().to_owned();
    let with = |approval: Approval| {
        let mut asks = asks.clone();
        asks[0] = asks[0].approving(approval);
        asks
    };
    for (approval, work) in [
        (Approval::Of(hash.clone()), Work::Write),
        (Approval::All, Work::Write),
    ] {
        let agenda = place.plan(&with(approval));
        assert_eq!(agenda.verdicts[0].work, work);
        // The three that are left are few enough.
        assert_eq!(agenda.verdicts[1].work, Work::Write);
    }
    let other = held(&agenda.verdicts[1].work).unwrap().to_owned();
    assert_ne!(hash, other, "each its own");
    for approval in [Approval::Of(other), Approval::Of(String::new())] {
        let agenda = place.plan(&with(approval));
        assert_eq!(held(&agenda.verdicts[0].work), Some(hash.as_str()));
    }
}

#[test]
fn a_hash_is_another_one_when_what_it_starts_from_is() {
    // P10: of its own changes and their base.
    let (mut place, asks) = ten();
    let mut hashes = BTreeSet::new();
    for octet in 1..4 {
        for index in 0..4 {
            let text = format!("n{index} 60 A 198.51.100.{octet}");
            place.tamper(&format!("n{index}"), Some(&text));
        }
        let agenda = place.plan(&asks);
        let hash = held(&agenda.verdicts[0].work).unwrap().to_owned();
        let again = place.plan(&asks);
        assert_eq!(
            held(&again.verdicts[0].work),
            Some(hash.as_str()),
            "the same for the same"
        );
        assert!(hashes.insert(hash));
    }
}

#[test]
fn deletions_are_held_only_where_the_operator_says_so() {
    // P10: `--guard-deletions`.
    let (mut place, asks) = ten();
    let leaving: Vec<Ask> = asks.iter().map(Ask::leaving).collect();
    let agenda = place.plan(&leaving);
    assert!(agenda.verdicts.iter().all(|it| it.work == Work::Write));
    assert_eq!(sets(&agenda).len(), 10);
    place.rules.deletions = true;
    let agenda = place.plan(&leaving);
    assert!(agenda.verdicts.iter().all(|it| held(&it.work).is_some()));
    let agenda = place.plan(&leaving[..3]);
    let total = |ask: &Ask| Ask {
        owned_total: 10,
        ..ask.clone()
    };
    let few: Vec<Ask> = leaving[..3].iter().map(total).collect();
    assert!(agenda.verdicts.iter().all(|it| it.work == Work::Write));
    assert!(
        place
            .plan(&few)
            .verdicts
            .iter()
            .all(|it| it.work == Work::Write)
    );
}

#[test]
fn edits_are_never_held() {
    // P10: never holds what follows from a DNSRecord's own spec change.
    let (mut place, asks) = ten();
    let edited: Vec<Ask> = asks
        .iter()
        .map(|ask| ask.edited(&[&format!("{} 60 A 203.0.113.1", ask.record.name)]))
        .collect();
    place.rules.deletions = true;
    let works = place.write(&edited);
    assert!(works.iter().all(|it| *it == Work::Write), "{works:?}");
}

#[test]
fn a_name_that_a_live_record_wants_is_not_emptied_unasked() {
    // P10, however few sets there are.
    let owner = ask("a", &["www 60 A 192.0.2.1", "kept 60 A 192.0.2.2"]);
    let mut place = Place::after(std::slice::from_ref(&owner));
    let narrowed = |cause, wanted: &[&str]| Ask {
        cause,
        names_wanted: wanted.iter().map(|label| (name(label), 1usize)).collect(),
        ..owner.edited(&["kept 60 A 192.0.2.2"])
    };
    let mut work = |ask: Ask| place.plan(&[ask]).verdicts.remove(0).work;
    let held = work(narrowed(Cause::Unasked, &["www", "kept"]));
    assert!(
        matches!(
            held,
            Work::Held {
                empties: true,
                sets: 1,
                ..
            }
        ),
        "{held:?}"
    );
    assert_eq!(work(narrowed(Cause::Edited, &["www", "kept"])), Work::Write);
    assert_eq!(work(narrowed(Cause::Unasked, &["kept"])), Work::Write);
}

#[test]
fn whoever_may_not_write_is_told_and_leaves_the_others_alone() {
    // C7.
    let mut place = Place::empty();
    let tired = Ask {
        may_write: false,
        ..ask("a", &["www 60 A 192.0.2.1"])
    };
    let agenda = place.plan(&[tired, ask("b", &["www 60 A 192.0.2.2"])]);
    assert_eq!(agenda.verdicts[0].work, Work::Exhausted);
    assert_eq!(sets(&agenda), ["www A: nothing -> 192.0.2.2 for b"]);
}

#[test]
fn two_readings_differ_at_the_names_of_sets_and_of_marks() {
    // C10, D20: whoever wants something there is told.
    let place = Place::after(&[ask("a", &["www 60 A 192.0.2.1"])]);
    let mut later = place.clone();
    let told = |later: &Place| {
        let read = later.hosted.inventory.holdings().clone();
        place.hosted.clone().renew(read, BTreeMap::new())
    };
    assert!(told(&later).is_empty());
    later.tamper("other", Some("other 60 A 192.0.2.3"));
    let at = |labels: &[&str]| labels.iter().map(|it| name(it)).collect::<BTreeSet<_>>();
    assert_eq!(told(&later), at(&["other"]));
    let mut later = place.clone();
    let marks = later.hosted.inventory.holdings().keys();
    let mark = marks
        .clone()
        .find(|key| key.rtype == Rtype::TXT)
        .unwrap()
        .clone();
    later.hosted.inventory.apply(&Change {
        key: mark.clone(),
        before: None,
        after: None,
    });
    assert_eq!(told(&later), [mark.name, name("www")].into());
}

/// A record as chance would have it: a few owners, names and addresses, so that they meet.
fn any_ask(index: usize) -> impl Strategy<Value = Ask> {
    let wanted = prop::collection::btree_map(0..4usize, (0..2usize, 1..6usize), 0..3);
    let cause = prop_oneof![
        Just(Cause::Edited),
        Just(Cause::Deleted),
        Just(Cause::Unasked)
    ];
    (wanted, cause, 0..3usize).prop_map(move |(wanted, cause, approval)| {
        let lines: Vec<String> = wanted
            .iter()
            .map(|(label, (kind, octet))| match kind {
                0 => format!("n{label} 60 A 192.0.2.{octet}"),
                _ => format!("n{label} 60 AAAA 2001:db8::{octet}"),
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut ask = ask(&format!("r{index}"), &lines);
        ask.cause = cause;
        if cause == Cause::Deleted {
            ask.wanted.clear();
        }
        if approval == 0 {
            ask.approval = Approval::All;
        }
        ask
    })
}

fn any_asks() -> impl Strategy<Value = Vec<Ask>> {
    let asks: Vec<_> = (0..6).map(any_ask).collect();
    asks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_planned_for_many_at_once_comes_to_rest(
        first in any_asks(),
        second in any_asks(),
        tampered in prop::collection::vec((0..4usize, prop::option::of(1..6usize)), 0..4),
    ) {
        // D10, P11: groups start from what is there, each name once, and soon there is nothing to plan. Not at once: who
        // leaves a target that another has just come to takes it along, and the other puts it back.
        let mut place = Place::empty();
        place.write(&first);
        for (label, octet) in tampered {
            let text = octet.map(|octet| format!("n{label} 60 A 192.0.2.{octet}"));
            place.tamper(&format!("n{label}"), text.as_deref());
        }
        let mut asks: Vec<Ask> = first
            .iter()
            .zip(&second)
            .map(|(before, now)| Ask { last: before.again().last, ..now.clone() })
            .collect();
        for _ in 0..2 {
            let works = place.write(&asks);
            for (ask, work) in asks.iter_mut().zip(&works) {
                if matches!(work, Work::Nothing | Work::Write) {
                    ask.last = ask.again().last;
                }
            }
        }
        let agenda = place.plan(&asks);
        for verdict in &agenda.verdicts {
            prop_assert!(verdict.work == Work::Nothing || held(&verdict.work).is_some());
        }
    }

    #[test]
    fn a_reading_that_follows_another_is_as_one_by_itself(
        first in any_asks(),
        second in any_asks(),
    ) {
        // C10, P11.
        let (mut before, mut after) = (Place::empty(), Place::empty());
        before.write(&first);
        after.write(&second);
        let read = after.hosted.inventory.holdings().clone();
        let was = before.hosted.inventory.holdings().clone();
        let told = before.hosted.renew(read.clone(), BTreeMap::new());
        let anew = Inventory::new(before.hosted.inventory.apex().clone(), read.clone());
        prop_assert_eq!(&before.hosted.inventory, &anew);
        let all = was.keys().chain(read.keys());
        let differing = all.filter(|key| was.get(*key) != read.get(*key));
        let names: BTreeSet<Name> = differing.map(|key| key.name.clone()).collect();
        prop_assert!(names.is_subset(&told), "{names:?} of {told:?}");
        prop_assert_eq!(names.is_empty(), told.is_empty());
    }
}
