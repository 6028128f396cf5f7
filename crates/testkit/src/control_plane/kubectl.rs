//! kubectl as a person would run it, with the output kept.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// A kubectl that speaks to one control plane as one identity. It reads nothing of the user's own
/// configuration and leaves nothing in their home.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    cache: PathBuf,
}

impl Kubectl {
    /// The program, whom it speaks to, and where it keeps what it has discovered.
    pub fn new(program: PathBuf, kubeconfig: PathBuf, cache: PathBuf) -> Self {
        Self {
            program,
            kubeconfig,
            cache,
        }
    }

    /// The program itself.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `kubectl <arguments>`.
    pub async fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<Finished> {
        self.run_with_input(arguments, "").await
    }

    /// Runs `kubectl <arguments>` with `input` on its standard input, as `apply -f -` wants it.
    pub async fn run_with_input<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &str,
    ) -> io::Result<Finished> {
        let mut command = self.command();
        command.args(arguments);
        finish(command, input).await
    }

    /// The command without arguments, for what needs more than its output: a watch, an editor.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg("--cache-dir")
            .arg(&self.cache);
        command
            .env("KUBERC", "off")
            .env_remove("KUBECONFIG")
            .kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Runs a command from [`Kubectl::command`] to its end, with `input` on its standard input.
pub async fn finish(mut command: Command, input: &str) -> io::Result<Finished> {
    let mut child = command.spawn()?;
    let mut stdin = child
        .stdin
        .take()
        .expect("standard input was asked for as a pipe");
    let write = async move {
        // kubectl may end without having read all: then its own words matter, not this error.
        let _ = stdin.write_all(input.as_bytes()).await;
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output.map(Finished::from)
}

/// What kubectl left when it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; none if it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Finished {
    /// What was printed, if the command succeeded, else the whole as the error.
    pub fn success(self) -> Result<String, Self> {
        if self.code == Some(0) {
            Ok(self.stdout)
        } else {
            Err(self)
        }
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
