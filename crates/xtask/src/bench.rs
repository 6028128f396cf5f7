//! `bench`: measures what the program promises about time, with the program as it is shipped.
//!
//! What is measured and how is in `crates/bench`; the results lie in `bench/results`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use cargo_metadata::MetadataCommand;

use crate::run::{cargo, output, root, run};

/// A file for each scenario.
const SCENARIOS: &str = "crates/bench/src/scenario";

/// Runs one scenario, or all.
pub(crate) fn bench(scenario: Option<&str>) -> Result<()> {
    run(&mut cargo([
        "build",
        "--profile=dist",
        "--features=jemalloc",
        "--locked",
        "--package=zonewright",
        "--package=zonewright-bench",
    ]))?;
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()?;
    let programs = metadata.target_directory.join("dist");
    let mut bench = Command::new(programs.join("zonewright-bench"));
    bench.current_dir(root()).arg("--program");
    bench.arg(programs.join("zonewright"));
    run(bench.args(["--commit", &commit()?]).args(scenario))
}

/// The scenarios and what each of them is about, for the help.
pub(crate) fn scenarios() -> String {
    let mut lines = vec!["Scenarios:".to_owned()];
    lines.extend(described(&root().join(SCENARIOS)));
    lines.join("\n")
}

/// Each module's name and the first line of its comment, sorted. A folder that cannot be read has none: this is
/// only help.
fn described(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut lines: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_stem()?.to_str()?;
            let text = fs::read_to_string(&path).ok()?;
            let about = text.lines().next()?.strip_prefix("//! ")?;
            Some(format!("  {name}  {about}"))
        })
        .collect();
    lines.sort();
    lines
}

/// The commit that is measured, and whether something has been changed since.
fn commit() -> Result<String> {
    let git = |arguments: &[&str]| output(Command::new("git").args(arguments).current_dir(root()));
    let changed = git(&[
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        ".",
        ":!bench",
    ])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    let mark = if changed.is_empty() {
        ""
    } else {
        " with changes"
    };
    Ok(format!("{}{mark}", commit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_says_what_it_is_about() {
        let scenarios = described(&root().join(SCENARIOS));
        let files = fs::read_dir(root().join(SCENARIOS)).unwrap();
        let modules =
            files.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_file()));
        assert_eq!(scenarios.len(), modules.count());
        assert!(
            scenarios
                .iter()
                .any(|line| line.starts_with("  watchers  A write reaches ")),
            "{scenarios:?}"
        );
    }

    #[test]
    fn what_is_measured_is_a_commit() {
        let commit = commit().unwrap();
        let hash = commit.split(' ').next().unwrap_or_default();
        assert!(
            hash.len() >= 40 && hash.chars().all(|digit| digit.is_ascii_hexdigit()),
            "{commit}"
        );
    }
}
