//! The collector: what happens to objects because of other objects.
//!
//! Dependents go when their owners have gone, namespaces when they are empty, definitions when their last object is.
//! In a cluster this is kube-controller-manager's work and happens a little later. Here too: a write leaves tasks in
//! a queue, and whoever drives the engine takes [steps](Engine::collect) until none is left. Each step is
//! small, so that requests get their turn in between, and looks at the store as it is then, so that a task that has been
//! overtaken by events does nothing.
//!
//! ```text
//! owner removed ──► Gone ──► Dependent ──► removed, and so on down the tree
//! owner foreground ─► Owner ─► Dependent … each removal ─► Release ──► owner's finalizer taken away
//! owner orphan ─────► Owner ──► references cut, finalizer taken away
//! namespace deleted ─► Sweep, Sweep … each removal ─► Emptied ──► namespace removed
//! definition deleted ─► SweepKind … each removal ─► EmptiedKind ──► definition removed
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::delete::{FOREGROUND, ORPHAN};
use super::settle::note_own_change;
use super::update::is_finished;
use super::{Engine, Errand, custom};
use crate::key::{Key, Kind};
use crate::object::{Object, ObjectExt as _};
use crate::request::Propagation;
use crate::store::{Store, Stored};

/// How many objects one step of a sweep deletes: some ten milliseconds of work.
const SWEEP_MAX: usize = 100;

/// What is still to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    queue: VecDeque<Task>,
    /// The same tasks, so that none waits twice.
    queued: BTreeSet<Task>,
    /// What has to be requested because webhooks have a say in it.
    pub(super) errands: Vec<Errand>,
    /// The objects that such requests are under way about, each with what else is to be looked at when it is concluded.
    pub(super) under_way: BTreeMap<Key, BTreeSet<Task>>,
    /// How often in a row those about each object were refused.
    pub(super) refusals: BTreeMap<Key, u32>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Task {
    /// The object with this uid is gone: look at those it owned.
    Gone(Arc<str>),
    /// Does this object still have an owner?
    Dependent(Key),
    /// This object waits for its dependents: tell them.
    Owner(Key),
    /// Does anything still hold this owner?
    Release(Key),
    /// Delete what is in this namespace, from here on.
    Sweep(Arc<str>, Option<Key>),
    /// Is this namespace empty?
    Emptied(Arc<str>),
    /// Delete the objects of this definition, from here on.
    SweepKind(Arc<str>, Option<Key>),
    /// Are there no objects of this definition left?
    EmptiedKind(Arc<str>),
    /// Can this definition's kind be served?
    Define(Arc<str>),
}

/// An entry of `metadata.ownerReferences`.
struct Owner<'a> {
    uid: &'a str,
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    blocks: bool,
}

/// What is known of an owner.
enum Standing {
    /// It is there.
    Solid,
    /// It is not, or another object has its name.
    Absent,
    /// It is there and waits for its dependents to go.
    Waiting,
}

impl Collector {
    /// Takes up what was not finished: everything that is on its way out or has owners.
    pub(super) fn resume(&mut self, store: &Store) {
        for (key, stored) in store.all() {
            self.notice(&key, stored, false);
        }
    }

    /// Notes what may follow from a write.
    pub(super) fn notice(&mut self, key: &Key, stored: &Stored, removed: bool) {
        if removed {
            self.notice_end(key, stored);
        } else if stored.is_deleting() {
            self.notice_deletion(key);
        } else if custom::is_definition(&key.kind) {
            self.add(Task::Define(Arc::clone(&key.place.name)));
        }
        if !removed && !stored.owners().is_empty() {
            self.add(Task::Dependent(key.clone()));
        }
    }

    fn notice_end(&mut self, key: &Key, stored: &Stored) {
        self.refusals.remove(key);
        self.add(Task::Gone(Arc::clone(stored.uid())));
        if !key.place.namespace.is_empty() {
            self.add(Task::Emptied(Arc::clone(&key.place.namespace)));
        }
        self.add(Task::EmptiedKind(key.kind.to_string().into()));
    }

