//! Presentation text cut into tokens, as a zone-file reader cuts it.
//!
//! A zone-file reader forgives: it drops comments and ends a record at a
//! newline. In a manifest either is a mistake or an attack, so they are refused
//! here, and what passes is exactly one record's data.

use std::ops::Range;
use std::str::CharIndices;

use super::RdataError;

/// A word, or what stands between double quotes.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Token<'a> {
    /// As written, without the quotes.
    pub(super) text: &'a str,
    pub(super) quoted: bool,
    /// Where it stands, quotes included.
    pub(super) at: Range<usize>,
}

/// The tokens of a text that is one line, whole and balanced.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, RdataError> {
    let mut tokens = Vec::new();
    let (mut word, mut open) = (None, 0);
    let mut chars = text.char_indices();
    while let Some((at, symbol)) = next_symbol(&mut chars)? {
        match symbol {
            Symbol::Plain('"') => {
                tokens.extend(word.take().map(|start| bare(text, start..at)));
                tokens.push(quoted(text, at..closing_quote(&mut chars)?));
            }
            Symbol::Plain(char @ ('(' | ')' | ' ' | '\t')) => {
                tokens.extend(word.take().map(|start| bare(text, start..at)));
                open = depth(open, char)?;
            }
            Symbol::Plain(';') => return Err(RdataError::Comment),
            Symbol::Plain(char) if char.is_control() => return Err(RdataError::Control(char)),
            Symbol::Plain(_) | Symbol::Escaped => _ = word.get_or_insert(at),
        }
    }
    tokens.extend(word.map(|start| bare(text, start..text.len())));
    match open {
        0 => Ok(tokens),
        _ => Err(RdataError::Parenthesis),
    }
}

enum Symbol {
    Plain(char),
    /// A character behind a backslash, which is never a delimiter.
    Escaped,
}

fn next_symbol(chars: &mut CharIndices<'_>) -> Result<Option<(usize, Symbol)>, RdataError> {
    match chars.next() {
        Some((at, '\\')) => match chars.next() {
            Some((_, char)) if char.is_control() => Err(RdataError::Control(char)),
            Some(_) => Ok(Some((at, Symbol::Escaped))),
            None => Err(RdataError::Escape),
        },
        Some((at, char)) => Ok(Some((at, Symbol::Plain(char)))),
        None => Ok(None),
    }
}

/// Where a quoted token ends, its closing quote included.
fn closing_quote(chars: &mut CharIndices<'_>) -> Result<usize, RdataError> {
    while let Some((at, symbol)) = next_symbol(chars)? {
        match symbol {
            Symbol::Plain('"') => return Ok(at + 1),
            Symbol::Plain(char) if char.is_control() => return Err(RdataError::Control(char)),
            Symbol::Plain(_) | Symbol::Escaped => {}
        }
    }
    Err(RdataError::Quote)
}

fn depth(open: usize, char: char) -> Result<usize, RdataError> {
    match char {
        '(' => Ok(open + 1),
        ')' => open.checked_sub(1).ok_or(RdataError::Parenthesis),
        _ => Ok(open),
    }
}

fn bare(text: &str, at: Range<usize>) -> Token<'_> {
    Token {
        text: &text[at.clone()],
        quoted: false,
        at,
    }
}

fn quoted(text: &str, at: Range<usize>) -> Token<'_> {
    Token {
        text: &text[at.start + 1..at.end - 1],
        quoted: true,
        at,
    }
}
