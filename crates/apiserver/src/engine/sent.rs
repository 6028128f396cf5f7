//! What was sent: from a body to an object of its kind.
//!
//! Reading drops what the kind does not have, and tells of it as the sender asked for. Whatever becomes of the object
//! then, its sender has been told. Who wrote what and whether the object may be stored is decided in `settle`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::settle::is_definition;
use crate::body::Body;
use crate::builtin;
use crate::crd;
use crate::object::{Object, ObjectExt as _};
use crate::patch::go_word;
use crate::refusal::Refusal;
use crate::request::FieldValidation;
use crate::resource::{Origin, Resource};
use crate::schema::{Schema, Type};

/// When owners are found to be named twice: the sender did it, or somebody who was asked.
pub(super) const BEFORE_ADMISSION: &str = "contains duplicate entries";
pub(super) const AFTER_ADMISSION: &str =
    "contains duplicate entries after mutating admission happens";

/// An object as it was sent, without what its kind does not have.
pub(super) struct Sent {
    pub(super) object: Object,
    /// What its sender is told, whatever becomes of it.
    pub(super) warnings: Vec<String>,
    /// Whether its managed fields are those that it shall have: applying has worked them out.
    pub(super) recorded: bool,
    /// That it is not what the path says. A custom kind tells only after it has looked at the version.
    pub(super) mismatch: Option<Refusal>,
}

impl Sent {
    /// The object in a body.
    pub(super) fn whole(
        resource: &Resource,
        body: Option<&Body>,
        validation: FieldValidation,
    ) -> Result<Self, Refusal> {
        let kind = &resource.names.kind;
        let body =
            body.ok_or_else(|| unrecognized(kind, "unexpected end of JSON input (<empty>)"))?;
        let empty = Object::new();
        let object = match &body.value {
            Value::Null => Some(&empty),
            Value::Object(object) => Some(object),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        };
        let object = object.ok_or_else(|| not_an_object(kind, &body.value))?;
        if let Some(why) = wrong_type_meta(object) {
            return Err(unrecognized(kind, &format!("{why} ({})", body.value)));
        }
        let mut object = object.clone();
        let mismatch = match (check_kind(resource, &object), resource.origin) {
            (Ok(()), _) => None,
            (Err(refusal), Origin::Custom) if refusal.code == 422 => Some(refusal),
            (Err(refusal), Origin::Builtin | Origin::Custom) => return Err(refusal),
        };
        object.insert("apiVersion".into(), resource.api_version().into());
        object.insert("kind".into(), kind.as_str().into());
        if let Some(refusal) = wrong_shape(resource, &object) {
            return Err(refusal);
        }
        let unknown = reduce(resource, &mut object);
        let found = told(resource, unknown, duplicate_fields(body).collect());
        if validation == FieldValidation::Strict && !found.is_empty() {
            let (found, version) = (found.join(", "), object.api_version());
            return Err(Refusal::bad_request(format!(
                "{kind} in version \"{version}\" cannot be handled as a {kind}: strict decoding error: {found}",
                version = version.rsplit('/').next().unwrap_or(version),
            )));
        }
        Ok(Self {
            object,
            warnings: if_wanted(found, validation),
            recorded: false,
            mismatch,
        })
    }

    /// What a patch makes of an object. `complaints` are about the patch itself.
    pub(super) fn patched(
        resource: &Resource,
        mut object: Object,
        complaints: Vec<String>,
        validation: FieldValidation,
    ) -> Result<Self, Refusal> {
        let unknown = reduce(resource, &mut object);
        let found = told(resource, unknown, complaints);
        if validation == FieldValidation::Strict && !found.is_empty() {
            let why = format!("strict decoding error: {}", found.join(", "));
            return Err(super::update::unpatchable(&object, &why));
        }
        Ok(Self {
            object,
            warnings: if_wanted(found, validation),
            recorded: false,
            mismatch: None,
        })
    }

    /// What applying makes of an object: it has no fields that its kind does not have, and nulls in a custom one are meant.
    pub(super) fn applied(resource: &Resource, mut object: Object, told: Option<String>) -> Self {
        match resource.origin {
            Origin::Builtin => drop(reduce(resource, &mut object)),
            Origin::Custom => {}
        }
        Self {
            object,
            warnings: told.into_iter().collect(),
            recorded: true,
            mismatch: None,
        }
    }
}

/// Reads an object that a webhook has changed, as if it had been sent.
pub(super) fn reread(resource: &Resource, mut new: Object) -> Result<Object, String> {
    let (kind, version) = (&resource.names.kind, resource.api_version());
    if (new.kind(), new.api_version()) != (kind.as_str(), version.as_str()) {
        return Err(format!(
            "the object is a {} {:?}, and not a {version} {kind:?} any more",
            new.api_version(),
            new.kind(),
        ));
    }
    if let Some(refusal) = wrong_shape(resource, &new) {
        return Err(super::update::reason(&refusal.message).to_owned());
    }
    if resource.origin == Origin::Builtin {
        reduce(resource, &mut new);
    }
    drop_empty(resource, &mut new);
    fill_in(resource, &mut new);
    Ok(new)
}

/// A built-in object whose fields do not even have the right types is not read at all.
pub(super) fn wrong_shape(resource: &Resource, new: &Object) -> Option<Refusal> {
    match resource.origin {
        Origin::Builtin => builtin::decode_error(resource, new),
        Origin::Custom => None,
    }
}

