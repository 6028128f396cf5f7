//! Writes that others are asked about first.
//!
//! The engine never waits. A write that concerns webhooks is worked out as far as they are to see it, and handed out with
//! the questions; whoever drives the engine asks them and comes back. What was read meanwhile may have been changed by
//! then: in that case the request is carried out anew, as kube-apiserver does it.
//!
//! ```text
//! handle ─► draft ─ mutating? ─► Drafted ─ resume ─► settled ─ validating? ─► Settled ─ resume ─► written, or again
//!             └────── nobody ─────────────────────────► │ └────── nobody ────────────────────────► written
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::delete::{Deletion, has_grace};
use super::sent::{prune, reread};
use super::settle::{Draft, Incoming, Settled};
use super::update::{check_revision, is_finished};
use super::{Call, Engine, Step};
use crate::admission::{
    self, Admitted, Asking, Attributes, Mutation, Operation, Phase, Validation, is_configuration,
};
use crate::builtin;
use crate::key::{Key, Kind};
use crate::object::{Object, ObjectExt};
use crate::refusal::Refusal;
use crate::request::DeleteOptions;
use crate::resource::{Origin, Resource};

/// A write that waits for those who are asked about it.
#[derive(Debug)]
pub(crate) struct Suspended(Stage);

#[derive(Debug)]
enum Stage {
    /// They may change it.
    Drafted(Draft),
    /// They may refuse it.
    Settled(Settled),
    /// They may refuse that an object goes.
    Doomed(Phase, Deletion),
}

impl Engine {
    /// Takes note of all configurations in the store.
    pub(super) fn note_stored_webhooks(&mut self) {
        let mut webhooks = admission::Registry::default();
        for (phase, kind) in admission::configurations() {
            for (place, stored) in self.store.list(&kind, None, None) {
                webhooks.configure(phase, &place.name, Some(&stored.object()));
            }
        }
        self.webhooks = webhooks;
    }

    /// Takes note of what a configuration says now.
    pub(super) fn webhooks_changed(&mut self, key: &Key) {
        if let Some(phase) = is_configuration(&key.kind) {
            let configuration = self.store.get(key).map(|stored| stored.object());
            let name = &key.place.name;
            self.webhooks.configure(phase, name, configuration.as_ref());
        }
    }

    /// Writes an object, once everybody who is concerned has been asked.
    pub(super) fn write(&mut self, incoming: Incoming<'_>) -> Result<Step, Refusal> {
        let (call, resource) = (incoming.call, Arc::clone(incoming.resource));
        let hooks = self.webhooks.concerned(Phase::Mutating, &resource);
        if let (Some(old), true) = (&incoming.old, hooks.is_empty()) {
            check_revision(&resource, old, &incoming.sent.object)?;
        }
        let mut draft = Draft::read(incoming, !hooks.is_empty())?;
        if hooks.is_empty() {
            return self.settle_and_ask(draft, call);
        }
        let uids = self.uids();
        let attributes = self.attributes_of_draft(&mut draft, call);
        let mut mutation = Mutation::new(attributes, hooks, reread, Box::new(uids));
        if mutation.advance()? {
            let asking = Asking::Mutating(Box::new(mutation));
            return Ok(Step::Ask(asking, Suspended::at(Stage::Drafted(draft))));
        }
        draft.new = mutation.conclude().object.unwrap_or_default();
        self.settle_and_ask(draft, call)
    }

    /// Goes on with a write that was let through.
    pub(super) fn go_on(
        &mut self,
        call: &Call,
        Suspended(stage): Suspended,
        admitted: Admitted,
    ) -> Result<Step, Refusal> {
        match stage {
            Stage::Drafted(mut draft) => {
                draft.new = admitted.object.unwrap_or_default();
                draft.warnings.extend(admitted.warnings);
                if draft.resource.origin == Origin::Custom {
                    prune(&draft.resource, &mut draft.new);
                }
                let warnings = draft.warnings.clone();
                self.settle_and_ask(draft, call)
                    .map_err(|refusal| refusal.with_warnings(warnings))
            }
            Stage::Settled(mut settled) => {
                settled.warnings.extend(admitted.warnings);
                if settled.old.is_none() {
                    self.check_room(&settled.resource, &settled.object)?;
                }
                self.commit(settled)
            }
            Stage::Doomed(phase, mut deletion) => {
                deletion.warnings.extend(admitted.warnings);
                self.go_on_deleting(phase, deletion, call)
            }
        }
    }

