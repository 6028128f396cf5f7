//! The last good version of every zone, on disk (N5).
//!
//! ```text
//! <folder>/lock                     held while a server uses the folder
//! <folder>/serials                  every serial that was ever answered, by zone: a line is added before it is
//! <folder>/zones/<name>-<hash>.zone a zone file, whole or not there at all, with its own checksum
//! ```
//!
//! Serials are small and written at once; contents are large and written behind the answers, seldom. After a crash the
//! content may be older than the serial: it is served under its own serial, which it had before, and the next version
//! needs a higher one than both. What is damaged is named, kept aside, and stops nobody else.

mod behind;
mod contents;
mod file;
mod serials;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dns::{Name, Publication, Serial, Version};

pub(crate) use behind::Behind;
use contents::Contents;
use serials::Serials;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be read or written.
    #[error("cannot use {path} to store zones")]
    Folder {
        /// What could not be read or written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server uses it.
    #[error("{path} is used by another server; give each one a folder of its own")]
    Locked {
        /// The folder.
        path: PathBuf,
    },
}

/// A folder with versions, used by this server alone.
#[derive(Debug)]
pub(crate) struct Store {
    serials: Serials,
    behind: Arc<Behind>,
    /// Whether the last serials could not be written, which is told once.
    is_failing: bool,
    _lock: File,
}

impl Store {
    /// Opens a folder, and reads the versions in it.
    pub(crate) fn open(folder: &Path) -> Result<(Store, Vec<Version>), StoreError> {
        let zones = folder.join("zones");
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { path, source }
        };
        fs::create_dir_all(&zones).map_err(fail(&zones))?;
        let lock = lock(folder)?;
        let path = folder.join("serials");
        let serials = Serials::open(&path).map_err(fail(&path))?;
        let contents = Contents::new(zones.clone());
        let versions = contents.load(&serials).map_err(fail(&zones))?;
        // A disk that is full can still be served from.
        let noted: Vec<_> = versions.iter().cloned().map(Publication::Version).collect();
        let written = versions
            .iter()
            .map(|version| (version.zone.origin().clone(), version.serial))
            .collect();
        let mut store = Store {
            serials,
            behind: Arc::new(Behind::new(contents, written)),
            is_failing: false,
            _lock: lock,
        };
        store.note(&noted);
        Ok((store, versions))
    }

    /// The highest serial of every zone there ever was.
    pub(crate) fn serials(&self) -> BTreeMap<Name, Serial> {
        self.serials.highest()
    }

    /// Makes the serials of publications durable. If that fails, it is told, and tried again with the next.
    pub(crate) fn note(&mut self, batch: &[Publication]) {
        match self.serials.note(batch) {
            Ok(()) if self.is_failing => {
                self.is_failing = false;
                tracing::info!("Serials can be stored again");
            }
            Ok(()) => {}
            Err(_) if self.is_failing => {}
            Err(err) => {
                self.is_failing = true;
                tracing::error!(error = %err, "Cannot store serials; serving without");
            }
        }
    }

    /// Where contents are written, when they are due.
    pub(crate) fn behind(&self) -> Arc<Behind> {
        self.behind.clone()
    }
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("lock");
    let fail = |source| StoreError::Folder {
        path: path.clone(),
        source,
    };
    let file = File::create(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked {
            path: folder.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(fail(source)),
    }
}
