//! Defaults: what a field is if it is left out, and whether that fits.

use serde_json::Value;

use super::{Schema, embedded, keywords, prune, rules};
use crate::refusal::{FieldError, FieldPath};

/// Fills in what is left out, and what is null where null is not allowed.
pub(super) fn fill(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (name, property) in &schema.properties {
                if let Some(default) = &property.default
                    && object
                        .get(name)
                        .is_none_or(|value| wants_default(property, value))
                {
                    object.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in object {
                match (schema.properties.get(name), &schema.additional) {
                    (Some(property), _) => fill(property, value),
                    (None, Some(additional)) => fill_entry(additional, value),
                    (None, None) => {}
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &schema.items {
                for value in list {
                    fill_entry(items, value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every default that has unknown fields or breaks keywords.
pub(super) fn without_rules(schema: &Schema, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    each(
        schema,
        Area::Resource,
        path,
        &mut |schema, default, area, path| {
            let mut pruned = default.clone();
            prune::value(schema, &mut pruned);
            if area != Area::Meta && pruned != *default {
                let detail = "must not have unknown fields";
                errors.push(FieldError::invalid(path.clone(), default.clone(), detail));
            }
            let resources = embedded::judge(schema, default);
            if resources.is_empty() {
                errors.extend(keywords::judge(schema, default, None, path));
            } else {
                errors.extend(resources.into_iter().map(|error| below(error, path)));
            }
        },
    );
    errors
}

/// Every default that breaks rules: as a value that stays, and as one that is new.
pub(super) fn with_rules(schema: &Schema, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    each(
        schema,
        Area::Resource,
        path,
        &mut |schema, default, _, path| {
            let mut found = rules::judge_default(schema, default, Some(default), path);
            if found.is_empty() {
                found = rules::judge_default(schema, default, None, path);
            }
            errors.extend(found);
        },
    );
    errors
}

/// Where a node is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Area {
    /// The object itself or an embedded one.
    Resource,
    /// Its version, kind or metadata.
    Meta,
    Field,
}

fn each(
    schema: &Schema,
    area: Area,
    path: &FieldPath,
    judge: &mut impl FnMut(&Schema, &Value, Area, &FieldPath),
) {
    let area = if schema.embedded_resource {
        Area::Resource
    } else {
        area
    };
    if let Some(default) = &schema.default {
        judge(schema, default, area, &path.field("default"));
    }
    let inside = if area == Area::Meta {
        Area::Meta
    } else {
        Area::Field
    };
    if let Some(items) = &schema.items {
        each(items, inside, &path.field("items"), judge);
    }
    for (name, property) in &schema.properties {
        let is_meta = matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        let area = if area == Area::Resource && is_meta {
            Area::Meta
        } else {
            inside
        };
        each(property, area, &path.field("properties").key(name), judge);
    }
}

fn fill_entry(schema: &Schema, value: &mut Value) {
    if wants_default(schema, value)
        && let Some(default) = &schema.default
    {
        *value = default.clone();
    }
    fill(schema, value);
}

fn wants_default(schema: &Schema, value: &Value) -> bool {
    value.is_null() && !schema.nullable
}

fn below(mut error: FieldError, path: &FieldPath) -> FieldError {
    error.path = path.field(error.path.as_str());
    error
}
