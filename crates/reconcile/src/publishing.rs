//! Hosts that exported sources ask for: the ServiceRecord and the Records of each, and when they go (S1–S10).
//!
//! ```text
//! sources, ServiceRecords, Records,
//! DomainVerifications                   ──watched──▶  Publishing ──▶ the hosts concerned
//! a host                                ──view────▶  HostView   ──▶ decide ──▶ Decision ──▶ conclude ──▶ status
//! ```
//!
//! A pass is over one host. Its view holds everything that is wanted for it and everything that stands for it, and what is
//! to be done is the difference: nothing is removed because an event was heard, nothing stays because one was missed.
//!
//! ```text
//!                       a claim with addresses    claims without     the last claim left      nobody ever named
//! nothing stands        made                      made, empty        nothing                  nothing
//! something stands      made what it should be    kept for a while   goes once seen live      goes once seen live
//! ```
//!
//! - A host belongs to one namespace: to one that has proven the domain, else to the one that has it for as long as that
//!   asks for it, then to the oldest claim.
//! - What goes because a source left goes only after the source was looked at live ([`Proof`]); sources of a kind that
//!   cannot be read keep what they have.
//! - A source that asks for another host keeps the old one until the new one is published.
//! - What others made is never written, in no decision.
//!
//! What it leaves to others: watching, fetching what a [`Proof`] asks for, writing, and telling sources their [`Note`]s
//! (`controller`); whether a Zone takes a Record (`World`).

mod conclude;
mod decide;
mod decision;
mod holdings;
mod index;
mod names;
mod nodes;
mod note;
mod ownership;
mod proof;
mod records;
mod service_record;
mod source;
mod sources;
mod standing;
mod stay;
mod view;

pub use conclude::{StatusUpdate, conclude};
pub use decide::decide;
pub use decision::{Decision, Update, Version, Withdrawal, Write};
pub use index::{Hosts, Placement, Policy, Publishing};
pub use note::Note;
pub use proof::{Proof, Seen};
pub use source::{Reading, SourceKey, SourceKind, SourceObject};
pub use standing::{Progress, StandingRecord, StandingServiceRecord};
pub use view::{Claim, HostView, Leaving, Outlook, Whereabouts};

#[cfg(test)]
mod tests;