    fn notice_deletion(&mut self, key: &Key) {
        if key.kind.is("", "namespaces") {
            self.add(Task::Sweep(Arc::clone(&key.place.name), None));
        }
        if custom::is_definition(&key.kind) {
            self.add(Task::SweepKind(Arc::clone(&key.place.name), None));
        }
        self.add(Task::Owner(key.clone()));
    }

    pub(super) fn add(&mut self, task: Task) {
        if self.queued.insert(task.clone()) {
            self.queue.push_back(task);
        }
    }

    fn take(&mut self) -> Option<Task> {
        let task = self.queue.pop_front()?;
        self.queued.remove(&task);
        Some(task)
    }
}

impl Engine {
    /// Takes one step. False if there was nothing to do.
    pub(crate) fn collect(&mut self, now: Timestamp) -> bool {
        let Some(task) = self.collector.take() else {
            return false;
        };
        match task {
            Task::Gone(uid) => self.look_at_dependents(&uid),
            Task::Dependent(key) => self.look_at_owners(&key, now),
            Task::Owner(key) => self.prepare_end(&key, now),
            Task::Release(key) => self.release(&key, now),
            Task::Sweep(namespace, after) => self.sweep(&namespace, after.as_ref(), now),
            Task::Emptied(namespace) => self.finish_namespace(&namespace, now),
            Task::SweepKind(definition, after) => self.sweep_kind(&definition, after.as_ref(), now),
            Task::EmptiedKind(definition) => self.finish_definition(&definition, now),
            Task::Define(definition) => self.define(&definition, now),
        }
        true
    }

    fn look_at_dependents(&mut self, uid: &str) {
        let dependents: Vec<Key> = self.store.dependents(uid).cloned().collect();
        for key in dependents {
            self.collector.add(Task::Dependent(key));
        }
    }

    /// An object goes when all its owners have gone, or wait for it to go. As long as it has one that stays,
    /// it only forgets the others.
    fn look_at_owners(&mut self, key: &Key, now: Timestamp) {
        let Some(stored) = self.store.get(key) else {
            return;
        };
        let object = stored.object();
        let standings: Vec<(String, Standing)> = owners(&object)
            .map(|owner| (owner.uid.to_owned(), self.standing(key, &owner)))
            .collect();
        if object.is_deleting() || standings.is_empty() {
            return;
        }
        let staying = standings
            .iter()
            .any(|(_, standing)| matches!(standing, Standing::Solid));
        let leaving: Vec<&str> = standings
            .iter()
            .filter(|(_, standing)| !matches!(standing, Standing::Solid))
            .map(|(uid, _)| uid.as_str())
            .collect();
        if staying {
            let then = Task::Dependent(key.clone());
            let stored = Arc::clone(stored);
            self.disown(key, &stored, &leaving, then, now);
            return;
        }
        let waited_for = standings
            .iter()
            .any(|(_, standing)| matches!(standing, Standing::Waiting));
        let has_dependents = self.store.dependents(stored.uid()).next().is_some();
        let propagation = match finalizer_policy(&object) {
            Some(policy) => policy,
            None if waited_for && has_dependents => Propagation::Foreground,
            None => Propagation::Background,
        };
        let stored = Arc::clone(stored);
        match self.catalog.any_version(&key.kind).cloned() {
            Some(resource) if self.is_watched_over(&resource) => {
                self.want_deletion(&resource, (key, &stored), propagation, now);
            }
            Some(_) | None => self.delete_quietly(key, propagation, now),
        }
    }

    /// Owners that wait for an object hear of its end.
    pub(super) fn tell_owners(&mut self, key: &Key, last: &Stored) {
        if last.owners().is_empty() {
            return;
        }
        let object = last.object();
        for owner in owners(&object) {
            if let Some(waiting) = self.owner_key(key, &owner) {
                self.collector.add(Task::Release(waiting));
            }
        }
    }

