//! What patches do, as data. What the real API server does with most of them is in `on_cluster`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "data reads better without a reference before each piece of it"
)]

mod properties;

use serde_json::{Value, json};

use super::json::stray_fields;
use super::oracle::{into_object, read_schema};
use super::{PatchKind, apply};
use crate::resource::Origin;
use crate::schema::Schema;

/// The object that comes out, or code and message of the refusal.
fn check_kind(
    kind: PatchKind,
    current: Value,
    patch: &Value,
    expected: Result<Value, (u16, &str)>,
) {
    let found = apply(kind, &schema(), &into_object(current), patch).map(Value::Object);
    let found = found.map_err(|refusal| (refusal.code, refusal.message));
    let found = found
        .as_ref()
        .map_err(|(code, message)| (*code, message.as_str()));
    assert_eq!(found, expected.as_ref().map_err(|it| *it), "{patch}");
}

const REJECTED: (u16, &str) = (
    422,
    "the server rejected our request due to an error in our request",
);

/// A kind with one list of each sort.
fn schema() -> Schema {
    let text = json!({ "type": "string" });
    let entry = json!({ "type": "object", "properties": {
        "name": text,
        "tags": { "type": "array", "items": text, "x-kubernetes-patch-strategy": "merge" },
    } });
    read_schema(&json!({ "type": "object", "properties": {
        "entries": {
            "type": "array",
            "items": entry,
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
        },
        "tags": { "type": "array", "items": text, "x-kubernetes-patch-strategy": "merge" },
        "objects": { "type": "array", "items": { "type": "object" }, "x-kubernetes-patch-strategy": "merge" },
        "plain": { "type": "array", "items": text },
        "map": { "type": "object", "additionalProperties": text },
    } }))
}

fn entries(names: &[&str]) -> Value {
    let entries: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "entries": entries })
}

fn json_patch(operations: Value, current: Value, expected: Result<Value, (u16, &str)>) {
    check_kind(PatchKind::Json, current, &operations, expected);
}

fn strategic(patch: Value, current: Value, expected: Result<Value, (u16, &str)>) {
    check_kind(PatchKind::StrategicMerge, current, &patch, expected);
}

#[test]
fn each_operation_does_its_work() {
    let add = json!([{ "op": "add", "path": "/l/1", "value": 9 }]);
    json_patch(add, json!({ "l": [1, 2] }), Ok(json!({ "l": [1, 9, 2] })));
    let remove = json!([{ "op": "remove", "path": "/l/0" }]);
    json_patch(remove, json!({ "l": [1, 2] }), Ok(json!({ "l": [2] })));
    let replace = json!([{ "op": "replace", "path": "/l/0", "value": 9 }]);
    json_patch(replace, json!({ "l": [1, 2] }), Ok(json!({ "l": [9, 2] })));
    let relocate = json!([{ "op": "move", "from": "/a", "path": "/b" }]);
    json_patch(relocate, json!({ "a": 1 }), Ok(json!({ "b": 1 })));
    let copy = json!([{ "op": "copy", "from": "/a", "path": "/b" }]);
    json_patch(copy, json!({ "a": [1] }), Ok(json!({ "a": [1], "b": [1] })));
    let test = json!([{ "op": "test", "path": "/a", "value": [1] }]);
    json_patch(test, json!({ "a": [1] }), Ok(json!({ "a": [1] })));
}

#[test]
fn replace_sets_what_is_not_there_and_copy_copies_nothing_as_null() {
    json_patch(
        json!([{ "op": "replace", "path": "/a", "value": 1 }]),
        json!({}),
        Ok(json!({ "a": 1 })),
    );
    json_patch(
        json!([{ "op": "copy", "from": "/b", "path": "/a" }]),
        json!({}),
        Ok(json!({ "a": null })),
    );
    json_patch(
        json!([{ "op": "add", "path": "/a" }]),
        json!({}),
        Ok(json!({ "a": null })),
    );
}

