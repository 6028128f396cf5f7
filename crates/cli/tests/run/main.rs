//! `zonewright run`.

mod on_cluster;
