#![expect(
    clippy::needless_pass_by_value,
    reason = "data reads better without a reference before each piece of it"
)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FieldSet, FieldsError, Path, PathElement, Scalar};

fn set(fields: Value) -> FieldSet {
    FieldSet::read(&fields).unwrap()
}

fn check_element(text: &str, expected: Option<&str>) {
    let found = PathElement::read(text).map(|element| element.map(|element| element.to_string()));
    assert_eq!(found.unwrap().as_deref(), expected);
}

#[test]
fn elements_are_written_as_they_are_read() {
    for text in [
        "f:a", "f:", "f:a:b/c", "f:\"", "v:1", "v:-1", "v:1.5", "v:\"a\"", "v:true", "v:null",
        "i:0", "i:-1",
    ] {
        check_element(text, Some(text));
    }
    check_element("k:{\"b\":1,\"a\":\"x\"}", Some("k:{\"a\":\"x\",\"b\":1}"));
    check_element("v:1.0", Some("v:1"));
    check_element("v:1e30", Some("v:1e+30"));
    check_element("v:\"<a>&\"", Some("v:\"\\u003ca\\u003e\\u0026\""));
    check_element("x:unknown", None);
}

#[test]
fn what_is_no_element_is_refused() {
    for text in [
        "", "f", "fa:b", ":b", "v:", "v:x", "k:1", "k:[]", "i:x", "i:",
    ] {
        assert_eq!(
            PathElement::read(text),
            Err(FieldsError::Element(text.to_owned())),
            "{text}"
        );
    }
    for fields in [
        json!({ "f:a": 1 }),
        json!([]),
        json!({ "f:a": { "f:b": "x" } }),
    ] {
        assert_eq!(FieldSet::read(&fields), Err(FieldsError::NoObject));
    }
}

#[test]
fn elements_come_in_the_order_of_their_kinds() {
    let order = [
        "f:a",
        "f:b",
        "k:{\"a\":1}",
        "k:{\"a\":1,\"b\":0}",
        "k:{\"a\":1.5}",
        "k:{\"a\":2}",
        "k:{\"a\":\"1\"}",
        "k:{\"b\":0}",
        "v:-1.5",
        "v:-1",
        "v:0",
        "v:9007199254740992",
        "v:9007199254740993",
        "v:9.1e15",
        "v:1e30",
        "v:\"\"",
        "v:\"a\"",
        "v:false",
        "v:true",
        "v:[]",
        "v:[1]",
        "v:{}",
        "v:null",
        "i:0",
        "i:1",
    ];
    let elements = order.map(|text| PathElement::read(text).unwrap().unwrap());
    assert!(
        elements.is_sorted_by(|left, right| left < right),
        "{elements:?}"
    );
}

#[test]
fn numbers_are_what_they_are_worth() {
    let value = |value: Value| PathElement::Value(Scalar(value));
    assert_eq!(value(json!(1)), value(json!(1.0)));
    assert_eq!(value(json!(0.0)), value(json!(-0.0)));
    assert_ne!(
        value(json!(9_007_199_254_740_993_i64)),
        value(json!(9_007_199_254_740_992.0))
    );
    assert!(value(json!(u64::MAX)) < value(json!(1e20)));
    assert!(value(json!(i64::MIN)) > value(json!(-1e20)));
}

#[test]
fn a_field_and_those_below_it_are_members_each_for_itself() {
    let fields = json!({ "f:a": { ".": {}, "f:b": {} }, "f:c": { "f:d": {} }, "f:e": null });
    let found = set(fields);
    let has = |names: &[&str]| {
        found.contains(&Path(
            names
                .iter()
                .map(|name| PathElement::Field((*name).to_owned()))
                .collect(),
        ))
    };
    assert!(has(&["a"]) && has(&["a", "b"]) && has(&["c", "d"]) && has(&["e"]));
    assert!(!has(&["c"]) && !has(&[]) && !has(&["a", "c"]) && !has(&["a", "b", "c"]));
}

#[test]
fn unknown_kinds_of_elements_are_dropped() {
    assert_eq!(
        set(json!({ "z:x": {}, "f:a": { "z:x": {} } })),
        set(json!({ "f:a": {} }))
    );
    assert!(set(json!({ "z:x": { "f:a": {} } })).is_empty());
}

#[test]
fn taking_a_field_leaves_those_below_and_above() {
    let both = || set(json!({ "f:a": { ".": {}, "f:b": {} } }));
    let (parent, child) = (
        set(json!({ "f:a": {} })),
        set(json!({ "f:a": { "f:b": {} } })),
    );
    assert_eq!(both().difference(&parent), child);
    assert_eq!(both().difference(&child), parent);
    assert_eq!(both().intersection(&parent), parent);
    assert!(parent.clone().intersection(&child).is_empty());
    assert!(both().difference(&both()).is_empty());
    assert_eq!(parent.union(child), both());
}

fn any_set() -> impl Strategy<Value = FieldSet> {
    let element = prop_oneof![
        "[a-c]".prop_map(PathElement::Field),
        (0..3_i64).prop_map(|value| PathElement::Value(Scalar(value.into()))),
        (0..3_i64)
            .prop_map(|value| PathElement::Key([("k".to_owned(), Scalar(value.into()))].into())),
    ];
    let path = prop::collection::vec(element, 0..4);
    prop::collection::vec(path, 0..12).prop_map(|paths| {
        let mut set = FieldSet::default();
        for path in paths {
            set.insert(path);
        }
        set
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(set in any_set()) {
        prop_assert_eq!(FieldSet::read(&set.write()).unwrap(), set);
    }

    #[test]
    fn union_is_what_it_is_in_whichever_order(a in any_set(), b in any_set(), c in any_set()) {
        prop_assert_eq!(a.clone().union(b.clone()), b.clone().union(a.clone()));
        prop_assert_eq!(a.clone().union(b.clone()).union(c.clone()), a.clone().union(b.union(c)));
        prop_assert_eq!(a.clone().union(a.clone()), a);
    }

    #[test]
    fn intersection_is_what_neither_difference_leaves(a in any_set(), b in any_set()) {
        let expected = a.clone().difference(&a.clone().difference(&b));
        prop_assert_eq!(a.clone().intersection(&b), expected.clone());
        prop_assert_eq!(b.intersection(&a), expected);
    }

    #[test]
    fn difference_and_intersection_make_the_whole(a in any_set(), b in any_set()) {
        let (with, without) = (a.clone().intersection(&b), a.clone().difference(&b));
        prop_assert!(with.clone().intersection(&without).is_empty());
        prop_assert_eq!(with.union(without), a);
    }

    #[test]
    fn what_is_taken_is_not_there_and_what_is_given_is(a in any_set(), b in any_set()) {
        prop_assert!(a.clone().difference(&b).intersection(&b).is_empty());
        prop_assert_eq!(a.union(b.clone()).intersection(&b), b);
    }
}
