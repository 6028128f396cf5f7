//! Zones and claims as text; plans as text.

use super::*;
use crate::hosted::{Held, Holdings, HostedSet, Share};
use crate::limits::{Load, RoutingLimits, records_of};
use crate::ownership::OwnerId;
use crate::routing::Routing;
use crate::{RecordSet, Rtype};

fn limits() -> Limits {
    Limits {
        types: &[],
        ttl_min: Ttl::ZERO,
        ttl_default: Ttl::from_secs(300).unwrap(),
        routing: RoutingLimits {
            weight: true,
            geo: true,
            regions: true,
        },
        ownership: Ownership::Registry,
        batch_max: Load {
            count: usize::MAX,
            octets: usize::MAX,
        },
        load: |change| Load {
            count: records_of(change),
            octets: 0,
        },
        atomic: true,
    }
}

fn owner(id: &str) -> Owner {
    Owner {
        id: OwnerId::new(id),
        share: Share {
            name: id.to_owned(),
            uid: format!("uid-{id}"),
        },
    }
}

/// `www 60 A 192.0.2.1 192.0.2.2`, with `#identifier weight` behind the type for a routed set; names are below example.org.
fn line(text: &str) -> (HostedKey, Wanted) {
    let mut words = text.split(' ');
    let name = format!("{}.example.org.", words.next().unwrap());
    let name = Name::parse(name.trim_start_matches("@.")).unwrap();
    let ttl = words.next().unwrap();
    let ttl = (ttl != "-").then(|| Ttl::from_secs(ttl.parse::<u32>().unwrap()).unwrap());
    let rtype: Rtype = words.next().unwrap().parse().unwrap();
    let mut words = words.peekable();
    let mut key = HostedKey::plain(name, rtype);
    let mut routing = Routing::default();
    if let Some(identifier) = words.peek().and_then(|word| word.strip_prefix('#')) {
        identifier.clone_into(&mut key.identifier);
        words.next();
        routing.weight = Some(words.next().unwrap().parse().unwrap());
    }
    let data = words.map(|word| Rdata::parse(rtype, word, &Name::root()).unwrap());
    let mut data: Vec<Rdata> = data.collect();
    data.sort();
    let wanted = Wanted {
        data,
        ttl,
        routing,
        labels: BTreeMap::new(),
    };
    (key, wanted)
}

fn held(wanted: &Wanted) -> Held {
    let ttl = wanted.ttl.unwrap_or_default();
    let data = wanted.data.iter().map(|data| (ttl, data.clone()));
    Held::Set(HostedSet {
        records: RecordSet::new(data).unwrap(),
        routing: wanted.routing.clone(),
    })
}

/// A zone of lines; what stands behind `|` are the owners that have marked the set, with `!` in front of external-dns' and
/// `@cluster` behind those that named theirs, as we did once.
fn zone(lines: &[&str]) -> Inventory {
    let apex = Name::parse("example.org.").unwrap();
    let mut holdings = Holdings::new();
    for text in lines {
        let (set, owners) = text.split_once(" | ").unwrap_or((text, ""));
        let (key, wanted) = line(set);
        for id in owners.split(' ').filter(|id| !id.is_empty()) {
            let (at, mark) = mark(&key, &wanted, id, &apex);
            holdings.insert(at, Held::Set(mark));
        }
        if !wanted.data.is_empty() {
            holdings.insert(key, held(&wanted));
        }
    }
    Inventory::new(apex, holdings)
}

fn mark(key: &HostedKey, wanted: &Wanted, id: &str, apex: &Name) -> (HostedKey, HostedSet) {
    use crate::ownership::mark;
    if let Some(id) = id.strip_prefix('!') {
        let rtype = key.rtype.to_string().to_lowercase();
        let text = format!("{rtype}-{}", key.name);
        let at = HostedKey::plain(Name::parse(&text).unwrap(), Rtype::TXT);
        let value = format!("\"heritage=external-dns,external-dns/owner={id}\"");
        let data = Rdata::parse(Rtype::TXT, &value, apex).unwrap();
        let records = RecordSet::new([(Ttl::ZERO, data)]).unwrap();
        return (at, HostedSet::plain(records));
    }
    let (id, cluster) = id.split_once('@').unwrap_or((id, ""));
    let named = (!cluster.is_empty()).then(|| ("cluster".to_owned(), cluster.to_owned()));
    let labels = BTreeMap::from_iter(named);
    let owner = owner(id);
    let at = mark::key_of(&owner.id, key, apex).unwrap();
    let ttl = Ttl::from_secs(300).unwrap();
    (
        at,
        mark::set_of(&owner, &labels, ttl, wanted.routing.clone()),
    )
}

