//! The life of a record. That it is the one kube-apiserver keeps is in `on_cluster`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "data reads better without a reference before each piece of it"
)]

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, record};
use crate::object::{Object, ObjectExt};
use crate::patch::oracle::{into_object, read_schema};
use crate::schema::Schema;

const VERSION: &str = "example.com/v1";

/// Records that `manager` made `new` of `old` in the given second, and returns the record.
fn write(old: Option<&Object>, new: &Object, manager: &str, second: i64) -> Object {
    write_with(&Schema::default(), old, new, manager, second, "")
}

fn write_with(
    schema: &Schema,
    old: Option<&Object>,
    new: &Object,
    manager: &str,
    second: i64,
    subresource: &str,
) -> Object {
    let now = Timestamp::from_second(second).unwrap();
    let mut new = new.clone();
    record(
        schema,
        old,
        &mut new,
        &Change {
            manager,
            api_version: VERSION,
            subresource,
            now,
        },
    );
    new
}

/// An object that exists, with this spec and record.
fn object(spec: Value, managed_fields: Value) -> Object {
    let mut object = json!({ "apiVersion": VERSION, "kind": "Thing", "metadata": { "name": "a", "uid": "1" }, "spec": spec });
    if !managed_fields.is_null() {
        object["metadata"]["managedFields"] = managed_fields;
    }
    into_object(object)
}

fn entry(manager: &str, second: i64, fields: Value) -> Value {
    json!({
        "manager": manager, "operation": "Update", "apiVersion": VERSION, "fieldsType": "FieldsV1",
        "time": Timestamp::from_second(second).unwrap().to_string(), "fieldsV1": fields,
    })
}

fn spec(fields: Value) -> Value {
    json!({ "f:spec": fields })
}

fn managed_fields(object: &Object) -> Value {
    object
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"))
        .cloned()
        .unwrap_or_default()
}

#[test]
fn creator_owns_everything_but_what_names_the_object() {
    let new = into_object(json!({
        "apiVersion": VERSION, "kind": "Thing", "spec": { "a": 1 },
        "metadata": {
            "name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1", "generation": 1, "selfLink": "d",
            "creationTimestamp": null, "labels": { "e": "f" }, "generateName": "g", "deletionTimestamp": "h",
        },
    }));
    let owned = json!({
        "f:spec": { ".": {}, "f:a": {} },
        "f:metadata": { "f:labels": { ".": {}, "f:e": {} }, "f:generateName": {}, "f:deletionTimestamp": {} },
    });
    assert_eq!(
        managed_fields(&write(None, &new, "alice", 1)),
        json!([entry("alice", 1, owned)])
    );
}

#[test]
fn whoever_changes_a_field_takes_it_from_the_others() {
    let old = object(
        json!({ "a": 1, "b": 1 }),
        json!([entry("alice", 1, spec(json!({ "f:a": {}, "f:b": {} })))]),
    );
    let new = object(json!({ "a": 2, "b": 1 }), Value::Null);
    let expected = json!([
        entry("alice", 1, spec(json!({ "f:b": {} }))),
        entry("bob", 2, spec(json!({ "f:a": {} })))
    ]);
    assert_eq!(managed_fields(&write(Some(&old), &new, "bob", 2)), expected);
}

#[test]
fn a_field_that_is_gone_has_no_owner_and_who_owns_nothing_goes() {
    let old = object(
        json!({ "a": 1, "b": 1 }),
        json!([
            entry("alice", 1, spec(json!({ "f:a": {} }))),
            entry("bob", 1, spec(json!({ "f:b": {} }))),
        ]),
    );
    let new = object(json!({ "a": 1 }), Value::Null);
    assert_eq!(
        managed_fields(&write(Some(&old), &new, "carol", 2)),
        json!([entry("alice", 1, spec(json!({ "f:a": {} })))])
    );
}

#[test]
fn a_write_that_changes_nothing_leaves_the_record_as_it_is() {
    let fields = json!([
        entry(
            "bob",
            1,
            json!({ "f:spec": { "f:set": { "v:\"\\u003c\"": {} }, "f:map": { "k:{\"a\":1}": { ".": {}, "f:x": {} } } } })
        ),
        entry("alice", 2, spec(json!({ "f:a": {} }))),
    ]);
    let old = object(json!({ "a": 1 }), fields.clone());
    for sent in [Value::Null, fields.clone()] {
        let new = object(json!({ "a": 1 }), sent);
        assert_eq!(
            managed_fields(&write(Some(&old), &new, "alice", 3)).to_string(),
            fields.to_string()
        );
    }
}

