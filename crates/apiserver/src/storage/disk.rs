//! The store on a disk: one redb database, written by commits that are durable when they return.
//!
//! redb writes a new version of every page that changes and then, in one sector, the root of the new
//! tree. One sync makes both durable. After a crash it takes the newer root whose whole tree
//! verifies. A root that verifies no more because the disk decayed looks just the same, so a
//! second witness, [`Medium::acknowledged`], tells a crash from a loss.
//!
//! A failed commit leaves redb closed to everything. When space was short, the database is opened
//! again and asked what it holds. After any other failure nothing more is written.

mod contents;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, StorageBackend};

use contents::{FORMAT, Unreadable, Unwritable};

use super::observed::{Failure, Observations, Observed};
use super::seal::Sealer;
use super::tally::Tally;
use super::{Batch, Loaded, OpenError, Storage, StorageError};

/// Pages that redb keeps in memory. Nobody reads after the start, so they serve one commit, which
/// touches its own values and the few pages above them: half of this holds those of 500 objects. A
/// start goes through all pages and gains nothing from keeping more of them, on the contrary: memory
/// that was used a moment ago is in the processor's cache, and the system need not find any.
const CACHE: usize = 4 * 1024 * 1024;

/// The file may be this many times the live data. Pages are three quarters full at best and half
/// full at worst, and redb doubles the file when it grows.
const TOLERATED_FACTOR: u64 = 3;

/// A file below this is never compacted: an empty database takes more than one MiB.
const TOLERATED_LENGTH: u64 = 4 * 1024 * 1024;

/// Where a store lies: in a directory or, in tests, on a disk that loses power.
pub(super) trait Medium: Send {
    type Backend: StorageBackend;

    /// The file, opened again each time.
    fn backend(&self) -> io::Result<Self::Backend>;

    /// The file's name, for messages.
    fn path(&self) -> PathBuf;

    /// The name of what [`Medium::acknowledged`] reads, for messages.
    fn witness(&self) -> PathBuf;

    /// A revision that was acknowledged; later ones may have been as well.
    fn acknowledged(&self) -> Option<u64>;

    /// Notes that everything up to this revision is durable.
    fn acknowledge(&self, revision: u64);
}

/// A store that this process has open.
#[derive(Debug)]
pub(super) struct Disk<M> {
    // Before the medium, which holds the lock: the database writes when it is dropped.
    database: Opened,
    seen: Arc<Observations>,
    sealer: Sealer,
    /// What was acknowledged last.
    tally: Tally,
    /// Bytes written and removed since the last compaction.
    churn: u64,
    medium: M,
}

#[derive(Debug)]
enum Opened {
    Yes(Database),
    /// Never again, for this reason.
    No(String),
}

/// Fills an empty file with a store of these objects.
pub(super) fn fill(
    backend: impl StorageBackend,
    content: &Loaded,
    sealer: &Sealer,
) -> Result<(), Unwritable> {
    let database = builder().create_with_backend(backend)?;
    contents::fill(&database, content, sealer)
}

/// The revision of a store, if it can be read.
pub(super) fn revision<M: Medium>(medium: &M) -> Option<u64> {
    let seen = Arc::new(Observations::default());
    let tally = contain(|| contents::tally(&open_database(medium, &seen)?.0));
    tally.ok().map(|tally| tally.revision)
}

impl<M: Medium> Disk<M> {
    /// Opens a store and verifies all that is in it.
    pub(super) fn open(medium: M, sealer: Sealer) -> Result<(Self, Loaded), OpenError> {
        let seen = Arc::new(Observations::default());
        let (database, loaded, tally) = contain(|| open_verified(&medium, &sealer, &seen))
            .map_err(|unreadable| refuse(&medium, unreadable))?;
        if let Some(acknowledged) = medium.acknowledged()
            && acknowledged > loaded.revision
        {
            return Err(OpenError::LostChanges {
                path: medium.path(),
                stored: loaded.revision,
                acknowledged,
                witness: medium.witness(),
            });
        }
        medium.acknowledge(loaded.revision);
        let mut disk = Self {
            database: Opened::Yes(database),
            seen,
            sealer,
            tally,
            // As if all had been written since the last compaction: nobody knows better.
            churn: u64::MAX,
            medium,
        };
        disk.compact_if_worthwhile();
        Ok((disk, loaded))
    }

    /// Writes batches in one transaction. `next` is what the objects add up to if it succeeds.
    fn write(&mut self, batches: &[Batch], next: &mut Tally) -> Result<(), Unwritable> {
        let Opened::Yes(database) = &self.database else {
            return Ok(());
        };
        let transaction = database.begin_write()?;
        *next = contents::apply(&transaction, batches, &self.sealer, self.tally)?;
        Ok(transaction.commit()?)
    }

    /// What became of a commit that failed: nothing, or all of it, or nobody can tell.
    fn recover(&mut self, error: &Unwritable, next: &Tally) -> Result<(), StorageError> {
        match self.seen.failure() {
            Some(Failure::Full) => self.reopen(next),
            Some(Failure::Broken(reason)) => self.give_up(reason),
            None => self.give_up(error.to_string()),
        }
    }

