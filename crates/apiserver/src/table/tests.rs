//! Objects in, tables out.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Headers, IncludeObject, Tabulator, fixtures, partial};
use crate::media_type::MetaVersion;
use crate::object::Object;
use crate::resource::{Column, Resource, Scope};

pub(super) fn column(name: &str, kind: &str, source: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        source: source.to_owned(),
    }
}

fn gadgets(columns: &[Column]) -> Resource {
    let mut resource = fixtures::resource("views.example.org", "v1", "Gadget", "gadgets");
    resource.columns = columns.into();
    resource
}

pub(super) fn no_cells(_: &Resource, _: &Object, _: Timestamp) -> Option<Vec<Value>> {
    None
}

fn now() -> Timestamp {
    "2026-01-10T00:00:00Z".parse().unwrap()
}

fn tabulator(resource: &Resource, include: IncludeObject) -> Tabulator<'_> {
    Tabulator::new(resource, &no_cells, now(), include, MetaVersion::V1)
}

pub(super) fn gadget() -> Object {
    let gadget = json!({
        "apiVersion": "views.example.org/v1",
        "kind": "Gadget",
        "metadata": {
            "name": "one",
            "resourceVersion": "7",
            "creationTimestamp": "2026-01-04T21:00:00Z",
            "labels": {"a.b/c": "lab"},
        },
        "spec": {
            "color": "red", "size": 3, "f": 1.5, "big": 1.234_567_890_123_456_8e22, "small": 1.23e-6,
            "whole": 2.0, "lit": true, "nul": null, "map": {"b": 1, "a": ["x"]},
            "list": ["p", "q", "r"], "html": {"x": "<a&b>"}, "empty": "", "one": {"two": 2},
            "when": "2026-01-09T23:58:00Z", "future": "2040-01-01T00:00:00Z",
            "tiny": 1e-5, "rows": [{"l": ["p", "q"], "n": 1}], "loose": "2026-01-09 23:58:00Z", "none": [],
        },
        "status": {"conditions": [
            {"type": "Synced", "status": "False", "n": 3, "b": false, "message": "Synced"},
            {"type": "Ready", "status": "True", "n": 5, "b": true, "f": 2.5},
        ]},
    });
    gadget.as_object().unwrap().clone()
}

/// The cell of one column of the gadget.
fn check(kind: &str, source: &str, expected: impl Into<Value>) {
    let expected: Value = expected.into();
    let resource = gadgets(&[column("X", kind, source)]);
    let table = tabulator(&resource, IncludeObject::None).object(&gadget(), Headers::Omitted);
    assert_eq!(
        table["rows"][0]["cells"],
        json!(["one", expected]),
        "{kind} {source}"
    );
}

