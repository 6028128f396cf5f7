//! One pass over a DomainVerification: whose it is, what proves it, and when to look (V4–V6, V8).
//!
//! ```text
//!                       the last Ingress gone
//! (created) ───────────────────────────────────────► removed
//!     │          ▲                                      ▲
//!     ▼     look │ not there      found                 │ the last Ingress gone,
//!  waiting ──────┴──────────────────────► verified ─────┘ seen live
//!             10 s … 15 min
//! ```
//!
//! What was found once stays found: that the TXT record disappears later changes nothing. The conditions only report;
//! the seal under a successful look is what counts.

use std::collections::BTreeSet;
use std::time::Duration;

use api::domain_verification::{DomainCondition, DomainVerificationStatus, TxtRecord};
use api::well_known::CHALLENGE_LABEL;
use api::{ConditionType, Reason, Status};
use dns::Name;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};

use super::refusal::Refusal;
use super::seal::Keyring;
use crate::ObjectKey;

/// The first wait between two looks, and the longest (V6).
const WAIT_MIN: Duration = Duration::from_secs(10);
const WAIT_MAX: Duration = Duration::from_mins(15);

/// How every message begins, in the words of the design: scripts look for them (V6).
const VERIFIED: &str = "domain successfully verified";
const FAILED: &str = "domain failed DNS verification";

/// What is claimed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Claim {
    /// A domain that can be proven.
    Domain(Name),
    /// A domain that nobody can prove.
    Refused(Name, Refusal),
    /// No domain at all, and why.
    Invalid(String),
}

/// Everything that bears on a DomainVerification.
#[derive(Clone, Debug)]
pub struct VerificationView {
    /// Which one.
    pub key: ObjectKey,
    /// Its identity.
    pub uid: String,
    /// The version it was seen at.
    pub resource_version: Option<String>,
    /// The generation of its spec.
    pub generation: Option<i64>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The domain as its spec has it.
    pub spelled: String,
    /// What it claims.
    pub claim: Claim,
    /// What it says of itself.
    pub status: DomainVerificationStatus,
    /// Whom it says it belongs to.
    pub owners: Vec<OwnerReference>,
    /// The Ingresses that use it, by name and uid.
    pub users: BTreeSet<(String, String)>,
    /// The uid of its namespace, if it is known yet.
    pub namespace_uid: Option<String>,
    /// Whether somebody has asked for a look now.
    pub asked: bool,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Whether it goes.
    pub remove: Option<Removal>,
    /// Whom it is to belong to, if that is somebody else than now.
    pub owners: Option<Vec<OwnerReference>>,
    /// What to look for.
    pub look: Option<Look>,
    /// When to come back without anybody asking.
    pub due: Option<Timestamp>,
}

/// How one that no Ingress uses goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Removal {
    /// At once: nothing is lost with it. If it is claimed again, it has the same token.
    AtOnce,
    /// Once the API itself says that no Ingress uses it: a proof is lost with it.
    SeenLive,
}

/// What to look for in DNS, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Look {
    /// The names where it may stand: each will do (V5).
    pub names: Vec<Name>,
    /// The whole text of the TXT record.
    pub token: String,
}

/// What was seen in DNS.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// Whether it proves the domain.
    pub found: bool,
    /// Why it does not, for programs.
    pub reason: Reason,
    /// What was seen, for people.
    pub message: String,
}

/// A look that was made.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// What was seen.
    pub sighting: &'a Sighting,
    /// Drawn between 0.8 and 1.2, so that not all look at once.
    pub spread: f64,
}

/// What is to be done about a DomainVerification at a time.
pub fn decide(view: &VerificationView, key: &Keyring, now: Timestamp) -> Decision {
    let verified = is_verified(view, key);
    if view.users.is_empty() {
        let removal = if verified {
            Removal::SeenLive
        } else {
            Removal::AtOnce
        };
        return Decision {
            remove: Some(removal),
            ..Decision::default()
        };
    }
    let owners = owners(view);
    let mut decision = Decision {
        owners: (owners != view.owners).then_some(owners),
        ..Decision::default()
    };
    let (Claim::Domain(domain), Some(namespace)) = (&view.claim, &view.namespace_uid) else {
        return decision;
    };
    if verified {
        return decision;
    }
    let next = condition(view).and_then(|it| it.next_verification.as_ref());
    let due = next.map_or(now, |next| next.0);
    if due <= now || view.asked {
        decision.look = Some(Look {
            names: vec![challenge(domain), domain.clone()],
            token: key.token(namespace, domain),
        });
    } else {
        decision.due = Some(due);
    }
    decision
}

