//! The log: what happens, line by line, on standard error. Standard output is for results.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::{EnvFilter, fmt};

use crate::args::controller::LogFormat;

/// Begins to log what `filter` lets through. Once per process.
pub(crate) fn start(filter: &str, format: LogFormat) {
    let filter = EnvFilter::new(filter);
    let log = fmt().with_env_filter(filter).with_writer(stderr);
    match format {
        LogFormat::Text => log.with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
