//! What happens to objects because of others is shown to webhooks, too.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::eventually;

use crate::hooks::{Behaviour, judge, patch};
use crate::stage::{SOON, Stage, map, rule, same};

/// Refuses the first two deletions that controllers ask for.
fn reluctant() -> Behaviour {
    let refused = AtomicUsize::new(0);
    judge(move |request| {
        let by_controller = controller(request).is_some();
        let deletes = request["operation"] == "DELETE";
        let allowed = !by_controller || !deletes || refused.fetch_add(1, Ordering::SeqCst) >= 2;
        json!({ "allowed": allowed, "status": { "message": "not yet" } })
    })
}

/// The controller that a question comes from.
fn controller(request: &Value) -> Option<String> {
    let name = request["userInfo"]["username"].as_str()?;
    let name = name.strip_prefix("system:serviceaccount:kube-system:")?;
    Some(name.to_owned())
}

/// Creates an owner and something that belongs to it.
async fn family(stage: &Stage) {
    let owner = stage.ask("POST", &stage.maps(), map("owner")).await;
    let mut dependent = map("dependent");
    dependent["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner.body["metadata"]["uid"],
    }]);
    stage.ask("POST", &stage.maps(), dependent).await;
}

/// Waits for an object's end.
async fn gone(stage: &Stage, path: &str) {
    eventually(SOON, "the end of an object", async || {
        let answer = stage.quietly("GET", path, &Value::Null, &[]).await;
        match answer.code {
            404 => Ok(()),
            code => Err(format!("{code}: {}", answer.body)),
        }
    })
    .await
    .unwrap();
}

/// What controllers asked last about each object, and how often: times are their own.
fn note_controllers(stage: &Stage) -> usize {
    let asked = stage.hooks.asked().into_iter();
    let asked: Vec<Value> = asked
        .map(|(_, mut review)| review["request"].take())
        .filter(|request| controller(request).is_some())
        .collect();
    let count = asked.len();
    let mut last = std::collections::BTreeMap::new();
    for request in asked {
        let object = &request["oldObject"]["metadata"]["name"];
        let place = (object.to_string(), request["operation"].to_string());
        last.insert(place, request);
    }
    for mut request in last.into_values() {
        let controller = controller(&request);
        request["userInfo"] = json!({ "controller": controller });
        stage.note(request);
    }
    count
}

#[tokio::test]
async fn a_dependent_goes_when_webhooks_let_it() {
    same("dependent", async |stage| {
        stage.on("/reluctant", reluctant());
        let hook = stage.webhook("/reluctant", json!({}));
        stage.configure("validating", "v", vec![hook]).await;
        family(stage).await;
        stage.hooks.asked();
        let path = format!("{}/owner", stage.maps());
        stage.ask("DELETE", &path, Value::Null).await;
        gone(stage, &format!("{}/dependent", stage.maps())).await;
        assert_eq!(note_controllers(stage), 3);
    })
    .await;
}

#[tokio::test]
async fn what_is_cut_loose_is_shown_and_may_be_changed() {
    same("orphan", async |stage| {
        let add = json!([{ "op": "add", "path": "/data/hooked", "value": "yes" }]);
        stage.on("/add", patch(&add));
        let rules = json!({ "rules": [rule(&["UPDATE"], "", "configmaps")] });
        let hook = stage.webhook("/add", rules);
        family(stage).await;
        stage.configure("mutating", "m", vec![hook]).await;
        stage.hooks.asked();
        let path = format!("{}/owner?propagationPolicy=Orphan", stage.maps());
        stage.ask("DELETE", &path, Value::Null).await;
        gone(stage, &format!("{}/owner", stage.maps())).await;
        let path = format!("{}/dependent", stage.maps());
        let left = stage.ask("GET", &path, Value::Null).await;
        assert_eq!(left.body["data"]["hooked"], "yes");
        note_controllers(stage);
    })
    .await;
}

#[tokio::test]
async fn an_owner_that_waits_for_its_dependents_is_released_through_webhooks() {
    same("foreground", async |stage| {
        stage.on("/reluctant", reluctant());
        let hook = stage.webhook("/reluctant", json!({}));
        stage.configure("validating", "v", vec![hook]).await;
        family(stage).await;
        stage.hooks.asked();
        let path = format!("{}/owner?propagationPolicy=Foreground", stage.maps());
        stage.ask("DELETE", &path, Value::Null).await;
        gone(stage, &format!("{}/owner", stage.maps())).await;
        gone(stage, &format!("{}/dependent", stage.maps())).await;
        note_controllers(stage);
    })
    .await;
}

#[tokio::test]
async fn a_namespace_ends_when_webhooks_let_its_content_go() {
    same("ending", async |stage| {
        let other = format!("{}-b", stage.ns);
        let namespace = json!({ "metadata": { "name": other } });
        stage.ask("POST", "/api/v1/namespaces", namespace).await;
        let maps = format!("/api/v1/namespaces/{other}/configmaps");
        for name in ["a", "b"] {
            stage.ask("POST", &maps, map(name)).await;
        }
        stage.on("/reluctant", reluctant());
        let selector = json!({ "matchLabels": { "kubernetes.io/metadata.name": other } });
        let but = json!({ "namespaceSelector": selector });
        let hook = stage.webhook("/reluctant", but);
        stage.configure("validating", "v", vec![hook]).await;
        let path = format!("/api/v1/namespaces/{other}");
        stage.ask("DELETE", &path, Value::Null).await;
        gone(stage, &path).await;
        note_controllers(stage);
    })
    .await;
}