struct Case<'a> {
    zone: &'a [&'a str],
    owner: &'a str,
    wanted: &'a [&'a str],
    last: &'a [&'a str],
}

impl Case<'_> {
    fn plan_on(&self, inventory: &Inventory) -> Plan {
        let owner = owner(self.owner);
        let wanted = self.wanted.iter().map(|text| line(text)).collect();
        let last = self.last.iter().map(|text| line(text));
        let last = last.map(|(key, wanted)| (key, wanted.data)).collect();
        let claim = Claim {
            owner: &owner,
            scope: inventory.apex(),
            wanted: &wanted,
            last: &last,
            spared: &BTreeSet::new(),
        };
        plan(inventory, &claim, &limits())
    }

    fn plan(&self) -> Plan {
        self.plan_on(&zone(self.zone))
    }

    /// What changes, and that nothing is left to change afterwards.
    fn changes(&self) -> Vec<String> {
        let mut inventory = zone(self.zone);
        let plan = self.plan_on(&inventory);
        assert_eq!(plan.conflicts, [], "{plan:?}");
        for change in plan.changes() {
            assert!(change.is_expected_by(inventory.holdings()), "{change:?}");
            inventory.apply(change);
        }
        let again = self.plan_on(&inventory);
        assert_eq!(again, Plan::default(), "a second plan");
        plan.changes().map(show).collect()
    }

    fn conflicts(&self) -> Vec<String> {
        let plan = self.plan();
        assert_eq!(
            plan.groups,
            [],
            "nothing is changed where there is a conflict"
        );
        plan.conflicts.iter().map(ToString::to_string).collect()
    }
}

/// `www A: 192.0.2.1 -> 192.0.2.2`; marks by the hash of their owner.
fn show(change: &Change) -> String {
    let data = |set: &Option<HostedSet>| {
        let Some(set) = set else {
            return "-".to_owned();
        };
        if change.key.rtype == Rtype::TXT {
            return "mark".to_owned();
        }
        let data: Vec<_> = set.records.data().iter().map(ToString::to_string).collect();
        let weight = set.routing.weight.map(|weight| format!(" *{weight}"));
        format!(
            "{} {}{}",
            set.records.ttl(),
            data.join(" "),
            weight.unwrap_or_default()
        )
    };
    let name = change.key.name.to_string().replace(".example.org.", "");
    let (before, after) = (data(&change.before), data(&change.after));
    format!("{name} {}: {before} -> {after}", change.key.rtype)
}

/// The names of marks are hashes; tests know them by their owner.
fn mark_name(owner: &str, rest: &str) -> String {
    format!(
        "kuadrant-{}-{rest}",
        crate::ownership::short_hash36(owner, 8)
    )
}

#[test]
fn a_new_set_comes_with_its_mark() {
    let case = Case {
        zone: &[],
        owner: "me",
        wanted: &["www 60 A 192.0.2.1"],
        last: &[],
    };
    let mark = mark_name("me", "a-www");
    assert_eq!(
        case.changes(),
        [
            "www A: - -> 60 192.0.2.1".to_owned(),
            format!("{mark} TXT: - -> mark")
        ]
    );
}

#[test]
fn a_set_of_ones_own_becomes_exactly_what_is_wanted() {
    // P7: a stranger's target in it is drift; C10. external-dns D1: another spelling hides no later difference.
    let case = Case {
        zone: &["www 60 AAAA 2001:db8::1 2001:db8::9 | me"],
        owner: "me",
        wanted: &["www 60 AAAA 2001:DB8:0::1 2001:db8::2"],
        last: &["www 60 AAAA 2001:db8::1"],
    };
    assert_eq!(
        case.changes(),
        ["www AAAA: 60 2001:db8::1 2001:db8::9 -> 60 2001:db8::1 2001:db8::2"]
    );
}

