//! Whether a schema is structural: every field that it says anything about is declared, with a type, outside of
//! `allOf`, `anyOf`, `oneOf` and `not`.
//!
//! Only then is it known for every value of an object which node describes it, so that unknown fields can be dropped
//! and defaults filled in.

use serde_json::{Value, json};

use super::pattern::Pattern;
use super::read::{child, children, flag, get, properties, text};
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};

/// Where a node is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Keywords that must not be below a junctor, and what is said about them.
const FORBIDDEN_WHEN_NESTED: &[(&str, &str)] = &[
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-embedded-resource",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-int-or-string",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-list-map-keys",
        "must be empty to be structural",
    ),
    (
        "x-kubernetes-list-type",
        "must be undefined to be structural",
    ),
    (
        "x-kubernetes-map-type",
        "must be undefined to be structural",
    ),
    ("x-kubernetes-validations", "must be empty to be structural"),
];

/// Everything that keeps the schema from being structural, in the order of its messages.
pub(super) fn check(node: &Object, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(node, Level::Root, path, &mut errors);
    junctors_are_declared(node, Some(node), path, path, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn invariants(node: &Object, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    children_invariants(node, level, path, errors);
    exclusive_extensions(node, path, errors);
    let junctors = if is_int_or_string(node, "anyOf") {
        Junctors::SkipAnyOf
    } else if children(node, "allOf")
        .next()
        .is_some_and(|first| is_int_or_string(first, "anyOf"))
    {
        Junctors::SkipFirstAnyOf
    } else {
        Junctors::All
    };
    value_validations(node, junctors, path, errors);
    types(node, level, path, errors);
    meta(node, level, path, errors);
}

fn children_invariants(
    node: &Object,
    level: Level,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    match child(node, "items") {
        Some(items) => invariants(items, Level::Item, &path.field("items"), errors),
        None if text(node, "type") == "array" => {
            errors.push(FieldError::required(
                path.field("items"),
                "must be specified",
            ));
        }
        None => {}
    }
    for (name, property) in properties(node) {
        let path = path.field("properties").key(name);
        invariants(property, Level::Field, &path, errors);
    }
    let additional = path.field("additionalProperties");
    if get(node, "additionalProperties").is_some() && level == Level::Root {
        let detail = "must not be used at the root";
        errors.push(FieldError::forbidden(additional.clone(), detail));
    }
    if let Some(values) = child(node, "additionalProperties") {
        invariants(values, Level::Field, &additional, errors);
    }
}

fn exclusive_extensions(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if !flag(node, "x-kubernetes-int-or-string") {
        return;
    }
    for extension in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if flag(node, extension) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(FieldError::invalid(path.field(extension), true, detail));
        }
    }
}

fn types(node: &Object, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = text(node, "type");
    let at = path.field("type");
    if flag(node, "x-kubernetes-embedded-resource") {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "object" => {}
            "" => errors.push(FieldError::required(at.clone(), detail)),
            kind => errors.push(FieldError::invalid(at.clone(), kind, detail)),
        }
    } else if kind.is_empty()
        && !flag(node, "x-kubernetes-int-or-string")
        && !flag(node, "x-kubernetes-preserve-unknown-fields")
    {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(at.clone(), detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(at, kind, "must be object at the root"));
    }
}

fn meta(node: &Object, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let embedded = flag(node, "x-kubernetes-embedded-resource");
    let is_resource = level == Level::Root || embedded;
    let declared = |name| child(node, "properties").and_then(|all| child(all, name));
    for name in ["kind", "apiVersion"] {
        if let Some(property) = declared(name)
            && is_resource
            && text(property, "type") != "string"
        {
            let at = path.field("properties").key(name).field("type");
            let kind = text(property, "type");
            errors.push(FieldError::invalid(at, kind, "must be string"));
        }
    }
    if let Some(metadata) = declared("metadata") {
        let at = path.field("properties").key("metadata");
        if is_resource && text(metadata, "type") != "object" {
            let kind = text(metadata, "type");
            errors.push(FieldError::invalid(
                at.field("type"),
                kind,
                "must be object",
            ));
        }
        if level == Level::Root && !restricts_names_only(metadata) {
            let detail = "must not specify anything other than name and generateName, \
                          but metadata is implicitly specified";
            errors.push(FieldError::forbidden(at, detail));
        }
    }
    embedded_resource(node, path, errors);
}

fn embedded_resource(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if !flag(node, "x-kubernetes-embedded-resource") {
        return;
    }
    if get(node, "additionalProperties").is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        let at = path.field("additionalProperties");
        errors.push(FieldError::forbidden(at, detail));
    }
    let preserves = flag(node, "x-kubernetes-preserve-unknown-fields");
    if !preserves && properties(node).next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(path.field("properties"), detail));
    }
}

