//! Where things that are expensive to make are kept between test runs.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::progress::say;

/// Names the folder to use instead of `$HOME/.cache/zonewright`.
const VARIABLE: &str = "ZONEWRIGHT_CACHE";

/// The folder `name` of the cache, made if it is not there.
pub fn folder(name: &str) -> io::Result<PathBuf> {
    let folder = root(env::var_os(VARIABLE).map(PathBuf::from), env::home_dir())?.join(name);
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    Ok(folder)
}

/// The folder `key` in `folder`, filled by `make` if it is not there.
///
/// One process makes it while others wait. It is there whole or not at all: `make` fills a folder
/// beside it that is moved into place at the end, and whose remains the next one removes if that
/// end was never reached.
pub(crate) fn made<E: From<io::Error>>(
    folder: &Path,
    key: &str,
    make: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<PathBuf, E> {
    let target = folder.join(key);
    if target.exists() {
        return Ok(target);
    }
    let _turn = turn(folder)?;
    if !target.exists() {
        let unfinished = empty_folder(target.with_extension("unfinished"))?;
        make(&unfinished)?;
        fs::rename(&unfinished, &target).map_err(at(&target))?;
    }
    Ok(target)
}

/// Opens the file that processes take turns on; locking it is left to the caller.
pub(crate) fn lock_file(path: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(at(path))
}

/// Adds to an error which path it is about.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn root(chosen: Option<PathBuf>, home: Option<PathBuf>) -> io::Result<PathBuf> {
    match (chosen.filter(|path| !path.as_os_str().is_empty()), home) {
        (Some(chosen), _) => std::path::absolute(chosen),
        (None, Some(home)) => Ok(home.join(".cache").join("zonewright")),
        (None, None) => Err(io::Error::other(format!(
            "no home for the cache: set {VARIABLE}"
        ))),
    }
}

/// Waits until nobody else makes anything in `folder`. The turn ends when the file is closed.
fn turn(folder: &Path) -> io::Result<File> {
    let lock = lock_file(&folder.join("lock"))?;
    if lock.try_lock().is_err() {
        say(&format!(
            "waiting for another process that is busy in {}",
            folder.display()
        ));
        lock.lock()?;
    }
    Ok(lock)
}

fn empty_folder(path: PathBuf) -> io::Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(&path).map_err(at(&path))?;
    }
    fs::create_dir(&path).map_err(at(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn the_variable_wins_over_the_home_directory_unless_it_is_empty() {
        let check = |chosen: Option<&str>, expected: &str| {
            let home = Some(PathBuf::from("/home/me"));
            assert_eq!(
                root(chosen.map(PathBuf::from), home).unwrap(),
                Path::new(expected)
            );
        };
        check(None, "/home/me/.cache/zonewright");
        check(Some(""), "/home/me/.cache/zonewright");
        check(Some("/elsewhere"), "/elsewhere");
    }

    #[test]
    fn without_a_home_directory_the_error_names_the_variable() {
        let error = root(None, None).unwrap_err();
        assert!(error.to_string().contains(VARIABLE), "{error}");
    }

    #[test]
    fn of_many_who_want_a_thing_one_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let made_by = AtomicUsize::new(0);
        let want = || {
            let target = made(folder.path(), "key", |unfinished| {
                made_by.fetch_add(1, Ordering::SeqCst);
                fs::write(unfinished.join("part"), "whole")
            });
            assert_eq!(
                fs::read_to_string(target.unwrap().join("part")).unwrap(),
                "whole"
            );
        };
        thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(want))));
        want();
        assert_eq!(made_by.into_inner(), 1);
    }

    #[test]
    fn what_was_interrupted_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let interrupted = made(folder.path(), "key", |unfinished| {
            fs::write(unfinished.join("half"), "")?;
            Err(io::Error::other("interrupted"))
        });
        assert_eq!(interrupted.unwrap_err().to_string(), "interrupted");
        assert!(!folder.path().join("key").exists());

        let whole = |unfinished: &Path| fs::write(unfinished.join("whole"), "");
        let target = made(folder.path(), "key", whole).unwrap();
        assert!(target.join("whole").exists() && !target.join("half").exists());
    }
}
