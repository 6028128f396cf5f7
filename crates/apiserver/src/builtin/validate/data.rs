//! Data: the kinds `Secret` and `ConfigMap`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::Problems;
use crate::builtin::fields::Fields as _;
use crate::metadata::{text, too_long};
use crate::object::Object;
use crate::refusal::FieldPath;

/// All values of an object together, in bytes: kube-apiserver's own limit of 1 MiB.
const MOST_DATA: usize = 1024 * 1024;
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";

pub(super) fn secret(object: &Object, problems: &mut Problems) {
    let at = FieldPath::of("data");
    keys(object, "data", problems);
    if decoded_size(object, "data") > MOST_DATA {
        problems.extend(vec![too_long(at.clone(), MOST_DATA)]);
    }
    let has = |key: &str| object.entries("data").any(|(name, _)| name == key);
    let mut require = |key: &str| problems.required(&at.key(key), "");
    match object.text("type") {
        "kubernetes.io/tls" => {
            let keys = ["tls.crt", "tls.key"].into_iter();
            keys.filter(|key| !has(key)).for_each(require);
        }
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if is_empty(object, "ssh-privatekey") => require("ssh-privatekey"),
        "kubernetes.io/dockercfg" => docker_config(object, ".dockercfg", problems),
        "kubernetes.io/dockerconfigjson" => docker_config(object, ".dockerconfigjson", problems),
        "kubernetes.io/service-account-token"
            if object.annotation(ACCOUNT_NAME).is_none_or(str::is_empty) =>
        {
            problems.required(&FieldPath::of("metadata.annotations").key(ACCOUNT_NAME), "");
        }
        _ => {}
    }
}

pub(super) fn secret_change(new: &Object, old: &Object, problems: &mut Problems) {
    problems.immutable("type", new, old);
    sealed(new, old, &["data"], problems);
}

pub(super) fn config_map(object: &Object, problems: &mut Problems) {
    keys(object, "data", problems);
    let binary: Vec<&str> = object.entries("binaryData").map(|(key, _)| key).collect();
    let mut size = decoded_size(object, "binaryData");
    for (key, value) in object.entries("data") {
        if binary.contains(&key) {
            let at = FieldPath::of("data").key(key);
            problems.invalid(&at, key, "duplicate of key present in binaryData");
        }
        size += value.as_str().unwrap_or_default().len();
    }
    keys(object, "binaryData", problems);
    if size > MOST_DATA {
        // Not a field: the whole object is meant, and this is how the API writes it.
        problems.extend(vec![too_long(FieldPath::of("[]"), MOST_DATA)]);
    }
}

pub(super) fn config_map_change(new: &Object, old: &Object, problems: &mut Problems) {
    sealed(new, old, &["data", "binaryData"], problems);
}

/// An object that its owner sealed stays sealed and keeps its data.
fn sealed(new: &Object, old: &Object, fields: &[&str], problems: &mut Problems) {
    if !old.truth("immutable") {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    if !new.truth("immutable") {
        problems.forbidden(&FieldPath::of("immutable"), detail);
    }
    for field in fields {
        if new.at(field) != old.at(field) {
            problems.forbidden(&FieldPath::of(*field), detail);
        }
    }
}

fn keys(object: &Object, field: &str, problems: &mut Problems) {
    for (key, _) in object.entries(field) {
        let at = FieldPath::of(field).key(key);
        problems.all_invalid(&at, key, text::data_key(key));
    }
}

fn docker_config(object: &Object, key: &str, problems: &mut Problems) {
    let at = FieldPath::of("data").key(key);
    let Some((_, value)) = object.entries("data").find(|(name, _)| *name == key) else {
        problems.required(&at, "");
        return;
    };
    let parsed = serde_json::from_slice::<Map<String, Value>>(&decoded(value));
    if let Err(error) = parsed {
        problems.invalid(&at, "<secret contents redacted>", error.to_string());
    }
}

fn is_empty(object: &Object, key: &str) -> bool {
    let mut entries = object.entries("data");
    entries.all(|(name, value)| name != key || decoded(value).is_empty())
}

fn decoded_size(object: &Object, field: &str) -> usize {
    object
        .entries(field)
        .map(|(_, value)| decoded(value).len())
        .sum()
}

/// The bytes of a value whose form was checked when it was read.
fn decoded(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap_or_default();
    STANDARD.decode(text).unwrap_or_default()
}
