//! Admission webhooks: the embedded API asks, believes and refuses as kube-apiserver does.
//!
//! The same webhook server is called by both. What it is asked and what the APIs answer is compared whole.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod embedded;
mod stage;

/// Each story is played before both APIs.
mod on_cluster {
    mod changing;
    mod collecting;
    mod failing;
    mod races;
    mod refusing;
    mod users;
}

use testkit::webhooks as hooks;
