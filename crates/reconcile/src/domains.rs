//! Custom domains: which hosts an Ingress may carry, and what proves that a domain belongs to a namespace (V1–V10).
//!
//! ```text
//!                    rules, tls           what waits
//! Ingress as asked ──────────────► gate ─────────────► Ingress as it may be, and the domains to prove
//!                                   ▲
//!                 verified domains ─┘  seals under DomainVerifications, recomputed
//!
//! DomainVerification ─ view ─► decide ─► owners, token, a look at DNS ─► conclude ─► status, and perhaps its seal
//! Ingress            ─ view ─► gate again, and the managed host beside the custom ones
//! managed host       ─ view ─► Records where the managed domain's Zone is
//! ```
//!
//! One function, [`gate()`], judges Ingresses at the door and behind it: what the webhook lets through and what the
//! controller makes of it cannot differ. Nothing that a tenant can write is believed: a domain is verified if the
//! installation's key says so ([`Keyring`]), a managed host is an Ingress's own if it does, and what waits in an annotation is a
//! wish like any other.
//!
//! What it leaves to others: AdmissionReviews (`admission`), watching, writing, and looking into DNS (`controller`).

mod annotations;
mod decide;
mod gate;
mod index;
mod managed;
mod proofs;
mod publish;
mod refusal;
mod seal;
mod verification;
mod wish;

pub use decide::{IngressDecision, IngressView, decide as decide_ingress};
pub use gate::{Asked, Fill, Gated, House, Uses, gate, may_stand, uses};
pub use index::{Domains, Key, Touched, claim, claim_name};
pub use managed::{Guid, ManagedDomain};
pub use proofs::Proofs;
pub use publish::{HostView, RecordWrite, StandingRecord, decide as decide_host};
pub use refusal::{Refusal, judge};
pub use seal::Keyring;
pub use verification::{
    Attempt, Claim, Decision, Look, Removal, Sighting, VerificationView, conclude, decide,
};

#[cfg(test)]
mod tests;
