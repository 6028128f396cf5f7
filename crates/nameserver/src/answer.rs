//! From the octets of a query to the octets of its answer: pure, and the only place that decides what is answered.
//!
//! `query` reads what was asked, `resolve` walks the zones (RFC 1034 §4.3.2), `reply` is what it found, and `compose`
//! writes that down within the limit of the transport. Where the RFCs leave a choice, the answer is the one NSD gives
//! with minimal responses, and where NSD and Knot differ:
//!
//! - Chains of CNAME and DNAME are followed through all zones served here, as NSD does; Knot stays in one zone.
//! - ANY is answered with one record set, the one of the lowest type, as Knot does (RFC 8482 §4.1).
//! - The additional section has the addresses of NS targets that the same zone knows, in referrals and in answers to NS,
//!   where NSD and Knot agree. Targets of MX, SRV and the like are left to the resolver.
//! - A referral whose in-domain glue does not fit is truncated (RFC 9471 §3.1), as Knot does; other addresses are left out.
//! - What cannot be read gets FORMERR, as from NSD; records that are merely unexpected are passed over, as Knot does.
//! - Of a routed set an answer holds one member (`choose`). Where the zone hands over, at a cut or a DNAME, its default member
//!   counts for everyone.
//! - A client subnet (RFC 7871) counts instead of the address that the query came from. It is repeated with the part of it
//!   that the answer depends on: nothing, unless a place decided.
//! - A transfer is refused at the apex of a zone and not ours to give elsewhere; AXFR does not exist over UDP.

mod choose;
mod compose;
mod query;
mod reply;
mod resolve;

use std::net::IpAddr;

use domain::base::iana::{Class, ExtendedErrorCode, OptRcode, Rtype};
use rand::RngCore;

use crate::Zones;
use choose::Chooser;
use query::{Asked, Question};
use reply::Reply;

/// The longest answer we send over UDP, and the longest query we promise to take: what fits into an IPv6 packet of
/// 1280 octets, so that nothing is fragmented on the way (RFC 9715 §3.2).
pub const UDP_PAYLOAD_MAX: u16 = 1232;

/// What a resolver takes over UDP when it says nothing about it, or less (RFC 1035 §4.2.1, RFC 6891 §6.2.3).
const UDP_PAYLOAD_MIN: u16 = 512;

/// How a query came, and its answer will go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// In one datagram: at most [`UDP_PAYLOAD_MAX`] octets.
    Udp,
    /// In a stream: as long as a message can be.
    Tcp,
}

/// Who asks, as far as an answer may depend on it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Client {
    /// The address that the query came from.
    pub address: IpAddr,
    /// How it came.
    pub transport: Transport,
}

/// What became of a query, for those who count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The response code, with the bits that EDNS adds.
    pub rcode: OptRcode,
    /// Whether something had to be left out, so that the resolver comes back over TCP.
    pub truncated: bool,
}

/// Answers a query from a snapshot. The answer replaces what is in `buffer`, whose memory is used again. Only sets of which
/// an answer holds a part by chance draw from `chance`.
///
/// `None` is silence: the octets are too few to be a message, or it is an answer itself. The buffer is then empty.
pub fn answer(
    octets: &[u8],
    client: Client,
    zones: &Zones,
    chance: &mut dyn RngCore,
    buffer: &mut Vec<u8>,
) -> Option<Outcome> {
    buffer.clear();
    let asked = query::read(octets)?;
    let reply = match &asked.question {
        Ok(question) => {
            let whom = whom(&asked, client);
            let mut chooser = Chooser::new(whom, zones.places(), chance);
            let reply = decide(question, client.transport, zones, &mut chooser);
            reply.within(chooser.scope())
        }
        Err(fault) => Reply::fault(*fault),
    };
    Some(compose::compose(
        &asked,
        reply,
        limit(&asked, client.transport),
        buffer,
    ))
}

/// Whose place counts: that of the subnet, if one was told. A subnet of no bits asks not to look (RFC 7871 §7.1.2).
fn whom(asked: &Asked<'_>, client: Client) -> Option<IpAddr> {
    match asked.subnet {
        Some(subnet) => (subnet.source_prefix_len() > 0).then(|| subnet.addr()),
        None => Some(client.address.to_canonical()),
    }
}

/// What is answered from zones, and what is not.
fn decide<'z>(
    question: &Question,
    transport: Transport,
    zones: &'z Zones,
    chooser: &mut Chooser<'_>,
) -> Reply<'z> {
    if !matches!(question.class, Class::IN | Class::ANY) {
        return Reply::error(OptRcode::REFUSED);
    }
    match question.rtype {
        Rtype::AXFR if transport == Transport::Udp => Reply::error(OptRcode::NOTIMP),
        Rtype::AXFR | Rtype::IXFR if zones.get(&question.name).is_some() => {
            Reply::error(OptRcode::REFUSED).because(ExtendedErrorCode::PROHIBITED)
        }
        Rtype::AXFR | Rtype::IXFR => Reply::error(OptRcode::NOTAUTH),
        _ => {
            let reply = resolve::resolve(&question.name, question.rtype, zones, chooser);
            if question.class == Class::IN {
                reply
            } else {
                reply.without_authority()
            }
        }
    }
}

/// The most octets the answer may have.
fn limit(asked: &Asked<'_>, transport: Transport) -> usize {
    match (transport, &asked.edns) {
        (Transport::Tcp, _) => usize::from(u16::MAX),
        (Transport::Udp, None) => usize::from(UDP_PAYLOAD_MIN),
        (Transport::Udp, Some(edns)) => {
            usize::from(edns.payload.clamp(UDP_PAYLOAD_MIN, UDP_PAYLOAD_MAX))
        }
    }
}

#[cfg(test)]
mod tests;
