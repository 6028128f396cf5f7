//! Tables: objects as rows, so that kubectl can print kinds it has never heard of.
//!
//! Custom kinds say in their definition which columns they have and where the cells come from.
//! Built-in kinds have cells that no path leads to; a function that is handed in makes them.

mod cell;
mod json_path;
pub(crate) mod partial;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::media_type::MetaVersion;
use crate::object::{Object, ObjectExt};
use crate::refusal::Refusal;
use crate::resource::{Column, Origin, Resource};
use json_path::JsonPath;

/// How the cells of a built-in kind are made: one for each of the kind's columns, the name included.
pub(crate) type BuiltinCells<'a> = &'a dyn Fn(&Resource, &Object, Timestamp) -> Option<Vec<Value>>;

/// What a row holds besides its cells: `includeObject` of the query.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

/// Whether a table says what its columns mean. Of the tables of one watch only the first does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Headers {
    Shown,
    Omitted,
}

/// Everything that decides how objects of one kind become a table.
pub(crate) struct Tabulator<'a> {
    columns: Columns<'a>,
    now: Timestamp,
    include: IncludeObject,
    version: MetaVersion,
}

impl IncludeObject {
    /// Parses the parameter of a query; empty is the default.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(Refusal::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', 'None', or empty",
                Value::from(other)
            ))),
        }
    }
}

impl<'a> Tabulator<'a> {
    pub(crate) fn new(
        resource: &'a Resource,
        builtin: BuiltinCells<'a>,
        now: Timestamp,
        include: IncludeObject,
        version: MetaVersion,
    ) -> Self {
        let columns = Columns::of(resource, builtin);
        Self {
            columns,
            now,
            include,
            version,
        }
    }

    /// The table of a list. `metadata` is the list's own: its revision, and how to go on reading.
    pub(crate) fn list<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o Object>,
        metadata: &Value,
    ) -> Value {
        let rows: Vec<Value> = objects.into_iter().map(|object| self.row(object)).collect();
        self.table(metadata, Headers::Shown, &rows)
    }

    /// The table of one object, alone or in an event of a watch.
    pub(crate) fn object(&self, object: &Object, headers: Headers) -> Value {
        let mut metadata = json!({});
        if let Some(revision) = object.metadata_text("resourceVersion") {
            metadata["resourceVersion"] = revision.into();
        }
        self.table(&metadata, headers, &[self.row(object)])
    }

    fn table(&self, metadata: &Value, headers: Headers, rows: &[Value]) -> Value {
        let definitions = match headers {
            Headers::Shown => self.columns.definitions(),
            Headers::Omitted => Value::Null,
        };
        json!({
            "kind": "Table",
            "apiVersion": self.version.api_version(),
            "metadata": metadata,
            "columnDefinitions": definitions,
            // As Go writes a list that was never filled.
            "rows": (!rows.is_empty() || !self.columns.are_usual()).then_some(rows),
        })
    }

    fn row(&self, object: &Object) -> Value {
        let shown = match self.include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => partial::object(object, self.version),
            IncludeObject::Object => Value::Object(object.clone()),
        };
        json!({ "cells": self.columns.cells(object, self.now), "object": shown })
    }
}

/// The columns of a kind and how their cells come about.
enum Columns<'a> {
    /// By path, after the name.
    Custom(Vec<(Column, JsonPath)>),
    Builtin(&'a Resource, BuiltinCells<'a>),
    /// A built-in kind without columns of its own: the name and when it was made.
    Plain,
}

impl<'a> Columns<'a> {
    fn of(resource: &'a Resource, builtin: BuiltinCells<'a>) -> Self {
        match resource.origin {
            Origin::Custom if resource.columns.is_empty() => Self::Custom(by_path(&[age_column()])),
            Origin::Custom => Self::Custom(by_path(&resource.columns)),
            Origin::Builtin if resource.columns.is_empty() => Self::Plain,
            Origin::Builtin => Self::Builtin(resource, builtin),
        }
    }

    /// Whether they are those of a kind that nobody made columns for.
    fn are_usual(&self) -> bool {
        match self {
            Self::Custom(_) => false,
            Self::Plain => true,
            Self::Builtin(resource, _) => resource
                .columns
                .get(1)
                .is_some_and(|column| column.name == "Created At"),
        }
    }

    fn definitions(&self) -> Value {
        let name = || column("Name", "string", "name", NAME_DESCRIPTION);
        match self {
            Self::Custom(columns) => {
                let rest = columns.iter().map(|(column, _)| custom_definition(column));
                std::iter::once(definition(&name())).chain(rest).collect()
            }
            Self::Builtin(resource, _) => resource.columns.iter().map(definition).collect(),
            Self::Plain => {
                let created = column("Created At", "date", "", CREATED_DESCRIPTION);
                [name(), created].iter().map(definition).collect()
            }
        }
    }

    fn cells(&self, object: &Object, now: Timestamp) -> Vec<Value> {
        let name = || Value::from(object.name());
        match self {
            Self::Custom(columns) => {
                let root = Value::Object(object.clone());
                let cell = |(column, path): &(Column, JsonPath)| cell::at(path, &root, column, now);
                std::iter::once(name())
                    .chain(columns.iter().map(cell))
                    .collect()
            }
            Self::Builtin(resource, cells) => {
                cells(resource, object, now).unwrap_or_else(|| vec![name()])
            }
            Self::Plain => {
                let created = object.metadata_text("creationTimestamp");
                vec![name(), created.unwrap_or("0001-01-01T00:00:00Z").into()]
            }
        }
    }
}

/// The columns up to the first whose path makes no sense. Definitions are hardly checked for that,
/// and a table with fewer columns is better than none.
fn by_path(columns: &[Column]) -> Vec<(Column, JsonPath)> {
    let parsed = columns.iter().map(|column| {
        let path = JsonPath::parse(&column.source).ok()?;
        Some((column.clone(), path))
    });
    parsed.map_while(|column| column).collect()
}

fn age_column() -> Column {
    Column {
        source: ".metadata.creationTimestamp".to_owned(),
        ..column("Age", "date", "", CREATED_DESCRIPTION)
    }
}

fn column(name: &str, kind: &str, format: &str, description: &str) -> Column {
    let [name, kind, format, description] = [name, kind, format, description].map(str::to_owned);
    Column {
        name,
        kind,
        format,
        description,
        priority: 0,
        source: String::new(),
    }
}

fn custom_definition(column: &Column) -> Value {
    let mut definition = definition(column);
    if column.description.is_empty() {
        let source = &column.source;
        definition["description"] =
            format!("Custom resource definition column (in JSONPath format): {source}").into();
    }
    definition
}

fn definition(column: &Column) -> Value {
    json!({
        "name": column.name,
        "type": column.kind,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    })
}

const NAME_DESCRIPTION: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const CREATED_DESCRIPTION: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