#[test]
fn indices_count_from_either_end() {
    let current = || json!({ "l": [1, 2] });
    for (index, expected) in [
        ("-1", json!([1, 2, 9])),
        ("-3", json!([9, 1, 2])),
        ("-", json!([1, 2, 9])),
        ("2", json!([1, 2, 9])),
    ] {
        let add = json!([{ "op": "add", "path": format!("/l/{index}"), "value": 9 }]);
        json_patch(add, current(), Ok(json!({ "l": expected })));
    }
    for index in [
        "-4",
        "3",
        "x",
        "",
        "9223372036854775808",
        "-9223372036854775808",
    ] {
        let add = json!([{ "op": "add", "path": format!("/l/{index}"), "value": 9 }]);
        json_patch(add, current(), Err(REJECTED));
    }
    for index in ["-3", "2", "-"] {
        json_patch(
            json!([{ "op": "remove", "path": format!("/l/{index}") }]),
            current(),
            Err(REJECTED),
        );
    }
}

#[test]
fn a_failed_operation_leaves_nothing_behind() {
    let patch = json!([
        { "op": "add", "path": "/b", "value": 1 },
        { "op": "test", "path": "/a", "value": 2 },
    ]);
    json_patch(patch, json!({ "a": 1 }), Err(REJECTED));
}

#[test]
fn whole_object_can_be_replaced_by_an_object_only() {
    json_patch(
        json!([{ "op": "replace", "path": "", "value": { "b": 1 } }]),
        json!({ "a": 1 }),
        Ok(json!({ "b": 1 })),
    );
    json_patch(
        json!([{ "op": "replace", "path": "" }]),
        json!({ "a": 1 }),
        Err(REJECTED),
    );
    json_patch(
        json!([{ "op": "test", "path": "", "value": { "a": 1 } }]),
        json!({ "a": 1 }),
        Ok(json!({ "a": 1 })),
    );
    let list = apply(
        PatchKind::Json,
        &Schema::default(),
        &into_object(json!({})),
        &json!([{ "op": "replace", "path": "", "value": [] }]),
    );
    assert_eq!(list.unwrap_err().code, 422);
}

/// A document that doubles with every operation would fill the memory in thirty of them.
#[test]
fn copies_stop_at_three_mebibytes() {
    let double = json!({ "op": "copy", "from": "/a", "path": "/a/b" });
    let grow: Vec<Value> = (0..40)
        .map(|index| json!({ "op": "copy", "from": "/a", "path": format!("/a/{index}") }))
        .collect();
    json_patch(
        json!(grow),
        json!({ "a": { "x": "y".repeat(100) } }),
        Err(REJECTED),
    );
    json_patch(
        json!([double]),
        json!({ "a": { "x": 1 } }),
        Ok(json!({ "a": { "x": 1, "b": { "x": 1 } } })),
    );
}

/// An object in itself, again and again, would be deeper than any stack in twenty operations.
#[test]
fn no_object_becomes_deeper_than_can_be_read_back() {
    let doublings = |times: u32| -> Value {
        let inside = |step: u32| format!("/a{}", "/b".repeat(2_usize.pow(step)));
        let copy = |step| json!({ "op": "copy", "from": "/a", "path": inside(step) });
        (0..times).map(copy).collect()
    };
    let start = into_object(json!({ "a": {} }));
    let fits = apply(PatchKind::Json, &schema(), &start, &doublings(6)).unwrap();
    serde_json::from_str::<Value>(&Value::Object(fits).to_string()).expect("it can be read");
    json_patch(doublings(7), json!({ "a": {} }), Err(REJECTED));
}

#[test]
fn what_is_moved_or_added_is_not_deeper_either() {
    let deep = |levels: usize| json!([{ "op": "add", "path": "/a", "value": nested(levels) }]);
    let fits = apply(
        PatchKind::Json,
        &Schema::default(),
        &into_object(json!({})),
        &deep(126),
    )
    .unwrap();
    serde_json::from_str::<Value>(&Value::Object(fits).to_string())
        .expect("127 levels can be read");
    json_patch(deep(127), json!({}), Err(REJECTED));
    let below = json!([
        { "op": "add", "path": "/a", "value": nested(100) },
        { "op": "add", "path": "/b", "value": nested(100) },
        { "op": "move", "from": "/b", "path": format!("/a{}/x", "/0".repeat(99)) },
    ]);
    json_patch(below, json!({}), Err(REJECTED));
    let into_the_list = json!([
        { "op": "add", "path": "/a", "value": nested(100) },
        { "op": "add", "path": "/b", "value": nested(30) },
        { "op": "move", "from": "/b", "path": format!("/a{}/-", "/0".repeat(99)) },
    ]);
    json_patch(into_the_list, json!({}), Err(REJECTED));
}

/// Lists in lists, and nothing in the innermost.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!([]), |value, _| json!([value]))
}

