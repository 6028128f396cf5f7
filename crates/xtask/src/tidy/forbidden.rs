//! Nothing is left open and no test is switched off: no `todo!`, `unimplemented!`, `dbg!`, no the attribute `ignore`, and no example
//! in a comment that is not compiled.

use proc_macro2::{Group, TokenTree};

use super::{Facts, Finding};
use crate::tokens::{attribute, inside, is_sign, lex, word};

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let files = facts.tree.files_with_extension("rs");
    files
        .flat_map(|(path, text)| {
            let found = forbidden(&lex(text));
            found
                .into_iter()
                .map(move |(line, what)| Finding::at(path, line, format!("{what} is not allowed")))
        })
        .collect()
}

fn forbidden(tokens: &[TokenTree]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let line = token.span().start().line;
        found.extend(called_macro(tokens, at).map(|name| (line, format!("`{name}!`"))));
        found.extend(
            attribute(tokens, at)
                .and_then(ignoring)
                .map(|what| (line, what)),
        );
        if let TokenTree::Group(group) = token {
            found.extend(forbidden(&inside(group)));
        }
    }
    found
}

fn called_macro(tokens: &[TokenTree], at: usize) -> Option<String> {
    let name = word(tokens.get(at)).filter(|name| MACROS.contains(&name.as_str()))?;
    let called =
        is_sign(tokens.get(at + 1), '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
    called.then_some(name)
}

/// What an attribute switches off, if it does.
fn ignoring(attribute: &Group) -> Option<String> {
    let tokens = inside(attribute);
    match word(tokens.first())?.as_str() {
        "ignore" => Some("the attribute `ignore`".to_owned()),
        "cfg_attr" => tokens
            .iter()
            .any(lists_ignore)
            .then(|| "the attribute `ignore`".to_owned()),
        "doc" => opens_ignored_example(&tokens).then(|| "an example marked `ignore`".to_owned()),
        _ => None,
    }
}

fn lists_ignore(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => inside(group)
            .iter()
            .any(|token| word(Some(token)).is_some_and(|word| word == "ignore")),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    }
}

/// Whether a line of a doc comment opens a fence such as ```` ```rust,ignore ````.
fn opens_ignored_example(tokens: &[TokenTree]) -> bool {
    let text = tokens.get(2).map(ToString::to_string).unwrap_or_default();
    let text = text.replace("\\n", "\n");
    text.lines()
        .filter_map(|line| line.trim_start_matches(['"', ' ', '*']).strip_prefix("```"))
        .any(|info| info.split([',', ' ', '"']).any(|word| word == "ignore"))
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    #[track_caller]
    fn check_source(source: &str, expected: &[&str]) {
        expect(check, &Facts::of(&[("a.rs", source)], Vec::new()), expected);
    }

    #[test]
    fn open_ends_are_found_wherever_they_hide() {
        check_source(
            "fn f() {\n    todo! ()\n}",
            &["a.rs:2: `todo!` is not allowed"],
        );
        check_source(
            "fn f() { assert!(dbg!(1) == 1, \"{}\", unimplemented! (\"later\")) }",
            &[
                "a.rs:1: `dbg!` is not allowed",
                "a.rs:1: `unimplemented!` is not allowed",
            ],
        );
        check_source(
            "macro_rules! m { () => { std::todo![] } }",
            &["a.rs:1: `todo!` is not allowed"],
        );
    }

    #[test]
    fn tests_that_are_switched_off_are_found() {
        check_source(
            "#[test]\n#[ ignore ]\nfn a() {}",
            &["a.rs:2: the attribute `ignore` is not allowed"],
        );
        check_source(
            "#[ ignore = \"slow\"] fn a() {}",
            &["a.rs:1: the attribute `ignore` is not allowed"],
        );
        check_source(
            "#[cfg_attr(windows, ignore)] fn a() {}",
            &["a.rs:1: the attribute `ignore` is not allowed"],
        );
        check_source(
            "m! { #[ ignore ] fn a() {} }",
            &["a.rs:1: the attribute `ignore` is not allowed"],
        );
        check_source(
            "/// Text.\n/// ```rust,ignore\n/// let x;\n/// ```\nfn a() {}",
            &["a.rs:2: an example marked `ignore` is not allowed"],
        );
    }

    #[test]
    fn words_that_only_look_alike_pass() {
        check_source(
            "// todo! ()\nfn f(todo: u8, ignore: u8) -> bool { todo != ignore && \"dbg!(x)\".is_empty() }",
            &[],
        );
        check_source(
            "/// We ignore `todo!`.\n/// ```\n/// let ignore = 1;\n/// ```\nfn a() {}",
            &[],
        );
    }
}
