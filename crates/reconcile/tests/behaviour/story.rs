//! Stories: lines that change a cluster, and lines that look at it.
//!
//! ```text
//! zone … / record …              creates or changes an object, see `line`
//! delete zone dns/org            deletes it
//! restart                        forgets everything but the API and what the name server has stored
//! pause / resume                 the name server stops taking in what it is told, and goes on
//! ? zone dns/org fqdn=example.org. parent=- Accepted=True/Accepted
//! ? record web/www fqdn=… parent=org.dns Published=True/Served
//! ? entries dns/org www.example.org. 360 A 192.0.2.1 | …        all but the SOA; routing as in `line`
//! ? message record web/www Accepted: …                          the whole message
//! ? writes record web/www 2                                     since the last such line
//! ```
//! A look comes when everything that follows has happened. What it does not mention may be anything; `-` is nothing.

use api::condition::{Condition, find};
use api::routing::Routing;
use api::{ConditionType, ZoneKey};
use kube::core::ObjectMeta;
use zonewright_reconcile::world::Authority;
use zonewright_reconcile::{Key, Policy, RecordKey};

use crate::cluster::Cluster;
use crate::line::key;

/// Plays a story in a cluster with the usual settings.
pub(crate) fn check(story: &str) -> Cluster {
    let mut cluster = Cluster::new(Policy::default());
    play(&mut cluster, story);
    cluster
}

/// Plays a story where every zone has authority.
pub(crate) fn check_open(story: &str) -> Cluster {
    let mut cluster = Cluster::new(Policy {
        authority: Authority::Open,
        ..Policy::default()
    });
    play(&mut cluster, story);
    cluster
}

/// Goes on with a story.
pub(crate) fn play(cluster: &mut Cluster, story: &str) {
    let lines = story.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        step(cluster, line);
    }
    cluster.run();
}

fn step(cluster: &mut Cluster, line: &str) {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb {
        "zone" => cluster.zone(rest),
        "record" => cluster.record(rest),
        "delete" => delete(cluster, rest),
        "restart" => cluster.restart(),
        "pause" => cluster.name_server.paused = true,
        "resume" => cluster.name_server.paused = false,
        "?" => {
            cluster.run();
            look(cluster, rest);
        }
        other => panic!("{other} is no step"),
    }
}

fn delete(cluster: &mut Cluster, which: &str) {
    match object(which) {
        Key::Zone(key) => cluster.delete_zone(&key),
        Key::Record(key) => cluster.delete_record(&key),
    }
}

fn look(cluster: &mut Cluster, line: &str) {
    let (what, rest) = line.split_once(' ').expect("something to look at");
    match what {
        "zone" | "record" => compare_words(cluster, line),
        "entries" => compare_entries(cluster, rest),
        "message" => {
            let (condition, message) = rest.split_once(": ").expect("a message");
            let (which, type_) = condition.rsplit_once(' ').expect("a condition");
            let conditions = conditions(cluster, &object(which));
            let type_ = ConditionType::from_spelling(type_).expect("a condition type");
            let found = find(&conditions, type_).map(|it| it.message.as_str());
            assert_eq!(found, Some(message), "{line}");
        }
        "writes" => {
            let (which, count) = rest.rsplit_once(' ').expect("a number");
            let writes = cluster.writes.remove(&object(which)).unwrap_or_default();
            assert_eq!(writes.to_string(), count, "{line}");
        }
        other => panic!("nobody can look at {other}"),
    }
}

fn compare_words(cluster: &Cluster, line: &str) {
    let mut words = line.split_whitespace();
    let (kind, name) = (words.next(), words.next());
    let which = object(&format!("{} {}", kind.unwrap(), name.unwrap()));
    for word in words {
        let (field, expected) = word.split_once('=').expect("field=value");
        let found = said(cluster, &which, field);
        let found = found.unwrap_or_else(|| "-".to_owned());
        assert_eq!(
            found,
            expected,
            "{field} in {line:?}; {:#?}",
            conditions(cluster, &which)
        );
    }
}

