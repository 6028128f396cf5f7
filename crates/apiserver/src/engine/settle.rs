//! Settling: from what someone sent to what may be stored.
//!
//! Create, update and patch differ in where the new object comes from. From then on they are one line: drop what
//! the kind does not have, fill in what was left out, keep what the sender may not change, judge, and note
//! who changed which field.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::create::Sent;
use super::{Call, Engine};
use crate::builtin;
use crate::crd;
use crate::managed_fields::{self, Change};
use crate::metadata;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, Refusal, Subject};
use crate::request::{FieldValidation, Verb, WriteOptions};
use crate::resource::{Origin, Resource};
use crate::schema::{Schema, Type};

/// An object on its way into the store.
pub(super) struct Draft<'a> {
    pub(super) resource: &'a Resource,
    /// The object it replaces.
    pub(super) old: Option<&'a Object>,
    pub(super) sent: Sent,
    /// The path below the object that is written to: `status`, or nothing.
    pub(super) subresource: Option<&'a str>,
    pub(super) options: &'a WriteOptions,
    pub(super) call: &'a Call,
}

/// An object that may be stored.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) object: Object,
    pub(super) warnings: Vec<String>,
}

impl Engine {
    pub(super) fn settle(&mut self, draft: Draft<'_>) -> Result<Settled, Refusal> {
        let Draft {
            resource,
            old,
            sent,
            subresource,
            options,
            call,
        } = draft;
        let Sent {
            object: mut new,
            complaints,
        } = sent;
        if resource.origin == Origin::Builtin {
            empty_nulls(&resource.schema, &mut new);
        }
        let unknown = prune(resource, &mut new);
        let mut warnings = judge_unknown(
            resource,
            &new,
            unknown,
            complaints,
            options.field_validation,
            call.verb,
        )?;
        warnings.extend(drop_repeated_owners(&mut new));
        fill_in(resource, &mut new);
        match old {
            None => self.begin(resource, &mut new, call.now),
            Some(old) => carry_over(resource, &mut new, old, subresource),
        }
        // Who wrote what is noted before the API adds what it decides itself.
        note_changes(resource, old, &mut new, subresource, options, call)?;
        prepare(resource, &mut new, old, subresource);
        let errors = judge(resource, &new, old, subresource);
        if !errors.is_empty() {
            return Err(Refusal::invalid(resource.kind_subject(new.name()), &errors));
        }
        if is_definition(resource) {
            warnings.extend(crd::warnings(&new, old));
        }
        if old.is_none() {
            warnings.extend(builtin::warnings(resource, &new));
        }
        Ok(Settled {
            object: new,
            warnings,
        })
    }

