//! Which schemas are taken, and what is said to the others.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{compile, sorted};
use crate::refusal::FieldPath;
use crate::schema::Schema;

/// A schema, and what is said to it.
#[derive(Deserialize)]
pub(in crate::schema) struct Definition {
    pub(in crate::schema) schema: Value,
    pub(in crate::schema) says: Vec<String>,
}

/// Where kube-apiserver says the schema of a definition with one version is.
pub(in crate::schema) const SCHEMA_PATH: &str = "spec.validation.openAPIV3Schema";

pub(in crate::schema) fn definitions() -> Vec<Definition> {
    serde_json::from_str(include_str!("definitions.json")).unwrap()
}

fn refusals(schema: &Value) -> Vec<String> {
    match Schema::compile_at(schema, &FieldPath::of(SCHEMA_PATH)) {
        Ok(_) => Vec::new(),
        Err(errors) => sorted(&errors),
    }
}

#[test]
fn schemas_are_taken_or_refused_in_the_words_of_kube_apiserver() {
    for Definition { schema, says } in definitions() {
        assert_eq!(refusals(&schema), says, "{schema}");
    }
}

#[test]
fn errors_are_at_paths_relative_to_the_schema() {
    let schema = json!({ "type": "object", "properties": { "spec": { "type": "array" } } });
    let errors = Schema::compile(&schema).unwrap_err();
    assert_eq!(
        sorted(&errors),
        ["properties[spec].items: Required value: must be specified"]
    );
}

#[test]
fn keyword_of_the_wrong_type_is_refused() {
    for (keyword, value, says) in [
        ("type", json!(["string", "null"]), "must be a string"),
        ("minLength", json!("x"), "must be an integer"),
        ("minLength", json!(1.5), "must be an integer"),
        ("nullable", json!("yes"), "must be a boolean"),
        ("minimum", json!("1"), "must be a number"),
        ("required", json!([1]), "must be a list of strings"),
        ("enum", json!("a"), "must be a list"),
        ("properties", json!([]), "must be an object"),
        ("properties", json!({ "a": 1 }), "must be an object"),
        ("anyOf", json!({}), "must be a list of schemas"),
        ("items", json!(1), "must be an object"),
        (
            "x-kubernetes-validations",
            json!({}),
            "must be a list of rules",
        ),
        (
            "x-kubernetes-validations",
            json!([{ "rule": 1 }]),
            "must be a string",
        ),
    ] {
        let mut schema = json!({ "type": "object" });
        schema[keyword] = value.clone();
        let errors = Schema::compile(&schema).unwrap_err();
        let found = sorted(&errors).join("\n");
        assert!(found.ends_with(says), "{keyword}: {value}: {found}");
    }
}

#[test]
fn keyword_that_is_null_is_absent() {
    compile(&json!({ "type": "object", "minProperties": null, "default": null, "items": null }));
}

#[test]
fn struct_literal_in_a_rule_is_refused() {
    let schema = json!({
        "type": "object",
        "x-kubernetes-validations": [{ "rule": "Thing{a: 1} == self" }],
    });
    let found = refusals(&schema).join("\n");
    assert!(found.contains("undeclared reference to 'Thing'"), "{found}");
}
