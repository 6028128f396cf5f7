//! The control plane, tried out.

mod on_cluster;
