//! `update` and `patch`: another content for an object that is there.
//!
//! A patch is an update whose content is worked out here, from what is stored. Since nothing happens in between,
//! it never conflicts unless it names a revision itself.

use std::sync::Arc;

use serde_json::Value;

use super::sent::{Sent, duplicate_fields};
use super::settle::{Incoming, Old, Settled};
use super::{Answer, Call, Engine, Step, key};
use crate::key::Key;
use crate::object::{Object, ObjectExt as _};
use crate::patch::{self, Patch};
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};
use crate::request::{FieldValidation, WriteOptions};
use crate::resource::{Origin, Resource};
use crate::store::Stored;

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

impl Engine {
    pub(super) fn update(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        let options = WriteOptions::read(&call.query, "UpdateOptions")?;
        let sent = Sent::whole(resource, call.body.as_ref(), options.field_validation)?;
        let warnings = sent.warnings.clone();
        self.update_sent(resource, call, &options, sent)
            .map_err(|refusal| refusal.with_warnings(warnings))
    }

    fn update_sent(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
        options: &WriteOptions,
        sent: Sent,
    ) -> Result<Step, Refusal> {
        let key = key(resource, call);
        check_name(&sent.object, &key)?;
        let Some(stored) = self.store.get(&key).cloned() else {
            if may_create(resource) && call.target.subresource.is_none() {
                return self.create_object(resource, call, options, sent);
            }
            return Err(Refusal::not_found(resource.subject(&key.place.name)));
        };
        check_uid(resource, &key, &stored, &sent.object)?;
        if sent.object.metadata_text("resourceVersion").is_none() && !may_be_unconditional(resource)
        {
            let path = FieldPath::of("metadata.resourceVersion");
            let error = FieldError::invalid(path, 0, "must be specified for an update");
            return Err(Refusal::invalid(
                resource.subject(&key.place.name),
                &[error],
            ));
        }
        self.replace(resource, call, options, (&key, &stored), sent)
    }

    pub(super) fn patch(&mut self, resource: &Arc<Resource>, call: &Call) -> Result<Step, Refusal> {
        let kind = match call.patch {
            Some(Patch::Change(kind)) => kind,
            Some(Patch::Apply) => return self.apply(resource, call),
            None => return Err(Refusal::internal("a patch without a kind")),
        };
        call.query.check_patch()?;
        let options = WriteOptions::read(&call.query, "PatchOptions")?;
        let key = key(resource, call);
        let stored = Arc::clone(self.existing(resource, &key)?);
        let body = call.body.clone().unwrap_or_default();
        let current = resource.show(stored.object());
        let stray = patch::stray_fields(kind, &body.value);
        let new = patch::apply(kind, &resource.schema, &current, &body.value);
        let new = new.map_err(|refusal| match options.field_validation {
            FieldValidation::Ignore => patch::unchecked(kind, &body.value, refusal),
            FieldValidation::Warn | FieldValidation::Strict => refusal,
        })?;
        check_patched(resource, &new)?;
        let complaints = duplicate_fields(&body).chain(stray).collect();
        let sent = Sent::patched(resource, new, complaints, options.field_validation)?;
        let warnings = sent.warnings.clone();
        check_name(&sent.object, &key)
            .and_then(|()| self.replace(resource, call, &options, (&key, &stored), sent))
            .map_err(|refusal| refusal.with_warnings(warnings))
    }

    /// Puts `new` in the place of `stored`, if it may be there.
    pub(super) fn replace(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
        options: &WriteOptions,
        (key, stored): (&Key, &Arc<Stored>),
        sent: Sent,
    ) -> Result<Step, Refusal> {
        let old = Old {
            key: key.clone(),
            stored: Arc::clone(stored),
            shown: resource.show(stored.object()),
        };
        if let Some(refusal) = sent.mismatch {
            check_revision(resource, &old, &sent.object)?;
            return Err(refusal);
        }
        self.write(Incoming {
            resource,
            old: Some(old),
            sent,
            options,
            call,
        })
    }

    /// Stores what an object has become.
    pub(super) fn put_changed(&mut self, settled: Settled, old: &Old) -> Step {
        let Settled {
            resource,
            key,
            object,
            options,
            warnings,
            old: _,
        } = settled;
        let stored = &old.stored;
        let answer = |stored| {
            Step::Done(Answer {
                warnings,
                ..Answer::object(200, &resource, stored)
            })
        };
        if same_content(&object, &old.shown) {
            return answer(Arc::clone(stored));
        }
        // The last finalizer of an object on its way out was taken away: the update is its end.
        let finished = is_finished(&object);
        if finished && !options.dry_run {
            self.remove(&key);
        }
        if finished || options.dry_run {
            return answer(Arc::new(Stored::unwritten(
                resource.keep(object),
                Some(stored.revision()),
            )));
        }
        let written = self.put(&key, resource.keep(object));
        answer(written)
    }
}

/// Whether nothing keeps an object that is to go.
pub(super) fn is_finished(object: &Object) -> bool {
    let kept = object
        .get("spec")
        .and_then(|spec| spec.get("finalizers"))
        .and_then(Value::as_array);
    let kept =
        object.kind() == "Namespace" && kept.is_some_and(|finalizers| !finalizers.is_empty());
    object.is_deleting() && object.metadata_texts("finalizers").next().is_none() && !kept
}

