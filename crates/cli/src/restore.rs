//! `zonewright restore`: an empty data directory, filled from a backup.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::args::{self, Output};
use crate::embedded;

/// Fills the directory.
pub(crate) fn run(restore: &args::Restore, output: Output) -> anyhow::Result<ExitCode> {
    let (file, data) = (restore.file.display(), restore.data.display());
    let mut from: Box<dyn Read> = if restore.file == Path::new("-") {
        Box::new(stdin())
    } else {
        Box::new(File::open(&restore.file).with_context(|| format!("cannot read {file}"))?)
    };
    embedded::restore(&restore.data, &mut from)
        .with_context(|| format!("cannot restore {file} into {data}"))?;
    match output {
        Output::Text => {
            println!("{data} is as it was in {file}; run `zonewright up --data {data}`");
        }
        Output::Json => println!("{}", serde_json::json!({ "data": restore.data })),
    }
    Ok(ExitCode::SUCCESS)
}
