//! Kinds that a cluster does not have by itself.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition,
};
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::pinned_kind;
use kube::{Api, Client, ResourceExt};

use crate::wait::{Overdue, eventually};

/// A kind is settled in well under a second; the rest is for a machine that is busy building.
const SETTLED_WITHIN: Duration = Duration::from_mins(2);

/// The field manager of the definitions.
const FIELD_MANAGER: &str = "zonewright-testkit";

/// Applies the definitions and returns once every served version of every kind is established,
/// listed by discovery and answering. Installing what is installed changes nothing, so tests that
/// share an API server need not agree on who does it.
pub async fn install(
    client: &Client,
    definitions: &[CustomResourceDefinition],
) -> Result<(), InstallError> {
    for definition in definitions {
        apply(client, definition).await?;
    }
    for definition in definitions {
        settled(client, definition).await?;
    }
    Ok(())
}

/// Why a kind could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The API server did not take the definition.
    #[error("{name}: {source}")]
    Refused {
        /// The definition's name.
        name: String,
        /// What the API server said.
        source: Box<kube::Error>,
    },
    /// The definition was taken, but its kind did not come into use.
    #[error(transparent)]
    Unsettled(#[from] Overdue),
}

/// Creates the definition, or brings the one that is there up to it. Both are plain enough for an API server that knows
/// no server-side apply.
async fn apply(client: &Client, definition: &CustomResourceDefinition) -> Result<(), InstallError> {
    let name = definition.name_any();
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    };
    let created = match api.create(&params, definition).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let params = PatchParams::apply(FIELD_MANAGER);
            api.patch(&name, &params, &Patch::Merge(definition)).await
        }
        created => created,
    };
    match created {
        Ok(_) => Ok(()),
        Err(source) => Err(InstallError::Refused {
            name,
            source: Box::new(source),
        }),
    }
}

async fn settled(client: &Client, definition: &CustomResourceDefinition) -> Result<(), Overdue> {
    let what = format!("{} to be established and answering", definition.name_any());
    eventually(SETTLED_WITHIN, &what, async || -> Result<(), String> {
        established(client, &definition.name_any()).await?;
        for kind in served(definition) {
            answering(client, &kind)
                .await
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    })
    .await
}

async fn established(client: &Client, name: &str) -> Result<(), String> {
    let found = Api::<CustomResourceDefinition>::all(client.clone())
        .get(name)
        .await;
    let status = found
        .map_err(|error| error.to_string())?
        .status
        .unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let holds = |condition: &CustomResourceDefinitionCondition| {
        condition.type_ == "Established" && condition.status == "True"
    };
    if conditions.iter().any(holds) {
        Ok(())
    } else {
        Err(format!("conditions {conditions:?}"))
    }
}

/// Discovery and the handler of a new kind learn of it each on their own, both a moment after the
/// condition is written.
async fn answering(client: &Client, kind: &GroupVersionKind) -> kube::Result<()> {
    let (resource, _): (ApiResource, _) = pinned_kind(client, kind).await?;
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    api.list(&ListParams::default().limit(1)).await.map(|_| ())
}

fn served(definition: &CustomResourceDefinition) -> impl Iterator<Item = GroupVersionKind> {
    let spec = &definition.spec;
    let versions = spec.versions.iter().filter(|version| version.served);
    versions.map(|version| GroupVersionKind::gvk(&spec.group, &version.name, &spec.names.kind))
}
