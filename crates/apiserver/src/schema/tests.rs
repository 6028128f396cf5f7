//! The same data is judged here and by a real kube-apiserver in [`on_cluster`](super::on_cluster).

pub(super) mod compile;
pub(super) mod patterns;
mod shape;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Schema;
use crate::refusal::{FieldError, FieldPath};

/// A spec that is created, and what is said to it.
#[derive(Deserialize)]
pub(super) struct Create {
    pub(super) spec: Value,
    pub(super) says: Vec<String>,
}

/// A spec that was there before there were rules, what it is changed to, and what is said to that.
#[derive(Deserialize)]
pub(super) struct Update {
    pub(super) old: Value,
    pub(super) new: Value,
    pub(super) says: Vec<String>,
}

/// The schema that [`creates`] and [`updates`] are judged by.
pub(super) fn definition() -> Value {
    serde_json::from_str(include_str!("tests/definition.json")).unwrap()
}

pub(super) fn creates() -> Vec<Create> {
    serde_json::from_str(include_str!("tests/creates.json")).unwrap()
}

pub(super) fn updates() -> Vec<Update> {
    serde_json::from_str(include_str!("tests/updates.json")).unwrap()
}

/// Messages in an order that does not depend on that of fields in a map.
pub(super) fn sorted(errors: &[FieldError]) -> Vec<String> {
    let mut messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    messages.sort();
    messages
}

fn object(spec: &Value) -> Value {
    json!({ "apiVersion": "lab.test/v1", "kind": "Case", "metadata": { "name": "case" }, "spec": spec })
}

/// An object as it is judged: pruned and defaulted.
fn stored(schema: &Schema, spec: &Value) -> Value {
    let mut object = object(spec);
    schema.prune(&mut object);
    schema.default_fields(&mut object);
    object
}

fn compile(schema: &Value) -> Schema {
    let path = FieldPath::root();
    match Schema::compile_at(schema, &path) {
        Ok(schema) => schema,
        Err(errors) => panic!("{:#?}", sorted(&errors)),
    }
}

#[test]
fn objects_are_created_or_refused_in_the_words_of_kube_apiserver() {
    let schema = compile(&definition());
    for Create { spec, says } in creates() {
        let errors = schema.validate(&stored(&schema, &spec), None);
        assert_eq!(sorted(&errors), says, "{spec}");
    }
}

#[test]
fn updates_may_keep_what_was_wrong_and_must_not_add_to_it() {
    let schema = compile(&definition());
    for Update { old, new, says } in updates() {
        let case = format!("{old} -> {new}");
        let (old, new) = (stored(&schema, &old), stored(&schema, &new));
        let errors = schema.validate(&new, Some(&old));
        assert_eq!(sorted(&errors), says, "{case}");
    }
}

#[test]
fn every_definition_of_ours_and_of_gateway_api_compiles() {
    let gateway_api = testkit::control_plane::gateway_api::crds().expect("its definitions");
    let ours = api::crds::all();
    for definition in gateway_api.iter().chain(&ours) {
        for version in &definition.spec.versions {
            let schema = version.schema.as_ref().expect("a schema");
            let schema = serde_json::to_value(&schema.open_api_v3_schema).unwrap();
            compile(&schema);
        }
    }
}
