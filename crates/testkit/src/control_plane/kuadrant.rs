//! Kuadrant's end-to-end suite, built from its Go module into the cache, and a room to run it in.
//!
//! The suite's files stay as they are published. It asks the provider itself what is there, and Amazon's library for Go, in
//! the version that it uses, knows no variable that leads it anywhere but to Amazon: so one file of the operator, not of the
//! suite, is replaced while Go compiles, by itself with `EDITS`.
//!
//! It also asks the system's resolver for the name servers of its zone, and then those, at port 53. [`Suite::command`] gives
//! it a `resolv.conf` of its choice, which nobody else on this machine sees.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU16, Ordering};

use super::build::{self, BuildError};
use super::go::{self, GoError};
use super::module::KUADRANT;
use crate::cache;
use crate::process::{explain, mortal};

const MODULE: &str = "github.com/kuadrant/dns-operator";
const PACKAGE: &str = "./test/e2e";
const SPECS: &str = "e2e.test";
const RUNNER: &str = "github.com/onsi/ginkgo/v2/ginkgo";
const LINK: &str = "-ldflags=-s -w";

/// The operator's way to Amazon.
const AWS: &str = "internal/provider/aws/aws.go";

/// Lines of [`AWS`], each of which is there once, and what stands in their place.
const EDITS: [(&str, &str); 2] = [
    ("\t\"fmt\"\n", "\t\"fmt\"\n\t\"os\"\n"),
    (
        "\tconfig := aws.NewConfig()\n",
        "\tconfig := aws.NewConfig().WithEndpoint(os.Getenv(\"AWS_ENDPOINT_URL\"))\n",
    ),
];

/// The port of every name server that is found by its name.
const DNS: u16 = 53;

/// How many addresses are tried. One that is taken is rare already.
const ADDRESSES_MAX: usize = 16;

/// What `unshare` is asked for: mounts that only the suite sees, and that all it starts ends when it does.
const ROOM: [&str; 5] = [
    "--mount",
    "--pid",
    "--fork",
    "--kill-child=KILL",
    "--propagation=private",
];

/// Finds the suite in the cache, or builds it there; and looks whether it can be run on this machine.
///
/// This blocks, and builds for two or three minutes the first time.
pub fn suite() -> Result<Suite, SuiteError> {
    build::permitted()?;
    check_room()?;
    free_address()?;
    let module = KUADRANT.folder()?;
    let [import, call] = EDITS;
    let parts = [
        (SPECS, PACKAGE),
        ("ginkgo", RUNNER),
        ("link", LINK),
        import,
        call,
    ];
    let version = build::go_version(&module)?;
    let key = build::key(&KUADRANT.files(), &parts, &version);
    let folder = cache::made(&cache::folder("kuadrant")?, &key, |folder| {
        make(&module, folder)
    })?;
    Ok(Suite { folder })
}

/// An address of this machine at which nobody answers as a name server, so far.
pub fn free_address() -> Result<Ipv4Addr, SuiteError> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let [high, low] = u16::try_from(process::id() % 0xffff)
        .unwrap_or_default()
        .to_be_bytes();
    let mut refused = None;
    for _ in 0..ADDRESSES_MAX {
        // Not the first network, where resolvers of systems are.
        let network = 64 + NEXT.fetch_add(1, Ordering::Relaxed) % 128;
        let network = u8::try_from(network).expect("it is below 192");
        let address = Ipv4Addr::new(127, network, high, low.clamp(1, 254));
        match TcpListener::bind((address, DNS)).and_then(|_| UdpSocket::bind((address, DNS))) {
            Ok(_) => return Ok(address),
            Err(error) => refused = Some(error),
        }
    }
    Err(SuiteError::NoPort(refused.expect("it was tried")))
}

/// The suite, built.
#[derive(Clone, Debug)]
pub struct Suite {
    folder: PathBuf,
}

impl Suite {
    /// The runner of the suite, in the suite's folder, where names are resolved as a file such as `resolv.conf` says. Give it
    /// flags and the suite's variables, and then [`Suite::specs`].
    pub fn command(&self, resolv_conf: &Path) -> Command {
        let mut command = mortal(Path::new("unshare"));
        command
            .args(ROOM)
            .args(["sh", "-c"])
            .arg("mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"")
            .arg(resolv_conf)
            .arg(self.folder.join("ginkgo"))
            .current_dir(self.folder.join("operator").join(PACKAGE));
        command
    }

    /// What the runner runs.
    pub fn specs(&self) -> &'static str {
        SPECS
    }
}

