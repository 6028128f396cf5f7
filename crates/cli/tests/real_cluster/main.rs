//! Our definitions in a cluster.

mod on_cluster;
