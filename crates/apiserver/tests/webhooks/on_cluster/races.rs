//! What happens to an object while webhooks are asked about it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::hooks::{Behaviour, respond};
use crate::stage::{map, rule, same, send};

#[tokio::test]
async fn a_webhook_may_write_while_it_is_asked() {
    same("nested", async |stage| {
        let (client, path) = (stage.client.clone(), stage.maps());
        let writes: Behaviour = Arc::new(move |review: Value| {
            let (client, path) = (client.clone(), path.clone());
            Box::pin(async move {
                let inner =
                    json!({ "metadata": { "name": "inner", "labels": { "inner": "yes" } } });
                let written = send(&client, "POST", &path, &inner, &[]).await;
                let allowed = written.code == 201;
                respond(&review, json!({ "allowed": allowed }))
            })
        });
        stage.on("/writes", writes);
        let outer = json!({ "objectSelector": { "matchLabels": { "outer": "yes" } } });
        stage
            .configure("validating", "v", vec![stage.webhook("/writes", outer)])
            .await;
        let mut object = map("outer");
        object["metadata"]["labels"] = json!({ "outer": "yes" });
        let created = stage.ask("POST", &stage.maps(), object).await;
        assert_eq!(created.code, 201, "{}", created.body);
        let inner = stage
            .ask("GET", &format!("{}/inner", stage.maps()), Value::Null)
            .await;
        assert_eq!(inner.code, 200);
    })
    .await;
}

#[tokio::test]
async fn patches_that_meet_in_a_slow_webhook_both_arrive() {
    same("meet", async |stage| {
        let (meeting, asked) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&asked);
        let slow: Behaviour = Arc::new(move |review: Value| {
            let (meeting, number) = (Arc::clone(&meeting), count.fetch_add(1, Ordering::SeqCst));
            Box::pin(async move {
                // The first two meet here; whoever comes back comes alone.
                if number < 2 {
                    meeting.wait().await;
                }
                respond(&review, json!({ "allowed": true }))
            })
        });
        stage.quietly("POST", &stage.maps(), &map("x"), &[]).await;
        stage.on("/slow", slow);
        let hook = stage.webhook(
            "/slow",
            json!({ "rules": [rule(&["UPDATE"], "", "configmaps")] }),
        );
        stage.configure("mutating", "m", vec![hook]).await;
        let path = format!("{}/x", stage.maps());
        let patches = ["b", "c"].map(|key| {
            let (path, body) = (path.clone(), json!({ "data": { key: "2" } }));
            async move { stage.quietly("PATCH", &path, &body, &[]).await }
        });
        for answer in join_all(patches).await {
            assert_eq!(answer.code, 200, "{}", answer.body);
        }
        let there = stage.quietly("GET", &path, &Value::Null, &[]).await;
        assert_eq!(there.body["data"], json!({ "a": "1", "b": "2", "c": "2" }));
        assert!(
            asked.load(Ordering::SeqCst) >= 3,
            "one was worked out again"
        );
        stage.note(there.body["data"].clone());
    })
    .await;
}

#[tokio::test]
async fn an_update_of_what_was_changed_meanwhile_conflicts() {
    same("conflict", async |stage| {
        let created = stage.quietly("POST", &stage.maps(), &map("x"), &[]).await;
        let (client, path) = (stage.client.clone(), format!("{}/x", stage.maps()));
        let there = path.clone();
        let meddles: Behaviour = Arc::new(move |review: Value| {
            let (client, path) = (client.clone(), there.clone());
            Box::pin(async move {
                let meddled = json!({ "metadata": { "labels": { "meddled": "yes" } } });
                let patched = send(&client, "PATCH", &path, &meddled, &[]).await;
                respond(&review, json!({ "allowed": patched.code == 200 }))
            })
        });
        stage.on("/meddles", meddles);
        let only = json!({ "matchConditions": [{ "name": "a", "expression": "has(object.data) && 'new' in object.data" }],
            "rules": [rule(&["UPDATE"], "", "configmaps")] });
        stage.configure("mutating", "m", vec![stage.webhook("/meddles", only)]).await;
        let mut stale = created.body;
        stale["data"] = json!({ "new": "1" });
        let refused = stage.ask("PUT", &path, stale).await;
        assert_eq!(refused.code, 409, "{}", refused.body);
    })
    .await;
}
