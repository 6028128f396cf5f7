//! Questions and answers: the library's messages on the wire, the project's names inside.
//!
//! An answer keeps what a look is about: texts, aliases, name servers and addresses of the Internet. What they mean is not
//! known here.

use std::net::IpAddr;

use dns::{Name, Rtype};
use domain::base::iana::{Class, Opcode, OptRcode};
use domain::base::message::RecordSection;
use domain::base::message_builder::PushError;
use domain::base::name::{ParsedName, ToName};
use domain::base::record::ParsedRecord;
use domain::base::wire::ParseError;
use domain::base::{Message, MessageBuilder, Name as WireName, Rtype as WireRtype};
use domain::rdata::{A, Aaaa, Cname, Ns, Txt};

use crate::fault::Fault;

/// The longest answer over UDP: what passes every path in one piece (DNS Flag Day 2020).
const UDP_OCTETS_MAX: u16 = 1232;

/// The largest referral there is has some forty records, and a domain with a hundred texts needs to be tidied up. Ten
/// times that.
const RECORDS_MAX: usize = 1000;

/// What is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Question {
    pub(crate) name: Name,
    pub(crate) rtype: Rtype,
    /// Whether others are to be asked on our behalf.
    pub(crate) recursive: bool,
}

/// What is answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Answer {
    /// Whether the server speaks for the zone.
    pub(crate) authoritative: bool,
    /// Whether it asks others on our behalf.
    pub(crate) recursive: bool,
    pub(crate) code: Code,
    pub(crate) records: Vec<Record>,
    pub(crate) authority: Vec<Record>,
    pub(crate) additional: Vec<Record>,
}

/// How it went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Code {
    NoError,
    NxDomain,
    /// Anything else, as people write it.
    Other(String),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Record {
    pub(crate) owner: Name,
    pub(crate) data: Data,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Data {
    /// The strings of one record, joined as SPF and everybody since does (RFC 7208 §3.3).
    Text(Vec<u8>),
    Alias(Name),
    Server(Name),
    Address(IpAddr),
}

/// What came back.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Reply {
    Whole(Answer),
    /// There is more than fitted.
    Truncated,
}

/// A message that is no answer to our question, whoever sent it.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Stranger;

impl Question {
    /// A question to somebody who should know.
    pub(crate) fn new(name: Name, rtype: Rtype) -> Question {
        Question {
            name,
            rtype,
            recursive: false,
        }
    }

    /// The question on the wire.
    pub(crate) fn compose(&self, id: u16) -> Vec<u8> {
        self.try_compose(id)
            .expect("a question fits into every message")
    }

    fn try_compose(&self, id: u16) -> Result<Vec<u8>, PushError> {
        let mut message = MessageBuilder::new_vec();
        message.header_mut().set_id(id);
        message.header_mut().set_rd(self.recursive);
        let mut message = message.question();
        let name = WireName::from_slice(self.name.as_wire()).expect("a name is one in wire form");
        message.push((name, WireRtype::from_int(self.rtype.to_int())))?;
        let mut message = message.additional();
        message.opt(|opt| {
            opt.set_udp_payload_size(UDP_OCTETS_MAX);
            Ok(())
        })?;
        Ok(message.finish())
    }

    /// Reads the answer to this question and no other.
    pub(crate) fn read(&self, id: u16, octets: &[u8]) -> Result<Result<Reply, Fault>, Stranger> {
        let message = Message::from_slice(octets).map_err(|_| Stranger)?;
        let header = message.header();
        let is_ours = header.id() == id && header.qr() && header.opcode() == Opcode::QUERY;
        if !is_ours || !self.is_repeated_in(message) {
            return Err(Stranger);
        }
        if header.tc() {
            return Ok(Ok(Reply::Truncated));
        }
        Ok(answer(message).map(Reply::Whole))
    }

    /// Whether a message carries our question. A server that could not read it leaves it out.
    fn is_repeated_in(&self, message: &Message<[u8]>) -> bool {
        if message.header_counts().qdcount() == 0 {
            return message.is_error();
        }
        message.sole_question().is_ok_and(|question| {
            name(question.qname()) == self.name
                && question.qtype().to_int() == self.rtype.to_int()
                && question.qclass() == Class::IN
        })
    }
}

impl Answer {
    /// The name that `name` is an alias of; an alias of several names is no alias.
    pub(crate) fn alias(&self, name: &Name) -> Result<Option<&Name>, Fault> {
        let mut targets = self.records.iter().filter_map(|record| match &record.data {
            Data::Alias(target) if record.owner == *name => Some(target),
            Data::Alias(_) | Data::Text(_) | Data::Server(_) | Data::Address(_) => None,
        });
        let target = targets.next();
        if targets.any(|other| Some(other) != target) {
            return Err(Fault::Garbage);
        }
        Ok(target)
    }
}

fn answer(message: &Message<[u8]>) -> Result<Answer, Fault> {
    let (_, answer, authority, additional) = message.sections().map_err(garbage)?;
    let mut left = RECORDS_MAX;
    Ok(Answer {
        authoritative: message.header().aa(),
        recursive: message.header().ra(),
        code: match message.opt_rcode() {
            OptRcode::NOERROR => Code::NoError,
            OptRcode::NXDOMAIN => Code::NxDomain,
            other => Code::Other(other.to_string()),
        },
        records: records(answer, &mut left)?,
        authority: records(authority, &mut left)?,
        additional: records(additional, &mut left)?,
    })
}

fn records(section: RecordSection<'_, [u8]>, left: &mut usize) -> Result<Vec<Record>, Fault> {
    let mut records = Vec::new();
    for record in section {
        *left = left.checked_sub(1).ok_or(Fault::Crowded(RECORDS_MAX))?;
        records.extend(self::record(&record.map_err(garbage)?).map_err(garbage)?);
    }
    Ok(records)
}

fn record(record: &ParsedRecord<'_, [u8]>) -> Result<Option<Record>, ParseError> {
    if record.class() != Class::IN {
        return Ok(None);
    }
    let owner = name(&record.owner());
    Ok(data(record)?.map(|data| Record { owner, data }))
}

fn data(record: &ParsedRecord<'_, [u8]>) -> Result<Option<Data>, ParseError> {
    Ok(match record.rtype() {
        WireRtype::TXT => record
            .to_record::<Txt<&[u8]>>()?
            .map(|it| Data::Text(it.data().text())),
        WireRtype::CNAME => record
            .to_record::<Cname<ParsedName<&[u8]>>>()?
            .map(|it| Data::Alias(name(it.data().cname()))),
        WireRtype::NS => record
            .to_record::<Ns<ParsedName<&[u8]>>>()?
            .map(|it| Data::Server(name(it.data().nsdname()))),
        WireRtype::A => record
            .to_record::<A>()?
            .map(|it| Data::Address(it.data().addr().into())),
        WireRtype::AAAA => record
            .to_record::<Aaaa>()?
            .map(|it| Data::Address(it.data().addr().into())),
        _ => None,
    })
}

/// Any name of a message, in canonical form.
fn name(name: &impl ToName) -> Name {
    Name::from_wire(name.to_vec().as_slice()).expect("a parsed name is a name")
}

fn garbage(_: ParseError) -> Fault {
    Fault::Garbage
}

#[cfg(test)]
mod tests;
