//! Events.
//!
//! The older form is judged loosely, for the sake of its many writers; one that has an `eventTime`
//! is judged as the younger form.

use super::Problems;
use crate::builtin::event::to_core;
use crate::builtin::fields::Fields as _;
use crate::builtin::kind::Kind;
use crate::metadata::text;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::FieldPath;

/// Lengths in bytes, all of them kube-apiserver's own.
const LONGEST: [(&str, usize); 4] = [
    ("reportingInstance", 128),
    ("action", 128),
    ("reason", 128),
    ("message", 1024),
];
/// What stays as it was in the younger form; paths are those of the older one.
const UNCHANGEABLE: [&str; 11] = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
];

pub(super) fn create(kind: Kind, object: &Object, problems: &mut Problems) {
    let object = &to_core(object);
    both(kind, object, problems);
    if kind != Kind::NewEvent {
        return;
    }
    series(object, problems);
    if object.text("eventTime").is_empty() {
        problems.required(&FieldPath::of("eventTime"), "");
    }
    let of = object.text("type");
    if !matches!(of, "Normal" | "Warning") {
        problems.invalid(
            &FieldPath::of("type"),
            "",
            format!("has invalid value: {of}"),
        );
    }
    let source =
        !object.text("source.component").is_empty() || !object.text("source.host").is_empty();
    for (field, set) in [
        ("firstTimestamp", object.has("firstTimestamp")),
        ("lastTimestamp", object.has("lastTimestamp")),
        ("count", object.number("count") != 0),
        ("source", source),
    ] {
        if set {
            problems.invalid(&FieldPath::of(field), "", "needs to be unset");
        }
    }
}

pub(super) fn change(kind: Kind, new: &Object, old: &Object, problems: &mut Problems) {
    let (new, old) = (&to_core(new), &to_core(old));
    both(kind, new, problems);
    if kind != Kind::NewEvent {
        return;
    }
    if new.at("series") != old.at("series") {
        series(new, problems);
    }
    for field in UNCHANGEABLE {
        problems.immutable(field, new, old);
    }
    for (field, said) in [
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        if new.text(field) != old.text(field) {
            problems.invalid(&FieldPath::of(said), new.text(field), "field is immutable");
        }
    }
}

/// What holds for both forms, said of the older one.
fn both(kind: Kind, object: &Object, problems: &mut Problems) {
    if object.text("eventTime").is_empty() {
        let (own, about) = (object.namespace(), object.text("involvedObject.namespace"));
        let fits = own == about || about.is_empty() && matches!(own, "" | "default");
        if !fits {
            other_namespace(about, problems);
        }
    } else {
        reported(kind, object, problems);
    }
    let own = object.namespace();
    problems.all_invalid(&FieldPath::of("namespace"), own, text::subdomain(own));
}

fn reported(kind: Kind, object: &Object, problems: &mut Problems) {
    let own = object.namespace();
    if object.text("involvedObject.namespace").is_empty()
        && !matches!(own, "default" | "kube-system")
    {
        other_namespace("", problems);
    }
    let field = if kind == Kind::NewEvent {
        "reportingController"
    } else {
        "reportingComponent"
    };
    let (at, controller) = (FieldPath::of(field), object.text("reportingComponent"));
    if controller.is_empty() {
        problems.required(&at, "");
    }
    problems.all_invalid(&at, controller, text::qualified_name(controller));
    for (field, most) in LONGEST {
        let (at, text) = (FieldPath::of(field), object.text(field));
        if text.is_empty() && field != "message" {
            problems.required(&at, "");
        }
        if text.len() > most {
            problems.invalid(&at, "", format!("can have at most {most} characters"));
        }
    }
}

fn series(object: &Object, problems: &mut Problems) {
    if !object.has("series") {
        return;
    }
    if object.number("series.count") < 2 {
        problems.invalid(&FieldPath::of("series.count"), "", "should be at least 2");
    }
    if object.text("series.lastObservedTime").is_empty() {
        problems.required(&FieldPath::of("series.lastObservedTime"), "");
    }
}

fn other_namespace(about: &str, problems: &mut Problems) {
    let at = FieldPath::of("involvedObject.namespace");
    problems.invalid(&at, about, "does not match event.namespace");
}
