//! Webhooks that refuse, and what the sender is told.

use serde_json::{Value, json};

use crate::hooks::{allow, always, patch};
use crate::stage::{map, same};

#[tokio::test]
async fn a_refusal_is_in_the_webhooks_words() {
    same("denied", async |stage| {
        let own = json!({ "code": 418, "reason": "Teapot", "message": "short and stout",
            "details": { "name": "pot", "causes": [{ "reason": "Tea", "message": "hot", "field": "spec" }] } });
        for (path, response) in [
            ("/silent", json!({ "allowed": false })),
            ("/message", json!({ "allowed": false, "status": { "message": "no" } })),
            ("/reason", json!({ "allowed": false, "status": { "reason": "Because" } })),
            ("/success", json!({ "allowed": false, "status": { "code": 200, "status": "Success" } })),
            ("/own", json!({ "allowed": false, "status": own })),
            ("/warned", json!({ "allowed": false, "warnings": ["careful"], "status": { "message": "no" } })),
        ] {
            stage.on(path, always(response));
            let selects = json!({ "objectSelector": { "matchLabels": { "at": path.trim_matches('/') } } });
            stage.configure("validating", path.trim_matches('/'), vec![stage.webhook(path, selects)]).await;
            let mut object = map("x");
            object["metadata"]["labels"] = json!({ "at": path.trim_matches('/') });
            let refused = stage.ask("POST", &stage.maps(), object).await;
            assert!(refused.code >= 400);
            assert!(refused.message().contains("denied the request"), "{}", refused.body);
        }
    })
    .await;
}

#[tokio::test]
async fn warnings_reach_the_sender_once() {
    same("warning", async |stage| {
        let warned = json!({ "allowed": true, "warnings": ["twice", "twice", "of \"a\" kind"], "auditAnnotations": { "a": "b" } });
        stage.on("/m", always(warned.clone()));
        stage.on("/v", always(warned));
        stage.configure("mutating", "m", vec![stage.webhook("/m", json!({}))]).await;
        stage.configure("validating", "v", vec![stage.webhook("/v", json!({}))]).await;
        let created = stage.ask("POST", &stage.maps(), map("x")).await;
        assert_eq!(created.code, 201);
        assert_eq!(created.warnings.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_a_webhook_makes_is_judged_like_what_anybody_sends() {
    same("invalid", async |stage| {
        for (path, operations) in [
            (
                "/invalid",
                json!([{ "op": "add", "path": "/data/not~1a~1key", "value": "1" }]),
            ),
            (
                "/shape",
                json!([{ "op": "add", "path": "/data/a", "value": 7 }]),
            ),
            (
                "/unknown",
                json!([{ "op": "add", "path": "/nonsense", "value": 7 }]),
            ),
            ("/missing", json!([{ "op": "remove", "path": "/data/b" }])),
            (
                "/path",
                json!([{ "op": "add", "path": "/spec/b/c", "value": "1" }]),
            ),
            (
                "/test",
                json!([{ "op": "test", "path": "/data/a", "value": "2" }]),
            ),
            ("/object", json!({ "data": {} })),
        ] {
            let name = path.trim_matches('/');
            stage.on(path, patch(&operations));
            let selects = json!({ "objectSelector": { "matchLabels": { "at": name } } });
            stage
                .configure("mutating", name, vec![stage.webhook(path, selects)])
                .await;
            let mut object = map(name);
            object["metadata"]["labels"] = json!({ "at": name });
            stage.ask("POST", &stage.maps(), object).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_deletion_can_be_refused_and_so_can_that_of_many() {
    same("delete", async |stage| {
        stage.on("/v", always(json!({ "allowed": false, "status": { "message": "kept" } })));
        stage.on("/m", allow());
        let kept = json!({ "objectSelector": { "matchLabels": { "kept": "yes" } },
            "rules": [{ "operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"] }] });
        stage.configure("mutating", "m", vec![stage.webhook("/m", kept.clone())]).await;
        stage.configure("validating", "v", vec![stage.webhook("/v", kept)]).await;
        let mut object = map("kept");
        object["metadata"]["labels"] = json!({ "kept": "yes" });
        stage.ask("POST", &stage.maps(), object).await;
        stage.ask("POST", &stage.maps(), map("gone")).await;
        let path = format!("{}/kept", stage.maps());
        let refused = stage.ask("DELETE", &path, json!({ "propagationPolicy": "Foreground", "kind": "DeleteOptions", "apiVersion": "v1" })).await;
        assert_eq!(refused.code, 400);
        stage.reviews();
        stage.ask("DELETE", &format!("{path}?propagationPolicy=Background"), Value::Null).await;
        stage.reviews();
        let refused = stage.ask("DELETE", &stage.maps(), Value::Null).await;
        assert_eq!(refused.code, 400);
        stage.reviews();
        assert_eq!(stage.ask("GET", &path, Value::Null).await.code, 200);
    })
    .await;
}

#[tokio::test]
async fn conditions_that_cannot_be_judged_count_as_the_webhooks_failure() {
    same("conditions", async |stage| {
        stage.on("/fail", allow());
        stage.on("/ignore", allow());
        let conditions = |policy: &str| {
            json!({ "failurePolicy": policy,
            "objectSelector": { "matchLabels": { "at": policy } },
            "matchConditions": [
                { "name": "broken", "expression": "object.data['nothing'] == 'x'" },
                { "name": "true", "expression": "true" },
            ] })
        };
        let hooks = vec![
            stage.webhook("/fail", conditions("Fail")),
            stage.webhook("/ignore", conditions("Ignore")),
        ];
        stage.configure("validating", "v", hooks).await;
        for (policy, code) in [("Fail", 403), ("Ignore", 201)] {
            let mut object = map(&policy.to_lowercase());
            object["metadata"]["labels"] = json!({ "at": policy });
            let answer = stage.ask("POST", &stage.maps(), object).await;
            assert_eq!(answer.code, code, "{}", answer.body);
        }
        assert!(stage.reviews().is_empty());
    })
    .await;
}

#[tokio::test]
async fn conditions_have_to_compile() {
    same("compile", async |stage| {
        for expression in ["object.", "nothing == 1", "'text'", "request.operation == 'CREATE'"] {
            let webhook = stage.webhook("/x", json!({ "matchConditions": [{ "name": "a", "expression": expression }] }));
            let body = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": { "name": stage.ns }, "webhooks": [webhook],
            });
            let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All";
            let answer = stage.quietly("POST", path, &body, &[]).await;
            stage.note(json!({ "code": answer.code, "message": answer.body["message"] }));
        }
    })
    .await;
}