/// Why the suite cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// It could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The operator's way to Amazon is another one.
    #[error("{AWS} of {MODULE} has {count} lines {line:?}, where one was expected")]
    Edit {
        /// The line.
        line: &'static str,
        /// How often it is there.
        count: usize,
    },
    /// Only this machine's own resolver can be asked.
    #[error("a process cannot have a resolver of its own: {0}")]
    NoRoom(String),
    /// No name server can be run where it would be found.
    #[error("port {DNS} of a loopback address cannot be had: {0}")]
    NoPort(io::Error),
}

impl From<GoError> for SuiteError {
    fn from(error: GoError) -> SuiteError {
        SuiteError::Build(error.into())
    }
}

impl From<io::Error> for SuiteError {
    fn from(error: io::Error) -> SuiteError {
        SuiteError::Build(error.into())
    }
}

/// Whether this machine lets us have mounts of our own.
fn check_room() -> Result<(), SuiteError> {
    let mut command = mortal(Path::new("unshare"));
    let bind = "mount --bind /etc/resolv.conf /etc/resolv.conf";
    let output = command.args(ROOM).args(["sh", "-c", bind]).output();
    let output = output.map_err(explain)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(SuiteError::NoRoom(said.trim().to_owned()))
}

fn make(module: &Path, folder: &Path) -> Result<(), SuiteError> {
    go::output(go::command(module).args(["mod", "download", MODULE]))?;
    let mut list = go::command(module);
    let published = go::output(list.args(["list", "-m", "-f", "{{.Dir}}", MODULE]))?;
    let operator = folder.join("operator");
    copy(Path::new(published.trim()), &operator)?;
    let overlay = overlay(&operator, folder)?;
    build::build_part(&operator, "ginkgo", RUNNER, LINK, folder)?;
    let arguments = [
        "test".as_ref(),
        "-c".as_ref(),
        "-tags=e2e".as_ref(),
        LINK.as_ref(),
        "-overlay".as_ref(),
        overlay.as_os_str(),
        "-o".as_ref(),
        // Where the runner runs it, beside its fixtures.
        OsStr::new("test/e2e/e2e.test"),
        PACKAGE.as_ref(),
    ];
    build::compile(&operator, SPECS, arguments)?;
    Ok(())
}

/// Go replaces files while it compiles, but none in its own cache.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to).map_err(cache::at(to))?;
    for entry in fs::read_dir(from).map_err(cache::at(from))? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to).map_err(cache::at(&from))?;
        }
    }
    Ok(())
}

/// Writes down for Go which file it takes in place of which.
fn overlay(operator: &Path, folder: &Path) -> Result<PathBuf, SuiteError> {
    let original = operator.join(AWS);
    let text = fs::read_to_string(&original).map_err(cache::at(&original))?;
    let edited = folder.join("aws.go");
    fs::write(&edited, with_edits(&text)?).map_err(cache::at(&edited))?;
    let overlay = folder.join("overlay.json");
    let replace = serde_json::json!({ "Replace": { original.to_string_lossy(): edited } });
    fs::write(&overlay, replace.to_string()).map_err(cache::at(&overlay))?;
    Ok(overlay)
}

fn with_edits(text: &str) -> Result<String, SuiteError> {
    EDITS
        .into_iter()
        .try_fold(text.to_owned(), |text, (line, edited)| {
            match text.matches(line).count() {
                1 => Ok(text.replace(line, edited)),
                count => Err(SuiteError::Edit { line, count }),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_there_once_is_an_error_and_never_passed_over() {
        let [(import, _), (call, _)] = EDITS;
        let edited = with_edits(&format!("import (\n{import})\n\n{call}")).unwrap();
        assert!(edited.contains("WithEndpoint(os.Getenv(\"AWS_ENDPOINT_URL\"))"));
        for text in [format!("{import}{call}{call}"), call.to_owned()] {
            let error = with_edits(&text).unwrap_err();
            assert!(matches!(error, SuiteError::Edit { .. }), "{error}");
        }
    }
}
