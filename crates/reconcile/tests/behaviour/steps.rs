//! Random steps over small alphabets, so that names, keys and ages meet.

use api::ZoneKey;
use proptest::prelude::*;
use proptest::sample::select;
use zonewright_reconcile::{Key, RecordKey};

use crate::line;

/// One thing that happens. Lines are as in `line`.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Zone {
        line: String,
        again: bool,
    },
    Record {
        line: String,
        again: bool,
    },
    /// A Zone says something else about itself and stays where it is; nothing happens if there is none.
    Adjust {
        key: String,
        line: String,
    },
    Delete(Key),
    Break {
        key: Key,
        age: i64,
    },
}

fn namespace() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "c"])
}

fn zone_key() -> impl Strategy<Value = String> {
    (namespace(), select(vec!["z1", "z2", "z3"]))
        .prop_map(|(space, name)| format!("{space}/{name}"))
}

fn record_key() -> impl Strategy<Value = String> {
    let names = select(vec!["r1", "r2", "r3", "r4"]);
    (namespace(), names).prop_map(|(space, name)| format!("{space}/{name}"))
}

/// Nothing, or a field with one of these values.
fn maybe(field: &'static str, values: Vec<&'static str>) -> impl Strategy<Value = String> {
    prop::option::weighted(0.4, select(values))
        .prop_map(move |value| value.map_or_else(String::new, |it| format!(" {field}={it}")))
}

fn age() -> impl Strategy<Value = String> {
    (0..6_i64).prop_map(|age| format!(" age={age}"))
}

fn place(full: Vec<&'static str>, relative: Vec<&'static str>) -> impl Strategy<Value = String> {
    prop_oneof![
        5 => select(full.clone()).prop_map(str::to_owned),
        4 => (select(relative.clone()), zone_key()).prop_map(|(name, zone)| format!("{name} ref={zone}")),
        1 => (select(full), zone_key()).prop_map(|(name, zone)| format!("{name} ref={zone}")),
        1 => select(relative).prop_map(str::to_owned),
    ]
}

fn delegations() -> impl Strategy<Value = String> {
    let namespaces = prop::option::of(namespace());
    let records = (
        select(vec!["*", "@", "w", "s", "*.s", "s.x", "n*", "**"]),
        select(vec![
            "",
            "",
            ":A",
            ":CNAME,NS",
            ":NS,A,AAAA,DS",
            ":NONSENSE",
        ]),
        namespaces,
    );
    let records = records.prop_map(|(pattern, types, space)| {
        let space = space.map_or_else(String::new, |it| format!("@{it}"));
        format!(" records={pattern}{types}{space}")
    });
    let zones = (
        select(vec!["*", "x", "s", "*.s"]),
        prop::option::of(namespace()),
    );
    let zones = zones.prop_map(|(pattern, space)| {
        let space = space.map_or_else(String::new, |it| format!("@{it}"));
        format!(" zones={pattern}{space}")
    });
    let any = prop_oneof![3 => Just(" records=*".to_owned()), 3 => records, 2 => zones];
    prop::collection::vec(any, 0..3).prop_map(|it| it.concat())
}

fn zone_step() -> impl Strategy<Value = Step> {
    let place = place(
        vec![
            "o.", "x.o.", "s.x.o.", "y.o.", "t.s.x.o.", ".", "*.o.", "o..o.",
        ],
        vec!["x", "s", "s.x", "t", "o", "*", "@"],
    );
    let servers = maybe(
        "ns",
        vec!["ns", "@", "ns.s,ns", "ns.e.", "ns.s.x.o.", "x.o"],
    );
    let ttl = maybe("ttl", vec!["60", "30", "4294967295"]);
    let refresh = maybe("refresh", vec!["1", "2"]);
    let parts = (
        zone_key(),
        place,
        delegations(),
        servers,
        ttl,
        refresh,
        age(),
    );
    (parts, prop::bool::weighted(0.2)).prop_map(
        |((key, place, rules, ns, ttl, refresh, age), again)| {
            let line = format!("{key} {place}{rules}{ns}{ttl}{refresh}{age}");
            Step::Zone { line, again }
        },
    )
}

/// The spec of another zone, but for its place.
fn adjust_step() -> impl Strategy<Value = Step> {
    let ttl = maybe("ttl", vec!["60", "4294967295"]);
    let servers = maybe("ns", vec!["ns", "ns.s,ns"]);
    let parts = (zone_key(), delegations(), servers, ttl);
    parts.prop_map(|(key, rules, ns, ttl)| {
        let line = format!("{key} o.{rules}{ns}{ttl}");
        Step::Adjust { key, line }
    })
}

fn record_step() -> impl Strategy<Value = Step> {
    let place = place(
        vec![
            "w.x.o.",
            "x.o.",
            "s.x.o.",
            "ns.s.x.o.",
            "w.s.x.o.",
            "o.",
            "ns.x.o.",
            "*.x.o.",
            "t.s.x.o.",
        ],
        vec!["w", "@", "s", "ns", "ns.s", "*", "w.s", "o"],
    );
    let data = select(vec![
        "A = 192.0.2.1",
        "A = 192.0.2.2",
        "AAAA = 2001:db8::1",
        "CNAME = w",
        "CNAME = w.x.o.",
        "NS = ns",
        "NS = @",
        "NS = ns.s.x.o.",
        "MX = 10 w",
        "MX = 0 .",
        "TXT = \"t\"",
        "DS = 1 8 2 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "DNAME = e.",
        "DNAME = f.",
        "A = nonsense",
        "SOA = nonsense",
    ]);
    let ttl = maybe("ttl", vec!["30", "60", "4294967295"]);
    let parts = (
        record_key(),
        place,
        ttl,
        age(),
        routing(),
        data,
        prop::bool::weighted(0.2),
    );
    parts.prop_map(|(key, place, ttl, age, routing, data, again)| {
        let line = format!("{key} {place}{ttl}{age}{routing} {data}");
        Step::Record { line, again }
    })
}

/// N6: few members, so that they meet, and weights and places that differ or are none.
fn routing() -> impl Strategy<Value = String> {
    let weight = maybe("weight", vec!["0", "1", "256"]);
    let geo = maybe("geo", vec!["*", "DE", "nowhere"]);
    let member = (select(vec!["a", "b"]), weight, geo);
    let member = member.prop_map(|(set, weight, geo)| format!(" set={set}{weight}{geo}"));
    prop::option::weighted(0.4, member).prop_map(Option::unwrap_or_default)
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        zone_key().prop_map(|key| Key::Zone(zone_of(&key))),
        record_key().prop_map(|key| Key::Record(record_of(&key))),
    ]
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => zone_step(),
        8 => record_step(),
        5 => adjust_step(),
        3 => any_key().prop_map(Step::Delete),
        1 => (any_key(), 0..6_i64).prop_map(|(key, age)| Step::Break { key, age }),
    ]
}

/// What a Zone becomes when it is adjusted by a line.
pub(crate) fn adjusted(mut zone: api::Zone, line: &str) -> api::Zone {
    let (other, _) = line::zone(line);
    let place = (zone.spec.domain_name, zone.spec.zone_ref);
    zone.spec = other.spec;
    (zone.spec.domain_name, zone.spec.zone_ref) = place;
    zone
}

pub(crate) fn zone_of(text: &str) -> ZoneKey {
    let (namespace, name) = line::key(text);
    ZoneKey::new(namespace, name)
}

fn record_of(text: &str) -> RecordKey {
    let (namespace, name) = line::key(text);
    RecordKey::new(namespace, name)
}
