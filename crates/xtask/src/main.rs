//! `cargo xtask COMMAND`: everything that is done to the source tree rather than by the program.
//!
//! Testing, checking, generating, fuzzing and measuring are Rust here and not shell, so that they run wherever cargo runs. What a
//! command needs beside cargo is built into a cache. The program itself knows nothing of this crate.

mod bench;
mod check;
mod conform;
mod control_plane;
mod first_run;
mod fuzz;
mod generate;
mod report;
mod run;
mod test;
mod tidy;
mod tokens;
mod tool;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use test::Suite;

#[derive(Parser)]
#[command(
    bin_name = "cargo xtask",
    about = "Tests, checks and generated files of the source tree"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the tests on the embedded API, after preparing what they need
    ///
    /// What cannot be had on this machine is listed as skipped, with why. With CI=true a skip is a failure.
    Test {
        /// Run only the tests whose name contains this
        filter: Option<String>,
        /// Run the other tests: beside a real control plane, which is built from Go
        #[arg(long)]
        cluster: bool,
        /// Run the tests of the pure crates only
        #[arg(long, conflicts_with = "cluster")]
        quick: bool,
    },
    /// Check everything that needs no test: format, lints, tree, licences, generated files, documentation
    Check,
    /// Write the files that follow from the Rust types: CRDs and reference pages
    Generate {
        /// Write nothing; fail and name the files that are not current
        #[arg(long)]
        check: bool,
    },
    /// Check the rules of the source tree that no compiler knows
    Tidy,
    /// Feed random input to a fuzz target
    Fuzz {
        /// A target of `fuzz/fuzz_targets`, or `all` for each in turn
        target: String,
        /// How long to run each target
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
    },
    /// Measure what the program promises about time, and write bench/results
    #[command(after_help = bench::scenarios())]
    Bench {
        /// Run only this scenario
        scenario: Option<String>,
    },
    /// Compare our answers with those of the programs that others run
    Conform {
        /// What to compare
        subject: conform::Subject,
        /// How many queries to ask instead of what CI asks
        #[arg(long)]
        queries: Option<usize>,
        /// How many operations to send instead of what CI sends
        #[arg(long)]
        operations: Option<usize>,
        /// What to generate them from
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Build and start etcd, kube-apiserver and kube-controller-manager, until Ctrl-C
    ControlPlane,
}

fn main() -> ExitCode {
    match perform(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(command: Command) -> Result<()> {
    match command {
        Command::Test {
            filter,
            cluster,
            quick,
        } => {
            let suite = match (cluster, quick) {
                (true, _) => Suite::Cluster,
                (false, true) => Suite::Quick,
                (false, false) => Suite::Embedded,
            };
            test::test(suite, filter.as_deref())
        }
        Command::Check => check::check(),
        Command::Generate { check: false } => generate::write(),
        Command::Generate { check: true } => generate::check(),
        Command::Tidy => tidy::tidy(),
        Command::Fuzz { target, seconds } => fuzz::fuzz(&target, seconds),
        Command::Bench { scenario } => bench::bench(scenario.as_deref()),
        Command::Conform {
            subject,
            queries,
            operations,
            seed,
        } => conform::conform(
            subject,
            &conform::Amount {
                queries,
                operations,
                seed,
            },
        ),
        Command::ControlPlane => control_plane::control_plane(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
