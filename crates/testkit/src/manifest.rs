//! Manifests as people write them: YAML of any kind, created or applied through the API.
//!
//! Objects stay untyped on purpose. What a test sends is what the file says, and what comes back is
//! what the API made of it, so that defaults, pruning and refusals are the server's own.

use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{GroupVersionKind, Status};
use kube::discovery::{Scope, pinned_kind};
use kube::{Api, Client, ResourceExt};
use serde::Deserialize;
use serde_json::Value;

/// The field manager of everything that is applied here.
const FIELD_MANAGER: &str = "zonewright-testkit";

/// Reads one or more YAML documents. Empty documents are skipped.
pub fn read(yaml: &str) -> Result<Vec<DynamicObject>, ManifestError> {
    let documents: Vec<Option<Value>> = serde_saphyr::from_multiple(yaml)
        .map_err(|error| ManifestError::Yaml(error.to_string()))?;
    documents.iter().flatten().map(object).collect()
}

/// Creates the object as the identity behind `client`. An object of a namespaced kind that names no
/// namespace goes into `namespace`.
pub async fn create(
    client: &Client,
    namespace: &str,
    object: &DynamicObject,
) -> Result<DynamicObject, ManifestError> {
    let api = api(client, namespace, object).await?;
    api.create(&PostParams::default(), object)
        .await
        .map_err(refused_or_failed)
}

/// Applies the object server-side and takes every field it names, otherwise like [`create`].
pub async fn apply(
    client: &Client,
    namespace: &str,
    object: &DynamicObject,
) -> Result<DynamicObject, ManifestError> {
    let api = api(client, namespace, object).await?;
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch(&object.name_any(), &params, &Patch::Apply(object))
        .await
        .map_err(refused_or_failed)
}

/// Why a manifest did not become an object.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The text is not YAML.
    #[error("not YAML: {0}")]
    Yaml(String),
    /// The document is YAML, but no Kubernetes object.
    #[error("not an object: {problem} in {document}")]
    NotAnObject {
        /// What is missing or wrong.
        problem: String,
        /// The document, as JSON.
        document: String,
    },
    /// The API server does not have the kind.
    #[error("kind {kind} of {api_version}: {source}")]
    UnknownKind {
        /// The document's `apiVersion`.
        api_version: String,
        /// The document's `kind`.
        kind: String,
        /// What discovery said.
        source: Box<kube::Error>,
    },
    /// The API server understood and said no.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
    /// No answer, or one that could not be read.
    #[error(transparent)]
    Failed(Box<kube::Error>),
}

impl ManifestError {
    /// The API server's refusal, with its code, reason and message, if this is one.
    pub fn refusal(&self) -> Option<&Status> {
        match self {
            Self::Refused(status) => Some(status),
            Self::Yaml(_)
            | Self::NotAnObject { .. }
            | Self::UnknownKind { .. }
            | Self::Failed(_) => None,
        }
    }
}

fn object(document: &Value) -> Result<DynamicObject, ManifestError> {
    let not_an_object = |problem: String| ManifestError::NotAnObject {
        problem,
        document: document.to_string(),
    };
    let object = DynamicObject::deserialize(document);
    let object = object.map_err(|error| not_an_object(error.to_string()))?;
    match object.types {
        Some(_) => Ok(object),
        None => Err(not_an_object("no apiVersion and kind".into())),
    }
}

/// The collection the object belongs to, found by asking the API server for its kind.
async fn api(
    client: &Client,
    namespace: &str,
    object: &DynamicObject,
) -> Result<Api<DynamicObject>, ManifestError> {
    let (resource, scope) = resource(client, object).await?;
    let namespace = object.metadata.namespace.as_deref().unwrap_or(namespace);
    Ok(match scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
    })
}

async fn resource(
    client: &Client,
    object: &DynamicObject,
) -> Result<(ApiResource, Scope), ManifestError> {
    let types = object.types.clone().unwrap_or_default();
    let unknown = |source: kube::Error| ManifestError::UnknownKind {
        api_version: types.api_version.clone(),
        kind: types.kind.clone(),
        source: Box::new(source),
    };
    let (group, version) = types
        .api_version
        .rsplit_once('/')
        .unwrap_or(("", &types.api_version));
    let kind = GroupVersionKind::gvk(group, version, &types.kind);
    let (resource, capabilities) = pinned_kind(client, &kind).await.map_err(unknown)?;
    Ok((resource, capabilities.scope))
}

fn refused_or_failed(error: kube::Error) -> ManifestError {
    if let kube::Error::Api(status) = error {
        ManifestError::Refused(status)
    } else {
        ManifestError::Failed(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_in_order_and_empty_ones_are_skipped() {
        let yaml = "---\n{kind: A, apiVersion: v1}\n---\n# nothing\n---\n\
                    {kind: B, apiVersion: g/v1, spec: {x: [1]}}\n";
        let objects = read(yaml).unwrap();
        let kinds: Vec<_> = objects
            .iter()
            .map(|object| object.types.clone().unwrap().kind)
            .collect();
        assert_eq!(kinds, ["A", "B"]);
        assert_eq!(objects[1].data["spec"]["x"][0], 1);
    }

    #[test]
    fn what_is_no_object_is_told_with_the_reason() {
        let check = |yaml: &str, expected: &str| {
            let error = read(yaml).unwrap_err().to_string();
            assert!(error.contains(expected), "{yaml:?} gave {error:?}");
        };
        check("{kind: [}", "not YAML");
        check("just text", "not an object");
        check("spec: {}", "no apiVersion and kind");
    }
}
