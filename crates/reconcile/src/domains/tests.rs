//! The gate and the passes, as data: what an Ingress says before, and what it says after.

mod door;
mod edits;
mod index;
mod standing;
mod verification;

use std::collections::BTreeSet;

use dns::Name;
use serde_json::{Value, json};

use super::*;

const UID: &str = "uid-of-the-namespace";

/// The managed host of every Ingress here.
pub(super) fn own() -> String {
    Guid::new([7; Guid::BYTES]).host(&managed())
}

pub(super) fn managed() -> ManagedDomain {
    ManagedDomain {
        domain: name("apps.example.net"),
        tls_secret: None,
    }
}

pub(super) fn key() -> Keyring {
    Keyring::new(&[1; Keyring::BYTES]).unwrap()
}

pub(super) fn name(text: &str) -> Name {
    Name::parse(&format!("{text}.")).unwrap()
}

pub(super) fn names(texts: &[&str]) -> BTreeSet<Name> {
    texts.iter().map(|text| name(text)).collect()
}

/// An Ingress with these rules: host and service.
pub(super) fn ingress(rules: &[(&str, &str)]) -> Value {
    let rules: Vec<Value> = rules
        .iter()
        .map(|(host, service)| rule(host, service))
        .collect();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": { "name": "web", "namespace": "team" },
        "spec": { "rules": rules },
    })
}

pub(super) fn rule(host: &str, service: &str) -> Value {
    let backend = json!({ "service": { "name": service, "port": { "number": 80 } } });
    let http = json!({ "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] });
    if host.is_empty() {
        json!({ "http": http })
    } else {
        json!({ "host": host, "http": http })
    }
}

pub(super) fn with_tls(mut ingress: Value, entries: &[(&[&str], &str)]) -> Value {
    let entries = entries
        .iter()
        .map(|(hosts, secret)| json!({ "hosts": hosts, "secretName": secret }));
    ingress["spec"]["tls"] = entries.collect();
    ingress
}

pub(super) fn annotated(mut ingress: Value, key: &str, value: &str) -> Value {
    ingress["metadata"]["annotations"][key] = json!(value);
    ingress
}

/// At the door, with these domains proven.
pub(super) fn door(
    object: &Value,
    old: Option<&Value>,
    verified: &[&str],
) -> Result<Gated, Vec<String>> {
    let whole = false;
    at_door(Asked { object, old, whole }, verified)
}

/// What is stored once the controller has written an Ingress.
pub(super) fn written_by_controller(object: &Value, old: &Value, verified: &[&str]) -> Value {
    let asked = Asked {
        object,
        old: Some(old),
        whole: true,
    };
    at_door(asked, verified).unwrap().object
}

fn at_door(asked: Asked<'_>, verified: &[&str]) -> Result<Gated, Vec<String>> {
    let verified = names(verified);
    let key = key();
    let managed = managed();
    let drawn = Guid::new([7; Guid::BYTES]);
    let house = House {
        managed: &managed,
        key: &key,
        namespace_uid: UID,
        verified: &verified,
        drawn: &drawn,
    };
    let gated = gate(asked, house, Fill::AsAsked);
    gated.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// The domains of hosts, with those that are claimed for them.
pub(super) fn uses_of(pairs: &[(&str, &str)]) -> Uses {
    let pairs = pairs.iter();
    pairs
        .map(|(domain, claim)| (name(domain), name(claim)))
        .collect()
}

/// An Ingress beside which nothing is proven or claimed.
pub(super) fn view(object: &Value) -> IngressView {
    IngressView {
        key: crate::ObjectKey::new("team", "web"),
        object: object.clone(),
        namespace_uid: Some(UID.to_owned()),
        verified: BTreeSet::new(),
        claimed: BTreeSet::new(),
    }
}

/// Behind the door, with these domains proven.
pub(super) fn behind(object: &Value, verified: &[&str]) -> Value {
    let view = IngressView {
        verified: names(verified),
        ..view(object)
    };
    let decision = decide_ingress(&view, &managed(), &key(), &Guid::new([7; Guid::BYTES]));
    decision.update.unwrap_or_else(|| object.clone())
}

/// The rules of an Ingress: host and service. The managed host is shown as `managed`.
pub(super) fn rules(ingress: &Value) -> Vec<(String, String)> {
    let rules = ingress["spec"]["rules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let shown = rules.iter().map(|rule| {
        let host = rule["host"]
            .as_str()
            .unwrap_or("none")
            .replace(&own(), "managed");
        let backend = &rule["http"]["paths"][0]["backend"]["service"]["name"];
        (host, backend.as_str().unwrap_or("none").to_owned())
    });
    shown.collect()
}

/// The tls entries of an Ingress: hosts and Secret.
pub(super) fn tls(ingress: &Value) -> Vec<(Vec<String>, String)> {
    let entries = ingress["spec"]["tls"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let shown = entries.iter().map(|entry| {
        let hosts = entry["hosts"].as_array().cloned().unwrap_or_default();
        let hosts = hosts.iter().filter_map(Value::as_str);
        let hosts = hosts.map(|host| host.replace(&own(), "managed"));
        (
            hosts.collect(),
            entry["secretName"].as_str().unwrap_or("none").to_owned(),
        )
    });
    shown.collect()
}

pub(super) fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = expected
        .iter()
        .map(|(host, service)| ((*host).to_owned(), (*service).to_owned()));
    pairs.collect()
}

pub(super) fn entries(expected: &[(&[&str], &str)]) -> Vec<(Vec<String>, String)> {
    let entries = expected.iter().map(|(hosts, secret)| {
        (
            hosts.iter().map(|it| (*it).to_owned()).collect(),
            (*secret).to_owned(),
        )
    });
    entries.collect()
}

pub(super) fn note<'a>(ingress: &'a Value, key: &str) -> Option<&'a str> {
    ingress["metadata"]["annotations"][key].as_str()
}