#[test]
fn a_cell_has_the_type_of_its_column_or_is_empty() {
    check("string", ".spec.color", json!("red"));
    check("integer", ".spec.color", Value::Null);
    check("integer", ".spec.size", json!(3));
    check("string", ".spec.size", json!("3"));
    check("number", ".spec.size", json!(3));
    check("number", ".spec.f", json!(1.5));
    check("number", ".spec.whole", json!(2));
    check("number", ".spec.color", Value::Null);
    check("integer", ".spec.f", json!(1));
    check("string", ".spec.f", json!("1.5"));
    check("string", ".spec.big", json!("1.2345678901234568e+22"));
    check("integer", ".spec.big", json!(i64::MIN));
    check("string", ".spec.small", json!("1.23e-06"));
    check("string", ".spec.tiny", json!("1e-05"));
    check("boolean", ".spec.lit", json!(true));
    check("boolean", ".spec.color", Value::Null);
    check("string", ".spec.lit", json!("true"));
    check("string", ".spec.missing.at.all", Value::Null);
    check("integer", ".spec.nul", Value::Null);
    check("string", ".spec.empty", json!(""));
    check("string", ".spec.map", json!(r#"{"a":["x"],"b":1}"#));
    check(
        "string",
        ".spec.html",
        json!(r#"{"x":"\u003ca\u0026b\u003e"}"#),
    );
    check("unheard-of", ".spec.color", Value::Null);
}

#[test]
fn dates_are_shown_as_ages() {
    check("date", ".spec.when", json!("2m"));
    check("date", ".metadata.creationTimestamp", json!("5d3h"));
    check("date", ".spec.future", json!("<invalid>"));
    check("date", ".spec.color", json!("<invalid>"));
    check("date", ".spec.loose", json!("<invalid>"));
    check("date", ".spec.empty", json!("<unknown>"));
    check("date", ".spec.size", Value::Null);
    check("date", ".spec.never", Value::Null);
}

#[test]
fn paths_lead_through_lists() {
    check("string", ".spec.list", json!(r#"["p","q","r"]"#));
    check("string", ".spec.list[*]", json!("p"));
    check("string", ".spec.list[1]", json!("q"));
    check("string", ".spec.list[-1]", json!("r"));
    check("string", ".spec.list[7]", Value::Null);
    check("string", ".spec.list[-7]", Value::Null);
    check("string", ".spec.list[1:]", json!("q"));
    check("string", ".spec.list[:1]", json!("p"));
    check("string", ".spec.list[1:9]", Value::Null);
    check("string", ".spec.list[2:1]", Value::Null);
    check("string", ".spec.list[1:1]", Value::Null);
    check("string", ".spec.list[2,0]", json!("r"));
    check("string", ".spec.list[::2]", json!("p"));
    check("string", ".spec.list[::0]", Value::Null);
    check("string", ".spec.list[9:9,0]", json!("p"));
    check("string", ".spec.list[2:1,0]", Value::Null);
    check("string", ".spec.none[*]", Value::Null);
    check("string", ".spec.color[0]", Value::Null);
    check("string", ".spec.color.x", Value::Null);
}

#[test]
fn filters_keep_what_compares() {
    check(
        "string",
        r#".status.conditions[?(@.type=="Ready")].status"#,
        json!("True"),
    );
    check(
        "string",
        ".status.conditions[?(@.type=='Ready')].status",
        json!("True"),
    );
    check(
        "string",
        ".status.conditions[?(@.type!='Ready')].type",
        json!("Synced"),
    );
    check(
        "string",
        ".status.conditions[?(@.message)].type",
        json!("Synced"),
    );
    check(
        "string",
        ".status.conditions[?(@.nothing)].type",
        Value::Null,
    );
    check("integer", ".status.conditions[?(@.n>3)].n", json!(5));
    check("integer", ".status.conditions[?(@.n>=3)].n", json!(3));
    check("integer", ".status.conditions[?(@.n<5)].n", json!(3));
    check("integer", ".status.conditions[?(@.n<=2)].n", Value::Null);
    check(
        "string",
        ".status.conditions[?(@.b==true)].type",
        json!("Ready"),
    );
    check(
        "string",
        ".status.conditions[?(@.f>1.5)].type",
        json!("Ready"),
    );
    check(
        "string",
        ".status.conditions[?(@.type==@.message)].type",
        json!("Synced"),
    );
    check(
        "string",
        ".status.conditions[?(@.type==')')].type",
        Value::Null,
    );
    check("integer", ".spec.rows[?(@.l[0]=='p')].n", json!(1));
    check("integer", ".spec.rows[?(@.l[*]=='p')].n", Value::Null);
    // An integer and a fraction cannot be compared, nor can an object be filtered.
    check("string", ".status.conditions[?(@.n>1.5)].type", Value::Null);
    check("string", ".spec.map[?(@.a==1)].b", Value::Null);
    check("string", ".status.conditions[?(@.n=>1)].type", Value::Null);
}

#[test]
fn paths_lead_anywhere_else_too() {
    check("string", r".metadata.labels['a\.b/c']", json!("lab"));
    check("string", r".metadata.labels.a\.b/c", json!("lab"));
    check("string", ".metadata.labels['a.b/c']", Value::Null);
    check("string", "..color", json!("red"));
    check("string", ".spec.one.*", json!("2"));
    check("string", ".kind", json!("Gadget"));
    check("string", ".", Value::Null);
    check("string", ".spec.color} and {.spec.size", json!("red"));
    check("string", ".spec range", Value::Null);
}

#[test]
fn columns_end_at_the_first_path_that_is_none() {
    for bad in [".b[", ".b[?(@.x", ".b[x]", ".b[1:2:3:4]", "....", ".b['a',"] {
        let sources = [".spec.color", bad, ".kind"];
        let columns: Vec<Column> = sources.map(|source| column("X", "string", source)).into();
        let resource = gadgets(&columns);
        let table = tabulator(&resource, IncludeObject::None).object(&gadget(), Headers::Shown);
        assert_eq!(table["rows"][0]["cells"], json!(["one", "red"]), "{bad}");
        assert_eq!(
            table["columnDefinitions"].as_array().unwrap().len(),
            2,
            "{bad}"
        );
    }
}

#[test]
fn a_kind_without_columns_shows_name_and_age() {
    let resource = gadgets(&[]);
    let table =
        tabulator(&resource, IncludeObject::None).list([&gadget()], &json!({"continue": "x"}));
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(table["metadata"], json!({"continue": "x"}));
    assert_eq!(
        table["rows"],
        json!([{"cells": ["one", "5d3h"], "object": null}])
    );
    let names: Vec<&Value> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| &column["name"])
        .collect();
    assert_eq!(names, ["Name", "Age"]);
}

#[test]
fn definitions_describe_the_columns() {
    let mut size = column("Size", "integer", ".spec.size");
    size.format = "int32".to_owned();
    size.priority = 1;
    let mut color = column("Color", "string", ".spec.color");
    color.description = "What it looks like".to_owned();
    let resource = gadgets(&[size, color]);
    let table = tabulator(&resource, IncludeObject::None).list([], &json!({}));
    assert_eq!(table["rows"], json!([]));
    assert_eq!(
        table["columnDefinitions"][1],
        json!({
            "name": "Size", "type": "integer", "format": "int32", "priority": 1,
            "description": "Custom resource definition column (in JSONPath format): .spec.size",
        })
    );
    assert_eq!(
        table["columnDefinitions"][2]["description"],
        "What it looks like"
    );
}

#[test]
fn rows_hold_as_much_of_the_object_as_was_asked_for() {
    let resource = gadgets(&[]);
    let row = |include| {
        let table = tabulator(&resource, include).object(&gadget(), Headers::Omitted);
        assert_eq!(table["columnDefinitions"], Value::Null);
        assert_eq!(table["metadata"], json!({"resourceVersion": "7"}));
        table["rows"][0]["object"].clone()
    };
    assert_eq!(row(IncludeObject::None), Value::Null);
    assert_eq!(
        row(IncludeObject::Metadata),
        partial::object(&gadget(), MetaVersion::V1)
    );
    assert_eq!(row(IncludeObject::Object), Value::Object(gadget()));
    assert_eq!(IncludeObject::parse("").unwrap(), IncludeObject::Metadata);
    assert_eq!(IncludeObject::parse("None").unwrap(), IncludeObject::None);
    assert_eq!(
        IncludeObject::parse("Object").unwrap(),
        IncludeObject::Object
    );
    assert_eq!(
        IncludeObject::parse("Foo").unwrap_err().message,
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": must be 'Metadata', 'Object', 'None', or empty"
    );
}

#[test]
fn built_in_kinds_bring_their_own_cells() {
    let mut resource = fixtures::builtin("", "ConfigMap", "configmaps", Scope::Namespaced);
    let plain = tabulator(&resource, IncludeObject::None).object(&gadget(), Headers::Shown);
    assert_eq!(plain["columnDefinitions"][1]["name"], "Created At");
    assert_eq!(
        plain["rows"][0]["cells"],
        json!(["one", "2026-01-04T21:00:00Z"])
    );

    resource.columns = [
        column("Name", "string", "name"),
        column("Data", "integer", "data"),
    ]
    .into();
    let cells = |_: &Resource, _: &Object, _: Timestamp| Some(vec![json!("one"), json!(2)]);
    let tabulator = Tabulator::new(
        &resource,
        &cells,
        now(),
        IncludeObject::None,
        MetaVersion::V1Beta1,
    );
    let table = tabulator.object(&gadget(), Headers::Shown);
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1beta1");
    assert_eq!(table["columnDefinitions"][1]["name"], "Data");
    assert_eq!(table["rows"][0]["cells"], json!(["one", 2]));
}

#[test]
fn metadata_alone_is_a_kind_of_its_own() {
    let metadata = gadget()["metadata"].clone();
    let expected = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata});
    assert_eq!(partial::object(&gadget(), MetaVersion::V1), expected);
    let list = partial::list(
        [&gadget()],
        &json!({"resourceVersion": "9"}),
        MetaVersion::V1,
    );
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["metadata"], json!({"resourceVersion": "9"}));
    assert_eq!(list["items"], json!([expected]));
}
