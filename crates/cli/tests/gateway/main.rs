//! DNSPolicies and DNSRecords from `zonewright up` to the answers of its name server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod changes;
mod places;
mod stage;
