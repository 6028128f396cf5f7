//! The one binary.
//!
//! `main` reads the arguments and says how it went; every command is a module of
//! its own. Exit codes: 0 done, 1 failed or found problems, 2 wrong usage.

mod args;
mod assemble;
mod background;
mod backup;
mod check;
mod client;
mod crds;
mod custom_domains;
mod embedded;
mod export;
mod get;
mod import;
mod kind;
mod logging;
mod manifest;
mod output;
mod query;
mod restore;
mod run;
mod standing;
mod stop;
mod up;

use std::io::stdout;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use clap_complete::Shell;

use args::controller::Controller;
use args::get::Get;
use args::query::Query;
use args::run::Run;
use args::{Args, Command, Output, Up};

/// A heap that stays quick when a hundred thousand objects have come and gone in it.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static HEAP: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    let (output, kubeconfig) = (args.output, args.kubeconfig.as_deref());
    let done = match args.command {
        Command::Up(up) => run_up(&up, &args.log_level, output),
        Command::Run(run) => run_run(&run, &args.log_level, kubeconfig),
        Command::Backup(backup) => backup::run(&backup, kubeconfig, output),
        Command::Restore(restore) => restore::run(&restore, output),
        Command::Query(query) => run_query(&query, output),
        Command::Get(get) => run_get(&get, kubeconfig, output),
        Command::Export(export) => export::run(&export, kubeconfig, output),
        Command::Import(import) => import::run(&import, kubeconfig, output),
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
    prepare(&up.controller, log_level);
    up::run(up, output)
}

fn run_run(run: &Run, log_level: &str, kubeconfig: Option<&Path>) -> anyhow::Result<ExitCode> {
    prepare(&run.controller, log_level);
    run::run(run, kubeconfig)
}

/// What every command that runs controllers begins with.
fn prepare(controller: &Controller, log_level: &str) {
    logging::start(log_level, controller.log_format);
    if let Some(warning) = controller.pace.warning() {
        tracing::warn!("{warning}");
    }
}

fn run_query(query: &Query, output: Output) -> anyhow::Result<ExitCode> {
    match query.inquiry() {
        Ok(inquiry) => query::run(query, &inquiry, output),
        Err(reason) => wrong_usage("query", &reason),
    }
}

fn run_get(get: &Get, kubeconfig: Option<&Path>, output: Output) -> anyhow::Result<ExitCode> {
    match get.contradiction() {
        None => get::run(get, kubeconfig, output),
        Some(contradiction) => wrong_usage("get", &contradiction),
    }
}

/// Ends the process as clap does for what it finds itself.
fn wrong_usage(command: &str, reason: &str) -> ! {
    let mut args = Args::command();
    args.build();
    let command = args
        .find_subcommand_mut(command)
        .expect("a command of ours");
    command.error(ErrorKind::ValueValidation, reason).exit()
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
