//! What somebody applied before and does not apply any more goes, unless somebody else owns it.

use std::collections::BTreeMap;

use super::super::entries::{Entries, Owned};
use super::super::field_set::FieldSet;
use super::super::fields_of::fields_of;
use super::super::node::{Node, with_named_parents};
use super::super::remove::without;
use super::{Application, ApplyError};
use crate::object::Object;
use crate::schema::Schema;

/// `merged` without what is only in `last`, which is what the same manager applied before.
pub(super) fn prune(
    application: &Application<'_>,
    merged: Object,
    record: &Entries,
    last: &Owned,
) -> Result<Object, ApplyError> {
    let versions = application.versions;
    let Some((then, schema)) = versions.convert(&merged, &last.api_version)? else {
        return Ok(merged);
    };
    let was = named(schema, last.fields.clone());
    let pruned = without(schema, &then, &was);
    let owned = add_back_owned(application, (&then, pruned), record, &last.api_version)?;
    let Some((pruned, _)) = versions.convert(&owned, &last.api_version)? else {
        return Ok(merged);
    };
    // What nobody owns stays, unless it was the manager's own.
    let gone = named(schema, fields_of(schema, &then))
        .difference(&named(schema, fields_of(schema, &pruned)))
        .intersection(&was);
    let left = without(schema, &then, &gone);
    let now = versions.convert(&left, application.change.api_version)?;
    Ok(now.map_or(left, |(object, _)| object))
}

/// `pruned` with everything of `merged` that somebody owns, the manager with what is applied now
/// among them. The version that was pruned in comes first.
fn add_back_owned(
    application: &Application<'_>,
    (merged, mut pruned): (&Object, Object),
    record: &Entries,
    first: &str,
) -> Result<Object, ApplyError> {
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for (_, entry) in record.iter() {
        let fields = owned.entry(&entry.api_version).or_default();
        *fields = std::mem::take(fields).union(entry.fields.clone());
    }
    let rest = owned.keys().filter(|version| **version != first).copied();
    let order: Vec<&str> = owned
        .get_key_value(first)
        .map(|(version, _)| *version)
        .into_iter()
        .chain(rest)
        .collect();
    for version in order {
        let Some((all, schema)) = application.versions.convert(merged, version)? else {
            continue;
        };
        let Some((some, _)) = application.versions.convert(&pruned, version)? else {
            continue;
        };
        let kept =
            named(schema, fields_of(schema, &some)).union(named(schema, owned[version].clone()));
        let gone = named(schema, fields_of(schema, &all)).difference(&kept);
        pruned = without(schema, &all, &gone);
    }
    Ok(pruned)
}

fn named(schema: &Schema, fields: FieldSet) -> FieldSet {
    with_named_parents(Node::root(schema), fields)
}