    /// What only a new object gets.
    fn begin(&mut self, resource: &Resource, new: &mut Object, now: Timestamp) {
        if resource.subresources.status && !builtin::brings_status(resource) {
            new.remove("status");
        }
        let uid = self.new_uid();
        let metadata = new.metadata_mut();
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
            "resourceVersion",
        ] {
            metadata.remove(field);
        }
        metadata.insert("uid".into(), uid.into());
        metadata.insert("creationTimestamp".into(), seconds(now).into());
        if has_generation(resource) {
            metadata.insert("generation".into(), 1.into());
        }
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
    if let Some(old) = old.filter(|_| subresource.is_none()) {
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

/// A built-in object whose fields do not even have the right types is not read at all.
pub(super) fn wrong_shape(resource: &Resource, new: &Object) -> Option<Refusal> {
    match resource.origin {
        Origin::Builtin => builtin::decode_error(resource, new),
        Origin::Custom => None,
    }
}

/// Null in a map of texts is the empty text to a built-in kind, as Go reads it.
fn empty_nulls(schema: &Schema, object: &mut Object) {
    let of_texts = |schema: &Schema| schema.kind == Some(Type::String);
    let is_map_of_texts = schema.additional.as_deref().is_some_and(of_texts);
    for (field, value) in object.iter_mut() {
        match value {
            Value::Null if is_map_of_texts => *value = "".into(),
            Value::Object(inner) => {
                if let Some(schema) = schema.properties.get(field) {
                    empty_nulls(schema, inner);
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {}
        }
    }
}

fn prune(resource: &Resource, new: &mut Object) -> Vec<String> {
    let mut value = Value::Object(std::mem::take(new));
    let unknown = resource.schema.prune(&mut value);
    if let Value::Object(pruned) = value {
        *new = pruned;
    }
    unknown
}

/// Fields that are unknown or given twice: ignored, mentioned or refused, as the request asks.
fn judge_unknown(
    resource: &Resource,
    new: &Object,
    unknown: Vec<String>,
    complaints: Vec<String>,
    validation: FieldValidation,
    verb: Verb,
) -> Result<Vec<String>, Refusal> {
    let unknown = unknown
        .into_iter()
        .map(|path| format!("unknown field \"{path}\""));
    let found: Vec<String> = match resource.origin {
        Origin::Builtin => unknown.chain(complaints).collect(),
        // Custom objects are first read, and then compared with their schema.
        Origin::Custom => complaints.into_iter().chain(unknown).collect(),
    };
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(found),
        FieldValidation::Strict if found.is_empty() => Ok(found),
        FieldValidation::Strict if verb == Verb::Patch => {
            let why = format!("strict decoding error: {}", found.join(", "));
            Err(super::update::unpatchable(new, &why))
        }
        FieldValidation::Strict => {
            let (kind, version) = (&resource.names.kind, new.api_version());
            let found = found.join(", ");
            Err(Refusal::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {found}",
                version = version.rsplit('/').next().unwrap_or(version),
            )))
        }
    }
}

/// An owner that is named twice is kept once, and whoever named it is told.
fn drop_repeated_owners(new: &mut Object) -> Option<String> {
    let owners = new
        .metadata_mut()
        .get_mut("ownerReferences")?
        .as_array_mut()?;
    let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    owners.retain(|owner| {
        let uid = owner
            .get("uid")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let is_new = seen.insert(owner.to_string());
        if !is_new {
            repeated.insert(uid);
        }
        is_new
    });
    let repeated: Vec<String> = repeated.into_iter().collect();
    (!repeated.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, \
             and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", "),
        )
    })
}

fn fill_in(resource: &Resource, new: &mut Object) {
    match resource.origin {
        Origin::Builtin if is_definition(resource) => crd::default(new),
        Origin::Builtin => builtin::default(resource, new),
        Origin::Custom => {
            let mut value = Value::Object(std::mem::take(new));
            resource.schema.default_fields(&mut value);
            if let Value::Object(filled) = value {
                *new = filled;
            }
        }
    }
}

/// Keeps what an update may not change: the identity of the object, and the half of it that belongs to the
/// other path.
fn carry_over(resource: &Resource, new: &mut Object, old: &Object, subresource: Option<&str>) {
    let status_apart = resource.subresources.status;
    match subresource {
        Some("status") => keep_all_but_status(resource, new, old),
        None if status_apart => keep(new, old, "status"),
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
        Some(old) => metadata::validate_update(new, old),
    };
    match (resource.origin, old) {
        (Origin::Builtin, old) if is_definition(resource) => {
            errors.extend(match subresource {
                Some(_) => crd::validate_status(new),
                None => crd::validate(new, old),
            });
        }
        (Origin::Builtin, None) => errors.extend(builtin::validate_create(resource, new)),
        (Origin::Builtin, Some(old)) => errors.extend(builtin::validate_update(resource, new, old)),
        (Origin::Custom, old) => {
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
    let manager = manager.map_err(|errors| {
        let kind = match call.verb {
            Verb::Create => "CreateOptions",
            Verb::Patch => "PatchOptions",
            Verb::Get
            | Verb::List
            | Verb::Watch
            | Verb::Update
            | Verb::Delete
            | Verb::DeleteCollection => "UpdateOptions",
        };
        Refusal::invalid(
            Subject {
                group: "meta.k8s.io",
                what: kind,
                name: "",
            },
            &errors,
        )
    })?;
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

fn is_definition(resource: &Resource) -> bool {
    resource.names.group == "apiextensions.k8s.io"
        && resource.names.plural == "customresourcedefinitions"
}

fn has_generation(resource: &Resource) -> bool {
    match resource.origin {
        Origin::Builtin => builtin::has_generation(resource),
        Origin::Custom => true,
    }
}
