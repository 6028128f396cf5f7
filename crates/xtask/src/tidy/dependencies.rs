//! Every dependency is named once, in the workspace's table, with its reason in a comment above it, and somebody uses it.

use std::collections::BTreeSet;

use toml_edit::{Document, Item, TableLike};

use super::markdown::line_of;
use super::{Facts, Finding};

const ROOT: &str = "Cargo.toml";
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let text = facts.tree.text(ROOT).unwrap_or_default();
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return vec![Finding::about(ROOT, error.to_string())],
    };
    let mut used = BTreeSet::new();
    let mut findings = Vec::new();
    for member in facts
        .crates
        .iter()
        .filter(|member| member.folder.starts_with("crates/"))
    {
        let path = format!("{}/Cargo.toml", member.folder);
        let text = facts.tree.text(&path).unwrap_or_default();
        for dependency in declared(text) {
            if !dependency.inherited {
                let message = format!(
                    "`{}` has a version of its own: name it in the workspace",
                    dependency.name
                );
                findings.push(Finding::about(&path, message));
            }
            used.insert(dependency.name);
        }
    }
    findings.extend(judge_table(text, &document, &used));
    findings
}

/// A dependency as a member declares it.
struct Declared {
    name: String,
    inherited: bool,
}

fn declared(manifest: &str) -> Vec<Declared> {
    let Ok(document) = Document::parse(manifest) else {
        return Vec::new();
    };
    let root = document.as_table();
    let targets = root.get("target").and_then(Item::as_table_like);
    let targets = targets.into_iter().flat_map(TableLike::iter);
    let targets = targets.filter_map(|(_, target)| target.as_table_like());
    std::iter::once(root as &dyn TableLike)
        .chain(targets)
        .flat_map(|owner| KINDS.map(|kind| owner.get(kind).and_then(Item::as_table_like)))
        .flatten()
        .flat_map(TableLike::iter)
        .map(|(name, item)| Declared {
            name: name.to_owned(),
            inherited: item.get("workspace").and_then(Item::as_bool) == Some(true),
        })
        .collect()
}

/// The workspace's own table: reasons and use of each entry.
fn judge_table(text: &str, document: &Document<&str>, used: &BTreeSet<String>) -> Vec<Finding> {
    let table = document
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Item::as_table);
    let mut findings = Vec::new();
    for (name, item) in table.into_iter().flat_map(|table| table.iter()) {
        let span = table
            .and_then(|table| table.key(name))
            .and_then(toml_edit::Key::span);
        let line = line_of(text, span.map_or(0, |span| span.start));
        let is_ours = item.get("path").is_some();
        if !is_ours && !is_reason(text.lines().nth(line.wrapping_sub(2)).unwrap_or_default()) {
            let message = format!("`{name}` has no comment above it that says why it is here");
            findings.push(Finding::at(ROOT, line, message));
        }
        if !used.contains(name) {
            findings.push(Finding::at(ROOT, line, format!("no crate uses `{name}`")));
        }
    }
    findings
}

/// A comment that is more than the title of a group, `# -- DNS ------`.
fn is_reason(line: &str) -> bool {
    line.strip_prefix('#')
        .is_some_and(|comment| !comment.trim().is_empty() && !comment.trim().starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::super::crates::Crate;
    use super::super::expect;
    use super::*;

    #[track_caller]
    fn check_manifests(root: &str, member: &str, expected: &[&str]) {
        let dns = Crate {
            name: "dns".to_owned(),
            folder: "crates/dns".to_owned(),
            roots: Vec::new(),
            needs: Vec::new(),
        };
        let files = [("Cargo.toml", root), ("crates/dns/Cargo.toml", member)];
        expect(check, &Facts::of(&files, vec![dns]), expected);
    }

    const TABLE: &str = "[workspace.dependencies]\n\
        # -- ours ----\n\
        api = { path = \"crates/api\" }\n\
        # -- theirs ----\n\
        # Octets that are cheap to clone.\n\
        bytes = \"1\"\n";

    const USES: &str =
        "[dependencies]\nbytes.workspace = true\n[dev-dependencies]\napi = { workspace = true }\n";

    #[test]
    fn a_dependency_with_a_reason_and_a_user_passes() {
        check_manifests(TABLE, USES, &[]);
        check_manifests(TABLE, &USES.replace("[dep", "[target.'cfg(unix)'.dep"), &[]);
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let expected = &["Cargo.toml:5: `bytes` has no comment above it that says why it is here"];
        check_manifests(
            &TABLE.replace("# Octets that are cheap to clone.\n", ""),
            USES,
            expected,
        );
    }

    #[test]
    fn a_dependency_that_nobody_uses_is_found() {
        let expected = &["Cargo.toml:6: no crate uses `bytes`"];
        check_manifests(
            TABLE,
            &USES.replace("bytes.workspace = true\n", ""),
            expected,
        );
    }

    #[test]
    fn a_version_outside_the_table_is_found() {
        check_manifests(
            TABLE,
            &format!("{USES}[build-dependencies]\ncc = \"1\"\n"),
            &["crates/dns/Cargo.toml: `cc` has a version of its own: name it in the workspace"],
        );
    }
}
