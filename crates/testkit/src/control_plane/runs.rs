//! The directory of one running control plane: its data, its keys, its logs.
//!
//! A control plane that is dropped takes its directory along, unless it did not come up or the test
//! panicked: then the logs are worth a look. One that lives in a static, or whose process was
//! killed, cannot tidy up. So every directory holds a lock that the system releases with the
//! process. Whoever starts next finds the directories whose lock is free, removes their data, which
//! is large, at once, and the rest when it is a day old.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::cache;

/// The name of the lock in each directory, and of the one that guards them all.
const LOCK: &str = "lock";

/// The folder for what is large and of no use to a reader.
const DATA: &str = "data";

/// For how long the logs of a process that has ended are kept.
const LOGS_KEPT_FOR: Duration = Duration::from_hours(24);

/// A directory that belongs to this process.
#[derive(Debug)]
pub(super) struct Run {
    directory: TempDir,
    is_up: bool,
    _lock: File,
}

impl Run {
    /// Makes a fresh directory, readable by its owner only, and tidies up after those before.
    pub(super) fn begin() -> io::Result<Self> {
        Self::begin_in(&cache::folder("control-plane-runs")?)
    }

    /// Where logs, keys and configuration go.
    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where the store goes.
    pub(super) fn data(&self) -> PathBuf {
        self.path().join(DATA)
    }

    /// From now on the directory may go with its owner.
    pub(super) fn is_up(&mut self) {
        self.is_up = true;
    }

    fn begin_in(folder: &Path) -> io::Result<Self> {
        // Held to the end of this function: nobody sees a directory that is not locked yet.
        let turn = cache::lock_file(&folder.join(LOCK))?;
        turn.lock()?;
        fs::read_dir(folder)?
            .flatten()
            .for_each(|entry| tidy_up(&entry.path()));
        let directory = tempfile::Builder::new().prefix("run-").tempdir_in(folder)?;
        let lock = cache::lock_file(&directory.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self {
            directory,
            is_up: false,
            _lock: lock,
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.directory
            .disable_cleanup(thread::panicking() || !self.is_up);
    }
}

/// Failing is no reason not to start: a killed process's children may still be at their last write.
/// The next one who comes finds what was left.
fn tidy_up(directory: &Path) {
    if directory.is_dir() && left_behind(directory) {
        let _ = fs::remove_dir_all(directory.join(DATA));
        if is_old(directory) {
            let _ = fs::remove_dir_all(directory);
        }
    }
}

fn left_behind(directory: &Path) -> bool {
    cache::lock_file(&directory.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

fn is_old(directory: &Path) -> bool {
    let changed = fs::metadata(directory).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > LOGS_KEPT_FOR))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_directory_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = Run::begin_in(folder.path()).unwrap();
        run.is_up();
        assert_eq!(runs_in(folder.path()), 1);
        drop(run);
        assert_eq!(runs_in(folder.path()), 0);
    }

    #[test]
    fn a_failed_start_keeps_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        drop(Run::begin_in(folder.path()).unwrap());
        assert_eq!(runs_in(folder.path()), 1);
    }

    #[test]
    fn a_panic_keeps_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let owner = || {
            let mut run = Run::begin_in(folder.path()).unwrap();
            run.is_up();
            panic!("on purpose");
        };
        thread::scope(|scope| scope.spawn(owner).join().unwrap_err());
        assert_eq!(runs_in(folder.path()), 1);
    }

    #[test]
    fn what_was_left_behind_loses_its_data_at_once_and_its_logs_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let abandoned = abandoned_in(folder.path());
        let _first = Run::begin_in(folder.path()).unwrap();
        assert!(abandoned.join("etcd.log").exists());
        assert!(!abandoned.join(DATA).exists());

        let yesterday = SystemTime::now() - LOGS_KEPT_FOR - Duration::from_mins(1);
        File::open(&abandoned)
            .unwrap()
            .set_modified(yesterday)
            .unwrap();
        let _second = Run::begin_in(folder.path()).unwrap();
        assert!(!abandoned.exists());
    }

    #[test]
    fn what_is_in_use_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::begin_in(folder.path()).unwrap();
        fs::create_dir(run.data()).unwrap();
        File::open(run.path())
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        let _another = Run::begin_in(folder.path()).unwrap();
        assert!(run.data().is_dir());
        assert_eq!(runs_in(folder.path()), 2);
    }

    fn abandoned_in(folder: &Path) -> PathBuf {
        let directory = folder.join("run-abandoned");
        fs::create_dir_all(directory.join(DATA)).unwrap();
        fs::write(directory.join(LOCK), "").unwrap();
        fs::write(directory.join("etcd.log"), "text").unwrap();
        directory
    }

    fn runs_in(folder: &Path) -> usize {
        fs::read_dir(folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().is_dir())
            .count()
    }
}
