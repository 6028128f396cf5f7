//! The crates of the workspace and of the fuzz folder, as cargo sees them.

use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// A crate, named by its folder: `crates/dns` is `dns`, whatever its package is called.
#[derive(Debug, Clone)]
pub(crate) struct Crate {
    /// The last part of the folder.
    pub(crate) name: String,
    /// The folder, relative to the root.
    pub(crate) folder: String,
    /// The file that cargo starts from, for each library, binary, test, bench and example.
    pub(crate) roots: Vec<String>,
    /// The crates of this repository that it needs.
    pub(crate) needs: Vec<Need>,
}

/// A dependency on another crate of this repository.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    /// The other crate's folder, relative to the root.
    pub(crate) folder: String,
    /// Whether only tests need it.
    pub(crate) only_tests: bool,
}

/// Asks cargo for the members of the workspace and of `fuzz`, which is a workspace of its own.
pub(crate) fn load(root: &Path) -> Result<Vec<Crate>> {
    let mut crates = Vec::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"].map(|path| root.join(path)) {
        if manifest.is_file() {
            let metadata = MetadataCommand::new()
                .manifest_path(&manifest)
                .no_deps()
                .exec()
                .with_context(|| format!("cannot read the workspace of {}", manifest.display()))?;
            crates.extend(
                metadata
                    .packages
                    .iter()
                    .map(|package| convert(package, root)),
            );
        }
    }
    Ok(crates)
}

fn convert(package: &Package, root: &Path) -> Crate {
    let folder = package
        .manifest_path
        .parent()
        .expect("a manifest lies in a folder");
    Crate {
        name: folder.file_name().unwrap_or_default().to_owned(),
        folder: relative(folder.as_std_path(), root),
        roots: package
            .targets
            .iter()
            .map(|target| relative(target.src_path.as_std_path(), root))
            .collect(),
        needs: needs(package, root),
    }
}

/// Dependencies that are a folder of this repository.
fn needs(package: &Package, root: &Path) -> Vec<Need> {
    let dependencies = package.dependencies.iter();
    dependencies
        .filter_map(|dependency| {
            let path = dependency.path.as_ref()?;
            Some(Need {
                folder: relative(path.as_std_path(), root),
                only_tests: dependency.kind == DependencyKind::Development,
            })
        })
        .collect()
}

fn relative(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}
