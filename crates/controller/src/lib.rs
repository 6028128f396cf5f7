//! The shell around a pure core.
//!
//! Watches feed a synchronous world, whose changed keys go into a queue; passes over keys are run, and what they
//! wrote is reported. What should happen is decided in `reconcile`; here it is done.
//!
//! ```text
//! feed ─► world ─► queue ─► pass ─► API      lease    who may write
//! (watches)        (due)                     events   what people are told
//!                                            metrics, health   what operators are told
//! ```
//!
//! Time comes from tokio's clock and [`Clock`], chance from a seed that is handed in: under a paused clock the same
//! seed gives the same run.

mod backoff;
mod clock;
mod controller;
mod desk;
mod dns_policies;
mod dns_records;
mod domains;
pub mod events;
pub mod feed;
pub mod health;
mod hosted_zone;
mod hosted_zones;
mod inbox;
pub mod lease;
pub mod metrics;
mod pass;
mod probes;
mod publishing;
pub mod queue;
mod running;
mod rush;
mod stopwatch;
mod surroundings;
mod tap;
mod write;

pub use backoff::Backoff;
pub use clock::Clock;
pub use controller::{Controller, NameServer, Options};
pub use dns_policies::{DnsPolicies, Options as DnsPolicyOptions};
pub use dns_records::{DnsRecords, Neighbour, Options as DnsRecordOptions};
pub use domains::{CustomDomains, Look, Options as DomainOptions};
pub use events::Recorder;
pub use feed::Feed;
pub use health::Health;
pub use hosted_zones::{Open, Opened};
pub use lease::Election;
pub use metrics::Metrics;
pub use probes::{Ask, Probes, Question};
pub use publishing::{Options as PublisherOptions, Publisher};
pub use queue::Queue;
pub use running::Running;
pub use surroundings::Surroundings;