/// Whether a schema of the root's metadata says nothing but what name and generateName must be.
fn restricts_names_only(metadata: &Object) -> bool {
    let only_names = properties(metadata).all(|(name, _)| name == "name" || name == "generateName");
    let nothing_else = metadata.iter().all(|(keyword, value)| {
        matches!(keyword.as_str(), "type" | "properties" | "default")
            || matches!(value, Value::Null | Value::Bool(false))
            || value == ""
            || !is_known(keyword)
    });
    only_names && nothing_else
}

fn is_known(keyword: &str) -> bool {
    !keyword.starts_with("x-") || keyword.starts_with("x-kubernetes-")
}

/// Which junctors of a node are looked at: int-or-string is written with one that would not be structural.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Junctors {
    All,
    SkipAnyOf,
    SkipFirstAnyOf,
}

fn value_validations(
    node: &Object,
    junctors: Junctors,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if junctors != Junctors::SkipAnyOf {
        for (index, nested) in children(node, "anyOf").enumerate() {
            let path = path.field("anyOf").index(index);
            nested_invariants(nested, Junctors::All, &path, errors);
        }
    }
    for (index, nested) in children(node, "allOf").enumerate() {
        let path = path.field("allOf").index(index);
        let skips = junctors == Junctors::SkipFirstAnyOf && index == 0;
        let inner = if skips {
            Junctors::SkipAnyOf
        } else {
            Junctors::All
        };
        nested_invariants(nested, inner, &path, errors);
    }
    for (index, nested) in children(node, "oneOf").enumerate() {
        let path = path.field("oneOf").index(index);
        nested_invariants(nested, Junctors::All, &path, errors);
    }
    if let Some(nested) = child(node, "not") {
        nested_invariants(nested, Junctors::All, &path.field("not"), errors);
    }
    let pattern = text(node, "pattern");
    if !pattern.is_empty()
        && let Err(fault) = Pattern::parse(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {fault}");
        errors.push(FieldError::invalid(path.field("pattern"), pattern, detail));
    }
}

fn nested_invariants(
    node: &Object,
    junctors: Junctors,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    value_validations(node, junctors, path, errors);
    if let Some(items) = child(node, "items") {
        nested_invariants(items, Junctors::All, &path.field("items"), errors);
    }
    for (name, property) in properties(node) {
        let path = path.field("properties").key(name);
        nested_invariants(property, Junctors::All, &path, errors);
        if name == "metadata" {
            let detail = "must not be specified in a nested context";
            errors.push(FieldError::forbidden(path, detail));
        }
    }
    for (keyword, detail) in FORBIDDEN_WHEN_NESTED {
        if get(node, keyword).is_some_and(says_something) {
            errors.push(FieldError::forbidden(path.field(keyword), *detail));
        }
    }
}

/// Empty texts and lists and unset flags say as little as nothing at all.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Object(_) => true,
    }
}

fn is_int_or_string(node: &Object, junctor: &str) -> bool {
    get(node, junctor) == Some(&json!([{ "type": "integer" }, { "type": "string" }]))
}

/// Whether whatever is below junctors of `nested` is also declared by `declared`.
fn junctors_are_declared(
    nested: &Object,
    declared: Option<&Object>,
    declared_at: &FieldPath,
    nested_at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if let Some(below) = child(nested, "not") {
        is_declared(
            below,
            declared,
            declared_at,
            &nested_at.field("not"),
            errors,
        );
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (index, below) in children(nested, junctor).enumerate() {
            let nested_at = nested_at.field(junctor).index(index);
            is_declared(below, declared, declared_at, &nested_at, errors);
        }
    }
}

fn is_declared(
    nested: &Object,
    declared: Option<&Object>,
    declared_at: &FieldPath,
    nested_at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(declaration) = declared else {
        let detail = format!("because it is defined in {nested_at}");
        errors.push(FieldError::required(declared_at.clone(), detail));
        return;
    };
    junctors_are_declared(nested, declared, declared_at, nested_at, errors);
    if let Some(items) = child(nested, "items") {
        let (declared_at, nested_at) = (declared_at.field("items"), nested_at.field("items"));
        is_declared(
            items,
            child(declaration, "items"),
            &declared_at,
            &nested_at,
            errors,
        );
    }
    for (name, property) in properties(nested) {
        let declared_at = declared_at.field("properties").key(name);
        let nested_at = nested_at.field("properties").key(name);
        let declared = child(declaration, "properties").and_then(|all| child(all, name));
        is_declared(property, declared, &declared_at, &nested_at, errors);
    }
}
