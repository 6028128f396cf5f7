//! Where tools that take minutes to build are kept between runs: the same cache as that of the tests.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// Names the folder to use instead of `$HOME/.cache/zonewright`.
const VARIABLE: &str = "ZONEWRIGHT_CACHE";

/// Cargo's tools: `bin/` and cargo's record of what is installed.
pub(crate) fn tools() -> Result<PathBuf> {
    let chosen = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let root = match chosen {
        Some(chosen) => std::path::absolute(chosen)?,
        None => std::env::home_dir()
            .with_context(|| format!("no home directory for the cache: set {VARIABLE}"))?
            .join(".cache/zonewright"),
    };
    Ok(root.join("tools"))
}