#[test]
fn entries_come_by_operation_time_and_name() {
    let mut applied = entry("zoe", 9, spec(json!({ "f:z": {} })));
    applied["operation"] = json!("Apply");
    let mut undated = entry("uma", 0, spec(json!({ "f:u": {} })));
    undated.as_object_mut().unwrap().remove("time");
    let mut status = entry("bob", 2, json!({ "f:status": {} }));
    status["subresource"] = json!("status");
    let (bob, alice) = (
        entry("bob", 2, spec(json!({ "f:b": {} }))),
        entry("alice", 2, spec(json!({ "f:a": {} }))),
    );
    let old = object(json!({}), json!([status, bob, applied, alice, undated]));
    let new = object(json!({ "c": 1 }), Value::Null);
    let carol = entry("carol", 1, spec(json!({ "f:c": {} })));
    assert_eq!(
        managed_fields(&write(Some(&old), &new, "carol", 1)),
        json!([applied, undated, carol, alice, bob, status])
    );
}

#[test]
fn who_applied_a_field_loses_it_to_an_update() {
    let mut applied = entry("alice", 1, spec(json!({ "f:a": {}, "f:b": {} })));
    applied["operation"] = json!("Apply");
    let old = object(json!({ "a": 1, "b": 1 }), json!([applied]));
    let new = object(json!({ "a": 2, "b": 1 }), Value::Null);
    let found = managed_fields(&write(Some(&old), &new, "alice", 2));
    applied["fieldsV1"] = spec(json!({ "f:b": {} }));
    assert_eq!(
        found,
        json!([applied, entry("alice", 2, spec(json!({ "f:a": {} })))])
    );
}

#[test]
fn whoever_writes_again_is_younger() {
    let old = object(
        json!({ "a": 1 }),
        json!([entry("alice", 1, spec(json!({ "f:a": {} })))]),
    );
    let new = object(json!({ "a": 1, "b": 1 }), Value::Null);
    let expected = json!([entry("alice", 2, spec(json!({ "f:a": {}, "f:b": {} })))]);
    assert_eq!(
        managed_fields(&write(Some(&old), &new, "alice", 2)),
        expected
    );
}

#[test]
fn who_applies_is_one_whatever_the_version() {
    let applied = |version: &str, fields: Value| {
        let mut entry = entry("alice", 1, spec(fields));
        entry["operation"] = json!("Apply");
        entry["apiVersion"] = json!(version);
        entry
    };
    let last = applied("example.com/v2", json!({ "f:b": {} }));
    let old = object(
        json!({}),
        json!([applied("example.com/v1", json!({ "f:a": {} })), last]),
    );
    let new = object(json!({}), Value::Null);
    assert_eq!(
        managed_fields(&write(Some(&old), &new, "bob", 2)),
        json!([last])
    );
}

#[test]
fn record_is_forgotten_on_request_and_stays_forgotten() {
    let old = object(
        json!({ "a": 1 }),
        json!([entry("alice", 1, spec(json!({ "f:a": {} })))]),
    );
    for reset in [
        json!([]),
        json!([{}]),
        json!([{ "manager": "", "time": null }]),
    ] {
        let new = object(json!({ "a": 2 }), reset);
        let found = write(Some(&old), &new, "bob", 2);
        assert_eq!(managed_fields(&found), Value::Null);
        let next = write(
            Some(&found),
            &object(json!({ "a": 3 }), Value::Null),
            "bob",
            3,
        );
        assert_eq!(managed_fields(&next), Value::Null);
    }
}

#[test]
fn status_writers_cannot_edit_the_record() {
    let fields = json!([entry("alice", 1, spec(json!({ "f:a": {} })))]);
    let old = object(json!({ "a": 1 }), fields.clone());
    for sent in [
        json!([]),
        json!([entry("mallory", 1, spec(json!({ "f:a": {} })))]),
    ] {
        let mut new = object(json!({ "a": 1 }), sent);
        new.insert("status".to_owned(), json!("ready"));
        let mut expected = fields.clone();
        let mut status = entry("bob", 2, json!({ "f:status": {} }));
        status["subresource"] = json!("status");
        expected.as_array_mut().unwrap().push(status);
        let found = write_with(&Schema::default(), Some(&old), &new, "bob", 2, "status");
        assert_eq!(managed_fields(&found), expected);
    }
}

