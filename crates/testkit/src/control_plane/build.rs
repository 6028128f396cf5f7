//! The programs of the control plane, built from Go modules into the cache.
//!
//! A build is named by what goes into it: the module's files, the flags and Go itself. While none
//! of them changes nothing is run but `go version`; when one does, the next caller builds anew:
//! eight minutes on two cores, half a minute if Go's own cache still has the packages. Two
//! processes do not build at once, and an interrupted build leaves nothing that looks finished.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::go::{self, GoError};
use super::module::CONTROL_PLANE;
use crate::cache;
use crate::progress::say;

/// The variable that is set where nothing that is built from Go may be used. It says which word in the path of a test makes
/// it one that may.
pub const WITHHELD: &str = "ZONEWRIGHT_TEST_WITHHELD";

/// Flags of every build: no local paths in the result, so that equal input gives equal programs.
const FLAGS: [&str; 3] = ["-v", "-trimpath", "-buildvcs=false"];

/// Where a Kubernetes program keeps its version; without it, it would call itself `v0.0.0-master`.
const VERSION_SYMBOL: &str = "k8s.io/component-base/version.gitVersion";

/// The pause between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// What is built: the program's name and its Go package, in the order that needs them.
const PARTS: [(&str, &str); 4] = [
    ("etcd", "go.etcd.io/etcd/server/v3"),
    ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    (
        "kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
    ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
];

/// Finds the programs in the cache, or builds them there and tells on standard error how it goes.
///
/// This blocks: from async code, run it where blocking is allowed.
pub fn programs() -> Result<Programs, BuildError> {
    permitted()?;
    let module = CONTROL_PLANE.folder()?;
    let cache = cache::folder("control-plane")?;
    let key = key(&CONTROL_PLANE.files(), &PARTS, &go_version(&module)?);
    let folder = cache::made(&cache, &key, |folder| build(&module, folder))?;
    Ok(Programs { folder })
}

/// The built programs.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The store behind the API server.
    pub fn etcd(&self) -> PathBuf {
        self.folder.join("etcd")
    }

    /// The API server.
    pub fn kube_apiserver(&self) -> PathBuf {
        self.folder.join("kube-apiserver")
    }

    /// Kubernetes' own controllers.
    pub fn kube_controller_manager(&self) -> PathBuf {
        self.folder.join("kube-controller-manager")
    }

    /// The command line client.
    pub fn kubectl(&self) -> PathBuf {
        self.folder.join("kubectl")
    }
}

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Go is missing or failed.
    #[error(transparent)]
    Go(#[from] GoError),
    /// It may not be had.
    #[error(
        "this part of the tests has no program that is built from Go: give a test that needs one a path with `{0}` in it, as by \
         a module of that name"
    )]
    Withheld(String),
    /// A file of the module or of the cache could not be used.
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Whether programs that are built from Go may be used here: in a part of the tests that is to be had without, a test that
/// takes one is in the wrong part, even on a machine that has it.
pub(super) fn permitted() -> Result<(), BuildError> {
    judge(env::var(WITHHELD).ok())
}

fn judge(withheld: Option<String>) -> Result<(), BuildError> {
    withheld.map_or(Ok(()), |word| Err(BuildError::Withheld(word)))
}

/// Names a build by everything that goes into it.
pub(super) fn key(files: &[(&str, &str)], parts: &[(&str, &str)], go_version: &str) -> String {
    let files = files.iter().flat_map(|(name, text)| [*name, *text]);
    let parts = parts.iter().flat_map(|(name, package)| [*name, *package]);
    let mut hash = blake3::Hasher::new();
    for part in files
        .chain(FLAGS)
        .chain(parts)
        .chain([VERSION_SYMBOL, go_version])
    {
        // With its length, so that what leaves one part cannot look as if it had been in another.
        hash.update(&part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

pub(super) fn go_version(module: &Path) -> Result<String, GoError> {
    go::output(go::command(module).arg("version"))
}

fn build(module: &Path, folder: &Path) -> Result<(), BuildError> {
    let link = link_flags(module)?;
    for (name, package) in PARTS {
        build_part(module, name, package, &link, folder)?;
    }
    Ok(())
}

fn link_flags(module: &Path) -> Result<String, GoError> {
    let mut list = go::command(module);
    let version = go::output(list.args(["list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes"]))?;
    Ok(format!(
        "-ldflags=-s -w -X {VERSION_SYMBOL}={}",
        version.trim()
    ))
}

/// Builds one program of a module into `folder`.
pub(super) fn build_part(
    module: &Path,
    name: &str,
    package: &str,
    link: &str,
    folder: &Path,
) -> Result<(), GoError> {
    let program = folder.join(name);
    let arguments = ["build", link, "-o"].map(OsStr::new);
    let arguments = arguments.into_iter().chain([program.as_ref()]);
    compile(module, name, arguments.chain([OsStr::new(package)]))
}

/// Lets Go make the program `name`, and tells how it goes.
pub(super) fn compile<'a>(
    module: &Path,
    name: &str,
    arguments: impl IntoIterator<Item = &'a OsStr>,
) -> Result<(), GoError> {
    say(&format!(
        "building {name}, once: minutes if Go's own cache is cold"
    ));
    let began = Instant::now();
    let mut progress = Progress {
        name,
        began,
        told: began,
        packages: 0,
    };
    let mut command = go::mortal_command(module);
    let mut arguments = arguments.into_iter();
    command.args(arguments.next()).args(FLAGS).args(arguments);
    go::watched(&mut command, |line| progress.see(line))?;
    say(&format!("built {name} in {} s", began.elapsed().as_secs()));
    Ok(())
}

/// Counts what `go build -v` prints: one line for each package it compiles.
struct Progress<'a> {
    name: &'a str,
    began: Instant,
    told: Instant,
    packages: usize,
}

impl Progress<'_> {
    fn see(&mut self, line: &str) {
        self.packages += usize::from(!line.starts_with("go: "));
        if self.told.elapsed() >= PROGRESS_EVERY {
            self.told = Instant::now();
            let (seconds, packages) = (self.began.elapsed().as_secs(), self.packages);
            say(&format!(
                "{}: {packages} packages after {seconds} s: {line}",
                self.name
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_named_by_what_goes_into_it() {
        let files = [("go.mod", "module a"), ("go.sum", "")];
        let first = key(&files, &PARTS, "go1.26");
        assert_eq!(first, key(&files, &PARTS, "go1.26"));
        let others = [
            key(&[("go.mod", "module a"), ("go.sum", "x")], &PARTS, "go1.26"),
            key(&[("go.mod", "module ax"), ("go.sum", "")], &PARTS, "go1.26"),
            key(&files, &PARTS[..1], "go1.26"),
            key(&files, &PARTS, "go1.27"),
        ];
        assert!(!others.contains(&first));
    }

    #[test]
    fn a_test_that_takes_what_is_withheld_is_told_the_word_for_its_path() {
        judge(None).unwrap();
        let told = judge(Some("on_cluster".to_owned())).unwrap_err();
        assert!(told.to_string().contains("`on_cluster`"), "{told}");
    }
}
