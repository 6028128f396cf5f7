//! Whose a host is (S6).

use std::collections::BTreeSet;

use super::{Claim, HostView};

/// Whether sources that no longer ask for a host count: they do until they were looked at live.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Leavers {
    /// They may still be there.
    Count,
    /// They are known to be gone.
    Gone,
}

/// The namespace that a host belongs to.
///
/// 1. One that has proven that it controls the domain goes before all others. What is answered must not go unanswered for
///    it, though: where another namespace has the host, it has to be reached somewhere.
/// 2. The one that has it. What is answered today must not change hands because somebody else asks for it too.
/// 3. The one with the oldest claim, unless another namespace holds a wildcard above the host: below it, new hosts are
///    for the namespace that has the wildcard.
pub(super) fn owner(view: &HostView, leavers: Leavers) -> Option<&str> {
    let stays = |namespace: &&str| {
        let counts = leavers == Leavers::Count;
        asks(view, namespace) || (counts && leaves(view, namespace))
    };
    let holders: Vec<&str> = holders(view).into_iter().filter(stays).collect();
    let asking = view.claims.iter().map(Claim::namespace);
    let takes = |namespace: &&str| {
        holders.is_empty() || holders.contains(namespace) || is_reached(view, namespace)
    };
    let proven = holders.iter().copied().chain(asking.clone());
    let proven = proven.filter(|it| view.proven.contains(*it));
    let first: BTreeSet<&str> = proven.filter(takes).collect();
    let may = |namespace: &&str| first.is_empty() || first.contains(namespace);
    if let Some(holder) = holders.iter().copied().find(may) {
        return Some(holder);
    }
    let above = view.covered_by.iter().map(String::as_str);
    let above: BTreeSet<&str> = above.filter(may).collect();
    let mut asking = asking.filter(may);
    asking.find(|it| above.is_empty() || above.contains(it))
}

/// The namespaces that have the host, the first first: those whose sources its ServiceRecords name. Where somebody deleted
/// these, those where its Records stand, by their age, which nobody can forge; as long as a ServiceRecord stands, Records
/// in other namespaces go as soon as they are seen.
fn holders(view: &HostView) -> Vec<&str> {
    let sources = view.standing.iter().flat_map(|it| &it.sources);
    let named: Vec<&str> = sources.map(|it| it.namespace.as_str()).collect();
    if !named.is_empty() {
        return named;
    }
    let records = view.records.iter();
    records.map(|it| it.key().namespace.as_str()).collect()
}

/// Whether an object of somebody else's has the name that the ServiceRecord of a namespace needs, or there is no name.
pub(super) fn is_taken(view: &HostView, namespace: &str) -> bool {
    let home = view.central.as_deref().unwrap_or(namespace);
    view.name.is_none() || view.occupied.contains(home)
}

fn asks(view: &HostView, namespace: &str) -> bool {
    view.claims.iter().any(|it| it.namespace() == namespace)
}

/// Whether it is known where what a namespace asks for is reached.
fn is_reached(view: &HostView, namespace: &str) -> bool {
    let mut own = view.claims.iter().filter(|it| it.namespace() == namespace);
    own.any(|it| !it.targets.is_empty())
}

fn leaves(view: &HostView, namespace: &str) -> bool {
    let mut leaving = view.leaving.iter();
    leaving.any(|it| it.source.namespace == namespace)
}