#[test]
fn a_broken_record_is_replaced_by_the_one_before() {
    let good = json!([entry("alice", 1, spec(json!({ "f:a": {} })))]);
    let old = object(json!({ "a": 1 }), good.clone());
    let broken = |field: &str, value: Value| {
        let mut entry = entry("mallory", 1, spec(json!({ "f:a": {} })));
        entry[field] = value;
        json!([entry])
    };
    for sent in [
        broken("operation", json!("Delete")),
        broken("apiVersion", json!("")),
        broken("fieldsType", json!("FieldsV2")),
        broken("fieldsV1", json!({ "a": {} })),
        broken("fieldsV1", json!(1)),
        broken("time", json!("yesterday")),
        json!("no list"),
    ] {
        let new = object(json!({ "a": 1 }), sent);
        assert_eq!(managed_fields(&write(Some(&old), &new, "bob", 2)), good);
    }
}

#[test]
fn an_object_that_cannot_be_compared_loses_its_record() {
    let schema = read_schema(
        &json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
        "list": { "type": "array", "items": { "type": "object" }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
    } } } }),
    );
    let old = object(
        json!({}),
        json!([entry("alice", 1, spec(json!({ "f:a": {} })))]),
    );
    let new = object(json!({ "list": [{}] }), Value::Null);
    assert_eq!(
        managed_fields(&write_with(&schema, Some(&old), &new, "bob", 2, "")),
        Value::Null
    );
}

#[test]
fn owner_of_a_part_owns_the_whole_once_it_is_atomic() {
    let schema = read_schema(
        &json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": {
        "map": { "type": "object", "x-kubernetes-map-type": "atomic" },
        "list": { "type": "array", "items": { "type": "object" } },
        "entries": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": { "type": "object", "properties": { "map": { "type": "object", "x-kubernetes-map-type": "atomic" } } },
        },
    } } } }),
    );
    let key = "k:{\"name\":\"a\"}";
    let parts = json!({
        "f:map": { "f:a": {} }, "f:list": { key: { "f:x": {} } }, "f:free": { "f:a": {} },
        "f:entries": { key: { "f:map": { "f:a": {} } } },
    });
    let whole = json!({ "f:map": {}, "f:list": {}, "f:free": { "f:a": {} }, "f:entries": { key: { "f:map": {} } } });
    let old = object(json!({}), json!([entry("alice", 1, spec(parts))]));
    let new = object(json!({}), Value::Null);
    assert_eq!(
        managed_fields(&write_with(&schema, Some(&old), &new, "bob", 2, "")),
        json!([entry("alice", 1, spec(whole))])
    );
}

#[test]
fn oldest_updaters_become_one() {
    let name = |index: i64| format!("m{index:02}");
    let fields = |indices: std::ops::Range<i64>| {
        spec(
            indices
                .map(|index| (format!("f:{}", name(index)), json!({})))
                .collect(),
        )
    };
    let entries: Vec<Value> = (0..12)
        .map(|index| entry(&name(index), index, fields(index..index + 1)))
        .collect();
    let mut applied = entry("applier", 0, spec(json!({ "f:applied": {} })));
    applied["operation"] = json!("Apply");
    let old = object(
        json!({}),
        json!([vec![applied.clone()], entries.clone()].concat()),
    );
    let new = object(json!({}), Value::Null);
    let mut expected = vec![applied, entry("ancient-changes", 2, fields(0..3))];
    expected.extend(entries.into_iter().skip(3));
    let found = write(Some(&old), &new, "m11", 20);
    assert_eq!(managed_fields(&found), Value::from(expected));
    // The eleventh joins those who were made one before.
    let next = write(
        Some(&found),
        &object(json!({ "new": 1 }), Value::Null),
        "new",
        21,
    );
    let found = managed_fields(&next);
    assert_eq!(found[1], entry("ancient-changes", 3, fields(0..4)));
    assert_eq!(found.as_array().unwrap().len(), 11);
}

#[test]
fn ancient_changes_of_different_versions_stay_apart() {
    let mut entries: Vec<Value> = (0..12)
        .map(|index| entry(&format!("m{index:02}"), index, spec(json!({ "f:a": {} }))))
        .collect();
    entries[0]["apiVersion"] = json!("example.com/v0");
    let old = object(json!({}), json!(entries));
    let found = managed_fields(&write(
        Some(&old),
        &object(json!({}), Value::Null),
        "m11",
        20,
    ));
    let owners: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["manager"].as_str().unwrap())
        .collect();
    assert_eq!(owners[..3], ["m00", "ancient-changes", "m04"]);
}

#[test]
fn times_are_written_to_the_second() {
    let now = Timestamp::from_millisecond(1_999).unwrap();
    let mut new = into_object(json!({ "metadata": { "name": "a" }, "spec": 1 }));
    record(
        &Schema::default(),
        None,
        &mut new,
        &Change {
            manager: "alice",
            api_version: VERSION,
            subresource: "",
            now,
        },
    );
    assert_eq!(managed_fields(&new)[0]["time"], "1970-01-01T00:00:01Z");
}
