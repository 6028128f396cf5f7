//! `delete` and `deletecollection`: objects go, at once or when those who hold them let go.
//!
//! An object without finalizers goes at once. Otherwise its deletion is written into it and whoever put a
//! finalizer there takes it away when done; the update that takes the last one away is the object's end. Two finalizers
//! are the [collector](super::collect)'s own: `foregroundDeletion` and `orphan` make it look after the
//! object's dependents first.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::settle::seconds;
use super::update::is_finished;
use super::{Answer, Call, Content, Engine, Page, Step, Suspended, key};
use crate::admission::Phase;
use crate::crd;
use crate::key::Key;
use crate::object::{Object, ObjectExt};
use crate::refusal::{Refusal, Subject};
use crate::request::{DeleteOptions, ListOptions, Propagation};
use crate::resource::{Origin, Resource};
use crate::selection::Selection;
use crate::store::Stored;

pub(super) const FOREGROUND: &str = "foregroundDeletion";
pub(super) const ORPHAN: &str = "orphan";

/// What became of an object that was to go.
enum Deleted {
    Gone(Arc<Stored>),
    Going(Arc<Stored>),
}

/// An object that is to go, if nobody who is asked minds.
#[derive(Debug)]
pub(super) struct Deletion {
    pub(super) resource: Arc<Resource>,
    pub(super) key: Key,
    pub(super) stored: Arc<Stored>,
    pub(super) options: DeleteOptions,
    pub(super) warnings: Vec<String>,
    /// Those that are to go after it, if it is one of many.
    among: Option<Collection>,
}

/// Many objects that are to go.
#[derive(Debug)]
struct Collection {
    rest: VecDeque<Key>,
    /// All of them, as they were.
    page: Page,
}

impl Engine {
    pub(super) fn delete(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        let options = delete_options(call)?;
        let key = key(resource, call);
        let stored = Arc::clone(self.existing(resource, &key)?);
        check_preconditions(resource, &key, &stored, &options)?;
        super::namespace::check_deletable(resource, &key.place.name)?;
        let deletion = Deletion {
            resource: Arc::clone(resource),
            key,
            stored,
            options,
            warnings: Vec::new(),
            among: None,
        };
        self.ask_or_delete(Phase::Mutating, deletion, call)
    }

    pub(super) fn delete_collection(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        let everywhere = call.target.place.namespace().is_none();
        if everywhere && (resource.is_namespaced() || super::namespace::is_namespace(resource)) {
            return Err(Refusal::method_not_allowed());
        }
        let options = delete_options(call)?;
        let selection = Selection::new(resource, &ListOptions::for_list(&call.query)?)?;
        let namespace = call.target.place.namespace();
        let kind = resource.key_kind();
        let revision = self.store.revision();
        let matching = self
            .store
            .list(&kind, namespace, None)
            .filter(|(place, stored)| selection.matches(place, stored))
            .map(|(place, stored)| {
                let place = place.clone();
                let kind = kind.clone();
                (Key { kind, place }, Arc::clone(stored))
            });
        let (rest, items) = matching.unzip();
        let page = Page {
            items,
            revision,
            next: None,
            remaining: None,
        };
        let collection = Collection { rest, page };
        self.delete_each(resource, &options, collection, Vec::new(), call)
    }

    /// Goes on with an object about whose end the webhooks of a phase have been asked.
    pub(super) fn go_on_deleting(
        &mut self,
        asked: Phase,
        deletion: Deletion,
        call: &Call,
    ) -> Result<Step, Refusal> {
        if !self.stands(&deletion.key, deletion.stored.revision()) {
            // It was changed: those who were asked have not seen that.
            let Some(mut collection) = deletion.among else {
                return Ok(Step::Again);
            };
            collection.rest.push_front(deletion.key);
            let (resource, options) = (deletion.resource, deletion.options);
            return self.delete_each(&resource, &options, collection, deletion.warnings, call);
        }
        match asked {
            Phase::Mutating => self.ask_or_delete(Phase::Validating, deletion, call),
            Phase::Validating => self.delete_and_go_on(deletion, call),
        }
    }

    /// Asks the webhooks of a phase and those of the next, if it concerns them.
    fn ask_or_delete(
        &mut self,
        first: Phase,
        deletion: Deletion,
        call: &Call,
    ) -> Result<Step, Refusal> {
        for phase in [Phase::Mutating, Phase::Validating] {
            if phase < first {
                continue;
            }
            if let Some(asking) = self.ask_about_deletion(phase, &deletion, call)? {
                return Ok(Step::Ask(asking, Suspended::doomed(phase, deletion)));
            }
        }
        self.delete_and_go_on(deletion, call)
    }

