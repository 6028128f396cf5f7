//! Answers as octets: header, question, sections, OPT; within a limit, whole sets only.

use std::mem;

use domain::base::Name;
use domain::base::iana::{Class, OptRcode, TsigRcode};
use domain::base::message_builder::{
    AdditionalBuilder, HashCompressor, MessageBuilder, PushError, QuestionBuilder,
    RecordSectionBuilder,
};
use domain::base::opt::{ClientSubnet, ComposeOptData as _};
use domain::base::rdata::ParseRecordData as _;
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;
use domain::rdata::tsig::Tsig;

use super::query::{Asked, Edns};
use super::reply::{Reply, Section, Set};
use super::{Outcome, UDP_PAYLOAD_MAX};

/// An OPT record without options (RFC 6891 §6.1.2).
const OPT_OCTETS: usize = 11;

/// What stands in front of every option: its code and length.
const OPTION_OVERHEAD_OCTETS: usize = 4;

/// An option with a reason and no text (RFC 8914 §2).
const REASON_OCTETS: usize = 6;

type Target = HashCompressor<Vec<u8>>;

/// Writes a reply into `buffer`. What does not fit is left out, from the first set that does not.
pub(super) fn compose(
    asked: &Asked<'_>,
    mut reply: Reply<'_>,
    limit: usize,
    buffer: &mut Vec<u8>,
) -> Outcome {
    if let Err((section, index)) = write(asked, &reply, limit, buffer) {
        reply.cut(section, index);
        write(asked, &reply, limit, buffer).expect("what fitted once fits again");
    }
    Outcome {
        rcode: reply.rcode,
        truncated: reply.truncated,
    }
}

/// Writes all of a reply, or tells the first set that does not fit.
fn write(
    asked: &Asked<'_>,
    reply: &Reply<'_>,
    limit: usize,
    buffer: &mut Vec<u8>,
) -> Result<(), (Section, usize)> {
    let question = start(asked, reply, mem::take(buffer));
    let mut answer = question.answer();
    // The builder's limit is the first length it does not take.
    answer.set_push_limit(limit + 1 - trailer_octets(asked, reply));
    let mut full = push(&mut answer, &reply.answer).map_err(|index| (Section::Answer, index));
    let mut authority = answer.authority();
    full = full.and_then(|()| {
        push(&mut authority, &reply.authority).map_err(|index| (Section::Authority, index))
    });
    let mut additional = authority.additional();
    full = full.and_then(|()| {
        push(&mut additional, &reply.additional).map_err(|index| (Section::Additional, index))
    });
    additional.set_push_limit(limit + 1);
    finish(asked, reply, &mut additional);
    *buffer = additional.finish().into_target();
    full
}

/// The header and the question. Only RD is the resolver's to set (RFC 1035 §4.1.1): we offer no recursion and vouch for
/// nothing, and the bits that mean nothing stay zero (RFC 6895 §2.1).
fn start(asked: &Asked<'_>, reply: &Reply<'_>, buffer: Vec<u8>) -> QuestionBuilder<Target> {
    let mut builder = MessageBuilder::from_target(HashCompressor::new(buffer))
        .expect("a vector takes any length");
    let header = builder.header_mut();
    header.set_id(asked.header.id());
    header.set_qr(true);
    header.set_opcode(asked.header.opcode());
    header.set_aa(reply.authoritative);
    header.set_tc(reply.truncated);
    header.set_rd(asked.header.rd());
    header.set_rcode(reply.rcode.rcode());
    let mut question = builder.question();
    if let Some(echo) = &asked.echo {
        question.push(echo).expect("a vector takes any length");
    }
    question
}

/// Writes sets, or tells the first one that does not fit; a part of it may then have been written.
fn push(section: &mut impl RecordSectionBuilder<Target>, sets: &[Set<'_>]) -> Result<(), usize> {
    for (index, set) in sets.iter().enumerate() {
        push_set(section, set).map_err(|_| index)?;
    }
    Ok(())
}

fn push_set(
    section: &mut impl RecordSectionBuilder<Target>,
    set: &Set<'_>,
) -> Result<(), PushError> {
    let owner = Name::from_slice(set.owner.as_wire()).expect("a name has the form of a name");
    for data in set.data.iter() {
        let mut parser = Parser::from_ref(data.as_wire());
        let fields = ZoneRecordData::parse_rdata(data.rtype().to_int().into(), &mut parser)
            .expect("record data was checked when it was made")
            .expect("zone data has every type");
        section.push((owner, Class::IN, set.ttl.as_secs(), fields))?;
    }
    Ok(())
}

/// What comes after the sections and must have room.
fn trailer_octets(asked: &Asked<'_>, reply: &Reply<'_>) -> usize {
    if asked.edns.is_none() {
        return 0;
    }
    let reason = reply.reason.map_or(0, |_| REASON_OCTETS);
    let subnet = asked.subnet.map_or(0, |subnet| {
        OPTION_OVERHEAD_OCTETS + usize::from(subnet.compose_len())
    });
    OPT_OCTETS + reason + subnet
}

/// OPT and TSIG, for those who sent them.
fn finish(asked: &Asked<'_>, reply: &Reply<'_>, additional: &mut AdditionalBuilder<Target>) {
    if let Some(edns) = asked.edns {
        push_opt(edns, asked.subnet, reply, additional).expect("room was kept for OPT");
    }
    if let Some(signature) = &asked.tsig
        && reply.rcode == OptRcode::NOTAUTH
    {
        // Unsigned, since there is no key (RFC 8945 §5.3.2). The time is the asker's own.
        let asked = signature.data();
        let unknown = Tsig::new(
            asked.algorithm(),
            asked.time_signed(),
            asked.fudge(),
            &[][..],
            asked.original_id(),
            TsigRcode::BADKEY,
            &[][..],
        );
        if let Ok(unknown) = unknown {
            // A key with a name so long that it does not fit goes without.
            let _ = additional.push((signature.owner(), Class::ANY, 0, unknown));
        }
    }
}

fn push_opt(
    edns: Edns,
    subnet: Option<ClientSubnet>,
    reply: &Reply<'_>,
    additional: &mut AdditionalBuilder<Target>,
) -> Result<(), PushError> {
    additional.opt(|opt| {
        opt.set_udp_payload_size(UDP_PAYLOAD_MAX);
        opt.set_rcode(reply.rcode);
        opt.set_dnssec_ok(edns.dnssec_ok);
        if let Some(reason) = reply.reason {
            opt.extended_error::<&[u8]>(reason, None)
                .expect("a reason without text fits into an option");
        }
        if let Some(subnet) = subnet {
            let scoped = ClientSubnet::new(subnet.source_prefix_len(), reply.scope, subnet.addr());
            opt.push(&scoped)?;
        }
        Ok(())
    })
}
