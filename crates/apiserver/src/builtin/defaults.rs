//! What kube-apiserver fills in after reading an object.
//!
//! Two sorts of things, each a table by type: values that the API assumes (`defaults.txt`), and fields that Go's types
//! always write although nothing is in them, such as `status: {}` (`zeros.txt`). What neither can say is here.

mod addresses;
mod empty;
mod rules;

pub(super) use addresses::settle_addresses;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::definitions::{self, Definitions};
use super::fields::{Fields as _, Fill as _};
use super::kind::Kind;
use crate::object::{Object, ObjectExt as _};
use rules::Rules;

/// The label by which selectors find a namespace by name.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Fills in what was left out.
pub(super) fn fill(kind: Kind, object: &mut Object) {
    if kind == Kind::CustomResourceDefinition {
        return;
    }
    empty::drop(kind, object);
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
    let definitions = definitions::all();
    let mut blank = Object::new();
    write_zeros(definitions, definitions.root(kind), &mut blank);
    blank
}

/// The status of an object that no controller has looked at.
pub(super) fn new_status(kind: Kind) -> Option<Value> {
    let definitions = definitions::all();
    let mut blank = Object::new();
    assume(definitions, definitions.root(kind), &mut blank);
    blank.remove("status")
}

/// Fills in an object of a type, and what is in it.
fn assume(definitions: &Definitions, name: &str, object: &mut Object) {
    Rules::of(name).apply(object);
    each_typed(definitions, name, object, &mut |name, object| {
        assume(definitions, name, object);
    });
}

fn write_zeros(definitions: &Definitions, name: &str, object: &mut Object) {
    Rules::of(name).write_zeros(object);
    each_typed(definitions, name, object, &mut |name, object| {
        write_zeros(definitions, name, object);
    });
}

/// The objects in an object of a type that have a type themselves.
fn each_typed(
    definitions: &Definitions,
    name: &str,
    object: &mut Object,
    visit: &mut impl FnMut(&str, &mut Object),
) {
    let properties = definitions
        .get(name)
        .and_then(|definition| definition.get("properties")?.as_object());
    let Some(properties) = properties else {
        return;
    };
    for (field, value) in object {
        if let Some(schema) = properties.get(field) {
            typed(definitions, schema, value, visit);
        }
    }
}

fn typed(
    definitions: &Definitions,
    schema: &Value,
    value: &mut Value,
    visit: &mut impl FnMut(&str, &mut Object),
) {
    match value {
        Value::Object(object) => {
            if let Some((name, _)) = definitions.resolve(schema) {
                visit(name, object);
            } else if let Some(schema) = schema.get("additionalProperties") {
                for value in object.values_mut() {
                    typed(definitions, schema, value, visit);
                }
            }
        }
        Value::Array(values) => {
            if let Some(schema) = schema.get("items") {
                for value in values {
                    typed(definitions, schema, value, visit);
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
    let texts = object.remove("stringData");
    let Some(Value::Object(texts)) = texts.filter(|texts| texts != &json!({})) else {
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
