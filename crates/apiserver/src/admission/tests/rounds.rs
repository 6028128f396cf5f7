//! Webhooks that change an object, one after the other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::admission::mutation::Mutation;
use crate::admission::review::Reply;
use crate::refusal::Refusal;

/// What one webhook does: its name, whether it wants to see the object again, and what it answers.
type Actor<'a> = (&'a str, bool, fn(&Value) -> Value);

fn unchanged(_: &Value) -> Value {
    json!({ "allowed": true })
}

fn patched(operations: &Value) -> Value {
    let patch = STANDARD.encode(operations.to_string());
    json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch })
}

/// Appends its mark to what is there.
fn appends(request: &Value) -> Value {
    let there = request["object"]["data"]["a"].as_str().unwrap_or_default();
    patched(&json!([{ "op": "replace", "path": "/data/a", "value": format!("{there}+") }]))
}

fn mutation(actors: &[Actor<'_>], attributes: Attributes) -> Mutation {
    let webhooks = actors.iter().map(|(name, again, _)| {
        let policy = if *again { "IfNeeded" } else { "Never" };
        webhook(name, json!({ "reinvocationPolicy": policy }))
    });
    let registry = registry(Phase::Mutating, &[("c", webhooks.collect())]);
    let hooks = registry.concerned(Phase::Mutating, &attributes.resource);
    let mut count = 0;
    let uid = move || {
        count += 1;
        count.to_string()
    };
    Mutation::new(attributes, hooks, |_, object| Ok(object), Box::new(uid))
}

/// Plays it to the end: who was asked, and what came out.
fn play(
    actors: &[Actor<'_>],
    attributes: Attributes,
) -> Result<(Vec<String>, Option<Object>), Refusal> {
    let mut mutation = mutation(actors, attributes);
    let mut asked = Vec::new();
    while mutation.advance()? {
        let question = mutation.question().expect("there is one to ask");
        let name = question.hook.name.clone();
        let review: Value = serde_json::from_slice(&question.body).expect("it is JSON");
        let (_, _, act) = actors
            .iter()
            .find(|(actor, _, _)| *actor == name)
            .expect("an actor");
        let mut response = act(&review["request"]);
        response["uid"] = review["request"]["uid"].clone();
        let answer = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
        asked.push(name);
        mutation.answer(Ok(Reply {
            code: 200,
            content_type: None,
            body: answer.to_string().into(),
        }))?;
    }
    Ok((asked, mutation.conclude().object))
}

#[test]
fn each_sees_what_the_one_before_it_made() {
    let actors: [Actor<'_>; 2] = [("1", false, appends), ("2", false, appends)];
    let (asked, object) = play(&actors, attributes()).unwrap();
    assert_eq!(asked, ["1", "2"]);
    assert_eq!(object.unwrap()["data"]["a"], "1++");
}

#[test]
fn whoever_wants_to_is_asked_again_after_a_later_change_and_never_a_third_time() {
    for (actors, expected) in [
        // Nothing was changed.
        (
            vec![
                ("1", true, unchanged as fn(&Value) -> Value),
                ("2", true, unchanged),
            ],
            vec!["1", "2"],
        ),
        // Its own change is no reason to ask it again.
        (
            vec![("1", true, appends), ("2", false, unchanged)],
            vec!["1", "2"],
        ),
        (
            vec![("1", true, unchanged), ("2", false, appends)],
            vec!["1", "2", "1"],
        ),
        (
            vec![("1", false, unchanged), ("2", false, appends)],
            vec!["1", "2"],
        ),
        // Each changes it for the other, once.
        (
            vec![("1", true, appends), ("2", true, appends)],
            vec!["1", "2", "1", "2"],
        ),
        (
            vec![
                ("1", true, unchanged),
                ("2", true, unchanged),
                ("3", true, appends),
            ],
            vec!["1", "2", "3", "1", "2"],
        ),
    ] {
        let (asked, _) = play(&actors, attributes()).unwrap();
        let names: Vec<_> = actors
            .iter()
            .map(|(name, again, _)| (name, again))
            .collect();
        assert_eq!(asked, expected, "{names:?}");
    }
}

#[test]
fn who_was_left_out_at_first_is_not_asked_later() {
    let changes = webhook("1", json!({}));
    let labelled = webhook(
        "0",
        json!({ "objectSelector": { "matchLabels": { "a": "b" } }, "reinvocationPolicy": "IfNeeded" }),
    );
    let registry = registry(Phase::Mutating, &[("c", vec![labelled, changes])]);
    let hooks = registry.concerned(Phase::Mutating, &resource("configmaps"));
    let mut mutation = Mutation::new(
        attributes(),
        hooks,
        |_, object| Ok(object),
        Box::new(|| "1".to_owned()),
    );
    assert!(mutation.advance().unwrap());
    let mut response =
        patched(&json!([{ "op": "add", "path": "/metadata/labels", "value": { "a": "b" } }]));
    response["uid"] = "1".into();
    let answer = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
    let body = answer.to_string().into();
    let reply = Reply {
        code: 200,
        content_type: None,
        body,
    };
    mutation.answer(Ok(reply)).unwrap();
    assert!(mutation.has_changed());
    assert!(!mutation.advance().unwrap());
}

#[test]
fn a_patch_that_does_not_apply_is_our_fault_whatever_the_policy() {
    for (operations, says) in [
        (
            json!([{ "op": "remove", "path": "/data/b" }]),
            "error in remove for path: '/data/b': Unable to remove nonexistent key: b: missing value",
        ),
        (
            json!([{ "op": "add", "path": "/spec/a", "value": 1 }]),
            "add operation does not apply: doc is missing path: \"/spec/a\": missing value",
        ),
        (
            json!([{ "op": "replace", "path": "/spec/a", "value": 1 }]),
            "replace operation does not apply: doc is missing path: /spec/a: missing value",
        ),
        (
            json!([{ "op": "test", "path": "/data/a", "value": "2" }]),
            "testing value /data/a failed: test failed",
        ),
        (
            json!([{ "op": "dance", "path": "/data/a" }]),
            "Unexpected kind: dance",
        ),
    ] {
        let shown = attributes().object.unwrap();
        let why =
            crate::patch::apply_operations(&shown, operations.as_array().unwrap()).unwrap_err();
        assert_eq!(why, says);
    }
    let actors: [Actor<'_>; 1] = [("1", false, |_| {
        patched(&json!([{ "op": "remove", "path": "/data/b" }]))
    })];
    let refusal = play(&actors, attributes()).unwrap_err();
    assert_eq!((refusal.code, refusal.reason), (500, "InternalError"));
}

#[test]
fn an_object_that_goes_cannot_be_changed() {
    let doomed = Attributes {
        operation: Operation::Delete,
        old: attributes().object,
        object: None,
        ..attributes()
    };
    let actors: [Actor<'_>; 1] = [("1", false, |_| {
        patched(&json!([{ "op": "remove", "path": "/data" }]))
    })];
    let refusal = play(&actors, doomed.clone()).unwrap_err();
    assert_eq!(
        refusal.message,
        "Internal error occurred: admission webhook \"1\" attempted to modify the object, which is not supported for this operation"
    );
    let actors: [Actor<'_>; 1] = [("1", false, unchanged)];
    assert_eq!(play(&actors, doomed).unwrap(), (vec!["1".to_owned()], None));
}

#[test]
fn who_does_something_on_every_request_is_not_asked_about_one_that_does_nothing() {
    let registry = registry(
        Phase::Mutating,
        &[("c", vec![webhook("w", json!({ "sideEffects": "Some" }))])],
    );
    let hooks = registry.concerned(Phase::Mutating, &resource("configmaps"));
    let dry = Attributes {
        dry_run: true,
        ..attributes()
    };
    let mut mutation = Mutation::new(dry, hooks, |_, object| Ok(object), Box::new(String::new));
    let refusal = mutation.advance().unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (400, "admission webhook \"w\" does not support dry run")
    );
}
