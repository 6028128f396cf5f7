//! Namespaces: what may be in them, and how they end.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Engine;
use super::settle::{note_own_change, seconds};
use super::update::is_finished;
use crate::key::{Key, Kind};
use crate::object::{Object, ObjectExt as _};
use crate::refusal::Refusal;
use crate::resource::Resource;

/// Namespaces that cannot be deleted.
const UNDELETABLE: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Namespaces that every cluster has.
pub(crate) const PERMANENT: [&str; 4] =
    ["default", "kube-node-lease", "kube-public", "kube-system"];

impl Engine {
    /// Objects go only into namespaces that are there and stay.
    pub(super) fn check_namespace(&self, resource: &Resource, new: &Object) -> Result<(), Refusal> {
        if !resource.is_namespaced() {
            return Ok(());
        }
        let namespace = new.namespace();
        let namespaces = Kind::new("", "namespaces");
        let subject = crate::refusal::Subject {
            group: "",
            what: "namespaces",
            name: namespace,
        };
        let stored = self
            .store
            .get(&namespaces.key("", namespace))
            .ok_or_else(|| Refusal::not_found(subject))?;
        if !stored.is_deleting() {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        // The name has not been made yet if it is to be generated.
        let prefix = new.metadata_text("generateName").unwrap_or_default();
        let name = if new.name().is_empty() {
            prefix
        } else {
            new.name()
        };
        let mut refusal = Refusal::forbidden(resource.subject(name), &why);
        if let Some(details) = &mut refusal.details {
            details["causes"] = json!([{
                "reason": "NamespaceTerminating",
                "message": format!("namespace {namespace} is being terminated"),
                "field": "metadata.namespace",
            }]);
        }
        Err(refusal)
    }
}

impl Engine {
    /// Tells of a namespace what is left in it, and lets it go if that is nothing.
    pub(super) fn finish_namespace(&mut self, namespace: &str, now: Timestamp) {
        let key = Kind::new("", "namespaces").key("", namespace);
        let Some(stored) = self.store.get(&key).filter(|stored| stored.is_deleting()) else {
            return;
        };
        let old = stored.object();
        let remaining = self.remaining(namespace);
        let mut object = old.clone();
        tell(&mut object, &remaining, now);
        if object == old {
            if remaining.is_empty() {
                self.release_namespace(&key, object);
            }
            return;
        }
        // What was found is told before anything follows from it: this is looked at again then.
        if let Some(resource) = self.catalog.any_version(&key.kind) {
            let writer = ("kube-controller-manager", "status");
            note_own_change(resource, &old, &mut object, writer, now);
        }
        self.put(&key, object);
    }

    /// Takes away what kept a namespace until it was empty. Its other finalizers are somebody else's.
    fn release_namespace(&mut self, key: &Key, mut namespace: Object) {
        let spec = namespace.get_mut("spec").and_then(Value::as_object_mut);
        let kept = spec.and_then(|spec| spec.remove("finalizers"));
        if is_finished(&namespace) {
            self.remove(key);
        } else if kept.is_some() {
            self.put(key, namespace);
        }
    }

    /// Some of what is left in a namespace, which is enough to say what holds it.
    fn remaining(&self, namespace: &str) -> Vec<(String, Vec<String>)> {
        let mut remaining = Vec::new();
        for kind in self.store.kinds() {
            let name = match &*kind.group {
                "" => format!("{}.", kind.plural),
                _ => kind.to_string(),
            };
            let objects = self.store.list(kind, Some(namespace), None);
            remaining.extend(
                objects
                    .take(REMAINING_MAX - remaining.len())
                    .map(|(_, stored)| {
                        let finalizers = stored.object();
                        let finalizers = finalizers
                            .metadata_texts("finalizers")
                            .map(str::to_owned)
                            .collect();
                        (name.clone(), finalizers)
                    }),
            );
        }
        remaining
    }
}

/// How many objects are looked at to say what holds a namespace: people read the first few.
const REMAINING_MAX: usize = 100;

/// Writes into a namespace what its end waits for, in kube-controller-manager's words.
fn tell(namespace: &mut Object, remaining: &[(String, Vec<String>)], now: Timestamp) {
    let counted = |names: Vec<&String>, word: &str| {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for name in names {
            *counts.entry(name).or_default() += 1;
        }
        let told = counts
            .iter()
            .map(|(name, count)| format!("{name} {word} {count} resource instances"));
        told.collect::<Vec<_>>().join(", ")
    };
    let content = counted(remaining.iter().map(|(name, _)| name).collect(), "has");
    let finalizers = counted(
        remaining
            .iter()
            .flat_map(|(_, finalizers)| finalizers)
            .collect(),
        "in",
    );
    let failures = [
        (
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ];
    for (kind, reason, message) in failures {
        set_condition(namespace, (kind, false, reason), message, now);
    }
    let (kind, reason) = ("NamespaceContentRemaining", "SomeResourcesRemain");
    match content.as_str() {
        "" => set_condition(
            namespace,
            (kind, false, "ContentRemoved"),
            "All content successfully removed",
            now,
        ),
        content => {
            let message = format!("Some resources are remaining: {content}");
            set_condition(namespace, (kind, true, reason), &message, now);
        }
    }
    let (kind, reason) = ("NamespaceFinalizersRemaining", "SomeFinalizersRemain");
    match finalizers.as_str() {
        "" => {
            let message = "All content-preserving finalizers finished";
            set_condition(
                namespace,
                (kind, false, "ContentHasNoFinalizers"),
                message,
                now,
            );
        }
        finalizers => {
            let message =
                format!("Some content in the namespace has finalizers remaining: {finalizers}");
            set_condition(namespace, (kind, true, reason), &message, now);
        }
    }
}

/// Writes a condition. The time of its last transition moves when it begins or ceases to hold.
fn set_condition(
    object: &mut Object,
    (kind, holds, reason): (&str, bool, &str),
    message: &str,
    now: Timestamp,
) {
    let status = if holds { "True" } else { "False" };
    let conditions = object.entry("status").or_insert_with(|| json!({}));
    let Some(conditions) = conditions.as_object_mut() else {
        return;
    };
    let conditions = conditions.entry("conditions").or_insert_with(|| json!([]));
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    let found = conditions
        .iter_mut()
        .find(|condition| condition["type"] == kind);
    let since = match &found {
        Some(condition) if condition["status"] == status => condition["lastTransitionTime"].clone(),
        Some(_) | None => seconds(now).into(),
    };
    let condition = json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
    });
    match found {
        Some(place) => *place = condition,
        None => conditions.push(condition),
    }
}

/// The cluster's own namespaces stay.
pub(super) fn check_deletable(resource: &Resource, name: &str) -> Result<(), Refusal> {
    if is_namespace(resource) && UNDELETABLE.contains(&name) {
        return Err(Refusal::forbidden(
            resource.subject(name),
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

/// A namespace that is to go says so in its phase.
pub(super) fn mark(resource: &Resource, object: &mut Object) {
    if is_namespace(resource) {
        let status = object.entry("status").or_insert_with(|| json!({}));
        status["phase"] = "Terminating".into();
    }
}

pub(super) fn is_namespace(resource: &Resource) -> bool {
    resource.names.group.is_empty() && resource.names.plural == "namespaces"
}
