//! The entries of `metadata.managedFields`.

mod cap;
mod entry;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::field_set::FieldSet;

use entry::EntryError;
pub(super) use entry::{Owned, Owner};

/// Who owns what, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    owners: BTreeMap<Owner, Owned>,
}

/// Whether a client asks for the record to be forgotten: `[]` or `[{}]`.
pub(super) fn is_reset(sent: &Value) -> bool {
    match sent.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([one]) => one
            .as_object()
            .is_some_and(|fields| fields.values().all(is_zero)),
        Some(_) | None => false,
    }
}

impl Entries {
    /// Reads `metadata.managedFields`. What owns nothing is kept for now.
    pub(super) fn read(managed_fields: Option<&Value>) -> Result<Self, EntryError> {
        let entries = match managed_fields {
            None => return Ok(Self::default()),
            Some(value) => value.as_array().ok_or(EntryError::NoList)?,
        };
        let owners = entries.iter().map(entry::read).collect::<Result<_, _>>()?;
        Ok(Self { owners })
    }

    /// Writes `metadata.managedFields`, oldest first.
    pub(super) fn write(&self) -> Value {
        let mut entries: Vec<(&Owner, &Owned)> = self.owners.iter().collect();
        entries.sort_by_key(|(owner, owned)| {
            (
                &owner.operation,
                seconds(owned.time),
                &owner.manager,
                &owned.api_version,
                &owner.subresource,
            )
        });
        entries
            .into_iter()
            .map(|(owner, owned)| entry::write(owner, owned))
            .collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Changes what each owns. Who owns nothing then is forgotten.
    pub(super) fn edit_all(&mut self, edit: impl Fn(FieldSet) -> FieldSet) {
        self.owners.retain(|_, owned| {
            owned.fields = edit(std::mem::take(&mut owned.fields));
            !owned.fields.is_empty()
        });
    }

    /// Everybody who owns something, and what.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Owner, &Owned)> {
        self.owners.iter()
    }

    /// What an owner owns, from now on nobody's.
    pub(super) fn take(&mut self, owner: &Owner) -> Option<Owned> {
        self.owners.remove(owner)
    }

    /// Makes this what an owner owns, unless it is nothing.
    pub(super) fn set(&mut self, owner: Owner, owned: Owned) {
        if owned.fields.is_empty() {
            self.owners.remove(&owner);
        } else {
            self.owners.insert(owner, owned);
        }
    }

    /// Gives fields to an owner, who has just written them.
    pub(super) fn give(&mut self, owner: Owner, fields: FieldSet, now: Timestamp) {
        let api_version = owner.api_version.clone();
        let owned = self
            .owners
            .entry(owner)
            .or_insert_with(|| Owned::nothing(api_version));
        owned.fields = std::mem::take(&mut owned.fields).union(fields);
        owned.time = Some(now);
    }
}

/// Times are compared, as they are written, to the second.
fn seconds(time: Option<Timestamp>) -> i64 {
    time.map_or(0, Timestamp::as_second)
}

/// What Go takes for a field that was left out.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
