use std::collections::BTreeMap;

use serde_json::json;

use super::Values;

fn values() -> Values {
    let mut values = Values::default();
    values.set("ns", "x-1");
    values
}

#[test]
fn names_in_braces_are_filled_in_texts_and_keys() {
    assert_eq!(values().fill("/a/{ns}/b?c={ns}").unwrap(), "/a/x-1/b?c=x-1");
    let filled = values()
        .fill_value(&json!({ "k.{ns}": ["{ns}", 5, null] }))
        .unwrap();
    assert_eq!(filled, json!({ "k.x-1": ["x-1", 5, null] }));
}

#[test]
fn other_braces_mean_themselves() {
    for text in [r#"{"a":{}}"#, "{.spec.x}", "^[a-z]{2}$", "{Upper}"] {
        assert_eq!(values().fill(text).unwrap(), text);
    }
}

#[test]
fn a_name_that_nothing_is_saved_under_is_an_error() {
    assert_eq!(
        values().fill("{none}").unwrap_err(),
        "nothing is saved as `none`"
    );
}

#[test]
fn what_an_answer_does_not_have_is_saved_as_nothing() {
    let mut values = values();
    let wanted = BTreeMap::from([("a", "/a"), ("b", "/b"), ("c", "/c/0")]);
    let wanted = wanted
        .into_iter()
        .map(|(name, at)| (name.to_owned(), at.to_owned()))
        .collect();
    values.save(&wanted, &json!({ "a": "text", "c": [7] }));
    assert_eq!(values.fill("{a}|{b}|{c}").unwrap(), "text||7");
}
