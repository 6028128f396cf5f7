//! `create`: a new object.

use std::sync::Arc;

use rand::Rng as _;

use super::sent::Sent;
use super::settle::{Incoming, Settled};
use super::{Answer, Call, Engine, Step};
use crate::key::Key;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, FieldPath, Refusal};
use crate::request::WriteOptions;
use crate::resource::Resource;
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
        let sent = Sent::whole(resource, call.body.as_ref(), options.field_validation)?;
        self.create_object(resource, call, &options, sent)
    }

    /// Creates an object whose body has been read: also what an update does where it may create.
    pub(super) fn create_object(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
        options: &WriteOptions,
        sent: Sent,
    ) -> Result<Step, Refusal> {
        let warnings = sent.warnings.clone();
        self.create_sent(resource, call, options, sent)
            .map_err(|refusal| refusal.with_warnings(warnings))
    }

    fn create_sent(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
        options: &WriteOptions,
        mut sent: Sent,
    ) -> Result<Step, Refusal> {
        if let Some(refusal) = sent.mismatch.take() {
            return Err(refusal);
        }
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
