//! `create`: a new object.

use std::fmt::Write as _;
use std::sync::Arc;

use rand::Rng as _;
use serde_json::Value;

use super::settle::{Incoming, Settled, check_strictly};
use super::{Answer, Call, Engine, Step};
use crate::body::Body;
use crate::key::Key;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, FieldPath, Refusal};
use crate::request::WriteOptions;
use crate::resource::{Origin, Resource};
use crate::store::Stored;

/// What generated names end with: no vowels, so that no words come about.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// How long the generated end is.
const SUFFIX_LENGTH: usize = 5;

/// How much of `generateName` is kept, so that the name still fits where a label must.
const PREFIX_MAX: usize = 63 - SUFFIX_LENGTH;

/// How often a generated name is tried before the sender is told that it is taken.
const ATTEMPTS: usize = 8;

impl Engine {
    pub(super) fn create(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        if resource.is_namespaced() && call.target.place.namespace().is_none() {
            return Err(Refusal::method_not_allowed());
        }
        let options = WriteOptions::read(&call.query, "CreateOptions")?;
        let mut sent = sent_object(resource, call.body.as_ref())?;
        check_strictly(resource, &sent, &options, call.verb)?;
        if let Some(refusal) = sent.mismatch.take() {
            return Err(refusal);
        }
        self.create_object(resource, call, &options, sent)
    }

    /// Creates an object whose body has been read: also what an update does where it may create.
    pub(super) fn create_object(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
        options: &WriteOptions,
        mut sent: Sent,
    ) -> Result<Step, Refusal> {
        let new = &mut sent.object;
        place(resource, call, new)?;
        if new
            .metadata_text("resourceVersion")
            .is_some_and(|revision| revision != "0")
        {
            return Err(Refusal::unreasoned(
                500,
                "resourceVersion should not be set on objects to be created",
            ));
        }
        self.check_room(resource, new)?;
        self.write(Incoming {
            resource,
            old: None,
            sent,
            options,
            call,
        })
    }

    /// New objects need a namespace and a kind that stay.
    pub(super) fn check_room(&self, resource: &Resource, new: &Object) -> Result<(), Refusal> {
        self.check_namespace(resource, new)?;
        let key = resource.key_kind().key(new.namespace(), new.name());
        self.check_definition(resource, &key)
    }

    /// Stores a new object, if its place is free.
    pub(super) fn put_new(&mut self, settled: Settled) -> Result<Step, Refusal> {
        let Settled {
            resource,
            key,
            object,
            options,
            warnings,
            old: _,
        } = settled;
        if let Some(there) = self.store.get(&key) {
            let mut refusal = Refusal::already_exists(resource.subject(&key.place.name));
            if there.is_deleting() {
                refusal.message.insert_str(0, "object is being deleted: ");
            }
            return Err(refusal.with_warnings(warnings));
        }
        let stored = if options.dry_run {
            Arc::new(Stored::unwritten(resource.keep(object), None))
        } else {
            self.put(&key, resource.keep(object))
        };
        Ok(Step::Done(Answer {
            warnings,
            ..Answer::object(201, &resource, stored)
        }))
    }

    /// The object's place, with a name made up where only its beginning is given.
    pub(super) fn name(&mut self, resource: &Resource, new: &mut Object) -> Result<Key, Refusal> {
        let kind = resource.key_kind();
        let namespace = new.namespace().to_owned();
        if !new.name().is_empty() {
            return Ok(kind.key(&namespace, new.name()));
        }
        let Some(prefix) = new.metadata_text("generateName") else {
            let error = FieldError::required(
                FieldPath::of("metadata.name"),
                "name or generateName is required",
            );
            return Err(Refusal::invalid(resource.kind_subject(""), &[error]));
        };
        let prefix: String = prefix.chars().take(PREFIX_MAX).collect();
        let mut key = kind.key(&namespace, &self.generated(&prefix));
        for _ in 1..ATTEMPTS {
            if self.store.get(&key).is_none() {
                break;
            }
            key = kind.key(&namespace, &self.generated(&prefix));
        }
        new.metadata_mut()
            .insert("name".into(), (*key.place.name).into());
        Ok(key)
    }

    fn generated(&mut self, prefix: &str) -> String {
        let suffix = (0..SUFFIX_LENGTH)
            .map(|_| char::from(ALPHABET[self.chance.random_range(..ALPHABET.len())]));
        prefix.chars().chain(suffix).collect()
    }
}

