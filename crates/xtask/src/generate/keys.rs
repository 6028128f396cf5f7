//! The page of labels, annotations and other keys, read from the constants of `well_known.rs` and their comments.

use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenTree};

use super::NOTICE;
use super::table::{code, prose, table};
use crate::tokens::{attribute, inside, is_sign, lex, word};

const SOURCE: &str = "crates/api/src/well_known.rs";

/// Reads the constants of the tree at `root`.
pub(super) fn page(root: &Path) -> Result<String> {
    let source = std::fs::read_to_string(root.join(SOURCE))
        .with_context(|| format!("cannot read {SOURCE}"))?;
    Ok(render(&lex(&source)))
}

/// One section for each public module: its comment is the title, its string constants are the rows.
fn render(tokens: &[TokenTree]) -> String {
    let mut page = format!(
        "<!-- {NOTICE} -->\n\n# Keys\n\nThe names that Zonewright shares with people, with Kubernetes and with other programs.\n"
    );
    for (title, body) in modules(tokens) {
        let rows: Vec<_> = constants(&body)
            .into_iter()
            .map(|(doc, value)| [code(&value), prose(&doc)])
            .collect();
        if !rows.is_empty() {
            let title = prose(&title);
            let title = title.trim_end_matches('.');
            let table = table(["key", "meaning"], &rows);
            page += &["\n## ", title, "\n\n", table.trim_end(), "\n"].concat();
        }
    }
    page
}

/// `pub mod` blocks, each with its comment.
fn modules(tokens: &[TokenTree]) -> Vec<(String, Vec<TokenTree>)> {
    documented(tokens, "mod", |tokens| match tokens.get(1)? {
        TokenTree::Group(body) => Some(inside(body)),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// `pub const NAME: &str = "value";`, each with its comment.
fn constants(tokens: &[TokenTree]) -> Vec<(String, String)> {
    documented(tokens, "const", |tokens| {
        let is_text = is_sign(tokens.get(2), '&')
            && word(tokens.get(3))? == "str"
            && is_sign(tokens.get(4), '=');
        tokens.get(5).filter(|_| is_text).map(unquote)
    })
}

/// The items behind `pub <keyword>`, each with its comment; `read` gets the tokens after the keyword.
fn documented<T>(
    tokens: &[TokenTree],
    keyword: &str,
    read: impl Fn(&[TokenTree]) -> Option<T>,
) -> Vec<(String, T)> {
    let mut found = Vec::new();
    let mut doc = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if let Some(line) = attribute(tokens, at).and_then(|attribute| doc_line(&inside(attribute)))
        {
            doc += &line;
        } else if is_word(tokens.get(at), "pub") && is_word(tokens.get(at + 1), keyword) {
            found.extend(read(&tokens[at + 2..]).map(|item| (doc.clone(), item)));
        } else if is_sign(Some(token), ';') || is_body(token) {
            doc.clear();
        }
    }
    found
}

fn is_word(token: Option<&TokenTree>, expected: &str) -> bool {
    word(token).is_some_and(|found| found == expected)
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The text of `#[doc = "…"]`, which is what a comment becomes.
fn doc_line(attribute: &[TokenTree]) -> Option<String> {
    let is_doc = word(attribute.first())? == "doc" && is_sign(attribute.get(1), '=');
    attribute.get(2).filter(|_| is_doc).map(unquote)
}

fn unquote(literal: &TokenTree) -> String {
    let text = literal.to_string();
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner
        .unwrap_or(&text)
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        //! Every key.

        use nothing;

        /// Not in a module.
        pub const CATEGORY: &str = "dns";
        /// Labels.
        pub mod label {
            /// On Zones: the "parent"
            /// as [`ParentZone`](super::ParentZone).
            pub const PARENT_ZONE: &str = "kubi.zone/parent-zone";
            /// Several.
            pub const PEERS: &[&str] = &["a"];
            /// Ours alone.
            const HIDDEN: &str = "hidden";
            /// Last.
            pub const LAST: &str = "last";
        }
        /// No text in here.
        pub mod number { pub const ONE: u8 = 1; }
    "#;

    #[test]
    fn each_module_is_a_section_and_each_text_constant_a_row() {
        let page = render(&lex(SOURCE));
        let body = page.split_once("programs.\n").unwrap().1;
        assert_eq!(
            body,
            "\n## Labels\n\n| key | meaning |\n| --- | --- |\n\
             | `kubi.zone/parent-zone` | On Zones: the \"parent\" as `ParentZone`. |\n\
             | `last` | Last. |\n"
        );
    }

    #[test]
    fn the_real_constants_are_found() {
        let page = page(crate::run::root()).unwrap();
        assert!(page.contains("## Labels"), "{page}");
        assert!(page.contains("| `zonewright.dev/approve` |"), "{page}");
    }
}
