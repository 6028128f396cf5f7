//! What holds whatever is applied by whomever.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::super::fields_of::fields_of;
use super::super::super::remove::without;
use super::super::FieldSet;
use super::{by, into_object, object, owners, schema, spec};
use crate::object::ObjectExt as _;

/// A spec with some of these fields. `names` are those of its fields and entries, so that two
/// specs with different names have nothing in common.
pub(in super::super) fn specs(names: &'static str) -> impl Strategy<Value = Value> {
    let texts = || prop::collection::btree_map(names, "[x-z]", 0..3);
    let set = || {
        prop::collection::btree_set(names, 0..4)
            .prop_map(|set| set.into_iter().collect::<Vec<_>>())
            .prop_shuffle()
    };
    let entries = prop::collection::btree_map(names, (80..82_i64, "[x-z]"), 0..3);
    let free = prop::collection::btree_map(names, set(), 0..3);
    (texts(), set(), entries, free).prop_map(|(granular, set, entries, free)| {
        let entries: Vec<Value> = entries
            .into_iter()
            .map(|(name, (port, value))| json!({ "name": name, "port": port, "value": value }))
            .collect();
        let mut spec = Map::new();
        for (field, value) in [
            ("granular", json!(granular)),
            ("set", json!(set)),
            ("map", json!(entries)),
            ("free", json!(free)),
        ] {
            let is_empty = value == json!([]) || value == json!({});
            if !is_empty {
                spec.insert(field.to_owned(), value);
            }
        }
        Value::Object(spec)
    })
}

fn sorted(mut spec: Value) -> Value {
    for list in ["set", "map"] {
        if let Some(entries) = spec.get_mut(list).and_then(Value::as_array_mut) {
            entries.sort_by_key(ToString::to_string);
        }
    }
    spec
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(before in specs("[a-f]"), applied in specs("[a-f]")) {
        let live = by("zero", 0).spec(None, before);
        let once = by("one", 1).forcing().spec(Some(&live), applied.clone());
        prop_assert_eq!(by("one", 2).spec(Some(&once), applied), once);
    }

    #[test]
    fn those_who_apply_different_fields_never_conflict(
        one in specs("[a-c]"), two in specs("[d-f]"), three in specs("[a-c]"), four in specs("[d-f]"),
    ) {
        let live = by("one", 1).spec(None, one);
        let live = by("two", 2).spec(Some(&live), two);
        let live = by("one", 3).spec(Some(&live), three.clone());
        let live = by("two", 4).spec(Some(&live), four.clone());
        // What is left is what they applied last, and nothing else.
        let alone = by("one", 1).spec(None, three);
        let together = by("two", 2).spec(Some(&alone), four);
        let is_empty = |value: &Value| value.is_null() || value == &json!({});
        let (left, together) = (sorted(spec(&live)), sorted(spec(&together)));
        prop_assert!(left == together || is_empty(&left) && is_empty(&together), "{left} {together}");
    }

    #[test]
    fn what_nobody_owns_any_more_is_gone(one in specs("[a-f]"), two in specs("[a-f]")) {
        let live = by("one", 1).spec(None, one);
        let live = by("two", 2).forcing().spec(Some(&live), two);
        let live = by("one", 3).spec(Some(&live), Value::Null);
        let live = by("two", 4).spec(Some(&live), Value::Null);
        prop_assert_eq!(owners(&live), []);
        prop_assert_eq!(live.get("spec"), None);
    }

    #[test]
    fn force_has_its_way(before in specs("[a-f]"), applied in specs("[a-f]")) {
        let live = by("zero", 0).spec(None, before);
        let forced = by("one", 1).forcing().spec(Some(&live), applied.clone());
        // To apply it again and to apply what came out is to change nothing.
        prop_assert_eq!(&by("one", 2).spec(Some(&forced), applied), &forced);
        let all = by("two", 2).spec(Some(&forced), spec(&forced));
        prop_assert_eq!(spec(&all), spec(&forced));
    }

    #[test]
    fn the_fields_of_an_object_read_back_and_are_all_of_it(applied in specs("[a-f]")) {
        let schema = schema();
        let mut whole = into_object(object(applied));
        whole.metadata_mut().insert("labels".to_owned(), json!({ "a": "b" }));
        let fields = fields_of(&schema, &whole);
        prop_assert_eq!(&FieldSet::read(&fields.write()).unwrap(), &fields);
        // Nothing is left but empty shells.
        let shell = without(&schema, &whole, &fields);
        prop_assert!(fields_of(&schema, &shell).paths().iter().all(|path| !fields.contains(path)));
    }
}
