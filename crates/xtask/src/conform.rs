//! `conform`: our answers beside those of the programs that others run.

use anyhow::Result;
use clap::ValueEnum;
use testkit::{control_plane, name_server};

use crate::run::{cargo, run};

/// What is compared.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Subject {
    /// Our name server with NSD, Knot and BIND, on generated queries
    Dns,
    /// Our Kubernetes API with kube-apiserver, on generated histories
    Api,
}

/// How much is asked, and from which seed; nothing is for the test to know.
pub(crate) struct Amount {
    pub(crate) queries: Option<usize>,
    pub(crate) operations: Option<usize>,
    pub(crate) seed: Option<u64>,
}

/// Brings the others and compares.
pub(crate) fn conform(subject: Subject, amount: &Amount) -> Result<()> {
    match subject {
        Subject::Dns => dns(amount.queries, amount.seed),
        Subject::Api => api(amount.operations, amount.seed),
    }
}

/// Also with a seed that nobody has used before, and shows the table of what was met.
fn api(operations: Option<usize>, seed: Option<u64>) -> Result<()> {
    control_plane::build::programs()?;
    let mut command = cargo([
        "test",
        "--locked",
        "--package",
        "zonewright-apiserver",
        "--test",
        "conformance",
        "generated_histories",
        "--",
        "--nocapture",
    ]);
    command.env("CONFORM_FRESH", "1");
    if let Some(operations) = operations {
        command.env("CONFORM_OPERATIONS", operations.to_string());
    }
    if let Some(seed) = seed {
        command.env("CONFORM_SEED", seed.to_string());
    }
    run(&mut command)
}

fn dns(queries: Option<usize>, seed: Option<u64>) -> Result<()> {
    name_server::programs()?;
    let mut command = cargo([
        "test",
        "--locked",
        "--package",
        "zonewright-nameserver",
        "--test",
        "conformance",
    ]);
    if let Some(queries) = queries {
        command.env("CONFORM_QUERIES", queries.to_string());
    }
    if let Some(seed) = seed {
        command.env("CONFORM_SEED", seed.to_string());
    }
    run(&mut command)
}
