//! Manifests into the API: created where they are new, merged into what is there where they are not.
//!
//! A status is written only for kinds that nobody here looks after, such as Gateways: whoever does has the last word.
//!
//! One bad object never stops another. Objects may stand in any order: what was refused is tried
//! again for as long as others get in, so that a namespace may come after what lives in it. A kind is waited for until it is
//! served: an API tells that it has a definition before it knows the kind.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::Context as _;
use api::well_known::field_manager;
use futures_util::future::join_all;
use http::Request;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Resource as _};
use kube::discovery::{self, ApiCapabilities, Scope};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use reconcile::publishing::SourceKind;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::manifest::Document;

#[cfg(test)]
mod tests;

/// How long a kind may take to be served once it is defined: an API with several servers gives them five seconds to hear of it.
const SERVED_WITHIN: Duration = Duration::from_secs(15);

/// How often it is looked whether a kind is served.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

const MERGE_PATCH: &str = "application/merge-patch+json";

/// What became of the manifests.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    pub(crate) created: usize,
    pub(crate) configured: usize,
    pub(crate) refused: Vec<Refused>,
}

/// A document, or an object in one, that did not get in.
#[derive(Debug)]
pub(crate) struct Refused {
    file: String,
    line: usize,
    /// `Zone dns/example-org`; empty where there is no object.
    object: String,
    why: String,
}

/// What became of one object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    Created,
    Configured,
}

/// Applies every object of every document.
pub(crate) async fn apply(client: &Client, documents: &[Document]) -> Applied {
    let mut kinds = Kinds::new(client.clone());
    let mut applied = Applied::default();
    let mut waiting = Vec::new();
    for document in documents {
        match &document.content {
            Ok(content) => waiting.extend(items(content).iter().map(|object| (document, object))),
            Err(why) => applied
                .refused
                .push(Refused::document(document, why.clone())),
        }
    }
    loop {
        let (count, mut refused) = (waiting.len(), Vec::new());
        let mut defined = Vec::new();
        for (document, object) in waiting {
            match put(&mut kinds, object).await {
                Ok(outcome) => {
                    applied.count(outcome);
                    defined.extend(defines(object));
                }
                Err(error) => refused.push((document, object, error)),
            }
        }
        are_served(client, &defined).await;
        if refused.is_empty() || refused.len() == count {
            let refused = refused.into_iter();
            let told = |(document, object, error)| Refused::object(document, object, &error);
            applied.refused.extend(refused.map(told));
            return applied;
        }
        waiting = refused
            .into_iter()
            .map(|(document, object, _)| (document, object))
            .collect();
    }
}

impl Applied {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Created => self.created += 1,
            Outcome::Configured => self.configured += 1,
        }
    }
}

/// A definition of a kind.
struct Definition {
    name: String,
    /// The kind in every version that is to be served.
    kinds: Vec<GroupVersionKind>,
}

/// The definition that an object is, if it is one.
fn defines(object: &Value) -> Option<Definition> {
    let spec = &object["spec"];
    let name = object["metadata"]["name"].as_str();
    let name = name.filter(|_| object["kind"] == "CustomResourceDefinition")?;
    let (group, kind) = (spec["group"].as_str()?, spec["names"]["kind"].as_str()?);
    let versions = spec["versions"].as_array()?.iter();
    let served = versions.filter(|version| version["served"] == true);
    let served = served.filter_map(|version| version["name"].as_str());
    Some(Definition {
        name: name.to_owned(),
        kinds: served
            .map(|version| GroupVersionKind::gvk(group, version, kind))
            .collect(),
    })
}

/// Returns when the kinds of these definitions are served. One that never is says why in its own conditions, and so do
/// the objects that are refused for it.
async fn are_served(client: &Client, definitions: &[Definition]) {
    let served = definitions.iter().map(|it| is_served(client, it));
    if timeout(SERVED_WITHIN, join_all(served)).await.is_err() {
        tracing::warn!(
            "Not every kind that was defined is served; the conditions of its CustomResourceDefinition say why"
        );
    }
}

/// An API knows that a kind is established a moment before it tells so to those who ask what kinds there are.
async fn is_served(client: &Client, definition: &Definition) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let established = conditions::is_crd_established();
    // What cannot be watched is seen below.
    let _ = await_condition(api, &definition.name, established).await;
    for kind in &definition.kinds {
        while discovery::pinned_kind(client, kind).await.is_err() {
            sleep(LOOK_AGAIN).await;
        }
    }
}

/// The kinds that the API knows, asked for once.
struct Kinds {
    client: Client,
    known: BTreeMap<(String, String), (ApiResource, ApiCapabilities)>,
}

impl Kinds {
    fn new(client: Client) -> Self {
        let known = BTreeMap::new();
        Self { client, known }
    }

