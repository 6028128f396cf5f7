//! Objects as lines of text.
//!
//! ```text
//! zone dns/org example.org. records=*:A,AAAA@web zones=*.team@ops ns=ns1,ns2.example.net. ttl=60
//! record web/www www ref=dns/org ttl=30 A = 192.0.2.1
//! record web/eu www.example.org. set=eu weight=120 geo=GEO-EU A = 192.0.2.2
//! ```
//! A delegation is a pattern, the types after `:` and the namespaces after `@`; without them it is for all. `age` is when
//! the object was created, in seconds after the beginning of time.

use api::record::RecordSpec;
use api::routing::Routing;
use api::zone::{Delegation, RecordDelegation, SoaNames, ZoneSpec};
use api::{Record, Zone, ZoneRef};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::core::ObjectMeta;

/// When the first object could have been created.
pub(crate) const BEGINNING: &str = "2026-11-15T00:00:00Z";

/// What a line says beside the spec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Age(pub(crate) Option<i64>);

/// A Zone from the words after `zone`.
pub(crate) fn zone(line: &str) -> (Zone, Age) {
    let mut words = line.split_whitespace();
    let (namespace, name) = key(words.next().expect("a key"));
    let mut spec = ZoneSpec {
        domain_name: words.next().expect("a domain name").to_owned(),
        ..ZoneSpec::default()
    };
    let mut soa = SoaNames::default();
    let mut age = Age::default();
    for word in words {
        let (field, value) = word.split_once('=').expect("field=value");
        let number = || value.parse::<u32>().expect("a number");
        match field {
            "ref" => spec.zone_ref = Some(reference(value)),
            "records" => spec.delegations.push(records(value)),
            "zones" => spec.delegations.push(zones(value)),
            "ns" => spec.nameservers = list(value),
            "ttl" => spec.ttl = number(),
            "refresh" => spec.refresh = number(),
            "retry" => spec.retry = number(),
            "expire" => spec.expire = number(),
            "negative" => spec.negative_response_cache = number(),
            "mname" => soa.mname = Some(value.to_owned()),
            "rname" => soa.rname = Some(value.to_owned()),
            "age" => age = Age(Some(value.parse().expect("seconds"))),
            other => panic!("a zone has no {other}"),
        }
    }
    spec.soa = (soa != SoaNames::default()).then_some(soa);
    let mut zone = Zone::new(name, spec);
    zone.metadata.namespace = Some(namespace.to_owned());
    (zone, age)
}

/// A Record from the words after `record`.
pub(crate) fn record(line: &str) -> (Record, Age) {
    let (head, rdata) = line.split_once(" = ").expect("data after =");
    let mut words = head.split_whitespace();
    let (namespace, name) = key(words.next().expect("a key"));
    let mut spec = RecordSpec {
        domain_name: words.next().expect("a domain name").to_owned(),
        rdata: rdata.trim().to_owned(),
        ..RecordSpec::default()
    };
    let mut age = Age::default();
    let mut routing = Routing::default();
    for word in words {
        match word.split_once('=') {
            None => word.clone_into(&mut spec.type_),
            Some(("ref", value)) => spec.zone_ref = Some(reference(value)),
            Some(("ttl", value)) => spec.ttl = Some(value.parse().expect("a number")),
            Some(("age", value)) => age = Age(Some(value.parse().expect("seconds"))),
            Some(("set", value)) => value.clone_into(&mut routing.set_identifier),
            Some(("weight", value)) => routing.weight = Some(value.parse().expect("a number")),
            Some(("geo", value)) => routing.geo = Some(value.to_owned()),
            Some((other, _)) => panic!("a record has no {other}"),
        }
    }
    spec.routing = (routing != Routing::default()).then_some(routing);
    let mut record = Record::new(name, spec);
    record.metadata.namespace = Some(namespace.to_owned());
    (record, age)
}

/// Namespace and name of `namespace/name`.
pub(crate) fn key(text: &str) -> (&str, &str) {
    text.split_once('/').expect("namespace/name")
}

/// The time so many seconds after the beginning.
pub(crate) fn second(second: i64) -> Timestamp {
    let beginning: Timestamp = BEGINNING.parse().unwrap();
    Timestamp::from_second(beginning.as_second() + second).unwrap()
}

/// Makes an object one that was created, with a uid.
pub(crate) fn created(object: &mut ObjectMeta, at: i64, uid: &str) {
    object.creation_timestamp = Some(Time(second(at)));
    object.uid = Some(uid.to_owned());
    object.generation = Some(1);
}

fn reference(text: &str) -> ZoneRef {
    match text.split_once('/') {
        Some((namespace, name)) => ZoneRef {
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
        },
        None => ZoneRef {
            name: text.to_owned(),
            namespace: None,
        },
    }
}

fn records(text: &str) -> Delegation {
    let (rule, namespaces) = for_namespaces(text);
    let (pattern, types) = rule.split_once(':').unwrap_or((rule, ""));
    Delegation {
        namespaces,
        records: vec![RecordDelegation {
            pattern: pattern.to_owned(),
            types: list(types),
        }],
        ..Delegation::default()
    }
}

fn zones(text: &str) -> Delegation {
    let (pattern, namespaces) = for_namespaces(text);
    Delegation {
        namespaces,
        zones: vec![pattern.to_owned()],
        ..Delegation::default()
    }
}

/// `@` alone is a pattern; the namespaces follow the last one after something else.
fn for_namespaces(text: &str) -> (&str, Vec<String>) {
    match text.rsplit_once('@') {
        Some((rule, namespaces)) if !rule.is_empty() && !namespaces.is_empty() => {
            (rule, list(namespaces))
        }
        Some(_) | None => (text, Vec::new()),
    }
}

fn list(text: &str) -> Vec<String> {
    let words = text.split(',').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
