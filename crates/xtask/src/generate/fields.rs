//! The fields of a schema as rows of a table: path, type, required, default, rules, description.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool, ValidationRule,
};

use super::table::{code, prose};

/// The head of the table.
pub(super) const HEAD: [&str; 6] = [
    "field",
    "type",
    "required",
    "default",
    "rules",
    "description",
];

/// One row for each field below `path`, parents before children, in the order of the names.
pub(super) fn rows(path: &str, schema: &JSONSchemaProps) -> Vec<[String; 6]> {
    let required = schema.required.as_deref().unwrap_or_default();
    let properties = schema.properties.iter().flatten();
    properties
        .flat_map(|(name, field)| {
            let path = format!("{path}.{name}");
            let mut found = vec![row(&path, field, required.contains(name))];
            found.extend(below(&path, field));
            found
        })
        .collect()
}

/// What a value is, in words.
pub(super) fn type_of(schema: &JSONSchemaProps) -> String {
    if schema.x_kubernetes_int_or_string == Some(true) {
        return "integer or string".to_owned();
    }
    let name = schema.type_.as_deref().unwrap_or("any value");
    match (name, schema.format.as_deref()) {
        ("array", _) => format!(
            "list of {}",
            items(schema).map_or_else(|| "any value".to_owned(), type_of)
        ),
        ("object", _) => match values(schema) {
            Some(values) => format!("map of {}", type_of(values)),
            None => "object".to_owned(),
        },
        (name, Some(format)) => format!("{name} ({format})"),
        (name, None) => name.to_owned(),
    }
}

/// What the API server refuses, in words; a rule of a list's items says so.
pub(super) fn rules(schema: &JSONSchemaProps) -> Vec<String> {
    let mut rules = own_rules(schema);
    // Items and values that have fields get rows of their own; what is left to say about the others is said here.
    for (part, schema) in [("each item", items(schema)), ("each value", values(schema))] {
        let inner = schema.map(self::rules).unwrap_or_default();
        rules.extend(inner.into_iter().map(|rule| format!("{part}: {rule}")));
    }
    rules
}

fn row(path: &str, field: &JSONSchemaProps, required: bool) -> [String; 6] {
    [
        code(path),
        type_of(field),
        if required { "yes" } else { "no" }.to_owned(),
        field.default.as_ref().map(json).unwrap_or_default(),
        rules(field).join("; "),
        prose(field.description.as_deref().unwrap_or_default()),
    ]
}

fn below(path: &str, field: &JSONSchemaProps) -> Vec<[String; 6]> {
    if let Some(items) = items(field) {
        below_or_rows(&format!("{path}[]"), items)
    } else if let Some(values) = values(field) {
        below_or_rows(&format!("{path}.<key>"), values)
    } else {
        rows(path, field)
    }
}

fn below_or_rows(path: &str, schema: &JSONSchemaProps) -> Vec<[String; 6]> {
    if schema.properties.is_some() {
        rows(path, schema)
    } else {
        below(path, schema)
    }
}

fn own_rules(schema: &JSONSchemaProps) -> Vec<String> {
    let number = |text: &str, value: Option<i64>| value.map(|value| format!("{text} {value}"));
    let bound = |text: &str, value: Option<f64>, exclusive: Option<bool>| {
        value.map(|value| match exclusive {
            Some(true) => format!("{text} {value}, exclusive"),
            Some(false) | None => format!("{text} {value}"),
        })
    };
    [
        schema
            .enum_
            .as_ref()
            .map(|values| format!("one of {}", join(values))),
        schema
            .pattern
            .as_ref()
            .map(|pattern| format!("matches {}", code(pattern))),
        bound("at least", schema.minimum, schema.exclusive_minimum),
        bound("at most", schema.maximum, schema.exclusive_maximum),
        schema
            .multiple_of
            .map(|value| format!("a multiple of {value}")),
        number("length at least", schema.min_length),
        number("length at most", schema.max_length),
        number("items at least", schema.min_items),
        number("items at most", schema.max_items),
        number("entries at least", schema.min_properties),
        number("entries at most", schema.max_properties),
        list_rule(schema),
        flag(
            schema.x_kubernetes_preserve_unknown_fields,
            "other fields are kept",
        ),
        flag(
            schema.x_kubernetes_embedded_resource,
            "a whole Kubernetes object",
        ),
    ]
    .into_iter()
    .flatten()
    .chain(schema.x_kubernetes_validations.iter().flatten().map(cel))
    .collect()
}

fn flag(value: Option<bool>, text: &str) -> Option<String> {
    (value == Some(true)).then(|| text.to_owned())
}

fn list_rule(schema: &JSONSchemaProps) -> Option<String> {
    match schema.x_kubernetes_list_type.as_deref()? {
        "map" => {
            let keys = schema.x_kubernetes_list_map_keys.iter().flatten();
            let keys: Vec<_> = keys.map(|key| code(key)).collect();
            Some(format!("unique by {}", keys.join(" and ")))
        }
        "set" => Some("items are unique".to_owned()),
        _ => None,
    }
}

