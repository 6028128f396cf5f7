//! Manifests from files, folders and standard input, document by document.
//!
//! A document that is no YAML is that document's problem: the others are still read.

use std::fs;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;
use serde_saphyr::{SnippetMode, render_options};

/// How much is read from one file: manifests are written by people.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// One YAML document and where it came from.
#[derive(Debug)]
pub(crate) struct Document {
    /// The file, or `-`.
    pub(crate) path: PathBuf,
    /// The line it starts on, counted from 1.
    pub(crate) line: usize,
    /// Its content, or why it has none.
    pub(crate) content: Result<Value, String>,
}

/// Reads every document behind the given paths, in their order; files of a folder by name.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for path in paths {
        for file in files(path)? {
            let text = text(&file).with_context(|| format!("cannot read {}", file.display()))?;
            documents.extend(split(&text).map(|(line, text)| parse(&file, line, text)));
        }
    }
    documents.retain(|document| !matches!(document.content, Ok(Value::Null)));
    Ok(documents)
}

fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path == Path::new("-") || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect(path, &mut files).with_context(|| format!("cannot read folder {}", path.display()))?;
    if files.is_empty() {
        bail!(
            "folder {} holds no .yaml, .yml or .json file",
            path.display()
        );
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            collect(&path, files)?;
        } else if matches!(extension, Some("yaml" | "yml" | "json")) {
            files.push(path);
        }
    }
    Ok(())
}

fn text(path: &Path) -> anyhow::Result<String> {
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(stdin())
    } else {
        Box::new(fs::File::open(path)?)
    };
    let mut text = String::new();
    let read = source.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > FILE_BYTES_MAX {
        bail!("it has more than {FILE_BYTES_MAX} bytes");
    }
    Ok(text)
}

/// Cuts a text at its `---` lines; each part comes with the line it starts on.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 1, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            parts.push((start_line, &text[start..at]));
            // What follows the marker on its line belongs to the next document.
            (start, start_line) = (at + "---".len(), number + 1);
        }
        at += line.len();
    }
    parts.push((start_line, &text[start..]));
    parts.into_iter()
}

fn parse(path: &Path, line: usize, text: &str) -> Document {
    let idle = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let lead = text.lines().take_while(|line| idle(line)).count();
    let path = path.to_owned();
    if text.lines().all(idle) {
        return Document {
            path,
            line,
            content: Ok(Value::Null),
        };
    }
    match serde_saphyr::from_str(text) {
        Ok(content) => Document {
            path,
            line: line + lead,
            content: Ok(content),
        },
        Err(error) => {
            // The parser counts from the start of the document.
            let above = line - 1;
            let inside = error
                .location()
                .and_then(|location| usize::try_from(location.line()).ok());
            let message = error.render_with_options(render_options! {
                snippets: SnippetMode::Off,
                line_offset: above as u64,
            });
            Document {
                path,
                line: inside.map_or(line + lead, |inside| above + inside),
                content: Err(message),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_know_the_line_they_start_on() {
        let text = "a: 1\n---\n\nb: 2\n--- # note\nc: 3\n---\n# nothing\n";
        let lines: Vec<(usize, bool)> = split(text)
            .map(|(line, text)| parse(Path::new("x"), line, text))
            .map(|document| (document.line, document.content == Ok(Value::Null)))
            .collect();
        assert_eq!(lines, [(1, false), (4, false), (6, false), (7, true)]);
    }

    #[test]
    fn a_broken_document_does_not_hide_the_others() {
        let documents: Vec<Document> = split("a: [\n---\nb: 2\n")
            .map(|(line, text)| parse(Path::new("x"), line, text))
            .collect();
        assert!(documents[0].content.is_err());
        assert_eq!(documents[1].content, Ok(serde_json::json!({ "b": 2 })));
    }

    #[test]
    fn a_broken_document_is_told_of_by_its_line_in_the_file() {
        let documents: Vec<Document> = split("a: 1\n---\nb: 2\n---\nc: 3\nc: 4\n")
            .map(|(line, text)| parse(Path::new("x"), line, text))
            .collect();
        let broken = &documents[2];
        let why = broken.content.as_ref().expect_err("it says c twice");
        assert_eq!(broken.line, 6);
        assert!(why.contains("line 6, column 1"), "{why}");
    }
}
