//! `fuzz`: random input for the targets in `fuzz/`, which must neither panic nor contradict themselves.
//!
//! A run starts from the seeds that are kept in the tree, and keeps what it learns in `fuzz/corpus`, which is not. Input
//! that breaks a target is written to `fuzz/artifacts`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::report::{Outcome, Report};
use crate::run::{root, run};
use crate::tool::FUZZ;

/// The compiler whose sanitizers the targets are built with.
const TOOLCHAIN: &str = "nightly";

/// The longest input tried, in bytes: a DNS message is no longer.
const INPUT_BYTES_MAX: u32 = 65_535;

/// Runs one target, or each in turn.
pub(crate) fn fuzz(target: &str, seconds: u32) -> Result<()> {
    let chosen = choose(target, &targets(&root().join("fuzz/fuzz_targets"))?)?;
    let tool = FUZZ.prepare()?;
    let mut report = Report::begin();
    for target in chosen {
        report.step(&target, || {
            run_target(&tool, &target, seconds)?;
            Ok(Outcome::Passed(format!("{seconds} s without a finding")))
        });
    }
    report.finish()
}

/// The targets by name, sorted.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            targets.extend(
                path.file_stem()
                    .map(|name| name.to_string_lossy().into_owned()),
            );
        }
    }
    targets.sort();
    Ok(targets)
}

fn choose(target: &str, targets: &[String]) -> Result<Vec<String>> {
    if target == "all" {
        return Ok(targets.to_vec());
    }
    if !targets.iter().any(|known| known == target) {
        bail!(
            "there is no fuzz target `{target}`: choose one of all, {}",
            targets.join(", ")
        );
    }
    Ok(vec![target.to_owned()])
}

fn run_target(tool: &Path, target: &str, seconds: u32) -> Result<()> {
    let corpus = format!("fuzz/corpus/{target}");
    fs::create_dir_all(root().join(&corpus)).with_context(|| format!("cannot make {corpus}"))?;
    run(std::process::Command::new(tool)
        .args([
            "fuzz",
            "run",
            target,
            &corpus,
            &format!("fuzz/seeds/{target}"),
            "--",
        ])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={INPUT_BYTES_MAX}"))
        .env("RUSTUP_TOOLCHAIN", TOOLCHAIN)
        // Cargo names the compiler that runs us; the targets need the other one.
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .current_dir(root()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["names", "wire"].map(str::to_owned).to_vec()
    }

    #[test]
    fn all_is_every_target_and_a_name_is_one() {
        assert_eq!(choose("all", &known()).unwrap(), known());
        assert_eq!(choose("wire", &known()).unwrap(), ["wire"]);
    }

    #[test]
    fn an_unknown_target_is_refused_with_the_known_ones() {
        let error = choose("nonsense", &known()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no fuzz target `nonsense`: choose one of all, names, wire"
        );
    }

    #[test]
    fn every_target_of_the_tree_has_seeds() {
        for target in targets(&root().join("fuzz/fuzz_targets")).unwrap() {
            let seeds = fs::read_dir(root().join("fuzz/seeds").join(&target)).unwrap();
            assert!(seeds.count() > 0, "{target}");
        }
    }
}
