//! Zones at a provider, with many records, with faults, with neighbours: what is written there, and how seldom.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clusters;
mod cost;
mod crash;
mod faults;
mod guard;
mod house;
mod neighbours;
#[path = "../dns_records/stage.rs"]
#[allow(dead_code, reason = "shared with the tests of DNSRecords")]
mod stage;
