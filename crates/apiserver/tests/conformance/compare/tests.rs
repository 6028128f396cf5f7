use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::in_answer;
use crate::side::Answer;

fn answer(code: u16, warning: &str, body: Value) -> Answer {
    let headers = BTreeMap::from([("warning", warning.to_owned())]);
    Answer {
        code: Some(code),
        headers,
        body,
    }
}

fn check(ours: &Answer, theirs: &Answer, expected: &[(&str, &str, &str)]) {
    let found = in_answer(ours, theirs);
    let found: Vec<_> = found
        .iter()
        .map(|(at, ours, theirs)| (&**at, &**ours, &**theirs))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn equal_answers_do_not_differ() {
    let one = answer(200, "w", json!({ "a": [1, null, { "b": "c" }] }));
    check(&one, &one, &[]);
}

#[test]
fn headers_and_every_place_in_the_body_are_told() {
    let ours = answer(
        404,
        "one",
        json!({ "a": [1, 2], "b": { "c/d": "x" }, "e": "", "g": null }),
    );
    let theirs = answer(
        404,
        "two",
        json!({ "a": [1, 3, 4], "b": { "c/d": "y" }, "f": "absent" }),
    );
    check(
        &ours,
        &theirs,
        &[
            ("warning", "one", "two"),
            ("/a/1", "2", "3"),
            ("/a/2", "absent", "4"),
            ("/b/c~1d", "x", "y"),
            ("/e", "\"\"", "absent"),
            ("/f", "absent", "\"absent\""),
            ("/g", "null", "absent"),
        ],
    );
}

#[test]
fn with_another_code_the_body_differs_as_a_whole() {
    check(
        &answer(200, "", json!({ "a": 1, "b": 2 })),
        &answer(404, "", json!({ "a": 2 })),
        &[
            ("code", "200", "404"),
            ("/", r#"{"a":1,"b":2}"#, r#"{"a":2}"#),
        ],
    );
}

#[test]
fn bodies_of_different_kinds_differ_as_a_whole() {
    check(
        &answer(200, "", json!("text")),
        &answer(200, "", json!({ "a": 1 })),
        &[("/", "text", r#"{"a":1}"#)],
    );
}

#[test]
fn a_missing_header_or_answer_is_a_difference() {
    let nothing = Answer::default();
    check(
        &nothing,
        &answer(200, "w", Value::Null),
        &[("code", "absent", "200"), ("warning", "absent", "w")],
    );
}