/// The message people get to see, and the rule behind it.
fn cel(rule: &ValidationRule) -> String {
    let message = rule.message.as_ref().or(rule.message_expression.as_ref());
    match message {
        Some(message) => format!("{} ({})", prose(message), code(&rule.rule)),
        None => code(&rule.rule),
    }
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(items) => Some(items),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}

fn values(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.additional_properties.as_ref()? {
        JSONSchemaPropsOrBool::Schema(values) => Some(values),
        JSONSchemaPropsOrBool::Bool(_) => None,
    }
}

fn join(values: &[JSON]) -> String {
    values.iter().map(json).collect::<Vec<_>>().join(", ")
}

/// Text without its quotes, everything else as JSON.
fn json(value: &JSON) -> String {
    let text = value.0.as_str().filter(|text| !text.is_empty());
    code(&text.map_or_else(|| value.0.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_type(name: &str) -> JSONSchemaProps {
        JSONSchemaProps {
            type_: Some(name.to_owned()),
            ..JSONSchemaProps::default()
        }
    }

    fn object(fields: &[(&str, JSONSchemaProps)]) -> JSONSchemaProps {
        JSONSchemaProps {
            properties: Some(
                fields
                    .iter()
                    .map(|(name, field)| ((*name).to_owned(), field.clone()))
                    .collect(),
            ),
            ..of_type("object")
        }
    }

    fn list(items: JSONSchemaProps) -> JSONSchemaProps {
        JSONSchemaProps {
            items: Some(JSONSchemaPropsOrArray::Schema(Box::new(items))),
            ..of_type("array")
        }
    }

    fn map(values: JSONSchemaProps) -> JSONSchemaProps {
        JSONSchemaProps {
            additional_properties: Some(JSONSchemaPropsOrBool::Schema(Box::new(values))),
            ..of_type("object")
        }
    }

    #[test]
    fn fields_are_found_in_objects_lists_and_maps() {
        let leaf = object(&[("name", of_type("string"))]);
        let schema = object(&[
            ("deep", list(list(leaf.clone()))),
            ("labels", map(of_type("string"))),
            ("sites", map(leaf)),
        ]);
        let paths: Vec<_> = rows("spec", &schema)
            .into_iter()
            .map(|[path, ..]| path)
            .collect();
        assert_eq!(
            paths,
            [
                "`spec.deep`",
                "`spec.deep[][].name`",
                "`spec.labels`",
                "`spec.sites`",
                "`spec.sites.<key>.name`",
            ]
        );
    }

    #[test]
    fn a_type_is_told_in_words() {
        let timestamp = JSONSchemaProps {
            format: Some("date-time".to_owned()),
            ..of_type("string")
        };
        let port = JSONSchemaProps {
            x_kubernetes_int_or_string: Some(true),
            ..JSONSchemaProps::default()
        };
        for (schema, expected) in [
            (of_type("boolean"), "boolean"),
            (timestamp.clone(), "string (date-time)"),
            (port, "integer or string"),
            (list(timestamp), "list of string (date-time)"),
            (map(list(of_type("string"))), "map of list of string"),
            (JSONSchemaProps::default(), "any value"),
        ] {
            assert_eq!(type_of(&schema), expected);
        }
    }

    #[test]
    fn a_row_says_required_default_rules_and_meaning() {
        let ttl = JSONSchemaProps {
            minimum: Some(0.0),
            default: Some(JSON(360.into())),
            description: Some("How long an answer\nmay be kept.".to_owned()),
            x_kubernetes_validations: Some(vec![ValidationRule {
                rule: "self < 10".to_owned(),
                message: Some("must be small".to_owned()),
                ..ValidationRule::default()
            }]),
            ..of_type("integer")
        };
        let schema = JSONSchemaProps {
            required: Some(vec!["ttl".to_owned()]),
            ..object(&[("ttl", ttl)])
        };
        assert_eq!(
            rows("spec", &schema),
            [[
                "`spec.ttl`",
                "integer",
                "yes",
                "`360`",
                "at least 0; must be small (`self < 10`)",
                "How long an answer may be kept.",
            ]
            .map(str::to_owned)]
        );
    }

    #[test]
    fn rules_of_items_are_told_with_the_list() {
        let item = JSONSchemaProps {
            enum_: Some(vec![JSON("A".into()), JSON("AAAA".into())]),
            ..of_type("string")
        };
        let list = JSONSchemaProps {
            max_items: Some(2),
            x_kubernetes_list_type: Some("set".to_owned()),
            ..list(item)
        };
        assert_eq!(
            rules(&list),
            [
                "items at most 2",
                "items are unique",
                "each item: one of `A`, `AAAA`"
            ]
        );
    }
}
