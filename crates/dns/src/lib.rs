//! What DNS is, and nothing else: names, record data, record sets, zones and
//! their invariants, serial arithmetic, zone files, diffs, delegation rules; what
//! providers hold, whose it is, and what to change there.
//!
//! Everything here is pure. There is no I/O, no clock and no chance: the same
//! arguments give the same value on every machine and in every order. Types and
//! codecs come from the `domain` library; this crate adds what a control plane
//! needs on top of them: one canonical form, refusals that name the rule, and
//! containers whose hash and diff cost what changed.
//!
//! What it leaves to others: Kubernetes objects (`api`), what ought to happen
//! (`reconcile`), and sockets (`nameserver`).

pub mod delegation;
mod diff;
pub mod guard;
mod hash;
pub mod hosted;
pub mod limits;
mod name;
pub mod ownership;
pub mod plan;
mod public_suffix;
mod rdata;
mod record_set;
pub mod routing;
mod rtype;
mod serial;
mod soa;
mod ttl;
mod version;
mod zone;
pub mod zonefile;

pub use diff::{ApplyError, Change, Diff};
pub use hash::{Accumulator, ZoneHash};
pub use name::{DomainName, Name, NameError, RelativeName, host_name};
pub use public_suffix::PublicSuffix;
pub use rdata::{Rdata, RdataError, RdataText};
pub use record_set::{Member, RecordSet, RecordSetError, SetKey};
pub use rtype::{Rtype, RtypeError};
pub use serial::Serial;
pub use soa::Soa;
pub use ttl::{Ttl, TtlError};
pub use version::{Publication, Sighting, Version};
pub use zone::{Finding, Flaw, Location, Refusal, Severity, Zone};
