//! `zonewright crds`: what a cluster has to know before it can hold our objects.

use std::io::Write as _;
use std::process::ExitCode;

/// Prints every CustomResourceDefinition as a YAML document.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let yaml = api::crds::yaml(&api::crds::all());
    std::io::stdout().lock().write_all(yaml.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
