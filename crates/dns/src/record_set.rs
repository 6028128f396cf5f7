//! Record sets: all data of one name and type, with one TTL.
//!
//! A routed set has several members, each with data and TTL of its own, of which every answer holds one. To those who do not
//! care it is its default member: zone files, transfers and delegations look no further than [`RecordSet::data`].

mod member;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::routing::{Membership, Routing, SetIdentifier};
use crate::{Name, Rdata, Rtype, Ttl};

pub use member::Member;

/// The most octets a set may take in an answer: a message of 65535 octets less
/// the header, the longest question and an OPT record.
const SET_OCTETS_MAX: usize = 65_535 - 12 - 259 - 11;

/// The most members a routed set may have: every answer looks at all of them. Route 53 takes a hundred.
const MEMBERS_MAX: usize = 256;

/// What every record adds to its data in an answer: a compressed owner, type,
/// class, TTL and length.
const RECORD_OVERHEAD_OCTETS: usize = 12;

/// Which set of a zone: a name and a type, ordered by name first.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SetKey {
    /// The owner.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
}

impl SetKey {
    /// The key of `name` and `rtype`.
    pub fn new(name: Name, rtype: Rtype) -> SetKey {
        SetKey { name, rtype }
    }
}

impl fmt::Display for SetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.rtype)
    }
}

/// The data of one name and type: at least one record, no duplicates, one TTL.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RecordSet {
    ttl: Ttl,
    /// In canonical order, never empty, all of one type.
    data: Vec<Rdata>,
    /// Of a routed set, in the order of their identifiers, never empty. TTL and data above are the default member's. One
    /// pointer, since nearly all sets have none.
    members: Option<Arc<Vec<Member>>>,
}

/// Why records do not make a set.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordSetError {
    /// There are no records.
    #[error("a record set has at least one record")]
    Empty,
    /// Records of different types.
    #[error("a record set has one type, not both {0} and {1}")]
    Mixed(Rtype, Rtype),
    /// A type of which a name can have one record only.
    #[error("a name has at most one {0} record, here are {1}")]
    Single(Rtype, usize),
    /// `MX 0 .` beside other mail servers.
    #[error("the null MX \"0 .\" says that no mail is taken and stands alone (RFC 7505 §3)")]
    NullMx,
    /// More than an answer can carry.
    #[error("the set takes {octets} octets in an answer, at most {SET_OCTETS_MAX} fit")]
    TooLarge {
        /// How many it would take.
        octets: usize,
    },
    /// Records with routing and records without.
    #[error("a set is routed as a whole or not at all")]
    HalfRouted,
    /// One member with two kinds of routing.
    #[error("the records of member {0} have one weight and one place")]
    DifferingRouting(SetIdentifier),
    /// More members than an answer should have to look at.
    #[error("a routed set has at most {MEMBERS_MAX} members")]
    TooManyMembers,
}

impl RecordSet {
    /// Makes a set of records in any order; equal ones count once.
    ///
    /// Where TTLs differ the lowest is the set's (RFC 2181 §5.2): a caller whose
    /// TTL was higher sees it in [`RecordSet::ttl`].
    pub fn new(
        records: impl IntoIterator<Item = (Ttl, Rdata)>,
    ) -> Result<RecordSet, RecordSetError> {
        let (ttls, mut data): (Vec<Ttl>, Vec<Rdata>) = records.into_iter().unzip();
        data.sort_unstable();
        data.dedup();
        let ttl = ttls.into_iter().min().ok_or(RecordSetError::Empty)?;
        check_records(&data)?;
        Ok(RecordSet {
            ttl,
            data,
            members: None,
        })
    }

