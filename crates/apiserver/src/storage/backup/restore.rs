//! Restoring: a backup becomes the store of a data directory.

use std::path::{Path, PathBuf};

use crate::storage::directory::Directory;
use crate::storage::disk::{self, Medium};
use crate::storage::{Loaded, OpenError};

/// Revisions go on at the next multiple of this that leaves at least as many unused. Clients remember
/// revisions that the backup does not know: what was written after it was made. If a revision came
/// to stand for something else, a watch would go on without noticing and an outdated write would
/// pass as current. A million is more changes than a store acknowledges between the last time that
/// its revision was seen and its loss.
const GAP: u64 = 1_000_000;

/// What a restore did.
#[derive(Debug, PartialEq)]
pub(crate) struct Restored {
    /// The store's revision now.
    pub(crate) revision: u64,
    pub(crate) objects: usize,
    /// Where the store that was there before is kept.
    pub(crate) previous: Option<PathBuf>,
}

/// Makes the content of a backup the store of a directory that no other process uses.
///
/// A store that is there is kept, even if it cannot be read. The key for Secrets is kept if there
/// is one.
pub(crate) fn restore(directory: &Path, mut content: Loaded) -> Result<Restored, OpenError> {
    let directory = Directory::claim(directory)?;
    content.revision = beyond(content.revision.max(last_seen(&directory)));
    let previous = directory.keep_store()?;
    let sealer = if directory.has_secret_key() {
        directory.sealer()?
    } else {
        directory.make_sealer()?
    };
    directory.replace_store(&content, &sealer)?;
    directory.acknowledge(content.revision);
    Ok(Restored {
        revision: content.revision,
        objects: content.objects.len(),
        previous,
    })
}

/// The highest revision that the directory tells of. A store that is damaged may tell none; the
/// witness beside it is then what is left.
fn last_seen(directory: &Directory) -> u64 {
    let stored = directory.has_store().then(|| disk::revision(directory));
    let stored = stored.flatten().unwrap_or(0);
    directory.acknowledged().unwrap_or(0).max(stored)
}

fn beyond(revision: u64) -> u64 {
    (revision + GAP).next_multiple_of(GAP)
}
