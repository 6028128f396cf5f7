//! Zone files (RFC 1035 §5): text in, a zone and every problem out; and back.
//!
//! Reading goes on after a mistake, so that one run shows all of them, each with
//! its line. Printing writes every record on one line of its own; since a
//! record's text is read back before it is printed, no data can end its line,
//! start a comment or become a directive.
//!
//! `$INCLUDE` is refused: this crate opens no files.
//!
//! A zone file knows nothing of routed sets: it holds their default members. Canonical lines (`lines`) say more, in comments.

mod entries;
mod lines;
mod reader;

use std::fmt::{self, Write as _};

use crate::{Name, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl, Zone};

use entries::entries;
use reader::Reader;

pub use lines::{Line, print_line, push_lines, read_lines};

/// One record of a zone file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileRecord {
    /// The line its entry starts on, counted from 1.
    pub line: usize,
    /// The owner.
    pub name: Name,
    /// The TTL, given or inherited.
    pub ttl: Ttl,
    /// Type and data.
    pub data: Rdata,
}

/// A mistake in a zone file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LineProblem {
    /// The line it is on, counted from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// The offending entry, shortened.
    pub text: String,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.text.is_empty()) {
            (0, _) => f.write_str(&self.message),
            (line, true) => write!(f, "line {line}: {}", self.message),
            (line, false) => write!(f, "line {line}: {}: got {:?}", self.message, self.text),
        }
    }
}

/// What was read from a zone file: the good part, and what was wrong with the rest.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The zone and its serial; `None` without a usable SOA.
    pub zone: Option<(Zone, Serial)>,
    /// Every mistake, in the order of the lines.
    pub problems: Vec<LineProblem>,
}

/// Reads a whole zone. Without `origin` the owner of the SOA is the origin.
pub fn parse(text: &str, origin: Option<&Name>) -> Reading {
    let (records, mut problems) = records(text, origin);
    let assembled = assemble(records, origin);
    problems.extend(assembled.problems);
    problems.sort_by_key(|problem| problem.line);
    Reading {
        problems,
        ..assembled
    }
}

/// Puts records together to a zone. Without `origin` the owner of the SOA is the origin.
pub fn assemble(records: Vec<FileRecord>, origin: Option<&Name>) -> Reading {
    let mut problems = Vec::new();
    let zone = zone(records, origin, &mut problems);
    problems.sort_by_key(|problem| problem.line);
    Reading { zone, problems }
}

/// Reads records that need not be a whole zone; [`assemble`] makes one of them.
pub fn records(text: &str, origin: Option<&Name>) -> (Vec<FileRecord>, Vec<LineProblem>) {
    let mut reader = Reader::new(origin);
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    for entry in entries(text) {
        match reader.read(&entry) {
            Ok(record) => records.extend(record),
            Err(message) => {
                problems.push(LineProblem {
                    line: entry.line,
                    message,
                    text: entry.shown(),
                });
            }
        }
    }
    (records, problems)
}

/// Prints a version of a zone. Reading it gives the same zone and serial.
pub fn print(zone: &Zone, serial: Serial) -> String {
    let (origin, soa) = (zone.origin(), zone.soa());
    let mut text = format!("$ORIGIN {origin}\n$TTL {}\n", soa.ttl);
    push_line(&mut text, "@", soa.ttl, &soa.rdata(serial));
    for (key, set) in zone.sets() {
        let owner = owner(&key.name, origin);
        for data in set.data() {
            push_line(&mut text, &owner, set.ttl(), data);
        }
    }
    text
}

/// Prints one record as a line with its full name: the canonical line.
pub fn print_record(name: &Name, ttl: Ttl, data: &Rdata) -> String {
    let mut text = String::new();
    push_line(&mut text, name, ttl, data);
    text
}

/// The name relative to the origin, or whole where a reader would suspect that
/// its final dot was forgotten.
fn owner(name: &Name, origin: &Name) -> String {
    match name.relative_to(origin) {
        Some(relative) if relative.under(origin).is_ok() => relative.to_string(),
        Some(_) | None => name.to_string(),
    }
}

fn push_line(text: &mut String, owner: impl fmt::Display, ttl: Ttl, data: &Rdata) {
    push_fields(text, owner, ttl, data);
    text.push('\n');
}

fn push_fields(text: &mut String, owner: impl fmt::Display, ttl: Ttl, data: &Rdata) {
    write!(text, "{owner} {ttl} IN {} {data}", data.rtype())
        .expect("writing to a string cannot fail");
}

/// The zone that records make; what does not fit becomes a problem.
fn zone(
    records: Vec<FileRecord>,
    origin: Option<&Name>,
    problems: &mut Vec<LineProblem>,
) -> Option<(Zone, Serial)> {
    let (soas, records): (Vec<_>, Vec<_>) = records
        .into_iter()
        .partition(|record| record.data.rtype() == Rtype::SOA);
    let Some((first, others)) = soas.split_first() else {
        problems.push(LineProblem {
            line: 0,
            message: "the zone has no SOA record".into(),
            text: String::new(),
        });
        return None;
    };
    // A transfer ends with the SOA that it began with.
    let repeats = |record: &FileRecord| {
        (&record.name, record.ttl, &record.data) == (&first.name, first.ttl, &first.data)
    };
    let others = others.iter().filter(|record| !repeats(record));
    problems
        .extend(others.map(|record| problem(record, "a zone has one SOA record, this is another")));
    let origin = origin.unwrap_or(&first.name).clone();
    if first.name != origin {
        problems.push(problem(
            first,
            &format!("the SOA belongs to the zone itself, {origin}"),
        ));
        return None;
    }
    let (soa, serial) = Soa::from_rdata(first.ttl, &first.data)?;
    if soa.rdata(serial) != first.data {
        let message = format!(
            "the SOA's minimum is no TTL, {} is used instead",
            soa.minimum
        );
        problems.push(problem(first, &message));
    }
    let mut zone = Zone::new(origin, soa);
    for (key, members) in grouped(records) {
        put(&mut zone, key, &members, problems);
    }
    Some((zone, serial))
}

/// The records of each set, in the order in which the sets first appear.
fn grouped(records: Vec<FileRecord>) -> Vec<(SetKey, Vec<FileRecord>)> {
    let mut sets = std::collections::BTreeMap::<SetKey, Vec<FileRecord>>::new();
    for record in records {
        sets.entry(SetKey::new(record.name.clone(), record.data.rtype()))
            .or_default()
            .push(record);
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_key(|(_, members)| members[0].line);
    sets
}

fn put(zone: &mut Zone, key: SetKey, members: &[FileRecord], problems: &mut Vec<LineProblem>) {
    let records = members
        .iter()
        .map(|record| (record.ttl, record.data.clone()));
    let set = RecordSet::new(records).map_err(|err| err.to_string());
    if let Ok(set) = &set {
        let lowered = members.iter().filter(|record| record.ttl != set.ttl());
        problems.extend(lowered.map(|record| {
            let message = format!(
                "TTL {} is lowered to {}, the lowest of its set",
                record.ttl,
                set.ttl()
            );
            problem(record, &message)
        }));
    }
    let put = set.and_then(|set| zone.put(key, set).map_err(|err| err.to_string()));
    if let (Err(message), Some(last)) = (put, members.last()) {
        problems.push(problem(last, &message));
    }
}

fn problem(record: &FileRecord, message: &str) -> LineProblem {
    let text = print_record(&record.name, record.ttl, &record.data)
        .trim_end()
        .to_owned();
    LineProblem {
        line: record.line,
        message: message.to_owned(),
        text: entries::shorten(&text),
    }
}

#[cfg(test)]
mod tests;
