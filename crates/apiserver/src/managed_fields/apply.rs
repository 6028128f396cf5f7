//! Server-side apply: what an object becomes when somebody says which fields they want, and how.
//!
//! ```text
//! applied ──► judge ──► merge into live ──► take away what the same manager ──► who else owns what is
//!                                           applied before and nobody owns      different now? conflicts
//! ```
//!
//! Objects and sets of fields go in and come out; what is applied has the right kind and name
//! already. Like the record of other writes, this knows nothing of requests.

#[cfg(test)]
mod on_cluster;
mod prune;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::change::Change;
use super::conflict::Conflicts;
use super::difference::Difference;
use super::entries::{Entries, Owned, Owner};
use super::field_set::{FieldSet, same};
use super::fields_of::fields_of;
use super::flaws::{self, Flaws, Twins};
use super::merge::merged;
use super::node::Shapeless;
use super::versions::Versions;
use super::{FIELD, entries_after, last_applied, managed_fields, never_tracked, reconcile};
use crate::object::{Object, ObjectExt as _};
use crate::schema::Schema;

/// Who owns what was there before anybody applied anything.
const BEFORE: &str = "before-first-apply";

/// One act of applying.
#[derive(Debug)]
pub(crate) struct Application<'a> {
    pub(crate) change: Change<'a>,
    /// Whether fields are taken from others.
    pub(crate) force: bool,
    /// Fields that cannot be written this way: applying them is neither refused nor remembered.
    pub(crate) beyond: &'a FieldSet,
    pub(crate) versions: &'a Versions<'a>,
    /// The kind's empty object: what is in it nobody wrote.
    pub(crate) blank: &'a Object,
}

/// Why nothing was applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// Who owns what cannot be read.
    #[error("failed to decode managed fields: {0}")]
    Record(String),
    /// What is applied does not have the shape of its kind.
    #[error("{0}")]
    Applied(Flaws),
    /// What is stored does not.
    #[error("{0}")]
    Live(Flaws),
    /// What is stored does not have that of another version.
    #[error("{0}")]
    Conversion(Flaws),
    #[error("request to convert CR to an invalid group/version: {0}")]
    Version(String),
    #[error("failed to compare objects")]
    Shapeless,
    #[error("{}", .0.message())]
    Conflicts(Conflicts),
}

impl From<Shapeless> for ApplyError {
    fn from(Shapeless: Shapeless) -> Self {
        Self::Shapeless
    }
}

/// What `live` becomes when `applied` is applied to it, with its record of who owns what.
pub(crate) fn apply(
    live: Option<&Object>,
    applied: &Object,
    application: &Application<'_>,
) -> Result<Object, ApplyError> {
    let first = application.run(live, applied, application.force);
    let mut new = match (first, live) {
        (Err(ApplyError::Conflicts(conflicts)), Some(live)) => {
            let allowed = last_applied::allowed(live, application);
            match conflicts.without(&allowed) {
                Some(left) => return Err(ApplyError::Conflicts(left)),
                None => application.run(Some(live), applied, true)?,
            }
        }
        (first, _) => first?,
    };
    last_applied::renew(&mut new, applied, application.change.manager);
    Ok(new)
}

