//! Which probes there are, from what watches tell: one that is no longer told of is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::{Decoded, DnsHealthCheckProbe};
use kube::api::DynamicObject;
use reconcile::ProbeKey;

use crate::feed::{Event, Fed};

/// What has happened to a probe.
#[derive(Debug)]
pub(super) enum Change {
    There(ProbeKey, Box<Decoded<DnsHealthCheckProbe>>),
    Gone(ProbeKey),
}

/// The namespace that a watch looks at, if not all of them.
type Scope = Option<Arc<str>>;

#[derive(Debug, Default)]
pub(super) struct Roster {
    /// What each watch has told of.
    known: BTreeMap<Scope, BTreeSet<ProbeKey>>,
    /// What watches that tell everything anew have told so far.
    telling: BTreeMap<Scope, BTreeSet<ProbeKey>>,
}

impl Roster {
    pub(super) fn take_in(&mut self, fed: Fed<&'static str>) -> Vec<Change> {
        let scope = fed.namespace;
        match fed.event {
            Event::Restarted => {
                self.telling.insert(scope, BTreeSet::new());
                Vec::new()
            }
            Event::Applied(object) => {
                let key = key(&object);
                if let Some(telling) = self.telling.get_mut(&scope) {
                    telling.insert(key.clone());
                }
                let known = self.known.entry(scope).or_default();
                known.insert(key.clone());
                let object = Decoded::of_parts(object.metadata, object.data);
                vec![Change::There(key, Box::new(object))]
            }
            Event::Deleted(object) => {
                let key = key(&object);
                self.known.entry(scope).or_default().remove(&key);
                vec![Change::Gone(key)]
            }
            Event::Synced => {
                let told = self.telling.remove(&scope).unwrap_or_default();
                let known = self.known.insert(scope, told.clone()).unwrap_or_default();
                known.difference(&told).cloned().map(Change::Gone).collect()
            }
            // What is known stays true until someone tells otherwise.
            Event::Absent | Event::Stalled(_) | Event::Failed(_) => Vec::new(),
        }
    }
}

fn key(object: &DynamicObject) -> ProbeKey {
    let metadata = &object.metadata;
    ProbeKey::new(
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}
