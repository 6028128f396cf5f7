//! Measures what the program promises about time.
//!
//! A promise is a ratio: this takes no more than so many times as long as that. Both sides of it are measured in one
//! run, in turns, so that whatever else the machine does concerns them alike. A scenario measures and returns a
//! report; what all scenarios share is beside it, and the rest of the program knows nothing of this crate.

mod api_alone;
mod asker;
mod limits;
mod numbers;
mod program;
mod records;
mod report;
mod scenario;
mod stage;
mod summary;
mod usage;

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, ValueEnum as _};
use jiff::Timestamp;

use report::{Report, Run};
use scenario::Scenario;

/// The heap of the program, for an API that runs here is compared with one that runs there.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static HEAP: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[derive(Parser)]
#[command(
    bin_name = "cargo xtask bench",
    about = "Measures ratios that the program promises"
)]
struct Arguments {
    /// What to measure; everything without it
    scenario: Option<Scenario>,
    /// The folder that the results are written to, a file for each scenario
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
    /// What is measured, as the results name it
    #[arg(long, default_value = "unknown")]
    commit: String,
    /// The program that is measured
    #[arg(long, default_value = "zonewright")]
    program: PathBuf,
    /// Serve an API from a folder, for another process of this program
    #[arg(long, hide = true, value_name = "FOLDER")]
    api_alone: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.api_alone {
        let served = scenario::runtime()?.block_on(api_alone::serve(folder));
        return served.map(|never| match never {});
    }
    let chosen = match &arguments.scenario {
        Some(scenario) => std::slice::from_ref(scenario),
        None => Scenario::value_variants(),
    };
    for scenario in chosen {
        let run = Run {
            scenario: scenario.name(),
            date: Timestamp::now(),
            commit: arguments.commit.clone(),
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
        };
        let report = Report {
            run,
            findings: scenario.measure(&arguments.program)?,
        };
        println!("{report}");
        report.write(&arguments.results)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
