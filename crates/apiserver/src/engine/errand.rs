//! Errands: what the collector does to objects that webhooks have a say in.
//!
//! Nobody can be asked in the middle of a step. Such a change is put down as a request, as kube-controller-manager makes it, and
//! whoever drives the engine sends it like anybody's. What follows from it waits until it is done. If it is refused, it is
//! considered anew after a pause that grows.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::collect::Task;
use super::{Call, Engine};
use crate::admission::Phase;
use crate::body::Body;
use crate::key::Key;
use crate::patch::{Patch, PatchKind};
use crate::refusal::Refusal;
use crate::request::{Propagation, Query, Target, Verb};
use crate::resource::Resource;
use crate::store::Stored;
use crate::user::User;

/// How long nothing happens after a first refusal; it doubles with each.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest pause: a webhook that comes back is asked within a minute.
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// Who sees to dependents, and who to the contents of namespaces: the service accounts of kube-controller-manager.
const GARBAGE_COLLECTOR: &str = "generic-garbage-collector";
const NAMESPACE_CONTROLLER: &str = "namespace-controller";

/// The program that they are part of.
const AGENT: &str = "kube-controller-manager";

/// A request that the collector wants to be carried out.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) call: Call,
    /// The object it is about; of a whole kind its name is empty. There is one at a time.
    about: Key,
    done: Task,
    refused: Task,
}

/// Something to be looked at again.
#[derive(Debug)]
pub(crate) struct Later(BTreeSet<Task>);

impl Engine {
    /// The requests that steps of the collector have put down since this was last asked.
    pub(crate) fn take_errands(&mut self) -> Vec<Errand> {
        std::mem::take(&mut self.collector.errands)
    }

    /// Takes note of what became of an errand. If it was refused: what to take up, and after which pause.
    pub(crate) fn conclude(
        &mut self,
        errand: Errand,
        refusal: Option<&Refusal>,
    ) -> Option<(Duration, Later)> {
        let mut tasks = self.collector.under_way.remove(&errand.about);
        let tasks = tasks.get_or_insert_default();
        // What is gone needs nothing any more.
        if refusal.is_none_or(|refusal| refusal.code == 404) {
            self.collector.refusals.remove(&errand.about);
            tasks.insert(errand.done);
            self.take_up(Later(std::mem::take(tasks)));
            return None;
        }
        let count = self.collector.refusals.entry(errand.about).or_default();
        let pause = PAUSE.saturating_mul(1 << (*count).min(16));
        *count += 1;
        tasks.insert(errand.refused);
        Some((pause.min(PAUSE_MAX), Later(std::mem::take(tasks))))
    }

    fn want(&mut self, errand: Errand) {
        match self.collector.under_way.entry(errand.about.clone()) {
            Entry::Vacant(place) => {
                place.insert(BTreeSet::new());
                self.collector.errands.push(errand);
            }
            Entry::Occupied(mut place) => {
                place.get_mut().insert(errand.done);
            }
        }
    }

    /// Takes up again what was refused.
    pub(crate) fn take_up(&mut self, Later(tasks): Later) {
        for task in tasks {
            self.collector.add(task);
        }
    }

    /// Whether somebody has to be asked about a change of objects of this kind.
    pub(super) fn is_watched_over(&self, resource: &Resource) -> bool {
        [Phase::Mutating, Phase::Validating]
            .into_iter()
            .any(|phase| !self.webhooks.concerned(phase, resource).is_empty())
    }

    /// Wants an object deleted, if it is still the same: with other owners it may be one that stays.
    pub(super) fn want_deletion(
        &mut self,
        resource: &Resource,
        (key, stored): (&Key, &Stored),
        propagation: Propagation,
        now: Timestamp,
    ) {
        let policy = match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let (uid, revision) = (&**stored.uid(), stored.revision().to_string());
        let options = json!({
            "preconditions": { "uid": uid, "resourceVersion": revision },
            "propagationPolicy": policy,
        });
        let task = Task::Dependent(key.clone());
        self.want(Errand {
            call: call(resource, key, Verb::Delete, options, now),
            about: key.clone(),
            done: task.clone(),
            refused: task,
        });
    }

    /// Wants an object's metadata changed, if it is still the same, and something looked at then.
    pub(super) fn want_change(
        &mut self,
        resource: &Resource,
        (key, stored): (&Key, &Stored),
        mut metadata: Value,
        then: Task,
        now: Timestamp,
    ) {
        metadata["resourceVersion"] = stored.revision().to_string().into();
        let patch = json!({ "metadata": metadata });
        self.want(Errand {
            call: Call {
                patch: Some(Patch::Change(PatchKind::Merge)),
                ..call(resource, key, Verb::Patch, patch, now)
            },
            about: key.clone(),
            done: then.clone(),
            refused: then,
        });
    }

    /// Wants everything of a kind deleted that is in a namespace.
    pub(super) fn want_sweep(&mut self, resource: &Resource, namespace: &str, now: Timestamp) {
        let key = resource.key_kind().key(namespace, "");
        let options = json!({ "propagationPolicy": "Background" });
        let call = call(resource, &key, Verb::DeleteCollection, options, now);
        self.want(Errand {
            call: Call {
                user: controller(NAMESPACE_CONTROLLER),
                target: Target {
                    name: None,
                    ..call.target
                },
                ..call
            },
            about: key,
            done: Task::Emptied(namespace.into()),
            refused: Task::Sweep(namespace.into(), None),
        });
    }
}

fn call(resource: &Resource, key: &Key, verb: Verb, body: Value, now: Timestamp) -> Call {
    Call {
        user: controller(GARBAGE_COLLECTOR),
        verb,
        target: Target::of_object(resource, key),
        query: Query::parse(""),
        body: Some(Body {
            value: body,
            duplicates: Vec::new(),
            repeated: None,
        }),
        patch: None,
        user_agent: Some(AGENT.to_owned()),
        now,
    }
}

fn controller(name: &str) -> User {
    User::service_account("kube-system", name, "")
}
