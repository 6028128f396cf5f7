//! DNSHealthCheckProbes minute by minute, with targets that answer as a test wants them to.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rounds;
mod stage;
mod trouble;