    fn delete_and_go_on(&mut self, deletion: Deletion, call: &Call) -> Result<Step, Refusal> {
        let Deletion {
            resource,
            key,
            stored,
            options,
            warnings,
            among,
        } = deletion;
        let deleted = self.delete_object(&resource, &key, &stored, &options, call.now)?;
        if let Some(collection) = among {
            return self.delete_each(&resource, &options, collection, warnings, call);
        }
        let answer = match deleted {
            Deleted::Gone(last) if shows_last(&resource) => Answer::object(200, &resource, last),
            Deleted::Gone(last) => Answer::plain(Content::Document {
                code: 200,
                value: success(&resource, &key, &last),
            }),
            Deleted::Going(object) => {
                let code = if options.orphan_dependents == Some(false) {
                    202
                } else {
                    200
                };
                Answer::object(code, &resource, object)
            }
        };
        Ok(Step::Done(Answer { warnings, ..answer }))
    }

    /// Deletes one after the other, up to the first about which somebody has to be asked.
    fn delete_each(
        &mut self,
        resource: &Arc<Resource>,
        options: &DeleteOptions,
        mut collection: Collection,
        warnings: Vec<String>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        while let Some(key) = collection.rest.pop_front() {
            let Some(stored) = self.store.get(&key).cloned() else {
                continue;
            };
            super::namespace::check_deletable(resource, &key.place.name)?;
            let mut deletion = Deletion {
                resource: Arc::clone(resource),
                key,
                stored,
                options: options.clone(),
                warnings: Vec::new(),
                among: None,
            };
            for phase in [Phase::Mutating, Phase::Validating] {
                if let Some(asking) = self.ask_about_deletion(phase, &deletion, call)? {
                    deletion.warnings = warnings;
                    deletion.among = Some(collection);
                    return Ok(Step::Ask(asking, Suspended::doomed(phase, deletion)));
                }
            }
            let Deletion { key, stored, .. } = deletion;
            self.delete_object(resource, &key, &stored, options, call.now)?;
        }
        let content = Content::List {
            resource: Arc::clone(resource),
            page: collection.page,
        };
        Ok(Step::Done(Answer { content, warnings }))
    }

    /// Deletes as the collector does it: in the background, whatever the object's own wishes.
    pub(super) fn delete_quietly(&mut self, key: &Key, propagation: Propagation, now: Timestamp) {
        let (Some(stored), Some(resource)) = (
            self.store.get(key).cloned(),
            self.catalog.any_version(&key.kind).cloned(),
        ) else {
            return;
        };
        let options = DeleteOptions {
            propagation: Some(propagation),
            ..DeleteOptions::default()
        };
        // Refusals are for people: a namespace that cannot be deleted by hand is not deleted by its owner either.
        let _refused = self.delete_object(&resource, key, &stored, &options, now);
    }

    fn delete_object(
        &mut self,
        resource: &Resource,
        key: &Key,
        stored: &Arc<Stored>,
        options: &DeleteOptions,
        now: Timestamp,
    ) -> Result<Deleted, Refusal> {
        super::namespace::check_deletable(resource, &key.place.name)?;
        let old = resource.show(stored.object());
        let mut object = old.clone();
        set_policy(&mut object, options.propagation);
        mark(&mut object, now, has_grace(resource));
        if super::custom::is_definition(&key.kind) && !old.is_deleting() {
            crd::mark_for_deletion(&mut object, now);
        }
        super::namespace::mark(resource, &mut object);
        if is_finished(&object) {
            let last = if options.dry_run {
                Arc::clone(stored)
            } else {
                self.remove(key).unwrap_or_else(|| Arc::clone(stored))
            };
            return Ok(Deleted::Gone(last));
        }
        if object == old {
            return Ok(Deleted::Going(Arc::clone(stored)));
        }
        if options.dry_run {
            return Ok(Deleted::Going(Arc::new(Stored::unwritten(
                resource.keep(object),
                Some(stored.revision()),
            ))));
        }
        Ok(Deleted::Going(self.put(key, resource.keep(object))))
    }
}

