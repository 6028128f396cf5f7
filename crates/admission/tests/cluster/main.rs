//! The keeper beside a real Kubernetes API, with the rights that `deploy/rbac.yaml` gives it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod stage;

mod on_cluster {
    mod locked;
    mod rotating;
}
