//! `/scale`: how many of something there shall be, for those who do not know what it is.
//!
//! What is sent and answered is a Scale; what is written is the object, as by any other update.

use std::sync::Arc;

use serde_json::{Value, json};

use super::sent::Sent;
use super::update::check_name;
use super::{Call, Content, Engine, Step, key};
use crate::builtin;
use crate::key::Key;
use crate::object::{Object, ObjectExt as _};
use crate::patch::{self, Patch};
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};
use crate::request::{Verb, WriteOptions};
use crate::resource::{Resource, Scale};
use crate::schema::Schema;

const API_VERSION: &str = "autoscaling/v1";

/// Whether a request is about the number alone.
pub(super) fn is_meant(call: &Call) -> bool {
    call.target.subresource.as_deref() == Some("scale")
}

/// An answer with the Scale of an object in the place of the object.
pub(super) fn shown(call: &Call, step: Result<Step, Refusal>) -> Result<Step, Refusal> {
    let mut step = step?;
    if let Step::Done(answer) = &mut step
        && is_meant(call)
        && let Content::Object {
            code,
            resource,
            object,
        } = &answer.content
    {
        answer.content = Content::Document {
            code: *code,
            value: Value::Object(of(resource, &object.object())),
        };
    }
    Ok(step)
}

impl Engine {
    pub(super) fn write_scale(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Step, Refusal> {
        let key = key(resource, call);
        let options = if call.verb == Verb::Patch {
            "PatchOptions"
        } else {
            "UpdateOptions"
        };
        let options = WriteOptions::read(&call.query, options)?;
        let stored = Arc::clone(self.existing(resource, &key)?);
        let old = resource.show(stored.object());
        let scale = sent(call, &of(resource, &old), &key)?;
        let sent = Sent {
            object: scaled(resource, old, &scale),
            warnings: Vec::new(),
            recorded: false,
            mismatch: None,
        };
        self.replace(resource, call, &options, (&key, &stored), sent)
    }
}

/// The Scale that a request asks for.
fn sent(call: &Call, before: &Object, key: &Key) -> Result<Object, Refusal> {
    let body = call.body.clone().unwrap_or_default();
    let sent = match call.patch {
        Some(Patch::Change(kind)) => patch::apply(kind, &Schema::default(), before, &body.value)?,
        // Who owns the number of an object is told by applying the object.
        Some(Patch::Apply) => return Err(Refusal::method_not_allowed()),
        None => body.value.as_object().cloned().unwrap_or_default(),
    };
    if sent.kind() != "Scale" || sent.api_version() != API_VERSION {
        let why = format!("the body is no Scale of {API_VERSION}");
        return Err(Refusal::bad_request(why));
    }
    check_name(&sent, key)?;
    let field = FieldPath::of("spec.replicas");
    let replicas = at(&sent, "spec.replicas").cloned().unwrap_or(json!(0));
    let wrong = match replicas.as_i64().map(i32::try_from) {
        Some(Ok(0..)) => return Ok(sent),
        Some(Ok(_)) => FieldError::invalid(field, replicas, "must be greater than or equal to 0"),
        Some(Err(_)) | None => {
            let why = format!(
                "json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type int32",
                patch::go_word(&replicas)
            );
            return Err(Refusal::bad_request(format!(
                "Scale in version \"v1\" cannot be handled as a Scale: {why}"
            )));
        }
    };
    let subject = Subject {
        group: "autoscaling",
        what: "Scale",
        name: &key.place.name,
    };
    Err(Refusal::invalid(subject, &[wrong]))
}

/// The object with the number that a Scale asks for, on the condition that the Scale names.
fn scaled(resource: &Resource, mut object: Object, scale: &Object) -> Object {
    let replicas = at(scale, "spec.replicas").cloned().unwrap_or(json!(0));
    if let Some(paths) = &resource.subresources.scale {
        put(&mut object, &paths.wanted, replicas);
    }
    let metadata = object.metadata_mut();
    match scale.metadata_text("resourceVersion") {
        Some(revision) => metadata.insert("resourceVersion".into(), revision.into()),
        None => metadata.remove("resourceVersion"),
    };
    object
}

fn put(object: &mut Object, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((field, rest)) => {
            let below = object.entry(field).or_insert_with(|| json!({}));
            if let Some(below) = below.as_object_mut() {
                put(below, rest, value);
            }
        }
    }
}

/// The Scale of an object. Go leaves out what is zero but for the number that was found.
fn of(resource: &Resource, object: &Object) -> Object {
    let default = Scale::of_workload();
    let paths = resource.subresources.scale.as_deref().unwrap_or(&default);
    let number = |path: &str| at(object, path).and_then(Value::as_i64).unwrap_or_default();
    let metadata: Object = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ]
    .into_iter()
    .filter_map(|field| Some((field.to_owned(), object.metadata()?.get(field)?.clone())))
    .collect();
    let mut scale = json!({
        "kind": "Scale",
        "apiVersion": API_VERSION,
        "metadata": metadata,
        "spec": {},
        "status": { "replicas": number(&paths.found) },
    });
    if number(&paths.wanted) != 0 {
        scale["spec"]["replicas"] = number(&paths.wanted).into();
    }
    let selector = paths.selector.as_deref().and_then(|path| at(object, path));
    let selector = selector.map(|selector| match selector.as_str() {
        Some(text) => text.to_owned(),
        None => builtin::selector_text(selector),
    });
    if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
        scale["status"]["selector"] = selector.into();
    }
    let Value::Object(scale) = scale else {
        unreachable!("a Scale is an object");
    };
    scale
}

fn at<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    let mut path = path.split('.');
    let first = object.get(path.next()?)?;
    path.try_fold(first, |value, field| value.get(field))
}
