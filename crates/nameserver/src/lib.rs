//! An authoritative DNS server over versions of zones.
//!
//! [`answer()`] is the server's judgement: a pure function from a query, a snapshot of [`Zones`] and a source of chance to
//! the octets of the answer. [`Server`] gives it sockets, takes publications, and tells what was seen in answers. Beside that, and never in
//! the way of a query, it keeps the last good version of every zone on disk.
//!
//! What it leaves to others: what zones say and how serials grow (`dns` and those who publish), Kubernetes (it has never
//! heard of it), and how its [`Counters`] are shown. It does not recurse, and it hands no zone to strangers.

mod answer;
mod counters;
mod places;
mod server;
mod store;
mod zones;

pub use answer::{Client, Outcome, Transport, UDP_PAYLOAD_MAX, answer};
pub use counters::{Counters, Counts, Traffic};
pub use places::{Places, PlacesError};
pub use server::{Limits, OpenError, Options, Server};
pub use store::StoreError;
pub use zones::Zones;
