//! The command line. Every flag is also an environment variable
//! `ZONEWRIGHT_<FLAG>`.

pub(crate) mod controller;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod query;
pub(crate) mod run;
pub(crate) mod value;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use controller::Controller;
use export::Export;
use get::Get;
use import::Import;
use query::Query;

/// Where `up` keeps everything, and where the other commands look for it.
pub(crate) const DATA: &str = "./zonewright-data";

/// Where the name server of `up` listens, and where `query` asks.
const DNS: &str = "127.0.0.1:1053";

/// A Kubernetes-native DNS control plane: zones, records, gateway policies, exported services and
/// custom domains are Kubernetes objects; Zonewright makes DNS say what they say.
#[derive(Debug, Parser)]
#[command(name = "zonewright", version, arg_required_else_help = true)]
#[command(
    after_help = "Every flag is also an environment variable: ZONEWRIGHT_<FLAG>.\n\
    Exit codes: 0 done, 1 failed or found problems, 2 wrong usage."
)]
pub(crate) struct Args {
    /// How to print results.
    #[arg(short, long, global = true, help_heading = "For every command", value_enum, default_value_t = Output::Text, env = "ZONEWRIGHT_OUTPUT")]
    pub(crate) output: Output,

    /// The kubeconfig of the API to talk to. Without it: $KUBECONFIG, then
    /// ./zonewright-data/kubeconfig if it is there, then the user's own.
    #[arg(
        long,
        global = true,
        help_heading = "For every command",
        value_name = "FILE",
        env = "ZONEWRIGHT_KUBECONFIG"
    )]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// What to log: off, error, warn, info, debug or trace, for all or for a part, such as
    /// "info,apiserver=debug".
    #[arg(long, global = true, help_heading = "For every command", value_name = "FILTER", default_value = "info", value_parser = value::log_filter, env = "ZONEWRIGHT_LOG_LEVEL")]
    pub(crate) log_level: String,

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
    /// Run everything on this machine, with a Kubernetes API of its own.
    ///
    /// No cluster is needed: the API is in this process, keeps its objects in a directory, and is open
    /// to kubectl through the kubeconfig that is written there. Runs until it is told to stop, by
    /// Ctrl-C or SIGTERM.
    Up(Box<Up>),
    /// Run the controllers of a cluster.
    ///
    /// The cluster is the kubeconfig's, or the one this process is a pod of. With --dns a name server
    /// answers for its Zones. Runs until it is told to stop, by Ctrl-C or SIGTERM.
    Run(Box<run::Run>),
    /// Save what the embedded API holds.
    ///
    /// The running process is asked if there is one; it goes on meanwhile, and the backup shows one
    /// moment. Otherwise the data directory is read.
    Backup(Backup),
    /// Fill an empty data directory from a backup.
    Restore(Restore),
    /// Show objects as the API lists them, or zones as a tree.
    Get(Get),
    /// Turn a zone file into a Zone and its Records, as YAML or in the API.
    ///
    /// Every problem of the file is shown with its line, and nothing is printed or applied unless
    /// there is none. Signatures and what belongs to them are left out.
    Import(Import),
    /// Print a Zone as a zone file.
    ///
    /// It is one version of the zone, whole: the SOA record with its serial first. BIND, NSD and Knot
    /// load it.
    Export(Export),
    /// Ask a name server a question.
    ///
    /// Over UDP, and over TCP when the answer was cut. "There is no such name" is an answer; only
    /// when none comes does the command fail.
    Query(Query),
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

/// Run everything on this machine, with a Kubernetes API of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct Up {
    /// The directory that everything is kept in. It is made if it is not there, for its owner only.
    #[arg(long, value_name = "DIR", default_value = DATA, env = "ZONEWRIGHT_DATA")]
    pub(crate) data: PathBuf,

    /// A manifest to apply at the start: a file, a folder (its .yaml, .yml and .json files, at any
    /// depth), or "-" for standard input. May be given several times. What the API refuses is
    /// reported, and does not keep the rest from running.
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        env = "ZONEWRIGHT_FILENAME",
        value_delimiter = ','
    )]
    pub(crate) paths: Vec<PathBuf>,

    /// Where the Kubernetes API listens. Port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:7443",
        env = "ZONEWRIGHT_API"
    )]
    pub(crate) api: SocketAddr,

    /// Where the name server listens, over UDP and TCP. Port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR",
        default_value = DNS,
        env = "ZONEWRIGHT_DNS"
    )]
    pub(crate) dns: SocketAddr,

    /// Where metrics and health are served over HTTP. Port 0 picks a free one.
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:8053",
        env = "ZONEWRIGHT_HTTP"
    )]
    pub(crate) http: SocketAddr,

    /// Keep nothing: all objects are in memory, and the kubeconfig is in a temporary directory that
    /// goes with the process. --data is not touched.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_EPHEMERAL")]
    pub(crate) ephemeral: bool,

    /// A database in the `MaxMind` format (.mmdb) that tells where a client's address is, for geographic routing.
    #[arg(long, value_name = "FILE", env = "ZONEWRIGHT_GEO_DATABASE")]
    pub(crate) geo_database: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) controller: Controller,
}

/// Save what the embedded API holds.
#[derive(Debug, clap::Args)]
pub(crate) struct Backup {
    /// The file to write, or "-" for standard output. An older backup of that name is replaced
    /// once the new one is complete. It holds secrets: only its owner may read it.
    pub(crate) file: PathBuf,

    /// The data directory of the embedded API.
    #[arg(long, value_name = "DIR", default_value = DATA, env = "ZONEWRIGHT_DATA")]
    pub(crate) data: PathBuf,
}

/// Fill an empty data directory from a backup.
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// The backup to read, or "-" for standard input.
    pub(crate) file: PathBuf,

    /// The data directory to fill. It must hold no objects yet.
    #[arg(long, value_name = "DIR", default_value = DATA, env = "ZONEWRIGHT_DATA")]
    pub(crate) data: PathBuf,
}

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// A file, a folder (its .yaml, .yml and .json files, at any depth), or "-" for standard input.
    /// May be given several times.
    #[arg(short = 'f', long = "filename", value_name = "PATH", required = true, num_args = 1.., env = "ZONEWRIGHT_FILENAME", value_delimiter = ',')]
    pub(crate) paths: Vec<PathBuf>,
}

#[cfg(test)]
mod tests;
