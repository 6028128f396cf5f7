//! `conform`: our answers beside those of the programs that others run.

use anyhow::Result;
use clap::ValueEnum;
use testkit::name_server;

use crate::run::{cargo, run};

/// What is compared.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Subject {
    /// Our name server with NSD, Knot and BIND, on generated queries
    Dns,
}

/// Brings the others and compares. How much, and from which seed, is the test's to know.
pub(crate) fn conform(subject: Subject, queries: Option<usize>, seed: Option<u64>) -> Result<()> {
    match subject {
        Subject::Dns => dns(queries, seed),
    }
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
