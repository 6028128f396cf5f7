//! The objects, in Kubernetes' vocabulary.
//!
//! One file per kind, as it is stored; [`condition`] with every condition type and reason;
//! [`well_known`] with every label, annotation, finalizer and field manager; [`parse`] with the way
//! from a spec to checked `dns` types or to a list of [`Problem`]s; [`decode`] for objects that do
//! not even have the right shape; [`crds`] for the definitions a cluster needs; [`foreign`] for the
//! kinds of others that we read.
//!
//! What this crate leaves to others: it decides nothing about an object beyond the object itself.
//! Whether a parent delegates, who came first, what a provider holds is judged in `reconcile`.

#![allow(
    clippy::duplicated_attributes,
    reason = "every printcolumn of a kind has a type and perhaps a priority of its own"
)]

mod cel;
pub mod condition;
pub mod crds;
pub mod decode;
pub mod dns_health_check_probe;
pub mod dns_policy;
pub mod dns_record;
pub mod domain_verification;
pub mod foreign;
pub mod go_duration;
pub mod health_check;
pub mod parse;
pub mod problem;
pub mod record;
pub mod review;
pub mod routing;
mod schema;
pub mod service_record;
pub mod well_known;
pub mod zone;
pub mod zone_ref;
pub mod zone_slice;

pub use condition::{Condition, ConditionType, Finding, Reason, Status};
pub use decode::{Decoded, Undecodable};
pub use dns_health_check_probe::DnsHealthCheckProbe;
pub use dns_policy::DnsPolicy;
pub use dns_record::DnsRecord;
pub use domain_verification::DomainVerification;
pub use problem::{FieldPath, Problem};
pub use record::Record;
pub use review::review;
pub use service_record::ServiceRecord;
pub use zone::Zone;
pub use zone_ref::{ZoneKey, ZoneRef};
pub use zone_slice::ZoneSlice;
