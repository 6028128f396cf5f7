//! Server-side apply: the fields that somebody wants, merged into what is there.
//!
//! It comes as a patch and ends as an update or, if there is nothing yet, as a creation. What is
//! merged, and whose the fields are then, is worked out by [`managed_fields`].

use std::sync::Arc;

use serde_json::Value;

use super::sent::Sent;
use super::update::{check_name, may_create};
use super::{Call, Engine, Step, key};
use crate::builtin;
use crate::key::Key;
use crate::managed_fields::{self, Application, Change, FieldSet, Others, Versions};
use crate::object::{Object, ObjectExt as _};
use crate::patch;
use crate::refusal::Refusal;
use crate::request::{FieldValidation, WriteOptions};
use crate::resource::{Origin, Resource};

impl Engine {
    pub(super) fn apply(&mut self, resource: &Arc<Resource>, call: &Call) -> Result<Step, Refusal> {
        let (manager, force) = call.query.applier()?;
        let options = WriteOptions::read(&call.query, "PatchOptions")?;
        let key = key(resource, call);
        let stored = self.store.get(&key).cloned();
        if stored.is_none() && call.target.subresource.is_some() && !may_create(resource) {
            return Err(Refusal::not_found(resource.subject(&key.place.name)));
        }
        let live = stored
            .as_ref()
            .map(|stored| shown(resource, stored.object()));
        let mut object = self.applied(resource, call, live.as_ref(), (manager, force))?;
        let told = told_twice(call, options.field_validation)?;
        check_new(resource, &key, live.as_ref(), &object)?;
        check_name(&object, &key)?;
        if stored.is_none() {
            // Whatever revision was meant, it is not there: it is made.
            object.metadata_mut().remove("resourceVersion");
        }
        let sent = Sent::applied(resource, object, told);
        match stored {
            Some(stored) => self.replace(resource, call, &options, (&key, &stored), sent),
            None => self.create_object(resource, call, &options, sent),
        }
    }

    /// What the live object, if there is one, becomes.
    fn applied(
        &self,
        resource: &Resource,
        call: &Call,
        live: Option<&Object>,
        (manager, force): (&str, bool),
    ) -> Result<Object, Refusal> {
        let manager = managed_fields::manager_of(Some(manager), None)
            .map_err(|errors| super::settle::unnamed(call.verb, &errors))?;
        let body = call.body.clone().unwrap_or_default();
        let applied = patch::configuration(resource, &body)?;
        let subresource = call.target.subresource.as_deref().unwrap_or_default();
        let api_version = resource.api_version();
        let application = Application {
            change: Change {
                manager: &manager,
                api_version: &api_version,
                subresource,
                now: call.now,
            },
            force,
            beyond: &beyond(resource, subresource),
            versions: &self.versions(resource),
            blank: &blank(resource),
        };
        let new = managed_fields::apply(live, &applied, &application)
            .map_err(|error| patch::unapplied(&applied, live, &error))?;
        match super::sent::wrong_shape(resource, &new) {
            Some(refusal) => Err(patch::unreadable(&applied, &refusal)),
            None => Ok(new),
        }
    }

    fn versions<'a>(&'a self, resource: &'a Resource) -> Versions<'a> {
        let (group, plural) = (&resource.names.group, &resource.names.plural);
        let served = self
            .catalog
            .resources()
            .filter(|other| other.names.group == *group && other.names.plural == *plural);
        let others = match resource.origin {
            Origin::Builtin => Others::Forgotten,
            Origin::Custom => Others::Refused,
        };
        Versions::new(
            served.map(|other| (other.api_version(), &*other.schema)),
            others,
        )
    }
}

/// An object as it is read before something is merged into it: a definition may have changed since
/// it was stored.
fn shown(resource: &Resource, kept: Object) -> Object {
    let shown = resource.show(kept);
    match resource.origin {
        Origin::Builtin => shown,
        Origin::Custom => {
            let mut shown = Value::Object(shown);
            resource.schema.prune(&mut shown);
            let Value::Object(shown) = shown else {
                unreachable!("pruning leaves an object an object");
            };
            shown
        }
    }
}

/// The fields that a request cannot write: the status through the object, most else through the
/// status.
fn beyond(resource: &Resource, subresource: &str) -> FieldSet {
    let mut fields = FieldSet::default();
    match (subresource, resource.origin) {
        ("", _) if resource.subresources.status => fields.insert_fields(&["status"]),
        ("", _) => {}
        (_, Origin::Custom) => {
            fields.insert_fields(&["metadata"]);
            fields.insert_fields(&["spec"]);
        }
        (_, Origin::Builtin) => fields.insert_fields(&["spec"]),
    }
    fields
}

/// The kind's object with nothing in it.
fn blank(resource: &Resource) -> Object {
    let mut blank = builtin::blank(resource).unwrap_or_default();
    blank.insert("apiVersion".into(), resource.api_version().into());
    blank.insert("kind".into(), resource.names.kind.as_str().into());
    blank
}

/// What is said of fields that the body gives twice: nothing, a warning or a refusal.
fn told_twice(call: &Call, validation: FieldValidation) -> Result<Option<String>, Refusal> {
    let repeated = call.body.as_ref().and_then(|body| body.repeated.as_ref());
    let told = repeated.map(patch::repeated_field);
    match (validation, told) {
        (FieldValidation::Ignore, _) | (_, None) => Ok(None),
        (FieldValidation::Warn, Some(told)) => Ok(Some(told)),
        (FieldValidation::Strict, Some(told)) => Err(Refusal::bad_request(format!(
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {told}"
        ))),
    }
}

/// An object that is not there cannot be the one that is meant.
fn check_new(
    resource: &Resource,
    key: &Key,
    live: Option<&Object>,
    new: &Object,
) -> Result<(), Refusal> {
    match new.uid() {
        uid if live.is_none() && !uid.is_empty() => {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            Err(Refusal::conflict(resource.subject(&key.place.name), &why))
        }
        _ => Ok(()),
    }
}
