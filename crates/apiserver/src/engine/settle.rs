//! Settling: from what someone sent to what may be stored.
//!
//! Create, update and patch differ in where the new object comes from. From then on they are one line: fill in what
//! was left out, note who changed which field, keep what the sender may not change, and judge. Between the noting and the keeping, others may be asked.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::sent::{
    AFTER_ADMISSION, BEFORE_ADMISSION, Sent, drop_empty, drop_repeated_owners, fill_in,
};
use super::{Call, Engine};
use crate::builtin;
use crate::crd;
use crate::key::Key;
use crate::managed_fields::{self, Change};
use crate::metadata;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, Refusal, Subject};
use crate::request::{Verb, WriteOptions};
use crate::resource::{Origin, Resource};
use crate::store::Stored;

/// An object as someone wants it to be.
pub(super) struct Incoming<'a> {
    pub(super) resource: &'a Arc<Resource>,
    /// The object it replaces.
    pub(super) old: Option<Old>,
    pub(super) sent: Sent,
    pub(super) options: &'a WriteOptions,
    pub(super) call: &'a Call,
}

/// An object that is to be replaced.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) key: Key,
    pub(super) stored: Arc<Stored>,
    pub(super) shown: Object,
}

/// An object on its way into the store, which others may still change.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) resource: Arc<Resource>,
    pub(super) old: Option<Old>,
    pub(super) new: Object,
    pub(super) options: WriteOptions,
    pub(super) warnings: Vec<String>,
    /// Whether what the sender may not change is still as it was sent.
    pub(super) is_raw: bool,
}

/// An object that may be stored.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) resource: Arc<Resource>,
    pub(super) key: Key,
    pub(super) old: Option<Old>,
    pub(super) object: Object,
    pub(super) options: WriteOptions,
    pub(super) warnings: Vec<String>,
}

impl Draft {
    /// Reads an object and notes who changed which field of it. Others are shown it as it was sent, and with that.
    pub(super) fn read(incoming: Incoming<'_>, for_others: bool) -> Result<Self, Refusal> {
        let Incoming {
            resource,
            old,
            sent,
            options,
            call,
        } = incoming;
        let Sent {
            object: mut new,
            mut warnings,
            recorded,
            mismatch: _,
        } = sent;
        let subresource = call.target.subresource.as_deref();
        warnings.extend(drop_repeated_owners(&mut new, BEFORE_ADMISSION));
        drop_empty(resource, &mut new);
        fill_in(resource, &mut new);
        if old.is_none() {
            wipe(&mut new);
        }
        let raw = for_others.then(|| new.clone());
        let shown = old.as_ref().map(|old| &old.shown);
        restrict(resource, &mut new, shown, subresource);
        // Who wrote what is noted before the API adds what it decides itself.
        if !recorded {
            note_changes(resource, shown, &mut new, subresource, options, call)?;
        }
        let is_raw = raw.is_some();
        if let Some(mut raw) = raw {
            keep(raw.metadata_mut(), new.metadata_mut(), "namespace");
            let noted = new.metadata_mut().remove("managedFields");
            match noted {
                Some(noted) => raw.metadata_mut().insert("managedFields".into(), noted),
                None => raw.metadata_mut().remove("managedFields"),
            };
            new = raw;
        }
        Ok(Self {
            resource: Arc::clone(resource),
            old,
            new,
            options: options.clone(),
            warnings,
            is_raw,
        })
    }
}

impl Engine {
    /// Makes a draft what may be stored, or says why it may not.
    pub(super) fn settle(&mut self, draft: Draft, call: &Call) -> Result<Settled, Refusal> {
        let Draft {
            resource,
            old,
            mut new,
            options,
            mut warnings,
            is_raw,
        } = draft;
        let subresource = call.target.subresource.as_deref();
        let shown = old.as_ref().map(|old| &old.shown);
        if is_raw {
            warnings.extend(drop_repeated_owners(&mut new, AFTER_ADMISSION));
            if old.is_none() {
                wipe(&mut new);
            }
            restrict(&resource, &mut new, shown, subresource);
        }
        let key = match &old {
            Some(old) => old.key.clone(),
            None => self.begin(&resource, &mut new, call.now)?,
        };
        prepare(&resource, &mut new, shown, subresource);
        let errors = judge(&resource, &new, shown, subresource);
        if !errors.is_empty() {
            let refusal = Refusal::invalid(resource.kind_subject(new.name()), &errors);
            return Err(refusal.with_warnings(warnings));
        }
        if is_definition(&resource) {
            warnings.extend(crd::warnings(&new, shown));
        }
        if subresource.is_none() {
            warnings.extend(builtin::warnings(&resource, &new, old.is_none()));
        }
        Ok(Settled {
            resource,
            key,
            old,
            object: new,
            options,
            warnings,
        })
    }

