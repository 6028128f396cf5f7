//! Zones at a provider, with many records, with faults, with neighbours: what is written there, and how seldom.

mod clusters;
mod cost;
mod crash;
mod faults;
mod guard;
mod house;
mod neighbours;
