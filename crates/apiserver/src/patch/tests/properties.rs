//! What holds for all patches.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::oracle::into_object;
use super::super::{PatchKind, apply};
use super::schema;
use crate::object::Object;

/// JSON without nulls, which the patches of this API cannot tell from nothing.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..4_i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        let fields = prop::collection::btree_map("[a-d]", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Object> {
    prop::collection::btree_map("[a-d]", value(), 0..4)
        .prop_map(|fields| fields.into_iter().collect())
}

/// An object as the schema of these tests describes it.
fn typed() -> impl Strategy<Value = Object> {
    let tags = || {
        prop::collection::btree_set("[a-e]", 0..5)
            .prop_map(|tags| tags.into_iter().collect::<Vec<_>>())
    };
    let entries = prop::collection::btree_map("[a-e]", tags().prop_shuffle(), 0..5);
    let map = prop::collection::btree_map("[a-c]", "[x-z]", 0..3);
    (entries, tags().prop_shuffle(), map, tags()).prop_map(|(entries, tags, map, plain)| {
        let entries: Vec<Value> = entries
            .into_iter()
            .map(|(name, tags)| json!({ "name": name, "tags": tags }))
            .collect();
        into_object(json!({ "entries": entries, "tags": tags, "map": map, "plain": plain }))
    })
}

/// The strategic merge patch that makes `new` of `old`, in the way kubectl computes it.
fn difference(old: &Object, new: &Object) -> Value {
    let texts = |object: &Object, field: &str| object[field].as_array().unwrap().clone();
    let gone = |field: &str| -> Vec<Value> {
        let new = texts(new, field);
        texts(old, field)
            .into_iter()
            .filter(|tag| !new.contains(tag))
            .collect()
    };
    let mut map: Map<String, Value> = new["map"].as_object().unwrap().clone();
    for name in old["map"].as_object().unwrap().keys() {
        map.entry(name.clone()).or_insert(Value::Null);
    }
    let mut entries: Vec<Value> = Vec::new();
    for entry in texts(new, "entries") {
        let before = texts(old, "entries")
            .into_iter()
            .find(|other| other["name"] == entry["name"]);
        let mut patch = entry.clone();
        if let Some(before) = before {
            let (before, after) = (into_object(before), into_object(entry.clone()));
            patch["$deleteFromPrimitiveList/tags"] = texts(&before, "tags")
                .into_iter()
                .filter(|tag| !texts(&after, "tags").contains(tag))
                .collect();
            if !texts(&before, "tags").is_empty() || !texts(&after, "tags").is_empty() {
                patch["$setElementOrder/tags"] = entry["tags"].clone();
            }
        }
        entries.push(patch);
    }
    let names: Vec<Value> = texts(new, "entries")
        .iter()
        .map(|entry| json!({ "name": entry["name"] }))
        .collect();
    let is_gone = |entry: &Value| !names.contains(&json!({ "name": entry["name"] }));
    for entry in texts(old, "entries").into_iter().filter(is_gone) {
        entries.push(json!({ "name": entry["name"], "$patch": "delete" }));
    }
    let mut patch = json!({
        "map": map,
        "plain": new["plain"],
        "tags": new["tags"],
        "entries": entries,
        "$deleteFromPrimitiveList/tags": gone("tags"),
    });
    if !texts(old, "tags").is_empty() || !texts(new, "tags").is_empty() {
        patch["$setElementOrder/tags"] = new["tags"].clone();
    }
    if !names.is_empty() {
        patch["$setElementOrder/entries"] = names.into();
    }
    patch
}

proptest! {
    #[test]
    fn an_empty_patch_changes_nothing(object in typed(), other in object()) {
        for object in [object, other] {
            for (kind, patch) in [(PatchKind::StrategicMerge, json!({})), (PatchKind::Merge, json!({})), (PatchKind::Json, json!([]))] {
                prop_assert_eq!(&apply(kind, &schema(), &object, &patch).unwrap(), &object);
            }
        }
    }

    #[test]
    fn an_object_merged_into_itself_stays_the_same(object in typed()) {
        let patch = Value::Object(object.clone());
        prop_assert_eq!(apply(PatchKind::StrategicMerge, &schema(), &object, &patch).unwrap(), object);
    }

    #[test]
    fn a_computed_difference_leads_to_the_object_it_was_computed_from(old in typed(), new in typed()) {
        let patch = difference(&old, &new);
        prop_assert_eq!(apply(PatchKind::StrategicMerge, &schema(), &old, &patch).unwrap(), new);
    }

    #[test]
    fn merge_patches_without_nulls_are_those_of_the_rfc(current in object(), patch in object()) {
        let patch = Value::Object(patch);
        let mut expected = Value::Object(current.clone());
        json_patch::merge(&mut expected, &patch);
        let found = apply(PatchKind::Merge, &schema(), &current, &patch).unwrap();
        prop_assert_eq!(Value::Object(found), expected);
    }

    #[test]
    fn what_the_rfc_allows_is_done_as_it_says(current in object(), operations in operations()) {
        let patch: json_patch::Patch = serde_json::from_value(operations.clone()).unwrap();
        let mut expected = Value::Object(current.clone());
        if json_patch::patch_unsafe(&mut expected, &patch).is_ok() && expected.is_object() {
            let found = apply(PatchKind::Json, &schema(), &current, &operations).unwrap();
            prop_assert_eq!(Value::Object(found), expected);
        }
    }
}

fn operations() -> impl Strategy<Value = Value> {
    let path = || {
        prop::collection::vec(prop_oneof!["[a-d]", "[0-2]", Just("-".to_owned())], 1..3)
            .prop_map(|tokens| format!("/{}", tokens.join("/")))
    };
    let verb = prop_oneof![
        Just("add"),
        Just("remove"),
        Just("replace"),
        Just("move"),
        Just("copy"),
        Just("test")
    ];
    let operation = (verb, path(), path(), value()).prop_map(|(verb, path, from, value)| {
        json!({ "op": verb, "path": path, "from": from, "value": value })
    });
    prop::collection::vec(operation, 1..4).prop_map(Value::from)
}
