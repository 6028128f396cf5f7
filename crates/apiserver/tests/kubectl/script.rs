//! Scripts: command lines with the files that they need, as data.
//!
//! ```yaml
//! name: what it shows
//! files:
//!   a.yaml: "…"
//! steps:
//! - apply -f a.yaml
//! - {run: edit configmap a, editor: sed -i s/red/blue/}
//! - {run: apply -f -, input: "…"}
//! - {until: explain gadgets}
//! - {watch: get configmaps -w, lines: 3, while: [create configmap b]}
//! ```
//!
//! `{ns}` is the script's own namespace, which every command is run in. `'…'` holds words together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// A file's document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The file and the number in it: `apply-2`.
    #[serde(skip)]
    pub(crate) place: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) steps: Vec<Step>,
}

/// A command and how it is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Step {
    /// To its end.
    Plain(String),
    /// To its end, with an editor for the commands that open one, and something to read.
    Run {
        run: String,
        #[serde(default)]
        editor: String,
        #[serde(default)]
        input: String,
    },
    /// Again and again until it succeeds.
    Until { until: String },
    /// Beside others, which begin when it watches: to its end, or until it has printed so many lines.
    Watch {
        watch: String,
        lines: Option<usize>,
        #[serde(rename = "while")]
        meanwhile: Vec<String>,
    },
}

/// Reads all scripts of a folder, in the order of their names.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Script>, String> {
    let tell = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = fs::read_dir(folder)
        .map_err(tell)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(tell)?;
    files.sort();
    let mut scripts = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&file).map_err(tell)?;
        scripts.extend(read(&stem, &text)?);
    }
    Ok(scripts)
}

fn read(stem: &str, text: &str) -> Result<Vec<Script>, String> {
    let options = serde_saphyr::options! { strict_booleans: true };
    let mut scripts: Vec<Script> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| format!("{stem}: {error}"))?;
    for (number, script) in scripts.iter_mut().enumerate() {
        script.place = format!("{stem}-{}", number + 1);
    }
    Ok(scripts)
}

/// The words of a command line.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quoted) = (String::new(), false, false);
    for letter in line.chars() {
        match letter {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[test]
fn quotes_hold_words_together() {
    let found = words("patch cm a -p '{\"data\": {}}'  --x=' y'z ''");
    assert_eq!(
        found,
        ["patch", "cm", "a", "-p", "{\"data\": {}}", "--x= yz", ""]
    );
}
