//! Standard output: styled where a terminal wants it, plain on a pipe, JSON for programs.
//!
//! Texts are written with their styles; whether these reach the reader is decided here, once. A reader that has seen
//! enough and closes the pipe is no error.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// What heads a table or a section.
pub(crate) const HEADING: Style = Style::new().bold();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// What cannot be said yet.
pub(crate) const UNSURE: Style = AnsiColor::Yellow.on_default();
/// What matters less than what it stands beside.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// A text with a style around it.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a text that may carry styles.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write(&mut anstream::stdout().lock(), text.as_bytes())
}

/// Prints one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    write(&mut std::io::stdout().lock(), &line)
}

/// Whether a person looks at standard output.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Text of strangers, made harmless for a terminal: control characters and what hides or turns the text around it are
/// shown as escapes.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

fn write(to: &mut impl Write, bytes: &[u8]) -> anyhow::Result<()> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        Err(_) | Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_cannot_command_the_terminal() {
        for (text, shown) in [
            ("192.0.2.1", "192.0.2.1"),
            ("\"v=spf1 -all\"", "\"v=spf1 -all\""),
            ("a\\.b", "a\\.b"),
            ("bücher", "bücher"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("one\ntwo", "one\\ntwo"),
            ("\u{202e}gro", "\\u{202e}gro"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }
}
