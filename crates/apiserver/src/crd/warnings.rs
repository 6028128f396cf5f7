//! What a definition may say but nobody will heed.
//!
//! Formats that are not known are not judged. Whoever writes a definition is told, once for each
//! format and only when it is new: `Warning: unrecognized format "uint32"`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::object::Object;

/// The formats of texts, without hyphens: `date-time` and `datetime` are the same.
const TEXT_FORMATS: [&str; 26] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// The keywords whose value is a schema, a list of schemas or a map of schemas.
const SCHEMA: [&str; 4] = ["items", "not", "additionalProperties", "additionalItems"];
const SCHEMAS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const NAMED_SCHEMAS: [&str; 3] = ["properties", "patternProperties", "definitions"];

/// What to tell the writer of a definition, given what was there before.
pub(crate) fn warnings(definition: &Object, old: Option<&Object>) -> Vec<String> {
    let known = old.map(unrecognized).unwrap_or_default();
    let new = unrecognized(definition)
        .into_iter()
        .filter(|format| !known.contains(format));
    new.map(|format| format!("unrecognized format {format:?}"))
        .collect()
}

/// The formats in a definition that are not known.
fn unrecognized(definition: &Object) -> BTreeSet<&str> {
    let versions = definition.get("spec").and_then(|spec| spec.get("versions"));
    let versions = versions.and_then(Value::as_array).into_iter().flatten();
    let mut formats = BTreeSet::new();
    for version in versions {
        if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
            collect(schema, &mut formats);
        }
    }
    formats
}

/// Schemas nest no deeper than the JSON that they came in.
fn collect<'a>(schema: &'a Value, formats: &mut BTreeSet<&'a str>) {
    let text = |field: &str| {
        schema
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let format = schema.get("format").and_then(Value::as_str);
    formats.extend(format.filter(|format| !format.is_empty() && !is_known(format, text("type"))));
    for field in SCHEMA {
        schema
            .get(field)
            .into_iter()
            .for_each(|inner| collect(inner, formats));
    }
    for field in SCHEMAS {
        let all = schema
            .get(field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        all.for_each(|inner| collect(inner, formats));
    }
    for field in NAMED_SCHEMAS {
        let all = schema
            .get(field)
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        all.for_each(|(_, inner)| collect(inner, formats));
    }
}

fn is_known(format: &str, kind: &str) -> bool {
    match kind {
        "" | "string" => TEXT_FORMATS.contains(&format.replace('-', "").as_str()),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
