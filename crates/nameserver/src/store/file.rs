//! Files that are whole or not there at all, also after the power failed.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// How files are called that were not finished.
pub(super) const UNFINISHED_PREFIX: &str = ".tmp";

/// Puts a file in place of whatever is there, durably.
pub(super) fn replace(path: &Path, octets: &[u8]) -> io::Result<()> {
    let folder = folder(path)?;
    let mut file = NamedTempFile::with_prefix_in(UNFINISHED_PREFIX, folder)?;
    file.write_all(octets)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync(folder)
}

/// Takes a file away, durably. It need not be there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => sync(folder(path)?),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(err),
    }
}

/// A new name is durable when its folder is.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn folder(path: &Path) -> io::Result<&Path> {
    path.parent()
        .ok_or_else(|| io::Error::other("a file is in a folder"))
}
