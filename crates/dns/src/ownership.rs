//! Whose a record set is: the registry that lies beside the sets, in TXT records.
//!
//! A provider's zone has many writers, and DNS has no place for their names. So each writer puts a mark beside every set
//! that it has a part in: a TXT record whose name says which set, and whose data says who. The form is the one that
//! Kuadrant's operator writes, octet by octet, for its clusters may share a zone with ours; marks of its older versions and
//! of external-dns are read, and left alone.
//!
//! ```text
//! kuadrant-<hash of the owner>-<type>-<name>  TXT  "heritage=external-dns,external-dns/owner=<owner>,external-dns/version=1"
//! ```
//!
//! A mark whose name would be too long, or would be taken for another's, stands at the zone's apex instead, with a hash in
//! place of the name. What may be done with a set, given whose it is, is decided in [`crate::plan`].

mod hash;
pub(crate) mod mark;
mod registry;

use std::fmt;

use crate::hosted::Share;

pub use hash::{hash36, short_hash36};
pub use mark::{Dialect, Mark, MarkError};
pub use registry::{Inventory, Owners};

/// How many characters of a hash stand for an owner.
const OWNER_CHARS: usize = 8;

/// Who writes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Owner {
    /// Who, among all that write to the zone.
    pub id: OwnerId,
    /// The object, for providers that keep shares apart.
    pub share: Share,
}

/// The name of a writer.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OwnerId(String);

impl OwnerId {
    /// An id that was chosen.
    pub fn new(id: impl Into<String>) -> OwnerId {
        OwnerId(id.into())
    }

    /// The id of an object that has not chosen one.
    pub fn of_uid(uid: &str) -> OwnerId {
        OwnerId(short_hash36(uid, OWNER_CHARS))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
