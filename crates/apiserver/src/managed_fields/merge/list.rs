//! Lists whose entries are told apart by keys or by value.
//!
//! Entries that both sides have are in the order of the applied list. Those that only one side has
//! stay where they are between them, the live ones first.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::super::field_set::PathElement;
use super::super::node::Node;
use super::merge;

/// Entries from both lists. That the applied list has no twins has been judged; of twins in the
/// live one, those that are applied become one, which is as applied.
pub(super) fn merge_entries(node: Node<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    let live = Side::of(node, live);
    let applied = Side::of(node, applied);
    let shared = applied.order.iter().map(|(element, _)| element);
    let shared = shared.filter(|element| live.entries.contains_key(*element));
    let zip = Zip {
        node,
        shared: shared.collect(),
        live: &live,
        applied: &applied,
        merged: Vec::new(),
    };
    zip.run()
}

/// One of the two lists.
struct Side<'a> {
    order: Vec<(PathElement, &'a Value)>,
    /// Twins have no value that something could be merged with.
    entries: BTreeMap<PathElement, &'a Value>,
}

impl<'a> Side<'a> {
    fn of(node: Node<'_>, list: &'a [Value]) -> Self {
        let named = list
            .iter()
            .filter_map(|entry| Some((node.element(entry).ok()?, entry)));
        let order: Vec<_> = named.collect();
        let mut entries: BTreeMap<PathElement, &'a Value> = BTreeMap::new();
        for (element, entry) in &order {
            entries
                .entry(element.clone())
                .and_modify(|twin| *twin = &Value::Null)
                .or_insert(entry);
        }
        Self { order, entries }
    }

    fn has(&self, element: &PathElement) -> bool {
        self.entries.contains_key(element)
    }
}

/// Both lists, walked side by side.
struct Zip<'a> {
    node: Node<'a>,
    live: &'a Side<'a>,
    applied: &'a Side<'a>,
    /// Entries of both that are still to come, in the order of the applied list.
    shared: VecDeque<&'a PathElement>,
    merged: Vec<Value>,
}

impl<'a> Zip<'a> {
    fn run(mut self) -> Vec<Value> {
        let mut live = self.live.order.iter().peekable();
        let mut applied = self.applied.order.iter().peekable();
        loop {
            match (live.peek(), applied.peek()) {
                (None, None) => return self.merged,
                (None, Some((element, _))) => {
                    self.take(element);
                    applied.next();
                }
                (Some((element, entry)), _) if !self.applied.has(element) => {
                    self.merged.push(merge(self.node.item(), Some(entry), None));
                    live.next();
                }
                (Some((element, _)), Some((other, _))) if element == other => {
                    self.take(element);
                    live.next();
                    applied.next();
                }
                (Some((element, _)), other) => {
                    // It is in its place where the applied list has it, before or after this one.
                    let is_next = self.shared.front() == Some(&element);
                    if !is_next {
                        live.next();
                    }
                    if let Some((other, _)) = other.filter(|_| is_next || self.shared.is_empty()) {
                        self.take(other);
                        applied.next();
                    }
                }
            }
        }
    }

    /// Takes an entry of the applied list, merged with the live one of that name.
    fn take(&mut self, element: &'a PathElement) {
        let live = self.live.entries.get(element).copied();
        let applied = self.applied.entries.get(element).copied();
        self.merged.push(merge(self.node.item(), live, applied));
        if self.shared.front() == Some(&element) {
            self.shared.pop_front();
        }
    }
}
