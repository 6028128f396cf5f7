//! Tables of the API as people see them.

use anstream::adapter::strip_str;
use serde_json::json;

use super::*;

const BARE: Layout<'static> = Layout {
    kind: None,
    namespace: false,
};

fn columns() -> Value {
    json!([
        { "name": "Name", "type": "string", "priority": 0 },
        { "name": "data", "type": "string", "priority": 0 },
        { "name": "published", "type": "string" },
        { "name": "detail", "type": "string", "priority": 1 },
    ])
}

fn row(namespace: &str, cells: [&str; 4]) -> Value {
    json!({ "cells": cells, "object": { "metadata": { "namespace": namespace } } })
}

fn page(rows: &[Value]) -> Value {
    json!({ "kind": "Table", "columnDefinitions": columns(), "rows": rows })
}

#[track_caller]
fn check(pages: Vec<Value>, layout: Layout<'_>, lines: &[&str]) {
    let table = Table::read(pages, layout).unwrap().to_string();
    let plain = strip_str(&table).to_string();
    assert_eq!(plain.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn columns_are_the_apis_and_stand_straight() {
    let rows = [
        row("web", ["www", "192.0.2.1", "True", "x"]),
        row("web", ["a-longer-name", "bücher 書籍", "False", "x"]),
    ];
    check(
        vec![page(&rows)],
        BARE,
        &[
            "NAME            DATA          PUBLISHED",
            "www             192.0.2.1     True",
            "a-longer-name   bücher 書籍   False",
        ],
    );
}

#[test]
fn pages_make_one_table() {
    let (first, second) = (
        row("a", ["one", "1", "True", ""]),
        row("b", ["two", "2", "", ""]),
    );
    check(
        vec![page(&[first]), page(&[second])],
        Layout {
            namespace: true,
            ..BARE
        },
        &[
            "NAMESPACE   NAME   DATA   PUBLISHED",
            "a           one    1      True",
            "b           two    2      <none>",
        ],
    );
}

#[test]
fn names_say_their_kind_where_there_are_several() {
    let rows = [row("web", ["www", "1", "Unknown", ""])];
    check(
        vec![page(&rows)],
        Layout {
            kind: Some(&Kind::of::<api::Record>()),
            ..BARE
        },
        &[
            "NAME                   DATA   PUBLISHED",
            "record.kubi.zone/www   1      Unknown",
        ],
    );
}

#[test]
fn cells_cannot_command_the_terminal() {
    let rows = [row("web", ["www", "\u{1b}[2J\nnext", "True", ""])];
    check(
        vec![page(&rows)],
        BARE,
        &[
            "NAME   DATA              PUBLISHED",
            "www    \\u{1b}[2J\\nnext   True",
        ],
    );
}

#[test]
fn conditions_are_coloured_and_nothing_else() {
    let rows = [row("web", ["www", "True story", "False", ""])];
    let table = Table::read(vec![page(&rows)], BARE).unwrap().to_string();
    let last = table.lines().last().unwrap();
    assert_eq!(
        last,
        format!("www    True story   {}", styled(BAD, "False"))
    );
}
