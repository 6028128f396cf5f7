//! What the answers of webhooks come to.

use super::*;
use crate::admission::review::Reply;
use crate::admission::validation::Validation;
use crate::admission::verdict::Answered;
use crate::refusal::Refusal;

/// Asks one webhook about an object, and takes this for its answer.
fn conclude(but: Value, answered: &Answered) -> Result<Vec<String>, Refusal> {
    let registry = registry(Phase::Validating, &[("c", vec![webhook("w", but)])]);
    let hooks = registry.concerned(Phase::Validating, &resource("configmaps"));
    let validation = Validation::new(&attributes(), &hooks, || "7".to_owned())?;
    let validation = validation.expect("somebody is concerned");
    let answers = validation.questions().iter().map(|_| answered.clone());
    let answers = answers.collect();
    validation
        .conclude(answers)
        .map(|admitted| admitted.warnings)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "answers are compared with the lack of one"
)]
fn json_reply(body: &Value) -> Answered {
    let reply = Reply {
        code: 200,
        content_type: Some("application/json".to_owned()),
        body: body.to_string().into(),
    };
    Answered::Ok(reply)
}

fn response(response: &Value) -> Answered {
    json_reply(
        &json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response }),
    )
}

#[test]
fn a_refusal_is_a_status_with_the_webhooks_own_words() {
    for (status, code, message, reason) in [
        (
            Value::Null,
            400,
            "admission webhook \"w\" denied the request without explanation",
            None,
        ),
        (
            json!({ "message": "no" }),
            400,
            "admission webhook \"w\" denied the request: no",
            None,
        ),
        (
            json!({ "reason": "Because" }),
            400,
            "admission webhook \"w\" denied the request: Because",
            Some("Because"),
        ),
        (
            json!({ "code": 200, "status": "Success", "message": "no" }),
            400,
            "admission webhook \"w\" denied the request: no",
            None,
        ),
        (
            json!({ "code": 418, "reason": "Teapot", "message": "no" }),
            418,
            "admission webhook \"w\" denied the request: no",
            Some("Teapot"),
        ),
    ] {
        let answer = response(
            &json!({ "uid": "7", "allowed": false, "status": status, "warnings": ["careful"] }),
        );
        let refusal = conclude(json!({ "failurePolicy": "Ignore" }), &answer).unwrap_err();
        assert_eq!((refusal.code, refusal.message.as_str()), (code, message));
        let status = refusal.status();
        assert_eq!(status["status"], "Failure");
        assert_eq!(status["code"], code);
        assert_eq!(status.get("reason").and_then(Value::as_str), reason);
        assert_eq!(refusal.warnings(), ["careful"]);
    }
}

#[test]
fn what_makes_no_sense_is_a_failure_that_the_policy_decides_about() {
    let review = |version: &str| json!({ "apiVersion": version, "kind": "AdmissionReview", "response": { "uid": "7", "allowed": true } });
    for (answered, says) in [
        (
            Err("failed to call webhook: Post \"https://x\": context deadline exceeded".to_owned()),
            "failed to call webhook: Post \"https://x\": context deadline exceeded",
        ),
        (
            response(&json!({ "uid": "8", "allowed": true })),
            "received invalid webhook response: expected response.uid=\"7\", got \"8\"",
        ),
        (
            response(&json!({ "uid": "7", "allowed": true, "patch": "W10=" })),
            "received invalid webhook response: validating webhook may not return response.patch",
        ),
        (
            json_reply(&json!({})),
            "received invalid webhook response: webhook response was absent",
        ),
        (
            json_reply(&review("admission.k8s.io/v1beta1")),
            "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            json_reply(&json!({ "response": { "uid": "7", "allowed": true } })),
            "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
    ] {
        let refusal = conclude(json!({}), &answered).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (500, "InternalError"));
        assert_eq!(
            refusal.message,
            format!("Internal error occurred: failed calling webhook \"w\": {says}")
        );
        assert_eq!(
            conclude(json!({ "failurePolicy": "Ignore" }), &answered),
            Ok(Vec::new())
        );
    }
}

#[test]
fn the_older_review_is_spoken_and_asks_for_less() {
    let older = json!({ "admissionReviewVersions": ["v1beta1"] });
    let answer = json_reply(&json!({ "response": { "allowed": true, "warnings": ["a"] } }));
    assert_eq!(conclude(older, &answer), Ok(vec!["a".to_owned()]));
}

#[test]
fn a_question_says_everything_about_the_request() {
    let registry = registry(Phase::Validating, &[("c", vec![webhook("w", json!({}))])]);
    let hooks = registry.concerned(Phase::Validating, &resource("configmaps"));
    let validation = Validation::new(&attributes(), &hooks, || "7".to_owned())
        .unwrap()
        .unwrap();
    let review: Value = serde_json::from_slice(&validation.questions()[0].body).unwrap();
    let kind = json!({ "group": "", "version": "v1", "kind": "ConfigMap" });
    let resource = json!({ "group": "", "version": "v1", "resource": "configmaps" });
    assert_eq!(
        review,
        json!({
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "7", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
                "name": "x", "namespace": "a", "operation": "CREATE",
                "userInfo": { "username": "zonewright-admin", "groups": ["system:masters", "system:authenticated"] },
                "object": attributes().object, "oldObject": null, "dryRun": false, "options": {},
            },
        })
    );
}
