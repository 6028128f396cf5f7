//! What the world and its passes do, as stories: objects in, what they say about themselves out.

#![allow(
    clippy::unwrap_used,
    reason = "all of this is tests, also what is not marked as one"
)]

mod cluster;
mod histories;
mod line;
mod naive;
mod name_server;
mod runs;
mod steps;
mod story;

mod adoption;
mod conflicts;
mod costs;
mod cuts;
mod delegation;
mod deletion;
mod drop_in;
mod labels;
mod names;
mod poison;
mod published;
mod routing;
mod slices;
mod standing;
mod versions;
