//! `first run`: the build that a newcomer waits for, and what it costs.
//!
//! `cargo run --release` on a fresh machine compiles the program and every library below it. Cargo times each of them, a
//! unit in its words. On a machine that does nothing else the units together take what the processor does; on a busy one
//! they wait as well, so both are told.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::Deserialize;

use crate::report::Outcome;
use crate::run::{cargo, root, run};

/// What all units together may take, in seconds of processor time, so that the program answers five minutes after the command
/// was typed on two cores that do nothing else. More is told and fails nothing: a slow machine is not a mistake.
const BUDGET: Duration = Duration::from_secs(550);

/// How many of the slowest units are named.
const NAMED: usize = 5;

/// Builds the program as a newcomer does, and says what the units took that were compiled.
pub(crate) fn build() -> Result<Outcome> {
    let before = processor_time()?;
    run(&mut cargo(["build", "--release", "--locked", "--timings"]))?;
    let used = processor_time()?.saturating_sub(before);
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()?;
    let report = metadata
        .target_directory
        .join("cargo-timings/cargo-timing.html");
    let report = fs::read_to_string(&report).with_context(|| format!("cannot read {report}"))?;
    Ok(Outcome::Passed(Units::of(&report)?.told(used)))
}

/// What the programs took that we ran to their end, and those that they ran.
fn processor_time() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let time = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(time.num_microseconds().try_into()?))
}

/// The units that one build compiled, the slowest first.
struct Units(Vec<Unit>);

#[derive(Deserialize)]
struct Unit {
    name: String,
    duration: f64,
}

impl Units {
    /// Reads them out of the page that cargo draws: it holds them as JSON, on lines of their own.
    fn of(report: &str) -> Result<Self> {
        let (_, rest) = report
            .split_once("const UNIT_DATA = ")
            .context("cargo's report has no units in it")?;
        let mut units = serde_json::Deserializer::from_str(rest)
            .into_iter::<Vec<Unit>>()
            .next()
            .context("cargo's report ends before its units")?
            .context("cargo's report has units of another form")?;
        units.sort_by(|a, b| b.duration.total_cmp(&a.duration));
        Ok(Self(units))
    }

    /// One line: how much there was to compile, and where most of it is.
    fn told(&self, used: Duration) -> String {
        let Self(units) = self;
        if units.is_empty() {
            return "nothing to compile".to_owned();
        }
        let sum: f64 = units.iter().map(|unit| unit.duration).sum();
        let slowest = units.iter().take(NAMED);
        let slowest = slowest.map(|unit| format!("{} {:.0}", unit.name, unit.duration));
        let within = if used > BUDGET { "OVER" } else { "within" };
        format!(
            "{sum:.0} unit-seconds in {} units, {:.0} s of the processor, {within} the budget of {}: {}",
            units.len(),
            used.as_secs_f64(),
            BUDGET.as_secs(),
            slowest.collect::<Vec<_>>().join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(report: &str, seconds: u64) -> String {
        let used = Duration::from_secs(seconds);
        Units::of(report).unwrap().told(used)
    }

    const REPORT: &str = r#"<script>
        const UNIT_DATA = [
          {"i": 0, "name": "quick", "duration": 0.6, "unblocked_units": [1]},
          {"i": 1, "name": "slow", "duration": 41.2, "unblocked_units": []}
        ];
        const CONCURRENCY_DATA = [];"#;

    #[test]
    fn the_units_of_a_build_are_summed_and_the_slowest_named() {
        assert_eq!(
            told(REPORT, 30),
            "42 unit-seconds in 2 units, 30 s of the processor, within the budget of 550: slow 41, quick 1"
        );
    }

    #[test]
    fn a_build_over_the_budget_says_so() {
        let told = told(REPORT, 551);
        assert!(
            told.contains("551 s of the processor, OVER the budget of 550"),
            "{told}"
        );
    }

    #[test]
    fn a_build_with_nothing_to_compile_says_so() {
        assert_eq!(told("const UNIT_DATA = [];", 0), "nothing to compile");
    }

    #[test]
    fn a_report_of_another_form_is_an_error_and_no_zero() {
        for report in ["", "const UNIT_DATA = ", "const UNIT_DATA = [{}];"] {
            assert!(Units::of(report).is_err(), "{report:?}");
        }
    }
}
