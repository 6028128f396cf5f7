//! Nodes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Problems;
use super::network_policy::cidr;
use crate::builtin::fields::Fields as _;
use crate::metadata::text;
use crate::object::Object;
use crate::refusal::FieldPath;

pub(super) fn judge(object: &Object, problems: &mut Problems) {
    taints(object, problems);
    for (index, network) in object.texts("spec.podCIDRs").into_iter().enumerate() {
        cidr(
            network,
            &FieldPath::of("spec.podCIDRs").index(index),
            problems,
        );
    }
}

pub(super) fn change(new: &Object, old: &Object, problems: &mut Problems) {
    let at = FieldPath::of("status.addresses");
    let addresses = new.list(at.as_str());
    for (index, address) in addresses.iter().enumerate() {
        if addresses[..index].contains(address) {
            problems.duplicate(&at.index(index), address.clone());
        }
    }
    for (field, said) in [("podCIDRs", "podCIDR"), ("providerID", "providerID")] {
        let path = format!("spec.{field}");
        let was_set = !old.list(&path).is_empty() || !old.text(&path).is_empty();
        if was_set && new.at(&path) != old.at(&path) {
            let detail = format!("node updates may not change {said} except from \"\" to valid");
            problems.forbidden(&FieldPath::of(path), &detail);
        }
    }
}

/// The API names their place wrongly, below the metadata.
fn taints(object: &Object, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (index, taint) in object.list("spec.taints").iter().enumerate() {
        let at = FieldPath::of("metadata.taints").index(index);
        let (key, value) = (taint.text("key"), taint.text("value"));
        problems.all_invalid(&at.field("key"), key, text::qualified_name(key));
        let wrong = text::label_value(value);
        if !wrong.is_empty() {
            problems.invalid(&at.field("value"), value, wrong.join(";"));
        }
        effect(taint, &at.field("effect"), problems);
        if !seen.insert((taint.text("effect"), key)) {
            // The API shows its own type here, not the one that it publishes.
            let shown = json!({
                "Key": key, "Value": value, "Effect": taint.text("effect"),
                "TimeAdded": taint.at("timeAdded")
            });
            let detail = "taints must be unique by key and effect pair";
            problems.duplicate_because(&at, shown, detail);
        }
    }
}

fn effect(taint: &Value, at: &FieldPath, problems: &mut Problems) {
    match taint.text("effect") {
        "" => problems.required(at, ""),
        "NoSchedule" | "PreferNoSchedule" | "NoExecute" => {}
        other => {
            let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            problems.unsupported(at, other, &effects);
        }
    }
}
