//! Amazon Route 53: every behaviour of the contract on a double that keeps its rules, most of them on moto, what goes
//! wrong, and that the double speaks as moto does.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

mod faults;
mod holdings;
mod limits;
mod moto;
mod rules;
mod stage;
mod wire;
