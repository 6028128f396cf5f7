//! The real kube-apiserver, asked in its own language, and the schemas that it publishes.

mod published;

use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};

use crate::object::Object;
pub(crate) use published::{Published, read_schema};

/// A namespace of the real API server.
pub(crate) struct Oracle {
    client: Client,
    pub(crate) namespace: String,
}

impl Oracle {
    pub(crate) async fn new(prefix: &str) -> Self {
        let client = control_plane::shared().await.client(Identity::Admin);
        let namespace = testkit::namespace(&client, prefix).await.unwrap();
        Self { client, namespace }
    }

    /// Installs a kind and waits until it is served.
    pub(crate) async fn install(&self, definition: Value) {
        let definition = serde_json::from_value(definition).unwrap();
        testkit::crds::install(&self.client, &[definition])
            .await
            .unwrap();
    }

    /// The answer, whatever it is. `{ns}` in the path is the namespace.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &Value,
    ) -> Value {
        let request = http::Request::builder()
            .method(method)
            .uri(path.replace("{ns}", &self.namespace))
            .header("Content-Type", content_type)
            .body(Body::from(body.to_string().into_bytes()))
            .unwrap();
        let response = self.client.send(request).await.unwrap();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The object that the answer must be.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Object {
        let answer = self.ask("POST", path, "application/json", object).await;
        assert_ne!(answer["kind"], "Status", "{answer:#}");
        into_object(answer)
    }

    /// The published description of a kind, from the document of its group and version.
    pub(crate) async fn published(&self, document: &str, definition: &str) -> Published {
        let path = format!("/openapi/v3/{document}");
        let document = self
            .ask("GET", &path, "application/json", &json!(null))
            .await;
        Published {
            document,
            definition: definition.to_owned(),
        }
    }
}

pub(crate) fn into_object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => panic!("not an object: {other}"),
    }
}
