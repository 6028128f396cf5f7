//! The Go toolchain, as far as it is needed here: run it, and say well what went wrong.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::process::{explain, mortal};
use crate::tail::tail;

/// A `go` command in the folder `module`, the same on every machine.
pub(super) fn command(module: &Path) -> Command {
    prepared(Command::new("go"), module)
}

/// The same for what takes long: it dies with this process, and so never writes into a folder that
/// another process has taken over.
pub(super) fn mortal_command(module: &Path) -> Command {
    prepared(mortal(Path::new("go")), module)
}

/// Runs the command and returns what it printed.
pub(super) fn output(command: &mut Command) -> Result<String, GoError> {
    let output = command.output().map_err(not_run)?;
    succeeded(
        command,
        output.status,
        &String::from_utf8_lossy(&output.stderr),
    )?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a [`mortal_command`] and shows each line of its standard error to `see` as it comes.
pub(super) fn watched(command: &mut Command, mut see: impl FnMut(&str)) -> Result<(), GoError> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| GoError::NotRun(explain(error)))?;
    let stderr = child
        .stderr
        .take()
        .expect("standard error was asked for as a pipe");
    let mut said = String::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        see(&line);
        said.extend([&line, "\n"]);
    }
    let status = child.wait().map_err(GoError::NotRun)?;
    succeeded(command, status, &said)
}

/// Why Go did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum GoError {
    /// There is no `go` on the path.
    #[error(
        "go is not installed: the control plane is built from Go modules; \
         install Go 1.26 or newer and put it on the PATH"
    )]
    Missing,
    /// There is a `go`, but it could not be run.
    #[error("go could not be run: {0}")]
    NotRun(io::Error),
    /// The command ran and failed.
    #[error("{command} ended with {status}:\n{tail}")]
    Failed {
        /// The command line with its folder and environment, ready to be run by hand.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines it printed.
        tail: String,
    },
}

/// Sets the environment's own flags aside. No C compiler is used: Kubernetes releases its servers
/// without one, too.
fn prepared(mut command: Command, module: &Path) -> Command {
    command.current_dir(module).stdin(Stdio::null());
    command
        .env("GOFLAGS", "-mod=readonly")
        .env("GOWORK", "off")
        .env("CGO_ENABLED", "0");
    command
}

fn not_run(error: io::Error) -> GoError {
    if error.kind() == io::ErrorKind::NotFound {
        GoError::Missing
    } else {
        GoError::NotRun(error)
    }
}

fn succeeded(command: &Command, status: ExitStatus, said: &str) -> Result<(), GoError> {
    if status.success() {
        return Ok(());
    }
    Err(GoError::Failed {
        command: format!("{command:?}"),
        status,
        tail: tail(said),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_says_what_to_install() {
        let error = output(&mut Command::new("/nowhere/go")).unwrap_err();
        assert!(matches!(error, GoError::Missing), "{error:?}");
        assert!(error.to_string().contains("install Go 1.26"), "{error}");
    }

    #[test]
    fn a_failed_command_is_told_with_its_code_and_the_end_of_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 100 >&2; exit 7"]);
        for error in [
            output(&mut command).unwrap_err(),
            watched(&mut command, |_| ()).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(
                message.contains("seq 100") && message.contains("exit status: 7"),
                "{message}"
            );
            assert!(
                message.contains("\n81\n") && message.ends_with("\n100"),
                "{message}"
            );
            assert!(!message.contains("\n80\n"), "{message}");
        }
    }

    #[test]
    fn every_line_is_seen() {
        let mut seen = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one >&2; echo out; echo two >&2"]);
        watched(&mut command, |line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen, ["one", "two"]);
    }
}
