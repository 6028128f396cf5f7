#![expect(
    clippy::needless_pass_by_value,
    reason = "data reads better without a reference before each piece of it"
)]

use serde_json::{Value, json};

use super::super::node::{DEEPEST, Shapeless};
use super::Difference;
use crate::patch::oracle::{into_object, read_schema};

/// What was removed, modified and added, as `FieldsV1`.
fn check(old: Value, new: Value, expected: [Value; 3]) {
    let schema = read_schema(&schema());
    let found = Difference::between(&schema, Some(&into_object(old)), &into_object(new)).unwrap();
    let found = [found.removed, found.modified, found.added].map(|set| set.write());
    assert_eq!(found, expected);
}

fn check_shapeless(object: Value) {
    let object = into_object(object);
    let schema = read_schema(&schema());
    assert_eq!(Difference::between(&schema, None, &object), Err(Shapeless));
    assert_eq!(
        Difference::between(&schema, Some(&object), &into_object(json!({}))),
        Err(Shapeless)
    );
}

fn schema() -> Value {
    let entry =
        json!({ "type": "object", "properties": { "port": { "type": "integer", "default": 80 } } });
    json!({ "type": "object", "properties": {
        "map": { "type": "array", "items": entry, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "name"] },
        "one": { "type": "array", "items": { "type": "object" }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
        "set": { "type": "array", "items": { "type": "integer" }, "x-kubernetes-list-type": "set" },
        "object": { "type": "object", "properties": { "a": { "type": "string" } } },
        "embedded": { "type": "object", "x-kubernetes-embedded-resource": true },
        "text": { "type": "string" },
    } })
}

#[test]
fn nothing_differs_from_itself() {
    let object =
        json!({ "map": [{ "name": "a" }], "set": [1, 1.0], "x": { "y": [1, null] }, "n": 1 });
    check(object.clone(), object, [json!({}), json!({}), json!({})]);
    check(
        json!({ "n": 1 }),
        json!({ "n": 1.0 }),
        [json!({}), json!({}), json!({})],
    );
}

#[test]
fn containers_are_added_and_removed_but_never_modified() {
    let (without, with) = (json!({}), json!({ "object": { "a": "x" } }));
    let whole = json!({ "f:object": { ".": {}, "f:a": {} } });
    check(
        without.clone(),
        with.clone(),
        [json!({}), json!({}), whole.clone()],
    );
    check(with.clone(), without, [whole, json!({}), json!({})]);
    check(
        with,
        json!({ "object": { "a": "y" } }),
        [json!({}), json!({ "f:object": { "f:a": {} } }), json!({})],
    );
}

#[test]
fn empty_null_and_nothing_are_three_things() {
    let field = json!({ "f:object": {} });
    check(
        json!({}),
        json!({ "object": {} }),
        [json!({}), json!({}), field.clone()],
    );
    check(
        json!({}),
        json!({ "object": null }),
        [json!({}), json!({}), field.clone()],
    );
    check(
        json!({ "object": null }),
        json!({ "object": {} }),
        [json!({}), field.clone(), json!({})],
    );
    check(
        json!({ "object": {} }),
        json!({}),
        [field, json!({}), json!({})],
    );
    // Filling what was empty changes only what is in it.
    let inside = json!({ "f:object": { "f:a": {} } });
    check(
        json!({ "object": null }),
        json!({ "object": { "a": "x" } }),
        [json!({}), json!({}), inside.clone()],
    );
    check(
        json!({ "object": {} }),
        json!({ "object": { "a": "x" } }),
        [json!({}), json!({}), inside],
    );
}

#[test]
fn entries_are_named_by_their_keys_and_defaults() {
    let old = json!({ "map": [{ "name": "a", "port": 80, "x": 1 }, { "port": 1 }] });
    let new = json!({ "map": [{ "name": "a", "x": 2 }, { "port": 2 }] });
    let modified = json!({ "f:map": { "k:{\"name\":\"a\",\"port\":80}": { "f:x": {} } } });
    let removed = json!({ "f:map": {
        "k:{\"port\":1}": { ".": {}, "f:port": {} },
        "k:{\"name\":\"a\",\"port\":80}": { "f:port": {} },
    } });
    check(
        old,
        new,
        [
            removed,
            modified,
            json!({ "f:map": { "k:{\"port\":2}": { ".": {}, "f:port": {} } } }),
        ],
    );
}

