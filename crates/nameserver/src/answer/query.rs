//! Queries: what the octets ask, and what is wrong with them.
//!
//! Whatever can be said about a message is read into [`Asked`], so that even the answer to a broken one has the right
//! number, and its question and EDNS where they were readable. No octets make this panic, and none make it work for
//! longer than their length: names are followed through a bounded number of pointers, records are few.

use dns::Name;
use domain::base::iana::{Class, Opcode, Rtype};
use domain::base::name::ParsedName;
use domain::base::opt::{ClientSubnet, Opt, OptRecord};
use domain::base::{Header, Message, ParsedRecord, Record};
use domain::rdata::tsig::Tsig;

/// The most records a query may carry beside its question. OPT, TSIG and the SOA of an IXFR are three; whoever sends
/// more than a few wants us to follow names through them.
const RECORDS_MAX: usize = 8;

/// What follows the name in a question.
const TYPE_AND_CLASS_OCTETS: usize = 4;

/// The version of EDNS that there is (RFC 6891).
const EDNS_VERSION: u8 = 0;

/// A message that deserves an answer.
pub(super) struct Asked<'a> {
    pub(super) header: Header,
    /// The question as it came, to be repeated in the answer; absent where it was not readable.
    pub(super) echo: Option<domain::base::Question<ParsedName<&'a [u8]>>>,
    /// What the resolver can do; absent where it said nothing, or nothing readable.
    pub(super) edns: Option<Edns>,
    /// The network that the question is asked for (RFC 7871), where that is told.
    pub(super) subnet: Option<ClientSubnet>,
    /// The signature, which nobody here can check.
    pub(super) tsig: Option<Signature<'a>>,
    /// What to answer, or why there is nothing to look up.
    pub(super) question: Result<Question, Fault>,
}

/// What is asked.
pub(super) struct Question {
    pub(super) name: Name,
    pub(super) rtype: Rtype,
    pub(super) class: Class,
}

/// What a resolver says about itself (RFC 6891 §6.1.3).
#[derive(Clone, Copy)]
pub(super) struct Edns {
    /// The longest datagram it takes.
    pub(super) payload: u16,
    /// Whether it wants DNSSEC records.
    pub(super) dnssec_ok: bool,
}

/// A TSIG record (RFC 8945).
pub(super) type Signature<'a> = Record<ParsedName<&'a [u8]>, Tsig<&'a [u8], ParsedName<&'a [u8]>>>;

/// Why a message is not looked up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// It breaks the rules of the format.
    Format,
    /// It asks for something we do not do.
    NotImplemented,
    /// It asks for something we do not do for strangers.
    Refused,
    /// It speaks an EDNS that does not exist yet.
    Version,
    /// It is signed with a key we do not have.
    UnknownKey,
}

/// Reads a message. `None` if it is too short to have a number, or if it is an answer: answering one could go on for ever.
pub(super) fn read(octets: &[u8]) -> Option<Asked<'_>> {
    let message = Message::from_slice(octets).ok()?;
    let header = message.header();
    if header.qr() {
        return None;
    }
    let mut asked = Asked {
        header,
        echo: None,
        edns: None,
        subnet: None,
        tsig: None,
        question: Err(Fault::Format),
    };
    asked.question = match header.opcode() {
        Opcode::QUERY => asked.take(message),
        Opcode::NOTIFY => Err(Fault::Refused),
        _ => Err(Fault::NotImplemented),
    };
    Some(asked)
}

impl<'a> Asked<'a> {
    fn take(&mut self, message: &'a Message<[u8]>) -> Result<Question, Fault> {
        let question = self.take_question(message);
        // EDNS goes back even if there was not one question, as long as it can be found.
        let opt = self.take_records(message);
        let (question, opt) = (question?, opt?);
        if self.tsig.is_some() {
            return Err(Fault::UnknownKey);
        }
        let Some(opt) = opt else {
            return Ok(question);
        };
        if opt.version() != EDNS_VERSION {
            return Err(Fault::Version);
        }
        self.subnet = read_subnet(&opt)?;
        Ok(question)
    }

