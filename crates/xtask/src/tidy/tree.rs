//! The files of the source tree, as git sees them: kept or new, but not ignored.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::run::output;

/// Contents by path; paths are relative to the root and separated by `/`.
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads every file below the root that git does not ignore.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let listed = output(
            Command::new("git")
                .args([
                    "ls-files",
                    "-z",
                    "--cached",
                    "--others",
                    "--exclude-standard",
                ])
                .current_dir(root),
        )?;
        let mut files = BTreeMap::new();
        for path in listed.split_terminator('\0') {
            let file = root.join(path);
            // What is deleted but not yet committed is still listed.
            if file.is_file() {
                let bytes = std::fs::read(&file).with_context(|| format!("cannot read {path}"))?;
                files.insert(
                    path.to_owned(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                );
            }
        }
        Ok(Self { files })
    }

    /// Path and text of every file, in the order of the paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Path and text of every file with this extension.
    pub(crate) fn files_with_extension(
        &self,
        extension: &str,
    ) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| {
            Path::new(path)
                .extension()
                .is_some_and(|found| found == extension)
        })
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether this is a file or a folder of the tree.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty() || self.files.contains_key(path) || self.holds_folder(path)
    }

    /// Whether this is a folder of the tree.
    pub(crate) fn holds_folder(&self, path: &str) -> bool {
        let start = format!("{}/", path.trim_end_matches('/'));
        self.files
            .range(start.clone()..)
            .next()
            .is_some_and(|(path, _)| path.starts_with(&start))
    }

    /// A tree that exists only in a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        Self { files }
    }
}

/// The folder of a file; empty for the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path seen from a folder, with `.` and `..` worked out.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_the_folders_above_them_are_held() {
        let tree = Tree::of(&[("docs/guide/start.md", "")]);
        for (path, held) in [
            ("docs/guide/start.md", true),
            ("docs/guide", true),
            ("docs/guide/", true),
            ("docs", true),
            ("", true),
            ("docs/gui", false),
            ("docs/guide/start", false),
            ("start.md", false),
        ] {
            assert_eq!(tree.holds(path), held, "{path}");
        }
    }

    #[test]
    fn an_extension_is_compared_whole() {
        let tree = Tree::of(&[("a.rs", ""), ("b.ars", ""), ("rs", "")]);
        let found: Vec<_> = tree.files_with_extension("rs").collect();
        assert_eq!(found, [("a.rs", "")]);
    }

    #[test]
    fn a_path_is_resolved_from_the_folder_it_is_seen_from() {
        for (folder, path, expected) in [
            ("docs/guide", "../reference/api.md", "docs/reference/api.md"),
            ("docs", "./a.md", "docs/a.md"),
            ("", "a.md", "a.md"),
            ("docs", "..", ""),
        ] {
            assert_eq!(resolve(folder, path), expected);
        }
    }
}
