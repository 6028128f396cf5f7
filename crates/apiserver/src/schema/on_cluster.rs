//! The answers that the other tests expect, asked of a real kube-apiserver.

use std::time::Duration;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};

use super::tests::compile::{Definition, definitions};
use super::tests::patterns::texts;
use super::tests::{Create, Update, creates, definition, updates};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long a definition may take until objects are judged by it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A kube-apiserver and the group that a test has for itself.
struct Oracle {
    client: Client,
    group: &'static str,
}

impl Oracle {
    async fn new(group: &'static str) -> Self {
        let client = control_plane::shared().await.client(Identity::Admin);
        Self { client, group }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(serde_json::to_vec(body).unwrap());
        match self.client.request(request.unwrap()).await {
            Ok(answer) => answer,
            Err(kube::Error::Api(status)) => {
                let mut status = serde_json::to_value(status).unwrap();
                status["kind"] = "Status".into();
                status
            }
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    fn definition(&self, schema: &Value) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("cases.{}", self.group) },
            "spec": {
                "group": self.group,
                "scope": "Cluster",
                "names": { "plural": "cases", "kind": "Case" },
                "versions": [
                    { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }
                ],
            },
        })
    }

    fn path(&self, rest: &str) -> String {
        format!("/apis/{}/v1/cases{rest}", self.group)
    }

    fn object(&self, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/v1", self.group),
            "kind": "Case",
            "metadata": { "name": name },
            "spec": spec,
        })
    }

    /// Defines the kind and waits until an object is answered as it should be.
    async fn define(&self, method: &str, schema: &Value, probe: &Value, refused: bool) {
        let (path, mut body) = match method {
            "PUT" => (
                format!("{DEFINITIONS}/cases.{}", self.group),
                self.definition(schema),
            ),
            _ => (DEFINITIONS.to_owned(), self.definition(schema)),
        };
        if method == "PUT" {
            let current = self.send("GET", &path, &Value::Null).await;
            body["metadata"] = current["metadata"].clone();
        }
        let answer = self.send(method, &path, &body).await;
        assert_eq!(answer["kind"], "CustomResourceDefinition", "{answer}");
        testkit::eventually(PATIENCE, "the definition to be in use", async || {
            let answer = self.create(probe).await;
            let found = answer["kind"] != "Status" || answer["reason"] == "Invalid";
            if found && (says(&answer).is_empty() != refused) {
                Ok(())
            } else {
                Err(answer)
            }
        })
        .await
        .unwrap();
    }

    async fn create(&self, spec: &Value) -> Value {
        let path = self.path("?dryRun=All");
        self.send("POST", &path, &self.object("case", spec)).await
    }
}

/// The causes of a refusal, sorted. A refusal for another reason is a single text.
fn says(answer: &Value) -> Vec<String> {
    if answer["kind"] == "Status" && answer["reason"] != "Invalid" {
        return vec![answer.to_string()];
    }
    let causes = answer["details"]["causes"].as_array();
    let say = |cause: &Value| {
        let text = |field: &str| cause[field].as_str().unwrap_or_default();
        format!("{}: {}", text("field"), text("message"))
    };
    let mut says: Vec<String> = causes.into_iter().flatten().map(say).collect();
    says.sort();
    says
}

#[tokio::test]
async fn kube_apiserver_says_the_same_to_objects() {
    let oracle = Oracle::new("objects.oracle.test").await;
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let lax = json!({ "type": "object", "properties": { "spec": anything, "status": anything } });
    oracle.define("POST", &lax, &json!({}), false).await;
    let updates = updates();
    let mut versions = Vec::new();
    for (index, Update { old, .. }) in updates.iter().enumerate() {
        let object = oracle.object(&format!("case-{index}"), old);
        let stored = oracle.send("POST", &oracle.path(""), &object).await;
        assert_eq!(stored["kind"], "Case", "{stored}");
        versions.push(stored["metadata"]["resourceVersion"].clone());
    }
    oracle
        .define("PUT", &definition(), &json!({ "text": 5 }), true)
        .await;
    for Create {
        spec,
        says: expected,
    } in creates()
    {
        assert_eq!(says(&oracle.create(&spec).await), expected, "{spec}");
    }
    for (
        index,
        Update {
            old,
            new,
            says: expected,
        },
    ) in updates.iter().enumerate()
    {
        let name = format!("case-{index}");
        let mut object = oracle.object(&name, new);
        object["metadata"]["resourceVersion"] = versions[index].clone();
        let path = oracle.path(&format!("/{name}?dryRun=All"));
        let answer = oracle.send("PUT", &path, &object).await;
        assert_eq!(&says(&answer), expected, "{old} -> {new}");
    }
}

#[tokio::test]
async fn kube_apiserver_says_the_same_to_schemas() {
    let oracle = Oracle::new("schemas.oracle.test").await;
    let path = format!("{DEFINITIONS}?dryRun=All");
    for Definition {
        schema,
        says: expected,
    } in definitions()
    {
        let answer = oracle
            .send("POST", &path, &oracle.definition(&schema))
            .await;
        assert_eq!(says(&answer), expected, "{schema}");
    }
}

#[tokio::test]
async fn kube_apiserver_allows_the_same_texts() {
    let oracle = Oracle::new("texts.oracle.test").await;
    let texts = texts();
    let properties: serde_json::Map<String, Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| (format!("f{index}"), text.schema()))
        .collect();
    let spec = json!({ "type": "object", "properties": properties });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    oracle
        .define("POST", &schema, &json!({ "f0": 5 }), true)
        .await;
    for (index, text) in texts.iter().enumerate() {
        let mut spec = json!({});
        spec[format!("f{index}")] = text.content.as_str().into();
        let allowed = says(&oracle.create(&spec).await).is_empty();
        assert_eq!(
            allowed,
            text.allowed,
            "{}: {:?}",
            text.schema(),
            text.content
        );
    }
}
