//! Conflicts: fields that somebody else owns with another value than the one applied.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::entries::Owner;
use super::field_set::{FieldSet, Path};

/// Who owns fields that somebody else wants to be different; at least one field.
#[derive(Clone, Debug)]
pub(crate) struct Conflicts(BTreeMap<Owner, FieldSet>);

impl Conflicts {
    /// Nothing, if nobody is in the way.
    pub(super) fn of(contested: BTreeMap<Owner, FieldSet>) -> Option<Self> {
        (!contested.is_empty()).then_some(Self(contested))
    }

    /// Those that are left when these fields may be taken.
    pub(super) fn without(self, allowed: &FieldSet) -> Option<Self> {
        let contested = self.0.into_iter();
        let contested = contested.map(|(owner, fields)| (owner, fields.difference(allowed)));
        Self::of(contested.filter(|(_, fields)| !fields.is_empty()).collect())
    }

    fn fields(&self) -> impl Iterator<Item = (&Owner, Path)> {
        let each = self.0.iter();
        each.flat_map(|(owner, fields)| fields.paths().into_iter().map(move |path| (owner, path)))
    }

    /// What people read.
    pub(crate) fn message(&self) -> String {
        let all: Vec<(&Owner, Path)> = self.fields().collect();
        if let [(owner, path)] = all.as_slice() {
            return format!("Apply failed with 1 conflict: conflict with {owner}: {path}");
        }
        let mut lines = Vec::new();
        for (owner, fields) in &self.0 {
            lines.push(format!("conflicts with {owner}:"));
            lines.extend(fields.paths().iter().map(|path| format!("- {path}")));
        }
        let (count, lines) = (all.len(), lines.join("\n"));
        format!("Apply failed with {count} conflicts: {lines}")
    }

    /// What clients read: one cause for each field and owner.
    pub(crate) fn causes(&self) -> Value {
        let cause = |(owner, path): (&Owner, Path)| {
            json!({
                "reason": "FieldManagerConflict",
                "message": format!("conflict with {owner}"),
                "field": path.to_string(),
            })
        };
        self.fields().map(cause).collect()
    }
}
