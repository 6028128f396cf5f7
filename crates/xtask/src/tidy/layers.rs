//! Crates import as the picture in ARCHITECTURE.md draws it: only layers below their own, never up, never sideways.
//!
//! The picture is the fenced block under the heading "Who may import whom". A line is a layer: its number, two spaces, its
//! name, two spaces, its crates by folder name; what stands in parentheses is a remark. `xtask` stands aside: it is not
//! drawn and may import anything. Tests of any layer may use `testkit`, and `apiserver`, the API that needs no cluster.

use std::collections::BTreeMap;

use super::crates::{Crate, Need};
use super::markdown::blocks;
use super::{Facts, Finding};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "Who may import whom";
const ASIDE: &str = "xtask";
const FOR_TESTS: [&str; 2] = ["testkit", "apiserver"];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let picture = match draw(facts) {
        Ok(picture) => picture,
        Err(finding) => return vec![finding],
    };
    let members: Vec<_> = facts
        .crates
        .iter()
        .filter(|member| member.folder.starts_with("crates/") && member.name != ASIDE)
        .collect();
    let mut findings = gone(&picture, &members);
    for member in members {
        match picture.get(&member.name) {
            Some(own) => findings.extend(crossings(&picture, member, own.layer)),
            None => findings.push(Finding::about(
                &member.folder,
                format!("not drawn under \"{HEADING}\" in {DOCUMENT}"),
            )),
        }
    }
    findings
}

type Picture = BTreeMap<String, Place>;

struct Place {
    layer: u32,
    line: usize,
}

fn draw(facts: &Facts) -> Result<Picture, Finding> {
    let text = facts.tree.text(DOCUMENT).unwrap_or_default();
    let block = blocks(text)
        .into_iter()
        .find(|block| block.heading == HEADING)
        .ok_or_else(|| {
            Finding::about(
                DOCUMENT,
                format!("no drawing under the heading \"{HEADING}\""),
            )
        })?;
    let mut picture = Picture::new();
    for (line, text) in (block.line..).zip(block.text.lines()) {
        let (layer, crates) = layer(text).ok_or_else(|| {
            Finding::at(
                DOCUMENT,
                line,
                "not a layer: number, two spaces, name, two spaces, crates",
            )
        })?;
        picture.extend(crates.map(|name| (name.to_owned(), Place { layer, line })));
    }
    Ok(picture)
}

/// `1  know DNS        dns` is layer 1 with the crate `dns`.
fn layer(line: &str) -> Option<(u32, impl Iterator<Item = &str>)> {
    let line = line.split('(').next().unwrap_or_default().trim();
    let (number, rest) = line.split_once("  ")?;
    let (_, crates) = rest.trim_start().split_once("  ")?;
    Some((number.parse().ok()?, crates.split_whitespace()))
}

/// Crates that are drawn but do not exist.
fn gone(picture: &Picture, members: &[&Crate]) -> Vec<Finding> {
    picture
        .iter()
        .filter(|(name, _)| !members.iter().any(|member| member.name == **name))
        .map(|(name, place)| {
            Finding::at(
                DOCUMENT,
                place.line,
                format!("there is no crate crates/{name}"),
            )
        })
        .collect()
}

/// Imports of a crate that the picture does not allow.
fn crossings(picture: &Picture, member: &Crate, own: u32) -> Vec<Finding> {
    member
        .needs
        .iter()
        .filter_map(|need| crossing(picture, need, own))
        .map(|message| Finding::about(&format!("{}/Cargo.toml", member.folder), message))
        .collect()
}

