//! `generate`: the files that follow from the Rust types, and are kept in the tree so that people can read them.
//!
//! Everything is made in memory first. Writing and checking then differ in one step only, and a file that no type asks for
//! any more is removed.

mod fields;
mod keys;
mod kind_page;
mod table;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use testkit::control_plane::clients;

use crate::report::Outcome;
use crate::run::{output, root};

/// Folders in which every file is generated.
const OWNED: [&str; 2] = ["deploy/crds", "docs/reference/api"];

/// What the first line of every generated file says.
const NOTICE: &str = "Written by `cargo xtask generate` from the Rust types. Change those instead.";

/// What Kubernetes' kinds look like in protocol buffers: told by a Go program from their types there.
const FACTS: &str = "crates/wire/src/facts.txt";

/// Contents by path from the root.
type Files = BTreeMap<String, String>;

/// Brings the generated files up to date.
pub(crate) fn write() -> Result<()> {
    let mut wanted = wanted()?;
    // Without Go the other files are written all the same.
    match clients::wire() {
        Ok(program) => drop(wanted.insert(FACTS.to_owned(), facts(&program)?)),
        Err(error) => eprintln!("left as it is: {FACTS}: {error}"),
    }
    for path in outdated(&wanted, &present(root(), &wanted)?) {
        let file = root().join(&path);
        if let Some(text) = wanted.get(&path) {
            let folder = file.parent().context("a generated file lies in a folder")?;
            fs::create_dir_all(folder)?;
            fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
            eprintln!("wrote {path}");
        } else {
            fs::remove_file(&file).with_context(|| format!("cannot remove {path}"))?;
            eprintln!("removed {path}");
        }
    }
    Ok(())
}

/// Names the generated files that are not current; an error when there are any.
pub(crate) fn check() -> Result<()> {
    let wanted = wanted()?;
    let outdated = outdated(&wanted, &present(root(), &wanted)?);
    for path in &outdated {
        eprintln!("not current: {path}");
    }
    if !outdated.is_empty() {
        bail!(
            "{} generated files are not current: run `cargo xtask generate`",
            outdated.len()
        );
    }
    eprintln!("{} files are current", wanted.len());
    Ok(())
}

/// As [`check`], for the file that a Go program tells. Skipped where the program cannot be had.
pub(crate) fn check_facts() -> Result<Outcome> {
    let program = match clients::wire() {
        Ok(program) => program,
        Err(error) => return Ok(Outcome::Skipped(error.to_string())),
    };
    if fs::read_to_string(root().join(FACTS))? != facts(&program)? {
        bail!("{FACTS} is not current: run `cargo xtask generate`");
    }
    Ok(Outcome::passed())
}

/// Every file generated from Rust types as it should be.
fn wanted() -> Result<Files> {
    let mut files = Files::new();
    let kinds = api::crds::all();
    for kind in &kinds {
        let name = kind
            .metadata
            .name
            .as_deref()
            .context("a definition without a name")?;
        let yaml = format!(
            "# {NOTICE}\n{}",
            api::crds::yaml(std::slice::from_ref(kind))
        );
        files.insert(format!("deploy/crds/{name}.yaml"), yaml);
        let page = format!("docs/reference/api/{}", kind_page::file_name(kind));
        files.insert(page, kind_page::page(kind));
    }
    files.insert(
        "docs/reference/api/README.md".to_owned(),
        kind_page::index(&kinds),
    );
    files.insert("docs/reference/conditions.md".to_owned(), words::page());
    files.insert("docs/reference/keys.md".to_owned(), keys::page(root())?);
    Ok(files)
}

fn facts(program: &Path) -> Result<String> {
    output(Command::new(program).arg("facts"))
}

/// The generated files as they are: those that are wanted, and whatever else lies in our folders.
fn present(root: &Path, wanted: &Files) -> Result<Files> {
    let mut paths: Vec<_> = wanted.keys().cloned().collect();
    for folder in OWNED.iter().filter(|folder| root.join(folder).is_dir()) {
        for entry in fs::read_dir(root.join(folder))? {
            paths.push(format!("{folder}/{}", entry?.file_name().to_string_lossy()));
        }
    }
    let mut files = Files::new();
    for path in paths {
        let file = root.join(&path);
        if file.is_file() {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(files)
}

/// The paths that differ: changed, missing, or there without being wanted.
fn outdated(wanted: &Files, present: &Files) -> Vec<String> {
    let missing_or_changed = wanted
        .iter()
        .filter(|(path, text)| present.get(*path) != Some(text))
        .map(|(path, _)| path);
    let unwanted = present.keys().filter(|path| !wanted.contains_key(*path));
    missing_or_changed.chain(unwanted).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        entries.iter().map(owned).collect()
    }

    #[test]
    fn what_is_changed_missing_or_unwanted_is_outdated() {
        let wanted = files(&[("same", "1"), ("changed", "2"), ("missing", "3")]);
        let present = files(&[("same", "1"), ("changed", "old"), ("unwanted", "4")]);
        assert_eq!(
            outdated(&wanted, &present),
            ["changed", "missing", "unwanted"]
        );
    }

    #[test]
    fn generating_twice_gives_the_same_text() {
        assert_eq!(wanted().unwrap(), wanted().unwrap());
    }

    /// A schema that used one of these would have rules which its page leaves out.
    #[test]
    fn schemas_use_nothing_that_the_pages_do_not_tell() {
        let yaml = api::crds::yaml(&api::crds::all());
        for word in [
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "patternProperties",
            "dependencies",
        ] {
            let key = format!("{word}:");
            assert!(!yaml.lines().any(|line| line.trim_start() == key), "{word}");
        }
    }

    #[test]
    fn every_kind_has_a_definition_and_a_page() {
        let wanted = wanted().unwrap();
        assert!(
            wanted.contains_key("deploy/crds/zones.kubi.zone.yaml"),
            "{:?}",
            wanted.keys()
        );
        assert!(wanted["docs/reference/api/zone.md"].contains("`spec.domainName`"));
        assert!(wanted["docs/reference/api/README.md"].contains("[Zone](zone.md)"));
    }
}
