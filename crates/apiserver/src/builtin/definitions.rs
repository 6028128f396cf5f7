//! The types of the built-in kinds, as the published API describes them.
//!
//! Descriptions, names and types come from k8s-openapi; what it leaves out is in
//! [`super::extensions`]. Types refer to each other by name here. [`Definitions::inlined`] is the same without references,
//! which is the form that structural schemas have.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::api::authentication::v1::{SelfSubjectReview, TokenRequest};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, ListMeta, Status};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::extensions;
use super::kind::Kind;

/// Types by their full name, such as `io.k8s.api.core.v1.Secret`.
pub(super) struct Definitions {
    types: Map<String, Value>,
    /// The name of each kind's type.
    roots: BTreeMap<Kind, String>,
}

/// Any JSON value; the published type is an object only on paper.
const ANYTHING: [&str; 4] = [
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
];
/// An object whose fields are nobody's business.
const FIELDS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
pub(super) const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// What is sent and answered besides the objects of kinds.
const OTHERS: [fn(&mut SchemaGenerator) -> schemars::Schema; 7] = [
    SchemaGenerator::subschema_for::<DeleteOptions>,
    SchemaGenerator::subschema_for::<ListMeta>,
    SchemaGenerator::subschema_for::<Scale>,
    SchemaGenerator::subschema_for::<SelfSubjectAccessReview>,
    SchemaGenerator::subschema_for::<SelfSubjectReview>,
    SchemaGenerator::subschema_for::<Status>,
    SchemaGenerator::subschema_for::<TokenRequest>,
];

/// The types of all kinds, made when they are first asked for.
pub(super) fn all() -> &'static Definitions {
    static ALL: LazyLock<Definitions> = LazyLock::new(Definitions::new);
    &ALL
}

impl Definitions {
    fn new() -> Self {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut roots = BTreeMap::new();
        for kind in Kind::all() {
            let reference = (kind.facts().schema)(&mut generator).to_value();
            let name = referred(&reference).expect("schemars refers to types that have a name");
            roots.insert(kind, name.to_owned());
        }
        for describe in OTHERS {
            describe(&mut generator);
        }
        let mut types = generator.take_definitions(false);
        for (name, definition) in &mut types {
            correct(name, definition);
        }
        extensions::extend(&mut types);
        Self { types, roots }
    }

    /// The name of a kind's type.
    pub(super) fn root(&self, kind: Kind) -> &str {
        &self.roots[&kind]
    }

    /// All types by name.
    pub(super) fn types(&self) -> &Map<String, Value> {
        &self.types
    }

    /// A type by its name.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.types.get(name)
    }

    /// The type that a schema refers to, with its name; nothing if it is no reference.
    pub(super) fn resolve<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = referred(schema)?;
        Some((name, self.get(name)?))
    }

    /// A kind's type with everything that it refers to put in place.
    pub(super) fn inlined(&self, kind: Kind) -> Value {
        let name = self.root(kind);
        self.inline(&self.types[name], &mut vec![name])
    }

    /// `around` holds the types that the schema is part of: one that contains itself is cut off
    /// there and may hold anything below.
    fn inline<'a>(&'a self, schema: &'a Value, around: &mut Vec<&'a str>) -> Value {
        if let Some((name, definition)) = self.resolve(schema) {
            let mut whole = if around.contains(&name) {
                json!({ "type": "object", PRESERVE: true })
            } else {
                around.push(name);
                let whole = self.inline(definition, around);
                around.pop();
                whole
            };
            for (key, value) in schema.as_object().into_iter().flatten() {
                if key != "$ref" {
                    whole[key] = value.clone();
                }
            }
            return whole;
        }
        let mut whole = schema.clone();
        for key in ["items", "additionalProperties"] {
            if let Some(below) = schema.get(key) {
                whole[key] = self.inline(below, around);
            }
        }
        for (name, field) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            whole["properties"][name] = self.inline(field, around);
        }
        whole
    }
}

/// The name in `{"$ref": "#/$defs/name"}`.
pub(super) fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// What the published types say with words that structural schemas do not have, and what is not in them.
fn correct(name: &str, definition: &mut Value) {
    if ANYTHING.contains(&name) {
        let description = definition["description"].take();
        *definition = json!({ "description": description, PRESERVE: true });
    }
    if name == FIELDS {
        definition[PRESERVE] = true.into();
    }
    if is_kind(definition) {
        leave_out_metadata(definition);
    }
}

/// Whether a type is that of objects.
fn is_kind(schema: &Value) -> bool {
    let has = |field: &str| schema["properties"].get(field).is_some();
    has("apiVersion") && has("kind") && has("metadata")
}

/// k8s-openapi requires metadata, the API itself does not.
fn leave_out_metadata(schema: &mut Value) {
    let Some(required) = schema["required"].as_array_mut() else {
        return;
    };
    required.retain(|field| field != "metadata");
    if required.is_empty()
        && let Some(schema) = schema.as_object_mut()
    {
        schema.remove("required");
    }
}
