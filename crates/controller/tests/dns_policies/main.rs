//! DNSPolicies on Gateways, with the DNSRecords that are made from them, minute by minute.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod both;
mod embedded;
mod stage;
