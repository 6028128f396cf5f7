//! `OpenAPI`: what kubectl asks before it applies and creates, and what `kubectl explain` reads.
//!
//! A [`Library`] holds the documents, one for each group and version. They are large and rarely read, so they are
//! made when one is asked for; whoever serves them keeps the library for as long as the kinds stay the same, and makes
//! the next one from it. The hash of a document is part of its address, and clients keep it for ever.

mod components;
mod gnostic;
mod library;
mod operations;
mod parameters;
mod v2;

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::resource::Resource;

pub(crate) use library::{Document, Library};

/// The document of kinds that share a group and version.
fn document(served: &[&Resource]) -> Value {
    let paths: Map<String, Value> = served
        .iter()
        .flat_map(|resource| operations::paths(resource))
        .collect();
    let schemas = components::schemas(served, &paths);
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": super::discovery::KUBERNETES },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "BearerToken": {
                "type": "apiKey",
                "description": "Bearer Token authentication",
                "name": "authorization",
                "in": "header",
            } },
        },
    })
}

/// Where a kind is described, below `/openapi/v3/`: `api/v1`, `apis/<group>/<version>`.
fn path(resource: &Resource) -> String {
    path_of(&resource.names.group, &resource.version)
}

fn path_of(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        group => format!("apis/{group}/{version}"),
    }
}
