//! What should happen: every watched object, indexed, and what follows from all of them for each.
//!
//! [`World`] takes objects as they are watched and says which keys are touched: the objects for which something else
//! holds now. Its indexes make a change cost what it touches; nothing is ever listed. A pass over a key is a view of
//! it ([`ZoneView`], [`RecordView`]), a decision made of the view alone, and a status concluded from both.
//!
//! Everything here is pure: no I/O, no clock, no chance. The same history gives the same world on every machine, and
//! where two histories end with the same objects, the same views.
//!
//! What it leaves to others: reading specs (`api::parse`), what a zone may hold (`dns`), and doing anything
//! (`controller`).

pub mod dns_policy;
pub mod dns_record;
pub mod domains;
mod finding;
pub mod gateway;
pub mod gateways;
pub mod hosted;
pub mod hosting;
mod key;
pub mod probe;
pub mod probing;
pub mod publishing;
pub mod record;
pub mod slice;
pub mod world;
pub mod zone;

pub use gateways::Gateways;
pub use hosting::Hosting;
pub use key::{
    Age, DnsRecordKey, GatewayKey, Key, Label, ObjectKey, PolicyKey, ProbeKey, RecordKey, SecretKey,
};
pub use record::RecordView;
pub use world::{Authority, Consequences, Policy, World};
pub use zone::ZoneView;
