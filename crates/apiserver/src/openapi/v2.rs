//! `OpenAPI` v2: one document of everything, for clients that know no other, and for all that look for a kind which no
//! document of v3 describes.
//!
//! It says what the documents of v3 say, in the words of Swagger.

use serde_json::{Map, Value, json};

/// The documents that it is made of hold no more octets than this; further kinds are not described. Ours, with those of
/// the Gateway API, hold two MiB.
const SOURCE_MAX: usize = 64 * 1024 * 1024;

/// Words of v3 that v2 does not have, or that the real API leaves out.
const UNKNOWN: [&str; 6] = ["anyOf", "default", "not", "nullable", "oneOf", "writeOnly"];

/// The document that says what `documents` say.
pub(super) fn document<'a>(documents: impl Iterator<Item = &'a [u8]>) -> Value {
    let (mut paths, mut definitions, mut octets) = (Map::new(), Map::new(), 0);
    for json in documents {
        octets += json.len();
        if octets > SOURCE_MAX {
            break;
        }
        let mut document: Value = serde_json::from_slice(json).unwrap_or_default();
        for (name, item) in taken(&mut document, "paths") {
            paths.insert(name, path_item(item));
        }
        for (name, schema) in taken(&mut document["components"], "schemas") {
            definitions.insert(name, self::schema(schema));
        }
    }
    json!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": crate::discovery::KUBERNETES },
        "paths": paths,
        "definitions": definitions,
    })
}

/// The fields of an object below, taken out of it.
fn taken(value: &mut Value, field: &str) -> Map<String, Value> {
    match value.get_mut(field).map(Value::take) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn path_item(item: Value) -> Value {
    let Value::Object(item) = item else {
        return item;
    };
    let converted = item.into_iter().map(|(name, value)| match name.as_str() {
        "parameters" => (name, parameters(value)),
        _ => (name, operation(value)),
    });
    converted.collect()
}

fn operation(mut operation: Value) -> Value {
    let sent = taken(&mut operation["requestBody"], "content");
    let mut all = parameters(operation["parameters"].take());
    if let Some((first, consumes)) = first_schema(sent) {
        let body = json!({ "in": "body", "name": "body", "required": true, "schema": first });
        all.as_array_mut()
            .into_iter()
            .for_each(|all| all.push(body.clone()));
        operation["consumes"] = consumes;
    }
    operation["parameters"] = all;
    let mut responses = Map::new();
    for (code, mut response) in taken(&mut operation, "responses") {
        let content = taken(&mut response, "content");
        let mut converted = json!({ "description": response["description"] });
        if let Some((schema, produces)) = first_schema(content) {
            converted["schema"] = schema;
            operation["produces"] = produces;
        }
        responses.insert(code, converted);
    }
    operation["responses"] = responses.into();
    if let Some(operation) = operation.as_object_mut() {
        operation.remove("requestBody");
    }
    operation
}

/// The schema of a body, which is the same in every media type, and these.
fn first_schema(content: Map<String, Value>) -> Option<(Value, Value)> {
    let media_types: Value = content.keys().cloned().collect();
    let (_, mut first) = content.into_iter().next()?;
    Some((schema(first["schema"].take()), media_types))
}

/// The type of a parameter stands beside its name.
fn parameters(all: Value) -> Value {
    let Value::Array(all) = all else {
        return json!([]);
    };
    let converted = all.into_iter().map(|mut parameter| {
        let kind = taken(&mut parameter, "schema");
        if let Some(parameter) = parameter.as_object_mut() {
            parameter.remove("schema");
            parameter.extend(kind);
        }
        parameter
    });
    converted.collect()
}

fn schema(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return schema;
    };
    schema.retain(|word, _| !UNKNOWN.contains(&word.as_str()));
    // A reference may stand beside what is said of it.
    if let Some(Value::Array(parts)) = schema.get("allOf")
        && let [Value::Object(one)] = parts.as_slice()
    {
        let one = one.clone();
        schema.remove("allOf");
        schema.extend(one);
    }
    let converted = schema.into_iter().map(|(word, value)| {
        let value = match (word.as_str(), value) {
            ("$ref", Value::String(to)) => {
                to.replace("#/components/schemas/", "#/definitions/").into()
            }
            ("properties", Value::Object(fields)) => fields
                .into_iter()
                .map(|(name, field)| (name, self::schema(field)))
                .collect(),
            ("items" | "additionalProperties", value) => self::schema(value),
            ("allOf", Value::Array(parts)) => parts.into_iter().map(self::schema).collect(),
            (_, value) => value,
        };
        (word, value)
    });
    converted.collect()
}
