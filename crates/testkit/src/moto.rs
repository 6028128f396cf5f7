//! Moto: a stand-in for Amazon's services that others wrote, in Python, on loopback.
//!
//! [`program()`] puts it into the cache once, by `pip`, into an environment of its own; nothing else on the machine is
//! touched. [`Moto::start`] runs it on a port of its own. Tests take [`shared()`], one for a whole test binary, and
//! keep apart by zone.
//!
//! Its Route 53 knows the form of requests and answers better than the rules: what a deletion expects is compared with
//! everything that ever was, and sets that exclude each other stand side by side. The rules are in
//! [`route53`](crate::route53).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::cache;
use crate::process::Process;
use crate::progress::say;
use crate::start::{self, StartError, system};
use crate::tail::tail;

/// What is installed. What it needs in turn is not pinned.
const VERSION: &str = "5.2.5";

/// Python takes two seconds on an idle machine; the rest is for one that is busy building.
const READY_WITHIN: Duration = Duration::from_mins(1);

static SHARED: OnceCell<Result<Moto, StartError>> = OnceCell::const_new();

/// The moto of this process, started by the first test that asks, running until the process ends.
pub async fn shared() -> &'static Moto {
    match SHARED.get_or_init(Moto::start).await {
        Ok(moto) => moto,
        Err(error) => panic!("no moto: {error}"),
    }
}

/// A moto that runs for as long as this value lives.
#[derive(Debug)]
pub struct Moto {
    _process: Process,
    address: SocketAddr,
}

impl Moto {
    /// Installs it if need be, starts it, and returns when it answers.
    pub async fn start() -> Result<Moto, StartError> {
        let python = spawn_blocking(program)
            .await
            .expect("installing does not panic")
            .map_err(StartError::missing)?;
        start::start(async || start_once(&python).await).await
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Why moto cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no Python, or no `venv` with it.
    #[error("python3 with venv is needed: {0}")]
    Python(String),
    /// It could not be installed.
    #[error("moto {VERSION} could not be installed: {0}")]
    Install(String),
    /// The cache could not be written.
    #[error(transparent)]
    Cache(#[from] io::Error),
}

/// The Python that has moto, installed into the cache if it is not there.
pub fn program() -> Result<PathBuf, ProgramError> {
    let folder = cache::folder("moto")?;
    let version = output(Command::new("python3").arg("--version"));
    let version = version.map_err(ProgramError::Python)?;
    // An environment belongs to the Python it was made with.
    let key = format!("{VERSION}-{}", version.trim().replace(' ', "-"));
    let environment = cache::made(&folder, &key, install)?;
    Ok(python(&environment))
}

fn install(environment: &Path) -> Result<(), ProgramError> {
    say(&format!("installing moto {VERSION}, once"));
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(environment);
    output(&mut venv).map_err(ProgramError::Python)?;
    let mut pip = Command::new(python(environment));
    pip.args(["-m", "pip", "install", "--quiet"])
        .arg(format!("moto[server]=={VERSION}"));
    output(&mut pip).map(drop).map_err(ProgramError::Install)
}

/// The interpreter, not the scripts beside it: they name the folder that the environment was made in.
fn python(environment: &Path) -> PathBuf {
    environment.join("bin").join("python")
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(tail(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

async fn start_once(python: &Path) -> Result<Moto, StartError> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
    let address = free.map_err(system("a free port"))?;
    let directory = tempfile::Builder::new()
        .prefix("zonewright-moto-")
        .tempdir()
        .map_err(system("a directory"))?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let arguments = ["-m", "moto.server", "-H", &host, "-p", &port];
    let mut process =
        Process::spawn("moto", python, arguments, directory.path()).map_err(system("moto"))?;
    // The log, which is all that the directory is for, matters until it is up. Nobody would tidy up after a static.
    let answering = async || answers(address).await;
    start::ready(
        "moto to answer",
        READY_WITHIN,
        &mut [&mut process],
        answering,
    )
    .await?;
    drop(directory);
    Ok(Moto {
        _process: process,
        address,
    })
}

async fn answers(address: SocketAddr) -> Result<(), String> {
    let answer = ask(address).await.map_err(|error| error.to_string())?;
    if answer.starts_with("HTTP/1.1 200") {
        Ok(())
    } else {
        Err(answer)
    }
}

async fn ask(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request =
        b"GET /moto-api/data.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
