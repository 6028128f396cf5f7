//! Paths that ARCHITECTURE.md names exist.
//!
//! A path is named by a code span or by the drawing under the heading "Tree". A span counts as a path when it ends in `/`,
//! ends in a file extension we use, or starts with a folder of the root. It may be written from the root or, like
//! `well_known.rs`, from a folder that the sentence is about. Patterns such as `parse/<kind>.rs` are not judged.

use super::markdown::{blocks, code_spans};
use super::tree::Tree;
use super::{Facts, Finding};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "Tree";
const EXTENSIONS: [&str; 8] = ["rs", "md", "toml", "yaml", "json", "mod", "lock", "txt"];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let Some(text) = facts.tree.text(DOCUMENT) else {
        return vec![Finding::about(DOCUMENT, "the architecture is missing")];
    };
    let tree = &facts.tree;
    let spans = code_spans(text)
        .into_iter()
        .map(|span| (span.line, span.text));
    let named = spans.filter(|(_, path)| looks_like_path(tree, path));
    named
        .chain(drawn(tree, text))
        .flat_map(|(line, path)| expand(&path).into_iter().map(move |path| (line, path)))
        .filter(|(_, path)| !exists(tree, path))
        .map(|(line, path)| Finding::at(DOCUMENT, line, format!("there is no {path}")))
        .collect()
}

/// The paths of the drawing: words at the start of a line, below the folder that is less indented.
fn drawn(tree: &Tree, document: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for block in blocks(document)
        .iter()
        .filter(|block| block.heading == HEADING)
    {
        let mut above: Vec<(usize, &str)> = Vec::new();
        for (line, text) in (block.line..).zip(block.text.lines()) {
            let indent = text.len() - text.trim_start().len();
            let words = text.split_whitespace();
            for word in words.take_while(|word| looks_like_path(tree, word)) {
                above.retain(|(other, _)| *other < indent);
                let folders: String = above.iter().map(|(_, folder)| *folder).collect();
                found.push((line, folders + word));
                if word.ends_with('/') {
                    above.push((indent, word));
                }
            }
        }
    }
    found
}

fn looks_like_path(tree: &Tree, text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/{},".contains(c);
    let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
    let top = text.split('/').next().unwrap_or_default();
    text.chars().all(plain)
        && !text.starts_with('/')
        && (text.ends_with('/')
            || EXTENSIONS.contains(&extension)
            || (text.contains('/') && tree.holds_folder(top)))
}

/// `docs/{guide,operate}` is two paths.
fn expand(path: &str) -> Vec<String> {
    let braces = path.split_once('{').and_then(|(before, rest)| {
        let (choices, after) = rest.split_once('}')?;
        Some((before, choices, after))
    });
    match braces {
        Some((before, choices, after)) => choices
            .split(',')
            .flat_map(|choice| expand(&format!("{before}{choice}{after}")))
            .collect(),
        None => vec![path.to_owned()],
    }
}

/// Whether the tree has the path, seen from the root or from any folder.
fn exists(tree: &Tree, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let somewhere = format!("/{path}");
    let folder = format!("/{path}/");
    tree.holds(path)
        || tree
            .files()
            .any(|(file, _)| file.ends_with(&somewhere) || file.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    #[track_caller]
    fn check_document(document: &str, expected: &[&str]) {
        let files = [
            (DOCUMENT, document),
            ("Cargo.toml", ""),
            ("crates/dns/src/name.rs", ""),
            ("crates/api/src/well_known.rs", ""),
            ("docs/guide/start.md", ""),
        ];
        expect(check, &Facts::of(&files, Vec::new()), expected);
    }

    #[test]
    fn paths_from_the_root_and_from_a_crate_pass() {
        check_document(
            "`crates/dns`, `crates/dns/`, `src/name.rs`, `well_known.rs`, `docs/{guide}/start.md`",
            &[],
        );
    }

    #[test]
    fn words_that_are_no_paths_are_not_judged() {
        check_document(
            "`kubi.zone/parent-zone`, `dns::Zone`, `parse/<kind>.rs`, `/metrics`, `a / b/`",
            &[],
        );
    }

    #[test]
    fn a_path_that_is_gone_is_found() {
        for path in ["gone.rs", "crates/gone", "gone/", "docs/guide/gone.md"] {
            check_document(
                &format!("`{path}`"),
                &[&format!("ARCHITECTURE.md:1: there is no {path}")],
            );
        }
        check_document(
            "`docs/{guide,gone}/start.md`",
            &["ARCHITECTURE.md:1: there is no docs/gone/start.md"],
        );
    }

    #[test]
    fn the_drawing_is_read_by_its_indent() {
        check_document(
            "## Tree\n\n```text\nCargo.toml  gone.toml (a remark.toml)\ncrates/\n  dns/   names, and\n         text.\n  \
             gone/  nothing\ndocs/  guide.md\n```\n",
            &[
                "ARCHITECTURE.md:4: there is no gone.toml",
                "ARCHITECTURE.md:8: there is no crates/gone/",
                "ARCHITECTURE.md:9: there is no guide.md",
            ],
        );
    }

    #[test]
    fn a_missing_architecture_is_found() {
        expect(
            check,
            &Facts::of(&[], Vec::new()),
            &["ARCHITECTURE.md: the architecture is missing"],
        );
    }
}
