//! The end of a long output: where the reason stands.

/// How many lines an error carries.
const LINES: usize = 20;

/// The last lines of `text`.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
