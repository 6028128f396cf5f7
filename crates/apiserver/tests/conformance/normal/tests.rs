use serde_json::{Value, json};

use super::normalise;
use crate::side::Answer;
use crate::transcript::Exchange;

const ONE: &str = "0b4f7a52-6d1c-4a55-9d2e-3c1f7d9a0001";
const TWO: &str = "0b4f7a52-6d1c-4a55-9d2e-3c1f7d9a0002";

fn exchange(sent: &str, body: Value) -> Exchange {
    let answer = Answer {
        body,
        ..Answer::default()
    };
    Exchange {
        asked: Vec::new(),
        number: 1,
        title: String::new(),
        sent: sent.to_owned(),
        answer,
        unexpected: None,
    }
}

fn check(given: impl IntoIterator<Item = (&'static str, Value)>, expected: &[Value]) {
    let mut exchanges: Vec<_> = given
        .into_iter()
        .map(|(sent, body)| exchange(sent, body))
        .collect();
    normalise(&mut exchanges, "lists-1");
    let bodies: Vec<_> = exchanges
        .into_iter()
        .map(|exchange| exchange.answer.body)
        .collect();
    assert_eq!(bodies, expected);
}

fn object(uid: &str, version: &str) -> Value {
    json!({ "metadata": { "uid": uid, "resourceVersion": version } })
}

#[test]
fn versions_keep_their_order_and_uids_their_identity() {
    check(
        [
            ("", object(ONE, "120")),
            ("", object(TWO, "99")),
            ("", object(ONE, "120")),
        ],
        &[
            object("<uid 1>", "<version 2>"),
            object("<uid 2>", "<version 1>"),
            object("<uid 1>", "<version 2>"),
        ],
    );
}

#[test]
fn the_version_of_a_list_is_placed_among_those_of_objects() {
    let list = |version: &str| json!({ "metadata": { "resourceVersion": version } });
    check(
        [
            ("", object(ONE, "10")),
            ("", list("10")),
            ("", list("900")),
            ("", list("3")),
            ("", list("0")),
        ],
        &[
            object("<uid 1>", "<version 1>"),
            list("<version 1 or later>"),
            list("<version 1 or later>"),
            list("<version 0 or later>"),
            list("0"),
        ],
    );
}

#[test]
fn versions_in_messages_are_renamed_unless_they_were_sent() {
    let message = |text: &str| json!({ "message": text });
    check(
        [
            ("", object(ONE, "77")),
            (
                "/x?resourceVersion=5",
                message("too old resource version: 5 (80)"),
            ),
            (
                "",
                message("ResourceVersion in precondition: 1, ResourceVersion in object meta: 77"),
            ),
            ("", message("must be no more than 63 (64)")),
        ],
        &[
            object("<uid 1>", "<version 1>"),
            message("too old resource version: 5 (<version 1 or later>)"),
            message(
                "ResourceVersion in precondition: <version 0 or later>, ResourceVersion in object meta: <version 1>",
            ),
            message("must be no more than 63 (64)"),
        ],
    );
}

#[test]
fn times_keep_their_precision_and_those_that_were_sent_stay() {
    check(
        [(
            "2001-02-03T04:05:06Z",
            json!([
                "2001-02-03T04:05:06Z",
                "2026-02-03T04:05:06Z",
                "2026-02-03T04:05:06.123456Z"
            ]),
        )],
        &[json!([
            "2001-02-03T04:05:06Z",
            "<time>",
            "<time with 6 digits>"
        ])],
    );
}

#[test]
fn generated_names_are_renamed_wherever_they_are_told() {
    let made = json!({ "metadata": { "generateName": "a-", "name": "a-bcd24" } });
    let refused = json!({ "details": { "name": "B-x2z4w" }, "message": "\"B-x2z4w\" is bad" });
    check(
        [
            ("", made),
            ("", json!("configmaps \"a-bcd24\" not found")),
            (r#"{"generateName":"B-"}"#, refused),
        ],
        &[
            json!({ "metadata": { "generateName": "a-", "name": "a-<generated 1>" } }),
            json!("configmaps \"a-<generated 1>\" not found"),
            json!({ "details": { "name": "B-<generated 2>" }, "message": "\"B-<generated 2>\" is bad" }),
        ],
    );
}

#[test]
fn a_name_that_was_given_is_not_taken_for_a_generated_one() {
    let given = json!({ "metadata": { "generateName": "a-", "name": "given" } });
    check([("", given.clone())], &[given]);
}

#[test]
fn pages_ages_tokens_and_the_namespace_are_renamed() {
    check(
        [(
            "",
            json!({
                "metadata": { "continue": "eyJ2Ijoi" },
                "rows": [{ "cells": ["a", 3, "5s", "2m3s", "5"] }],
                "token": "eyJh.eyJi.c-_d",
                "things.lists-1.example.dev": "in lists-1",
            }),
        )],
        &[json!({
            "metadata": { "continue": "<continue>" },
            "rows": [{ "cells": ["a", 3, "<age>", "<age>", "5"] }],
            "token": "<token>",
            "things.{ns}.example.dev": "in {ns}",
        })],
    );
}

#[test]
fn managed_fields_are_in_one_order() {
    let entry = |manager: &str, subresource: &str| json!({ "manager": manager, "subresource": subresource });
    let managed = |entries: [Value; 3]| json!({ "metadata": { "managedFields": entries } });
    check(
        [(
            "",
            managed([entry("b", ""), entry("a", "status"), entry("a", "")]),
        )],
        &[managed([
            entry("a", ""),
            entry("a", "status"),
            entry("b", ""),
        ])],
    );
}
