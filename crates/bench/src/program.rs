//! The program that is measured, as its users start it: a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde::Deserialize;
use tempfile::TempDir;

use crate::usage;

/// A process that ends with this value.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
}

/// A program that serves an API, and where.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) program: Program,
    pub(crate) ready: Ready,
    /// What it keeps goes with it.
    data: TempDir,
}

/// What `up -o json` says when it is ready.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ready {
    #[serde(default)]
    pub(crate) dns: Vec<SocketAddr>,
    #[serde(default)]
    pub(crate) http: Option<SocketAddr>,
    pub(crate) kubeconfig: PathBuf,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Result<Program> {
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Program { child })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How long processors have worked for it, in all its threads.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        usage::cpu(self.id())
    }

    /// How many octets of memory it has, in a whole number of pages.
    pub(crate) fn rss(&self) -> Result<f64> {
        usage::rss(self.id())
    }
}

impl Program {
    /// Kills it, and returns when it is gone.
    pub(crate) fn end(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

impl Serving {
    /// `zonewright up`, with nothing in it.
    pub(crate) fn up(program: &Path) -> Result<Serving> {
        Serving::up_with(program, &[])
    }

    /// The same with more flags.
    pub(crate) fn up_with(program: &Path, flags: &[&str]) -> Result<Serving> {
        let mut command = testkit::mortal(program);
        command.args(["up", "-o", "json", "--log-level", "warn"]);
        for listener in ["--api", "--dns", "--http"] {
            command.args([listener, "127.0.0.1:0"]);
        }
        command.args(flags);
        Serving::start(command, "--data")
    }

    /// Our API with our kinds, and nothing that looks at them: this very program with another flag.
    pub(crate) fn api_alone() -> Result<Serving> {
        let command = testkit::mortal(&std::env::current_exe().context("this program")?);
        Serving::start(command, "--api-alone")
    }

    /// Kills an API that is alone, and starts it again with what it had.
    pub(crate) fn restart_api_alone(mut self) -> Result<Serving> {
        let command = testkit::mortal(&std::env::current_exe().context("this program")?);
        self.program.end();
        Serving::start_with(command, "--api-alone", self.data)
    }

    fn start(command: Command, data_flag: &str) -> Result<Serving> {
        let data = tempfile::tempdir().context("a temporary folder")?;
        Serving::start_with(command, data_flag, data)
    }

    fn start_with(mut command: Command, data_flag: &str, data: TempDir) -> Result<Serving> {
        command.arg(data_flag).arg(data.path());
        let mut program = Program::start(command.stdout(Stdio::piped()))?;
        let Some(output) = program.child.stdout.take() else {
            bail!("{} has no output", command.get_program().display());
        };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let ready = serde_json::from_str(&line)
            .with_context(|| format!("{} did not become ready", command.get_program().display()))?;
        Ok(Serving {
            program,
            ready,
            data,
        })
    }
}

/// A client with a connection of its own.
pub(crate) async fn client(kubeconfig: &Path) -> Result<Client> {
    Ok(Client::try_from(config(kubeconfig).await?)?)
}

/// Where an API is, and who asks.
pub(crate) async fn config(kubeconfig: &Path) -> Result<kube::Config> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    Ok(kube::Config::from_custom_kubeconfig(kubeconfig, &options).await?)
}
