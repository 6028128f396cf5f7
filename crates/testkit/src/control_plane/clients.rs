//! Programs of others that speak to a Kubernetes API, built from Go modules into the cache as the control plane is.
//!
//! Each has a module of its own, because none may raise a version under another.

use std::path::PathBuf;

use super::build::{self, BuildError};
use super::module::{CLIENT_GO, HELM, Module, WIRE};
use crate::cache;

/// No symbols, as in a release.
const LINK: &str = "-ldflags=-s -w";

/// A program to be had: its name, which is that of its folder in the cache as well, and its Go package.
struct Client {
    name: &'static str,
    package: &'static str,
    module: Module,
}

/// A controller on client-go that tells what its informers see; `conformance/client-go` is its source.
///
/// This blocks, and builds for a minute or two the first time.
pub fn witness() -> Result<PathBuf, BuildError> {
    program(&Client {
        name: "witness",
        package: ".",
        module: CLIENT_GO,
    })
}

/// A program that tells how Kubernetes writes its kinds in protocol buffers; `conformance/wire` is its source.
///
/// This blocks, and builds for a minute the first time.
pub fn wire() -> Result<PathBuf, BuildError> {
    program(&Client {
        name: "wire",
        package: ".",
        module: WIRE,
    })
}

/// helm, as it is released.
///
/// This blocks, and builds for two or three minutes the first time.
pub fn helm() -> Result<PathBuf, BuildError> {
    program(&Client {
        name: "helm",
        package: "helm.sh/helm/v4/cmd/helm",
        module: HELM,
    })
}

fn program(client: &Client) -> Result<PathBuf, BuildError> {
    let Client {
        name,
        package,
        module,
    } = client;
    build::permitted()?;
    let sources = module.folder()?;
    let files = module.files();
    let parts = [(*name, *package), ("link", LINK)];
    let key = build::key(&files, &parts, &build::go_version(&sources)?);
    let folder = cache::made(&cache::folder(name)?, &key, |folder| {
        build::build_part(&sources, name, package, LINK, folder).map_err(BuildError::from)
    })?;
    Ok(folder.join(name))
}
