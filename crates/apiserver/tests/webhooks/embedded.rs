//! What only our own API can be asked for, or has no need to be compared in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Response;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::service_fn;

use apiserver::Services;

use crate::hooks::respond;
use crate::stage::{Embedded, SOON, map, rule};

#[tokio::test]
async fn a_webhook_in_the_same_process_is_called_by_the_name_of_its_service() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let service = service_fn(
        move |request: http::Request<http_body_util::Full<bytes::Bytes>>| {
            count.fetch_add(1, Ordering::SeqCst);
            async move {
                assert_eq!(request.uri().path(), "/check");
                let body = request.into_body().collect().await?.to_bytes();
                let review: Value = serde_json::from_slice(&body).unwrap();
                let name = review["request"]["name"].as_str().unwrap_or_default();
                let response =
                    json!({ "allowed": name != "bad", "status": { "message": "not this one" } });
                Ok::<Response<_>, std::convert::Infallible>(respond(&review, response))
            }
        },
    );
    let embedded = Embedded::open(Services::default().with("system", "check", service)).await;
    let stage = embedded.stage("inside").await;
    let client = json!({ "service": { "namespace": "system", "name": "check", "path": "/check" } });
    let hook = stage.webhook("/x", json!({ "clientConfig": client }));
    stage.configure("validating", "v", vec![hook]).await;
    let good = stage
        .quietly("POST", &stage.maps(), &map("good"), &[])
        .await;
    assert_eq!(good.code, 201);
    let bad = stage.quietly("POST", &stage.maps(), &map("bad"), &[]).await;
    assert_eq!(
        (bad.code, bad.message()),
        (
            400,
            "admission webhook \"x.example.com\" denied the request: not this one"
        )
    );
    assert!(asked.load(Ordering::SeqCst) >= 2);
}

#[tokio::test]
async fn a_refusal_of_everything_can_be_taken_away() {
    let embedded = Embedded::open(Services::default()).await;
    let stage = embedded.stage("lockout").await;
    let client = json!({ "service": { "namespace": "system", "name": "nobody" } });
    let hook = stage.webhook(
        "/x",
        json!({
            "clientConfig": client, "rules": [rule(&["*"], "*", "*/*")], "namespaceSelector": {},
        }),
    );
    stage.configure("validating", "v", vec![hook]).await;
    let refused = stage.quietly("POST", &stage.maps(), &map("x"), &[]).await;
    assert_eq!(refused.code, 500);
    let path = format!(
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{}-v",
        stage.ns
    );
    let gone = stage.quietly("DELETE", &path, &Value::Null, &[]).await;
    assert_eq!(gone.code, 200, "{}", gone.body);
    testkit::eventually(SOON, "a write", async || {
        let written = stage.quietly("POST", &stage.maps(), &map("x"), &[]).await;
        (written.code == 201).then_some(())
    })
    .await
    .unwrap();
}
