//! The data directory: which files are in it, who may use them, and how a file comes to be there.
//!
//! ```text
//! store.redb                       the objects
//! store.redb.before-restore-<n>    the store that a restore replaced
//! secret.key                       the key that Secrets are sealed with, in base64
//! revision                         the revision acknowledged last
//! lock                             held by the process that uses the directory, with its id inside
//! *.new                            a file being made; of no use after a crash
//! ```
//!
//! A file gets its name when its content is on the disk, and a directory is synced after each new
//! name: there is no moment at which a crash leaves half a file under a name that counts.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use redb::backends::FileBackend;

use super::disk::{self, Medium};
use super::seal::Sealer;
use super::{Loaded, OpenError};

const STORE: &str = "store.redb";
const SECRET_KEY: &str = "secret.key";
const REVISION: &str = "revision";
const LOCK: &str = "lock";

/// More restores than anybody makes without ever cleaning up.
const KEPT_STORES: u32 = 1_000;
const TOO_MANY_KEPT: &str = "keep one more store: remove some of store.redb.before-restore-*";

/// A data directory that this process holds.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    /// Open for as long as the directory is held; the lock goes with it.
    lock: File,
}

impl Directory {
    /// Takes the directory, made if it is missing, for this process alone.
    pub(super) fn claim(path: &Path) -> Result<Self, OpenError> {
        make_directory(path).map_err(failed(path, "make the data directory"))?;
        let file = path.join(LOCK);
        let mut lock = private_file()
            .truncate(false)
            .open(&file)
            .map_err(failed(&file, "open"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(path, &mut lock)),
            Err(TryLockError::Error(error)) => return Err(failed(&file, "lock")(error)),
        }
        let own = format!("{}\n", process::id());
        lock.set_len(0)
            .and_then(|()| lock.write_all(own.as_bytes()))
            .map_err(failed(&file, "write"))?;
        let path = path.to_owned();
        Ok(Self { path, lock })
    }

    pub(super) fn has_store(&self) -> bool {
        self.path.join(STORE).exists()
    }

    pub(super) fn has_secret_key(&self) -> bool {
        self.path.join(SECRET_KEY).exists()
    }

    /// The sealer of the directory's key. Where there is no store yet, a missing key is made.
    pub(super) fn sealer(&self) -> Result<Sealer, OpenError> {
        let path = self.path.join(SECRET_KEY);
        let problem = |problem| {
            let path = path.clone();
            OpenError::SecretKey { path, problem }
        };
        match fs::read_to_string(&path) {
            Ok(text) => Sealer::from_text(&text)
                .ok_or_else(|| problem("not a key: put back the file that was there")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.has_store() => {
                Err(problem(
                    "missing: the Secrets in the store cannot be read without it: \
                     put it back, or restore a backup",
                ))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.make_sealer(),
            Err(error) => Err(failed(&path, "read")(error)),
        }
    }

    /// A sealer with a new key, which replaces one that is there.
    pub(super) fn make_sealer(&self) -> Result<Sealer, OpenError> {
        let path = self.path.join(SECRET_KEY);
        let text = Sealer::generate().ok_or_else(|| OpenError::SecretKey {
            path: path.clone(),
            problem: "cannot be made: the system gave no random numbers",
        })?;
        write_whole(&path, |file| file.write_all(text.as_bytes()))
            .map_err(failed(&path, "make the key for Secrets"))?;
        Ok(Sealer::from_text(&text).expect("generated as a key just now"))
    }

    /// Makes an empty store, unless there was one: a file that went missing is not a new start.
    pub(super) fn make_first_store(&self, sealer: &Sealer) -> Result<(), OpenError> {
        match self.acknowledged() {
            None => self.replace_store(&Loaded::default(), sealer),
            Some(acknowledged) => Err(OpenError::Missing {
                path: self.path(),
                acknowledged,
                witness: self.witness(),
            }),
        }
    }

    /// Makes a store of these objects the directory's store, at once and whole.
    pub(super) fn replace_store(&self, content: &Loaded, sealer: &Sealer) -> Result<(), OpenError> {
        let path = self.path.join(STORE);
        write_whole(&path, |file| {
            let backend = FileBackend::new(file.try_clone()?).map_err(io::Error::other)?;
            disk::fill(backend, content, sealer).map_err(io::Error::other)
        })
        .map_err(failed(&path, "make the store"))
    }

    /// Keeps the store that is there under the next free name beside it.
    pub(super) fn keep_store(&self) -> Result<Option<PathBuf>, OpenError> {
        if !self.has_store() {
            return Ok(None);
        }
        let kept = (1..=KEPT_STORES)
            .map(|n| self.path.join(format!("{STORE}.before-restore-{n}")))
            .find(|path| !path.exists())
            .ok_or_else(|| {
                failed(&self.path, TOO_MANY_KEPT)(io::ErrorKind::AlreadyExists.into())
            })?;
        // A second name, not another name: there is no moment without a store.
        fs::hard_link(self.path.join(STORE), &kept)
            .and_then(|()| sync_directory(&self.path))
            .map_err(failed(&kept, "keep the store that is there"))?;
        Ok(Some(kept))
    }

    fn open_store(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).open(self.path.join(STORE))
    }
}

impl Drop for Directory {
    /// A process id that no longer holds the lock would mislead whoever reads the file.
    fn drop(&mut self) {
        let _ = self.lock.set_len(0);
    }
}

impl Medium for Directory {
    type Backend = FileBackend;

    fn backend(&self) -> io::Result<FileBackend> {
        FileBackend::new(self.open_store()?).map_err(io::Error::other)
    }

    fn path(&self) -> PathBuf {
        self.path.join(STORE)
    }

    fn witness(&self) -> PathBuf {
        self.path.join(REVISION)
    }

    /// A witness that cannot be read is no witness: the store has checksums of its own.
    fn acknowledged(&self) -> Option<u64> {
        let text = fs::read_to_string(self.witness()).ok()?;
        let (revision, checksum) = text.trim_end().split_once(' ')?;
        let revision = revision.parse().ok()?;
        (checksum == witness_checksum(revision)).then_some(revision)
    }

    /// Written in place and not synced: when power fails an older revision may come back, which
    /// only says less. It costs a commit no second sync, and a failure to write it no commit.
    fn acknowledge(&self, revision: u64) {
        let text = format!("{revision:020} {}\n", witness_checksum(revision));
        let written = private_file()
            .truncate(false)
            .open(self.witness())
            .and_then(|file| file.write_all_at(text.as_bytes(), 0));
        if let Err(error) = written {
            tracing::warn!(path = %self.witness().display(), %error, "revision not written down");
        }
    }
}

/// Writes a file under another name, syncs it and gives it its name.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let mut file = private_file().truncate(true).open(&unfinished)?;
    let outcome = write(&mut file)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, path));
    if let Err(error) = outcome {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_directory(parent),
        Some(_) | None => sync_directory(Path::new(".")),
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opens for reading and writing a file that only its owner may read.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

fn witness_checksum(revision: u64) -> String {
    let hash = blake3::hash(&revision.to_le_bytes()).to_hex();
    hash[..16].to_owned()
}

fn in_use(directory: &Path, lock: &mut File) -> OpenError {
    let mut text = String::new();
    let process = lock.read_to_string(&mut text).ok();
    OpenError::InUse {
        directory: directory.to_owned(),
        process: process.and_then(|_| text.trim().parse().ok()),
    }
}

/// Names the file in an I/O error.
pub(super) fn failed(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io {
        path,
        doing,
        source,
    }
}