#[test]
fn nothing_wanted_differently_is_nothing_to_do() {
    let zone = ["www 60 A 192.0.2.1 | me", "other 60 A 192.0.2.9"];
    for wanted in ["www 60 A 192.0.2.1", "www - A 192.0.2.1"] {
        let case = Case {
            zone: &zone,
            owner: "me",
            wanted: &[wanted],
            last: &[],
        };
        assert_eq!(case.changes(), Vec::<String>::new());
    }
}

#[test]
fn what_is_no_longer_wanted_goes_with_its_mark() {
    let case = Case {
        zone: &[
            "www 60 A 192.0.2.1 | me",
            "www 60 TXT x",
            "api 60 A 192.0.2.1 | other",
        ],
        owner: "me",
        wanted: &[],
        last: &["www 60 A 192.0.2.1"],
    };
    let mark = mark_name("me", "a-www");
    assert_eq!(
        case.changes(),
        [
            "www A: 60 192.0.2.1 -> -".to_owned(),
            format!("{mark} TXT: mark -> -")
        ]
    );
}

#[test]
fn a_set_that_nobody_has_marked_is_left_alone_and_reported() {
    // P7, also where it says what is wanted: content alone proves nothing.
    for held in ["www 60 A 192.0.2.1", "www 60 A 198.51.100.1"] {
        let case = Case {
            zone: &[held],
            owner: "me",
            wanted: &["www 60 A 192.0.2.1"],
            last: &["www 60 A 192.0.2.1"],
        };
        let [conflict] = case.conflicts().try_into().unwrap();
        assert!(
            conflict.starts_with("www.example.org. A is there already"),
            "{conflict}"
        );
    }
}

#[test]
fn owners_who_share_have_their_data_side_by_side() {
    // P7: (held - our last) + ours.
    let join = Case {
        zone: &["www 60 A 192.0.2.1 | other"],
        owner: "me",
        wanted: &["www 60 A 192.0.2.2"],
        last: &[],
    };
    let mark = format!("{} TXT: - -> mark", mark_name("me", "a-www"));
    assert_eq!(
        join.changes(),
        [
            "www A: 60 192.0.2.1 -> 60 192.0.2.1 192.0.2.2".to_owned(),
            mark
        ]
    );
    let change = Case {
        zone: &["www 60 A 192.0.2.1 192.0.2.2 | me other"],
        owner: "me",
        wanted: &["www 60 A 192.0.2.3"],
        last: &["www 60 A 192.0.2.2"],
    };
    assert_eq!(
        change.changes(),
        ["www A: 60 192.0.2.1 192.0.2.2 -> 60 192.0.2.1 192.0.2.3"]
    );
    let mark = format!("{} TXT: mark -> -", mark_name("me", "a-www"));
    let leave = Case {
        wanted: &[],
        ..change
    };
    assert_eq!(
        leave.changes(),
        [
            "www A: 60 192.0.2.1 192.0.2.2 -> 60 192.0.2.1".to_owned(),
            mark.clone()
        ]
    );
    let last_data = Case {
        zone: &["www 60 A 192.0.2.2 | me other"],
        ..leave
    };
    assert_eq!(
        last_data.changes(),
        [mark],
        "the others are not left with nothing"
    );
}

#[test]
fn what_cannot_be_merged_is_decided_by_the_lowest_owner() {
    // P7: the two never take turns.
    let zone = [
        "www 60 CNAME a. | a-one b-two",
        "r 60 CNAME #eu 10 x. | a-one b-two",
    ];
    let wanted = ["www 60 CNAME b.", "r 60 CNAME #eu 20 x."];
    let low = Case {
        zone: &zone,
        owner: "a-one",
        wanted: &wanted,
        last: &[],
    };
    let mark = format!("{} TXT: mark -> mark", mark_name("a-one", "cname-r"));
    assert_eq!(
        low.changes(),
        [
            "r CNAME: 60 x. *10 -> 60 x. *20".to_owned(),
            mark,
            "www CNAME: 60 a. -> 60 b.".to_owned(),
        ]
    );
    let high = Case {
        owner: "b-two",
        ..low
    };
    let conflicts = high.conflicts();
    assert_eq!(conflicts.len(), 2);
    assert!(
        conflicts.iter().all(|text| text.contains("owner a-one")),
        "{conflicts:?}"
    );
}

