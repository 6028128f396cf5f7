//! What is asked, as messages: questions, and batches as updates (RFC 2136). Pure.
//!
//! A change becomes a prerequisite, which is what it expects, and updates: the old set goes and the new one comes. All
//! that goes stands before all that comes, because a server that has a CNAME ignores other types at its name and the
//! reverse (RFC 2136 §3.4.2.2).

use dns::hosted::{Batch, Change, HostedSet};
use dns::limits::{Limits, Load, Ownership, RECORD_TYPES, RoutingLimits};
use dns::{Name, Rdata, Rtype, Ttl};
use domain::base::iana::{Class, Opcode, Rtype as Code};
use domain::base::message_builder::{
    AdditionalBuilder, MessageBuilder, PushError, QuestionBuilder, RecordSectionBuilder,
};
use domain::base::name::ToName as _;
use domain::base::rdata::UnknownRecordData;
use domain::base::{Message, Name as WireName, ParsedRecord, StreamTarget, Ttl as WireTtl};
use provider::Error;

use super::transfer::Content;

/// A message that lacks nothing but its signature. There is one for each connection, and it is signed: its id stays
/// zero, since nothing has to be told apart by it.
pub(super) type Request = AdditionalBuilder<Target>;

/// A message as it is sent over TCP.
pub(super) type Target = StreamTarget<Vec<u8>>;

/// The longest message that TCP carries (RFC 1035 §4.2.2).
const MESSAGE_OCTETS_MAX: usize = 65_535;

/// What a message has besides changes: a header of 12, the zone's name of up to 255 and 4 more, and a signature with a
/// key name of up to 255, an algorithm of 13, up to 64 of its own and 26 more. With a margin.
const ENVELOPE_OCTETS: usize = 1_024;

/// What a record has besides name and data: type, class, TTL and length.
const RECORD_OCTETS: usize = 10;

/// What a name server can hold, and what fits into one update.
pub(super) fn limits() -> Limits {
    Limits {
        types: &RECORD_TYPES,
        ttl_min: Ttl::ZERO,
        ttl_default: Ttl::from_secs(300).expect("five minutes are a TTL"),
        routing: RoutingLimits::default(),
        ownership: Ownership::Registry,
        batch_max: Load {
            count: usize::MAX,
            octets: MESSAGE_OCTETS_MAX - ENVELOPE_OCTETS,
        },
        load: |change| Load {
            count: 1,
            octets: octets_of(change),
        },
        atomic: true,
    }
}

/// A query for one type at the zone's own name.
pub(super) fn question(zone: &Name, rtype: Code) -> Request {
    ask(MessageBuilder::new_stream_vec(), zone, rtype).additional()
}

/// A query for what has changed since a version (RFC 1995 §3).
pub(super) fn differences_since(zone: &Name, last: &Content) -> Request {
    let mut known = ask(MessageBuilder::new_stream_vec(), zone, Code::IXFR).authority();
    let soa = Entry::new(zone, Rtype::SOA, Class::IN, Ttl::ZERO, last.soa().as_wire());
    soa.push_to(&mut known).expect("one record fits");
    known.additional()
}

/// A batch as one message (RFC 2136 §2), or why it can be none.
pub(super) fn update(zone: &Name, batch: &Batch) -> Result<Request, Error> {
    let too_large = |_: PushError| Error::Refused {
        reason: format!("the change does not fit into a message of {MESSAGE_OCTETS_MAX} octets"),
    };
    let sections = Sections::of(zone, batch)?;
    let mut message = MessageBuilder::new_stream_vec();
    message.header_mut().set_opcode(Opcode::UPDATE);
    // Room for the signature.
    message.set_push_limit(MESSAGE_OCTETS_MAX - ENVELOPE_OCTETS / 2);
    let mut message = ask(message, zone, Code::SOA).answer();
    for entry in &sections.prerequisites {
        entry.push_to(&mut message).map_err(too_large)?;
    }
    let mut message = message.authority();
    for entry in &sections.updates {
        entry.push_to(&mut message).map_err(too_large)?;
    }
    let mut message = message.additional();
    message.clear_push_limit();
    Ok(message)
}

/// Whether an answer to a query for its SOA proves that the server has the zone.
pub(super) fn proves(answer: &Message<Vec<u8>>, zone: &Name) -> bool {
    let is_soa = |record: &ParsedRecord<'_, Vec<u8>>| {
        record.rtype() == Code::SOA && record.owner().name_eq(&wire_name(zone))
    };
    let section = answer.answer().into_iter().flatten();
    answer.header().aa() && section.flatten().any(|record| is_soa(&record))
}

/// The two sections of an update that say something.
struct Sections<'a> {
    prerequisites: Vec<Entry<'a>>,
    updates: Vec<Entry<'a>>,
}