/// An object as it was sent.
pub(super) struct Sent {
    pub(super) object: Object,
    /// What is odd about the way it was sent, which strict field validation refuses.
    pub(super) complaints: Vec<String>,
    /// What its sender is told in any case.
    pub(super) told: Option<String>,
    /// Whether its managed fields are those that it shall have: applying has worked them out.
    pub(super) recorded: bool,
    /// That it is not what the path says. A custom kind tells only after it has looked at the version.
    pub(super) mismatch: Option<Refusal>,
}

/// The object in a body.
pub(super) fn sent_object(resource: &Resource, body: Option<&Body>) -> Result<Sent, Refusal> {
    let kind = &resource.names.kind;
    let body = body.ok_or_else(|| unrecognized(kind, "unexpected end of JSON input (<empty>)"))?;
    let empty = Object::new();
    let object = match &body.value {
        Value::Null => Some(&empty),
        Value::Object(object) => Some(object),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    };
    let object = object.ok_or_else(|| not_an_object(kind, &body.value))?;
    if let Some(why) = wrong_type_meta(object) {
        return Err(unrecognized(kind, &format!("{why} ({})", body.value)));
    }
    let mut object = object.clone();
    let mismatch = match (check_kind(resource, &object), resource.origin) {
        (Ok(()), _) => None,
        (Err(refusal), Origin::Custom) if refusal.code == 422 => Some(refusal),
        (Err(refusal), Origin::Builtin | Origin::Custom) => return Err(refusal),
    };
    object.insert("apiVersion".into(), resource.api_version().into());
    object.insert("kind".into(), kind.as_str().into());
    if let Some(refusal) = super::settle::wrong_shape(resource, &object) {
        return Err(refusal);
    }
    let complaints = duplicate_fields(body).collect();
    Ok(Sent {
        object,
        complaints,
        told: None,
        recorded: false,
        mismatch,
    })
}

/// What is wrong with the types of the two fields that are read before all others.
fn wrong_type_meta(object: &Object) -> Option<String> {
    ["apiVersion", "kind"].into_iter().find_map(|field| {
        let found = go_word(
            object
                .get(field)
                .filter(|value| !value.is_string() && !value.is_null())?,
        );
        Some(format!(
            "json: cannot unmarshal {found} into Go struct field .{field} of type string"
        ))
    })
}

fn not_an_object(kind: &str, value: &Value) -> Refusal {
    let mut shown = String::new();
    for byte in value.to_string().bytes() {
        let _infallible = write!(shown, "{byte:02x}");
    }
    let found = go_word(value);
    unrecognized(
        kind,
        &format!(
            "json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} ({shown})"
        ),
    )
}

fn go_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What strict field validation says of fields that were given more than once.
pub(super) fn duplicate_fields(body: &Body) -> impl Iterator<Item = String> {
    body.duplicates
        .iter()
        .map(|path| format!("duplicate field \"{path}\""))
}

/// The refusal of a body that is no object of any kind.
pub(crate) fn unrecognized(kind: &str, why: &str) -> Refusal {
    Refusal::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why}"
    ))
}

/// An object must be what the path says. What it leaves out, the path says for it.
fn check_kind(resource: &Resource, object: &Object) -> Result<(), Refusal> {
    let expected = &resource.names.kind;
    let kind = if object.kind().is_empty() {
        expected
    } else {
        object.kind()
    };
    let api_version = resource.api_version();
    let version = match (object.api_version(), resource.origin) {
        ("", Origin::Builtin) => &api_version,
        (said, Origin::Builtin | Origin::Custom) => said,
    };
    if kind == expected && *version == api_version {
        return Ok(());
    }
    Err(super::custom::wrong_kind(
        resource,
        object.name(),
        kind,
        version,
    ))
}

/// The namespace of an object is that of the path, whether it says so or not.
fn place(resource: &Resource, call: &Call, new: &mut Object) -> Result<(), Refusal> {
    let namespace = call.target.place.namespace().unwrap_or_default();
    if !resource.is_namespaced() {
        new.metadata_mut().remove("namespace");
        return Ok(());
    }
    let said = new.metadata_text("namespace");
    if said.is_some_and(|said| said != namespace) {
        let why =
            "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Refusal::bad_request(why));
    }
    new.metadata_mut()
        .insert("namespace".into(), namespace.into());
    Ok(())
}
