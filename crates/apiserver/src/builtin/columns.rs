//! The columns of the tables that kubectl prints, read from `columns.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::cells::Cell;
use super::definitions::{self, Definitions};
use super::kind::Kind;
use super::rows;
use crate::resource::Column;

/// A column as the table has it.
pub(super) struct Plan {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    wide: bool,
    description: &'static str,
    pub(super) cell: Cell,
}

/// The columns of a kind, with where their cells come from.
pub(super) fn plans(kind: Kind) -> &'static [Plan] {
    static ALL: LazyLock<HashMap<&'static str, Vec<Plan>>> = LazyLock::new(read);
    ALL.get(kind.facts().kind)
        .map(Vec::as_slice)
        .expect("the table has columns for every kind")
}

/// The columns of a kind. Their `source` is empty: [`super::cells()`] fills whole rows.
pub(super) fn of(kind: Kind) -> Vec<Column> {
    let definitions = definitions::all();
    let column = |plan: &Plan| Column {
        name: plan.name.to_owned(),
        kind: plan.kind.to_owned(),
        format: plan.format.to_owned(),
        description: match plan.description.strip_prefix('.') {
            Some(path) => described(definitions, kind, path),
            None => plan.description.to_owned(),
        },
        priority: i32::from(plan.wide),
        source: String::new(),
    };
    plans(kind).iter().map(column).collect()
}

fn read() -> HashMap<&'static str, Vec<Plan>> {
    let mut all: HashMap<&'static str, Vec<Plan>> = HashMap::new();
    for (kind, line) in rows::of(include_str!("columns.txt")) {
        all.entry(kind).or_default().push(plan(line));
    }
    all
}

fn plan(line: &'static str) -> Plan {
    let mut parts = line.splitn(3, '|').map(str::trim);
    let mut part = || parts.next().unwrap_or_default();
    let (name, description, cell) = (part(), part(), part());
    let (wide, name) = match name.strip_prefix('+') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let (name, kind) = name.split_once(':').unwrap_or((name, "string"));
    let made = ".metadata.creationTimestamp";
    let (kind, description, cell) = match (name, cell) {
        ("Name", "") => (kind, ".metadata.name", "metadata.name"),
        ("Age", "") => (kind, made, "since metadata.creationTimestamp ?? <unknown>"),
        ("Created At", "") => ("date", made, "metadata.creationTimestamp"),
        (_, cell) => (kind, description, cell),
    };
    Plan {
        name,
        kind,
        format: if name == "Name" { "name" } else { "" },
        wide,
        description,
        cell: Cell::read(cell),
    }
}

/// The description of a field such as `spec.type`. The younger form of Events has those of the older one.
fn described(definitions: &Definitions, kind: Kind, path: &str) -> String {
    let kind = if kind == Kind::NewEvent {
        Kind::Event
    } else {
        kind
    };
    let root = definitions
        .get(definitions.root(kind))
        .expect("every kind has a type");
    let found = path.split('.').try_fold(root, |schema, field| {
        let whole = definitions
            .resolve(schema)
            .map_or(schema, |(_, definition)| definition);
        whole.get("properties")?.get(field)
    });
    let description = found.and_then(|schema| schema.get("description"));
    description
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