    async fn find(&mut self, object: &Value) -> anyhow::Result<(ApiResource, Scope)> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        anyhow::ensure!(
            !api_version.is_empty() && !kind.is_empty(),
            "no apiVersion and kind: not a Kubernetes object"
        );
        let key = (api_version, kind);
        if let Some((resource, capabilities)) = self.known.get(&key) {
            return Ok((resource.clone(), capabilities.scope.clone()));
        }
        let (api_version, kind) = &key;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let wanted = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) = discovery::pinned_kind(&self.client, &wanted)
            .await
            .map_err(|error| unknown(api_version, kind, error))?;
        let scope = capabilities.scope.clone();
        self.known.insert(key, (resource.clone(), capabilities));
        Ok((resource, scope))
    }
}

/// A kind that is not served, in words; other errors as they are.
fn unknown(api_version: &str, kind: &str, error: kube::Error) -> anyhow::Error {
    let no_such_group = matches!(&error, kube::Error::Api(status) if status.code == 404);
    if no_such_group || matches!(&error, kube::Error::Discovery(_)) {
        anyhow::anyhow!("the API has no kind {kind} in {api_version}")
    } else {
        error.into()
    }
}

async fn put(kinds: &mut Kinds, object: &Value) -> anyhow::Result<Outcome> {
    let (resource, scope) = kinds.find(object).await?;
    let namespace = match scope {
        Scope::Cluster => None,
        Scope::Namespaced => Some(
            object["metadata"]["namespace"]
                .as_str()
                .unwrap_or("default"),
        ),
    };
    let path = DynamicObject::url_path(&resource, namespace);
    let body = serde_json::to_vec(object).context("not JSON")?;
    let name = object["metadata"]["name"].as_str();
    let created = send(
        &kinds.client,
        Request::post(query(&path)),
        "application/json",
        &body,
    )
    .await;
    let outcome = match (created, name) {
        (Err(error), Some(name)) if is_there(&error) => {
            let path = query(&format!("{path}/{name}"));
            send(&kinds.client, Request::patch(path), MERGE_PATCH, &body).await?;
            Outcome::Configured
        }
        (created, _) => created.map(|()| Outcome::Created)?,
    };
    if let (Some(name), Some(status), true) = (name, object.get("status"), is_foreign(&resource)) {
        let path = query(&format!("{path}/{name}/status"));
        let body = serde_json::to_vec(&json!({ "status": status })).context("not JSON")?;
        send(&kinds.client, Request::patch(path), MERGE_PATCH, &body).await?;
    }
    Ok(outcome)
}

/// Whether a kind is somebody else's, and whoever looks after it elsewhere does not run here.
fn is_foreign(resource: &ApiResource) -> bool {
    SourceKind::find(&resource.group, &resource.kind).is_some()
}

/// Unknown fields are errors: nearly always someone has mistyped one.
fn query(path: &str) -> String {
    let manager = field_manager::COMMAND_LINE;
    format!("{path}?fieldManager={manager}&fieldValidation=Strict")
}

async fn send(
    client: &Client,
    request: http::request::Builder,
    media_type: &str,
    body: &[u8],
) -> Result<(), kube::Error> {
    let request = request
        .header(http::header::CONTENT_TYPE, media_type)
        .body(body.to_vec())
        .map_err(kube::Error::HttpError)?;
    client.request::<Value>(request).await.map(drop)
}

fn is_there(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.reason == "AlreadyExists")
}

/// The objects of a List, or the one object there is.
fn items(content: &Value) -> &[Value] {
    match content["items"].as_array() {
        Some(items) if content["kind"] == "List" => items,
        Some(_) | None => std::slice::from_ref(content),
    }
}

impl Refused {
    fn document(document: &Document, why: String) -> Self {
        Self {
            file: document.path.display().to_string(),
            line: document.line,
            object: String::new(),
            why,
        }
    }

    fn object(document: &Document, object: &Value, error: &anyhow::Error) -> Self {
        let metadata = &object["metadata"];
        let names = [&metadata["namespace"], &metadata["name"]];
        let names: Vec<&str> = names.into_iter().filter_map(Value::as_str).collect();
        let kind = object["kind"].as_str().unwrap_or_default();
        Self {
            object: format!("{kind} {}", names.join("/")).trim().to_owned(),
            ..Self::document(document, reason(error))
        }
    }
}

/// Why an object did not get in: the API's own words where it said no.
fn reason(error: &anyhow::Error) -> String {
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => status.message.clone(),
        Some(_) | None => format!("{error:#}"),
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.object.is_empty() {
            write!(f, "{}: ", self.object)?;
        }
        f.write_str(&self.why)
    }
}