/// A patch must leave an object of its kind.
fn check_patched(resource: &Resource, new: &Object) -> Result<(), Refusal> {
    if resource.origin == Origin::Custom {
        return Ok(());
    }
    if (new.kind(), new.api_version()) != (&*resource.names.kind, &*resource.api_version()) {
        let refusal =
            super::custom::wrong_kind(resource, new.name(), new.kind(), new.api_version());
        return Err(unpatchable(new, reason(&refusal.message)));
    }
    match super::sent::wrong_shape(resource, new) {
        Some(refusal) => Err(unpatchable(new, reason(&refusal.message))),
        None => Ok(()),
    }
}

/// Why an object cannot be read, without what it is.
pub(super) fn reason(message: &str) -> &str {
    let what = " cannot be handled as a ";
    let rest = message.split_once(what).map_or(message, |(_, rest)| rest);
    rest.split_once(": ").map_or(rest, |(_kind, why)| why)
}

/// The refusal of a patch that makes something unreadable.
pub(super) fn unpatchable(patched: &Object, why: &str) -> Refusal {
    let nothing = Subject {
        group: "",
        what: "",
        name: "",
    };
    let patched = Value::Object(patched.clone()).to_string();
    let error = FieldError::invalid(FieldPath::of("patch"), patched, why);
    Refusal::invalid(nothing, &[error])
}

pub(super) fn check_name(new: &Object, key: &Key) -> Result<(), Refusal> {
    let (name, namespace) = (new.name(), new.namespace());
    if name.is_empty() {
        let path = &key.place.name;
        return Err(Refusal::bad_request(format!(
            "the name of the object ({path} based on URL) was undeterminable: name must be provided"
        )));
    }
    if name != &*key.place.name {
        let path = &key.place.name;
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({path})"
        )));
    }
    if !namespace.is_empty() && namespace != &*key.place.namespace {
        let why =
            "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(why));
    }
    Ok(())
}

/// The sender of an update may say which object it is for. A patch that changes the uid has changed a field that cannot
/// change, and hears that later.
fn check_uid(resource: &Resource, key: &Key, stored: &Stored, new: &Object) -> Result<(), Refusal> {
    let uid = new.uid();
    if uid.is_empty() || uid == &**stored.uid() {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
        stored.uid()
    );
    Err(Refusal::conflict(resource.subject(&key.place.name), &why))
}

/// Whoever sends an object may say which revision of it they have seen.
pub(super) fn check_revision(resource: &Resource, old: &Old, new: &Object) -> Result<(), Refusal> {
    let subject = resource.subject(&old.key.place.name);
    let stored = &old.stored;
    match new.metadata_text("resourceVersion") {
        None | Some("0") => Ok(()),
        Some(revision) => match revision.parse::<u64>() {
            Ok(revision) if revision == stored.revision() => Ok(()),
            Ok(_) => Err(Refusal::conflict(subject, MODIFIED)),
            // To kube-apiserver this is a fault of the server, without a reason.
            Err(_) => {
                let why = format!("strconv.ParseUint: parsing {revision:?}: invalid syntax");
                Err(Refusal::unreasoned(500, why))
            }
        },
    }
}

/// Whether anything is different, but for the revision, which the new object does not have yet.
fn same_content(new: &Object, old: &Object) -> bool {
    let empty = Object::new();
    let (fresh, was) = (
        new.metadata().unwrap_or(&empty),
        old.metadata().unwrap_or(&empty),
    );
    let is_same = |(field, value): (&String, &Value)| match field.as_str() {
        "resourceVersion" => true,
        "managedFields" => fresh
            .get(field)
            .is_some_and(|fresh| same_but_for_times(fresh, value)),
        _ => fresh.get(field) == Some(value),
    };
    let others = |object: &Object| {
        object
            .iter()
            .filter(|(field, _)| *field != "metadata")
            .count()
    };
    was.iter().all(is_same)
        && fresh.keys().all(|field| was.contains_key(field))
        && others(new) == others(old)
        && new
            .iter()
            .all(|(field, value)| field == "metadata" || old.get(field) == Some(value))
}

/// Whether two records say the same. Times alone are not worth a new revision.
fn same_but_for_times(new: &Value, old: &Value) -> bool {
    let timeless = |record: &Value| {
        let mut record = record.clone();
        let entries = record.as_array_mut().into_iter().flatten();
        for entry in entries.filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
        record
    };
    new == old || timeless(new) == timeless(old)
}

/// Whether an update without a revision is taken for one of whatever is there.
fn may_be_unconditional(resource: &Resource) -> bool {
    let plural = resource.names.plural.as_str();
    resource.origin == Origin::Builtin
        && !matches!(
            plural,
            "leases"
                | "poddisruptionbudgets"
                | "mutatingwebhookconfigurations"
                | "validatingwebhookconfigurations"
                | "customresourcedefinitions"
        )
}

/// Whether an update of an object that is not there creates it.
pub(super) fn may_create(resource: &Resource) -> bool {
    let plural = resource.names.plural.as_str();
    resource.origin == Origin::Builtin
        && matches!(
            plural,
            "services"
                | "endpoints"
                | "events"
                | "limitranges"
                | "leases"
                | "roles"
                | "rolebindings"
                | "clusterroles"
                | "clusterrolebindings"
        )
}
