//! Making changes: from what is there to what is to be there, and nothing where both are the same.

use crate::hosted::{Change, Held, HostedKey, HostedSet};

/// The change from what is held to what is wanted. What is not data of DNS is never changed.
pub(super) fn between(
    key: &HostedKey,
    held: Option<&Held>,
    after: Option<HostedSet>,
) -> Option<Change> {
    let before = held.and_then(Held::set);
    if held.is_some() && before.is_none() || before == after.as_ref() {
        return None;
    }
    Some(Change {
        key: key.clone(),
        before: before.cloned(),
        after,
    })
}