#[test]
fn copies_add_up() {
    let copies = |count: usize| -> Value {
        let copy =
            |index: usize| json!({ "op": "copy", "from": "/a", "path": format!("/{index}") });
        (0..count).map(copy).collect()
    };
    // Each is 200,002 bytes: 15 of them are less than 3 MiB, 16 are more.
    let current = into_object(json!({ "a": "x".repeat(200_000) }));
    let code = |count| {
        apply(PatchKind::Json, &schema(), &current, &copies(count)).map_err(|refusal| refusal.code)
    };
    assert!(code(15).is_ok());
    assert_eq!(code(16), Err(422));
}

#[test]
fn operations_are_counted() {
    let tests = |count: usize| Value::from(vec![json!({ "op": "test", "path": "/a" }); count]);
    json_patch(tests(10_000), json!({}), Ok(json!({})));
    let why = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    json_patch(tests(10_001), json!({}), Err((413, why)));
}

#[test]
fn slashes_and_tildes_are_escaped() {
    let test = |path: &str| json!([{ "op": "test", "path": path, "value": 1 }]);
    let current = || json!({ "a/b": 1, "~1": 1, "~2": 1 });
    for path in ["/a~1b", "/~01", "/~2"] {
        json_patch(test(path), current(), Ok(current()));
    }
    json_patch(test("/a/b"), current(), Err(REJECTED));
}

#[test]
fn nulls_in_lists_stay_only_where_an_object_was() {
    let holes = json!([{ "a": null, "b": 1 }, null]);
    let patch = json!({ "object": holes, "list": holes, "new": holes });
    let kept = json!([{ "b": 1 }, null]);
    let expected = json!({ "object": holes, "list": kept, "new": kept });
    let current = json!({ "object": {}, "list": [] });
    check_kind(PatchKind::Merge, current, &patch, Ok(expected));
}

#[test]
fn retained_keys_are_those_that_are_listed() {
    let current = || json!({ "a": 1, "b": 2 });
    strategic(
        json!({ "$retainKeys": ["a"] }),
        current(),
        Ok(json!({ "a": 1 })),
    );
    strategic(
        json!({ "$retainKeys": ["a"], "b": null, "x": null }),
        current(),
        Ok(json!({ "a": 1 })),
    );
    let refusal = (400, "invalid patch format of retainKeys");
    strategic(
        json!({ "$retainKeys": ["a"], "b": 3 }),
        current(),
        Err(refusal),
    );
}

#[test]
fn twins_in_the_patch_are_merged() {
    let patch = json!({ "entries": [{ "name": "a", "x": 1 }, { "name": "a", "y": 2 }] });
    let expected = json!({ "entries": [{ "name": "a", "x": 1, "y": 2 }, { "name": "b" }] });
    strategic(patch, entries(&["b"]), Ok(expected));
}

#[test]
fn an_empty_order_is_that_of_the_object() {
    let mut patch = entries(&["c", "a"]);
    patch["$setElementOrder/entries"] = json!([]);
    strategic(
        patch,
        entries(&["a", "b", "c"]),
        Ok(entries(&["a", "b", "c"])),
    );
}

#[test]
fn fields_that_mean_nothing_are_told() {
    let patch = json!([{ "op": "add", "path": "/a", "valu": 1 }, {}, { "from": 1, "b": 2 }, 3]);
    let expected = [
        "json patch unknown field \"[0].valu\"",
        "json patch unknown field \"[2].b\"",
    ];
    assert_eq!(stray_fields(&patch), expected);
}

#[test]
fn strategic_merge_needs_a_built_in_kind() {
    let negotiate = |kind: PatchKind, origin| {
        let content_type = format!("{}; charset=utf-8", kind.media_type());
        PatchKind::negotiate(&content_type, origin).map_err(|refusal| refusal.code)
    };
    for kind in [PatchKind::Json, PatchKind::Merge] {
        assert_eq!(negotiate(kind, Origin::Builtin), Ok(kind));
        assert_eq!(negotiate(kind, Origin::Custom), Ok(kind));
    }
    assert_eq!(
        negotiate(PatchKind::StrategicMerge, Origin::Builtin),
        Ok(PatchKind::StrategicMerge)
    );
    assert_eq!(
        negotiate(PatchKind::StrategicMerge, Origin::Custom),
        Err(415)
    );
}

