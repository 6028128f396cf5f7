//! The zone file: what is in it, on which line, and what is left out of it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use dns::zonefile::{self, FileRecord, LineProblem};
use dns::{Name, Rdata, Rtype, Serial, Severity, Zone};
use jiff::civil::Date;

/// How many notes of a kind are shown: more than a screen of them is read by nobody.
const NOTES_MAX: usize = 20;

/// A zone file.
#[derive(Debug)]
pub(super) struct ZoneFile {
    /// What it says, without what is left out.
    pub(super) zone: Zone,
    serial: Serial,
    soa_line: usize,
    lines: HashMap<(Name, Rdata), usize>,
    /// How many records of which types are not taken over.
    left_out: BTreeMap<Rtype, usize>,
}

/// What a person should know although nothing is wrong.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Note(String);

impl ZoneFile {
    /// Reads a file: what it says, where that is a zone at all, and everything that is wrong with it.
    pub(super) fn read(text: &str, origin: Option<&Name>) -> (Option<ZoneFile>, Vec<LineProblem>) {
        let (records, mut problems) = zonefile::records(text, origin);
        let (left_out, records): (Vec<_>, Vec<_>) = records
            .into_iter()
            .partition(|record| is_signers(record.data.rtype()));
        let assembled = zonefile::assemble(records.clone(), origin);
        problems.extend(assembled.problems);
        problems.sort_by_key(|problem| problem.line);
        let nameless = |problem: &LineProblem| problem.message.contains("$ORIGIN line");
        let nameless = problems.iter().any(nameless);
        problems.extend(nameless.then(hint));
        let zone = assembled.zone;
        let file = zone.map(|(zone, serial)| ZoneFile::new(zone, serial, records, &left_out));
        (file, problems)
    }

    fn new(
        zone: Zone,
        serial: Serial,
        records: Vec<FileRecord>,
        left_out: &[FileRecord],
    ) -> ZoneFile {
        let mut counts = BTreeMap::new();
        for record in left_out {
            *counts.entry(record.data.rtype()).or_default() += 1;
        }
        let soa = records
            .iter()
            .find(|record| record.data.rtype() == Rtype::SOA);
        ZoneFile {
            zone,
            serial,
            soa_line: soa.map_or(0, |record| record.line),
            left_out: counts,
            lines: records
                .into_iter()
                .map(|record| ((record.name, record.data), record.line))
                .collect(),
        }
    }

    /// The line of the SOA record.
    pub(super) fn soa_line(&self) -> usize {
        self.soa_line
    }

    /// The line that a record stands on.
    pub(super) fn line(&self, name: &Name, data: &Rdata) -> usize {
        let line = self.lines.get(&(name.clone(), data.clone()));
        line.copied().unwrap_or_default()
    }

    /// What a person should know before going on.
    pub(super) fn notes(&self, today: Date) -> Vec<Note> {
        let mut notes = self.findings();
        notes.extend(self.left_out_note());
        notes.extend(self.serial_note(today));
        notes
    }

    /// What would be answered, but badly.
    fn findings(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = Vec::new();
        let findings = self.zone.check();
        let mut grave = findings
            .iter()
            .filter(|finding| finding.flaw.severity() > Severity::Note);
        for finding in grave.by_ref().take(NOTES_MAX) {
            let first = self
                .zone
                .get(&finding.key)
                .and_then(|set| set.data().first());
            let line = first.map_or(self.soa_line, |data| self.line(&finding.key.name, data));
            notes.push(Note(format!(
                "warning: line {line}: {}: {}",
                finding.key, finding.flaw
            )));
        }
        let more = grave.count();
        notes.extend((more > 0).then(|| Note(format!("warning: and {more} more of this kind"))));
        notes
    }

    fn left_out_note(&self) -> Option<Note> {
        let counts: Vec<String> = self
            .left_out
            .iter()
            .map(|(rtype, count)| format!("{count} {rtype}"))
            .collect();
        (!counts.is_empty()).then(|| {
            Note(format!(
                "note: left out {}: they sign this one version of the zone and would be wrong about the next; \
                 whoever serves the zone signs it anew",
                counts.join(", ")
            ))
        })
    }

    /// Versions are numbered by date (Z7). A file that is ahead of the calendar has to be waited for.
    fn serial_note(&self, today: Date) -> Option<Note> {
        let (ours, theirs) = (Serial::next(None, today), self.serial);
        let behind = ours.partial_cmp(&theirs) != Some(std::cmp::Ordering::Greater);
        behind.then(|| {
            Note(format!(
                "note: the serial {theirs} is not taken over, and the first version here may be {ours}: secondaries that \
                 have the file's version would not take an older one; let them transfer the zone anew"
            ))
        })
    }
}

/// Whether records of a type are made from the rest of the zone, or speak for the keys that do so. DS is not among them:
/// it is about a child's keys.
fn is_signers(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::RRSIG
            | Rtype::NSEC
            | Rtype::NSEC3
            | Rtype::NSEC3PARAM
            | Rtype::DNSKEY
            | Rtype::CDS
            | Rtype::CDNSKEY
            | Rtype::ZONEMD
            | Rtype::SIG
            | Rtype::NXT
    )
}

fn hint() -> LineProblem {
    LineProblem {
        line: 0,
        message: "if the file leaves the zone's name to the server's configuration, give it with --origin".to_owned(),
        text: String::new(),
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
