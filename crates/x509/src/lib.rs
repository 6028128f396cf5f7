//! Certificates of our own: authorities, and what they issue.
//!
//! Everything is text in PEM outside and checked inside: a key that does not belong to its certificate is never held. Keys and
//! the time are arguments. The border: how long things live, where they are kept and what to do when they are damaged is up
//! to whoever keeps them.

mod authority;
mod leaf;
mod validity;

pub use authority::{Authority, Unusable};
pub use leaf::{Leaf, is_signed_by, parse};
pub use validity::Validity;

/// A certificate that can be issued, before it says for whom.
pub use rcgen::{CertificateParams, KeyPair};
