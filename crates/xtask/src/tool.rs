//! Cargo's own tools that we need in one exact version, built once into the cache.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::run::{cargo, output, run};

/// A tool from the registry, in the version that the tree was checked with.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Licences, bans and sources of the dependencies; its rules are in deny.toml.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// Builds fuzz targets with the right flags and runs them.
pub(crate) const FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    version: "0.13.2",
};

impl Tool {
    /// The tool's binary; the first call on a machine builds it, which takes minutes.
    pub(crate) fn prepare(&self) -> Result<PathBuf> {
        let tools = testkit::cache::folder("tools")?;
        let binary = tools.join("bin").join(self.name);
        if !self.is_current(&binary) {
            eprintln!(
                "building {} {} once, into {}",
                self.name,
                self.version,
                tools.display()
            );
            self.install(&tools)
                .with_context(|| format!("cannot build {} {}", self.name, self.version))?;
        }
        Ok(binary)
    }

    fn is_current(&self, binary: &Path) -> bool {
        let expected = format!("{} {}", self.name, self.version);
        output(Command::new(binary).arg("--version")).is_ok_and(|said| said.trim() == expected)
    }

    /// The build has a folder of its own, dropped afterwards: the cache keeps binaries only.
    fn install(&self, tools: &Path) -> Result<()> {
        let build = tools.join(format!("build-{}", self.name));
        let installed = run(cargo(["install", "--locked", "--force", "--root"])
            .arg(tools)
            .arg(format!("{}@{}", self.name, self.version))
            .env("CARGO_TARGET_DIR", &build));
        match std::fs::remove_dir_all(&build) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error)?,
            Ok(()) | Err(_) => installed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_current_when_it_calls_itself_by_name_and_version() {
        let command = cargo(["--version"]);
        let binary = Path::new(command.get_program());
        let said = output(Command::new(binary).arg("--version")).unwrap();
        let version: &str = said.trim().strip_prefix("cargo ").unwrap();
        let tool = |version: &str| Tool {
            name: "cargo",
            version: version.to_owned().leak(),
        };
        assert!(tool(version).is_current(binary));
        assert!(!tool("0.0.1").is_current(binary));
        assert!(!tool(version).is_current(Path::new("/nowhere/cargo")));
    }
}
