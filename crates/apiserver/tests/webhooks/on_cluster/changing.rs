//! Webhooks that change what is written.

use serde_json::{Value, json};

use crate::hooks::{allow, always, judge, patch};
use crate::stage::{SOON, map, rule, same};

fn add(path: &str, value: &str) -> Value {
    json!([{ "op": "add", "path": path, "value": value }])
}

#[tokio::test]
async fn what_one_changed_the_next_one_sees_and_the_last_word_is_on_what_came_out() {
    same("chain", async |stage| {
        stage.on("/b", patch(&add("/data/b", "2")));
        stage.on("/c", patch(&add("/data/c", "3")));
        stage.on("/d", allow());
        let hooks = ["/b", "/c"].map(|path| stage.webhook(path, json!({})));
        stage.configure("mutating", "m", hooks.into()).await;
        stage
            .configure("validating", "v", vec![stage.webhook("/d", json!({}))])
            .await;
        let created = stage.ask("POST", &stage.maps(), map("x")).await;
        assert_eq!(created.code, 201);
        assert_eq!(
            created.body["data"],
            json!({ "a": "1", "b": "2", "c": "3" })
        );
        let asked: Vec<String> = stage.reviews().into_iter().map(|(path, _)| path).collect();
        assert_eq!(asked, ["/b", "/c", "/d"]);
        let path = format!("{}/x", stage.maps());
        let put = json!({ "metadata": { "name": "x" }, "data": { "z": "9" } });
        stage.ask("PUT", &path, put).await;
        stage.reviews();
        let patched = stage
            .ask("PATCH", &path, json!({ "data": { "y": "8" } }))
            .await;
        assert_eq!(patched.body["data"]["c"], "3");
        stage.reviews();
        stage.ask("DELETE", &path, Value::Null).await;
    })
    .await;
}

#[tokio::test]
async fn configurations_are_asked_by_name_and_their_webhooks_in_order() {
    same("order", async |stage| {
        for path in ["/1", "/2", "/3"] {
            stage.on(path, allow());
        }
        let later = vec![stage.webhook("/3", json!({}))];
        stage.configure("mutating", "b", later).await;
        let first = ["/1", "/2"].map(|path| stage.webhook(path, json!({})));
        stage.configure("mutating", "a", first.into()).await;
        stage.ask("POST", &stage.maps(), map("x")).await;
        let asked: Vec<String> = stage.reviews().into_iter().map(|(path, _)| path).collect();
        assert_eq!(asked, ["/1", "/2", "/3"]);
    })
    .await;
}

#[tokio::test]
async fn whoever_asked_for_it_sees_what_those_after_it_changed() {
    same("again", async |stage| {
        stage.on("/first", allow());
        stage.on("/never", allow());
        stage.on("/changes", patch(&add("/data/b", "2")));
        stage.on("/after", allow());
        let again = json!({ "reinvocationPolicy": "IfNeeded" });
        let hooks = vec![
            stage.webhook("/first", again.clone()),
            stage.webhook("/never", json!({})),
            stage.webhook("/changes", json!({})),
            stage.webhook("/after", again),
        ];
        stage.configure("mutating", "m", hooks).await;
        stage.ask("POST", &stage.maps(), map("x")).await;
        let asked: Vec<String> = stage.reviews().into_iter().map(|(path, _)| path).collect();
        assert_eq!(asked, ["/first", "/never", "/changes", "/after", "/first"]);
    })
    .await;
}

#[tokio::test]
async fn a_name_that_is_made_up_is_seen_by_those_who_have_the_last_word() {
    same("generated", async |stage| {
        stage.on(
            "/m",
            patch(&add("/metadata/labels", "x").replaced(json!({ "a": "b" }))),
        );
        stage.on(
            "/v",
            judge(|request| {
                let named = request["name"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("made-"));
                json!({ "allowed": named })
            }),
        );
        stage
            .configure("mutating", "m", vec![stage.webhook("/m", json!({}))])
            .await;
        stage
            .configure("validating", "v", vec![stage.webhook("/v", json!({}))])
            .await;
        let body = json!({ "metadata": { "generateName": "made-" } });
        let created = stage.quietly("POST", &stage.maps(), &body, &[]).await;
        assert_eq!(created.code, 201, "{}", created.body);
        let asked = stage.hooks.asked();
        let first = &asked[0].1["request"];
        assert_eq!(
            (first.get("name"), &first["object"]["metadata"]["name"]),
            (None, &Value::Null)
        );
        stage.note(first["object"]["metadata"].clone());
    })
    .await;
}

/// A patch with another value.
trait Replaced {
    fn replaced(self, value: Value) -> Value;
}

impl Replaced for Value {
    fn replaced(mut self, value: Value) -> Value {
        self[0]["value"] = value;
        self
    }
}

