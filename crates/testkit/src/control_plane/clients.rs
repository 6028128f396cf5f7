//! Programs of others that speak to a Kubernetes API, built from Go modules into the cache as the control plane is.
//!
//! Each has a module of its own, because none may raise a version under another.

use std::env;
use std::io;
use std::path::PathBuf;

use super::build::{self, BuildError};
use super::module::{CLIENT_GO, HELM, KUBECTLS, MANAGER, Module, WIRE};
use crate::cache;

/// No symbols, as in a release.
const LINK: &str = "-ldflags=-s -w";

/// The variable that names a release of kubectl, as in `KUBECTL_RELEASE=1.28`.
pub const KUBECTL_RELEASE: &str = "KUBECTL_RELEASE";

/// The variable that says whose turn it is where no release is named: a number that goes up with each commit.
pub const KUBECTL_TURN: &str = "KUBECTL_TURN";

/// A program to be had: its name, which is that of its folder in the cache as well, and its Go package.
struct Client {
    name: &'static str,
    package: &'static str,
    link: String,
    module: Module,
}

/// A controller on client-go that tells what its informers see; `conformance/client-go` is its source.
///
/// This blocks, and builds for a minute or two the first time.
pub fn witness() -> Result<PathBuf, BuildError> {
    program(&Client {
        name: "witness",
        package: ".",
        link: LINK.to_owned(),
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
        link: LINK.to_owned(),
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
        link: LINK.to_owned(),
        module: HELM,
    })
}

/// A manager on controller-runtime; `conformance/manager` is its source.
///
/// This blocks, and builds for a minute or two the first time.
pub fn manager() -> Result<PathBuf, BuildError> {
    program(&Client {
        name: "manager",
        package: ".",
        link: LINK.to_owned(),
        module: MANAGER,
    })
}

/// A kubectl of a minor version before the control plane's own: the one that `KUBECTL_RELEASE` names, or else the one whose turn
/// it is.
///
/// This blocks, and builds for two or three minutes the first time.
pub fn older_kubectl(turn: u64) -> Result<PathBuf, BuildError> {
    let (minor, module) = release(env::var(KUBECTL_RELEASE).ok().as_deref(), turn)?;
    let set = "-X k8s.io/component-base/version.git";
    let (major, after_the_dot) = minor.split_once('.').unwrap_or_default();
    // Libraries of Kubernetes count from 0 what its programs count from 1.
    let library = module.requires("k8s.io/kubectl").unwrap_or_default();
    let version = library.replacen("v0.", "v1.", 1);
    program(&Client {
        name: "kubectl",
        package: ".",
        link: format!(
            "{LINK} {set}Version={version} {set}Major={major} {set}Minor={after_the_dot}"
        ),
        module,
    })
}

fn release(named: Option<&str>, turn: u64) -> io::Result<(&'static str, Module)> {
    let mut releases = KUBECTLS.into_iter();
    let found = match named {
        Some(named) => releases.find(|(minor, _)| *minor == named),
        None => releases.nth(usize::try_from(turn).unwrap_or_default() % KUBECTLS.len()),
    };
    found.ok_or_else(|| {
        let known = KUBECTLS.map(|(minor, _)| minor).join(", ");
        io::Error::other(format!("{KUBECTL_RELEASE} can be one of {known}"))
    })
}

fn program(client: &Client) -> Result<PathBuf, BuildError> {
    let Client {
        name,
        package,
        link,
        module,
    } = client;
    build::permitted()?;
    let sources = module.folder()?;
    let files = module.files();
    let parts = [(*name, *package), ("link", link.as_str())];
    let key = build::key(&files, &parts, &build::go_version(&sources)?);
    let folder = cache::made(&cache::folder(name)?, &key, |folder| {
        build::build_part(&sources, name, package, link, folder).map_err(BuildError::from)
    })?;
    Ok(folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_of_kubectl_has_its_turn() {
        let turns = (0..4).map(|turn| release(None, turn).unwrap().0);
        assert!(turns.eq(["1.28", "1.31", "1.32", "1.34"]));
        assert_eq!(release(None, 5).unwrap().0, "1.31");
    }

    #[test]
    fn a_release_that_is_named_has_no_turn() {
        assert_eq!(release(Some("1.32"), 0).unwrap().0, "1.32");
        let told = release(Some("1.30"), 0).err().unwrap().to_string();
        assert_eq!(told, "KUBECTL_RELEASE can be one of 1.28, 1.31, 1.32, 1.34");
    }
}