fn crossing(picture: &Picture, need: &Need, own: u32) -> Option<String> {
    let name = need.folder.rsplit('/').next().unwrap_or_default();
    let place = picture.get(name);
    match place.map(|place| place.layer) {
        Some(other) if other < own => None,
        Some(_) if need.only_tests && FOR_TESTS.contains(&name) => None,
        Some(other) if other == own => Some(format!(
            "`{name}` is in the same layer, {own}: never sideways"
        )),
        Some(other) => Some(format!(
            "`{name}` is in layer {other}, above {own}: never up"
        )),
        None => Some(format!("`{name}` is in no layer")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    const PICTURE: &str = "# A\n\n## Who may import whom\nOnly down.\n\n```text\n\
        3  assemble        cli    testkit     (xtask stands aside)\n\
        2  agree on words  api   provider\n\
        1  know DNS        dns\n```\n";

    fn member(name: &str, needs: &[(&str, bool)]) -> Crate {
        Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            roots: Vec::new(),
            needs: needs
                .iter()
                .map(|(name, only_tests)| Need {
                    folder: format!("crates/{name}"),
                    only_tests: *only_tests,
                })
                .collect(),
        }
    }

    /// The crates of the picture with the arrows it allows, then one crate as the test wants it.
    #[track_caller]
    fn check_with(changed: Crate, expected: &[&str]) {
        let mut crates = vec![
            member("dns", &[("testkit", true)]),
            member("api", &[("dns", false)]),
            member("provider", &[("dns", false), ("testkit", true)]),
            member("testkit", &[("api", false)]),
            member("cli", &[("api", false), ("dns", false)]),
            member("xtask", &[("testkit", false), ("cli", false)]),
        ];
        crates.retain(|member| member.name != changed.name);
        crates.push(changed);
        expect(check, &Facts::of(&[(DOCUMENT, PICTURE)], crates), expected);
    }

    #[test]
    fn imports_that_lead_down_pass() {
        check_with(member("cli", &[("provider", false)]), &[]);
    }

    #[test]
    fn an_import_that_leads_up_is_found() {
        check_with(
            member("dns", &[("api", false)]),
            &["crates/dns/Cargo.toml: `api` is in layer 2, above 1: never up"],
        );
    }

    #[test]
    fn an_import_that_leads_sideways_is_found() {
        check_with(
            member("api", &[("provider", false)]),
            &["crates/api/Cargo.toml: `provider` is in the same layer, 2: never sideways"],
        );
    }

    #[test]
    fn tests_may_use_testkit_and_nothing_else_above_them() {
        check_with(
            member("api", &[("testkit", true), ("cli", true)]),
            &["crates/api/Cargo.toml: `cli` is in layer 3, above 2: never up"],
        );
        check_with(
            member("api", &[("testkit", false)]),
            &["crates/api/Cargo.toml: `testkit` is in layer 3, above 2: never up"],
        );
    }

    #[test]
    fn nobody_imports_the_crate_that_stands_aside() {
        check_with(
            member("cli", &[("xtask", false)]),
            &["crates/cli/Cargo.toml: `xtask` is in no layer"],
        );
    }

    #[test]
    fn the_picture_and_the_workspace_name_the_same_crates() {
        check_with(
            member("extra", &[]),
            &["crates/extra: not drawn under \"Who may import whom\" in ARCHITECTURE.md"],
        );
        expect(
            check,
            &Facts::of(
                &[(DOCUMENT, PICTURE)],
                vec![
                    member("dns", &[]),
                    member("api", &[]),
                    member("cli", &[]),
                    member("testkit", &[]),
                ],
            ),
            &["ARCHITECTURE.md:8: there is no crate crates/provider"],
        );
    }

    #[test]
    fn a_picture_that_cannot_be_read_is_found() {
        let broken = PICTURE.replace("1  know DNS        dns", "dns");
        expect(
            check,
            &Facts::of(&[(DOCUMENT, &broken)], Vec::new()),
            &["ARCHITECTURE.md:9: not a layer: number, two spaces, name, two spaces, crates"],
        );
        expect(
            check,
            &Facts::of(&[], Vec::new()),
            &["ARCHITECTURE.md: no drawing under the heading \"Who may import whom\""],
        );
    }
}
