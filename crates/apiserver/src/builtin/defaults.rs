//! What kube-apiserver fills in after reading an object.
//!
//! Two sorts of things: fields that Go's types always write although nothing is in them, such as `status: {}`, which
//! [`wire::normalise`] knows, and values that the API assumes, by type in `defaults.txt`. What neither can say is here.

mod addresses;
mod rules;

pub(super) use addresses::settle_addresses;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::definitions::{self, Definitions};
use super::fields::{Fields as _, Fill as _};
use super::kind::Kind;
use crate::object::{Object, ObjectExt as _};
use rules::Rule;

/// The label by which selectors find a namespace by name.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Fills in what was left out.
pub(super) fn fill(kind: Kind, object: &mut Object) {
    if kind == Kind::CustomResourceDefinition {
        return;
    }
    write_as_go(kind, object);
    if kind == Kind::Namespace {
        label_with_name(object);
    }
    if kind == Kind::Secret {
        encode_texts(object);
    }
    if kind == Kind::Service {
        forget_affinity(object);
    }
    let definitions = definitions::all();
    assume(definitions, definitions.root(kind), object);
}

/// The object of a kind that has nothing in it, as Go writes it. A creation is compared with it to find out which fields the
/// sender wrote.
pub(super) fn blank(kind: Kind) -> Object {
    let mut blank = Object::new();
    write_as_go(kind, &mut blank);
    blank
}

/// The status of an object that no controller has looked at.
pub(super) fn new_status(kind: Kind) -> Option<Value> {
    let definitions = definitions::all();
    let mut blank = blank(kind);
    assume(definitions, definitions.root(kind), &mut blank);
    blank.remove("status")
}

/// Drops what Go leaves out and adds what it always writes. An empty record of managers is a wish to forget them, and stays.
fn write_as_go(kind: Kind, object: &mut Object) {
    let record = object.metadata().and_then(|all| all.get("managedFields"));
    let forgets = record == Some(&json!([]));
    // An object with a field of the wrong type has been refused before.
    let _fits = wire::normalise(kind.type_meta(), object);
    if forgets {
        object
            .metadata_mut()
            .insert("managedFields".to_owned(), json!([]));
    }
}

/// Fills in an object of a type, and what is in it.
fn assume(definitions: &Definitions, name: &str, object: &mut Object) {
    for rule in Rule::of(name) {
        rule.apply(object);
    }
    let properties = definitions
        .get(name)
        .and_then(|definition| definition.get("properties")?.as_object());
    for (field, value) in object {
        if let Some(schema) = properties.and_then(|all| all.get(field)) {
            assume_in(definitions, schema, value);
        }
    }
}

/// Fills in what is somewhere in a value that a schema describes.
fn assume_in(definitions: &Definitions, schema: &Value, value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some((name, _)) = definitions.resolve(schema) {
                assume(definitions, name, object);
            } else if let Some(schema) = schema.get("additionalProperties") {
                for value in object.values_mut() {
                    assume_in(definitions, schema, value);
                }
            }
        }
        Value::Array(values) => {
            if let Some(schema) = schema.get("items") {
                for value in values {
                    assume_in(definitions, schema, value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn label_with_name(object: &mut Object) {
    let name = object.name().to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = object.metadata_mut().below("labels") {
        labels.insert(NAMESPACE_LABEL.to_owned(), name.into());
    }
}

/// `stringData` is a convenience for writers: it ends up in `data`.
fn encode_texts(object: &mut Object) {
    let Some(Value::Object(texts)) = object.remove("stringData") else {
        return;
    };
    let encoded = texts.into_iter().map(|(key, text)| {
        let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
        (key, Value::from(encoded))
    });
    if let Some(data) = object.below("data") {
        data.extend(encoded);
    }
}

/// Without affinity there is nothing to configure.
fn forget_affinity(object: &mut Object) {
    if let Some(spec) = object.present("spec")
        && matches!(spec.text("sessionAffinity"), "" | "None")
    {
        spec.remove("sessionAffinityConfig");
    }
}
