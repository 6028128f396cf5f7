//! The words of a label selector, each as it was written. At the end comes the empty word, forever.
//!
//! `in` and `notin` are operators in one place and plain names in every other, which only the
//! parser knows.

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
/// Longer ones first.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", ">", "<", "(", ")", ","];

#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next word, which stays where it is.
    pub(super) fn peek(self) -> &'a str {
        let text = self.rest.trim_start_matches(BLANKS);
        let symbol = SYMBOLS.iter().find(|symbol| text.starts_with(**symbol));
        let ends = |c: char| BLANKS.contains(&c) || "=!><(),".contains(c);
        let length = match symbol {
            Some(symbol) => symbol.len(),
            None => text.find(ends).unwrap_or(text.len()),
        };
        &text[..length]
    }

    /// The next word, which is taken.
    pub(super) fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.rest = &self.rest.trim_start_matches(BLANKS)[word.len()..];
        word
    }
}

/// Whether a word is a key or a value.
pub(super) fn is_identifier(word: &str) -> bool {
    !word.is_empty() && !SYMBOLS.contains(&word)
}
