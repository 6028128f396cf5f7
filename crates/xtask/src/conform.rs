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
    /// Our Kubernetes API with kube-apiserver, on generated histories and through a controller on client-go
    Api,
}

/// How long a controller looks at both APIs while they are ended and started again.
const CLIENT_GO_SECONDS: &str = "120";

/// What the histories of the API are made of besides: a number, or `draw`.
pub(crate) const FRESH: &str = "CONFORM_FRESH";

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

fn api(operations: Option<usize>, seed: Option<u64>) -> Result<()> {
    control_plane::build::programs()?;
    control_plane::clients::witness()?;
    // One run shows everything: a difference in the one says nothing about the other.
    let histories = histories(operations, seed);
    let client_go = client_go();
    histories.and(client_go)
}

/// Also with a seed that nobody has used before, and shows the table of what was met.
fn histories(operations: Option<usize>, seed: Option<u64>) -> Result<()> {
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
    command.env(FRESH, "draw");
    if let Some(operations) = operations {
        command.env("CONFORM_OPERATIONS", operations.to_string());
    }
    if let Some(seed) = seed {
        command.env("CONFORM_SEED", seed.to_string());
    }
    run(&mut command)
}

/// For longer than CI does: bookmarks come once a minute.
fn client_go() -> Result<()> {
    let mut command = cargo([
        "test",
        "--locked",
        "--package",
        "zonewright-apiserver",
        "--test",
        "client_go",
        "--",
        "--nocapture",
    ]);
    command.env("CONFORM_SECONDS", CLIENT_GO_SECONDS);
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
