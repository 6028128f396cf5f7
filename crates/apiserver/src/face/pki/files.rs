//! Files that hold secrets: readable by their owner only, and whole or not there at all.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use super::PkiError;

/// Certificates and keys are a few kilobytes; what is longer is something else.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// A directory that only its owner may enter; it may be there already.
pub(super) fn create_directory(path: &Path) -> Result<(), PkiError> {
    let mut builder = DirBuilder::new();
    let created = builder.recursive(true).mode(0o700).create(path);
    created.map_err(PkiError::file("create", path))
}

/// The text of a file, or nothing if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, PkiError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PkiError::file("read", path)(error)),
    };
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    read.map_err(PkiError::file("read", path))?;
    Ok(Some(text))
}

/// Puts a file in place, durably: after a crash there is the old text or the new one.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), PkiError> {
    write_whole(path, text, Lasts::ThroughPowerLoss).map_err(PkiError::file("write", path))
}

/// Puts a file in place that every start writes anew: readers see the old text or the new one, and nobody waits for
/// the disk.
pub(crate) fn write_anew(path: &Path, text: &str) -> Result<(), PkiError> {
    write_whole(path, text, Lasts::UntilPowerLoss).map_err(PkiError::file("write", path))
}

/// What a file has to survive.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Lasts {
    ThroughPowerLoss,
    UntilPowerLoss,
}

fn write_whole(path: &Path, text: &str, lasts: Lasts) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    // Temporary files are made for their owner only.
    let mut file = tempfile::Builder::new()
        .prefix(".")
        .tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if lasts == Lasts::UntilPowerLoss {
        file.persist(path).map_err(|error| error.error)?;
        return Ok(());
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}

/// Puts a whole directory in place, durably: after a crash there are all of its files or none.
pub(super) fn write_directory(path: &Path, files: &[(&str, &str)]) -> Result<(), PkiError> {
    let new = path.with_extension("new");
    match fs::remove_dir_all(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(PkiError::file("remove", &new)(error));
        }
        Ok(()) | Err(_) => create_directory(&new)?,
    }
    for (name, text) in files {
        write(&new.join(name), text)?;
    }
    let place = || {
        fs::rename(&new, path)?;
        path.parent()
            .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
    };
    place().map_err(PkiError::file("create", path))
}

/// Whether a directory is missing or has nothing in it.
pub(super) fn is_empty(path: &Path) -> Result<bool, PkiError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(PkiError::file("read", path)(error)),
    }
}
