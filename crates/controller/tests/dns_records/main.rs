//! DNSRecords from manifest to provider and back, minute by minute.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod both;
mod discovery;
mod health;
mod lifecycle;
mod log;
mod secrets;
mod south;
mod stage;
mod withdrawal;
mod zones;

#[path = "../embedded/weather.rs"]
#[allow(dead_code, reason = "shared with the tests of the loop over Zones")]
mod weather;
