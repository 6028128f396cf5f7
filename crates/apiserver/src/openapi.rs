//! `OpenAPI` v3: what kubectl asks before it applies and creates, and what `kubectl explain` reads.
//!
//! [`root`] lists the documents, one for each group and version; [`document`] makes one. A document
//! is large and rarely read, so it is made when it is asked for; whoever serves it keeps it for as
//! long as the kinds stay the same. Its hash is part of its address, and clients keep it for ever.

mod components;
mod operations;
mod parameters;

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::resource::Resource;

/// A document and the hash that is in its address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) document: Value,
    /// Upper-case hex; in quotes it is the etag.
    pub(crate) hash: String,
}

/// The paths below `/openapi/v3/` that documents are at: `api/v1`, `apis/<group>/<version>`.
pub(crate) fn paths(resources: &[Resource]) -> BTreeSet<String> {
    resources.iter().map(path).collect()
}

/// `/openapi/v3`: where the documents are. `hashes` are theirs, by path.
pub(crate) fn root(hashes: &BTreeMap<String, String>) -> Value {
    let entry = |(path, hash): (&String, &String)| {
        let url = format!("/openapi/v3/{path}?hash={hash}");
        (path.clone(), json!({ "serverRelativeURL": url }))
    };
    let paths: Map<String, Value> = hashes.iter().map(entry).collect();
    json!({ "paths": paths })
}

/// The document at a path as in [`paths`], if anything is served there.
pub(crate) fn document(resources: &[Resource], path: &str) -> Option<Document> {
    let served: Vec<&Resource> = resources
        .iter()
        .filter(|resource| self::path(resource) == path)
        .collect();
    if served.is_empty() {
        return None;
    }
    let mut paths = Map::new();
    let mut schemas = components::shared();
    for resource in &served {
        paths.extend(operations::paths(resource));
        schemas.extend(components::schemas(resource));
    }
    let document = json!({
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
    });
    let hash = blake3::hash(document.to_string().as_bytes()).to_hex();
    Some(Document {
        document,
        hash: hash.to_ascii_uppercase(),
    })
}

fn path(resource: &Resource) -> String {
    match resource.names.group.as_str() {
        "" => format!("api/{}", resource.version),
        group => format!("apis/{group}/{}", resource.version),
    }
}