    /// The one question there may be. Nothing stands in front of its name that it could point at: a pointer is a fault.
    fn take_question(&mut self, message: &'a Message<[u8]>) -> Result<Question, Fault> {
        if message.header_counts().qdcount() != 1 {
            return Err(Fault::Format);
        }
        let mut section = message.question();
        let start = section.pos();
        let echo = section.next().and_then(Result::ok).ok_or(Fault::Format)?;
        let wire = &message.as_slice()[start..section.pos() - TYPE_AND_CLASS_OCTETS];
        let question = Question {
            name: Name::from_wire(wire).map_err(|_| Fault::Format)?,
            rtype: echo.qtype(),
            class: echo.qclass(),
        };
        self.echo = Some(echo);
        Ok(question)
    }

    /// Looks for OPT and TSIG. Other records are passed over.
    fn take_records(
        &mut self,
        message: &'a Message<[u8]>,
    ) -> Result<Option<OptRecord<&'a [u8]>>, Fault> {
        let counts = message.header_counts();
        let counts = [counts.ancount(), counts.nscount(), counts.arcount()];
        if counts.into_iter().map(usize::from).sum::<usize>() > RECORDS_MAX {
            return Err(Fault::Format);
        }
        let (_, answer, authority, additional) = message.sections().map_err(|_| Fault::Format)?;
        for record in answer.chain(authority) {
            if is_pseudo(&record.map_err(|_| Fault::Format)?) {
                return Err(Fault::Format);
            }
        }
        let mut opt = None;
        for record in additional {
            let record = record.map_err(|_| Fault::Format)?;
            // TSIG comes last (RFC 8945 §5.1), OPT comes once (RFC 6891 §6.1.1).
            if self.tsig.is_some() || record.rtype() == Rtype::OPT && opt.is_some() {
                return Err(Fault::Format);
            }
            match record.rtype() {
                Rtype::OPT => opt = Some(read_opt(record)?),
                Rtype::TSIG => self.tsig = Some(read_tsig(record)?),
                _ => {}
            }
        }
        self.edns = opt.as_ref().map(|opt| Edns {
            payload: opt.udp_payload_size(),
            dnssec_ok: opt.dnssec_ok(),
        });
        Ok(opt)
    }
}

/// Whether a record is about the message and belongs into the additional section.
fn is_pseudo(record: &ParsedRecord<'_, [u8]>) -> bool {
    matches!(record.rtype(), Rtype::OPT | Rtype::TSIG)
}

/// An OPT record stands at the root (RFC 6891 §6.1.2), and its options fill it. What most of them say is not looked at.
fn read_opt(record: ParsedRecord<'_, [u8]>) -> Result<OptRecord<&[u8]>, Fault> {
    if !record.owner().is_root() {
        return Err(Fault::Format);
    }
    let record = record.into_record::<Opt<_>>();
    record
        .ok()
        .flatten()
        .map(OptRecord::from)
        .ok_or(Fault::Format)
}

/// The one subnet there may be. In a query nothing is in its scope yet (RFC 7871 §6), and one that cannot be read is a fault
/// (§7.2.1).
fn read_subnet(opt: &OptRecord<&[u8]>) -> Result<Option<ClientSubnet>, Fault> {
    let mut subnets = opt.opt().iter::<ClientSubnet>();
    match (subnets.next(), subnets.next()) {
        (None, _) => Ok(None),
        (Some(Ok(subnet)), None) if subnet.scope_prefix_len() == 0 => Ok(Some(subnet)),
        (Some(_), _) => Err(Fault::Format),
    }
}

fn read_tsig(record: ParsedRecord<'_, [u8]>) -> Result<Signature<'_>, Fault> {
    let record = record.into_record::<Tsig<_, _>>();
    record.ok().flatten().ok_or(Fault::Format)
}
