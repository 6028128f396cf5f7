//! The annotation in which `kubectl apply` remembers what it applied.
//!
//! Before kubectl applied on the server it compared manifests itself. Who goes from the one to the
//! other must not run into conflicts with their own past: fields that still are as the annotation
//! says may be taken by the manager `kubectl`. As long as the annotation is there it is kept up to
//! date, so that there is a way back.

use serde_json::Value;

use super::apply::Application;
use super::difference::Difference;
use super::field_set::FieldSet;
use super::fields_of::fields_of;
use super::flaws::{self, Twins};
use crate::object::{Object, ObjectExt as _};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Only kubectl under its own name moves from one to the other.
const KUBECTL: &str = "kubectl";

/// kube-apiserver's `TotalAnnotationSizeLimitB`.
const ANNOTATIONS_MAX: usize = 256 << 10;

/// The fields that may be taken from whoever owns them.
pub(super) fn allowed(live: &Object, application: &Application<'_>) -> FieldSet {
    if application.change.manager != KUBECTL {
        return FieldSet::default();
    }
    unchanged(live, application).unwrap_or_default()
}

/// The fields that are as they were last applied. Nothing where that cannot be told.
fn unchanged(live: &Object, application: &Application<'_>) -> Option<FieldSet> {
    let Ok(Value::Object(last)) = serde_json::from_str(annotation(live)?) else {
        return None;
    };
    if last.api_version() != application.change.api_version || last.kind().is_empty() {
        return None;
    }
    let schema = application.schema().ok()?;
    for object in [live, &last] {
        flaws::check(schema, object, Twins::Refused).ok()?;
    }
    let difference = Difference::between(schema, Some(&last), live).ok()?;
    let fields = fields_of(schema, &last)
        .difference(&difference.modified)
        .difference(&difference.added)
        .difference(&difference.removed);
    Some(fields)
}

/// Writes what is applied into the annotation, if there is one.
pub(super) fn renew(object: &mut Object, applied: &Object, manager: &str) {
    if manager != KUBECTL || annotation(object).is_none() {
        return;
    }
    let text = written(applied);
    let Some(annotations) = annotations_mut(object) else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let sizes = annotations
        .iter()
        .map(|(name, value)| name.len() + value.as_str().map_or(0, str::len));
    if sizes.sum::<usize>() > ANNOTATIONS_MAX {
        annotations.remove(ANNOTATION);
    }
}

/// The object without the annotation, as Go writes it: on a line, without `<`, `>` and `&`.
fn written(applied: &Object) -> String {
    let mut applied = applied.clone();
    if let Some(annotations) = annotations_mut(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let text = Value::Object(applied).to_string();
    let text = text
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    format!("{text}\n")
}

fn annotation(object: &Object) -> Option<&str> {
    let annotations = object.metadata()?.get("annotations")?;
    let text = annotations.get(ANNOTATION)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

fn annotations_mut(object: &mut Object) -> Option<&mut Object> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    metadata.get_mut("annotations")?.as_object_mut()
}