#[test]
fn an_equal_alias_is_shared() {
    let case = Case {
        zone: &["www 60 CNAME a. | other"],
        owner: "me",
        wanted: &["www 60 CNAME a."],
        last: &[],
    };
    assert_eq!(
        case.changes(),
        [format!("{} TXT: - -> mark", mark_name("me", "cname-www"))]
    );
}

#[test]
fn what_external_dns_owns_is_never_touched() {
    // E6.
    let case = Case {
        zone: &["www 60 A 192.0.2.1 | !default"],
        owner: "me",
        wanted: &["www 60 A 192.0.2.2"],
        last: &[],
    };
    let [conflict] = case.conflicts().try_into().unwrap();
    assert!(conflict.contains("belongs to owner default"), "{conflict}");
}

#[test]
fn a_mark_that_names_a_cluster_counts_as_one_that_does_not_and_is_rewritten_with_its_set() {
    // P7.
    let zone = ["www 60 A 192.0.2.1 | me@there"];
    let asis = Case {
        zone: &zone,
        owner: "me",
        wanted: &["www 60 A 192.0.2.1"],
        last: &[],
    };
    assert_eq!(asis.changes(), [""; 0]);
    let edited = Case {
        wanted: &["www 60 A 192.0.2.2"],
        ..asis
    };
    let plan = edited.plan();
    assert_eq!(plan.conflicts, []);
    let marks: Vec<&Change> = plan
        .changes()
        .filter(|it| it.key.rtype == Rtype::TXT)
        .collect();
    let [mark] = marks[..] else {
        panic!("{marks:?}");
    };
    let text = |set: &Option<HostedSet>| set.as_ref().unwrap().records.data()[0].to_string();
    assert!(text(&mark.before).contains("external-dns/cluster=there"));
    assert_eq!(
        text(&mark.after),
        r#""heritage=external-dns,external-dns/owner=me,external-dns/version=1""#
    );
    let gone = Case {
        wanted: &[],
        ..asis
    };
    assert_eq!(gone.changes().len(), 2, "the set and its mark");
}

#[test]
fn a_type_changes_in_one_group() {
    // E8, D7: no moment in which the name is empty.
    let case = Case {
        zone: &["www 60 A 192.0.2.1 | me"],
        owner: "me",
        wanted: &["www 60 CNAME a."],
        last: &["www 60 A 192.0.2.1"],
    };
    assert_eq!(case.plan().groups.len(), 1);
    let changes = case.changes();
    assert_eq!(changes.len(), 4);
    assert_eq!(changes[0], "www A: 60 192.0.2.1 -> -");
    assert!(
        changes.contains(&"www CNAME: - -> 60 a.".to_owned()),
        "{changes:?}"
    );
}

#[test]
fn a_type_that_leaves_no_room_is_reported_and_nothing_is_taken_away() {
    // external-dns D12: types that nobody manages count, too.
    let case = Case {
        zone: &["www 60 A 192.0.2.1 | me", "www 60 TXT x"],
        owner: "me",
        wanted: &["www 60 CNAME a."],
        last: &["www 60 A 192.0.2.1"],
    };
    let [conflict] = case.conflicts().try_into().unwrap();
    assert!(conflict.contains("cannot be beside the TXT"), "{conflict}");
    let theirs = Case {
        zone: &["www 60 A 192.0.2.1 | other"],
        ..case
    };
    let [conflict] = theirs.conflicts().try_into().unwrap();
    assert!(conflict.contains("the A of owner other"), "{conflict}");
}

#[test]
fn shares_of_one_kind_stand_beside_each_other_only() {
    let share = Case {
        zone: &["r 60 CNAME #eu 10 x. | other"],
        owner: "me",
        wanted: &["r 60 CNAME #us 20 y."],
        last: &[],
    };
    assert_eq!(share.changes().len(), 2);
    let plain = Case {
        wanted: &["r 60 CNAME y."],
        ..share
    };
    assert_eq!(plain.conflicts().len(), 1);
}

#[test]
fn a_lost_set_comes_back_and_a_lost_mark_does_not_make_a_set_ours() {
    // D20, external-dns #4914.
    let lost_set = Case {
        zone: &["www 60 A | me"],
        owner: "me",
        wanted: &["www 60 A 192.0.2.1"],
        last: &["www 60 A 192.0.2.1"],
    };
    assert_eq!(lost_set.changes(), ["www A: - -> 60 192.0.2.1"]);
    let left_over = Case {
        wanted: &[],
        ..lost_set
    };
    assert_eq!(
        left_over.changes(),
        [format!("{} TXT: mark -> -", mark_name("me", "a-www"))]
    );
}

