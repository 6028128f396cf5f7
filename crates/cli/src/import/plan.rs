//! What has to change so that the API holds the objects.
//!
//! Objects are compared by what their specs say. What somebody else has added to a Zone's delegations stays: an import
//! takes away no leave.

use api::{Zone, ZoneKey, ZoneRef};
use serde_json::{Map, Value, json};

/// What to do about one object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Create,
    /// Merge this into it.
    Update(Value),
    /// It is as it should be.
    Keep,
    /// It is not ours to change.
    Refuse(String),
}

/// What to do about the Zone, given the one that is there.
pub(super) fn zone(there: Option<&Value>, wanted: &Zone) -> Step {
    let Some(there) = there else {
        return Step::Create;
    };
    let origin = &wanted.spec.domain_name;
    let name = full_name(there);
    if name.as_ref() != Some(origin) {
        let name = name.as_deref().unwrap_or("not placed yet");
        return Step::Refuse(format!(
            "it is there, and it is {name}; choose another name with --zone"
        ));
    }
    let mut spec = serde_json::to_value(&wanted.spec).expect("a spec is plain data");
    // How the zone came by its name is left as it is.
    for field in ["domainName", "zoneRef"] {
        spec[field] = there["spec"][field].clone();
    }
    let there_delegations = there["spec"]["delegations"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    spec["delegations"] = json!(joined(there_delegations, &spec["delegations"]));
    update(&there["spec"], &spec)
}

/// What to do about a Record of the zone `zone`, given the one that is there.
pub(super) fn record(there: Option<&Value>, wanted: &Value, zone: &ZoneKey) -> Step {
    match there {
        None => Step::Create,
        Some(there) if belongs_to(there, zone) => update(&there["spec"], &wanted["spec"]),
        Some(_) => Step::Refuse("it is there, and it belongs to another zone".to_owned()),
    }
}

/// Whether a Record asks to be in a zone.
pub(super) fn belongs_to(record: &Value, zone: &ZoneKey) -> bool {
    let reference = serde_json::from_value::<ZoneRef>(record["spec"]["zoneRef"].clone());
    reference.is_ok_and(|reference| reference.key(&zone.namespace) == *zone)
}

/// What a Zone is called, as far as that is known.
fn full_name(zone: &Value) -> Option<String> {
    let zone: Zone = serde_json::from_value(zone.clone()).ok()?;
    let (claim, _) = api::parse::zone::parse(&zone);
    let claimed = claim
        .place
        .as_ref()
        .and_then(|place| place.full_name().map(ToString::to_string));
    claimed.or(zone.status.and_then(|status| status.fqdn))
}

/// What is there, and of what is wanted what is not there yet.
fn joined(mut there: Vec<Value>, wanted: &Value) -> Vec<Value> {
    for delegation in wanted.as_array().into_iter().flatten() {
        if !there.contains(delegation) {
            there.push(delegation.clone());
        }
    }
    there
}

fn update(there: &Value, wanted: &Value) -> Step {
    match merge_patch(there, wanted) {
        Some(patch) => Step::Update(json!({ "spec": patch })),
        None => Step::Keep,
    }
}

/// The merge patch (RFC 7386) that makes `wanted` of `there`; nothing if they are equal.
fn merge_patch(there: &Value, wanted: &Value) -> Option<Value> {
    let (Value::Object(there), Value::Object(wanted)) = (there, wanted) else {
        return (there != wanted).then(|| wanted.clone());
    };
    let gone = there
        .iter()
        .filter(|(key, value)| !wanted.contains_key(*key) && !value.is_null());
    let gone = gone.map(|(key, _)| (key.clone(), Value::Null));
    let changed = wanted.iter().filter_map(|(key, value)| {
        let patch = merge_patch(there.get(key).unwrap_or(&Value::Null), value);
        patch.map(|patch| (key.clone(), patch))
    });
    let patch: Map<String, Value> = gone.chain(changed).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests;
