//! Admission: whoever is configured to is asked before anything is written.
//!
//! The configurations of webhooks say which writes are shown to whom. Everything that judges is pure: which webhooks a write concerns, in which order they are asked, what they are sent, and what their
//! answers mean. What waits is in [`caller`], and never holds the engine meanwhile.
//!
//! ```text
//! engine ─ draft ─► Mutation ─ question ─► Caller ─► webhook        one after the other, each sees what the last one made
//!                      ▲                     │
//!                      └────── answer ◄──────┘
//! engine ─ settled ─► Validation ─ questions ─► Caller ─► webhooks  all at once
//! engine ─ written, if what it was worked out from still stands
//! ```

mod attributes;
mod caller;
mod condition;
mod hook;
mod mutation;
mod registry;
mod review;
mod services;
mod trust;
mod validation;
mod verdict;

#[cfg(test)]
mod tests;

pub(crate) use attributes::{Attributes, Operation};
pub(crate) use caller::{Caller, REQUEST_WITHIN};
pub(crate) use condition::compile as compile_condition;
pub(crate) use mutation::Mutation;
pub(crate) use registry::{Phase, Registry, configurations, is_configuration};
pub use services::Services;
pub(crate) use validation::Validation;

use crate::object::Object;

/// What those who were asked have let through.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// The object as they made it; nothing where none is written.
    pub(crate) object: Option<Object>,
    /// What they want the sender to be told.
    pub(crate) warnings: Vec<String>,
}

/// What is to be asked.
#[derive(Debug)]
pub(crate) enum Asking {
    Mutating(Box<Mutation>),
    Validating(Box<Validation>),
}
