//! Custom domains from `zonewright up` and `zonewright run`: what stands in an Ingress, who may say so, and what proves it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backups;
mod bind;
mod claims;
mod exported;
mod forgeries;
mod hand;
mod journey;
mod locks;
mod on_cluster;
mod refusals;
mod stage;
mod window;
