//! The kinds of the Gateway API, read from its Go module.
//!
//! Nothing of it is kept in the tree. The module is downloaded once into Go's own cache and checked
//! against `conformance/control-plane/gateway-api/go.sum`.

use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize;

use super::go::{self, GoError};
use super::module::GATEWAY_API;
use crate::manifest;

/// The definitions of the standard channel, in the order of their file names.
///
/// This blocks, and the first time it needs the network.
pub fn crds() -> Result<Vec<CustomResourceDefinition>, GatewayApiError> {
    let mut definitions = Vec::new();
    for path in files(&directory()?.join("config/crd/standard"))? {
        definitions.extend(definitions_in(&path)?);
    }
    Ok(definitions)
}

/// Why the definitions could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GatewayApiError {
    /// Go is missing or could not download the module.
    #[error(transparent)]
    Go(#[from] GoError),
    /// A file is missing or is not what it should be.
    #[error("{path}: {problem}")]
    File {
        /// Which file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// What `go mod download -json` tells of a module.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Download {
    dir: PathBuf,
}

fn directory() -> Result<PathBuf, GatewayApiError> {
    let module = GATEWAY_API.folder().map_err(wrong(Path::new("go.mod")))?;
    let mut command = go::command(&module);
    let json = go::output(command.args(["mod", "download", "-json", "sigs.k8s.io/gateway-api"]))?;
    let download: Download = serde_json::from_str(&json).map_err(wrong(&module))?;
    Ok(download.dir)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, GatewayApiError> {
    let entries = fs::read_dir(folder).map_err(wrong(folder))?;
    let paths: Result<Vec<_>, _> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut paths = paths.map_err(wrong(folder))?;
    paths.sort();
    Ok(paths)
}

/// The folder also holds an admission policy, which is of no use here: only definitions are taken.
fn definitions_in(path: &Path) -> Result<Vec<CustomResourceDefinition>, GatewayApiError> {
    let text = fs::read_to_string(path).map_err(wrong(path))?;
    let objects = manifest::read(&text).map_err(wrong(path))?;
    let definitions = objects.into_iter().filter(|object| {
        object
            .types
            .as_ref()
            .is_some_and(|types| types.kind == "CustomResourceDefinition")
    });
    definitions
        .map(|object| object.try_parse().map_err(wrong(path)))
        .collect()
}

fn wrong<E: ToString>(path: &Path) -> impl Fn(E) -> GatewayApiError {
    let path = path.display().to_string();
    move |error| GatewayApiError::File {
        path: path.clone(),
        problem: error.to_string(),
    }
}
