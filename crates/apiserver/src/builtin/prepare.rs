//! What the API itself decides about an object, whatever the request says.
//!
//! The engine keeps status and the rest apart for every kind that has a `/status` path; here is
//! what goes beyond that.

use serde_json::Value;

use super::defaults::{new_status, settle_addresses};
use super::fields::{Fields as _, Fill as _};
use super::kind::Kind;
use crate::object::Object;

/// The finalizer that keeps a namespace until it is empty.
const NAMESPACE_FINALIZER: &str = "kubernetes";

/// Prepares a new object.
pub(super) fn create(kind: Kind, object: &mut Object) {
    if kind.facts().has("status")
        && let Some(status) = new_status(kind)
    {
        object.insert("status".to_owned(), status);
    }
    if kind == Kind::Namespace {
        keep_until_empty(object);
    }
    if kind == Kind::Lease {
        without_strategy(object);
    }
    if kind == Kind::Service {
        settle_addresses(object);
    }
    if kind == Kind::ServiceAccount {
        only_names(object);
    }
}

fn keep_until_empty(object: &mut Object) {
    let spec = object.below("spec");
    let finalizers = spec.and_then(|spec| {
        spec.fill("finalizers", Vec::<Value>::new());
        spec.get_mut("finalizers")?.as_array_mut()
    });
    if let Some(finalizers) = finalizers
        && !finalizers.contains(&NAMESPACE_FINALIZER.into())
    {
        finalizers.push(NAMESPACE_FINALIZER.into());
    }
}

/// Prepares a change.
pub(super) fn update(kind: Kind, new: &mut Object, old: &Object, subresource: Option<&str>) {
    match (kind, subresource) {
        (Kind::Namespace, None) => restore(new, old, "spec", "finalizers"),
        (Kind::Service, None) => {
            keep_addresses(new, old);
            drop_addresses(new, old);
            settle_addresses(new);
        }
        (Kind::Lease, None) => without_strategy(new),
        (Kind::ServiceAccount, None) => only_names(new),
        (_, _) => {}
    }
}

/// What an object loses on its way into the store, after everybody has seen it.
pub(super) fn store(kind: Kind, object: &mut Object) {
    // In a definition an empty list may be a default.
    if kind != Kind::CustomResourceDefinition {
        object.values_mut().for_each(no_empty_list);
    }
}

/// A list that Go writes also when nothing is in it is kept as none.
fn no_empty_list(value: &mut Value) {
    match value {
        Value::Array(list) if list.is_empty() => *value = Value::Null,
        Value::Array(list) => list.iter_mut().for_each(no_empty_list),
        Value::Object(fields) => fields.values_mut().for_each(no_empty_list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Of the Secrets of a `ServiceAccount` only the names are kept.
fn only_names(object: &mut Object) {
    for secret in object.each("secrets") {
        secret.retain(|field, _| field == "name");
    }
}

/// Elections among candidates are a feature that is off: its fields are dropped.
fn without_strategy(object: &mut Object) {
    if let Some(spec) = object.present("spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

/// Puts back a field as it was.
fn restore(new: &mut Object, old: &Object, above: &str, field: &str) {
    let before = old.at(&format!("{above}.{field}")).cloned();
    let Some(above) = new.below(above) else {
        return;
    };
    match before {
        Some(before) => above.insert(field.to_owned(), before),
        None => above.remove(field),
    };
}

/// A Service that becomes a mere name loses its addresses, unless its writer insists.
fn drop_addresses(new: &mut Object, old: &Object) {
    let named = |service: &Object| service.text("spec.type") == "ExternalName";
    if !named(new) || named(old) {
        return;
    }
    // Who takes away the one address means the list as well.
    let emptied = new.text("spec.clusterIP").is_empty()
        && !old.text("spec.clusterIP").is_empty()
        && new.at("spec.clusterIPs") == old.at("spec.clusterIPs");
    if emptied && let Some(spec) = new.below("spec") {
        spec.remove("clusterIPs");
    }
    let same = |field: &str| {
        let path = format!("spec.{field}");
        new.at(&path) == old.at(&path)
    };
    let addresses = same("clusterIP") && same("clusterIPs");
    let dropped = [
        ("clusterIP", addresses),
        ("clusterIPs", addresses),
        ("ipFamilies", same("ipFamilies")),
        ("ipFamilyPolicy", same("ipFamilyPolicy")),
        ("internalTrafficPolicy", same("internalTrafficPolicy")),
    ];
    if let Some(spec) = new.below("spec") {
        for (field, drops) in dropped {
            if drops {
                spec.remove(field);
            }
        }
    }
}

/// A Service that is written again without its address keeps it.
fn keep_addresses(new: &mut Object, old: &Object) {
    let needs = |service: &Object| service.text("spec.type") != "ExternalName";
    if !needs(new) || !needs(old) {
        return;
    }
    for field in ["ipFamilies", "ipFamilyPolicy"] {
        if new.at(&format!("spec.{field}")).is_none() {
            restore(new, old, "spec", field);
        }
    }
    // Who changes only the one address means the first of the list.
    let only_first = new.text("spec.clusterIP") != old.text("spec.clusterIP")
        && new.at("spec.clusterIPs") == old.at("spec.clusterIPs");
    if only_first && let Some(spec) = new.below("spec") {
        spec.remove("clusterIPs");
    }
    if new.text("spec.clusterIP").is_empty() {
        for field in ["clusterIP", "clusterIPs"] {
            restore(new, old, "spec", field);
        }
    }
}
