//! What is wrong with a zone although it can be served.
//!
//! Every finding is about one record set and is found by looking at that set and
//! the names it depends on, so that a caller who knows what changed asks for
//! those sets only. Of a routed set every member counts: each of them is somebody's answer.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use domain::rdata::ZoneRecordData;

use super::{Location, Zone};
use crate::{Name, Rdata, RdataError, RecordSet, Rtype, SetKey};

/// How many CNAMEs may follow one another before resolvers give up.
const ALIAS_CHAIN_MAX: usize = 8;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing; often meant so.
    Note,
    /// Works today, or for some.
    Warning,
    /// Names will not resolve, or servers will disagree.
    Error,
}

/// One thing wrong with a zone, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The set it is about.
    pub key: SetKey,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What can be wrong with a zone that can be served.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The apex has no NS set.
    #[error("the zone has no name servers (NS at its apex), so nobody can delegate to it")]
    NoNameServers,
    /// Data below a delegation or a DNAME is never answered.
    #[error("never answered: {cut} {rtype} hands over everything below it")]
    Occluded {
        /// Where the zone hands over.
        cut: Name,
        /// By NS or DNAME.
        rtype: Rtype,
    },
    /// NS, MX or SRV pointing at an alias (RFC 2181 §10.3).
    #[error(
        "points at {target}, which is a CNAME: {rtype} needs a name with addresses (RFC 2181 §10.3)"
    )]
    TargetIsAlias {
        /// The type that points.
        rtype: Rtype,
        /// What it points at.
        target: Name,
    },
    /// A target inside the zone that has no address.
    #[error("points at {target}, which has no A or AAAA record in this zone")]
    TargetMissing {
        /// The type that points.
        rtype: Rtype,
        /// What it points at.
        target: Name,
    },
    /// A CNAME that comes back to itself.
    #[error("the CNAME leads back to itself")]
    AliasLoop,
    /// More CNAMEs in a row than resolvers follow.
    #[error("more than {ALIAS_CHAIN_MAX} CNAMEs follow one another")]
    AliasChain,
    /// DS where nothing is delegated, or at the apex.
    #[error("DS belongs beside the NS records of a delegation")]
    StrayDs,
    /// An address that is not reachable from everywhere.
    #[error("{address} is {scope}")]
    Scope {
        /// The address.
        address: IpAddr,
        /// What kind of address it is.
        scope: &'static str,
    },
    /// Record data that breaks a rule of its type.
    #[error(transparent)]
    Data(#[from] RdataError),
}

impl Flaw {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Flaw::AliasLoop
            | Flaw::TargetIsAlias { .. }
            | Flaw::TargetMissing {
                rtype: Rtype::NS, ..
            }
            | Flaw::Data(_) => Severity::Error,
            Flaw::NoNameServers
            | Flaw::Occluded { .. }
            | Flaw::TargetMissing { .. }
            | Flaw::AliasChain
            | Flaw::StrayDs => Severity::Warning,
            Flaw::Scope { .. } => Severity::Note,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.flaw)
    }
}

impl Zone {
    /// Everything that is wrong with the zone, in canonical order of the names.
    pub fn check(&self) -> Vec<Finding> {
        let apex = SetKey::new(self.origin.clone(), Rtype::NS);
        let no_servers = (!self.sets.contains_key(&apex)).then_some(Flaw::NoNameServers);
        let zone = no_servers.map(|flaw| Finding { key: apex, flaw });
        zone.into_iter()
            .chain(self.sets.keys().flat_map(|key| self.check_at(key)))
            .collect()
    }

    /// What is wrong with one set; nothing if there is none.
    pub fn check_at(&self, key: &SetKey) -> Vec<Finding> {
        let Some(set) = self.sets.get(key) else {
            return Vec::new();
        };
        let mut flaws = Vec::new();
        flaws.extend(self.occlusion(key));
        flaws.extend(
            (key.rtype == Rtype::DS && !self.delegates(&key.name)).then_some(Flaw::StrayDs),
        );
        flaws.extend(self.alias_flaw(key, set));
        for data in all_data(set) {
            flaws.extend(data.check().err().map(Flaw::Data));
            flaws.extend(self.target_flaw(data));
            flaws.extend(scope_flaw(data));
        }
        flaws
            .into_iter()
            .map(|flaw| Finding {
                key: key.clone(),
                flaw,
            })
            .collect()
    }

