//! Answers as they are compared: what they say, not how it is written down.

use std::collections::BTreeSet;
use std::fmt;

use domain::base::iana::Rtype;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt as _};
use domain::base::{Message, ParsedRecord, RecordSection};
use domain::rdata::AllRecordData;

use crate::query::FLAGS;

/// The names of the sections, in reports and rules.
pub(crate) const SECTIONS: [&str; 3] = ["answer", "authority", ADDITIONAL];

/// The one that has what is merely convenient.
pub(crate) const ADDITIONAL: &str = "additional";

/// What came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// Nothing.
    None,
    /// Octets that are no message.
    Unreadable(String),
    /// A message.
    Said(Box<Said>),
}

/// A message without its number, order and compression.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Said {
    /// The response code, with the bits of EDNS.
    pub(crate) rcode: String,
    /// QR, the opcode and the flags.
    pub(crate) bits: u16,
    /// Letter for letter.
    pub(crate) question: String,
    /// The version of EDNS, if there is any.
    pub(crate) edns: Option<u8>,
    /// The records as text, names in lower case.
    pub(crate) sections: [BTreeSet<String>; 3],
}

impl Answer {
    pub(crate) fn read(octets: Option<&[u8]>) -> Answer {
        match octets.map(read) {
            None => Answer::None,
            Some(Ok(said)) => Answer::Said(Box::new(said)),
            Some(Err(why)) => Answer::Unreadable(why),
        }
    }

    /// Whether something was left out for want of room.
    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self, Answer::Said(said) if said.has("tc"))
    }

    /// The code, or what there is instead of one.
    pub(crate) fn outcome(&self) -> &str {
        match self {
            Answer::None => "no answer",
            Answer::Unreadable(_) => "unreadable",
            Answer::Said(said) => &said.rcode,
        }
    }
}

impl Said {
    pub(crate) fn has(&self, flag: &str) -> bool {
        FLAGS
            .iter()
            .any(|(bit, name)| *name == flag && self.bits & bit != 0)
    }
}

fn read(octets: &[u8]) -> Result<Said, String> {
    let message = Message::from_slice(octets).map_err(|error| error.to_string())?;
    let bits = u16::from_be_bytes([octets[2], octets[3]]) & 0xfff0;
    let mut said = Said {
        rcode: message.opt_rcode().to_string(),
        bits,
        ..Said::default()
    };
    for question in message.question() {
        let question = question.map_err(|error| error.to_string())?;
        let (name, rtype, class) = (question.qname(), question.qtype(), question.qclass());
        said.question = format!("{}{name} {rtype} {class}", said.question);
    }
    let (_, answer, authority, additional) =
        message.sections().map_err(|error| error.to_string())?;
    for (section, records) in [answer, authority, additional].into_iter().enumerate() {
        read_section(&mut said, section, records)?;
    }
    Ok(said)
}

fn read_section(
    said: &mut Said,
    section: usize,
    records: RecordSection<'_, [u8]>,
) -> Result<(), String> {
    for record in records {
        let record = record.map_err(|error| error.to_string())?;
        if record.rtype() == Rtype::OPT {
            let version = record.ttl().as_secs().to_be_bytes()[1];
            said.edns = Some(version);
        } else {
            said.sections[section].insert(shown(&record)?);
        }
    }
    Ok(())
}

fn shown(record: &ParsedRecord<'_, [u8]>) -> Result<String, String> {
    let read = record.to_record::<AllRecordData<_, _>>();
    let read = read.map_err(|error| error.to_string())?.ok_or("no data")?;
    let data = read
        .data()
        .display_zonefile(DisplayKind::Simple)
        .to_string();
    let owner = read.owner().to_string().to_ascii_lowercase();
    let dot = if owner == "." { "" } else { "." };
    // Names in data are in lower case, as ours are; text keeps its letters, since no zone here has upper case in it.
    let data = data.to_ascii_lowercase();
    Ok(format!(
        "{owner}{dot} {} {} {data}",
        read.ttl().as_secs(),
        read.rtype()
    ))
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::None | Answer::Unreadable(_) => f.write_str(self.outcome()),
            Answer::Said(said) => said.fmt(f),
        }
    }
}

/// More records of a section are not shown, only compared.
const SHOWN: usize = 4;

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rcode)?;
        for (bit, name) in FLAGS {
            if self.bits & bit != 0 {
                write!(f, " {name}")?;
            }
        }
        if let Some(version) = self.edns {
            write!(f, " edns={version}")?;
        }
        for (name, records) in SECTIONS.iter().zip(&self.sections) {
            if records.is_empty() {
                continue;
            }
            let shown: Vec<_> = records.iter().take(SHOWN).map(String::as_str).collect();
            write!(f, " | {name}: {}", shown.join("; "))?;
            if records.len() > SHOWN {
                write!(f, "; … {} in all", records.len())?;
            }
        }
        Ok(())
    }
}