    /// What only a new object gets: a name, if it has only the beginning of one, and an identity.
    fn begin(
        &mut self,
        resource: &Resource,
        new: &mut Object,
        now: Timestamp,
    ) -> Result<Key, Refusal> {
        let had_name = !new.name().is_empty();
        let key = self.name(resource, new)?;
        if !had_name {
            // A Namespace is labelled with its name.
            fill_in(resource, new);
        }
        let uid = self.new_uid();
        let metadata = new.metadata_mut();
        metadata.insert("uid".into(), uid.into());
        metadata.insert("creationTimestamp".into(), seconds(now).into());
        if has_generation(resource) {
            metadata.insert("generation".into(), 1.into());
        }
        Ok(key)
    }
}

/// What no sender can say of a new object.
fn wipe(new: &mut Object) {
    let metadata = new.metadata_mut();
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
    ] {
        metadata.remove(field);
    }
}

/// Takes away what the sender may not write, and puts back what was there.
fn restrict(
    resource: &Resource,
    new: &mut Object,
    old: Option<&Object>,
    subresource: Option<&str>,
) {
    match old {
        Some(old) => carry_over(resource, new, old, subresource),
        None if resource.subresources.status => {
            new.remove("status");
        }
        None => {}
    }
}

/// What the API decides about an object, whatever was sent.
fn prepare(resource: &Resource, new: &mut Object, old: Option<&Object>, subresource: Option<&str>) {
    match (resource.origin, old) {
        (Origin::Custom, _) => {}
        (Origin::Builtin, old) if is_definition(resource) => {
            if subresource.is_none() {
                crd::prepare(new, old);
            }
        }
        (Origin::Builtin, None) => builtin::prepare_create(resource, new),
        (Origin::Builtin, Some(old)) => builtin::prepare_update(resource, new, old, subresource),
    }
    if let Some(old) = old.filter(|_| matches!(subresource, None | Some("scale"))) {
        count_change(resource, new, old);
    }
}

/// The generation counts changes of what is asked for.
fn count_change(resource: &Resource, new: &mut Object, old: &Object) {
    let changed = match resource.origin {
        Origin::Builtin => builtin::changes_generation(resource, new, old),
        Origin::Custom => !same_but_for_status(new, old, resource.subresources.status),
    };
    if changed {
        let generation = old.metadata().and_then(|was| was.get("generation"));
        let generation = generation.and_then(Value::as_i64).unwrap_or_default();
        new.metadata_mut()
            .insert("generation".into(), json!(generation + 1));
    }
}

/// Brings the managed fields of what the API writes itself up to date.
pub(super) fn note_own_change(
    resource: &Resource,
    old: &Object,
    new: &mut Object,
    (manager, subresource): (&str, &str),
    now: Timestamp,
) {
    let change = Change {
        manager,
        api_version: &resource.api_version(),
        subresource,
        now,
    };
    managed_fields::record(&resource.schema, Some(old), new, &change);
}

/// A time as objects carry it: to the second.
pub(super) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Keeps what an update may not change: the identity of the object, and the half of it that belongs to the
/// other path.
fn carry_over(resource: &Resource, new: &mut Object, old: &Object, subresource: Option<&str>) {
    let status_apart = resource.subresources.status;
    match subresource {
        Some("status") => keep_all_but_status(resource, new, old),
        None | Some("scale") if status_apart => keep(new, old, "status"),
        Some(_) | None => {}
    }
    let empty = Object::new();
    let was = old.metadata().unwrap_or(&empty);
    let metadata = new.metadata_mut();
    for field in ["uid", "deletionGracePeriodSeconds"] {
        if !metadata.contains_key(field) {
            keep(metadata, was, field);
        }
    }
    for field in [
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "generation",
        "resourceVersion",
        "selfLink",
    ] {
        keep(metadata, was, field);
    }
}

