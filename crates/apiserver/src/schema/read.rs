//! Reading a schema from JSON: first whether every keyword has the type it must have, then the values.
//!
//! Keywords that Kubernetes does not know are ignored, as decoding does there. Null is absence.

use serde_json::Value;

use super::format::Format;
use super::keywords::{Bound, Keywords};
use super::pattern::Pattern;
use super::{ListKind, MapKind, Merge, Schema, Type};
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};

const PATCH_STRATEGY: &str = "x-kubernetes-patch-strategy";

/// What the value of a keyword must be.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Number,
    Count,
    Texts,
    Values,
    Node,
    Nodes,
    NodeMap,
    NodeOrFlag,
    Rules,
}

/// Keywords that are read; `$ref` and its like are here too, because their presence is refused later.
const KEYWORDS: &[(&str, Shape)] = &[
    ("type", Shape::Text),
    ("format", Shape::Text),
    ("pattern", Shape::Text),
    ("nullable", Shape::Flag),
    ("uniqueItems", Shape::Flag),
    ("exclusiveMinimum", Shape::Flag),
    ("exclusiveMaximum", Shape::Flag),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("multipleOf", Shape::Number),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("minProperties", Shape::Count),
    ("maxProperties", Shape::Count),
    ("required", Shape::Texts),
    ("enum", Shape::Values),
    ("items", Shape::Node),
    ("not", Shape::Node),
    ("allOf", Shape::Nodes),
    ("anyOf", Shape::Nodes),
    ("oneOf", Shape::Nodes),
    ("properties", Shape::NodeMap),
    ("additionalProperties", Shape::NodeOrFlag),
    ("x-kubernetes-preserve-unknown-fields", Shape::Flag),
    ("x-kubernetes-int-or-string", Shape::Flag),
    ("x-kubernetes-embedded-resource", Shape::Flag),
    ("x-kubernetes-list-type", Shape::Text),
    ("x-kubernetes-list-map-keys", Shape::Texts),
    ("x-kubernetes-map-type", Shape::Text),
    ("x-kubernetes-validations", Shape::Rules),
    ("title", Shape::Text),
    ("description", Shape::Text),
];

/// The schema as an object in which every keyword has the right type.
pub(super) fn well_formed<'a>(
    value: &'a Value,
    path: &FieldPath,
) -> Result<&'a Object, Vec<FieldError>> {
    let mut errors = Vec::new();
    check_node(value, path, &mut errors);
    match value.as_object() {
        Some(node) if errors.is_empty() => Ok(node),
        Some(_) | None => Err(errors),
    }
}

/// A keyword that is there and not null.
pub(super) fn get<'a>(node: &'a Object, keyword: &str) -> Option<&'a Value> {
    node.get(keyword).filter(|value| !value.is_null())
}

/// A text; empty if absent.
pub(super) fn text<'a>(node: &'a Object, keyword: &str) -> &'a str {
    get(node, keyword)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Whether a flag is set.
pub(super) fn flag(node: &Object, keyword: &str) -> bool {
    get(node, keyword)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// The texts of a list; none if absent.
pub(super) fn texts<'a>(node: &'a Object, keyword: &str) -> Vec<&'a str> {
    values(node, keyword).filter_map(Value::as_str).collect()
}

/// The values of a list; none if absent.
pub(super) fn values<'a>(node: &'a Object, keyword: &str) -> impl Iterator<Item = &'a Value> {
    let list = get(node, keyword).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// The schema below a keyword.
pub(super) fn child<'a>(node: &'a Object, keyword: &str) -> Option<&'a Object> {
    get(node, keyword).and_then(Value::as_object)
}

/// The schemas in a list below a keyword.
pub(super) fn children<'a>(node: &'a Object, keyword: &str) -> impl Iterator<Item = &'a Object> {
    values(node, keyword).filter_map(Value::as_object)
}

/// The schemas of named properties.
pub(super) fn properties(node: &Object) -> impl Iterator<Item = (&str, &Object)> {
    let properties = child(node, "properties");
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, node)| Some((name.as_str(), node.as_object()?)))
}

/// A well-formed schema. Patterns and formats that cannot be enforced have been refused before the result is used.
pub(super) fn schema(node: &Object) -> Schema {
    let additional = child(node, "additionalProperties").map(schema);
    let open = get(node, "additionalProperties") == Some(&Value::Bool(true));
    Schema {
        kind: kind(node),
        nullable: flag(node, "nullable"),
        properties: properties(node)
            .map(|(name, node)| (name.to_owned(), schema(node)))
            .collect(),
        additional: additional
            .or_else(|| open.then(Schema::default))
            .map(Box::new),
        closed: get(node, "additionalProperties") == Some(&Value::Bool(false)),
        items: child(node, "items").map(schema).map(Box::new),
        default: get(node, "default").cloned(),
        list: list_kind(node),
        map: match text(node, "x-kubernetes-map-type") {
            "atomic" => MapKind::Atomic,
            _ => MapKind::Granular,
        },
        preserve_unknown: flag(node, "x-kubernetes-preserve-unknown-fields"),
        int_or_string: flag(node, "x-kubernetes-int-or-string"),
        any_scalar: kind(node) == Some(Type::String)
            && !matches!(text(node, "format"), "" | "byte"),
        embedded_resource: flag(node, "x-kubernetes-embedded-resource"),
        merge: merge(node),
        replaced: text(node, PATCH_STRATEGY) == "replace",
        keywords: keywords(node),
        ..Schema::default()
    }
}