    fn settle_and_ask(&mut self, draft: Draft, call: &Call) -> Result<Step, Refusal> {
        if let (Some(old), true) = (&draft.old, draft.is_raw) {
            check_revision(&draft.resource, old, &draft.new)?;
        }
        let settled = self.settle(draft, call)?;
        let hooks = self
            .webhooks
            .concerned(Phase::Validating, &settled.resource);
        if hooks.is_empty() {
            return self.commit(settled);
        }
        let attributes = self.attributes_of_settled(&settled, call);
        match Validation::new(&attributes, &hooks, self.uids())? {
            None => self.commit(settled),
            Some(validation) => Ok(Step::Ask(
                Asking::Validating(Box::new(validation)),
                Suspended::at(Stage::Settled(settled)),
            )),
        }
    }

    fn commit(&mut self, mut settled: Settled) -> Result<Step, Refusal> {
        // What ends with this is not stored any more.
        let ends = settled.old.is_some() && is_finished(&settled.object);
        if settled.resource.origin == Origin::Builtin && !ends {
            builtin::store(&settled.resource, &mut settled.object);
        }
        let Some(old) = settled.old.take() else {
            return self.put_new(settled);
        };
        if !self.stands(&old.key, old.stored.revision()) {
            return Ok(Step::Again);
        }
        Ok(self.put_changed(settled, &old))
    }

    /// Whether an object is still as it was read.
    pub(super) fn stands(&self, key: &Key, revision: u64) -> bool {
        let stored = self.store.get(key);
        stored.is_some_and(|stored| stored.revision() == revision)
    }

    /// The next question about an object that is to go; nothing if nobody is concerned.
    pub(super) fn ask_about_deletion(
        &mut self,
        phase: Phase,
        deletion: &Deletion,
        call: &Call,
    ) -> Result<Option<Asking>, Refusal> {
        let hooks = self.webhooks.concerned(phase, &deletion.resource);
        if hooks.is_empty() {
            return Ok(None);
        }
        let attributes = self.attributes_of_deletion(deletion, call);
        let uids = self.uids();
        match phase {
            Phase::Mutating => {
                let mut mutation = Mutation::new(attributes, hooks, reread, Box::new(uids));
                let asks = mutation.advance()?;
                Ok(asks.then(|| Asking::Mutating(Box::new(mutation))))
            }
            Phase::Validating => {
                let validation = Validation::new(&attributes, &hooks, uids)?;
                Ok(validation.map(|validation| Asking::Validating(Box::new(validation))))
            }
        }
    }

    fn attributes_of_draft(&self, draft: &mut Draft, call: &Call) -> Attributes {
        let new = std::mem::take(&mut draft.new);
        let (operation, options) = match &draft.old {
            None => (Operation::Create, "CreateOptions"),
            Some(_) => (Operation::Update, "UpdateOptions"),
        };
        Attributes {
            operation,
            old: draft.old.as_ref().map(|old| old.shown.clone()),
            options: write_options(call, options),
            dry_run: draft.options.dry_run,
            ..self.attributes(&draft.resource, new.name(), call, Some(&new))
        }
        .about(new)
    }

    fn attributes_of_settled(&self, settled: &Settled, call: &Call) -> Attributes {
        let (operation, options) = match &settled.old {
            None => (Operation::Create, "CreateOptions"),
            Some(_) => (Operation::Update, "UpdateOptions"),
        };
        let object = &settled.object;
        Attributes {
            operation,
            old: settled.old.as_ref().map(|old| old.shown.clone()),
            options: write_options(call, options),
            dry_run: settled.options.dry_run,
            ..self.attributes(&settled.resource, object.name(), call, Some(object))
        }
        .about(object.clone())
    }

