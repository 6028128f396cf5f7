//! The programs: those of the machine, or Debian's, fetched and unpacked into the cache.
//!
//! Unpacked, not installed. So it takes no privileges, changes nothing on the machine, and no service of a package ever
//! runs. What the packages need and the machine does not have is unpacked with them.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Software;
use crate::cache;
use crate::process::{explain, mortal};
use crate::progress::say;
use crate::tail::tail;

/// What Debian calls them.
const PACKAGES: [&str; 3] = ["nsd", "knot", "bind9"];

/// Servers lie there, and the path of somebody who is not root often does not say so.
const SERVER_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Programs that can be started.
#[derive(Clone, Debug)]
pub struct Programs {
    nsd: PathBuf,
    knot: PathBuf,
    bind: PathBuf,
    /// Where the libraries of unpacked programs are.
    libraries: Option<PathBuf>,
}

/// Why there are none.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// A command that brings them failed.
    #[error("cannot fetch {}: `{command}`: {said}", PACKAGES.join(", "))]
    Fetch {
        /// The command.
        command: String,
        /// What it said, or why it could not be run.
        said: String,
    },
    /// They were fetched, and are not where they should be.
    #[error("{0} is not in the package that should have it")]
    Missing(&'static str),
    /// The cache cannot be written.
    #[error(transparent)]
    Cache(#[from] io::Error),
}

/// Finds the programs, and fetches those that the machine does not have.
pub fn programs() -> Result<Programs, ProgramsError> {
    let folders = folders();
    if let Ok(programs) = Programs::find(&folders, None) {
        return Ok(programs);
    }
    let unpacked = cache::made(&cache::folder("name-servers")?, &release(), fetch)?;
    let folders: Vec<_> = folders
        .into_iter()
        .chain([unpacked.join("usr/sbin")])
        .collect();
    Programs::find(&folders, libraries(&unpacked))
}

impl Programs {
    fn find(folders: &[PathBuf], libraries: Option<PathBuf>) -> Result<Self, ProgramsError> {
        let find = |program: &'static str| {
            let mut found = folders.iter().map(|folder| folder.join(program));
            found
                .find(|path| path.is_file())
                .ok_or(ProgramsError::Missing(program))
        };
        Ok(Self {
            nsd: find("nsd")?,
            knot: find("knotd")?,
            bind: find("named")?,
            libraries,
        })
    }

    /// A command that dies with us, without arguments.
    pub(super) fn command(&self, software: Software) -> Command {
        let mut command = mortal(match software {
            Software::Nsd => &self.nsd,
            Software::Knot => &self.knot,
            Software::Bind => &self.bind,
        });
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

fn folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path);
    folders.chain(SERVER_FOLDERS.map(PathBuf::from)).collect()
}

/// Programs of one release do not run on another.
fn release() -> String {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let word = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key));
        value.unwrap_or("unknown").replace('"', "")
    };
    format!("{}-{}", word("ID="), word("VERSION_ID=").replace('.', "-"))
}

/// The folder of the architecture, whichever it is.
fn libraries(unpacked: &Path) -> Option<PathBuf> {
    let folders = fs::read_dir(unpacked.join("usr/lib")).ok()?;
    let mut folders = folders.flatten().map(|entry| entry.path());
    folders.find(|path| path.to_string_lossy().contains("-linux-"))
}

/// Fills `root` with the packages and what they need beyond what the machine has.
fn fetch(root: &Path) -> Result<(), ProgramsError> {
    say("fetching NSD, Knot and BIND from Debian, once");
    let work = tempfile::tempdir()?;
    let (lists, archives) = (work.path().join("lists"), work.path().join("archives"));
    fs::create_dir_all(lists.join("partial"))?;
    fs::create_dir_all(archives.join("partial"))?;
    let apt = || {
        let mut command = mortal(Path::new("apt-get"));
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["--quiet", "--yes", "-o", "Debug::NoLocking=true", "-o"])
            .arg(format!("Dir::State::lists={}", lists.display()))
            .args([
                "-o",
                "Dir::Cache::srcpkgcache=",
                "-o",
                "Dir::Cache::pkgcache=",
                "-o",
            ])
            .arg(format!("Dir::Cache::archives={}", archives.display()));
        command
    };
    run(apt().arg("update"))?;
    run(apt()
        .args(["install", "--download-only", "--no-install-recommends"])
        .args(PACKAGES))?;
    for package in fs::read_dir(&archives)?.flatten().map(|entry| entry.path()) {
        if package
            .extension()
            .is_some_and(|extension| extension == "deb")
        {
            run(mortal(Path::new("dpkg-deb"))
                .arg("--extract")
                .arg(package)
                .arg(root))?;
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<(), ProgramsError> {
    let said = match command.output() {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => tail(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => explain(error).to_string(),
    };
    let words = command.get_args().map(|word| word.to_string_lossy());
    // The first words make it mortal.
    let words: Vec<_> = words.skip_while(|word| word != "--").skip(1).collect();
    Err(ProgramsError::Fetch {
        command: words.join(" "),
        said,
    })
}