/// A record of an update. What it means depends on its class (RFC 2136 §2.4, §2.5).
struct Entry<'a> {
    name: &'a Name,
    rtype: Rtype,
    class: Class,
    ttl: Ttl,
    data: &'a [u8],
}

impl<'a> Sections<'a> {
    fn of(zone: &Name, batch: &'a Batch) -> Result<Sections<'a>, Error> {
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for change in &batch.changes {
            if change.key.name == *zone && change.key.rtype == Rtype::NS {
                come.extend(apex_name_servers(change)?);
                continue;
            }
            if change.before.is_some() {
                gone.push(whole_set(change, Class::ANY));
            }
            come.extend(added(change));
        }
        Ok(Sections {
            prerequisites: batch.changes.iter().flat_map(expected).collect(),
            updates: gone.into_iter().chain(come).collect(),
        })
    }
}

/// What must be there: exactly these records, or no set at all (RFC 2136 §2.4.2, §2.4.3). TTLs cannot be among it,
/// servers do not compare them (RFC 2136 §3.2.5): where somebody else has changed a TTL alone, it is overwritten.
fn expected(change: &Change) -> Vec<Entry<'_>> {
    match &change.before {
        Some(before) => {
            let data = data_of(before).iter();
            data.map(|data| one(change, Class::IN, data)).collect()
        }
        None => vec![whole_set(change, Class::NONE)],
    }
}

/// A zone always has name servers: an update that deletes all of them is ignored (RFC 2136 §3.4.2.3), and so is the
/// deletion of the last one (§3.4.2.4). So one of the old ones stays until the new ones have come. The others go and
/// come back, or else Knot would keep their TTL; a zone with a single name server keeps it there.
fn apex_name_servers(change: &Change) -> Result<Vec<Entry<'_>>, Error> {
    let Some(after) = &change.after else {
        let reason = "the name servers of the zone itself cannot be taken away".to_owned();
        return Err(Error::Refused { reason });
    };
    let gone = |data| one(change, Class::NONE, data);
    let before = change.before.as_ref().map_or(&[][..], data_of);
    let Some((last, others)) = before.split_last() else {
        return Ok(added(change));
    };
    let last = (!after.records.data().contains(last)).then(|| gone(last));
    let others = others.iter().map(gone);
    Ok(others.chain(added(change)).chain(last).collect())
}

fn added(change: &Change) -> Vec<Entry<'_>> {
    let Some(after) = &change.after else {
        return Vec::new();
    };
    let add = |data| Entry {
        ttl: after.records.ttl(),
        ..one(change, Class::IN, data)
    };
    data_of(after).iter().map(add).collect()
}

fn data_of(set: &HostedSet) -> &[Rdata] {
    set.records.data()
}

fn one<'a>(change: &'a Change, class: Class, data: &'a Rdata) -> Entry<'a> {
    let (name, rtype) = (&change.key.name, change.key.rtype);
    Entry::new(name, rtype, class, Ttl::ZERO, data.as_wire())
}

fn whole_set(change: &Change, class: Class) -> Entry<'_> {
    Entry::new(&change.key.name, change.key.rtype, class, Ttl::ZERO, &[])
}

/// What a change takes of a message at most.
fn octets_of(change: &Change) -> usize {
    let record = |data: &[u8]| change.key.name.as_wire().len() + RECORD_OCTETS + data.len();
    let records = |set: &Option<HostedSet>| {
        let data = set.iter().flat_map(data_of);
        data.map(|data| record(data.as_wire())).sum::<usize>()
    };
    let (before, after) = (records(&change.before), records(&change.after));
    // Those of the zone itself go one by one, and any may be those.
    let one_by_one = change.key.rtype == Rtype::NS;
    let gone = if one_by_one { before } else { 0 };
    // A prerequisite and a deletion without data, of which a change has at most both.
    2 * record(&[]) + before + gone + after
}

impl<'a> Entry<'a> {
    fn new(name: &'a Name, rtype: Rtype, class: Class, ttl: Ttl, data: &'a [u8]) -> Entry<'a> {
        Entry {
            name,
            rtype,
            class,
            ttl,
            data,
        }
    }

    fn push_to(&self, section: &mut impl RecordSectionBuilder<Target>) -> Result<(), PushError> {
        let code = Code::from_int(self.rtype.to_int());
        let data = UnknownRecordData::from_octets(code, self.data);
        let data = data.expect("record data is at most 65535 octets");
        let ttl = WireTtl::from_secs(self.ttl.as_secs());
        section.push((wire_name(self.name), self.class, ttl, data))
    }
}

fn ask(message: MessageBuilder<Target>, zone: &Name, rtype: Code) -> QuestionBuilder<Target> {
    let mut question = message.question();
    let pushed = question.push((wire_name(zone), rtype));
    pushed.expect("one question fits");
    question
}

fn wire_name(name: &Name) -> WireName<&[u8]> {
    WireName::from_octets(name.as_wire()).expect("a name is a name of the library")
}

#[cfg(test)]
mod tests;
