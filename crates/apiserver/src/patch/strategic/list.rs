//! Lists under a strategic merge patch.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::go_syntax::type_of;
use super::super::merge::without_nulls;
use super::flaw::Flaw;
use super::order::{Identity, arrange, check_order};
use super::{DIRECTIVE, Node};
use crate::schema::Type;

/// Merges `patch` into `live` if the schema says so; otherwise replaces it.
pub(super) fn merge(node: Node<'_>, live: Vec<Value>, patch: &[Value]) -> Result<Vec<Value>, Flaw> {
    match node.merge() {
        Some(_) => merge_entries(node, live, patch),
        None => Ok(patch.iter().cloned().map(without_nulls).collect()),
    }
}

/// Merges, and arranges the result as `order` says. Nothing, if neither object nor patch has a list.
pub(super) fn merge_in_order(
    node: Node<'_>,
    live: Option<&[Value]>,
    patch: Option<&[Value]>,
    order: &[Value],
) -> Result<Option<Vec<Value>>, Flaw> {
    let identity = Identity::of(node);
    check_order(patch.unwrap_or_default(), order, identity)?;
    let merged = match (live, patch) {
        (None, None) => return Ok(None),
        (Some(live), None) => live.to_vec(),
        (None, Some(patch)) => {
            let values = patch.iter().cloned().map(without_nulls);
            values.filter_map(super::without_directives).collect()
        }
        (Some(live), Some(patch)) => merge(node, live.to_vec(), patch)?,
    };
    let live = live.unwrap_or_default();
    entry_type([live, patch.unwrap_or_default()])?;
    arrange(merged, order, live, identity).map(Some)
}

/// What is left of `live` without `values`.
pub(super) fn delete(node: Node<'_>, live: &[Value], values: &[Value]) -> Result<Vec<Value>, Flaw> {
    if live.is_empty() && values.is_empty() {
        return Ok(Vec::new());
    }
    match entry_type([live, values])? {
        // Entries that are objects are not deleted this way; the API merges them instead.
        Entry::Object => merge_entries(node, live.to_vec(), values),
        Entry::Scalar => {
            let values: HashSet<&Value> = values.iter().collect();
            Ok(live
                .iter()
                .filter(|value| !values.contains(value))
                .cloned()
                .collect())
        }
    }
}

/// What the entries of a list are. They are all the same.
enum Entry {
    Scalar,
    Object,
}

fn merge_entries(node: Node<'_>, live: Vec<Value>, patch: &[Value]) -> Result<Vec<Value>, Flaw> {
    if live.is_empty() && patch.is_empty() {
        return Ok(live);
    }
    match entry_type([&live, patch])? {
        Entry::Scalar => merge_scalars(&live, patch),
        Entry::Object => {
            let key = node.merge().and_then(|merge| merge.key.as_deref());
            let key = key.ok_or_else(|| no_merge_key_declared(node.item()))?;
            merge_objects(node, live, patch, key)
        }
    }
}

/// All values of both, each once.
fn merge_scalars(live: &[Value], patch: &[Value]) -> Result<Vec<Value>, Flaw> {
    let mut seen = HashSet::new();
    let both = live.iter().chain(patch).filter(|value| seen.insert(*value));
    let merged = both.cloned().collect();
    arrange(merged, patch, live, Identity::Value)
}

fn merge_objects(
    node: Node<'_>,
    mut live: Vec<Value>,
    patch: &[Value],
    key: &str,
) -> Result<Vec<Value>, Flaw> {
    let identity = Identity::Key(key);
    let directives = Directives::of(patch, key)?;
    if directives.replace {
        let entries = directives
            .entries
            .into_iter()
            .cloned()
            .map(without_nulls)
            .collect();
        return arrange(entries, &[], &[], identity);
    }
    live.retain(|entry| {
        entry
            .get(key)
            .is_none_or(|id| !directives.deleted.contains(id))
    });
    let merged = merge_matching(node.item(), live.clone(), &directives.entries, key)?;
    let order: Vec<Value> = directives.entries.into_iter().cloned().collect();
    arrange(merged, &order, &live, identity)
}

/// Merges each entry of `patch` into the first of `live` that has the same key, or adds it.
fn merge_matching(
    node: Node<'_>,
    mut live: Vec<Value>,
    patch: &[&Value],
    key: &str,
) -> Result<Vec<Value>, Flaw> {
    let mut places: HashMap<Value, usize> = HashMap::new();
    for (index, id) in live
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| Some((index, entry.get(key)?)))
    {
        places.entry(id.clone()).or_insert(index);
    }
    for entry in patch {
        let id = entry
            .get(key)
            .ok_or_else(|| Flaw::no_merge_key(entry, key))?;
        let current = places.get(id).map(|index| &mut live[*index]);
        if let (Some(Value::Object(current)), Value::Object(patch)) = (current, entry) {
            *current = super::merge(node, std::mem::take(current), patch)?;
        } else {
            places.insert(id.clone(), live.len());
            live.push(without_nulls((*entry).clone()));
        }
    }
    Ok(live)
}

/// The entries of a patch, sorted out by what `$patch` says in them.
struct Directives<'p> {
    entries: Vec<&'p Value>,
    deleted: HashSet<&'p Value>,
    replace: bool,
}

impl<'p> Directives<'p> {
    fn of(patch: &'p [Value], key: &str) -> Result<Self, Flaw> {
        let mut all = Self {
            entries: Vec::new(),
            deleted: HashSet::new(),
            replace: false,
        };
        for entry in patch {
            let Some(directive) = entry.get(DIRECTIVE) else {
                all.entries.push(entry);
                continue;
            };
            match directive.as_str() {
                Some("delete") => {
                    let id = entry
                        .get(key)
                        .ok_or_else(|| Flaw::no_merge_key(entry, key))?;
                    all.deleted.insert(id);
                }
                Some("replace") => all.replace = true,
                Some("merge") => {
                    let why = "merging lists cannot yet be specified in the patch";
                    return Err(Flaw::Unforeseen(why.to_owned()));
                }
                Some(_) | None => {
                    let entry = entry.as_object().cloned().unwrap_or_default();
                    return Err(Flaw::unknown_directive(directive, &entry));
                }
            }
        }
        Ok(all)
    }
}

/// What the entries of two lists are, which must all be of one type.
fn entry_type(lists: [&[Value]; 2]) -> Result<Entry, Flaw> {
    let mut entries = lists.into_iter().flatten();
    let Some(first) = entries.next() else {
        return Err(Flaw::Unforeseen(
            "no elements in any of the given slices".to_owned(),
        ));
    };
    if first.is_array() {
        return Err(Flaw::ListOfLists);
    }
    if first.is_null() || entries.any(|entry| type_of(entry) != type_of(first)) {
        return Err(Flaw::mixed_types(lists));
    }
    Ok(if first.is_object() {
        Entry::Object
    } else {
        Entry::Scalar
    })
}

fn no_merge_key_declared(entry: Node<'_>) -> Flaw {
    let kind = match entry.schema.and_then(|schema| schema.kind) {
        Some(Type::Object) | None => "struct",
        Some(Type::Array) => "slice",
        Some(Type::String) => "string",
        Some(Type::Integer) => "int64",
        Some(Type::Number) => "float64",
        Some(Type::Boolean) => "bool",
    };
    Flaw::Unforeseen(format!("cannot merge lists without merge key for {kind}"))
}
