//! The keeper on the embedded API: certificates that are rotated under clients that connect all the time, and configurations that stay ours.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clients;
mod keeping;
mod stage;
mod thousand;
