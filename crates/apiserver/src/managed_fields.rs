//! `metadata.managedFields`: who last changed which field.
//!
//! Every write is compared with what was there before. Fields that differ then belong to whoever
//! wrote them, and to nobody else; fields that are gone belong to no one. Server-side apply is
//! built on this record, and people read it to find out who set a value.
//!
//! Writes that are not apply go through [`record`], apply through [`apply()`].

mod apply;
mod change;
mod conflict;
mod difference;
mod entries;
mod field_set;
mod fields_of;
mod flaws;
mod last_applied;
mod manager;
mod merge;
mod node;
mod object_meta;
#[cfg(test)]
mod on_cluster;
mod reconcile;
mod remove;
#[cfg(test)]
mod tests;
mod versions;

use serde_json::Value;

use crate::object::{Object, ObjectExt};
use crate::schema::Schema;
use difference::Difference;
use entries::{Entries, Owner};

pub(crate) use apply::{Application, ApplyError, apply};
pub(crate) use change::Change;
pub(crate) use field_set::FieldSet;
pub(crate) use manager::manager_of;
pub(crate) use object_meta::object_meta;
pub(crate) use versions::{Others, Versions};

/// Brings `new`'s managed fields up to date with what `change` made of `old`.
///
/// `new` is what the client sent or patched, pruned and with defaults, and without what the
/// request may not touch (the status in a write of the object, all else in a write of the status).
/// What the server itself fills in later, such as an allocated address, belongs to no one.
///
/// On creation `old` is nothing for custom resources. For built-in kinds it is the kind's empty
/// object: a `spec` that every object has, even if it is empty, is not something a client added.
///
/// An object whose fields cannot be told apart, such as one with a list entry that lacks its keys,
/// is left without managed fields.
pub(crate) fn record(schema: &Schema, old: Option<&Object>, new: &mut Object, change: &Change<'_>) {
    let is_creation = old.is_none_or(|old| old.uid().is_empty());
    let entries = entries_before(old, new, change);
    take_managed_fields(new);
    // An object that has lost its record is not tracked again before someone applies it.
    if entries.is_empty() && !is_creation {
        return;
    }
    let Ok(difference) = Difference::between(schema, old, new) else {
        return;
    };
    let entries = entries_after(entries, schema, difference, change);
    if !entries.is_empty() {
        new.metadata_mut().insert(FIELD.to_owned(), entries.write());
    }
}

const FIELD: &str = "managedFields";

/// The record as it was before the change. Clients may edit it on the object itself, though not by
/// way of the status.
fn entries_before(old: Option<&Object>, new: &Object, change: &Change<'_>) -> Entries {
    let sent = managed_fields(new);
    if change.subresource.is_empty() {
        if sent.is_some_and(entries::is_reset) {
            return Entries::default();
        }
        match Entries::read(sent) {
            Ok(entries) if !entries.is_empty() => return entries,
            // Whoever does not understand managed fields must not lose them by accident.
            Ok(_) | Err(_) => {}
        }
    }
    Entries::read(old.and_then(managed_fields)).unwrap_or_default()
}

fn entries_after(
    mut entries: Entries,
    schema: &Schema,
    difference: Difference,
    change: &Change<'_>,
) -> Entries {
    let Difference {
        removed,
        modified,
        added,
    } = difference;
    let written = modified.union(added);
    entries.edit_all(|fields| {
        let fields = reconcile::reconcile(fields, schema);
        fields.difference(&written).difference(&removed)
    });
    let written = written.difference(&never_tracked());
    if !written.is_empty() {
        entries.give(Owner::of(change), written, change.now);
    }
    entries.forget_oldest();
    entries
}

/// The fields that name the object or that the server writes into every object: they have no owner.
fn never_tracked() -> FieldSet {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let mut fields = FieldSet::default();
    for field in ["apiVersion", "kind", "metadata"] {
        fields.insert_fields(&[field]);
    }
    for field in metadata {
        fields.insert_fields(&["metadata", field]);
    }
    fields
}

fn managed_fields(object: &Object) -> Option<&Value> {
    object
        .metadata()?
        .get(FIELD)
        .filter(|value| !value.is_null())
}

fn take_managed_fields(object: &mut Object) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove(FIELD);
    }
}
