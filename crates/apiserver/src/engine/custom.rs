//! Custom kinds: keeps the catalog in step with the CustomResourceDefinitions in the store.

use std::sync::Arc;

use jiff::Timestamp;

use super::Engine;
use super::collect::Task;
use super::settle::note_own_change;
use super::update::is_finished;
use crate::builtin;
use crate::crd::{self, Step, Taken};
use crate::key::{Key, Kind};
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};
use crate::request::Propagation;
use crate::resource::{Origin, Resource};
use crate::store::Stored;

/// How many objects one step deletes on behalf of their definition.
const SWEEP_MAX: usize = 100;

/// Whether objects of this kind are definitions of other kinds.
pub(super) fn is_definition(kind: &Kind) -> bool {
    kind.is("apiextensions.k8s.io", "customresourcedefinitions")
}

fn definition_key(name: &str) -> Key {
    Kind::new("apiextensions.k8s.io", "customresourcedefinitions").key("", name)
}

/// The kind that the definition called `name` is of: `<plural>.<group>`.
fn defined_kind(name: &str) -> Kind {
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    Kind::new(group, plural)
}

impl Engine {
    /// Serves the kinds of all definitions in the store.
    pub(super) fn serve_stored_definitions(&mut self) {
        let definitions = Kind::new("apiextensions.k8s.io", "customresourcedefinitions");
        let keys: Vec<Key> = self
            .store
            .list(&definitions, None, None)
            .map(|(place, _)| definitions.key("", &place.name))
            .collect();
        for key in keys {
            self.definition_changed(&key);
        }
    }

    /// Serves what a definition says now; nothing if it is gone.
    pub(super) fn definition_changed(&mut self, key: &Key) {
        if !is_definition(&key.kind) {
            return;
        }
        let definition = self.store.get(key).map(|stored| stored.object());
        // A definition that was accepted compiles. Should one not, its kind is not served rather than served wrong.
        let resources = definition
            .map(|definition| crd::resources(&definition).unwrap_or_default())
            .unwrap_or_default();
        let kind = defined_kind(&key.place.name);
        let served = self.catalog.any_version(&kind).is_some();
        if served || !resources.is_empty() {
            Arc::make_mut(&mut self.catalog).replace(&kind, resources);
        }
    }

