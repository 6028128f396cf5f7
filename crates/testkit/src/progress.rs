//! Lines for a person who waits.

use std::io::{self, Write};

/// Writes a line to standard error, past the test harness, which would keep it to itself until the
/// test ends.
pub(crate) fn say(line: &str) {
    // Progress that nobody can see any more is no reason to fail.
    let _ = writeln!(io::stderr(), "testkit: {line}");
}