    fn standing(&self, key: &Key, owner: &Owner<'_>) -> Standing {
        // A kind that is not served cannot be looked up: an owner is only given up when it is known to be gone.
        if self
            .catalog
            .find_kind(owner.api_version, owner.kind)
            .is_none()
        {
            return Standing::Solid;
        }
        let stored = self
            .owner_key(key, owner)
            .and_then(|key| self.store.get(&key));
        match stored {
            Some(stored) if stored.is_deleting() => {
                let object = stored.object();
                let waits = object
                    .metadata_texts("finalizers")
                    .any(|finalizer| finalizer == FOREGROUND);
                if waits {
                    Standing::Waiting
                } else {
                    Standing::Solid
                }
            }
            Some(_) => Standing::Solid,
            None => Standing::Absent,
        }
    }

    /// Where an owner lies, if it is there and has the uid it should have.
    fn owner_key(&self, dependent: &Key, owner: &Owner<'_>) -> Option<Key> {
        let resource = self.catalog.find_kind(owner.api_version, owner.kind)?;
        let namespace = if resource.is_namespaced() {
            &*dependent.place.namespace
        } else {
            ""
        };
        let key = resource.key_kind().key(namespace, owner.name);
        self.store
            .get(&key)
            .filter(|stored| &**stored.uid() == owner.uid)?;
        Some(key)
    }

    /// An object that waits for its dependents: they are told, or cut loose.
    fn prepare_end(&mut self, key: &Key, now: Timestamp) {
        let Some(stored) = self.store.get(key) else {
            return;
        };
        let (object, uid) = (stored.object(), Arc::clone(stored.uid()));
        match finalizer_policy(&object) {
            Some(Propagation::Orphan) => {
                let dependents: Vec<Key> = self.store.dependents(&uid).cloned().collect();
                for dependent in dependents {
                    if let Some(stored) = self.store.get(&dependent).cloned() {
                        let then = Task::Owner(key.clone());
                        self.disown(&dependent, &stored, &[&uid], then, now);
                    }
                }
                // Those about whom somebody is asked are cut loose later; then this is looked at again.
                if self.store.dependents(&uid).next().is_none() {
                    self.drop_finalizer(key, ORPHAN, Task::Owner(key.clone()), now);
                }
            }
            Some(Propagation::Foreground) => {
                self.look_at_dependents(&uid);
                self.collector.add(Task::Release(key.clone()));
            }
            Some(Propagation::Background) | None => {}
        }
    }

    /// An object that waits in the foreground goes when nothing that blocks it is left.
    fn release(&mut self, key: &Key, now: Timestamp) {
        let Some(stored) = self.store.get(key).filter(|stored| stored.is_deleting()) else {
            return;
        };
        let uid = Arc::clone(stored.uid());
        let blocked = self.store.dependents(&uid).any(|dependent| {
            let object = self.store.get(dependent).map(|stored| stored.object());
            object.is_some_and(|object| {
                owners(&object).any(|owner| owner.uid == &*uid && owner.blocks)
            })
        });
        if !blocked {
            self.drop_finalizer(key, FOREGROUND, Task::Release(key.clone()), now);
        }
    }

    /// Takes owners out of an object's references. If somebody has to be asked, `then` is looked at afterwards.
    fn disown(&mut self, key: &Key, stored: &Stored, uids: &[&str], then: Task, now: Timestamp) {
        if uids.is_empty() {
            return;
        }
        let old = stored.object();
        let mut object = old.clone();
        let metadata = object.metadata_mut();
        if let Some(Value::Array(references)) = metadata.get_mut("ownerReferences") {
            references.retain(|reference| {
                let uid = reference
                    .get("uid")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                !uids.contains(&uid)
            });
            let references = references.clone();
            if references.is_empty() {
                metadata.remove("ownerReferences");
            }
            if let Some(resource) = self.catalog.any_version(&key.kind).cloned() {
                if self.is_watched_over(&resource) {
                    let change = json!({ "ownerReferences": references });
                    self.want_change(&resource, (key, stored), change, then, now);
                    return;
                }
                note_own_change(&resource, &old, &mut object, ("kube-apiserver", ""), now);
            }
            self.put(key, object);
        }
    }

