//! `check`: everything that can be judged without running a test.
//!
//! All steps run, also after one that failed. The cheap ones come first.

use anyhow::Result;

use crate::report::{Outcome, Report};
use crate::run::{cargo, run};
use crate::tool::DENY;
use crate::{first_run, generate, tidy};

/// The crate of the fuzz targets is a workspace of its own, because its sanitizers need a nightly compiler.
const FUZZ_MANIFEST: &str = "--manifest-path=fuzz/Cargo.toml";

/// Runs every check and prints what came of it.
pub(crate) fn check() -> Result<()> {
    let mut report = Report::begin();
    report.step("format", || {
        run(&mut cargo(["fmt", "--all", "--check"]))?;
        run(&mut cargo(["fmt", FUZZ_MANIFEST, "--check"]))?;
        Ok(Outcome::passed())
    });
    report.step("tidy", || tidy::tidy().map(|()| Outcome::passed()));
    report.step("generated files", || {
        generate::check().map(|()| Outcome::passed())
    });
    report.step("licences, bans, sources", deny);
    report.step("kinds in protocol buffers", generate::check_facts);
    report.step("clippy", || {
        let lints = ["--all-targets", "--locked", "--", "-D", "warnings"];
        run(cargo(["clippy", "--workspace"]).args(lints))?;
        run(cargo(["clippy", FUZZ_MANIFEST, "--no-default-features"]).args(lints))?;
        Ok(Outcome::passed())
    });
    report.step("documentation", || {
        run(cargo([
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
            "--locked",
        ])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
        Ok(Outcome::passed())
    });
    report.step("first run", first_run::build);
    report.finish()
}

/// Warnings, which are dependencies in two versions, are counted but not spelled out.
fn deny() -> Result<Outcome> {
    let deny = match DENY.prepare() {
        Ok(deny) => deny,
        Err(error) => return Ok(Outcome::Skipped(format!("{error:#}"))),
    };
    let mut command = std::process::Command::new(deny);
    command.args([
        "--locked",
        "--log-level",
        "error",
        "check",
        "--show-stats",
        "--hide-inclusion-graph",
    ]);
    run(command
        .args(["licenses", "bans", "sources"])
        .current_dir(crate::run::root()))?;
    Ok(Outcome::passed())
}
