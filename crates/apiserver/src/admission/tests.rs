//! Admission without anybody to ask: configurations and requests in, questions and verdicts out.

mod answers;
mod matching;
mod rounds;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::attributes::{Attributes, Operation};
use super::registry::{Phase, Registry};
use crate::builtin;
use crate::object::{Object, ObjectExt as _};
use crate::resource::Resource;
use crate::user::User;

fn object(value: &Value) -> Object {
    value.as_object().expect("an object").clone()
}

fn resource(plural: &str) -> Arc<Resource> {
    let found = builtin::resources()
        .into_iter()
        .find(|resource| resource.names.plural == plural);
    Arc::new(found.expect("a kind that is built in"))
}

/// A webhook about maps, but for what `but` says.
#[expect(
    clippy::needless_pass_by_value,
    reason = "written down where it is used"
)]
fn webhook(name: &str, but: Value) -> Value {
    let mut webhook = json!({
        "name": name,
        "clientConfig": { "url": "https://127.0.0.1:1/x" },
        "rules": [{ "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"] }],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    for (field, value) in object(&but) {
        webhook[field] = value;
    }
    webhook
}

fn registry(phase: Phase, configurations: &[(&str, Vec<Value>)]) -> Registry {
    let mut registry = Registry::default();
    for (name, webhooks) in configurations {
        let configuration = object(&json!({ "metadata": { "name": name }, "webhooks": webhooks }));
        registry.configure(phase, name, Some(&configuration));
    }
    registry
}

/// The creation of a map.
fn attributes() -> Attributes {
    let new = object(&json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "x", "namespace": "a" }, "data": { "a": "1" },
    }));
    Attributes {
        resource: resource("configmaps"),
        equivalents: Vec::new(),
        subresource: String::new(),
        operation: Operation::Create,
        name: new.name().to_owned(),
        namespace: "a".to_owned(),
        namespace_labels: Some(BTreeMap::from([("team".to_owned(), "dns".to_owned())])),
        user: User::admin(),
        object: Some(new),
        old: None,
        options: json!({}),
        dry_run: false,
    }
}
