//! Backups of a data directory that no process has open.
//!
//! A running API gives its backup at `/zonewright/backup`. A backup holds everything, the contents of Secrets in the
//! clear.

use std::io::{self, BufRead, Write};
use std::path::Path;

use jiff::Timestamp;

use crate::storage::backup::{self, BackupError, Snapshot};
use crate::storage::{self, OpenError};

/// Why a backup was not made or not restored.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ArchiveError(#[from] Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes what is in `directory`.
pub fn backup(directory: &Path, now: Timestamp, to: &mut impl Write) -> Result<(), ArchiveError> {
    let (_storage, loaded) = storage::open(directory).map_err(Cause::from)?;
    let objects = loaded
        .objects
        .iter()
        .map(|(key, revision, json)| (key, *revision, json));
    let snapshot = Snapshot {
        revision: loaded.revision,
        created_at: now,
        objects,
    };
    backup::write(snapshot, to).map_err(Cause::from)?;
    Ok(())
}

/// Makes what is in `directory` what the backup says. What was there before is kept beside it.
pub fn restore(directory: &Path, from: &mut impl BufRead) -> Result<(), ArchiveError> {
    let loaded = backup::read(from).map_err(Cause::from)?;
    backup::restore(directory, loaded).map_err(Cause::from)?;
    Ok(())
}