pub(super) fn prune(resource: &Resource, new: &mut Object) -> Vec<String> {
    let mut value = Value::Object(std::mem::take(new));
    let unknown = resource.schema.prune(&mut value);
    if let Value::Object(pruned) = value {
        *new = pruned;
    }
    unknown
}

/// Nulls, and maps and lists without anything in them, are left out of metadata, as Go writes it.
pub(super) fn drop_empty(resource: &Resource, new: &mut Object) {
    let is_empty = |value: &Value| match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if new.metadata().is_some() {
        // An empty record of managers is a wish to forget them, but for custom kinds, where it is lost on the way.
        let wish = |field: &str| field == "managedFields" && resource.origin == Origin::Builtin;
        let stays = |field: &str, value: &Value| wish(field) || !is_empty(value);
        new.metadata_mut()
            .retain(|field, value| stays(field, value));
    }
}

pub(super) fn fill_in(resource: &Resource, new: &mut Object) {
    match resource.origin {
        Origin::Builtin if is_definition(resource) => crd::default(new),
        Origin::Builtin => builtin::default(resource, new),
        Origin::Custom => {
            let mut value = Value::Object(std::mem::take(new));
            resource.schema.default_fields(&mut value);
            if let Value::Object(filled) = value {
                *new = filled;
            }
        }
    }
}

/// An owner that is named twice is kept once, and whoever named it is told.
pub(super) fn drop_repeated_owners(new: &mut Object, found: &str) -> Option<String> {
    let owners = new
        .metadata_mut()
        .get_mut("ownerReferences")?
        .as_array_mut()?;
    let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    owners.retain(|owner| {
        let uid = owner
            .get("uid")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let is_new = seen.insert(owner.to_string());
        if !is_new {
            repeated.insert(uid);
        }
        is_new
    });
    let repeated: Vec<String> = repeated.into_iter().collect();
    (!repeated.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences {found}; API server dedups owner references in 1.20+, \
             and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", "),
        )
    })
}

/// What strict field validation says of fields that were given more than once.
pub(super) fn duplicate_fields(body: &Body) -> impl Iterator<Item = String> {
    body.duplicates
        .iter()
        .map(|path| format!("duplicate field \"{path}\""))
}

/// The refusal of a body that is no object of any kind.
pub(crate) fn unrecognized(kind: &str, why: &str) -> Refusal {
    Refusal::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why}"
    ))
}

/// Drops what the kind does not have, and returns its paths.
fn reduce(resource: &Resource, object: &mut Object) -> Vec<String> {
    if resource.origin == Origin::Builtin {
        empty_nulls(&resource.schema, object);
    }
    prune(resource, object)
}

/// What is said of fields that are unknown or given twice.
fn told(resource: &Resource, mut unknown: Vec<String>, complaints: Vec<String>) -> Vec<String> {
    if resource.origin == Origin::Builtin {
        // Told as they are met on the way through a body whose fields are in the order of their names.
        unknown.sort();
    }
    let unknown = unknown
        .into_iter()
        .map(|path| format!("unknown field \"{path}\""));
    match resource.origin {
        Origin::Builtin => unknown.chain(complaints).collect(),
        // Custom objects are first read, and then compared with their schema.
        Origin::Custom => complaints.into_iter().chain(unknown).collect(),
    }
}

fn if_wanted(found: Vec<String>, validation: FieldValidation) -> Vec<String> {
    match validation {
        FieldValidation::Ignore => Vec::new(),
        FieldValidation::Warn | FieldValidation::Strict => found,
    }
}

/// Null in a map of texts is the empty text to a built-in kind, as Go reads it.
fn empty_nulls(schema: &Schema, object: &mut Object) {
    let of_texts = |schema: &Schema| schema.kind == Some(Type::String);
    let is_map_of_texts = schema.additional.as_deref().is_some_and(of_texts);
    for (field, value) in object.iter_mut() {
        match value {
            Value::Null if is_map_of_texts => *value = "".into(),
            Value::Object(inner) => {
                if let Some(schema) = schema.properties.get(field) {
                    empty_nulls(schema, inner);
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {}
        }
    }
}

/// What is wrong with the types of the two fields that are read before all others.
fn wrong_type_meta(object: &Object) -> Option<String> {
    ["apiVersion", "kind"].into_iter().find_map(|field| {
        let found = go_word(
            object
                .get(field)
                .filter(|value| !value.is_string() && !value.is_null())?,
        );
        Some(format!(
            "json: cannot unmarshal {found} into Go struct field .{field} of type string"
        ))
    })
}

fn not_an_object(kind: &str, value: &Value) -> Refusal {
    let mut shown = String::new();
    for byte in value.to_string().bytes() {
        let _infallible = write!(shown, "{byte:02x}");
    }
    let found = go_word(value);
    unrecognized(
        kind,
        &format!(
            "json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }} ({shown})"
        ),
    )
}

/// An object must be what the path says. What it leaves out, the path says for it.
fn check_kind(resource: &Resource, object: &Object) -> Result<(), Refusal> {
    let expected = &resource.names.kind;
    let kind = if object.kind().is_empty() {
        expected
    } else {
        object.kind()
    };
    let api_version = resource.api_version();
    let version = match (object.api_version(), resource.origin) {
        ("", Origin::Builtin) => &api_version,
        (said, Origin::Builtin | Origin::Custom) => said,
    };
    if kind == expected && *version == api_version {
        return Ok(());
    }
    Err(super::custom::wrong_kind(
        resource,
        object.name(),
        kind,
        version,
    ))
}
