//! What else Kubernetes asks of a schema: no keywords that it does not support, and lists and maps that make sense.

use serde_json::Value;

use super::read::{child, children, flag, get, properties, text, texts};
use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];
const UNSUPPORTED: &[&str] = &[
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
    "$schema",
];
const META: [&str; 3] = ["metadata", "kind", "apiVersion"];

/// Everything about the schema that Kubernetes refuses although it is structural.
pub(super) fn check(node: &Object, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if flag(node, "nullable") {
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(path.field("nullable"), detail));
    }
    let place = Place {
        is_root: true,
        defaults: None,
        in_meta: false,
    };
    check_node(node, place, path, &mut errors);
    errors
}

/// Whether the schema has none of the constructs that Kubernetes does not support at all; only then it makes sense to
/// ask whether it is structural.
pub(super) fn is_supported(node: &Object) -> bool {
    let below = ["additionalProperties", "not", "items"];
    let below = below.into_iter().filter_map(|keyword| child(node, keyword));
    let junctors = ["allOf", "anyOf", "oneOf"];
    let nested = junctors
        .into_iter()
        .flat_map(|junctor| children(node, junctor));
    let mut all = below
        .chain(nested)
        .chain(properties(node).map(|(_, property)| property));
    let has_unsupported = UNSUPPORTED.iter().any(|keyword| is_used(node, keyword))
        || get(node, "items").is_some_and(Value::is_array)
        || get(node, "x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false));
    !has_unsupported && all.all(is_supported)
}

fn is_used(node: &Object, keyword: &str) -> bool {
    get(node, keyword).is_some_and(|value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => true,
    })
}

/// What is known about a node from the nodes above it.
#[derive(Clone, Copy)]
struct Place {
    is_root: bool,
    /// Why there must be no default here, if there must not.
    defaults: Option<&'static str>,
    /// Below the metadata of the object or of an embedded one.
    in_meta: bool,
}

fn check_node(node: &Object, place: Place, path: &FieldPath, errors: &mut Vec<FieldError>) {
    unsupported(node, place, path, errors);
    check_children(node, place, path, errors);
    if get(node, "x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let at = path.field("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(at, false, "must be true or undefined"));
    }
    map_type(node, path, errors);
    list_type(node, path, errors);
    list_map(node, path, errors);
    list_entries(node, path, errors);
    rules(node, path, errors);
}

fn unsupported(node: &Object, place: Place, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = text(node, "type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(not_supported(path.field("type"), kind, &TYPES));
    }
    if let Some(why) = place.defaults
        && get(node, "default").is_some()
    {
        let detail = format!("must not be set {why}");
        errors.push(FieldError::forbidden(path.field("default"), detail));
    }
    for keyword in UNSUPPORTED {
        if !is_used(node, keyword) {
            continue;
        }
        errors.push(if *keyword == "$schema" {
            let detail = "OpenAPIV3Schema 'schema' is not supported";
            FieldError::invalid(path.clone(), "", detail)
        } else {
            FieldError::forbidden(path.field(keyword), format!("{keyword} is not supported"))
        });
    }
    if kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(path.field("type"), detail));
    }
    if get(node, "items").is_some_and(Value::is_array) {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(path.field("items"), detail));
    }
    if place.in_meta && flag(node, "x-kubernetes-embedded-resource") {
        let at = path.field("x-kubernetes-embedded-resource");
        errors.push(FieldError::forbidden(
            at,
            "must not be used inside of resource meta",
        ));
    }
    if flag(node, "uniqueItems") {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(path.field("uniqueItems"), detail));
    }
}

