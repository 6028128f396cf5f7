//! Objects that do not have the shape of their kind (K4).
//!
//! An API server checks what it stores, but the schema it checks with may be older, newer or
//! someone else's. One list or watch carries objects of all tenants, and serde gives up on all of
//! them when one does not fit. [`Decoded`] keeps that one apart, with its metadata, so that it can
//! be told what is wrong with it and everyone else goes on.

use std::borrow::Cow;

use kube::Resource;
use kube::core::ObjectMeta;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::problem::{FieldPath, Problem};

/// An object, or what can be said about one that could not be read. Use it where `K` would stand:
/// `Api<Decoded<Zone>>` lists and watches Zones.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded<K> {
    /// An object of the right shape.
    Object(K),
    /// An object of another shape.
    Undecodable(Box<Undecodable>),
}

/// An object that does not have the shape of its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Undecodable {
    /// Enough of its metadata to find it and to write its status.
    pub metadata: ObjectMeta,
    /// What is wrong. The first fault only: beyond it the shape is unknown.
    pub problems: Vec<Problem>,
}

impl<K> Decoded<K> {
    /// The object, or what is wrong with it.
    pub fn into_result(self) -> Result<K, Box<Undecodable>> {
        match self {
            Decoded::Object(object) => Ok(object),
            Decoded::Undecodable(undecodable) => Err(undecodable),
        }
    }
}

impl<K: Resource + DeserializeOwned> Decoded<K> {
    /// The object of which the metadata has been read already, and the rest has not.
    pub fn of_parts(metadata: ObjectMeta, mut rest: Value) -> Self {
        if let Value::Object(fields) = &mut rest {
            fields.insert("metadata".to_owned(), Value::Object(Map::new()));
        }
        // Tried twice as below.
        let read = K::deserialize(&rest).or_else(|_| serde_path_to_error::deserialize(&rest));
        match read {
            Ok(mut object) => {
                *object.meta_mut() = metadata;
                Decoded::Object(object)
            }
            Err(error) => Decoded::Undecodable(Box::new(Undecodable {
                metadata,
                problems: vec![problem(&error)],
            })),
        }
    }
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Decoded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Ok(object) = K::deserialize(&value) {
            return Ok(Decoded::Object(object));
        }
        if !value.is_object() {
            return Err(D::Error::custom("a Kubernetes object must be a map"));
        }
        // A second time, with an eye on the path: the first, without one, is what everybody pays.
        match serde_path_to_error::deserialize::<_, K>(&value) {
            Ok(object) => Ok(Decoded::Object(object)),
            Err(error) => Ok(Decoded::Undecodable(Box::new(Undecodable {
                metadata: metadata(&value),
                problems: vec![problem(&error)],
            }))),
        }
    }
}

impl<K: Resource> Resource for Decoded<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dt)
    }

    fn group(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dt)
    }

    fn version(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dt)
    }

    fn plural(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dt)
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Decoded::Object(object) => object.meta(),
            Decoded::Undecodable(undecodable) => &undecodable.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Decoded::Object(object) => object.meta_mut(),
            Decoded::Undecodable(undecodable) => &mut undecodable.metadata,
        }
    }
}

/// The metadata, or as much of it as is needed to address the object.
fn metadata(object: &Value) -> ObjectMeta {
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    ObjectMeta::deserialize(metadata).unwrap_or_else(|_| {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).map(str::to_owned);
        ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            generation: metadata.get("generation").and_then(Value::as_i64),
            ..ObjectMeta::default()
        }
    })
}

/// The field and the fault. serde reports a missing field at its parent; people look for the field.
fn problem(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let message = error.inner().to_string();
    let at = match error.path().to_string().as_str() {
        "." => None,
        path => Some(FieldPath::root(path)),
    };
    if let Some(name) = message
        .strip_prefix("missing field `")
        .and_then(|it| it.strip_suffix('`'))
    {
        let field = at.map_or_else(|| FieldPath::root(name), |at| at.field(name));
        return Problem::bare(&field, "is required");
    }
    let field = at.unwrap_or_else(|| FieldPath::root("object"));
    // What was expected is our own text and short; what was found may be anything.
    match message.rsplit_once(", expected ") {
        Some((found, expected)) => Problem::new(&field, format!("expected {expected}"), found),
        None => Problem::new(&field, "cannot be read", message),
    }
}

#[cfg(test)]
mod tests;