    /// Lets go of an object. If somebody has to be asked, `then` is looked at afterwards.
    fn drop_finalizer(&mut self, key: &Key, finalizer: &str, then: Task, now: Timestamp) {
        let Some(stored) = self.store.get(key).cloned() else {
            return;
        };
        let mut object = stored.object();
        if !object
            .metadata_texts("finalizers")
            .any(|held| held == finalizer)
        {
            return;
        }
        let others: Vec<Value> = object
            .metadata_texts("finalizers")
            .filter(|held| *held != finalizer)
            .map(Value::from)
            .collect();
        if let Some(resource) = self.catalog.any_version(&key.kind).cloned()
            && self.is_watched_over(&resource)
        {
            let change = json!({ "finalizers": others });
            self.want_change(&resource, (key, &stored), change, then, now);
            return;
        }
        let metadata = object.metadata_mut();
        if others.is_empty() {
            metadata.remove("finalizers");
        } else {
            metadata.insert("finalizers".into(), others.into());
        }
        if is_finished(&object) {
            self.remove(key);
        } else {
            self.put(key, object);
        }
    }

    /// Deletes some of what is in a namespace and comes back for the rest.
    fn sweep(&mut self, namespace: &Arc<str>, after: Option<&Key>, now: Timestamp) {
        let kinds: Vec<Kind> = self
            .store
            .kinds()
            .filter(|kind| after.is_none_or(|after| **kind >= after.kind))
            .cloned()
            .collect();
        let kinds = self.sweep_as_asked(kinds, namespace, after.is_none(), now);
        let mut found: Vec<Key> = Vec::new();
        for kind in kinds {
            let from = after
                .filter(|after| after.kind == kind)
                .map(|after| &after.place);
            let objects = self.store.list(&kind, Some(namespace), from);
            let keys = objects.map(|(place, _)| Key {
                kind: kind.clone(),
                place: place.clone(),
            });
            found.extend(keys.take(SWEEP_MAX - found.len()));
            if found.len() == SWEEP_MAX {
                break;
            }
        }
        for key in &found {
            self.delete_quietly(key, Propagation::Background, now);
        }
        match found.pop() {
            Some(last) => self
                .collector
                .add(Task::Sweep(Arc::clone(namespace), Some(last))),
            None => self.collector.add(Task::Emptied(Arc::clone(namespace))),
        }
    }
}

impl Engine {
    /// Wants those of these kinds deleted that somebody has to be asked about, once. The other kinds are left.
    fn sweep_as_asked(
        &mut self,
        kinds: Vec<Kind>,
        namespace: &str,
        first: bool,
        now: Timestamp,
    ) -> Vec<Kind> {
        let mut others = Vec::new();
        for kind in kinds {
            let resource = self.catalog.any_version(&kind).cloned();
            let resource = resource.filter(|resource| self.is_watched_over(resource));
            let Some(resource) = resource else {
                others.push(kind);
                continue;
            };
            let staying = |(_, stored): (_, &Arc<Stored>)| !stored.is_deleting();
            if first && self.store.list(&kind, Some(namespace), None).any(staying) {
                self.want_sweep(&resource, namespace, now);
            }
        }
        others
    }
}

fn finalizer_policy(object: &Object) -> Option<Propagation> {
    object
        .metadata_texts("finalizers")
        .find_map(|finalizer| match finalizer {
            FOREGROUND => Some(Propagation::Foreground),
            ORPHAN => Some(Propagation::Orphan),
            _ => None,
        })
}

fn owners(object: &Object) -> impl Iterator<Item = Owner<'_>> {
    let references = object
        .metadata()
        .and_then(|metadata| metadata.get("ownerReferences"))
        .and_then(Value::as_array);
    references.into_iter().flatten().map(|reference| {
        let text = |field: &str| {
            reference
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        Owner {
            uid: text("uid"),
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            blocks: reference
                .get("blockOwnerDeletion")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
        }
    })
}
