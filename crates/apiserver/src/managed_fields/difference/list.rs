//! Lists whose entries are told apart by keys or by value.
//!
//! Stored data may break the rule that no two entries are alike. Such twins are owned together, as
//! one thing that changes when any of them does.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::field_set::{PathElement, same};
use super::{Difference, Fate, Found, Node, Shapeless, compare};

pub(super) fn compare_entries(
    node: Node<'_>,
    old: &[Value],
    new: &[Value],
) -> Result<Difference, Shapeless> {
    let mut pairs: BTreeMap<PathElement, Twins<'_>> = BTreeMap::new();
    for entry in old {
        pairs
            .entry(element(node, entry)?)
            .or_default()
            .old
            .push(entry);
    }
    for entry in new {
        pairs
            .entry(element(node, entry)?)
            .or_default()
            .new
            .push(entry);
    }
    let mut difference = Difference::default();
    for (element, twins) in pairs {
        difference.attach(element, twins.compare(node.item())?);
    }
    Ok(difference)
}

/// The entries that are named alike, before and after; one each, if all is well.
#[derive(Default)]
struct Twins<'a> {
    old: Vec<&'a Value>,
    new: Vec<&'a Value>,
}

impl Twins<'_> {
    fn compare(self, item: Node<'_>) -> Result<Found, Shapeless> {
        let as_one = |itself| Found {
            itself,
            below: Difference::default(),
        };
        match (self.old.as_slice(), self.new.as_slice()) {
            ([] | [_], [] | [_]) => {
                compare(item, self.old.first().copied(), self.new.first().copied())
            }
            ([_, _, ..], [_, _, ..]) => {
                let are_same = self.old.len() == self.new.len()
                    && self
                        .old
                        .iter()
                        .zip(&self.new)
                        .all(|(old, new)| same(old, new));
                Ok(as_one((!are_same).then_some(Fate::Modified)))
            }
            ([_, _, ..], []) => Ok(as_one(Some(Fate::Removed))),
            ([], [_, _, ..]) => Ok(as_one(Some(Fate::Added))),
            // What was one thing has parts of its own now: they are added, and the whole is too.
            ([_, _, ..], [new]) => compare(item, None, Some(new)),
            ([old], [_, _, ..]) => {
                let parts = compare(item, Some(old), None)?;
                Ok(Found {
                    itself: Some(Fate::Added),
                    ..parts
                })
            }
        }
    }
}

fn element(node: Node<'_>, entry: &Value) -> Result<PathElement, Shapeless> {
    node.element(entry).map_err(|_nameless| Shapeless)
}
