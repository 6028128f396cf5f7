//! The engine: what the API does with a request that is about objects.
//!
//! `(request, &mut store, now) -> answer`, one function per verb. Nothing here waits, reads a clock or writes to a
//! disk; chance is a generator that is handed in. Two engines given the same requests at the same times
//! give the same answers and hold the same objects.

mod admit;
mod apply;
mod collect;
mod create;
mod custom;
mod delete;
mod errand;
mod list;
mod namespace;
mod review;
mod scale;
mod sent;
mod settle;
mod token;
mod update;
mod watch;

use std::sync::Arc;

use jiff::Timestamp;
use rand::rngs::StdRng;
use uuid::Uuid;

use crate::admission::{self, Asking};
use crate::body::Body;
use crate::builtin;
use crate::catalog::Catalog;
use crate::key::Key;
use crate::object::Object;
use crate::patch::Patch;
use crate::refusal::Refusal;
use crate::request::{Query, Target, Verb};
use crate::resource::{Origin, Resource};
use crate::store::{Change, Store, Stored};
use crate::user::User;

pub(crate) use admit::Suspended;
pub(crate) use collect::Collector;
pub(crate) use errand::Errand;
pub(crate) use list::Page;
pub(crate) use namespace::PERMANENT as PERMANENT_NAMESPACES;
pub(crate) use sent::unrecognized;
pub(crate) use watch::{Event, EventType, Sight, Subscription};

/// The objects and everything that decides about them.
#[derive(Debug)]
pub(crate) struct Engine {
    store: Store,
    catalog: Arc<Catalog>,
    collector: Collector,
    webhooks: admission::Registry,
    chance: StdRng,
}

/// A request about objects.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) user: User,
    pub(crate) verb: Verb,
    pub(crate) target: Target,
    pub(crate) query: Query,
    /// Nothing where the request had none.
    pub(crate) body: Option<Body>,
    /// What the body is, if the verb is `patch`.
    pub(crate) patch: Option<Patch>,
    pub(crate) user_agent: Option<String>,
    pub(crate) now: Timestamp,
}

/// What a request comes to.
#[derive(Debug)]
pub(crate) enum Step {
    Done(Answer),
    /// Others are to be asked before anything is written; then it goes on with [`Engine::resume`].
    Ask(Asking, Box<Suspended>),
    /// What it was worked out from is not there any more: it has to be carried out anew.
    Again,
}

/// What is answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) content: Content,
    /// Shown by kubectl: nothing is wrong enough to refuse.
    pub(crate) warnings: Vec<String>,
}

/// The content of an answer.
#[derive(Debug)]
pub(crate) enum Content {
    Object {
        code: u16,
        resource: Arc<Resource>,
        object: Arc<Stored>,
    },
    List {
        resource: Arc<Resource>,
        page: Page,
    },
    Watch(Subscription),
    /// A token that is asked for a service account, still to be signed.
    Token {
        key: Key,
        uid: Arc<str>,
        request: serde_json::Value,
        id: Uuid,
    },
    /// Something that is not kept, such as a success.
    Document {
        code: u16,
        value: serde_json::Value,
    },
}

/// The kinds that are there without a definition.
pub(crate) fn permanent_kinds() -> impl Iterator<Item = Resource> {
    builtin::resources().into_iter().chain(review::resources())
}

impl Engine {
    /// An engine over what was stored.
    ///
    /// Custom kinds come from the definitions in the store. Objects that are on their way out are taken up
    /// where they were left.
    pub(crate) fn new(store: Store, chance: StdRng) -> Self {
        let mut engine = Self {
            store,
            catalog: Arc::new(Catalog::new(permanent_kinds())),
            collector: Collector::default(),
            webhooks: admission::Registry::default(),
            chance,
        };
        engine.serve_stored_definitions();
        engine.note_stored_webhooks();
        engine.collector.resume(&engine.store);
        engine
    }

    /// Carries out a request.
    pub(crate) fn handle(&mut self, call: &Call) -> Result<Step, Refusal> {
        let resource = self.resource(&call.target)?;
        if let Some(subresource) = &call.target.subresource {
            check_subresource(&resource, subresource, call)?;
        }
        if let Some(answer) = review::answer(&resource, call) {
            return answer.map(Step::Done);
        }
        let step = self.perform(&resource, call);
        told_of_deprecation(&resource, scale::shown(call, step))
    }

    /// Goes on with a request whose object others have let through.
    pub(crate) fn resume(
        &mut self,
        call: &Call,
        suspended: Suspended,
        admitted: admission::Admitted,
    ) -> Result<Step, Refusal> {
        let resource = self.resource(&call.target)?;
        let step = self.go_on(call, suspended, admitted);
        told_of_deprecation(&resource, scale::shown(call, step))
    }