    /// Makes a set of records in any order: a routed one if they are members of one, a plain one if none is.
    pub fn assemble(
        records: impl IntoIterator<Item = (Option<Membership>, Ttl, Rdata)>,
    ) -> Result<RecordSet, RecordSetError> {
        let mut plain = Vec::new();
        let mut members = BTreeMap::<SetIdentifier, (Routing, Vec<(Ttl, Rdata)>)>::new();
        for (membership, ttl, data) in records {
            let Some(Membership {
                identifier,
                routing,
            }) = membership
            else {
                plain.push((ttl, data));
                continue;
            };
            let (known, records) = members
                .entry(identifier.clone())
                .or_insert_with(|| (routing.clone(), Vec::new()));
            if *known != routing {
                return Err(RecordSetError::DifferingRouting(identifier));
            }
            records.push((ttl, data));
        }
        match (plain.is_empty(), members.is_empty()) {
            (_, true) => RecordSet::new(plain),
            (true, false) => RecordSet::routed(members),
            (false, false) => Err(RecordSetError::HalfRouted),
        }
    }

    fn routed(
        members: BTreeMap<SetIdentifier, (Routing, Vec<(Ttl, Rdata)>)>,
    ) -> Result<RecordSet, RecordSetError> {
        RecordSet::check_members(members.len())?;
        let members = members
            .into_iter()
            .map(|(identifier, (routing, records))| {
                let membership = Membership {
                    identifier,
                    routing,
                };
                Ok(Member::new(membership, RecordSet::new(records)?))
            })
            .collect::<Result<Vec<Member>, RecordSetError>>()?;
        let default = member::default(&members).ok_or(RecordSetError::Empty)?;
        let (ttl, data) = (default.set().ttl, default.set().data.clone());
        let rtype = data[0].rtype();
        let mut types = members.iter().map(|member| member.set().rtype());
        if let Some(other) = types.find(|other| *other != rtype) {
            return Err(RecordSetError::Mixed(rtype, other));
        }
        Ok(RecordSet {
            ttl,
            data,
            members: Some(Arc::new(members)),
        })
    }

    /// Whether two types cannot stand at one name: a CNAME tolerates only the
    /// DNSSEC types that speak about it (RFC 1034 §3.6.2, RFC 4034 §§3, 4).
    pub fn types_exclude(one: Rtype, other: Rtype) -> bool {
        let alone = |rtype| rtype == Rtype::CNAME;
        let beside = |rtype| matches!(rtype, Rtype::RRSIG | Rtype::NSEC);
        one != other && (alone(one) && !beside(other) || alone(other) && !beside(one))
    }

    /// What one record adds to the octets of its set in an answer.
    pub fn octets_of(data: &Rdata) -> usize {
        RECORD_OVERHEAD_OCTETS + data.as_wire().len()
    }

    /// Whether a set of so many octets fits into an answer.
    pub fn check_octets(octets: usize) -> Result<(), RecordSetError> {
        if octets > SET_OCTETS_MAX {
            return Err(RecordSetError::TooLarge { octets });
        }
        Ok(())
    }

    /// Whether a routed set can have so many members.
    pub fn check_members(count: usize) -> Result<(), RecordSetError> {
        if count > MEMBERS_MAX {
            return Err(RecordSetError::TooManyMembers);
        }
        Ok(())
    }

    /// The set's one TTL; of a routed set its default member's.
    pub fn ttl(&self) -> Ttl {
        self.ttl
    }

    /// The set's type.
    pub fn rtype(&self) -> Rtype {
        self.data[0].rtype()
    }

    /// The data in canonical order (RFC 4034 §6.3); of a routed set its default member's.
    pub fn data(&self) -> &[Rdata] {
        &self.data
    }

