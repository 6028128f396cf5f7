//! The hash of a zone's content, updated in the size of the change.
//!
//! Every record is hashed on its own to 1024 numbers of 16 bits; a zone's sum is
//! the sum of these vectors, and its hash a hash of the sum. Adding or removing
//! a record adds or subtracts one vector, so the value depends on the content
//! alone: not on order, not on history, not on how it is cut into pieces. This
//! construction is LtHash (Bellare and Micciancio, 1997; Lewi et al., 2019),
//! whose collisions are as hard as a lattice problem of well over 128 bit; a
//! plain sum of short hashes would not be (Wagner, 2002).
//!
//! `docs/reference/hash.md` defines the value for other implementations.

use std::fmt;

use crate::routing::Membership;
use crate::{Name, Rdata, RecordSet, Rtype, Serial, SetKey, Soa, Ttl};

/// Lanes of the sum: 1024 of 16 bits are LtHash's parameters for 200 bit of security.
const LANES: usize = 1024;
/// Separates a record's hash from every other use of BLAKE3.
const RECORD_CONTEXT: &str = "zonewright 2026-11 zone hash v1 record";
/// Separates the hash of a sum from every other use of BLAKE3.
const SUM_CONTEXT: &str = "zonewright 2026-11 zone hash v1 sum";
const CLASS_IN: u16 = 1;

/// The hash of a zone's content: 256 bits, printed as 64 hex digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ZoneHash([u8; 32]);

impl fmt::Display for ZoneHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for ZoneHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The sum over a set of records, to which records are added and from which
/// they are taken away.
#[derive(Clone, Eq, PartialEq)]
pub struct Accumulator(Box<[u16; LANES]>);

impl Accumulator {
    /// The sum over no records.
    pub fn new() -> Accumulator {
        Accumulator(Box::new([0; LANES]))
    }

    /// Adds every record of a set.
    pub fn add(&mut self, key: &SetKey, set: &RecordSet) {
        self.each(key, set, u16::wrapping_add);
    }

    /// Takes away every record of a set that was added before.
    pub fn remove(&mut self, key: &SetKey, set: &RecordSet) {
        self.each(key, set, u16::wrapping_sub);
    }

    /// The hash of the records together with the zone's origin and SOA, the
    /// serial being left out: it follows the hash.
    pub fn finish(&self, origin: &Name, soa: &Soa) -> ZoneHash {
        let mut sum = self.clone();
        let record = (None, soa.ttl, &soa.rdata(Serial(0)));
        sum.record(origin, record, u16::wrapping_add);
        let mut hasher = blake3::Hasher::new_derive_key(SUM_CONTEXT);
        for lane in sum.0.iter() {
            hasher.update(&lane.to_le_bytes());
        }
        ZoneHash(*hasher.finalize().as_bytes())
    }

    fn each(&mut self, key: &SetKey, set: &RecordSet, combine: fn(u16, u16) -> u16) {
        for record in set.records() {
            self.record(&key.name, record, combine);
        }
    }

    fn record(
        &mut self,
        owner: &Name,
        (membership, ttl, data): (Option<&Membership>, Ttl, &Rdata),
        combine: fn(u16, u16) -> u16,
    ) {
        let mut hasher = blake3::Hasher::new_derive_key(RECORD_CONTEXT);
        hasher.update(owner.as_wire());
        hasher.update(&fixed_fields(data.rtype(), ttl, data.as_wire().len()));
        hasher.update(data.as_wire());
        // A record ends where its length says: nothing plain is hashed like something routed.
        if let Some(membership) = membership {
            hasher.update(membership.to_string().as_bytes());
        }
        let mut vector = [0; LANES * 2];
        hasher.finalize_xof().fill(&mut vector);
        for (lane, octets) in self.0.iter_mut().zip(vector.as_chunks::<2>().0) {
            *lane = combine(*lane, u16::from_le_bytes(*octets));
        }
    }
}

impl Default for Accumulator {
    fn default() -> Accumulator {
        Accumulator::new()
    }
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accumulator(…)")
    }
}

/// Type, class, TTL and length of a record on the wire (RFC 1035 §3.2.1).
fn fixed_fields(rtype: Rtype, ttl: Ttl, rdata_octets: usize) -> [u8; 10] {
    let mut fields = [0; 10];
    fields[..2].copy_from_slice(&rtype.to_int().to_be_bytes());
    fields[2..4].copy_from_slice(&CLASS_IN.to_be_bytes());
    fields[4..8].copy_from_slice(&ttl.as_secs().to_be_bytes());
    let length = u16::try_from(rdata_octets).expect("record data is at most 65535 octets");
    fields[8..].copy_from_slice(&length.to_be_bytes());
    fields
}