    /// Objects of a kind that is going away are no longer made.
    pub(super) fn check_definition(&self, resource: &Resource, key: &Key) -> Result<(), Refusal> {
        let definition = self.store.get(&definition_key(&key.kind.to_string()));
        // Only what is being deleted terminates; the others, which are nearly all, are not parsed for this.
        let terminating = |definition: &Arc<Stored>| {
            definition.is_deleting() && crd::is_terminating(&definition.object())
        };
        if resource.origin == Origin::Custom && definition.is_some_and(terminating) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Refusal::forbidden(resource.subject(&key.place.name), why));
        }
        Ok(())
    }

    /// Hands out names to the definitions of a group until nothing changes.
    pub(super) fn define(&mut self, name: &str, now: Timestamp) {
        let key = definition_key(name);
        let Some(mut definition) = self.store.get(&key).map(|stored| stored.object()) else {
            return;
        };
        let group = defined_kind(name).group;
        let taken = self.names_taken(&group);
        let old = definition.clone();
        if crd::settle(&mut definition, &taken, now) {
            self.put_status(&key, &old, definition, now);
        }
    }

    fn names_taken(&self, group: &str) -> Taken {
        let definitions = Kind::new("apiextensions.k8s.io", "customresourcedefinitions");
        let objects: Vec<Object> = self
            .store
            .list(&definitions, None, None)
            .map(|(_, stored)| stored.object())
            .collect();
        let mut taken = Taken::by_definitions(group, &objects);
        let builtin = self
            .catalog
            .resources()
            .filter(|resource| resource.origin == Origin::Builtin);
        for resource in builtin.filter(|resource| resource.names.group == group) {
            taken.add_builtin(&resource.names);
        }
        taken
    }

    /// Deletes some of the objects of a definition that is on its way out, and comes back for the rest.
    pub(super) fn sweep_kind(
        &mut self,
        definition: &Arc<str>,
        after: Option<&Key>,
        now: Timestamp,
    ) {
        let kind = defined_kind(definition);
        let from = after.map(|after| &after.place);
        let found: Vec<Key> = self
            .store
            .list(&kind, None, from)
            .map(|(place, _)| Key {
                kind: kind.clone(),
                place: place.clone(),
            })
            .take(SWEEP_MAX)
            .collect();
        if after.is_none() {
            self.record_step(definition, now);
        }
        for key in &found {
            self.delete_quietly(key, Propagation::Background, now);
        }
        match found.into_iter().next_back() {
            Some(last) => self
                .collector
                .add(Task::SweepKind(Arc::clone(definition), Some(last))),
            None => self
                .collector
                .add(Task::EmptiedKind(Arc::clone(definition))),
        }
    }

    /// Lets go of a definition none of whose objects is left.
    pub(super) fn finish_definition(&mut self, definition: &str, now: Timestamp) {
        let remaining = self.store.count(&defined_kind(definition));
        let stored = self.store.get(&definition_key(definition));
        match stored.map(|stored| crd::next(&stored.object(), remaining)) {
            Some(Step::Release | Step::ReleaseUnused) => self.record_step(definition, now),
            Some(Step::Rest | Step::DeleteInstances) | None => {}
        }
    }

    fn record_step(&mut self, name: &str, now: Timestamp) {
        let key = definition_key(name);
        let Some(mut definition) = self.store.get(&key).map(|stored| stored.object()) else {
            return;
        };
        let old = definition.clone();
        let step = crd::next(&definition, self.store.count(&defined_kind(name)));
        if !crd::record(&mut definition, step, now) {
            return;
        }
        if is_finished(&definition) {
            self.remove(&key);
            self.reconsider_group(&defined_kind(name).group);
        } else {
            self.put_status(&key, &old, definition, now);
        }
    }

    /// Stores what the API itself has written into the status of a definition.
    fn put_status(&mut self, key: &Key, old: &Object, mut definition: Object, now: Timestamp) {
        if let Some(resource) = self.catalog.any_version(&key.kind) {
            let writer = ("kube-apiserver", "status");
            note_own_change(resource, old, &mut definition, writer, now);
        }
        self.put(key, definition);
    }

    /// Names that have become free may be what other definitions of the group wait for.
    fn reconsider_group(&mut self, group: &str) {
        let definitions = Kind::new("apiextensions.k8s.io", "customresourcedefinitions");
        let names: Vec<Arc<str>> = self
            .store
            .list(&definitions, None, None)
            .map(|(place, _)| Arc::clone(&place.name))
            .filter(|name| *defined_kind(name).group == *group)
            .collect();
        for name in names {
            self.collector.add(Task::Define(name));
        }
    }
}

/// The refusal of an object that is not of the kind its path says.
pub(super) fn wrong_kind(
    resource: &Resource,
    name: &str,
    kind: &str,
    api_version: &str,
) -> Refusal {
    let expected = &resource.names.kind;
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    match resource.origin {
        Origin::Builtin if api_version == "apiextensions.k8s.io/v1beta1" => {
            other_version(resource, api_version)
        }
        Origin::Builtin => {
            let why = match builtin::go_type(&resource.names.group, expected) {
                Some(to) if builtin::is_known(api_version, kind) => {
                    format!("converting ({version}.{kind}) to ({to}): unknown conversion")
                }
                Some(_) | None => format!(
                    "no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \
                     \"pkg/runtime/scheme.go:111\""
                ),
            };
            Refusal::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {expected}: {why}"
            ))
        }
        Origin::Custom if api_version != resource.api_version() => {
            other_version(resource, api_version)
        }
        Origin::Custom => {
            let subject = Subject {
                what: kind,
                ..resource.subject(name)
            };
            let why = format!("must be {expected}");
            Refusal::invalid(
                subject,
                &[FieldError::invalid(FieldPath::of("kind"), kind, why)],
            )
        }
    }
}

fn other_version(resource: &Resource, api_version: &str) -> Refusal {
    Refusal::bad_request(format!(
        "the API version in the data ({api_version}) does not match the expected API version ({})",
        resource.api_version(),
    ))
}
