//! `test`: everything the tests need is prepared first, then they run, then one table says what came of it.
//!
//! There are three suites. The first has everything that runs on the embedded API, with the name servers of others and moto. The
//! second has the tests beside a real control plane, and beside other programs that take minutes to build from Go: those tests
//! have [`ON_CLUSTER`] in their path, and nothing of that kind can be had in the first suite. The third is for whoever edits the
//! pure crates. The first two run the same test programs, so that the second one builds none.
//!
//! A test that needs a part which this machine cannot have fails for a reason that is not its own. So each part is
//! prepared here, by the code that the tests use themselves. If that does not work, the tests that break off with the
//! part's own sentence are counted as skipped. In CI that is a failure all the same.

mod programs;
mod tally;

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use testkit::control_plane::{build, clients, gateway_api, kuadrant};

use crate::conform;
use crate::report::{Outcome, Report};
use crate::run::{cargo, output, root, run};
use programs::{Chosen, Program};
use tally::Tally;

/// A word in the path of every test that needs a program built from Go.
const ON_CLUSTER: &str = "on_cluster";

/// Programs that took longer are listed at the end.
const LONG: Duration = Duration::from_secs(5);

/// Which tests.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Suite {
    /// All but those of the next one.
    Embedded,
    /// Those that need a real control plane or another program built from Go.
    Cluster,
    /// Those of the pure crates.
    Quick,
}

impl Suite {
    /// What has to be there before its tests run.
    fn parts(self) -> &'static [Part] {
        match self {
            Suite::Embedded => &[GATEWAY_API, NAME_SERVERS, MOTO],
            Suite::Cluster => &[
                GATEWAY_API,
                NAME_SERVERS,
                CONTROL_PLANE,
                CLIENTS,
                KUADRANT_SUITE,
            ],
            Suite::Quick => &[GATEWAY_API],
        }
    }

    /// What cargo is told to build and test.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Suite::Embedded | Suite::Cluster => &["--workspace"],
            Suite::Quick => &[
                "--package=zonewright-dns",
                "--package=zonewright-wire",
                "--package=zonewright-egress",
                "--package=zonewright-x509",
                "--package=zonewright-api",
                "--package=zonewright-provider",
                "--package=zonewright-reconcile",
            ],
        }
    }

    fn has(self, test: &str) -> bool {
        test.contains(ON_CLUSTER) == (self == Suite::Cluster)
    }

    /// For a person who waits.
    fn announcement(self) -> Option<&'static str> {
        match self {
            Suite::Embedded | Suite::Quick => None,
            Suite::Cluster => Some(
                "beside a real control plane: etcd, Kubernetes, kubectl, helm, a controller on client-go and Kuadrant's suite \
                 are built from Go once, which takes about half an hour on two cores; the tests take about 15 minutes",
            ),
        }
    }
}

/// Something that tests need and that is expensive to make.
struct Part {
    name: &'static str,
    prepare: fn() -> Result<()>,
    /// How a test begins its last words when it cannot have the part.
    complaint: &'static str,
}

const GATEWAY_API: Part = Part {
    name: "gateway api",
    prepare: || Ok(gateway_api::crds().map(drop)?),
    complaint: "no gateway api: ",
};

const CONTROL_PLANE: Part = Part {
    name: "control plane",
    prepare: || Ok(build::programs().map(drop)?),
    complaint: "no control plane: ",
};

const CLIENTS: Part = Part {
    name: "clients",
    prepare: || {
        clients::witness()?;
        clients::manager()?;
        clients::wire()?;
        clients::helm()?;
        let turn = turn_of_the_commit().unwrap_or_default();
        Ok(clients::older_kubectl(turn).map(drop)?)
    },
    complaint: "no clients: ",
};

const KUADRANT_SUITE: Part = Part {
    name: "kuadrant suite",
    prepare: || Ok(kuadrant::suite().map(drop)?),
    complaint: "no kuadrant suite: ",
};

const NAME_SERVERS: Part = Part {
    name: "name servers",
    prepare: || Ok(testkit::name_server::programs().map(drop)?),
    complaint: "no name servers: ",
};

const MOTO: Part = Part {
    name: "moto",
    prepare: || Ok(testkit::moto::program().map(drop)?),
    complaint: "no moto: ",
};

