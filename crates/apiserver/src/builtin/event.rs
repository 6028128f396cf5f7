//! Events, which are served in two forms and kept in the older one.

use serde_json::Value;

use crate::object::Object;

/// Fields that are called differently in the two forms: in `v1` and in `events.k8s.io/v1`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];
const CORE: &str = "v1";
const EVENTS: &str = "events.k8s.io/v1";

/// The form of the core group; an Event that has it already stays as it is.
pub(crate) fn to_core(object: &Object) -> Object {
    convert(
        object,
        EVENTS,
        CORE,
        NAMES.map(|(core, events)| (events, core)),
    )
}

/// The form of `events.k8s.io`; an Event that has it already stays as it is.
pub(crate) fn to_events(object: &Object) -> Object {
    let mut event = convert(object, CORE, EVENTS, NAMES);
    // The younger form leaves out what the older one shows empty.
    event.retain(|field, value| !(field.starts_with("reporting") && value == ""));
    event
}

fn convert(object: &Object, from: &str, to: &str, names: [(&str, &str); 7]) -> Object {
    if object.get("apiVersion").and_then(Value::as_str) != Some(from) {
        return object.clone();
    }
    let renamed = |name: &str| {
        names
            .iter()
            .find(|(old, _)| *old == name)
            .map(|(_, new)| *new)
    };
    let mut converted: Object = object
        .iter()
        .map(|(name, value)| (renamed(name).unwrap_or(name).to_owned(), value.clone()))
        .collect();
    converted.insert("apiVersion".to_owned(), to.into());
    converted
}
