//! In which order the entries of a merged list come.
//!
//! The patch's order goes before the live object's. Entries that only the live object has keep
//! their place relative to each other, and stay in front of those they were in front of where
//! that does not contradict the patch.

use std::collections::HashMap;

use serde_json::Value;

use super::super::go_syntax::type_of;
use super::flaw::Flaw;
use super::{DIRECTIVE, Node};

/// What makes two entries of a list the same.
#[derive(Clone, Copy)]
pub(super) enum Identity<'s> {
    /// Being equal.
    Value,
    /// Having the same value in this field.
    Key(&'s str),
}

impl<'s> Identity<'s> {
    pub(super) fn of(node: Node<'s>) -> Self {
        let key = node.merge().and_then(|merge| merge.key.as_deref());
        key.map_or(Self::Value, Self::Key)
    }

    fn read(self, entry: &Value) -> Result<&Value, Flaw> {
        match (self, entry) {
            (Self::Value, entry) => Ok(entry),
            (Self::Key(key), Value::Object(fields)) => fields
                .get(key)
                .ok_or_else(|| Flaw::no_merge_key(entry, key)),
            (Self::Key(_), other) => {
                Err(Flaw::wrong_type("map[string]interface {}", type_of(other)))
            }
        }
    }

    /// Where each identity is first found.
    fn places(self, entries: &[Value]) -> Result<HashMap<&Value, usize>, Flaw> {
        let mut places = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            places.entry(self.read(entry)?).or_insert(index);
        }
        Ok(places)
    }
}

/// The entries of `merged`: those that `order` names in its order, the others as they are in `live`.
pub(super) fn arrange(
    merged: Vec<Value>,
    order: &[Value],
    live: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, Flaw> {
    let wanted = identity.places(order)?;
    let lived = identity.places(live)?;
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for entry in merged {
        let id = identity.read(&entry)?;
        let place = Place {
            wanted: wanted.get(id).copied(),
            lived: lived.get(id).copied(),
            entry,
        };
        if place.wanted.is_some() {
            named.push(place);
        } else {
            others.push(place);
        }
    }
    named.sort_by_key(|place| place.wanted);
    others.sort_by_key(|place| place.lived);
    Ok(interleave(others, named))
}

/// Whether `patch` names its entries in the order of `order`, and none that is not in there.
pub(super) fn check_order(
    patch: &[Value],
    order: &[Value],
    identity: Identity<'_>,
) -> Result<(), Flaw> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut rest = order.iter();
    for entry in patch.iter().filter(|entry| entry.get(DIRECTIVE).is_none()) {
        let id = identity.read(entry)?;
        loop {
            let candidate = rest.next().ok_or_else(|| Flaw::wrong_order(patch, order))?;
            if identity.read(candidate)? == id {
                break;
            }
        }
    }
    Ok(())
}

/// An entry, and where the patch and the live object have it.
struct Place {
    wanted: Option<usize>,
    lived: Option<usize>,
    entry: Value,
}

/// One list of two, each in its own order.
fn interleave(others: Vec<Place>, named: Vec<Place>) -> Vec<Value> {
    let mut all = Vec::with_capacity(others.len() + named.len());
    let mut others = others.into_iter().peekable();
    for named in named {
        let is_behind = |other: &Place| {
            other
                .lived
                .zip(named.lived)
                .is_some_and(|(other, named)| other < named)
        };
        while let Some(other) = others.next_if(is_behind) {
            all.push(other.entry);
        }
        all.push(named.entry);
    }
    all.extend(others.map(|other| other.entry));
    all
}