    /// The members of a routed set in the order of their identifiers; a plain set has none.
    pub fn members(&self) -> &[Member] {
        self.members.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whatever an answer may hold: the set itself, or each member's records with which member that is.
    pub fn parts(&self) -> impl Iterator<Item = (Option<&Membership>, &RecordSet)> {
        let plain = self.members.is_none().then_some((None, self));
        let members = self.members().iter();
        let members = members.map(|member| (Some(member.membership()), member.set()));
        plain.into_iter().chain(members)
    }

    /// Every record of every part.
    pub fn records(&self) -> impl Iterator<Item = (Option<&Membership>, Ttl, &Rdata)> {
        self.parts().flat_map(|(membership, part)| {
            let data = part.data.iter();
            data.map(move |data| (membership, part.ttl, data))
        })
    }

    /// The number of records in all parts.
    pub fn record_count(&self) -> usize {
        self.parts().map(|(_, part)| part.data.len()).sum()
    }
}

fn check_records(data: &[Rdata]) -> Result<(), RecordSetError> {
    let rtype = data.first().ok_or(RecordSetError::Empty)?.rtype();
    if let Some(other) = data.iter().find(|data| data.rtype() != rtype) {
        return Err(RecordSetError::Mixed(rtype, other.rtype()));
    }
    if data.len() > 1 && matches!(rtype, Rtype::CNAME | Rtype::DNAME | Rtype::SOA) {
        return Err(RecordSetError::Single(rtype, data.len()));
    }
    if data.len() > 1 && rtype == Rtype::MX && data.iter().any(is_null_mx) {
        return Err(RecordSetError::NullMx);
    }
    RecordSet::check_octets(data.iter().map(RecordSet::octets_of).sum())
}

fn is_null_mx(data: &Rdata) -> bool {
    data.target().is_some_and(|target| target.is_root())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rtype: Rtype, records: &[(u32, &str)]) -> Result<RecordSet, RecordSetError> {
        RecordSet::new(records.iter().map(|(ttl, text)| {
            (
                Ttl::from_secs(*ttl).unwrap(),
                Rdata::parse(rtype, text, &Name::root()).unwrap(),
            )
        }))
    }

    #[test]
    fn order_and_duplicates_do_not_matter() {
        let one = set(
            Rtype::A,
            &[(60, "192.0.2.2"), (60, "192.0.2.1"), (60, "192.0.2.2")],
        )
        .unwrap();
        let two = set(Rtype::A, &[(60, "192.0.2.1"), (60, "192.0.2.2")]).unwrap();
        assert_eq!(one, two);
        assert_eq!(one.data().len(), 2);
    }

    /// R6, G33: the lowest TTL wins, zero included.
    #[test]
    fn the_lowest_ttl_wins() {
        for (ttls, lowest) in [
            ([300, 60], 60),
            ([60, 300], 60),
            ([0, 60], 0),
            ([60, 60], 60),
        ] {
            let set = set(Rtype::A, &[(ttls[0], "192.0.2.1"), (ttls[1], "192.0.2.2")]).unwrap();
            assert_eq!(set.ttl().as_secs(), lowest);
        }
    }

    /// G22, G24.
    #[test]
    fn sets_that_cannot_be_are_refused() {
        assert_eq!(set(Rtype::A, &[]), Err(RecordSetError::Empty));
        assert_eq!(
            set(Rtype::CNAME, &[(1, "a."), (1, "b.")]),
            Err(RecordSetError::Single(Rtype::CNAME, 2))
        );
        assert_eq!(
            set(Rtype::DNAME, &[(1, "a."), (1, "b.")]),
            Err(RecordSetError::Single(Rtype::DNAME, 2))
        );
        assert_eq!(
            set(Rtype::MX, &[(1, "0 ."), (1, "10 mx.example.")]),
            Err(RecordSetError::NullMx)
        );
        assert!(
            set(Rtype::CNAME, &[(1, "a."), (1, "A.")]).is_ok(),
            "one name in two spellings"
        );
        assert!(set(Rtype::MX, &[(1, "0 .")]).is_ok(), "a null MX alone");
    }

    /// G34: what no answer could carry is refused before it is published.
    #[test]
    fn a_set_fits_into_one_answer() {
        let addresses = |count: u32| {
            RecordSet::new((0..count).map(|number| {
                (
                    Ttl::ZERO,
                    Rdata::from_wire(Rtype::A, &number.to_be_bytes()).unwrap(),
                )
            }))
        };
        assert!(addresses(4_000).is_ok());
        assert_eq!(
            addresses(10_000),
            Err(RecordSetError::TooLarge { octets: 160_000 })
        );
        let text = |strings: usize| {
            let wire = [vec![255], vec![b'x'; 255]].concat().repeat(strings);
            RecordSet::new([(Ttl::ZERO, Rdata::from_wire(Rtype::TXT, &wire).unwrap())])
        };
        assert!(text(254).is_ok());
        assert!(matches!(text(255), Err(RecordSetError::TooLarge { .. })));
    }
}
