//! Questions and answers on the wire: the library's messages, and the project's names and record data.

use std::fmt;

use dns::{Name, Rdata, Rtype};
use domain::base::iana::{Class, Opcode};
use domain::base::message::RecordSection;
use domain::base::name::{ParsedName, ToName};
use domain::base::rdata::{ComposeRecordData as _, UnknownRecordData};
use domain::base::record::ParsedRecord;
use domain::base::wire::ParseError;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt as _};
use domain::base::{Message, MessageBuilder, Name as WireName};
use domain::rdata::AllRecordData;
use serde::Serialize;

/// The longest answer we take over UDP: what passes every path in one piece (DNS Flag Day 2020).
const UDP_OCTETS_MAX: u16 = 1232;

/// A question that can be told from every other.
#[derive(Debug)]
pub(super) struct Asked {
    name: Name,
    rtype: Rtype,
    id: u16,
    octets: Vec<u8>,
}

/// What came back.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Reply {
    pub(super) rcode: String,
    /// As dig spells them: `qr`, `aa`, `tc`, `rd`, `ra`, `ad`, `cd`.
    pub(super) flags: Vec<&'static str>,
    /// Whether there was more than fitted.
    pub(super) truncated: bool,
    pub(super) answer: Vec<Line>,
    pub(super) authority: Vec<Line>,
    /// Without the OPT record, which is about the message.
    pub(super) additional: Vec<Line>,
}

/// One record, as a line of a zone file.
#[derive(Debug, Eq, PartialEq, Serialize)]
pub(super) struct Line {
    name: String,
    ttl: u32,
    class: String,
    #[serde(rename = "type")]
    rtype: String,
    rdata: String,
}

/// Why a message is not the answer.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("too short for a message")]
    Short,
    #[error("the id of another question")]
    Id,
    #[error("no response to a query")]
    NoResponse,
    #[error("an answer to another question")]
    Question,
    #[error("the answer cannot be read: {0}")]
    Malformed(#[from] ParseError),
}

impl Asked {
    /// Asks for one type of record at one name.
    pub(super) fn new(name: Name, rtype: Rtype, id: u16) -> Asked {
        let octets = compose(&name, rtype, id).expect("a question fits into every message");
        Asked {
            name,
            rtype,
            id,
            octets,
        }
    }

    /// The question on the wire.
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Reads the answer to this question and no other.
    pub(super) fn read(&self, octets: &[u8]) -> Result<Reply, Unfit> {
        let message = Message::from_slice(octets).map_err(|_| Unfit::Short)?;
        let header = message.header();
        if header.id() != self.id {
            return Err(Unfit::Id);
        }
        if !header.qr() || header.opcode() != Opcode::QUERY {
            return Err(Unfit::NoResponse);
        }
        if !self.is_repeated_in(message)? {
            return Err(Unfit::Question);
        }
        Ok(reply(message)?)
    }

    /// Whether a message carries our question. A server that could not read it leaves it out.
    fn is_repeated_in(&self, message: &Message<[u8]>) -> Result<bool, ParseError> {
        if message.header_counts().qdcount() == 0 {
            return Ok(message.is_error());
        }
        let question = message.sole_question()?;
        Ok(name(question.qname()) == self.name
            && question.qtype().to_int() == self.rtype.to_int()
            && question.qclass() == Class::IN)
    }
}

fn compose(
    name: &Name,
    rtype: Rtype,
    id: u16,
) -> Result<Vec<u8>, domain::base::message_builder::PushError> {
    let mut message = MessageBuilder::new_vec();
    message.header_mut().set_id(id);
    message.header_mut().set_rd(true);
    let mut message = message.question();
    let owner = WireName::from_slice(name.as_wire()).expect("a name is a name in wire form");
    message.push((owner, domain::base::Rtype::from_int(rtype.to_int())))?;
    let mut message = message.additional();
    message.opt(|opt| {
        opt.set_udp_payload_size(UDP_OCTETS_MAX);
        Ok(())
    })?;
    Ok(message.finish())
}

fn reply(message: &Message<[u8]>) -> Result<Reply, ParseError> {
    let (_, answer, authority, additional) = message.sections()?;
    Ok(Reply {
        rcode: message.opt_rcode().to_string(),
        flags: flags(message),
        truncated: message.header().tc(),
        answer: lines(answer)?,
        authority: lines(authority)?,
        additional: lines(additional)?,
    })
}

fn flags(message: &Message<[u8]>) -> Vec<&'static str> {
    let header = message.header();
    let all = [
        (header.qr(), "qr"),
        (header.aa(), "aa"),
        (header.tc(), "tc"),
        (header.rd(), "rd"),
        (header.ra(), "ra"),
        (header.ad(), "ad"),
        (header.cd(), "cd"),
    ];
    all.into_iter()
        .filter_map(|(set, flag)| set.then_some(flag))
        .collect()
}

fn lines(section: RecordSection<'_, [u8]>) -> Result<Vec<Line>, ParseError> {
    let about_the_message =
        |record: &ParsedRecord<'_, [u8]>| record.rtype() == domain::base::Rtype::OPT;
    section
        .filter(|record| !record.as_ref().is_ok_and(about_the_message))
        .map(|record| line(&record?))
        .collect()
}

fn line(record: &ParsedRecord<'_, [u8]>) -> Result<Line, ParseError> {
    Ok(Line {
        name: name(&record.owner()).to_string(),
        ttl: record.ttl().as_secs(),
        class: record.class().to_string(),
        rtype: Rtype::from_int(record.rtype().to_int()).to_string(),
        rdata: data(record)?,
    })
}

/// The data as a zone file has it; in the generic form where it is no zone data.
fn data(record: &ParsedRecord<'_, [u8]>) -> Result<String, ParseError> {
    let rtype = Rtype::from_int(record.rtype().to_int());
    let parsed = record.to_any_record::<AllRecordData<&[u8], ParsedName<&[u8]>>>()?;
    let mut wire = Vec::new();
    // Into a plain vector names are written out in full.
    parsed
        .data()
        .compose_rdata(&mut wire)
        .expect("a vector takes any length");
    if let Ok(data) = Rdata::from_wire(rtype, &wire) {
        return Ok(data.to_string());
    }
    let unknown = UnknownRecordData::from_octets(record.rtype(), wire);
    let unknown = unknown.expect("record data of a message is at most 65535 octets");
    Ok(unknown.display_zonefile(DisplayKind::Simple).to_string())
}

/// Any name of a message, in canonical form.
fn name(name: &impl ToName) -> Name {
    Name::from_wire(name.to_vec().as_slice()).expect("a parsed name is a name")
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line {
            name,
            ttl,
            class,
            rtype,
            rdata,
        } = self;
        write!(f, "{name} {ttl} {class} {rtype} {rdata}")
    }
}

#[cfg(test)]
mod tests;