    /// Opens the database again after it ran out of space, and looks which of the two states it has.
    fn reopen(&mut self, next: &Tally) -> Result<(), StorageError> {
        // The old handle goes first: it closes the file.
        self.database = Opened::No("opening again after the disk was full".to_owned());
        self.seen.forget_full();
        let reopened = contain(|| {
            let (database, _) = open_database(&self.medium, &self.seen)?;
            let tally = contents::tally(&database)?;
            Ok((database, tally))
        });
        match reopened {
            Ok((database, tally)) if tally == self.tally => {
                self.database = Opened::Yes(database);
                Err(StorageError::Full)
            }
            // All was written, and what failed came after it.
            Ok((database, tally)) if tally == *next => {
                self.database = Opened::Yes(database);
                Ok(())
            }
            Ok(_) => self.give_up("after the disk was full, the store is not what it was".into()),
            Err(unreadable) => self.give_up(refuse(&self.medium, unreadable).to_string()),
        }
    }

    fn give_up<T>(&mut self, reason: String) -> Result<T, StorageError> {
        self.database = Opened::No(reason.clone());
        Err(StorageError::Broken(reason))
    }

    /// Compacts when the file is much longer than its live data, and enough was written since the
    /// last time: a compaction writes at most the live data again, so it is never more than half
    /// of what is written.
    fn compact_if_worthwhile(&mut self) {
        let tolerated = TOLERATED_LENGTH.max(TOLERATED_FACTOR.saturating_mul(self.tally.bytes));
        let length = self.seen.length();
        if length <= tolerated || self.churn < self.tally.bytes {
            return;
        }
        let Opened::Yes(database) = &mut self.database else {
            return;
        };
        self.churn = 0;
        let outcome = database.compact();
        let (before, after) = (length, self.seen.length());
        match outcome {
            Ok(_) => tracing::debug!(before, after, "store compacted"),
            Err(error) => {
                tracing::warn!(%error, "store not compacted");
                // What was acknowledged is durable; the next commit tells if writing is over.
                let tally = self.tally;
                let _ = self.recover(&error.into(), &tally);
            }
        }
    }
}

impl<M: Medium> Storage for Disk<M> {
    fn commit(&mut self, batches: &[Batch]) -> Result<(), StorageError> {
        if let Opened::No(reason) = &self.database {
            return Err(StorageError::Broken(reason.clone()));
        }
        self.seen.forget_full();
        let mut next = self.tally;
        if let Err(error) = self.write(batches, &mut next) {
            self.recover(&error, &next)?;
        }
        self.tally = next;
        self.churn = self.churn.saturating_add(size(batches));
        self.medium.acknowledge(next.revision);
        self.compact_if_worthwhile();
        Ok(())
    }
}

/// The bytes that batches write. A removal counts as a page, which is what it rewrites.
fn size(batches: &[Batch]) -> u64 {
    let writes = batches.iter().flat_map(|batch| &batch.writes);
    writes
        .map(|write| {
            write
                .value
                .as_ref()
                .map_or(4096, |value| value.len() as u64)
        })
        .sum()
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder
}

/// Opens the database. Whether it was not closed before: then all of it has been verified.
fn open_database<M: Medium>(
    medium: &M,
    seen: &Arc<Observations>,
) -> Result<(Database, bool), Unreadable> {
    let backend =
        Observed::new(medium.backend().map_err(redb::Error::Io)?, seen).map_err(redb::Error::Io)?;
    let rebuilt = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&rebuilt);
    let mut builder = builder();
    builder.set_repair_callback(move |_| noted.store(true, Ordering::Relaxed));
    let database = builder.create_with_backend(backend)?;
    Ok((database, rebuilt.load(Ordering::Relaxed)))
}

fn open_verified<M: Medium>(
    medium: &M,
    sealer: &Sealer,
    seen: &Arc<Observations>,
) -> Result<(Database, Loaded, Tally), Unreadable> {
    let (mut database, rebuilt) = open_database(medium, seen)?;
    // Objects are verified below. This verifies what redb keeps for itself: a free list that lies
    // would have later commits overwrite live pages. A database that was not closed has just been
    // verified in the same way, page by page, and its free list made anew.
    if !rebuilt && !database.check_integrity()? {
        tracing::warn!(path = %medium.path().display(), "the store was repaired");
    }
    let (loaded, tally) = contents::load(&database, sealer)?;
    Ok((database, loaded, tally))
}

/// Runs what reads bytes that anything may have happened to. redb is careful with them, but asserts
/// here and there; such a panic is one more way to say that the file is damaged.
fn contain<T>(read: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        let damage = format!("the database is damaged where it was not expected to be: {message}");
        Err(Unreadable::Damaged(vec![damage]))
    })
}

fn refuse<M: Medium>(medium: &M, unreadable: Unreadable) -> OpenError {
    let path = medium.path();
    match unreadable {
        Unreadable::NewerFormat(found) => OpenError::NewerFormat {
            path,
            found,
            ours: FORMAT,
        },
        Unreadable::OtherSecretKey => OpenError::SecretKey {
            path,
            problem: "its Secrets are sealed with another key than the one in `secret.key`: \
                      put that key back, or restore a backup",
        },
        Unreadable::Damaged(damages) => OpenError::Damaged { path, damages },
    }
}

#[cfg(test)]
mod tests;
