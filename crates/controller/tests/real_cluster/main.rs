//! The shell on an API that is not ours.

mod on_cluster;
