//! What people apply, with kubectl.

mod on_cluster;
