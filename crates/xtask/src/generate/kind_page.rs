//! A page for each kind, and the page that lists them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};

use super::NOTICE;
use super::fields;
use super::table::{code, prose, table};

/// The page's name in its folder.
pub(super) fn file_name(kind: &CustomResourceDefinition) -> String {
    format!("{}.md", kind.spec.names.kind.to_lowercase())
}

/// The page of one kind.
pub(super) fn page(kind: &CustomResourceDefinition) -> String {
    let mut page = format!(
        "<!-- {NOTICE} -->\n\n# {}\n\n{}",
        kind.spec.names.kind,
        facts(kind)
    );
    for version in &kind.spec.versions {
        page += &section(kind, version);
    }
    page.trim_end().to_owned() + "\n"
}

/// The page that lists all kinds.
pub(super) fn index(kinds: &[CustomResourceDefinition]) -> String {
    let rows: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let name = &kind.spec.names.kind;
            let schema = kind.spec.versions.first().and_then(schema);
            let description = schema.and_then(|schema| schema.description.as_deref());
            [
                format!("[{name}]({})", file_name(kind)),
                code(&kind.spec.group),
                prose(description.unwrap_or_default()),
            ]
        })
        .collect();
    let table = table(["kind", "group", "what it is"], &rows);
    format!("<!-- {NOTICE} -->\n\n# Kinds\n\n{}\n", table.trim_end())
}

/// What `kubectl api-resources` knows.
fn facts(kind: &CustomResourceDefinition) -> String {
    let names = &kind.spec.names;
    let list = |words: &Option<Vec<String>>| {
        let words = words.iter().flatten().map(|word| code(word));
        words.collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<_> = [
        ("scope", kind.spec.scope.to_lowercase()),
        ("plural", code(&names.plural)),
        ("short names", list(&names.short_names)),
        ("categories", list(&names.categories)),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| [name.to_owned(), value])
    .collect();
    table(["", ""], &rows)
}

fn section(kind: &CustomResourceDefinition, version: &CustomResourceDefinitionVersion) -> String {
    let mut text = format!("## {}/{}\n\n", kind.spec.group, version.name);
    let Some(schema) = schema(version) else {
        return text;
    };
    if let Some(description) = &schema.description {
        text += &paragraph(&prose(description));
    }
    text += &columns(version);
    for (name, part) in schema.properties.iter().flatten() {
        text += &part_of(name, part);
    }
    text
}

/// `spec`, `status` and what else stands at the top of the object. What every object has is left to Kubernetes.
fn part_of(name: &str, part: &JSONSchemaProps) -> String {
    if ["apiVersion", "kind", "metadata"].contains(&name) {
        return String::new();
    }
    let mut text = format!("### {name}\n\n");
    text.extend(
        part.description
            .as_deref()
            .map(prose)
            .as_deref()
            .map(paragraph),
    );
    text += &list(&fields::rules(part));
    if part.properties.is_none() {
        text += &paragraph(&format!("Type: {}.", fields::type_of(part)));
    }
    text + &table(fields::HEAD, &fields::rows(name, part))
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    paragraph(
        &items
            .iter()
            .map(|item| format!("- {item}"))
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

fn paragraph(text: &str) -> String {
    format!("{text}\n\n")
}

fn columns(version: &CustomResourceDefinitionVersion) -> String {
    let columns = version.additional_printer_columns.iter().flatten();
    let rows: Vec<_> = columns
        .map(|column| {
            [
                column.name.clone(),
                column.type_.clone(),
                code(&column.json_path),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "Columns of `kubectl get`:\n\n{}",
        table(["column", "type", "path"], &rows)
    )
}

fn schema(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceColumnDefinition, CustomResourceDefinitionNames,
        CustomResourceDefinitionSpec, CustomResourceValidation,
    };

    use super::*;

    fn object(description: &str, fields: &[(&str, JSONSchemaProps)]) -> JSONSchemaProps {
        JSONSchemaProps {
            type_: Some("object".to_owned()),
            description: Some(description.to_owned()),
            properties: Some(
                fields
                    .iter()
                    .map(|(name, field)| ((*name).to_owned(), field.clone()))
                    .collect(),
            ),
            ..JSONSchemaProps::default()
        }
    }

    fn kind() -> CustomResourceDefinition {
        let spec = JSONSchemaProps {
            max_properties: Some(1),
            ..object(
                "What it should be.",
                &[("size", JSONSchemaProps::default())],
            )
        };
        let schema = object(
            "A thing.",
            &[("kind", JSONSchemaProps::default()), ("spec", spec)],
        );
        let version = CustomResourceDefinitionVersion {
            name: "v1".to_owned(),
            schema: Some(CustomResourceValidation {
                open_api_v3_schema: Some(schema),
            }),
            additional_printer_columns: Some(vec![CustomResourceColumnDefinition {
                name: "Size".to_owned(),
                type_: "integer".to_owned(),
                json_path: ".spec.size".to_owned(),
                ..CustomResourceColumnDefinition::default()
            }]),
            ..CustomResourceDefinitionVersion::default()
        };
        let names = CustomResourceDefinitionNames {
            kind: "Thing".to_owned(),
            plural: "things".to_owned(),
            short_names: Some(vec!["th".to_owned()]),
            ..CustomResourceDefinitionNames::default()
        };
        CustomResourceDefinition {
            spec: CustomResourceDefinitionSpec {
                group: "example.org".to_owned(),
                scope: "Namespaced".to_owned(),
                names,
                versions: vec![version],
                ..CustomResourceDefinitionSpec::default()
            },
            ..CustomResourceDefinition::default()
        }
    }

    #[test]
    fn a_page_tells_names_columns_and_fields() {
        let page = page(&kind());
        let body = page.split_once("-->").unwrap().1;
        assert_eq!(
            body,
            "

# Thing

|  |  |
| --- | --- |
| scope | namespaced |
| plural | `things` |
| short names | `th` |

## example.org/v1

A thing.

Columns of `kubectl get`:

| column | type | path |
| --- | --- | --- |
| Size | integer | `.spec.size` |

### spec

What it should be.

- entries at most 1

| field | type | required | default | rules | description |
| --- | --- | --- | --- | --- | --- |
| `spec.size` | any value | no |  |  |  |
"
        );
    }

    #[test]
    fn the_index_links_to_each_page() {
        let index = index(&[kind()]);
        assert!(
            index.ends_with("| [Thing](thing.md) | `example.org` | A thing. |\n"),
            "{index}"
        );
    }
}