fn check_children(node: &Object, place: Place, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let below = Place {
        is_root: false,
        ..place
    };
    if let Some(additional) = get(node, "additionalProperties") {
        let at = path.field("additionalProperties");
        if properties(node).next().is_some() && *additional != Value::Bool(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            errors.push(FieldError::forbidden(at.clone(), detail));
        }
        if let Some(values) = additional.as_object() {
            let mut below = below;
            if place.in_meta {
                below.defaults = Some("inside additionalProperties applying to object metadata");
            }
            check_node(values, below, &at, errors);
        }
    }
    for (name, property) in properties(node) {
        let path = path.field("properties").key(name);
        check_node(property, below_property(node, place, name), &path, errors);
    }
    if let Some(nested) = child(node, "not") {
        check_node(nested, below, &path.field("not"), errors);
    }
    for junctor in ["allOf", "oneOf", "anyOf"] {
        for (index, nested) in children(node, junctor).enumerate() {
            check_node(nested, below, &path.field(junctor).index(index), errors);
        }
    }
    if let Some(items) = child(node, "items") {
        check_node(items, below, &path.field("items"), errors);
    }
}

fn below_property(node: &Object, place: Place, name: &str) -> Place {
    let is_resource = place.is_root || flag(node, "x-kubernetes-embedded-resource");
    let is_meta = is_resource && META.contains(&name);
    let defaults = match name {
        "metadata" if place.is_root => Some("in top-level metadata"),
        "kind" if place.is_root => Some("in top-level kind"),
        "apiVersion" if place.is_root => Some("in top-level apiVersion"),
        _ => place.defaults,
    };
    Place {
        is_root: false,
        defaults,
        in_meta: place.in_meta || is_meta,
    }
}

fn map_type(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if get(node, "x-kubernetes-map-type").is_none() {
        return;
    }
    let detail = "must be object if x-kubernetes-map-type is specified";
    must_have_type(node, "object", detail, path, errors);
    let kinds = ["atomic", "granular"];
    let kind = text(node, "x-kubernetes-map-type");
    if !kinds.contains(&kind) {
        let at = path.field("x-kubernetes-map-type");
        errors.push(not_supported(at, kind, &kinds));
    }
}

fn list_type(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if get(node, "x-kubernetes-list-type").is_none() {
        return;
    }
    let kind = text(node, "x-kubernetes-list-type");
    if text(node, "type") != "array" {
        let detail = "must be array if x-kubernetes-list-type is specified";
        must_have_type(node, "array", detail, path, errors);
    } else if kind == "set"
        && let Some(items) = child(node, "items")
    {
        set_entries_are_atomic(items, &path.field("items"), errors);
    }
    let kinds = ["atomic", "set", "map"];
    if !kinds.contains(&kind) {
        let at = path.field("x-kubernetes-list-type");
        errors.push(not_supported(at, kind, &kinds));
    }
}

fn set_entries_are_atomic(items: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list = get(items, "x-kubernetes-list-type").cloned();
    let shown = list.clone().unwrap_or_default();
    match text(items, "type") {
        "array" if list.is_some_and(|list| list != "atomic") => {
            let at = path.field("x-kubernetes-list-type");
            errors.push(FieldError::invalid(at, shown, detail));
        }
        "object" if text(items, "x-kubernetes-map-type") != "atomic" => {
            let at = path.field("x-kubernetes-map-type");
            errors.push(FieldError::invalid(at, shown, detail));
        }
        _ => {}
    }
}

fn list_map(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let keys = texts(node, "x-kubernetes-list-map-keys");
    let keys_at = path.field("x-kubernetes-list-map-keys");
    let kind = text(node, "x-kubernetes-list-type");
    if !keys.is_empty() && kind != "map" {
        let at = path.field("x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match get(node, "x-kubernetes-list-type") {
            None => FieldError::required(at, detail),
            Some(_) => FieldError::invalid(at, kind, detail),
        });
    }
    if kind != "map" {
        return;
    }
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(keys_at.clone(), detail));
    }
    let at = path.field("items");
    match child(node, "items") {
        None => {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(at, detail));
        }
        Some(items) if text(items, "type") != "object" => {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            let kind = text(items, "type");
            errors.push(FieldError::invalid(at.field("type"), kind, detail));
        }
        Some(items) => list_map_keys(&keys, items, &keys_at, &at, errors),
    }
}