/// Only published types have strategies; nobody asks for those of others.
fn merge(node: &Object) -> Option<Merge> {
    let strategies = text(node, PATCH_STRATEGY);
    let has = |word: &str| strategies.split(',').any(|strategy| strategy == word);
    let key = text(node, "x-kubernetes-patch-merge-key");
    (has("merge") || has("retainKeys")).then(|| Merge {
        key: (!key.is_empty()).then(|| key.to_owned()),
        retain_keys: has("retainKeys"),
    })
}

/// The type of a node, if it names a known one.
pub(super) fn kind(node: &Object) -> Option<Type> {
    let name = text(node, "type");
    let all = [
        Type::Object,
        Type::Array,
        Type::String,
        Type::Integer,
        Type::Number,
        Type::Boolean,
    ];
    all.into_iter().find(|kind| kind.name() == name)
}

fn list_kind(node: &Object) -> ListKind {
    match text(node, "x-kubernetes-list-type") {
        "set" => ListKind::Set,
        "map" => {
            let keys = texts(node, "x-kubernetes-list-map-keys");
            ListKind::Map(keys.into_iter().map(str::to_owned).collect())
        }
        _ => ListKind::Atomic,
    }
}

fn keywords(node: &Object) -> Keywords {
    let count = |keyword| {
        let count = get(node, keyword).and_then(Value::as_i64);
        count.map(|count| usize::try_from(count).unwrap_or_default())
    };
    let bound = |keyword, exclusive| {
        let value = get(node, keyword).and_then(Value::as_f64)?;
        let exclusive = flag(node, exclusive);
        Some(Bound { value, exclusive })
    };
    Keywords {
        required: texts(node, "required")
            .into_iter()
            .map(str::to_owned)
            .collect(),
        allowed: values(node, "enum").cloned().collect(),
        pattern: get(node, "pattern")
            .and_then(Value::as_str)
            .and_then(|pattern| Pattern::parse(pattern).ok()),
        format: Format::of(node_kind_for_format(node), text(node, "format")),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: get(node, "multipleOf").and_then(Value::as_f64),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        all_of: children(node, "allOf").map(schema).collect(),
        any_of: children(node, "anyOf").map(schema).collect(),
        one_of: children(node, "oneOf").map(schema).collect(),
        not: child(node, "not").map(schema).map(Box::new),
    }
}

/// An int-or-string has two types, so that formats of texts apply to it.
fn node_kind_for_format(node: &Object) -> Option<Type> {
    if flag(node, "x-kubernetes-int-or-string") {
        None
    } else {
        kind(node)
    }
}

fn check_node(value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(node) = value.as_object() else {
        errors.push(wrong(path, value, "an object"));
        return;
    };
    for (keyword, shape) in KEYWORDS {
        if let Some(value) = get(node, keyword) {
            check_shape(*shape, value, &path.field(keyword), errors);
        }
    }
}

fn check_shape(shape: Shape, value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match shape {
        Shape::Text if !value.is_string() => errors.push(wrong(path, value, "a string")),
        Shape::Flag if !value.is_boolean() => errors.push(wrong(path, value, "a boolean")),
        Shape::Number if !value.is_number() => errors.push(wrong(path, value, "a number")),
        Shape::Count if value.as_i64().is_none() => errors.push(wrong(path, value, "an integer")),
        Shape::Texts if !is_list_of(value, Value::is_string) => {
            errors.push(wrong(path, value, "a list of strings"));
        }
        Shape::Values if !value.is_array() => errors.push(wrong(path, value, "a list")),
        Shape::Rules => check_rules(value, path, errors),
        Shape::NodeOrFlag if value.is_boolean() => {}
        // A list of schemas for `items` has a refusal of its own.
        Shape::Node if value.is_array() => {}
        Shape::Node | Shape::NodeOrFlag => check_node(value, path, errors),
        Shape::Nodes => match value.as_array() {
            Some(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    check_node(node, &path.index(index), errors);
                }
            }
            None => errors.push(wrong(path, value, "a list of schemas")),
        },
        Shape::NodeMap => match value.as_object() {
            Some(nodes) => {
                for (name, node) in nodes {
                    check_node(node, &path.key(name), errors);
                }
            }
            None => errors.push(wrong(path, value, "an object")),
        },
        Shape::Text | Shape::Flag | Shape::Number | Shape::Count | Shape::Texts | Shape::Values => {
        }
    }
}

fn check_rules(value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(rules) = value.as_array() else {
        errors.push(wrong(path, value, "a list of rules"));
        return;
    };
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        let Some(rule) = rule.as_object() else {
            errors.push(wrong(&path, rule, "an object"));
            continue;
        };
        for field in [
            "rule",
            "message",
            "messageExpression",
            "reason",
            "fieldPath",
        ] {
            if let Some(value) = get(rule, field) {
                check_shape(Shape::Text, value, &path.field(field), errors);
            }
        }
        if let Some(value) = get(rule, "optionalOldSelf") {
            check_shape(Shape::Flag, value, &path.field("optionalOldSelf"), errors);
        }
    }
}

fn is_list_of(value: &Value, is: fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(is))
}

fn wrong(path: &FieldPath, value: &Value, want: &str) -> FieldError {
    FieldError::invalid(path.clone(), value.clone(), format!("must be {want}"))
}
