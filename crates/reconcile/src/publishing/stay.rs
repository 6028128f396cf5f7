//! Make before break: a source that asks for another host keeps the one before until that is published (S6).

use super::names::bare;
use super::{Claim, HostView, Leaving, Outlook, Whereabouts};

/// A view in which sources that ask for another host still ask for this one, until that one is published; and why.
pub(super) fn with_those_who_stay(view: &HostView) -> (HostView, Vec<String>) {
    let staying = view.leaving.iter().filter_map(|it| stays(view, it));
    let staying: Vec<(&Claim, &Outlook)> = staying.collect();
    let all = view.claims.iter().chain(staying.iter().map(|it| it.0));
    let reached: Vec<&Claim> = all.filter(|it| is_reached(it)).collect();
    // One without an address has nothing to keep, unless the addresses that the host lost were its own.
    let keeps = |claim: &Claim| {
        let mut others = reached.iter();
        is_reached(claim) || !others.any(|it| it.namespace() == claim.namespace())
    };
    let staying: Vec<(&Claim, &Outlook)> = staying.into_iter().filter(|it| keeps(it.0)).collect();
    let stay = |leaving: &&Leaving| staying.iter().any(|it| it.0.source == leaving.key);
    let leaving = view.leaving.iter().filter(|it| !stay(it)).cloned();
    let claims = view.claims.iter().chain(staying.iter().map(|it| it.0));
    let mut seen = HostView {
        leaving: leaving.collect(),
        claims: claims.cloned().collect(),
        ..view.clone()
    };
    seen.claims.sort_by(|one, other| one.age.cmp(&other.age));
    let kept = staying.iter().map(|(claim, outlook)| told(claim, outlook));
    (seen, kept.collect())
}

/// What a source still has here although it asks for other hosts, and which of these holds it up. They are to be published
/// first; one that never will be does not count, unless there is no other.
fn stays<'a>(view: &HostView, leaving: &'a Leaving) -> Option<(&'a Claim, &'a Outlook)> {
    let (outlooks, claim) = match &leaving.whereabouts {
        Whereabouts::Moved(outlooks, claim) => (outlooks, claim.as_ref()),
        Whereabouts::Absent | Whereabouts::Unreadable => return None,
    };
    let stands = |it: &Outlook| matches!(it, Outlook::Published(_));
    let coming = |it: &&Outlook| matches!(it, Outlook::Coming(_, _));
    let holds_up = match outlooks.iter().find(coming) {
        Some(coming) => Some(coming),
        None if outlooks.iter().any(stands) => None,
        None => outlooks.first(),
    };
    let holds_up = holds_up.filter(|_| is_answered(view));
    holds_up.map(|outlook| (claim, outlook))
}

fn is_reached(claim: &Claim) -> bool {
    !claim.targets.is_empty() || claim.blind
}

/// Whether there is anything to break.
fn is_answered(view: &HostView) -> bool {
    let mut standing = view.standing.iter();
    standing.any(|it| !it.endpoints.is_empty()) || !view.records.is_empty()
}

fn told(claim: &Claim, outlook: &Outlook) -> String {
    let (host, why) = match outlook {
        Outlook::Published(host) => (bare(host), "is published"),
        Outlook::Coming(host, true) => (bare(host), "is not published yet"),
        Outlook::Coming(host, false) => (bare(host), "has no address yet"),
        Outlook::Invalid(text) => (text.escape_debug().to_string(), "cannot be published"),
        Outlook::Refused(host) => (bare(host), "another namespace has"),
        Outlook::Taken(host) => (bare(host), "somebody else's ServiceRecord is in the way of"),
    };
    let source = &claim.source;
    format!("{source} asks for another host instead, {host}, which {why}")
}
