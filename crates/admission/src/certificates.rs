//! PURE. The rotation of our certificates: what is held, and what is to happen to it next.
//!
//! There are two sides. Serving processes show a leaf; API servers believe a bundle of authorities. Both hear of changes when they hear of
//! them. A handshake succeeds if the authority of the leaf that is shown is in the bundle that is believed, so an authority is believed
//! by everybody before anything of its is shown, and shown by nobody for a while before it is no longer believed.
//!
//! What is held is one Secret, and each step is one guarded write of it: whoever comes after a crash finds the state before the step or after it, and goes on
//! from there. The border: nothing is read or written here. Keys, the time and what API servers believe are arguments.

mod holding;
mod issue;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use x509::Validity;

pub use holding::{Believed, Fields, Found, Holding, read};
pub use issue::{Keys, carry_out, fresh_key};

/// How long an authority lives. Nobody has to do anything when it is replaced, so it need not be long.
pub const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How long a leaf lives: what is stolen from a process is good until then.
pub const LEAF_LIFE: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Certificates begin a little in the past, for API servers whose clock is slow.
pub const BACKDATED: SignedDuration = SignedDuration::from_hours(1);
/// API servers hear of a changed configuration by a watch: in milliseconds, and in minutes if it broke. For so long has every
/// configuration to carry a new authority before anything of its is shown.
pub const HEARD_AFTER: Duration = Duration::from_mins(10);
/// Serving processes hear of a new leaf by a watch, and look by themselves every few minutes. One that hears of nothing for a day would be
/// a process without an API; the old authority, which has a third of its life before it, is believed for so long.
pub const OVERLAP: Duration = Duration::from_hours(24);

/// How long things last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// [`AUTHORITY_LIFE`].
    pub authority_life: SignedDuration,
    /// [`LEAF_LIFE`].
    pub leaf_life: SignedDuration,
    /// [`BACKDATED`].
    pub backdated: SignedDuration,
    /// [`HEARD_AFTER`].
    pub heard_after: Duration,
    /// [`OVERLAP`].
    pub overlap: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            authority_life: AUTHORITY_LIFE,
            leaf_life: LEAF_LIFE,
            backdated: BACKDATED,
            heard_after: HEARD_AFTER,
            overlap: OVERLAP,
        }
    }
}

impl Terms {
    /// From when and until when something is good that is issued now.
    fn lasting(&self, now: Timestamp, life: SignedDuration) -> Validity {
        Validity {
            from: now - self.backdated,
            until: now + life,
        }
    }

    /// When it was issued.
    fn issued(&self, valid: Validity) -> Timestamp {
        valid.from + self.backdated
    }

    /// When it is to be replaced: after two thirds of its life, so that there is time to find out why it was not.
    fn due(&self, valid: Validity) -> Timestamp {
        let issued = self.issued(valid);
        issued + issued.duration_until(valid.until) / 3 * 2
    }
}

/// How far a rotation has come.
///
/// ```text
///               authority due                      every configuration has carried
///                                                  the bundle for HEARD_AFTER
///   ┌──► Steady ──────────────► Announced ─────────────────────────────► Switched ───┐
///   │    believed  A            believed  A B                            believed  A B  │
///   │    shown     A            shown     A                              shown     B    │
///   └────────────────────────────────── OVERLAP since B's leaf was issued ◄─────────────┘
/// ```
///
/// In each phase the leaf is issued by [`Holding::authority`], and renewed by it when it is due. What cannot be used at all, and an authority that is not good
/// at the time, is replaced wholesale, from anywhere to Steady.
#[derive(Debug)]
pub enum Phase {
    /// One authority, believed and at work.
    Steady,
    /// The next authority is being made known. Nothing of its is shown.
    Announced {
        /// The authority that takes over.
        next: Box<x509::Authority>,
    },
    /// The authority has taken over. What the one before it issued may still be shown somewhere.
    Switched {
        /// The authority that is still believed.
        previous: Believed,
    },
}

/// What there is to know besides what is held.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The time on the wall.
    pub now: Timestamp,
    /// What the leaf has to be for.
    pub names: &'a BTreeSet<String>,
    /// For how long every configuration has been seen to carry exactly the bundle that is held now; nothing if one does not.
    pub carried_for: Option<Duration>,
    /// How long things last.
    pub terms: &'a Terms,
}

