//! Rust source as tokens: comments and strings are out of the way, the bodies of macros are not.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens of a file. A file that Rust cannot read has none: the compiler speaks about it, not we.
pub(crate) fn lex(text: &str) -> Vec<TokenTree> {
    TokenStream::from_str(text).map_or_else(|_| Vec::new(), |stream| stream.into_iter().collect())
}

/// What is inside a group.
pub(crate) fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// The name a token spells, without the `r#` of raw identifiers.
pub(crate) fn word(token: Option<&TokenTree>) -> Option<String> {
    match token? {
        TokenTree::Ident(ident) => {
            let text = ident.to_string();
            Some(text.strip_prefix("r#").map_or(text.clone(), str::to_owned))
        }
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

/// Whether a token is this sign.
pub(crate) fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// The attribute that starts at a token, such as `#[test]` or `#![allow(…)]`, by the inside of its brackets.
pub(crate) fn attribute(tokens: &[TokenTree], start: usize) -> Option<&Group> {
    if !is_sign(tokens.get(start), '#') {
        return None;
    }
    let brackets = start
        + if is_sign(tokens.get(start + 1), '!') {
            2
        } else {
            1
        };
    match tokens.get(brackets)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some(group),
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            None
        }
    }
}