#[tokio::test]
async fn only_the_requests_that_match_are_shown() {
    same("match", async |stage| {
        for path in ["/labels", "/delete", "/status", "/cel", "/cluster", "/other"] {
            stage.on(path, allow());
        }
        let labels = json!({ "objectSelector": { "matchExpressions": [
            { "key": "shown", "operator": "In", "values": ["yes"] },
        ] } });
        let conditions = json!({ "matchConditions": [
            { "name": "named", "expression": "request.name.startsWith('cel-') && object.data['a'] == '1'" },
            { "name": "not-deleting", "expression": "request.operation != 'DELETE'" },
        ] });
        let delete = json!({ "rules": [rule(&["DELETE"], "", "configmaps")] });
        let status = json!({ "rules": [rule(&["*"], "", "configmaps/status")] });
        let mut cluster = rule(&["*"], "*", "*");
        cluster["scope"] = "Cluster".into();
        let elsewhere = json!({ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": "elsewhere" } } });
        let hooks = vec![
            stage.webhook("/labels", labels),
            stage.webhook("/cel", conditions),
            stage.webhook("/delete", delete),
            stage.webhook("/status", status),
            stage.webhook("/cluster", json!({ "rules": [cluster], "objectSelector": { "matchLabels": { "of": stage.ns } } })),
            stage.webhook("/other", elsewhere),
        ];
        stage.configure("validating", "v", hooks).await;
        let paths = || -> Vec<String> {
            let mut paths: Vec<_> = stage.reviews().into_iter().map(|(path, _)| path).collect();
            paths.sort();
            paths
        };
        stage.ask("POST", &stage.maps(), map("x")).await;
        assert_eq!(paths(), Vec::<String>::new());
        let mut shown = map("shown");
        shown["metadata"]["labels"] = json!({ "shown": "yes" });
        stage.ask("POST", &stage.maps(), shown).await;
        assert_eq!(paths(), ["/labels"]);
        // The label that goes was there before.
        let path = format!("{}/shown", stage.maps());
        stage.ask("PATCH", &path, json!({ "metadata": { "labels": null } })).await;
        assert_eq!(paths(), ["/labels"]);
        stage.ask("POST", &stage.maps(), map("cel-1")).await;
        assert_eq!(paths(), ["/cel"]);
        stage.ask("DELETE", &format!("{}/x", stage.maps()), Value::Null).await;
        assert_eq!(paths(), ["/delete"]);
    })
    .await;
}

#[tokio::test]
async fn a_patch_may_come_as_numbers() {
    // As kube's `AdmissionResponse` writes it.
    same("numbers", async |stage| {
        let octets = add("/data/b", "2").to_string().into_bytes();
        let response = json!({ "allowed": true, "patchType": "JSONPatch", "patch": octets });
        stage.on("/b", always(response));
        let hooks = vec![stage.webhook("/b", json!({}))];
        stage.configure("mutating", "m", hooks).await;
        let created = stage.ask("POST", &stage.maps(), map("x")).await;
        assert_eq!(created.body["data"]["b"], "2");
    })
    .await;
}

#[tokio::test]
async fn other_versions_of_a_kind_are_a_match_unless_the_exact_one_is_wanted() {
    same("versions", async |stage| {
        for path in ["/exact", "/equivalent"] {
            stage.on(path, allow());
        }
        let group = format!("{}.example.com", stage.ns);
        let version = |name: &str, storage: bool| {
            json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": { "type": "object", "properties": { "size": { "type": "integer" } } },
                "status": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } } },
                "subresources": { "status": {} } })
        };
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("boxes.{group}") },
            "spec": { "group": group, "scope": "Namespaced",
                "names": { "plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList" },
                "versions": [version("v1", true), version("v2", false)] },
        });
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        stage.quietly("POST", definitions, &definition, &[]).await;
        let boxes = |version: &str| format!("/apis/{group}/{version}/namespaces/{}/boxes", stage.ns);
        testkit::eventually(SOON, "the kind", async || {
            let served = stage.quietly("GET", &boxes("v2"), &Value::Null, &[]).await;
            (served.code == 200).then_some(())
        })
        .await
        .unwrap();
        let rules = |resource: &str| json!([{ "operations": ["*"], "apiGroups": [group], "apiVersions": ["v1"], "resources": [resource] }]);
        let hooks = vec![
            stage.webhook("/exact", json!({ "rules": rules("boxes"), "matchPolicy": "Exact" })),
            stage.webhook("/equivalent", json!({ "rules": rules("boxes/status") })),
            stage.webhook("/equivalent", json!({ "rules": rules("boxes"), "name": "two.example.com" })),
        ];
        stage.configure("validating", "v", hooks).await;
        let one = json!({ "apiVersion": format!("{group}/v2"), "kind": "Box", "metadata": { "name": "one" }, "spec": { "size": 1 } });
        let created = stage.ask("POST", &boxes("v2"), one).await;
        assert_eq!(created.code, 201, "{}", created.body);
        let asked = stage.reviews();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].1["request"]["kind"]["version"], "v1");
        assert_eq!(asked[0].1["request"]["requestKind"]["version"], "v2");
        let status = format!("{}/one/status", boxes("v1"));
        stage.ask("PATCH", &status, json!({ "status": { "seen": 1 }, "spec": { "size": 2 } })).await;
        let asked = stage.reviews();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].1["request"]["subResource"], "status");
        let gone = stage.ask("DELETE", &boxes("v1"), Value::Null).await;
        assert_eq!(gone.code, 200);
        let mut asked = stage.hooks.asked();
        asked.sort_by(|one, other| one.0.cmp(&other.0));
        for (path, review) in &asked {
            stage.note(json!({ "path": path, "review": review }));
        }
        assert_eq!(asked.len(), 2);
        stage.quietly("DELETE", &format!("{definitions}/boxes.{group}"), &Value::Null, &[]).await;
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_is_shown_as_one_and_changes_nothing() {
    same("dry", async |stage| {
        stage.on("/b", patch(&add("/data/b", "2")));
        let hooks = vec![stage.webhook("/b", json!({ "sideEffects": "NoneOnDryRun" }))];
        stage.configure("mutating", "m", hooks).await;
        let dry = format!(
            "{}?dryRun=All&fieldManager=me&fieldValidation=Strict",
            stage.maps()
        );
        let answered = stage.ask("POST", &dry, map("x")).await;
        assert_eq!(answered.body["data"]["b"], "2");
        let asked = stage.reviews();
        assert_eq!(asked[0].1["request"]["dryRun"], true);
        let there = stage
            .ask("GET", &format!("{}/x", stage.maps()), Value::Null)
            .await;
        assert_eq!(there.code, 404);
    })
    .await;
}