/// What a DomainVerification says of itself.
pub fn conclude(
    view: &VerificationView,
    key: &Keyring,
    attempt: Option<Attempt<'_>>,
    now: Timestamp,
) -> DomainVerificationStatus {
    let mut status = DomainVerificationStatus {
        observed_generation: view.generation,
        ..DomainVerificationStatus::default()
    };
    let said = match (&view.claim, &view.namespace_uid) {
        (Claim::Invalid(why), _) => {
            Said::not(Reason::InvalidDomain, &format!("spec.domain: {why}"))
        }
        (Claim::Refused(_, refusal), _) => {
            let story = format!("spec.domain: {} {}", view.spelled, refusal.rule());
            Said::not(refusal.reason(), &story)
        }
        // Nothing can be said before it is known for whom.
        (Claim::Domain(_), None) => return view.status.clone(),
        (Claim::Domain(domain), Some(namespace)) => {
            let token = key.token(namespace, domain);
            status.txt_record = Some(TxtRecord {
                name: challenge(domain).to_string(),
                value: token.clone(),
            });
            status.token = Some(token);
            let found = attempt.is_some_and(|it| it.sighting.found);
            if found || is_verified(view, key) {
                status.proof = Some(key.proof(namespace, domain));
                verified()
            } else {
                unproven(view, attempt, now)
            }
        }
    };
    status.conditions = vec![said.dated(view, now)];
    status
}

/// What is said about the domain.
struct Said {
    status: Status,
    reason: Reason,
    message: String,
    next: Option<Timestamp>,
}

impl Said {
    fn not(reason: Reason, story: &str) -> Said {
        Said {
            status: Status::False,
            reason,
            message: format!("{FAILED}: {story}"),
            next: None,
        }
    }

    /// The moment of a transition stays for as long as nothing changes. It also stands for a next look where there is none, as in
    /// the design: what reads conditions finds a time there.
    fn dated(self, view: &VerificationView, now: Timestamp) -> DomainCondition {
        let before = condition(view).filter(|it| it.status == self.status.as_str());
        let since = before.map_or(now, |it| it.last_transition_time.0);
        DomainCondition {
            type_: ConditionType::Verified.as_str().to_owned(),
            domain: view.spelled.clone(),
            status: self.status.as_str().to_owned(),
            reason: Some(self.reason.as_str().to_owned()),
            message: self.message,
            last_transition_time: Time(since),
            next_verification: Some(Time(self.next.unwrap_or(since))),
        }
    }
}

fn verified() -> Said {
    Said {
        status: Status::True,
        reason: Reason::Verified,
        message: VERIFIED.to_owned(),
        next: None,
    }
}

fn unproven(view: &VerificationView, attempt: Option<Attempt<'_>>, now: Timestamp) -> Said {
    match (attempt, condition(view)) {
        (Some(attempt), _) => Said {
            next: Some(now + wait(view.created.unwrap_or(now), now, attempt.spread)),
            ..Said::not(attempt.sighting.reason, &attempt.sighting.message)
        },
        // What was seen last is still what is known. A seal that is not ours was never there.
        (None, Some(last)) if last.status == Status::False.as_str() => Said {
            status: Status::False,
            reason: reason(last),
            message: last.message.clone(),
            next: last.next_verification.as_ref().map(|next| next.0),
        },
        (None, _) => Said {
            next: Some(now),
            ..Said::not(
                Reason::TokenPending,
                "the TXT record has not been looked for yet",
            )
        },
    }
}

fn reason(condition: &DomainCondition) -> Reason {
    let spelled = condition.reason.as_deref().unwrap_or_default();
    Reason::from_spelling(spelled).unwrap_or(Reason::TokenPending)
}

/// Half of its age: looks become rarer by themselves, and a restart does not make them frequent again.
fn wait(created: Timestamp, now: Timestamp, spread: f64) -> SignedDuration {
    let age = Duration::try_from(now.duration_since(created)).unwrap_or_default();
    let wait = (age / 2).clamp(WAIT_MIN, WAIT_MAX).mul_f64(spread);
    SignedDuration::try_from(wait.min(WAIT_MAX)).unwrap_or(SignedDuration::MAX)
}

/// Everybody who uses it. Nobody is its controller: several own one.
fn owners(view: &VerificationView) -> Vec<OwnerReference> {
    let users = view.users.iter().map(|(name, uid)| OwnerReference {
        api_version: "networking.k8s.io/v1".to_owned(),
        kind: "Ingress".to_owned(),
        name: name.clone(),
        uid: uid.clone(),
        controller: None,
        block_owner_deletion: None,
    });
    users.collect()
}

/// Whether its seal is ours. What the conditions say does not matter.
fn is_verified(view: &VerificationView, key: &Keyring) -> bool {
    let (Claim::Domain(domain), Some(namespace)) = (&view.claim, &view.namespace_uid) else {
        return false;
    };
    let proof = view.status.proof.as_deref();
    proof.is_some_and(|proof| key.proves(namespace, domain, proof))
}

fn condition(view: &VerificationView) -> Option<&DomainCondition> {
    let type_ = ConditionType::Verified.as_str();
    let mut conditions = view.status.conditions.iter();
    conditions.find(|it| it.type_ == type_ && it.domain == view.spelled)
}

/// Where the proof is looked for first; a domain that is too long for it has the other place.
fn challenge(domain: &Name) -> Name {
    Name::parse(&format!("{CHALLENGE_LABEL}.{domain}")).unwrap_or_else(|_| domain.clone())
}
