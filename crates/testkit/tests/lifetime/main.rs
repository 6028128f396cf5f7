//! What becomes of a control plane when its owner ends.

mod on_cluster;
