//! The program that is measured, as its users start it: a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde::Deserialize;
use tempfile::TempDir;

/// A process that ends with this value.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    cpu: ClockId,
}

/// A program that serves an API, and where.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) program: Program,
    pub(crate) ready: Ready,
    /// What it keeps goes with it.
    _data: TempDir,
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
        let pid = Pid::from_raw(i32::try_from(child.id()).context("a process id")?);
        let cpu = clock_getcpuclockid(pid).context("the processor time of a process")?;
        Ok(Program { child, cpu })
    }

    /// How long processors have worked for it, in all its threads.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let time = clock_gettime(self.cpu).context("the processor time of a process")?;
        Ok(time.into())
    }
}

impl Program {
    /// How many octets of memory it has, in a whole number of pages.
    pub(crate) fn rss(&self) -> Result<f64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kibibytes.context("no memory in its status")? * 1024.0)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

    fn start(mut command: Command, data_flag: &str) -> Result<Serving> {
        let data = tempfile::tempdir().context("a temporary folder")?;
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
            _data: data,
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
