//! Forgetting who it was that changed something long ago.

use std::collections::BTreeMap;

use super::entry::{Operation, Owned, Owner};
use super::{Entries, seconds};

/// kube-apiserver's `DefaultMaxUpdateManagers`.
const MOST_UPDATERS: usize = 10;

/// Who owns what the oldest updaters owned.
const ANCIENT: &str = "ancient-changes";

impl Entries {
    /// Makes one owner of the oldest updaters until there are few enough. Those who wrote in
    /// different versions cannot be one, because fields may be called differently there.
    pub(in super::super) fn forget_oldest(&mut self) {
        let updaters = self.updaters();
        let mut surplus = updaters.len().saturating_sub(MOST_UPDATERS);
        let mut oldest: BTreeMap<String, Owner> = BTreeMap::new();
        for owner in updaters {
            if surplus == 0 {
                break;
            }
            if let Some(first) = oldest.get(&owner.api_version).cloned() {
                self.merge(&first, &owner);
                surplus -= 1;
            } else {
                oldest.insert(owner.api_version.clone(), owner);
            }
        }
    }

    /// All who update, oldest first.
    fn updaters(&self) -> Vec<Owner> {
        let updates = self
            .owners
            .iter()
            .filter(|(owner, _)| owner.operation == Operation::Update);
        let mut updates: Vec<(&Owner, &Owned)> = updates.collect();
        updates.sort_by_key(|(_, owned)| seconds(owned.time));
        updates
            .into_iter()
            .map(|(owner, _)| owner.clone())
            .collect()
    }

    /// Makes one ancient owner of two. `first` may have become ancient already.
    fn merge(&mut self, first: &Owner, second: &Owner) {
        let ancient = Owner {
            manager: ANCIENT.to_owned(),
            operation: Operation::Update,
            api_version: first.api_version.clone(),
            subresource: String::new(),
        };
        let mut merged = Owned::nothing(first.api_version.clone());
        for owner in [&ancient, first, second] {
            if let Some(owned) = self.owners.remove(owner) {
                merged.fields = merged.fields.union(owned.fields);
                merged.time = merged.time.max(owned.time);
            }
        }
        self.owners.insert(ancient, merged);
    }
}
