//! The one binary.
//!
//! `main` reads the arguments and says how it went; every command is a module of
//! its own. Exit codes: 0 done, 1 failed or found problems, 2 wrong usage.

mod args;
mod backup;
mod check;
mod client;
mod crds;
mod embedded;
mod logging;
mod manifest;
mod restore;
mod up;

use std::io::stdout;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use clap_complete::Shell;

use args::{Args, Command, Output, Up};

fn main() -> ExitCode {
    let args = Args::parse();
    let (output, kubeconfig) = (args.output, args.kubeconfig.as_deref());
    let done = match args.command {
        Command::Up(up) => run_up(&up, &args.log_level, output),
        Command::Backup(backup) => backup::run(&backup, kubeconfig, output),
        Command::Restore(restore) => restore::run(&restore, output),
        Command::Check(check) => check::run(&check, output),
        Command::Crds => crds::run(),
        Command::Completions { shell } => Ok(completions(shell)),
        Command::Version => Ok(version(output)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run_up(up: &Up, log_level: &str, output: Output) -> anyhow::Result<ExitCode> {
    if let Some(contradiction) = up.controller.contradiction() {
        let kind = ErrorKind::ArgumentConflict;
        Args::command().error(kind, contradiction).exit();
    }
    logging::start(log_level, up.controller.log_format);
    up::run(up, output)
}

fn completions(shell: Shell) -> ExitCode {
    clap_complete::generate(shell, &mut Args::command(), "zonewright", &mut stdout());
    ExitCode::SUCCESS
}

fn version(output: Output) -> ExitCode {
    let version = env!("CARGO_PKG_VERSION");
    match output {
        Output::Text => println!("zonewright {version}"),
        Output::Json => println!("{}", serde_json::json!({ "version": version })),
    }
    ExitCode::SUCCESS
}
