//! Tells a full disk from a broken one.
//!
//! The database reports that some I/O failed, not which. It matters: a write refused for want of
//! space leaves the disk as it was, and can be tried again. After a failed sync nobody knows what
//! is on the disk, because the kernel forgets the pages it could not write and the next sync says
//! that all is well. So this layer between database and file remembers what failed.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use redb::StorageBackend;

/// What the layer saw; shared between it and whoever asks.
#[derive(Debug, Default)]
pub(super) struct Observations {
    failure: Mutex<Option<Failure>>,
    length: AtomicU64,
}

/// The gravest failure so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// A write or a growth found no space.
    Full,
    /// Anything else, and any failed sync, with its message.
    Broken(String),
}

/// A backend under observation.
#[derive(Debug)]
pub(super) struct Observed<B> {
    inner: B,
    seen: Arc<Observations>,
}

impl Observations {
    /// The gravest failure since the last [`Observations::forget_full`].
    pub(super) fn failure(&self) -> Option<Failure> {
        self.lock().clone()
    }

    /// Forgets that the disk was full. A broken disk is not forgotten.
    pub(super) fn forget_full(&self) {
        let mut failure = self.lock();
        if *failure == Some(Failure::Full) {
            *failure = None;
        }
    }

    /// The file's length.
    pub(super) fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    fn note(&self, failure: Failure) {
        let mut known = self.lock();
        match &*known {
            None | Some(Failure::Full) => *known = Some(failure),
            Some(Failure::Broken(_)) => {}
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: StorageBackend> Observed<B> {
    pub(super) fn new(inner: B, seen: &Arc<Observations>) -> io::Result<Self> {
        seen.length.store(inner.len()?, Ordering::Relaxed);
        let seen = Arc::clone(seen);
        Ok(Self { inner, seen })
    }

    /// Passes on the answer of an operation that needs space.
    fn taking_space<T>(&self, doing: &str, answer: io::Result<T>) -> io::Result<T> {
        match answer {
            Err(error) if is_full(&error) => {
                self.seen.note(Failure::Full);
                Err(error)
            }
            other => self.certain(doing, other),
        }
    }

    /// Passes on the answer of an operation after whose failure nothing is certain.
    fn certain<T>(&self, doing: &str, answer: io::Result<T>) -> io::Result<T> {
        answer.inspect_err(|error| self.seen.note(Failure::Broken(format!("{doing}: {error}"))))
    }
}

impl<B: StorageBackend> StorageBackend for Observed<B> {
    fn len(&self) -> io::Result<u64> {
        self.certain("file length", self.inner.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.certain("read", self.inner.read(offset, out))
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.taking_space("set file length", self.inner.set_len(length))?;
        self.seen.length.store(length, Ordering::Relaxed);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.certain("fsync", self.inner.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.taking_space("write", self.inner.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }
}

/// Disk, quota or the process' limit on file sizes.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_failure_is_remembered_and_only_fullness_is_forgotten() {
        let seen = Observations::default();
        let broken = |text: &str| Failure::Broken(text.to_owned());
        seen.note(Failure::Full);
        assert_eq!(seen.failure(), Some(Failure::Full));
        seen.forget_full();
        assert_eq!(seen.failure(), None);
        seen.note(Failure::Full);
        seen.note(broken("first"));
        seen.note(broken("second"));
        seen.note(Failure::Full);
        seen.forget_full();
        assert_eq!(seen.failure(), Some(broken("first")));
    }

    #[test]
    fn disk_quota_and_limit_are_fullness_and_nothing_else_is() {
        use io::ErrorKind::{
            FileTooLarge, Interrupted, NotFound, Other, PermissionDenied, QuotaExceeded,
            StorageFull, UnexpectedEof,
        };
        for kind in [StorageFull, QuotaExceeded, FileTooLarge] {
            assert!(is_full(&kind.into()), "{kind}");
        }
        for kind in [
            Other,
            NotFound,
            PermissionDenied,
            UnexpectedEof,
            Interrupted,
        ] {
            assert!(!is_full(&kind.into()), "{kind}");
        }
    }
}