/// What an object says about itself.
fn said(cluster: &Cluster, which: &Key, field: &str) -> Option<String> {
    match field {
        "fqdn" => match which {
            Key::Zone(key) => cluster.zones[key].status.as_ref()?.fqdn.clone(),
            Key::Record(key) => cluster.records[key].status.as_ref()?.fqdn.clone(),
        },
        "parent" => {
            let labels = metadata(cluster, which).labels.clone()?;
            labels.get("kubi.zone/parent-zone").cloned()
        }
        "parent-ref" => {
            let annotations = metadata(cluster, which).annotations.clone()?;
            annotations.get("kubi.zone/parent-zone-ref").cloned()
        }
        "serial" | "slices" | "entries" => {
            let Key::Zone(key) = which else {
                panic!("a record has no {field}")
            };
            let status = cluster.zones[key].status.clone()?;
            match field {
                "serial" => status.serial.map(|serial| serial.to_string()),
                "slices" => Some(status.slices.len().to_string()),
                _ => Some(status.entries.len().to_string()),
            }
        }
        condition => {
            let type_ = ConditionType::from_spelling(condition).expect("a condition type");
            let conditions = conditions(cluster, which);
            let found = find(&conditions, type_)?;
            Some(format!("{}/{}", found.status, found.reason))
        }
    }
}

fn compare_entries(cluster: &Cluster, line: &str) {
    let (zone, expected) = line.split_once(' ').unwrap_or((line, ""));
    let found = entries(cluster, zone);
    let expected: Vec<&str> = expected
        .split(" | ")
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .collect();
    assert_eq!(found, expected, "entries of {zone}");
}

/// The entries of a zone but the SOA, as text.
pub(crate) fn entries(cluster: &Cluster, zone: &str) -> Vec<String> {
    let (namespace, name) = key(zone);
    let zone = &cluster.zones[&ZoneKey::new(namespace, name)];
    let entries = zone.status.iter().flat_map(|status| &status.entries);
    let records = entries.filter(|entry| entry.type_ != "SOA");
    records
        .map(|entry| {
            let routing = entry.routing.as_ref().map(routing).unwrap_or_default();
            format!(
                "{} {} {} {}{routing}",
                entry.fqdn, entry.ttl, entry.type_, entry.rdata
            )
        })
        .collect()
}

/// The routing of an entry in the words of a line.
fn routing(routing: &Routing) -> String {
    let word = |field, value: Option<String>| value.map(|value| format!(" {field}={value}"));
    let words = [
        word("set", Some(routing.set_identifier.clone())),
        word("weight", routing.weight.map(|weight| weight.to_string())),
        word("geo", routing.geo.clone()),
    ];
    words.into_iter().flatten().collect()
}

fn conditions(cluster: &Cluster, which: &Key) -> Vec<Condition> {
    let conditions = match which {
        Key::Zone(key) => {
            let status = cluster.zones[key].status.as_ref();
            status.map(|status| status.conditions.clone())
        }
        Key::Record(key) => {
            let status = cluster.records[key].status.as_ref();
            status.map(|status| status.conditions.clone())
        }
    };
    conditions.unwrap_or_default()
}

fn metadata<'a>(cluster: &'a Cluster, which: &Key) -> &'a ObjectMeta {
    match which {
        Key::Zone(key) => &cluster.zones[key].metadata,
        Key::Record(key) => &cluster.records[key].metadata,
    }
}

/// The object of `zone dns/org` or `record web/www`.
pub(crate) fn object(text: &str) -> Key {
    let (kind, name) = text.split_once(' ').expect("kind and key");
    let (namespace, name) = key(name);
    match kind {
        "zone" => Key::Zone(ZoneKey::new(namespace, name)),
        "record" => Key::Record(RecordKey::new(namespace, name)),
        other => panic!("{other} is no kind"),
    }
}