    fn attributes_of_deletion(&self, deletion: &Deletion, call: &Call) -> Attributes {
        let old = deletion.resource.show(deletion.stored.object());
        let name = call.target.name.as_deref().unwrap_or_default();
        let mut options = delete_options(call);
        if !has_grace(&deletion.resource) {
            // Whoever ends in a way of their own is bound to the object that was found.
            options["preconditions"]["uid"] = (**deletion.stored.uid()).into();
        }
        Attributes {
            operation: Operation::Delete,
            options,
            dry_run: deletion.options.dry_run,
            ..self.attributes(&deletion.resource, name, call, Some(&old))
        }
        .instead_of(old)
    }

    /// What is the same of all requests about an object.
    fn attributes(
        &self,
        resource: &Arc<Resource>,
        name: &str,
        call: &Call,
        object: Option<&Object>,
    ) -> Attributes {
        let namespaces = Kind::new("", "namespaces");
        // A Namespace is in itself.
        let namespace = if resource.key_kind() == namespaces {
            object.map_or(name, ObjectExt::name)
        } else {
            call.target.place.namespace().unwrap_or_default()
        };
        let stored = self.store.get(&namespaces.key("", namespace));
        Attributes {
            resource: Arc::clone(resource),
            equivalents: self.catalog.equivalents(resource),
            subresource: call.target.subresource.clone().unwrap_or_default(),
            operation: Operation::Create,
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            namespace_labels: stored.map(|stored| labels(&stored.object())),
            user: call.user.clone(),
            object: None,
            old: None,
            options: Value::Null,
            dry_run: false,
        }
    }

    /// Names for questions, from the engine's own chance.
    fn uids(&mut self) -> impl FnMut() -> String + Send + use<> {
        let mut chance = StdRng::seed_from_u64(self.chance.random());
        move || {
            let random = chance.random();
            uuid::Builder::from_random_bytes(random)
                .into_uuid()
                .to_string()
        }
    }
}

impl Suspended {
    fn at(stage: Stage) -> Box<Self> {
        Box::new(Self(stage))
    }

    /// What is said when those who are asked refuse.
    pub(crate) fn refused(self, refusal: Refusal) -> Refusal {
        let (resource, warnings) = match self.0 {
            Stage::Drafted(draft) => (draft.resource, draft.warnings),
            Stage::Settled(settled) => (settled.resource, settled.warnings),
            Stage::Doomed(_, deletion) => (deletion.resource, deletion.warnings),
        };
        refusal
            .with_warnings(warnings)
            .with_warnings(resource.deprecation.clone())
    }

    /// An object that is to go, if those who are asked now agree.
    pub(super) fn doomed(phase: Phase, deletion: Deletion) -> Box<Self> {
        Self::at(Stage::Doomed(phase, deletion))
    }
}

fn labels(object: &Object) -> BTreeMap<String, String> {
    let labels = object
        .metadata()
        .and_then(|metadata| metadata.get("labels"))
        .and_then(Value::as_object);
    let texts = labels.into_iter().flatten();
    texts
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The options of a write as they were sent. Those of a patch are those of an update.
fn write_options(call: &Call, kind: &str) -> Value {
    let mut options = json!({ "kind": kind, "apiVersion": "meta.k8s.io/v1" });
    for field in ["fieldManager", "fieldValidation"] {
        if let Some(text) = call.query.text(field) {
            options[field] = text.into();
        }
    }
    if call.query.text("dryRun").is_some() {
        options["dryRun"] = json!(["All"]);
    }
    options
}

/// The options of a deletion as they were sent: in the body, or else in the query.
fn delete_options(call: &Call) -> Value {
    let sent = call.body.as_ref().and_then(|body| body.value.as_object());
    let mut options = match sent {
        Some(sent) => sent.clone(),
        None => DeleteOptions::from_query(&call.query),
    };
    options.insert("kind".into(), "DeleteOptions".into());
    options.insert("apiVersion".into(), "meta.k8s.io/v1".into());
    options.into()
}
