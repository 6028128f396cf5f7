//! The one binary.
//!
//! `main` reads the arguments and says how it went; every command is a module of
//! its own. Exit codes: 0 done, 1 failed or found problems, 2 wrong usage.

mod args;
mod check;
mod crds;
mod manifest;

use std::io::stdout;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use clap_complete::Shell;

use args::{Args, Command, Output};

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.command {
        Command::Check(check) => check::run(&check, args.output),
        Command::Crds => crds::run(),
        Command::Completions { shell } => Ok(completions(shell)),
        Command::Version => Ok(version(args.output)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
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