#[test]
fn metadata_is_the_same_for_all_kinds() {
    let metadata = |finalizer: &str, name: &str| {
        json!({
            "finalizers": [finalizer],
            "ownerReferences": [{ "uid": "1", "name": name }],
        })
    };
    let changes = |field: &str| {
        let mut changes = [json!({}), json!({}), json!({})];
        changes[0][field] = json!({ "f:finalizers": { "v:\"a\"": {} } });
        changes[1][field] = json!({ "f:ownerReferences": { "k:{\"uid\":\"1\"}": {} } });
        changes[2][field] = json!({ "f:finalizers": { "v:\"b\"": {} } });
        changes
    };
    let object = |metadata: Value| json!({ "metadata": metadata });
    check(
        object(metadata("a", "x")),
        object(metadata("b", "y")),
        changes("f:metadata"),
    );
    let object = |metadata: Value| json!({ "embedded": { "metadata": metadata } });
    let below = changes("f:metadata").map(|below| json!({ "f:embedded": below }));
    check(
        object(metadata("a", "x")),
        object(metadata("b", "y")),
        below,
    );
    // Elsewhere a field of this name is a field like any other.
    let object = |metadata: Value| json!({ "object": { "metadata": metadata } });
    let below =
        json!({ "f:object": { "f:metadata": { "f:finalizers": {}, "f:ownerReferences": {} } } });
    check(
        object(metadata("a", "x")),
        object(metadata("b", "y")),
        [json!({}), below, json!({})],
    );
}

#[test]
fn order_of_entries_does_not_matter() {
    let nothing = [json!({}), json!({}), json!({})];
    check(
        json!({ "set": [1, 2] }),
        json!({ "set": [2, 1] }),
        nothing.clone(),
    );
    check(
        json!({ "one": [{ "name": "a" }, { "name": "b" }] }),
        json!({ "one": [{ "name": "b" }, { "name": "a" }] }),
        nothing,
    );
}

#[test]
fn twins_are_one_thing() {
    let twins = |x: i64| json!({ "one": [{ "name": "a", "x": 1 }, { "name": "a", "x": x }] });
    let single = json!({ "one": [{ "name": "a", "x": 1 }] });
    let (whole, parts) = (
        json!({ "f:one": { "k:{\"name\":\"a\"}": {} } }),
        json!({ "f:one": { "k:{\"name\":\"a\"}": { "f:name": {}, "f:x": {} } } }),
    );
    let both = json!({ "f:one": { "k:{\"name\":\"a\"}": { ".": {}, "f:name": {}, "f:x": {} } } });
    check(twins(2), twins(2), [json!({}), json!({}), json!({})]);
    check(twins(2), twins(3), [json!({}), whole.clone(), json!({})]);
    check(
        twins(2),
        json!({ "one": [] }),
        [whole.clone(), json!({}), json!({})],
    );
    check(
        json!({ "one": [] }),
        twins(2),
        [json!({}), json!({}), whole.clone()],
    );
    check(single.clone(), twins(2), [parts, json!({}), whole]);
    check(twins(2), single, [json!({}), json!({}), both]);
    check(
        json!({ "set": [1, 1] }),
        json!({ "set": [1, 1, 1] }),
        [json!({}), json!({ "f:set": { "v:1": {} } }), json!({})],
    );
}

#[test]
fn a_change_of_type_is_seen_from_both_sides() {
    let from = |value: Value| json!({ "free": value });
    let modified = json!({ "f:free": {} });
    let inside = json!({ "f:free": { "f:a": {} } });
    check(
        from(json!(1)),
        from(json!({ "a": 1 })),
        [json!({}), modified.clone(), inside.clone()],
    );
    check(
        from(json!({ "a": 1 })),
        from(json!([1])),
        [inside, modified.clone(), json!({})],
    );
    check(
        from(json!([1])),
        from(json!(1)),
        [json!({}), modified, json!({})],
    );
}

#[test]
fn what_cannot_be_named_has_no_fields() {
    check_shapeless(json!({ "one": [{ "x": 1 }] }));
    check_shapeless(json!({ "one": [1] }));
    check_shapeless(json!({ "one": [null] }));
    check_shapeless(json!({ "set": [null] }));
    check_shapeless(json!({ "set": [[1]] }));
    check_shapeless(json!({ "set": [{}] }));
    check_shapeless(json!({ "text": {} }));
    check_shapeless(json!({ "text": [] }));
    check_shapeless(json!({ "object": "x" }));
    check_shapeless(json!({ "object": [] }));
    check_shapeless(json!({ "set": {} }));
}

#[test]
fn what_is_very_deep_is_owned_as_a_whole() {
    let nest = |leaf: Value| (0..120).fold(leaf, |value, _| json!({ "a": value }));
    let schema = read_schema(&json!({ "type": "object" }));
    let found = Difference::between(
        &schema,
        Some(&into_object(nest(json!(1)))),
        &into_object(nest(json!(2))),
    )
    .unwrap();
    let mut depth = 0;
    let mut fields = &found.modified.write();
    while let Some(below) = fields.get("f:a") {
        (fields, depth) = (below, depth + 1);
    }
    assert_eq!(depth, DEEPEST + 1);
}

#[test]
fn long_lists_are_compared_in_no_time() {
    let entries = |x: i64| -> Value {
        let entries: Vec<Value> = (0..20_000)
            .map(|name| json!({ "name": name, "x": x }))
            .collect();
        json!({ "one": entries, "set": (0..20_000).collect::<Vec<i64>>() })
    };
    let schema = read_schema(&schema());
    let found = Difference::between(
        &schema,
        Some(&into_object(entries(1))),
        &into_object(entries(2)),
    )
    .unwrap();
    assert_eq!(
        found.modified.write()["f:one"].as_object().unwrap().len(),
        20_000
    );
}
