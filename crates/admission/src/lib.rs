//! Webhooks of our own: what the Kubernetes API asks before it writes.
//!
//! ```text
//! Secret ─► certificates (what next?) ─► keeper ─► Secret, configurations
//!                                          │
//!                                          └─► serving ─► listener ─► a service: reviews in, verdicts out
//! ```
//!
//! The border: what a review is answered is not decided here yet; the listener hands requests to a service.

pub mod certificates;
mod clock;
pub mod configurations;
pub mod keeper;
pub mod listener;
mod serving;

pub use clock::{Clock, Moment};
pub use configurations::{Installation, Target};
pub use keeper::Keeper;
pub use listener::Listener;
pub use serving::Serving;
