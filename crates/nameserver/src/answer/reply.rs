//! What will be said, before it is written down: record sets in sections.

use std::borrow::Cow;

use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use domain::base::iana::{ExtendedErrorCode, OptRcode};

use super::query::Fault;

/// An answer as data. The sets are borrowed from the snapshot.
pub(super) struct Reply<'z> {
    pub(super) rcode: OptRcode,
    /// Whether the zone itself speaks, not the one above it.
    pub(super) authoritative: bool,
    pub(super) answer: Vec<Set<'z>>,
    pub(super) authority: Vec<Set<'z>>,
    pub(super) additional: Vec<Set<'z>>,
    /// How many sets at the start of the additional section the resolver cannot do without.
    pub(super) glue: usize,
    /// Whether sets were taken out that the resolver should come back for.
    pub(super) truncated: bool,
    /// The reason, for those who read it (RFC 8914).
    pub(super) reason: Option<ExtendedErrorCode>,
    /// How many leading bits of the client's address it depends on (RFC 7871 §7.2.1).
    pub(super) scope: u8,
}

/// Which section a set is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Section {
    Answer,
    Authority,
    Additional,
}

/// A record set under the name it is answered with, which for a wildcard is not its own.
pub(super) struct Set<'z> {
    pub(super) owner: Name,
    pub(super) ttl: Ttl,
    pub(super) data: Cow<'z, [Rdata]>,
}

impl<'z> Reply<'z> {
    /// Nothing found yet, and nothing wrong.
    pub(super) fn new() -> Reply<'z> {
        Reply {
            rcode: OptRcode::NOERROR,
            authoritative: true,
            answer: Vec::new(),
            authority: Vec::new(),
            additional: Vec::new(),
            glue: 0,
            truncated: false,
            reason: None,
            scope: 0,
        }
    }

    /// A code and nothing else.
    pub(super) fn error(rcode: OptRcode) -> Reply<'z> {
        Reply {
            rcode,
            authoritative: false,
            ..Reply::new()
        }
    }

    /// The reply to what is not looked up.
    pub(super) fn fault(fault: Fault) -> Reply<'z> {
        Reply::error(match fault {
            Fault::Format => OptRcode::FORMERR,
            Fault::NotImplemented => OptRcode::NOTIMP,
            Fault::Refused => OptRcode::REFUSED,
            Fault::Version => OptRcode::BADVERS,
            Fault::UnknownKey => OptRcode::NOTAUTH,
        })
    }

    /// The same with a reason.
    pub(super) fn because(self, reason: ExtendedErrorCode) -> Reply<'z> {
        Reply {
            reason: Some(reason),
            ..self
        }
    }

    /// The same, for clients whose addresses have so many leading bits in common.
    pub(super) fn within(self, scope: u8) -> Reply<'z> {
        Reply { scope, ..self }
    }

    /// The same from somebody who is no authority on it: on all classes at once nobody is (RFC 1035 §6.2). So nothing
    /// says for how long a name is not there, either.
    pub(super) fn without_authority(mut self) -> Reply<'z> {
        self.authoritative = false;
        self.authority
            .retain(|set| set.data[0].rtype() != Rtype::SOA);
        self
    }

    /// Takes out the set at `index` of a section and all that comes after it. Addresses that are merely convenient are
    /// not missed; anything else makes the answer a truncated one.
    pub(super) fn cut(&mut self, section: Section, index: usize) {
        self.truncated = match section {
            Section::Answer | Section::Authority => true,
            Section::Additional => index < self.glue,
        };
        match section {
            Section::Answer => {
                self.answer.truncate(index);
                self.authority.clear();
                self.additional.clear();
            }
            Section::Authority => {
                self.authority.truncate(index);
                self.additional.clear();
            }
            Section::Additional => self.additional.truncate(index),
        }
    }
}

impl<'z> Set<'z> {
    /// A set of a zone, answered under `owner`.
    pub(super) fn of(owner: &Name, set: &'z RecordSet) -> Set<'z> {
        Set {
            owner: owner.clone(),
            ttl: set.ttl(),
            data: Cow::Borrowed(set.data()),
        }
    }

    /// One record.
    pub(super) fn one(owner: &Name, ttl: Ttl, data: &'z Rdata) -> Set<'z> {
        Set {
            owner: owner.clone(),
            ttl,
            data: Cow::Borrowed(std::slice::from_ref(data)),
        }
    }

    /// A CNAME that no zone holds: what a DNAME means for one name (RFC 6672 §3.1).
    pub(super) fn synthesized(owner: &Name, ttl: Ttl, target: &Name) -> Set<'z> {
        let data = Rdata::from_wire(Rtype::CNAME, target.as_wire())
            .expect("a name that is not compressed is CNAME data");
        Set {
            owner: owner.clone(),
            ttl,
            data: Cow::Owned(vec![data]),
        }
    }
}
