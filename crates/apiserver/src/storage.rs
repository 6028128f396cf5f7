//! Durable storage: what the store acknowledges survives the loss of power.
//!
//! The store keeps all objects in memory and reads the disk once, at start. What is here has two
//! duties: it gives back at start exactly what was acknowledged, or says what is damaged; and it
//! returns from [`Storage::commit`] when the change is on the disk, not before. It knows keys,
//! revisions and bytes; of the bytes it knows that those of a Secret are not to be read on the disk.
//!
//! ```text
//! storage    the seam, and why a commit or an opening fails
//! ├─ disk       commits into redb, recovers from a full disk, compacts
//! │  └─ contents   what the tables hold, and how it is verified at start
//! ├─ directory  the files of a data directory, who may use them, the revision acknowledged last
//! ├─ observed   tells a full disk from a broken one
//! ├─ entry      one object as bytes, with its checksum
//! ├─ tally      what all objects add up to, so that a missing one is noticed
//! ├─ seal       Secrets, encrypted
//! └─ backup     all objects as one file of JSON lines, and back
//! ```

pub(crate) mod backup;
mod directory;
mod disk;
mod entry;
mod observed;
mod seal;
mod tally;

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::key::Key;

use directory::Directory;
use disk::Disk;

/// One object written or removed.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: Key,
    pub(crate) revision: u64,
    /// The object as JSON; nothing removes it.
    pub(crate) value: Option<Bytes>,
}

/// What one request changed: takes effect whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// The store's revision after it.
    pub(crate) revision: u64,
    pub(crate) writes: Vec<Write>,
}

/// All objects at a revision: what the disk gives back at start, and what a backup holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Loaded {
    pub(crate) revision: u64,
    /// Key, revision of the last change and JSON of each object, in the order of the keys.
    pub(crate) objects: Vec<(Key, u64, Bytes)>,
}

/// Where changes are made durable.
pub(crate) trait Storage: Send {
    /// Durable when it returns. All batches or none of them.
    fn commit(&mut self, batches: &[Batch]) -> Result<(), StorageError>;
}

/// Why a commit failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum StorageError {
    /// Nothing was changed, and a later attempt may work.
    #[error("the disk is full: nothing was changed")]
    Full,
    /// Nothing can be trusted to be written any more: stop acknowledging.
    #[error("the disk cannot be trusted any more, and nothing is written until a restart: {0}")]
    Broken(String),
}

/// Why a data directory was not opened. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("{}: in use by {}: stop it first, or use another directory", directory.display(), holder(*.process))]
    InUse {
        directory: PathBuf,
        process: Option<u32>,
    },
    #[error("{}: {doing}: {source}", path.display())]
    Io {
        path: PathBuf,
        doing: &'static str,
        source: io::Error,
    },
    #[error("{}: written in format {found}, and this version reads formats up to {ours}: run the version that wrote it, or a later one", path.display())]
    NewerFormat {
        path: PathBuf,
        found: u32,
        ours: u32,
    },
    /// What was acknowledged is not all there, or not as it was.
    #[error("{}: {}\nrestore a backup, or move the file and `revision` beside it away to start with nothing", path.display(), damages.join("\n"))]
    Damaged { path: PathBuf, damages: Vec<String> },
    #[error("{}: ends at revision {stored}, but revision {acknowledged} was acknowledged: later changes are lost\nrestore a backup, or remove {} to go on without them", path.display(), witness.display())]
    LostChanges {
        path: PathBuf,
        stored: u64,
        acknowledged: u64,
        witness: PathBuf,
    },
    #[error("{}: missing, but revision {acknowledged} was acknowledged: put it back or restore a backup, or remove {} to start with nothing", path.display(), witness.display())]
    Missing {
        path: PathBuf,
        acknowledged: u64,
        witness: PathBuf,
    },
    #[error("{}: {problem}", path.display())]
    SecretKey {
        path: PathBuf,
        problem: &'static str,
    },
}

fn holder(process: Option<u32>) -> String {
    process.map_or_else(
        || "another process".to_owned(),
        |id| format!("process {id}"),
    )
}

/// Opens a data directory, made if it is missing, for this process alone.
pub(crate) fn open(directory: &Path) -> Result<(impl Storage + use<>, Loaded), OpenError> {
    let directory = Directory::claim(directory)?;
    let sealer = directory.sealer()?;
    if !directory.has_store() {
        directory.make_first_store(&sealer)?;
    }
    Disk::open(directory, sealer)
}

#[cfg(test)]
mod tests;