    /// Glue, and what belongs to the parent's side of a cut, is answered; the rest is not.
    fn occlusion(&self, key: &SetKey) -> Option<Flaw> {
        let Location::Cut(cut) = self.locate(&key.name) else {
            return None;
        };
        let parent_side = key.name == cut.name
            && matches!(
                key.rtype,
                Rtype::NS | Rtype::DS | Rtype::NSEC | Rtype::RRSIG
            );
        let glue = matches!(key.rtype, Rtype::A | Rtype::AAAA)
            && self.sets.get(&cut).is_some_and(|ns| {
                ns.records()
                    .any(|(_, _, data)| data.target().as_ref() == Some(&key.name))
            });
        (!parent_side && !glue).then_some(Flaw::Occluded {
            cut: cut.name,
            rtype: cut.rtype,
        })
    }

    fn target_flaw(&self, data: &Rdata) -> Option<Flaw> {
        let rtype = data.rtype();
        if !matches!(rtype, Rtype::NS | Rtype::MX | Rtype::SRV) {
            return None;
        }
        let target = data
            .target()
            .filter(|target| !target.is_root() && target.is_at_or_below(&self.origin))?;
        let has = |rtype| self.sets.contains_key(&SetKey::new(target.clone(), rtype));
        if has(Rtype::CNAME) {
            return Some(Flaw::TargetIsAlias { rtype, target });
        }
        let addressed = has(Rtype::A) || has(Rtype::AAAA);
        let found = match self.locate(&target) {
            // Below a cut nothing is ours to answer but the addresses of name servers.
            Location::Cut(_) => addressed || rtype != Rtype::NS,
            Location::Here => addressed,
            Location::Wildcard(wildcard) => [Rtype::A, Rtype::AAAA].into_iter().any(|rtype| {
                self.sets
                    .contains_key(&SetKey::new(wildcard.clone(), rtype))
            }),
            Location::Nowhere => false,
        };
        (!found).then_some(Flaw::TargetMissing { rtype, target })
    }

    fn alias_flaw(&self, key: &SetKey, set: &RecordSet) -> Option<Flaw> {
        if key.rtype != Rtype::CNAME {
            return None;
        }
        // Where an answer may have got to after so many CNAMEs.
        let mut reached = targets(set);
        for _ in 0..ALIAS_CHAIN_MAX {
            if reached.contains(&key.name) {
                return Some(Flaw::AliasLoop);
            }
            let next = reached
                .into_iter()
                .filter_map(|name| self.sets.get(&SetKey::new(name, Rtype::CNAME)));
            reached = next.flat_map(targets).collect();
        }
        if reached.contains(&key.name) {
            return Some(Flaw::AliasLoop);
        }
        (!reached.is_empty()).then_some(Flaw::AliasChain)
    }
}

/// The data of a set, or of all members, each once.
fn all_data(set: &RecordSet) -> Vec<&Rdata> {
    let mut data: Vec<&Rdata> = set.records().map(|(_, _, data)| data).collect();
    data.sort_unstable();
    data.dedup();
    data
}

/// The names that a set leads to.
fn targets(set: &RecordSet) -> BTreeSet<Name> {
    let data = set.records().map(|(_, _, data)| data);
    data.filter_map(Rdata::target).collect()
}

fn scope_flaw(data: &Rdata) -> Option<Flaw> {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "only these two are addresses"
    )]
    let address = match data.typed() {
        ZoneRecordData::A(a) => IpAddr::V4(a.addr()),
        ZoneRecordData::Aaaa(aaaa) => IpAddr::V6(aaaa.addr()),
        _ => return None,
    };
    scope(address).map(|scope| Flaw::Scope { address, scope })
}

/// 100.64.0.0/10, which the standard library does not name yet.
fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0b1100_0000 == 64
}

/// What keeps an address from being reachable everywhere.
fn scope(address: IpAddr) -> Option<&'static str> {
    let rows: &[(bool, &str)] = match address {
        IpAddr::V4(v4) => &[
            (v4.is_unspecified(), "the unspecified address"),
            (v4.is_loopback(), "a loopback address"),
            (
                v4.is_link_local(),
                "a link-local address; cloud metadata services live there",
            ),
            (v4.is_private(), "a private address (RFC 1918)"),
            (
                is_shared(v4),
                "an address shared behind a provider's NAT (RFC 6598)",
            ),
            (
                v4.is_multicast() || v4.is_broadcast(),
                "a multicast or broadcast address",
            ),
        ],
        IpAddr::V6(v6) => &[
            (v6.is_unspecified(), "the unspecified address"),
            (v6.is_loopback(), "a loopback address"),
            (v6.is_unicast_link_local(), "a link-local address"),
            (v6.is_unique_local(), "a private address (RFC 4193)"),
            (v6.is_multicast(), "a multicast address"),
        ],
    };
    rows.iter()
        .find_map(|(applies, scope)| applies.then_some(*scope))
}
