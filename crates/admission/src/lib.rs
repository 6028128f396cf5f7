//! Webhooks of our own: what the Kubernetes API asks before it writes.
//!
//! ```text
//! Secret ─► certificates (what next?) ─► keeper ─► Secret, configurations
//!                                          │
//!                                          └─► serving ─► listener ─► reviews in, verdicts out
//! ```
//!
//! The border: the rules that questions are answered by are `reconcile::domains`' and `api`'s.

pub mod certificates;
mod clock;
pub mod configurations;
pub mod keeper;
mod keyring;
pub mod listener;
mod reviews;
mod serving;

pub use clock::{Clock, Moment};
pub use configurations::{Installation, Target};
pub use keeper::Keeper;
pub use keyring::{KeyringError, SECRET as KEYRING_SECRET, keyring};
pub use listener::Listener;
pub use reviews::{House, Reviews};
pub use serving::Serving;
