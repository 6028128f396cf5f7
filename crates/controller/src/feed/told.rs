//! What watches have told: who is there, who is gone, and when everything was heard once.
//!
//! After a break a watch tells all objects anew, and whatever it does not tell is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::api::{DynamicObject, ObjectMeta};
use reconcile::ObjectKey;
use serde::de::DeserializeOwned;
use tracing::warn;

use super::{Event, Fed, Source, scopes};

/// A watch: a kind, and the namespace it looks at.
pub(crate) type Scope<K> = (K, Option<Arc<str>>);

/// Keeps track of what each watch tells.
#[derive(Debug)]
pub(crate) struct Told<K> {
    /// Watches that have not told everything yet.
    unsynced: BTreeSet<Scope<K>>,
    /// What watches that tell everything anew have told so far.
    telling: BTreeMap<Scope<K>, BTreeSet<ObjectKey>>,
}

/// What an event means for an object.
#[derive(Debug)]
pub(crate) enum Happened {
    /// It is there, and looks like this.
    Applied {
        /// Which object.
        key: ObjectKey,
        /// How it looks.
        object: Box<DynamicObject>,
        /// Whether it was told because everything is: its version may be an older one.
        anew: bool,
    },
    /// It is gone.
    Gone(ObjectKey),
}

impl<K: Clone + Ord> Told<K> {
    /// Nothing has been told yet.
    pub(crate) fn new(sources: &[Source<K>]) -> Told<K> {
        let watches = sources.iter().flat_map(scopes);
        Told {
            unsynced: watches
                .map(|(source, namespace)| (source.kind.clone(), namespace))
                .collect(),
            telling: BTreeMap::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(crate) fn is_synced(&self) -> bool {
        self.unsynced.is_empty()
    }

    /// A watch of a kind that the cluster does not have, and need not have, is not waited for.
    pub(crate) fn waive(&mut self, watch: &Scope<K>) {
        self.unsynced.remove(watch);
    }

    /// What an event means. `known` are the objects of a kind that are known now; asked when a watch has told everything.
    pub(crate) fn take_in(
        &mut self,
        fed: Fed<K>,
        known: impl FnOnce(&K) -> Vec<ObjectKey>,
    ) -> Vec<Happened> {
        let scope = (fed.kind, fed.namespace);
        match fed.event {
            Event::Restarted => {
                self.telling.insert(scope, BTreeSet::new());
                Vec::new()
            }
            Event::Applied(object) => {
                let key = key_of(&object.metadata);
                let telling = self.telling.get_mut(&scope);
                let anew = telling.map(|told| told.insert(key.clone())).is_some();
                vec![Happened::Applied { key, object, anew }]
            }
            Event::Deleted(object) => vec![Happened::Gone(key_of(&object.metadata))],
            Event::Synced => {
                self.unsynced.remove(&scope);
                let told = self.telling.remove(&scope).unwrap_or_default();
                let (kind, namespace) = &scope;
                let inside = |key: &ObjectKey| {
                    let narrowed = namespace.as_deref();
                    narrowed.is_none_or(|namespace| namespace == key.namespace)
                };
                let known = known(kind).into_iter().filter(inside);
                let gone = known.filter(|key| !told.contains(key));
                gone.map(Happened::Gone).collect()
            }
            // What is known stays true until someone tells otherwise.
            Event::Absent | Event::Stalled(_) | Event::Failed(_) => Vec::new(),
        }
    }
}

/// The Namespace whose uid stands for the cluster.
pub(crate) const CLUSTER_NAMESPACE: &str = "kube-system";

/// A built-in object. The API checks those itself: what cannot be read is of a version that nobody knows yet.
pub(crate) fn built_in<K: DeserializeOwned>(object: DynamicObject) -> Option<K> {
    let value = serde_json::to_value(object).ok()?;
    match serde_json::from_value(value) {
        Ok(object) => Some(object),
        Err(error) => {
            warn!(%error, "Cannot read an object");
            None
        }
    }
}

/// What an object is called.
pub(crate) fn key_of(object: &ObjectMeta) -> ObjectKey {
    ObjectKey::new(
        object.namespace.as_deref().unwrap_or_default(),
        object.name.as_deref().unwrap_or_default(),
    )
}

/// Whether what is told is newer than the version that is known. Versions that are not numbers are not compared.
pub(crate) fn is_newer(known: Option<&str>, told: Option<&str>) -> bool {
    let number = |version: Option<&str>| version.and_then(|version| version.parse::<u64>().ok());
    let (known, told) = (number(known), number(told));
    known.zip(told).is_none_or(|(known, told)| known < told)
}

#[cfg(test)]
mod tests {
    use kube::api::ApiResource;
    use serde_json::json;

    use super::*;

    fn source(kind: &'static str, namespaces: &[&str]) -> Source<&'static str> {
        Source {
            kind,
            resource: ApiResource::erase::<api::Zone>(&()),
            namespaces: namespaces.iter().map(ToString::to_string).collect(),
            fields: None,
            labels: None,
        }
    }

    fn object(namespace: &str, name: &str) -> Box<DynamicObject> {
        let object = json!({ "metadata": { "namespace": namespace, "name": name } });
        Box::new(serde_json::from_value(object).unwrap())
    }

    /// What a series of events of one watch comes to, when `known` are the objects known at its end.
    fn check(namespace: Option<&str>, events: Vec<Event>, known: &[(&str, &str)]) -> Vec<String> {
        let mut told = Told::new(&[source("Zone", &[])]);
        let known: Vec<ObjectKey> = known
            .iter()
            .map(|(space, name)| ObjectKey::new(space, name))
            .collect();
        let events = events.into_iter().flat_map(|event| {
            let fed = Fed {
                kind: "Zone",
                namespace: namespace.map(Arc::from),
                event,
            };
            told.take_in(fed, |_| known.clone())
        });
        let told = events.map(|happened| match happened {
            Happened::Applied { key, anew, .. } => format!("{key} anew={anew}"),
            Happened::Gone(key) => format!("{key} gone"),
        });
        told.collect()
    }

    #[test]
    fn what_is_not_told_anew_is_gone() {
        let events = vec![
            Event::Applied(object("a", "one")),
            Event::Restarted,
            Event::Applied(object("a", "two")),
            Event::Failed("a moment".to_owned()),
            Event::Synced,
            Event::Deleted(object("a", "two")),
        ];
        let found = check(None, events, &[("a", "one"), ("a", "two"), ("b", "one")]);
        let expected = [
            "a/one anew=false",
            "a/two anew=true",
            "a/one gone",
            "b/one gone",
            "a/two gone",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_watch_of_one_namespace_says_nothing_about_others() {
        let events = vec![Event::Restarted, Event::Synced];
        let found = check(Some("a"), events, &[("a", "one"), ("b", "one")]);
        assert_eq!(found, ["a/one gone"]);
    }

    #[test]
    fn everything_was_heard_when_every_watch_has_told_everything() {
        let mut told = Told::new(&[source("Zone", &["a", "b"]), source("Record", &[])]);
        let watches = [("Zone", Some("a")), ("Record", None), ("Zone", Some("b"))];
        for (kind, namespace) in watches {
            assert!(!told.is_synced(), "before {kind} in {namespace:?}");
            let fed = Fed {
                kind,
                namespace: namespace.map(Arc::from),
                event: Event::Synced,
            };
            told.take_in(fed, |_| Vec::new());
        }
        assert!(told.is_synced());
    }

    #[test]
    fn a_kind_that_need_not_be_there_is_not_waited_for() {
        let mut told = Told::new(&[source("Gateway", &["a"])]);
        let fed = Fed {
            kind: "Gateway",
            namespace: Some(Arc::from("a")),
            event: Event::Absent,
        };
        told.take_in(fed, |_| Vec::new());
        assert!(!told.is_synced());
        told.waive(&("Gateway", Some(Arc::from("a"))));
        assert!(told.is_synced());
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let cases = [
            (Some("9"), Some("10"), true),
            (Some("10"), Some("10"), false),
            (Some("10"), Some("9"), false),
            (None, Some("1"), true),
            (Some("x"), Some("1"), true),
        ];
        for (known, told, newer) in cases {
            assert_eq!(is_newer(known, told), newer, "{known:?} {told:?}");
        }
    }
}
