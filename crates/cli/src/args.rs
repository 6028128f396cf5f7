//! The command line. Every flag is also an environment variable
//! `ZONEWRIGHT_<FLAG>`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// A Kubernetes-native DNS control plane: zones, records, gateway policies, exported services and
/// custom domains are Kubernetes objects; Zonewright makes DNS say what they say.
#[derive(Debug, Parser)]
#[command(name = "zonewright", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// How to print results.
    #[arg(short, long, global = true, value_enum, default_value_t = Output::Text, env = "ZONEWRIGHT_OUTPUT")]
    pub(crate) output: Output,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Validate manifests offline and show all problems at once.
    Check(Check),
    /// Print all CustomResourceDefinitions as YAML, for `kubectl apply --server-side -f -`.
    Crds,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the version.
    Version,
}

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// A file, a folder (its .yaml, .yml and .json files, at any depth), or "-" for standard input.
    /// May be given several times.
    #[arg(short = 'f', long = "filename", value_name = "PATH", required = true, num_args = 1.., env = "ZONEWRIGHT_FILENAME", value_delimiter = ',')]
    pub(crate) paths: Vec<PathBuf>,
}
