//! The columns of the table that kubectl prints.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion,
};

use super::subresources;
use crate::refusal::{FieldError, FieldPath};

pub(super) fn validate(
    version: &CustomResourceDefinitionVersion,
    at: &FieldPath,
) -> Vec<FieldError> {
    let columns = version
        .additional_printer_columns
        .iter()
        .flatten()
        .enumerate();
    columns
        .flat_map(|(index, column)| judge(column, &at.index(index)))
        .collect()
}

const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

fn judge(column: &CustomResourceColumnDefinition, at: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if column.name.is_empty() {
        errors.push(FieldError::required(at.field("name"), ""));
    }
    let types = format!("must be one of {}", COLUMN_TYPES.join(","));
    match column.type_.as_str() {
        "" => errors.push(FieldError::required(at.field("type"), types)),
        known if COLUMN_TYPES.contains(&known) => {}
        other => errors.push(FieldError::invalid(at.field("type"), other, types)),
    }
    match column.format.as_deref().unwrap_or_default() {
        "" => {}
        known if COLUMN_FORMATS.contains(&known) => {}
        other => {
            let formats = format!("must be one of {}", COLUMN_FORMATS.join(","));
            errors.push(FieldError::invalid(at.field("format"), other, formats));
        }
    }
    // The field is `jsonPath`; the name in the message is older than it.
    let path = at.field("JSONPath");
    if column.json_path.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else {
        errors.extend(subresources::simple_json_path(&column.json_path, path));
    }
    errors
}
