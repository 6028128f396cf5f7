//! Fields that field selectors may name.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::SelectableField;

use crate::refusal::{Fault, FieldError, FieldPath};
use crate::schema::{Schema, Type};

/// How many fields a version may make selectable: each costs on every watch.
const LIMIT: usize = 8;

pub(super) fn validate(
    fields: &[SelectableField],
    schema: &Schema,
    at: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut unique = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let path = at.index(index).field("jsonPath");
        let text = field.json_path.as_str();
        if text.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        match find(text, schema) {
            Ok(found) => {
                errors.extend(unfit(text, found, &path));
                if !unique.insert(text) {
                    errors.push(FieldError::new(path, Fault::Duplicate(text.into()), ""));
                }
            }
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                errors.push(FieldError::invalid(path, text, detail));
            }
        }
    }
    if unique.len() > LIMIT {
        let detail = format!("must have at most {LIMIT} items");
        errors.push(FieldError::new(
            at.clone(),
            Fault::TooMany(unique.len()),
            detail,
        ));
    }
    errors
}

fn unfit(text: &str, found: &Schema, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let root = text.split('.').nth(1);
    if root == Some("metadata") {
        let detail = "must not point to fields in metadata";
        errors.push(FieldError::invalid(path.clone(), text, detail));
    }
    match found.kind {
        Some(Type::String | Type::Boolean | Type::Integer) => {}
        Some(Type::Object | Type::Array | Type::Number) | None => {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(path.clone(), text, detail));
        }
    }
    errors
}

/// The schema of the field that a path such as `.spec.color` leads to.
fn find<'a>(path: &str, schema: &'a Schema) -> Result<&'a Schema, String> {
    let mut rest = path;
    let mut schema = schema;
    while !rest.is_empty() {
        if rest.starts_with('[') {
            return Err("array notation is not allowed".to_owned());
        }
        let Some(after) = rest.strip_prefix('.') else {
            return Err(format!("expected [ or . but got: {}", first_name(rest)));
        };
        if after.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        let name = first_name(after);
        schema = child(name, schema).ok_or_else(|| "does not refer to a valid field".to_owned())?;
        rest = &after[name.len()..];
    }
    Ok(schema)
}

/// What stands before the next delimiter; a delimiter itself if nothing does.
fn first_name(text: &str) -> &str {
    let end = text.find(['.', '[', ']']).unwrap_or(text.len());
    if end == 0 { &text[..1] } else { &text[..end] }
}

fn child<'a>(name: &str, schema: &'a Schema) -> Option<&'a Schema> {
    if schema.properties.is_empty() {
        schema.additional.as_deref()
    } else {
        schema.properties.get(name)
    }
}