/// What is to happen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// Nothing, for so long, unless something is seen to change.
    Rest(Duration),
    /// Everything is made anew, because there is nothing that could be used.
    Replace {
        /// What is wrong with what there is.
        why: String,
    },
    /// A new leaf by the authority at work.
    Renew {
        /// What is wrong with the one there is.
        why: String,
    },
    /// A next authority, to be made known.
    Announce,
    /// The next authority takes over.
    Switch,
    /// The previous authority is no longer believed.
    Forget,
}

impl Step {
    /// How long nothing has to be done after it: after a change there may be more to do at once.
    pub fn rest(&self) -> Duration {
        match self {
            Self::Rest(rest) => *rest,
            Self::Replace { .. }
            | Self::Renew { .. }
            | Self::Announce
            | Self::Switch
            | Self::Forget => Duration::ZERO,
        }
    }
}

/// What is to happen next.
pub fn next(found: &Found, facts: &Facts<'_>) -> Step {
    let holding = match found {
        Found::Missing => {
            let why = "there are none".to_owned();
            return Step::Replace { why };
        }
        Found::Damaged(problems) => {
            let why = problems.join("; ");
            return Step::Replace { why };
        }
        Found::Whole(holding) => holding,
    };
    if let Some(why) = holding.authority.untimely(facts.now) {
        return match &holding.phase {
            // Nothing that the old one issued is believed any more, so there is nothing to wait for.
            Phase::Announced { next } if next.untimely(facts.now).is_none() => Step::Switch,
            Phase::Steady | Phase::Announced { .. } | Phase::Switched { .. } => {
                let why = format!("ca.crt: {why}");
                Step::Replace { why }
            }
        };
    }
    // Before the leaf is looked at: a new one would begin the wait anew.
    if let Phase::Switched { previous } = &holding.phase
        && (facts.now >= overlapped(holding, facts.terms)
            || previous.valid.untimely(facts.now).is_some())
    {
        return Step::Forget;
    }
    if let Some(why) = unfit(holding, facts) {
        return Step::Renew { why };
    }
    let leaf_due = until(facts.now, facts.terms.due(holding.leaf.valid));
    match &holding.phase {
        Phase::Steady => {
            let due = facts.terms.due(holding.authority.valid);
            if facts.now >= due {
                Step::Announce
            } else {
                Step::Rest(leaf_due.min(until(facts.now, due)))
            }
        }
        // Its time has not come or is over, because the clock was set: another one is announced instead.
        Phase::Announced { next } if next.untimely(facts.now).is_some() => Step::Announce,
        Phase::Announced { .. } => match facts.carried_for {
            Some(carried) => match facts.terms.heard_after.checked_sub(carried) {
                None | Some(Duration::ZERO) => Step::Switch,
                Some(left) => Step::Rest(left),
            },
            None => Step::Rest(leaf_due),
        },
        Phase::Switched { .. } => Step::Rest(until(facts.now, overlapped(holding, facts.terms))),
    }
}

/// When what the previous authority issued is shown by nobody any more: the leaf is the first, or a later one, of the authority at work.
fn overlapped(holding: &Holding, terms: &Terms) -> Timestamp {
    let shown = terms.issued(holding.leaf.valid);
    shown.saturating_add(terms.overlap).unwrap_or(shown)
}

/// Why the leaf should not be shown any longer, if there is a reason and a new one would be better.
fn unfit(holding: &Holding, facts: &Facts<'_>) -> Option<String> {
    let leaf = &holding.leaf;
    if leaf.names != *facts.names {
        return Some(format!("it is for {:?}", leaf.names));
    }
    if facts.now < leaf.valid.from {
        return leaf.valid.untimely(facts.now);
    }
    // Close to the end of its authority a new one would last no longer.
    let fresh = facts.terms.lasting(facts.now, facts.terms.leaf_life);
    let longer = fresh.until.min(holding.authority.valid.until) > leaf.valid.until;
    (longer && facts.now >= facts.terms.due(leaf.valid)).then(|| {
        format!(
            "two thirds of its life are over, until {}",
            leaf.valid.until
        )
    })
}

/// How long it is until then; nothing if it is over.
fn until(now: Timestamp, then: Timestamp) -> Duration {
    Duration::try_from(now.duration_until(then)).unwrap_or_default()
}
