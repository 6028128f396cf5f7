//! `test`: everything the tests need is prepared first, then they run, then one table says what came of it.
//!
//! A test that needs a part which this machine cannot have fails for a reason that is not its own. So each part is
//! prepared here, by the code that the tests use themselves. If that does not work, the tests that break off with the
//! part's own sentence are counted as skipped. In CI that is a failure all the same.

mod tally;

use std::process::Command;

use anyhow::{Result, bail};
use testkit::control_plane::clients;

use crate::conform;
use crate::report::{Outcome, Report};
use crate::run::{cargo, output, root, watch};
use tally::Tally;

/// Something that tests need and that is expensive to make.
struct Part {
    name: &'static str,
    prepare: fn() -> Result<()>,
    /// How a test begins its last words when it cannot have the part.
    complaint: &'static str,
}

const PARTS: [Part; 5] = [
    Part {
        name: "control plane",
        prepare: || Ok(testkit::control_plane::build::programs().map(drop)?),
        complaint: "no control plane: ",
    },
    Part {
        name: "clients",
        prepare: || {
            clients::witness()?;
            clients::wire()?;
            Ok(clients::helm().map(drop)?)
        },
        complaint: "no clients: ",
    },
    Part {
        name: "kuadrant suite",
        prepare: || Ok(testkit::control_plane::kuadrant::suite().map(drop)?),
        complaint: "no kuadrant suite: ",
    },
    Part {
        name: "name servers",
        prepare: || Ok(testkit::name_server::programs().map(drop)?),
        complaint: "no name servers: ",
    },
    Part {
        name: "moto",
        prepare: || Ok(testkit::moto::program().map(drop)?),
        complaint: "no moto: ",
    },
];

/// Runs the tests whose name contains the filter, or all.
pub(crate) fn test(filter: Option<&str>) -> Result<()> {
    let mut report = Report::begin();
    let mut complaints = Vec::new();
    for part in PARTS {
        report.step(part.name, || match (part.prepare)() {
            Ok(()) => Ok(Outcome::passed()),
            Err(error) => {
                complaints.push(part.complaint);
                Ok(Outcome::Skipped(format!("{error:#}")))
            }
        });
    }
    report.step("tests", || run_tests(filter, complaints));
    report.finish()
}

fn run_tests(filter: Option<&str>, complaints: Vec<&'static str>) -> Result<Outcome> {
    let mut command = cargo(["test", "--workspace", "--no-fail-fast", "--locked"]);
    if let Some(seed) = seed_of_the_commit() {
        command.env(conform::FRESH, seed.to_string());
    }
    let mut tally = Tally::new(complaints);
    let ran = watch(command.args(filter), |line| tally.read(line));
    if tally.failed() {
        bail!("{tally}");
    }
    match ran {
        // Nothing failed for a reason of its own, so what cargo calls a failure is what was skipped.
        Err(_) if tally.skipped() => {}
        ran => ran?,
    }
    match filter {
        Some(filter) if tally.is_empty() => bail!("no test has \"{filter}\" in its name"),
        Some(_) | None => Ok(Outcome::Passed(tally.to_string())),
    }
}

/// A number that no commit had before and that this one will always have: what it finds is found again by whoever looks. None where
/// nothing is committed.
fn seed_of_the_commit() -> Option<u64> {
    let tree = ["rev-parse", "HEAD^{tree}"];
    let tree = output(Command::new("git").args(tree).current_dir(root())).ok()?;
    u64::from_str_radix(tree.get(..5)?, 16).ok()
}