fn list_map_keys(
    keys: &[&str],
    items: &Object,
    keys_at: &FieldPath,
    items_at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let declared = child(items, "properties");
    for (index, key) in keys.iter().enumerate() {
        match declared.and_then(|properties| child(properties, key)) {
            Some(property) if matches!(text(property, "type"), "array" | "object") => {
                let at = items_at.field("properties").key(key).field("type");
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(FieldError::invalid(at, text(items, "type"), detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(keys_at.clone(), keys.to_vec(), detail));
            }
        }
        if keys[..index].contains(key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(keys_at.clone(), keys.to_vec(), detail));
        }
    }
}

/// Entries of sets and maps must be there, and so must what tells the entries of a map apart.
fn list_entries(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let kind = text(node, "x-kubernetes-list-type");
    let Some(items) = child(node, "items").filter(|_| matches!(kind, "set" | "map")) else {
        return;
    };
    let at = path.field("items");
    if flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        errors.push(FieldError::forbidden(at.field("nullable"), detail));
    }
    if kind != "map" {
        return;
    }
    let required = texts(items, "required");
    for key in texts(node, "x-kubernetes-list-map-keys") {
        let Some(property) = child(items, "properties").and_then(|all| child(all, key)) else {
            continue;
        };
        let at = at.field("properties").key(key);
        if !required.contains(&key) && get(property, "default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default \
                          or be a required property";
            errors.push(FieldError::required(at.field("default"), detail));
        }
        if flag(property, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(at.field("nullable"), detail));
        }
    }
}

fn rules(node: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, rule) in children(node, "x-kubernetes-validations").enumerate() {
        let path = path.field("x-kubernetes-validations").index(index);
        rule_texts(rule, &path, errors);
        let reason = text(rule, "reason");
        if get(rule, "reason").is_some() && !REASONS.contains(&reason) {
            errors.push(not_supported(path.field("reason"), reason, &REASONS));
        }
        let field_path = text(rule, "fieldPath");
        let at = path.field("fieldPath");
        if !field_path.is_empty() && field_path.trim().is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(at.clone(), field_path, detail));
        }
        if has_line_break(field_path) {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(at.clone(), field_path, detail));
        }
        if !field_path.is_empty() && super::rules::field_path(field_path, node).is_none() {
            errors.push(FieldError::invalid(at, field_path, "must be a valid path"));
        }
    }
}

fn rule_texts(rule: &Object, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let source = text(rule, "rule").trim();
    let message = text(rule, "message");
    if source.is_empty() {
        errors.push(FieldError::required(
            path.field("rule"),
            "rule is not specified",
        ));
    } else if !message.is_empty() && message.trim().is_empty() {
        let detail = "must be non-empty if specified";
        errors.push(FieldError::invalid(path.field("message"), message, detail));
    } else if has_line_break(message.trim()) {
        let detail = "must not contain line breaks";
        errors.push(FieldError::invalid(path.field("message"), message, detail));
    } else if has_line_break(source) && message.trim().is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(path.field("message"), detail));
    }
    let expression = text(rule, "messageExpression");
    if !expression.is_empty() && expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(
            path.field("messageExpression"),
            detail,
        ));
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn must_have_type(
    node: &Object,
    want: &str,
    detail: &str,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let at = path.field("type");
    match text(node, "type") {
        kind if kind == want => {}
        "" => errors.push(FieldError::required(at, detail)),
        kind => errors.push(FieldError::invalid(at, kind, detail)),
    }
}

fn not_supported(path: FieldPath, value: &str, supported: &[&str]) -> FieldError {
    let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
    let detail = format!("supported values: {}", supported.join(", "));
    FieldError::new(path, Fault::NotSupported(value.into()), detail)
}