impl Application<'_> {
    pub(super) fn schema(&self) -> Result<&Schema, ApplyError> {
        let version = self.change.api_version;
        let schema = self.versions.schema(version)?;
        schema.ok_or_else(|| ApplyError::Version(version.to_owned()))
    }

    fn run(
        &self,
        live: Option<&Object>,
        applied: &Object,
        force: bool,
    ) -> Result<Object, ApplyError> {
        let schema = self.schema()?;
        let record = Entries::read(live.and_then(managed_fields))
            .map_err(|error| ApplyError::Record(error.to_string()))?;
        flaws::check(schema, applied, Twins::Refused).map_err(ApplyError::Applied)?;
        let fields = fields_of(schema, applied).without_branches(self.beyond);
        let (new, record) = match live {
            None => {
                let mut record = Entries::default();
                let fields = fields.difference(&never_tracked());
                self.own(&mut record, fields, Some(self.change.now));
                (applied.clone(), record)
            }
            Some(live) => {
                let live = without_record(live);
                flaws::check(schema, &live, Twins::Allowed).map_err(ApplyError::Live)?;
                let record = self.begin(record, &live)?;
                self.change(&live, record, applied, fields, force)?
            }
        };
        Ok(with_record(new, &record))
    }

    /// The record, begun now if there is none yet, in terms of the schemas as they are now.
    fn begin(&self, mut record: Entries, live: &Object) -> Result<Entries, ApplyError> {
        if record.is_empty() {
            let change = Change {
                manager: BEFORE,
                ..self.change
            };
            let schema = self.schema()?;
            let difference = Difference::between(schema, Some(self.blank), live)?;
            let difference = difference.without_branches(self.beyond);
            record = entries_after(record, schema, difference, &change);
        }
        let mut reconciled = Entries::default();
        for (owner, owned) in record.iter() {
            if let Some((_, schema)) = self.versions.convert(live, &owned.api_version)? {
                let fields = reconcile::reconcile(owned.fields.clone(), schema);
                let owned = Owned {
                    fields,
                    ..owned.clone()
                };
                reconciled.set(owner.clone(), owned);
            }
        }
        Ok(reconciled)
    }

    /// Merges, takes away what is no longer applied, and settles whose the fields are.
    fn change(
        &self,
        live: &Object,
        mut record: Entries,
        applied: &Object,
        fields: FieldSet,
        force: bool,
    ) -> Result<(Object, Entries), ApplyError> {
        let merged = merged(self.schema()?, live, applied);
        let last = record.take(&Owner::applying(&self.change));
        let time = last.as_ref().and_then(|last| last.time);
        self.own(&mut record, fields, time);
        let new = match last {
            Some(last) => prune::prune(self, merged, &record, &last)?,
            None => merged,
        };
        self.dispossess(&mut record, live, &new, force)?;
        // Whoever changes nothing may come to own fields, but their last change was earlier.
        let time = if is_same(live, &new) {
            time
        } else {
            Some(self.change.now)
        };
        if let Some(owned) = record.take(&Owner::applying(&self.change)) {
            let fields = owned.fields.difference(&never_tracked());
            self.own(&mut record, fields, time);
        }
        Ok((new, record))
    }

    /// Makes these the fields of whoever applies.
    fn own(&self, record: &mut Entries, fields: FieldSet, time: Option<jiff::Timestamp>) {
        let owned = Owned {
            api_version: self.change.api_version.to_owned(),
            time,
            fields,
        };
        record.set(Owner::applying(&self.change), owned);
    }

    /// Takes from all others what is different now. If they do not agree nothing is done.
    fn dispossess(
        &self,
        record: &mut Entries,
        live: &Object,
        new: &Object,
        force: bool,
    ) -> Result<(), ApplyError> {
        let me = Owner::applying(&self.change);
        let mut differences = BTreeMap::new();
        let mut contested = BTreeMap::new();
        let mut left = Entries::default();
        for (owner, owned) in record.iter() {
            if *owner == me {
                left.set(owner.clone(), owned.clone());
                continue;
            }
            let version = &owned.api_version;
            if !differences.contains_key(version) {
                differences.insert(version.clone(), self.difference(live, new, version)?);
            }
            let Some((changed, removed)) = &differences[version] else {
                continue;
            };
            let conflict = owned.fields.clone().intersection(changed);
            if !conflict.is_empty() {
                contested.insert(owner.clone(), conflict);
            }
            let fields = owned.fields.clone().difference(changed).difference(removed);
            left.set(
                owner.clone(),
                Owned {
                    fields,
                    ..owned.clone()
                },
            );
        }
        match Conflicts::of(contested) {
            Some(conflicts) if !force => Err(ApplyError::Conflicts(conflicts)),
            Some(_) | None => {
                *record = left;
                Ok(())
            }
        }
    }

    /// What is other and what is gone, as a version calls it; nothing if that version is to be
    /// forgotten.
    fn difference(
        &self,
        live: &Object,
        new: &Object,
        version: &str,
    ) -> Result<Option<(FieldSet, FieldSet)>, ApplyError> {
        let Some((live, schema)) = self.versions.convert(live, version)? else {
            return Ok(None);
        };
        let Some((new, _)) = self.versions.convert(new, version)? else {
            return Ok(None);
        };
        let difference = Difference::between(schema, Some(&live), &new)?;
        let Difference {
            removed,
            modified,
            added,
        } = difference.without_branches(self.beyond);
        Ok(Some((modified.union(added), removed)))
    }
}

fn without_record(object: &Object) -> Object {
    let mut object = object.clone();
    super::take_managed_fields(&mut object);
    object
}

fn with_record(mut object: Object, record: &Entries) -> Object {
    super::take_managed_fields(&mut object);
    if !record.is_empty() {
        object
            .metadata_mut()
            .insert(FIELD.to_owned(), record.write());
    }
    object
}

fn is_same(one: &Object, other: &Object) -> bool {
    let equals =
        |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| same(value, other));
    one.len() == other.len() && one.iter().all(equals)
}