#[test]
fn entries_are_merged_by_key_and_others_stay() {
    let current = json!({ "entries": [{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }] });
    let patch =
        json!({ "entries": [{ "name": "b", "y": 3, "x": null }, { "name": "c", "z": null }] });
    let expected =
        json!({ "entries": [{ "name": "a", "x": 1 }, { "name": "b", "y": 3 }, { "name": "c" }] });
    strategic(patch, current, Ok(expected));
}

#[test]
fn order_of_the_patch_goes_before_that_of_the_object() {
    strategic(
        entries(&["d", "b"]),
        entries(&["a", "b", "c", "d", "e"]),
        Ok(entries(&["a", "c", "d", "b", "e"])),
    );
    strategic(
        entries(&["new", "a"]),
        entries(&["a", "b"]),
        Ok(entries(&["new", "a", "b"])),
    );
    let mut patch = entries(&["new"]);
    patch["$setElementOrder/entries"] = entries(&["c", "new", "a"])["entries"].clone();
    strategic(
        patch,
        entries(&["a", "b", "c"]),
        Ok(entries(&["b", "c", "new", "a"])),
    );
}

#[test]
fn twins_in_the_object_are_left_alone() {
    let current = json!({ "entries": [{ "name": "a", "x": 1 }, { "name": "a", "x": 2 }] });
    let patch = json!({ "entries": [{ "name": "a", "x": 3 }] });
    strategic(
        patch,
        current.clone(),
        Ok(json!({ "entries": [{ "name": "a", "x": 3 }, { "name": "a", "x": 2 }] })),
    );
    let delete = json!({ "entries": [{ "name": "a", "$patch": "delete" }] });
    strategic(delete, current, Ok(json!({ "entries": [] })));
}

#[test]
fn plain_values_are_united_or_deleted() {
    strategic(
        json!({ "tags": ["c", "a"] }),
        json!({ "tags": ["a", "b"] }),
        Ok(json!({ "tags": ["c", "a", "b"] })),
    );
    strategic(
        json!({ "plain": ["c"] }),
        json!({ "plain": ["a", "b"] }),
        Ok(json!({ "plain": ["c"] })),
    );
    let delete =
        json!({ "$deleteFromPrimitiveList/tags": ["a"], "$deleteFromPrimitiveList/none": ["a"] });
    strategic(
        delete,
        json!({ "tags": ["a", "b"] }),
        Ok(json!({ "tags": ["b"] })),
    );
}

#[test]
fn directives_without_anything_to_act_on_vanish() {
    let patch = json!({ "map": { "$patch": "replace", "a": "1" }, "entries": [{ "name": "a", "$patch": "delete" }, { "name": "b" }] });
    strategic(
        patch,
        json!({}),
        Ok(json!({ "entries": [{ "name": "b" }] })),
    );
}

#[test]
fn lists_that_cannot_be_merged_are_refused() {
    let objects = json!({ "objects": [{}] });
    strategic(
        objects.clone(),
        objects.clone(),
        Err((500, "cannot merge lists without merge key for struct")),
    );
    strategic(
        json!({ "tags": [["a"]] }),
        json!({ "tags": [["b"]] }),
        Err(REJECTED),
    );
    strategic(
        json!({ "$setElementOrder/tags": ["a"], "tags": [] }),
        json!({ "tags": [] }),
        Err((500, "no elements in any of the given slices")),
    );
    let unknown = "unable to find api field in struct for the json field \"nothing\"";
    strategic(
        json!({ "$setElementOrder/nothing": [] }),
        json!({}),
        Err((500, unknown)),
    );
}

/// Each of these takes minutes if an entry is looked for by walking the list.
#[test]
fn long_lists_are_merged_in_no_time() {
    let names: Vec<String> = (0..20_000).map(|index| format!("entry-{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let reversed: Vec<&str> = names.iter().rev().copied().collect();
    strategic(entries(&reversed), entries(&names), Ok(entries(&reversed)));
    strategic(
        json!({ "tags": reversed }),
        json!({ "tags": names }),
        Ok(json!({ "tags": reversed })),
    );
    let deletions: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "$patch": "delete" }))
        .collect();
    strategic(
        json!({ "entries": deletions }),
        entries(&names),
        Ok(json!({ "entries": [] })),
    );
    strategic(
        json!({ "$deleteFromPrimitiveList/tags": reversed }),
        json!({ "tags": names }),
        Ok(json!({ "tags": [] })),
    );
}