#[test]
fn a_name_whose_mark_is_a_hash_is_owned_and_removed_like_any_other() {
    let long = format!("{} 60 A 192.0.2.1", "l".repeat(60));
    let wildcard = "wildcard 60 A 192.0.2.1";
    for text in [long.as_str(), wildcard] {
        let marked = format!("{text} | me");
        let keep = Case {
            zone: &[&marked],
            owner: "me",
            wanted: &[text],
            last: &[text],
        };
        assert_eq!(keep.changes(), Vec::<String>::new());
        let remove = Case {
            wanted: &[],
            ..keep
        };
        assert_eq!(remove.changes().len(), 2, "{text}");
    }
}

#[test]
fn a_wildcard_and_a_host_of_that_name_are_two_things() {
    let case = Case {
        zone: &["* 60 A 192.0.2.1 | me", "wildcard 60 A 198.51.100.1"],
        owner: "me",
        wanted: &[],
        last: &["* 60 A 192.0.2.1"],
    };
    let changes = case.changes();
    assert_eq!(changes[0], "* A: 60 192.0.2.1 -> -");
    assert_eq!(changes.len(), 2, "the host stays");
}

#[test]
fn what_is_pointed_at_comes_before_what_points_and_what_goes_goes_last() {
    let case = Case {
        zone: &["old 60 A 192.0.2.1 | me"],
        owner: "me",
        wanted: &[
            "www 60 CNAME klb.www.example.org.",
            "klb.www 60 CNAME eu.klb.www.example.org.",
            "eu.klb.www 60 A 192.0.2.1",
        ],
        last: &["old 60 A 192.0.2.1"],
    };
    let names: Vec<String> = case
        .plan()
        .groups
        .iter()
        .map(|group| group.name.to_string())
        .collect();
    assert_eq!(
        names,
        [
            "eu.klb.www.example.org.",
            "klb.www.example.org.",
            "www.example.org.",
            "old.example.org."
        ]
    );
}

#[test]
fn what_another_claim_of_the_same_owner_wants_is_spared() {
    let inventory = zone(&["a 60 A 192.0.2.1 | me", "b 60 A 192.0.2.1 | me"]);
    let owner = owner("me");
    let wanted = BTreeMap::from([line("a 60 A 192.0.2.1")]);
    let claim = Claim {
        owner: &owner,
        scope: inventory.apex(),
        wanted: &wanted,
        last: &BTreeMap::new(),
        spared: &BTreeSet::from([line("b 60 A").0]),
    };
    assert_eq!(plan(&inventory, &claim, &limits()), Plan::default());
}

#[test]
fn where_shares_are_kept_apart_each_writer_has_only_its_own() {
    let limits = Limits {
        ownership: Ownership::Shares,
        ..limits()
    };
    let me = owner("me");
    let share = |key: HostedKey, id: &str| HostedKey {
        share: Some(owner(id).share),
        ..key
    };
    let (www, set) = line("www 60 A 192.0.2.1");
    let (old, _) = line("old 60 A 192.0.2.1");
    let holdings = [
        (share(www.clone(), "other"), held(&set)),
        (share(old.clone(), "me"), held(&set)),
        (share(old.clone(), "other"), held(&set)),
    ];
    let mut inventory = Inventory::new(Name::parse("example.org.").unwrap(), holdings.into());
    let wanted = BTreeMap::from([(www, set)]);
    let claim = Claim {
        owner: &me,
        scope: &inventory.apex().clone(),
        wanted: &wanted,
        last: &BTreeMap::new(),
        spared: &BTreeSet::new(),
    };
    let first = plan(&inventory, &claim, &limits);
    let shown: Vec<String> = first.changes().map(show).collect();
    assert_eq!(
        shown,
        ["www A: - -> 60 192.0.2.1", "old A: 60 192.0.2.1 -> -"]
    );
    for change in first.changes() {
        inventory.apply(change);
    }
    assert_eq!(plan(&inventory, &claim, &limits), Plan::default());
    assert_eq!(inventory.holdings().len(), 3);
}
