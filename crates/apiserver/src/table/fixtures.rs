//! Resources for the tests of everything that shows them.

use std::fmt::Write as _;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use crate::resource::{Column, Names, Origin, Resource, Scope, Subresources};
use wire::TypeMeta;

/// A namespaced custom kind without anything special.
pub(crate) fn resource(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    let names = Names {
        group: group.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        ..Names::default()
    };
    Resource {
        names,
        scope: Scope::Namespaced,
        version: version.to_owned(),
        schema: std::sync::Arc::default(),
        openapi: std::sync::Arc::new(serde_json::json!({ "type": "object" })),
        columns: [].into(),
        selectable_fields: [].into(),
        subresources: Subresources::default(),
        deprecation: None,
        has_siblings: false,
        origin: Origin::Custom,
    }
}

/// A built-in kind.
pub(crate) fn builtin(group: &str, kind: &str, plural: &str, scope: Scope) -> Resource {
    let origin = Origin::Builtin;
    Resource {
        scope,
        origin,
        ..resource(group, "v1", kind, plural)
    }
}

/// The kinds that a definition makes, as far as it matters to how they are shown.
pub(crate) fn of_definition(definition: &CustomResourceDefinition) -> Vec<Resource> {
    let spec = &definition.spec;
    let served = spec.versions.iter().filter(|version| version.served);
    let describe = |version: &_| {
        let mut resource = of_version(version);
        resource.names = Names {
            group: spec.group.clone(),
            plural: spec.names.plural.clone(),
            singular: spec.names.singular.clone().unwrap_or_default(),
            kind: spec.names.kind.clone(),
            list_kind: spec.names.list_kind.clone().unwrap_or_default(),
            short_names: spec.names.short_names.clone().unwrap_or_default(),
            categories: spec.names.categories.clone().unwrap_or_default(),
        };
        if spec.scope == "Cluster" {
            resource.scope = Scope::Cluster;
        }
        resource
    };
    served.map(describe).collect()
}

fn of_version(
    version: &k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionVersion,
) -> Resource {
    let schema = version
        .schema
        .as_ref()
        .and_then(|schema| schema.open_api_v3_schema.as_ref());
    let columns = version.additional_printer_columns.iter().flatten();
    let columns: Vec<Column> = columns
        .map(|column| Column {
            name: column.name.clone(),
            kind: column.type_.clone(),
            format: column.format.clone().unwrap_or_default(),
            description: column.description.clone().unwrap_or_default(),
            priority: column.priority.unwrap_or_default(),
            source: column.json_path.clone(),
        })
        .collect();
    let fields = version.selectable_fields.iter().flatten();
    let fields: Vec<String> = fields
        .map(|field| field.json_path.trim_start_matches('.').to_owned())
        .collect();
    let status = version
        .subresources
        .as_ref()
        .is_some_and(|sub| sub.status.is_some());
    Resource {
        openapi: std::sync::Arc::new(
            schema.map_or(Value::Null, |schema| serde_json::json!(schema)),
        ),
        columns: columns.into(),
        selectable_fields: fields.into(),
        subresources: Subresources {
            status,
            scale: None,
        },
        ..resource("", &version.name, "", "")
    }
}

/// A question to the real API: a path with a query, and headers.
pub(crate) struct Question<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) accept: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) body: &'a str,
}

impl<'a> Question<'a> {
    /// A question that changes nothing.
    pub(crate) fn get(path: &'a str, accept: &'a str) -> Self {
        let (method, content_type, body) = ("GET", "", "");
        Self {
            method,
            path,
            accept,
            content_type,
            body,
        }
    }

    /// The real API's status code, content type and answer.
    pub(crate) async fn ask(&self, client: &kube::Client) -> (u16, String, String) {
        let mut request = http::Request::builder().method(self.method).uri(self.path);
        for (name, value) in [("accept", self.accept), ("content-type", self.content_type)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        let body = kube::client::Body::from(self.body.as_bytes().to_vec());
        let answer = client.send(request.body(body).unwrap()).await.unwrap();
        let code = answer.status().as_u16();
        let content_type = answer.headers().get("content-type").cloned();
        let content_type = content_type.map(|value| value.to_str().unwrap().to_owned());
        let body = http_body_util::BodyExt::collect(answer.into_body())
            .await
            .unwrap()
            .to_bytes();
        let text = match wire::decode(&body, TypeMeta::default()) {
            Ok(object) => object.to_string(),
            Err(_) => String::from_utf8_lossy(&body).into_owned(),
        };
        (code, content_type.unwrap_or_default(), text)
    }

    /// The same, where the answer is JSON.
    pub(crate) async fn ask_json(&self, client: &kube::Client) -> (u16, Value) {
        let (code, _, text) = self.ask(client).await;
        (
            code,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }
}

/// A text as the value of a query's parameter.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        let _ = write!(encoded, "%{byte:02X}");
    }
    encoded
}

/// The definition of a kind for one test file, with columns: name, type and path.
pub(crate) fn gadget_definition(group: &str, columns: &[(&str, &str)]) -> CustomResourceDefinition {
    let columns: Vec<Value> = columns
        .iter()
        .enumerate()
        .map(|(index, (kind, path))| {
            serde_json::json!({ "name": format!("C{index}"), "type": kind, "jsonPath": path })
        })
        .collect();
    let free = serde_json::json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "color": { "type": "string" },
            "size": { "type": "integer" },
            "lit": { "type": "boolean" },
        },
    });
    let definition = serde_json::json!({
        "metadata": { "name": format!("gadgets.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object",
                    "properties": { "spec": free, "status": free },
                } },
                "selectableFields": [
                    { "jsonPath": ".spec.color" },
                    { "jsonPath": ".spec.size" },
                    { "jsonPath": ".spec.lit" },
                ],
                "additionalPrinterColumns": columns,
            }],
        },
    });
    serde_json::from_value(definition).unwrap()
}
