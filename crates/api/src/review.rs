//! A manifest judged without a cluster: is it one of ours, and what is wrong with it?
//!
//! The shape is checked as a strict API server would, unknown fields included, and then the spec by
//! the same parsers that admission and the controllers use. What depends on other objects is not
//! judged here.

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::{FieldPath, Problem};
use crate::{
    Decoded, DnsHealthCheckProbe, DnsPolicy, DnsRecord, DomainVerification, Record, ServiceRecord,
    Zone, ZoneSlice, parse,
};

/// Everything that is wrong with a manifest of one of our kinds; `None` if it is of another.
pub fn review(manifest: &Value) -> Option<Vec<Problem>> {
    let text = |field: &str| {
        manifest
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let judge = match (text("apiVersion"), text("kind")) {
        ("kubi.zone/v1alpha1", "Zone") => zone,
        ("kubi.zone/v1alpha1", "Record") => record,
        ("kubi.zone/v1alpha1", "ZoneSlice") => zone_slice,
        ("kuadrant.io/v1alpha1", "DNSRecord") => dns_record,
        ("kuadrant.io/v1alpha1", "DNSHealthCheckProbe") => dns_health_check_probe,
        ("kuadrant.io/v1", "DNSPolicy") => dns_policy,
        ("connectivity.tanzu.vmware.com/v1alpha1", "ServiceRecord") => service_record,
        ("kuadrant.dev/v1alpha1", "DomainVerification") => domain_verification,
        _ => return None,
    };
    Some(judge(&without_nulls(manifest)))
}

/// A field that is null counts as left out, as it does for an API server.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn zone(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |zone: &Zone| parse::zone::parse(zone).1)
}

fn record(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |record: &Record| parse::record::parse(record).1)
}

fn zone_slice(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |slice: &ZoneSlice| {
        parse::zone_slice::parse(slice).err().unwrap_or_default()
    })
}

fn dns_record(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |record: &DnsRecord| {
        parse::dns_record::problems(record)
    })
}

fn dns_health_check_probe(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |probe: &DnsHealthCheckProbe| {
        parse::dns_health_check_probe::parse(probe)
            .err()
            .unwrap_or_default()
    })
}

fn dns_policy(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |policy: &DnsPolicy| {
        parse::dns_policy::parse(policy).err().unwrap_or_default()
    })
}

fn service_record(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |record: &ServiceRecord| {
        parse::service_record::parse(record)
            .err()
            .unwrap_or_default()
    })
}

fn domain_verification(manifest: &Value) -> Vec<Problem> {
    judge(manifest, |claim: &DomainVerification| {
        parse::domain_verification::parse(claim)
            .err()
            .unwrap_or_default()
    })
}

fn judge<K: DeserializeOwned>(
    manifest: &Value,
    parse: impl FnOnce(&K) -> Vec<Problem>,
) -> Vec<Problem> {
    let mut problems = Vec::from_iter(name_problem(manifest));
    match Decoded::<K>::deserialize(manifest) {
        Ok(Decoded::Object(object)) => {
            problems.extend(unknown_fields::<K>(manifest));
            problems.extend(parse(&object));
        }
        Ok(Decoded::Undecodable(undecodable)) => problems.extend(undecodable.problems),
        Err(error) => problems.push(Problem::bare(&FieldPath::root("object"), error)),
    }
    problems
}

fn name_problem(manifest: &Value) -> Option<Problem> {
    let metadata = manifest.get("metadata").unwrap_or(&Value::Null);
    let named = |field: &str| metadata.get(field).is_some_and(Value::is_string);
    let missing = !named("name") && !named("generateName");
    missing.then(|| Problem::bare(&FieldPath::root("metadata").field("name"), "is required"))
}

fn unknown_fields<K: DeserializeOwned>(manifest: &Value) -> Vec<Problem> {
    // Every object says what it is; the Rust types need not.
    const OF_EVERY_OBJECT: [&str; 2] = ["apiVersion", "kind"];
    let mut unknown = Vec::new();
    let read =
        serde_ignored::deserialize::<_, _, K>(manifest, |path| unknown.push(path.to_string()));
    match read {
        Ok(_) => unknown
            .iter()
            .filter(|path| !OF_EVERY_OBJECT.contains(&path.as_str()))
            .map(|path| Problem::bare(&FieldPath::root(path), "unknown field"))
            .collect(),
        Err(_) => Vec::new(),
    }
}
