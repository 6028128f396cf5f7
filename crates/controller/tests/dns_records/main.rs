//! DNSRecords from manifest to provider and back, minute by minute.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod lifecycle;
mod stage;
