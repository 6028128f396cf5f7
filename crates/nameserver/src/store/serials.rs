//! Serials that were answered: one line each, added and synced before the first answer with it.
//!
//! ```text
//! <checksum> <serial> <zone>
//! <checksum> <serial> <zone> withdrawn
//! ```
//!
//! The last line of a zone counts, and its serial is the highest it ever had. A line that was not finished, or that is
//! damaged, is passed over and named. The file is rewritten when most of its lines are old.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dns::{Name, Publication, Serial};

use super::file;

/// Lines that are tolerated before the file is rewritten, and how many more for each zone.
const LINES_MIN: usize = 256;
const LINES_PER_ZONE: usize = 4;

/// How many zones are remembered after they were withdrawn: some 5 MB. Whoever makes and drops more than that gets an
/// old name's serials again only by luck.
const WITHDRAWN_MAX: usize = 100_000;

/// Hexadecimal digits of a line's checksum: enough to find damage, which is all it is for.
const CHECKSUM_DIGITS: usize = 16;

/// What is known about the zones that are and were.
#[derive(Debug)]
pub(super) struct Serials {
    path: PathBuf,
    /// Where lines are added. Absent after a failure: then the file may end in half a line and is rewritten first.
    file: Option<File>,
    lines: usize,
    known: BTreeMap<Name, Entry>,
    /// Counts up with every change of an entry.
    clock: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Entry {
    serial: Serial,
    /// When the zone went, by the count of changes.
    withdrawn: Option<u64>,
}

impl Serials {
    /// Reads the file, which need not be there. It is rewritten with the first thing to note, without what is old or
    /// damaged.
    pub(super) fn open(path: &Path) -> io::Result<Serials> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(err) => return Err(err),
        };
        let mut serials = Serials {
            path: path.to_owned(),
            file: None,
            lines: 0,
            known: BTreeMap::new(),
            clock: 0,
        };
        for (index, line) in text.split_inclusive(|octet| *octet == b'\n').enumerate() {
            match read_line(line) {
                Some((name, serial, withdrawn)) => {
                    serials.learn(&name, Some(serial), withdrawn);
                }
                None => {
                    tracing::error!(file = %path.display(), line = index + 1, "Passed over a damaged line");
                }
            }
        }
        Ok(serials)
    }

    /// The highest serial of every zone.
    pub(super) fn highest(&self) -> BTreeMap<Name, Serial> {
        self.known
            .iter()
            .map(|(name, entry)| (name.clone(), entry.serial))
            .collect()
    }

    /// Whether the last thing known about a zone is that it went.
    pub(super) fn is_withdrawn(&self, zone: &Name) -> bool {
        self.known
            .get(zone)
            .is_some_and(|entry| entry.withdrawn.is_some())
    }

    /// Makes what publications say durable.
    pub(super) fn note(&mut self, batch: &[Publication]) -> io::Result<()> {
        let mut lines = Vec::new();
        for publication in batch {
            let name = publication.origin();
            let (serial, withdrawn) = match publication {
                Publication::Version(version) => (Some(version.serial), false),
                Publication::Withdrawal(_) => (None, true),
            };
            if let Some(entry) = self.learn(name, serial, withdrawn) {
                lines.push(line(name, entry));
            }
        }
        if lines.is_empty() && self.file.is_some() {
            return Ok(());
        }
        self.add(&lines)
    }

    /// Takes something in, and tells the new entry if that changed what is known.
    fn learn(&mut self, name: &Name, serial: Option<Serial>, withdrawn: bool) -> Option<Entry> {
        let before = self.known.get(name).copied();
        let serial = match (before, serial) {
            (Some(before), Some(serial)) => before.serial.later(serial),
            (Some(before), None) => before.serial,
            (None, Some(serial)) => serial,
            // A zone that never was has nothing to remember.
            (None, None) => return None,
        };
        let went = before.and_then(|before| before.withdrawn);
        self.clock += 1;
        let entry = Entry {
            serial,
            withdrawn: withdrawn.then(|| went.unwrap_or(self.clock)),
        };
        if before == Some(entry) {
            return None;
        }
        self.known.insert(name.clone(), entry);
        Some(entry)
    }

    fn add(&mut self, lines: &[String]) -> io::Result<()> {
        self.lines += lines.len();
        let enough = LINES_MIN + LINES_PER_ZONE * self.known.len();
        let Some(mut file) = self.file.take().filter(|_| self.lines <= enough) else {
            return self.rewrite();
        };
        file.write_all(lines.concat().as_bytes())?;
        file.sync_data()?;
        self.file = Some(file);
        Ok(())
    }

    fn rewrite(&mut self) -> io::Result<()> {
        self.forget(WITHDRAWN_MAX);
        let lines: Vec<String> = self
            .known
            .iter()
            .map(|(name, entry)| line(name, *entry))
            .collect();
        self.file = None;
        file::replace(&self.path, lines.concat().as_bytes())?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path)?);
        self.lines = lines.len();
        Ok(())
    }

    /// Drops the zones that went first, if too many went.
    fn forget(&mut self, withdrawn_max: usize) {
        let mut went: Vec<u64> = self
            .known
            .values()
            .filter_map(|entry| entry.withdrawn)
            .collect();
        if went.len() <= withdrawn_max {
            return;
        }
        went.sort_unstable();
        let oldest_kept = went[went.len() - withdrawn_max];
        self.known
            .retain(|_, entry| entry.withdrawn.is_none_or(|went| went >= oldest_kept));
    }
}

fn line(name: &Name, entry: Entry) -> String {
    let withdrawn = if entry.withdrawn.is_some() {
        " withdrawn"
    } else {
        ""
    };
    let text = format!("{} {name}{withdrawn}", entry.serial);
    format!("{} {text}\n", checksum(&text))
}

/// Takes a whole line apart: zone, serial, and whether it went.
fn read_line(line: &[u8]) -> Option<(Name, Serial, bool)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    if checksum(text) != sum {
        return None;
    }
    let (serial, name) = text.split_once(' ')?;
    let (name, withdrawn) = match name.strip_suffix(" withdrawn") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let name = Name::parse(name).ok()?;
    Some((name, Serial(serial.parse().ok()?), withdrawn))
}

fn checksum(text: &str) -> String {
    let mut sum = blake3::hash(text.as_bytes()).to_hex().to_string();
    sum.truncate(CHECKSUM_DIGITS);
    sum
}

#[cfg(test)]
mod tests;
