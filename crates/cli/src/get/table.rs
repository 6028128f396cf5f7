//! A table as the API makes it, laid out for people.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::kind::Kind;
use crate::output::{BAD, GOOD, HEADING, UNSURE, harmless, styled};

/// What stands between columns, as kubectl has it.
const GAP: &str = "   ";
/// What stands where the API has nothing to say, so that columns can be counted.
const NOTHING: &str = "<none>";

/// What a row says beside the cells of the API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    /// The kind in front of every name.
    pub(super) kind: Option<&'a Kind>,
    /// The namespace in front of everything.
    pub(super) namespace: bool,
}

/// Heads and rows, ready to be printed.
#[derive(Debug, Default)]
pub(super) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// `meta.k8s.io/v1` Table, as far as it is shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    column_definitions: Vec<Column>,
    #[serde(default)]
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    /// Above 0: for those who ask for more.
    #[serde(default)]
    priority: i64,
}

#[derive(Deserialize)]
struct Row {
    cells: Vec<Value>,
    #[serde(default)]
    object: Value,
}

impl Table {
    /// Puts the pages of one list together.
    pub(super) fn read(pages: Vec<Value>, layout: Layout<'_>) -> anyhow::Result<Table> {
        let mut table = Table::default();
        for page in pages {
            let page: Page = serde_json::from_value(page)?;
            if table.heads.is_empty() {
                table.heads = layout.heads(&page.column_definitions);
            }
            let rows = page.rows.iter();
            table
                .rows
                .extend(rows.map(|row| layout.cells(row, &page.column_definitions)));
        }
        Ok(table)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How wide each column is.
    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .chain([&self.heads[column]])
                .map(|cell| cell.width())
                .max()
        };
        (0..self.heads.len())
            .map(|column| width(column).unwrap_or_default())
            .collect()
    }
}

impl Layout<'_> {
    fn heads(self, columns: &[Column]) -> Vec<String> {
        let shown = columns.iter().filter(|column| column.priority == 0);
        let names = shown.map(|column| harmless(&column.name).to_uppercase());
        let namespace = self.namespace.then(|| "NAMESPACE".to_owned());
        namespace.into_iter().chain(names).collect()
    }

    fn cells(self, row: &Row, columns: &[Column]) -> Vec<String> {
        let shown = row
            .cells
            .iter()
            .zip(columns)
            .filter(|(_, column)| column.priority == 0);
        let mut cells: Vec<String> = shown.map(|(value, _)| cell(value)).collect();
        if let (Some(kind), Some(name)) = (self.kind, cells.first_mut()) {
            // The first column of every table is the name.
            *name = format!("{}/{name}", kind.prefix());
        }
        let namespace = self
            .namespace
            .then(|| cell(&row.object["metadata"]["namespace"]));
        namespace.into_iter().chain(cells).collect()
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => NOTHING.to_owned(),
        Value::String(text) if text.is_empty() => NOTHING.to_owned(),
        Value::String(text) => harmless(text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            harmless(&value.to_string())
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        writeln!(
            f,
            "{}",
            styled(HEADING, line(&self.heads, &widths, str::to_owned))
        )?;
        for row in &self.rows {
            writeln!(f, "{}", line(row, &widths, coloured))?;
        }
        Ok(())
    }
}

/// One line; the last cell has nothing behind it.
fn line(cells: &[String], widths: &[usize], shown: impl Fn(&str) -> String) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if column > 0 {
            line.push_str(GAP);
        }
        line.push_str(&shown(cell));
        if column + 1 < cells.len() {
            line.extend(std::iter::repeat_n(' ', width - cell.width()));
        }
    }
    line
}

/// What conditions say is seen at a glance.
fn coloured(cell: &str) -> String {
    match cell {
        "True" => styled(GOOD, cell),
        "False" => styled(BAD, cell),
        "Unknown" => styled(UNSURE, cell),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests;
