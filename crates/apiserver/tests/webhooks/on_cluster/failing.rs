//! Webhooks that cannot be asked, or make no sense.

use serde_json::{Value, json};

use crate::hooks::{always, nonsense, silent, stranger};
use crate::stage::{Stage, map, same};

/// Asks a webhook at a path, under both policies, in both phases.
async fn both_policies(stage: &Stage, path: &str, but: Value) {
    let name = path.trim_matches('/');
    for kind in ["mutating", "validating"] {
        let hooks = ["Fail", "Ignore"].map(|policy| {
            let label = format!("{name}-{kind}-{policy}");
            let mut but = but.clone();
            but["name"] = format!("{name}.{}.example.com", policy.to_lowercase()).into();
            but["failurePolicy"] = policy.into();
            but["objectSelector"] = json!({ "matchLabels": { "at": label } });
            stage.webhook(path, but)
        });
        stage.configure(kind, name, hooks.into()).await;
        for (policy, is_refused) in [("Fail", true), ("Ignore", false)] {
            let mut object = map(&format!("{name}-{kind}-{}", policy.to_lowercase()));
            object["metadata"]["labels"] = json!({ "at": format!("{name}-{kind}-{policy}") });
            let answer = stage.ask("POST", &stage.maps(), object).await;
            assert_eq!(answer.code == 500, is_refused, "{}", answer.body);
            if is_refused {
                assert!(
                    answer.message().contains("failed calling webhook"),
                    "{}",
                    answer.body
                );
            }
        }
    }
}

#[tokio::test]
async fn one_that_does_not_answer_in_time() {
    same("late", async |stage| {
        stage.on("/late", silent());
        both_policies(stage, "/late", json!({ "timeoutSeconds": 1 })).await;
    })
    .await;
}

#[tokio::test]
async fn one_that_is_not_there() {
    same("refused", async |stage| {
        // A port that was just free.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let url = format!("https://127.0.0.1:{port}/x");
        let client = json!({ "url": url, "caBundle": stage.hooks.authority });
        let name = "refused";
        let hook = stage.webhook("/refused", json!({ "clientConfig": client, "objectSelector": { "matchLabels": { "at": name } } }));
        stage.configure("mutating", name, vec![hook]).await;
        let mut object = map("x");
        object["metadata"]["labels"] = json!({ "at": name });
        let answer = stage.quietly("POST", &stage.maps(), &object, &[]).await;
        stage.note(json!({ "code": answer.code, "says": answer.message().replace(&port.to_string(), "{other}") }));
        assert!(answer.message().ends_with("connect: connection refused"), "{}", answer.body);
    })
    .await;
}

#[tokio::test]
async fn one_whose_certificate_is_not_believed() {
    same("stranger", async |stage| {
        let url = stage.hooks.url("/stranger");
        both_policies(
            stage,
            "/stranger",
            json!({ "clientConfig": { "url": url, "caBundle": stranger() } }),
        )
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_service_that_is_not_there() {
    same("service", async |stage| {
        let service =
            json!({ "service": { "namespace": stage.ns, "name": "nobody", "path": "/a/b" } });
        both_policies(stage, "/service", json!({ "clientConfig": service })).await;
    })
    .await;
}

#[tokio::test]
async fn answers_that_are_no_reviews() {
    same("garbage", async |stage| {
        for (path, code, content_type, body) in [
            ("/text", 200, "text/plain", "hello"),
            ("/empty", 200, "application/json", ""),
            ("/list", 200, "application/json", "[]"),
            ("/nothing", 200, "application/json", "{}"),
            ("/other-kind", 200, "application/json", r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"allowed":true}}"#),
            ("/error", 500, "text/plain", "broken\n"),
            ("/error-json", 500, "application/json", "{}"),
            ("/missing", 404, "text/plain", "not here"),
            ("/unavailable", 503, "text/plain", "later"),
            ("/status", 400, "application/json", r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"own words","code":400}"#),
        ] {
            stage.on(path, nonsense(code, content_type, body));
            both_policies(stage, path, json!({})).await;
        }
    })
    .await;
}

#[tokio::test]
async fn answers_to_something_else() {
    same("wrong", async |stage| {
        let review = |response: Value| {
            let review = json!({ "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response });
            nonsense(200, "application/json", review.to_string().leak())
        };
        stage.on("/uid", review(json!({ "uid": "other", "allowed": true })));
        stage.on("/no-uid", review(json!({ "allowed": true })));
        for path in ["/uid", "/no-uid"] {
            both_policies(stage, path, json!({})).await;
        }
    })
    .await;
}

#[tokio::test]
async fn patches_without_a_kind_or_of_an_unknown_one() {
    same("patches", async |stage| {
        for (path, response) in [
            ("/untyped", json!({ "allowed": true, "patch": "W10=" })),
            (
                "/unpatched",
                json!({ "allowed": true, "patchType": "JSONPatch" }),
            ),
        ] {
            stage.on(path, always(response));
            let name = path.trim_matches('/');
            stage
                .configure("mutating", name, vec![stage.webhook(path, json!({}))])
                .await;
            stage.ask("POST", &stage.maps(), map(name)).await;
        }
    })
    .await;
}
