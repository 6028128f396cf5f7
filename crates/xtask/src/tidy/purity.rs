//! Pure crates ban clocks, chance, input and output in a clippy.toml of their own, each with a reason.
//!
//! Clippy does the looking. It reads one clippy.toml per crate, so a pure crate's file must also repeat the one at the
//! root: this rule sees to both.

use toml_edit::{Document, Item, Value};

use super::tree::Tree;
use super::{Facts, Finding};

/// The crates that hold judgement and nothing else.
const PURE: [&str; 3] = ["dns", "egress", "reconcile"];
const BANS: [&str; 3] = [
    "disallowed-types",
    "disallowed-methods",
    "disallowed-macros",
];

/// What no pure crate may use: one entry for each way to the outside.
const IMPURE: [&str; 12] = [
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::env::var",
    "std::fs::File",
    "std::fs::read",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::println",
    "std::process::Command",
    "std::thread::spawn",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    PURE.into_iter()
        .filter(|name| facts.tree.holds(&format!("crates/{name}/Cargo.toml")))
        .flat_map(|name| judge(&facts.tree, &format!("crates/{name}/clippy.toml")))
        .collect()
}

fn judge(tree: &Tree, path: &str) -> Vec<Finding> {
    let Some(text) = tree.text(path) else {
        return vec![Finding::about(
            path,
            "a pure crate bans what is impure here, and this file is missing",
        )];
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return vec![Finding::about(path, error.to_string())],
    };
    let bans = bans(&document);
    let absent = IMPURE
        .iter()
        .filter(|impure| !bans.iter().any(|(path, _)| path == *impure))
        .map(|impure| format!("does not ban `{impure}`"));
    let unexplained = bans
        .iter()
        .filter(|(_, reason)| reason.is_empty())
        .map(|(path, _)| format!("bans `{path}` without a reason"));
    absent
        .chain(unexplained)
        .chain(unlike_root(tree, text, &document))
        .map(|message| Finding::about(path, message))
        .collect()
}

/// What is banned, each with its reason.
fn bans(document: &Document<&str>) -> Vec<(String, String)> {
    let lists = BANS
        .iter()
        .filter_map(|list| document.get(list)?.as_array());
    lists
        .flatten()
        .map(|ban| match ban.as_inline_table() {
            Some(table) => (string(table.get("path")), string(table.get("reason"))),
            None => (string(Some(ban)), String::new()),
        })
        .collect()
}

fn string(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Settings of the root's clippy.toml that this one lacks or changes.
fn unlike_root(tree: &Tree, own_text: &str, own: &Document<&str>) -> Vec<String> {
    let root_text = tree.text("clippy.toml").unwrap_or_default();
    let root = Document::parse(root_text);
    let settings = root.iter().flat_map(|root| root.iter());
    settings
        .filter(|(key, setting)| {
            own.get(key).map(|own| bare(own_text, own)) != Some(bare(root_text, setting))
        })
        .map(|(key, _)| format!("does not repeat `{key}` of the clippy.toml at the root"))
        .collect()
}

/// A setting as it is written, without spaces.
fn bare(text: &str, item: &Item) -> String {
    let written = item.span().map_or("", |span| &text[span]);
    written.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    const ROOT: &str = "allow-unwrap-in-tests = true\ndoc-valid-idents = [\"..\", \"DNSSEC\"]\n";

    fn bans_of(paths: &[&str]) -> String {
        let bans: Vec<_> = paths
            .iter()
            .map(|path| format!("{{ path = \"{path}\", reason = \"impure\" }}"))
            .collect();
        format!("{ROOT}disallowed-types = [{}]\n", bans.join(", "))
    }

    #[track_caller]
    fn check_dns(clippy: &str, expected: &[&str]) {
        let files = [
            ("clippy.toml", ROOT),
            ("crates/dns/Cargo.toml", ""),
            ("crates/dns/clippy.toml", clippy),
            ("crates/api/Cargo.toml", ""),
        ];
        expect(check, &Facts::of(&files, Vec::new()), expected);
    }

    #[test]
    fn a_pure_crate_that_bans_everything_impure_passes() {
        check_dns(&bans_of(&IMPURE), &[]);
    }

    #[test]
    fn a_missing_ban_is_found() {
        check_dns(
            &bans_of(&IMPURE[1..]),
            &["crates/dns/clippy.toml: does not ban `std::collections::HashMap`"],
        );
    }

    #[test]
    fn a_ban_without_a_reason_is_found() {
        let silent = bans_of(&IMPURE) + "disallowed-methods = [\"std::thread::park\"]\n";
        check_dns(
            &silent,
            &["crates/dns/clippy.toml: bans `std::thread::park` without a reason"],
        );
    }

    #[test]
    fn a_setting_of_the_root_that_is_not_repeated_is_found() {
        check_dns(
            &bans_of(&IMPURE).replace("\"..\", ", ""),
            &[
                "crates/dns/clippy.toml: does not repeat `doc-valid-idents` of the clippy.toml at the root",
            ],
        );
    }

    #[test]
    fn a_missing_file_is_found() {
        expect(
            check,
            &Facts::of(&[("crates/reconcile/Cargo.toml", "")], Vec::new()),
            &[
                "crates/reconcile/clippy.toml: a pure crate bans what is impure here, and this file is missing",
            ],
        );
    }
}