fn delete_options(call: &Call) -> Result<DeleteOptions, Refusal> {
    let body = call.body.as_ref().map(|body| &body.value);
    let object = match body {
        None | Some(Value::Null) => None,
        Some(Value::Object(object)) => Some(object),
        Some(other) => {
            return Err(Refusal::bad_request(format!(
                "delete options are an object, not {other}"
            )));
        }
    };
    if let Some(kind) = object
        .map(ObjectExt::kind)
        .filter(|kind| !matches!(*kind, "" | "DeleteOptions"))
    {
        let version = object
            .map(ObjectExt::api_version)
            .filter(|version| !version.is_empty());
        let version = version.unwrap_or("meta.k8s.io/v1");
        return Err(Refusal::bad_request(format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    DeleteOptions::read(&call.query, object)
}

fn check_preconditions(
    resource: &Resource,
    key: &Key,
    stored: &Stored,
    options: &DeleteOptions,
) -> Result<(), Refusal> {
    if !has_grace(resource) {
        return check_plain_preconditions(resource, key, stored, options);
    }
    // kube-apiserver says the kind here where it says the plural elsewhere.
    let subject = Subject {
        what: &resource.names.kind,
        ..resource.subject(&key.place.name)
    };
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != &**stored.uid()) {
        return Err(Refusal::conflict(
            subject,
            &format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). \
             The object might have been deleted and then recreated",
                stored.uid(),
            ),
        ));
    }
    let revision = stored.revision().to_string();
    if let Some(asked) = options
        .revision
        .as_deref()
        .filter(|asked| *asked != revision)
    {
        return Err(Refusal::conflict(
            subject,
            &format!(
                "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({revision}). \
             The object might have been modified",
            ),
        ));
    }
    Ok(())
}

/// Whoever ends in a way of their own is compared in a way of their own, and told in other words.
fn check_plain_preconditions(
    resource: &Resource,
    key: &Key,
    stored: &Stored,
    options: &DeleteOptions,
) -> Result<(), Refusal> {
    let (uid, revision) = (stored.uid().to_string(), stored.revision().to_string());
    for (what, asked, found) in [
        ("UID", &options.uid, uid),
        ("ResourceVersion", &options.revision, revision),
    ] {
        if let Some(asked) = asked.as_deref().filter(|asked| *asked != found) {
            let why = format!(
                "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}"
            );
            return Err(Refusal::conflict(resource.subject(&key.place.name), &why));
        }
    }
    Ok(())
}

/// Puts down what is to become of the dependents, as a finalizer. Without a wish an earlier one stands.
fn set_policy(object: &mut Object, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else {
        return;
    };
    let wanted = match propagation {
        Propagation::Background => None,
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Orphan => Some(ORPHAN),
    };
    let others = object
        .metadata_texts("finalizers")
        .filter(|finalizer| ![FOREGROUND, ORPHAN].contains(finalizer));
    let finalizers: Vec<Value> = others.chain(wanted).map(Value::from).collect();
    let metadata = object.metadata_mut();
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".into(), finalizers.into());
    }
}

/// Namespaces and definitions end in a way of their own, in which there is no grace period.
pub(super) fn has_grace(resource: &Resource) -> bool {
    let names = &resource.names;
    !matches!(
        (names.group.as_str(), names.plural.as_str()),
        ("", "namespaces") | ("apiextensions.k8s.io", "customresourcedefinitions")
    )
}

/// Kinds whose objects are shown once more when they are gone.
fn shows_last(resource: &Resource) -> bool {
    let plural = resource.names.plural.as_str();
    resource.origin == Origin::Builtin
        && matches!(
            plural,
            "services"
                | "serviceaccounts"
                | "namespaces"
                | "pods"
                | "persistentvolumes"
                | "persistentvolumeclaims"
                | "resourcequotas"
                | "storageclasses"
        )
}

/// Writes the deletion into an object, once.
fn mark(object: &mut Object, now: Timestamp, grace: bool) {
    if object.is_deleting() {
        return;
    }
    let metadata = object.metadata_mut();
    metadata.insert("deletionTimestamp".into(), seconds(now).into());
    if !grace {
        return;
    }
    metadata.insert("deletionGracePeriodSeconds".into(), 0.into());
    if let Some(generation) = metadata.get("generation").and_then(Value::as_i64) {
        metadata.insert("generation".into(), (generation + 1).into());
    }
}

fn success(resource: &Resource, key: &Key, last: &Stored) -> Value {
    let mut details =
        json!({ "name": &*key.place.name, "kind": resource.names.plural, "uid": &**last.uid() });
    if !resource.names.group.is_empty() {
        details["group"] = resource.names.group.as_str().into();
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}