/// Runs the tests of a suite whose name contains the filter, or all.
pub(crate) fn test(suite: Suite, filter: Option<&str>) -> Result<()> {
    let mut report = Report::begin();
    if let Some(text) = suite.announcement() {
        eprintln!("{text}");
    }
    let mut complaints = Vec::new();
    for part in suite.parts() {
        report.step(part.name, || match (part.prepare)() {
            Ok(()) => Ok(Outcome::passed()),
            Err(error) => {
                complaints.push(part.complaint);
                Ok(Outcome::Skipped(format!("{error:#}")))
            }
        });
    }
    let mut programs = Vec::new();
    report.step("build", || {
        programs = programs::build(suite.packages())?;
        Ok(Outcome::Passed(format!("{} programs", programs.len())))
    });
    let mut long = Vec::new();
    if !programs.is_empty() {
        report.step("tests", || {
            let chosen = choose(suite, filter, programs)?;
            run_tests(suite, chosen, complaints, &mut long)
        });
    }
    if suite != Suite::Cluster {
        report.step("examples", || run_examples(suite, filter));
    }
    long.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    for (name, took) in long {
        report.detail(name, took);
    }
    report.finish()
}

fn choose(suite: Suite, filter: Option<&str>, programs: Vec<Program>) -> Result<Vec<Chosen>> {
    let wanted = |test: &str| suite.has(test) && filter.is_none_or(|part| test.contains(part));
    let mut chosen = Vec::new();
    for program in programs {
        chosen.extend(program.choose(wanted)?);
    }
    match filter {
        Some(filter) if chosen.is_empty() => {
            bail!("no test of this suite has \"{filter}\" in its name")
        }
        Some(_) | None => Ok(chosen),
    }
}

fn run_tests(
    suite: Suite,
    chosen: Vec<Chosen>,
    complaints: Vec<&'static str>,
    long: &mut Vec<(String, Duration)>,
) -> Result<Outcome> {
    let mut variables = Vec::new();
    if let Some(seed) = seed_of_the_commit() {
        variables.push((conform::FRESH, seed.to_string()));
    }
    if let Some(turn) = turn_of_the_commit() {
        variables.push((clients::KUBECTL_TURN, turn.to_string()));
    }
    if suite != Suite::Cluster {
        variables.push((build::WITHHELD, ON_CLUSTER.to_owned()));
    }
    let mut tally = Tally::new(complaints);
    programs::run(chosen, &variables, |ran| {
        let (name, seconds) = (&ran.name, ran.took.as_secs_f64());
        if tally.read(name, &ran.printed, ran.succeeded) {
            println!("{seconds:7.1} s  {:5} tests  {name}", ran.tests);
        } else {
            println!("{}\nFAILED: {name}, after {seconds:.1} s", ran.printed);
        }
        if ran.took >= LONG {
            long.push((ran.name, ran.took));
        }
    })?;
    if tally.failed() {
        bail!("{tally}");
    }
    Ok(Outcome::Passed(tally.to_string()))
}

/// The examples in the documentation, which are no test programs.
fn run_examples(suite: Suite, filter: Option<&str>) -> Result<Outcome> {
    let mut command = cargo(["test", "--doc", "--locked", "--quiet"]);
    run(command.args(suite.packages()).args(filter))?;
    Ok(Outcome::passed())
}

/// A number that no commit had before and that this one will always have: what it finds is found again by whoever looks. None where
/// nothing is committed.
fn seed_of_the_commit() -> Option<u64> {
    let tree = git(&["rev-parse", "HEAD^{tree}"])?;
    u64::from_str_radix(tree.get(..5)?, 16).ok()
}

/// A number that goes up by one with each commit, so that what takes turns by it really has one. A clone without all commits cannot
/// count them: there chance decides.
fn turn_of_the_commit() -> Option<u64> {
    let is_whole =
        git(&["rev-parse", "--is-shallow-repository"]).is_some_and(|told| told == "false");
    let count = is_whole.then(|| git(&["rev-list", "--count", "HEAD"]));
    let count = count.flatten().and_then(|count| count.parse().ok());
    count.or_else(seed_of_the_commit)
}

/// What git says; nothing where there is none, or no commit.
fn git(arguments: &[&str]) -> Option<String> {
    let told = output(Command::new("git").args(arguments).current_dir(root()));
    told.ok().map(|told| told.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_in_one_of_the_two_suites() {
        for (test, on_cluster) in [
            ("both::embedded::a_record_is_written", false),
            ("both::on_cluster::a_record_is_written", true),
            ("on_cluster::a_lease_is_held", true),
        ] {
            assert_eq!(Suite::Cluster.has(test), on_cluster, "{test}");
            assert_eq!(Suite::Embedded.has(test), !on_cluster, "{test}");
            assert_eq!(Suite::Quick.has(test), !on_cluster, "{test}");
        }
    }
}