/// A write to `status` changes nothing else; managed fields are worked out later.
///
/// Of built-in kinds it changes the metadata, too.
fn keep_all_but_status(resource: &Resource, new: &mut Object, old: &Object) {
    if resource.origin == Origin::Builtin {
        let (status, metadata) = (new.remove("status"), new.remove("metadata"));
        new.clone_from(old);
        for (field, value) in [("status", status), ("metadata", metadata)] {
            match value {
                Some(value) => new.insert(field.into(), value),
                None => new.remove(field),
            };
        }
        return;
    }
    let status = new.remove("status");
    let sent = new
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"))
        .cloned();
    new.clone_from(old);
    new.remove("status");
    if let Some(status) = status {
        new.insert("status".into(), status);
    }
    if let Some(sent) = sent {
        new.metadata_mut().insert("managedFields".into(), sent);
    }
}

fn keep(new: &mut Object, old: &Object, field: &str) {
    match old.get(field) {
        Some(value) => new.insert(field.into(), value.clone()),
        None => new.remove(field),
    };
}

fn same_but_for_status(new: &Object, old: &Object, status_apart: bool) -> bool {
    let matters = |field: &&String| match field.as_str() {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !status_apart,
        _ => true,
    };
    let fields = |object: &Object| object.keys().filter(matters).count();
    fields(new) == fields(old)
        && new
            .iter()
            .filter(|(field, _)| matters(field))
            .all(|(field, value)| old.get(field) == Some(value))
}

fn judge(
    resource: &Resource,
    new: &Object,
    old: Option<&Object>,
    subresource: Option<&str>,
) -> Vec<FieldError> {
    let mut errors = match old {
        None => metadata::validate(resource, new),
        Some(old) => metadata::validate_update(resource, new, old),
    };
    match (resource.origin, old) {
        (Origin::Builtin, old) if is_definition(resource) => {
            errors.extend(changed_metadata(new, old));
            errors.extend(match subresource {
                Some(_) => crd::validate_status(new),
                None => crd::validate(new, old),
            });
        }
        (Origin::Builtin, None) => {
            errors.extend(builtin::validate_create(resource, new));
        }
        (Origin::Builtin, Some(old)) => {
            errors.extend(builtin::validate_update(resource, new, old, subresource));
        }
        (Origin::Custom, old) => {
            errors.extend(changed_metadata(new, old));
            let new = Value::Object(new.clone());
            let old = old.map(|old| Value::Object(old.clone()));
            errors.extend(match (subresource, &old) {
                (Some("status"), Some(old)) => resource.schema.validate_status(&new, old),
                (Some(_) | None, _) => resource.schema.validate(&new, old.as_ref()),
            });
        }
    }
    errors
}

/// Custom kinds and definitions judge the change of metadata once more.
fn changed_metadata(new: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let judged = old.map(|old| metadata::validate_change(new, old));
    judged.unwrap_or_default()
}

fn note_changes(
    resource: &Resource,
    old: Option<&Object>,
    new: &mut Object,
    subresource: Option<&str>,
    options: &WriteOptions,
    call: &Call,
) -> Result<(), Refusal> {
    let manager =
        managed_fields::manager_of(options.field_manager.as_deref(), call.user_agent.as_deref());
    let manager = manager.map_err(|errors| unnamed(call.verb, &errors))?;
    let change = Change {
        manager: &manager,
        api_version: &resource.api_version(),
        subresource: subresource.unwrap_or_default(),
        now: call.now,
    };
    let blank = builtin::blank(resource);
    managed_fields::record(&resource.schema, old.or(blank.as_ref()), new, &change);
    Ok(())
}

/// The refusal of a name that nobody's changes can be recorded under.
pub(super) fn unnamed(verb: Verb, errors: &[FieldError]) -> Refusal {
    let what = match verb {
        Verb::Create => "CreateOptions",
        Verb::Patch => "PatchOptions",
        Verb::Get
        | Verb::List
        | Verb::Watch
        | Verb::Update
        | Verb::Delete
        | Verb::DeleteCollection => "UpdateOptions",
    };
    let subject = Subject {
        group: "meta.k8s.io",
        what,
        name: "",
    };
    Refusal::invalid(subject, errors)
}

pub(super) fn is_definition(resource: &Resource) -> bool {
    resource.names.group == "apiextensions.k8s.io"
        && resource.names.plural == "customresourcedefinitions"
}

fn has_generation(resource: &Resource) -> bool {
    match resource.origin {
        Origin::Builtin => builtin::has_generation(resource),
        Origin::Custom => true,
    }
}
