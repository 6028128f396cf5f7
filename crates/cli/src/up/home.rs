//! Where a run keeps its files: a directory that lasts, or one that goes with the process.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf, absolute};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::args::Up;

/// The directory of a run.
#[derive(Debug)]
pub(super) enum Home {
    /// Everything stays.
    Kept(PathBuf),
    /// Only the kubeconfig is in it, and it is removed when this value is dropped.
    Temporary(TempDir),
}

impl Home {
    /// Makes the directory if it is not there, for its owner only.
    pub(super) fn open(up: &Up) -> anyhow::Result<Self> {
        if up.ephemeral {
            let directory = tempfile::Builder::new().prefix("zonewright-").tempdir();
            return directory.map(Self::Temporary).context(
                "cannot create a temporary directory; set TMPDIR to one that can be written",
            );
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        let shown = up.data.display();
        builder.create(&up.data).with_context(|| {
            format!("cannot create the directory {shown}; choose another with --data")
        })?;
        let path = absolute(&up.data).with_context(|| format!("cannot find {shown}"))?;
        Ok(Self::Kept(path))
    }

    /// The directory to keep objects in, if they are to be kept.
    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::Kept(path) => Some(path),
            Self::Temporary(_) => None,
        }
    }

    /// The directory to keep the last version of every zone in, if they are to be kept.
    pub(super) fn zones(&self) -> Option<PathBuf> {
        self.kept().map(|directory| directory.join("zones"))
    }

    /// Where the kubeconfig is.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        let directory = match self {
            Self::Kept(path) => path.as_path(),
            Self::Temporary(directory) => directory.path(),
        };
        directory.join("kubeconfig")
    }
}