    fn perform(&mut self, resource: &Arc<Resource>, call: &Call) -> Result<Step, Refusal> {
        match call.verb {
            Verb::Update | Verb::Patch if scale::is_meant(call) => self.write_scale(resource, call),
            Verb::Get => self.get(resource, call).map(Step::Done),
            Verb::List => self.list(resource, call).map(Step::Done),
            Verb::Watch => self.watch(resource, call).map(Step::Done),
            Verb::Create if call.target.subresource.is_some() => {
                self.issue_token(resource, call).map(Step::Done)
            }
            Verb::Create => self.create(resource, call),
            Verb::Update => self.update(resource, call),
            Verb::Patch => self.patch(resource, call),
            Verb::Delete => self.delete(resource, call),
            Verb::DeleteCollection => self.delete_collection(resource, call),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What was written since this was last asked.
    pub(crate) fn take_written(&mut self) -> Vec<Arc<Change>> {
        self.store.take_written()
    }

    /// Takes back writes that could not be made durable.
    pub(crate) fn take_back(&mut self, changes: &[Arc<Change>]) {
        self.store.take_back(changes);
        self.serve_stored_definitions();
        self.note_stored_webhooks();
        self.collector.resume(&self.store);
    }

    fn resource(&self, target: &Target) -> Result<Arc<Resource>, Refusal> {
        let found = self
            .catalog
            .find(&target.group, &target.version, &target.plural);
        let resource = found.ok_or_else(Refusal::no_such_path)?;
        // A kind without namespaces has no path below one.
        match target.place.namespace() {
            Some(_) if !resource.is_namespaced() => Err(Refusal::no_such_path()),
            None if resource.is_namespaced() && target.name.is_some() => {
                Err(Refusal::no_such_path())
            }
            Some(_) | None => Ok(Arc::clone(resource)),
        }
    }

    fn get(&self, resource: &Arc<Resource>, call: &Call) -> Result<Answer, Refusal> {
        let key = key(resource, call);
        call.query.check_get()?;
        let object = Arc::clone(self.existing(resource, &key)?);
        Ok(Answer::object(200, resource, object))
    }

    fn existing(&self, resource: &Resource, key: &Key) -> Result<&Arc<Stored>, Refusal> {
        let object = self.store.get(key);
        object.ok_or_else(|| Refusal::not_found(resource.subject(&key.place.name)))
    }

    /// Stores an object and takes up what follows from it.
    fn put(&mut self, key: &Key, object: Object) -> Arc<Stored> {
        let stored = self.store.put(key, object);
        self.collector.notice(key, &stored, false);
        self.definition_changed(key);
        self.webhooks_changed(key);
        stored
    }

    /// Removes an object and takes up what follows from that.
    fn remove(&mut self, key: &Key) -> Option<Arc<Stored>> {
        let last = self.store.remove(key)?;
        self.collector.notice(key, &last, true);
        self.tell_owners(key, &last);
        self.definition_changed(key);
        self.webhooks_changed(key);
        Some(last)
    }

    fn new_uid(&mut self) -> String {
        self.new_uuid().to_string()
    }

    fn new_uuid(&mut self) -> Uuid {
        let random = rand::Rng::random(&mut self.chance);
        uuid::Builder::from_random_bytes(random).into_uuid()
    }
}

/// Which paths lie below an object, and what can be done there.
fn check_subresource(resource: &Resource, subresource: &str, call: &Call) -> Result<(), Refusal> {
    let verb = call.verb;
    let kind = resource.key_kind();
    let allowed = match subresource {
        "status" if resource.subresources.status => {
            matches!(verb, Verb::Get | Verb::Update | Verb::Patch)
        }
        "scale" if resource.subresources.scale.is_some() => {
            matches!(verb, Verb::Get | Verb::Update | Verb::Patch)
        }
        "finalize" if kind.is("", "namespaces") => verb == Verb::Update,
        "token" if kind.is("", "serviceaccounts") => verb == Verb::Create,
        _ if resource.origin == Origin::Custom => {
            let name = call.target.name.as_deref().unwrap_or_default();
            return Err(Refusal::not_found(resource.subject(name)));
        }
        _ => return Err(Refusal::no_such_path()),
    };
    if allowed {
        Ok(())
    } else {
        Err(Refusal::method_not_allowed())
    }
}

/// Where the object that a path names lies.
fn key(resource: &Resource, call: &Call) -> Key {
    let namespace = call.target.place.namespace().unwrap_or_default();
    let name = call.target.name.as_deref().unwrap_or_default();
    resource.key_kind().key(namespace, name)
}

/// Those who use a version that is to go are told so, whatever becomes of their request.
fn told_of_deprecation(resource: &Resource, step: Result<Step, Refusal>) -> Result<Step, Refusal> {
    match step {
        Ok(Step::Done(mut answer)) => {
            answer.warnings.splice(..0, resource.deprecation.clone());
            Ok(Step::Done(answer))
        }
        Ok(step @ (Step::Ask(..) | Step::Again)) => Ok(step),
        Err(refusal) => Err(refusal.with_warnings(resource.deprecation.clone())),
    }
}

impl Answer {
    fn object(code: u16, resource: &Arc<Resource>, object: Arc<Stored>) -> Self {
        Self::plain(Content::Object {
            code,
            resource: Arc::clone(resource),
            object,
        })
    }

    fn plain(content: Content) -> Self {
        Self {
            content,
            warnings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
