//! `zonewright import`: a zone file as a Zone and its Records, on standard output or in the API.
//!
//! Nothing is printed or applied unless everything is right: the objects are read back by the parsers that admission
//! and controllers use, and must make the zone that the file says.

mod apply;
mod file;
mod object_name;
mod objects;
mod plan;
mod read_back;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use dns::Name;
use dns::zonefile::LineProblem;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::args::Output;
use crate::args::import::Import;
use crate::client::{self, Access};
use crate::output;
use apply::{Change, Outcome};
use file::ZoneFile;
use objects::{Identity, Objects};

/// How much is read: a zone of some million records.
const FILE_BYTES_MAX: u64 = 512 << 20;
/// How many objects are named in a note: a screen is full soon.
const NAMED_MAX: usize = 5;
/// Where objects go when nobody says where.
const NAMESPACE_DEFAULT: &str = "default";

/// Imports the file.
pub(crate) fn run(
    import: &Import,
    kubeconfig: Option<&Path>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let octets =
        octets(&import.file).with_context(|| format!("cannot read {}", import.file.display()))?;
    client::block_on(async {
        // Printing into a named namespace depends on nothing outside.
        let access = if import.apply || import.namespace.is_none() {
            Access::find(kubeconfig).await?
        } else {
            None
        };
        let identity = identity(import, access.as_ref());
        let (file, objects) = match read(&octets, import.origin.as_ref(), &identity) {
            Ok(read) => read,
            Err(problems) => return Ok(tell(&import.file, &problems)),
        };
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        for note in file.notes(today) {
            eprintln!("{note}");
        }
        if import.apply {
            let cluster = access.ok_or_else(client::nothing_found)?.connect()?;
            let outcome = apply::apply(&cluster, &objects).await?;
            report(&outcome, &identity, output)
        } else {
            print(&objects, output)
        }
    })
}

fn octets(path: &Path) -> anyhow::Result<Vec<u8>> {
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut octets = Vec::new();
    let read = source.take(FILE_BYTES_MAX + 1).read_to_end(&mut octets)?;
    ensure!(
        read as u64 <= FILE_BYTES_MAX,
        "it has more than {FILE_BYTES_MAX} bytes"
    );
    Ok(octets)
}

/// The file and its objects, or everything that is wrong with either.
fn read(
    octets: &[u8],
    origin: Option<&Name>,
    identity: &Identity,
) -> Result<(ZoneFile, Objects), Vec<LineProblem>> {
    let (file, mut problems) = ZoneFile::read(text(octets)?, origin);
    let objects = file.map(|file| {
        let objects = Objects::new(&file, identity);
        problems.extend(read_back::problems(&objects, &file));
        (file, objects)
    });
    problems.sort_by_key(|problem| problem.line);
    objects.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Zone files are ASCII; in strings and comments UTF-8 is common. Anything else could not be told from a mistake.
fn text(octets: &[u8]) -> Result<&str, Vec<LineProblem>> {
    str::from_utf8(octets).map_err(|error| {
        let before = &octets[..error.valid_up_to()];
        let line = before.split(|octet| *octet == b'\n').count();
        let message = "not UTF-8; write octets beyond ASCII as \\DDD".to_owned();
        vec![LineProblem {
            line,
            message,
            text: String::new(),
        }]
    })
}

fn identity(import: &Import, access: Option<&Access>) -> Identity {
    let context = access.map_or(NAMESPACE_DEFAULT, Access::namespace);
    Identity {
        zone: import.zone.clone(),
        namespace: import
            .namespace
            .clone()
            .unwrap_or_else(|| context.to_owned()),
    }
}

/// Every problem with its place, and how many there are.
fn tell(file: &Path, problems: &[LineProblem]) -> ExitCode {
    let file = file.display();
    for problem in problems {
        eprintln!("{file}: {problem}");
    }
    let count = counted(problems.len(), "problem");
    eprintln!("error: {count} in {file}; nothing was imported");
    ExitCode::FAILURE
}

/// The objects on standard output.
fn print(objects: &Objects, output: Output) -> anyhow::Result<ExitCode> {
    let documents = documents(objects)?;
    match output {
        Output::Text => output::print(&yaml(&documents)?)?,
        Output::Json => output::json(&json!({
            "apiVersion": "v1", "kind": "List", "metadata": {}, "items": documents,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The Zone and the Records as people write them: without the class, of which there is one.
fn documents(objects: &Objects) -> anyhow::Result<Vec<Value>> {
    let mut documents = vec![serde_json::to_value(&objects.zone)?];
    for record in &objects.records {
        let mut document = serde_json::to_value(record)?;
        document["spec"]
            .as_object_mut()
            .map(|spec| spec.remove("class"));
        documents.push(document);
    }
    Ok(documents)
}

fn yaml(documents: &[Value]) -> anyhow::Result<String> {
    let mut text = String::new();
    for document in documents {
        write!(text, "---\n{}", serde_saphyr::to_string(document)?)?;
    }
    Ok(text)
}

/// What has changed, and what has not.
fn report(outcome: &Outcome, identity: &Identity, output: Output) -> anyhow::Result<ExitCode> {
    let Identity { zone, namespace } = identity;
    if let Some(note) = left_alone(&outcome.left_alone, namespace) {
        eprintln!("{note}");
    }
    for refusal in &outcome.refused {
        eprintln!("Record {namespace}/{}: {}", refusal.name, refusal.why);
    }
    match output {
        Output::Text => output::print(&summary(outcome, &format!("{namespace}/{zone}")))?,
        Output::Json => output::json(outcome)?,
    }
    anyhow::ensure!(
        outcome.refused.is_empty(),
        "{} refused",
        counted(outcome.refused.len(), "record")
    );
    Ok(ExitCode::SUCCESS)
}

fn left_alone(names: &[String], namespace: &str) -> Option<String> {
    let first = names.first()?;
    let named: Vec<&str> = names.iter().take(NAMED_MAX).map(String::as_str).collect();
    let named = named.join(", ");
    let more = if names.len() > NAMED_MAX { ", …" } else { "" };
    let count = counted(names.len(), "Record");
    Some(format!(
        "note: not in the file, and left alone: {count} of the zone ({named}{more}); \
         `kubectl delete record -n {namespace} {first}` removes one"
    ))
}

fn summary(outcome: &Outcome, zone: &str) -> String {
    let Outcome {
        created,
        updated,
        unchanged,
        ..
    } = outcome;
    let word = match outcome.zone {
        Change::Created => "created",
        Change::Updated => "updated",
        Change::Unchanged if created + updated == 0 && outcome.refused.is_empty() => {
            let records = counted(*unchanged, "record");
            return format!(
                "zone {zone} and its {records} are as the file says; nothing was changed\n"
            );
        }
        Change::Unchanged => "unchanged",
    };
    format!(
        "zone {zone} {word}; records: {created} created, {updated} updated, {unchanged} unchanged\n"
    )
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests;
