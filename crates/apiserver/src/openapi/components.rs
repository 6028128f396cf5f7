//! The schemas that operations and other schemas refer to by name.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::resource::{Origin, Resource};

pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
pub(super) const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// `org.example.views.v1.Gadget`, `io.k8s.api.core.v1.ConfigMap`
pub(super) fn schema_name(resource: &Resource) -> String {
    let (names, version) = (&resource.names, &resource.version);
    let package = match (resource.origin, names.group.as_str()) {
        (Origin::Custom, group) => reversed(group),
        (Origin::Builtin, "apiextensions.k8s.io") => {
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions".to_owned()
        }
        (Origin::Builtin, "") => "io.k8s.api.core".to_owned(),
        (Origin::Builtin, group) => {
            let first = group.split('.').next().unwrap_or(group);
            format!("io.k8s.api.{first}")
        }
    };
    format!("{package}.{version}.{}", names.kind)
}

/// The name of the kind's list.
pub(super) fn list_name(resource: &Resource) -> String {
    let own = schema_name(resource);
    let package = own.strip_suffix(&resource.names.kind).unwrap_or(&own);
    format!("{package}{}", resource.names.list_kind)
}

/// A reference to a schema by name.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schemas that every document holds: those of the types that all kinds share, and whatever these
/// refer to.
pub(super) fn shared() -> Map<String, Value> {
    let settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    let mut generator = settings.into_generator();
    generator.subschema_for::<meta::ObjectMeta>();
    generator.subschema_for::<meta::ListMeta>();
    generator.subschema_for::<meta::DeleteOptions>();
    generator.subschema_for::<meta::Status>();
    let mut schemas = generator.take_definitions(true);
    if let Some(metadata) = schemas.get_mut(OBJECT_META) {
        tell_merges(&mut metadata["properties"]);
    }
    let patch =
        "Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.";
    schemas.insert(
        PATCH.to_owned(),
        json!({ "description": patch, "type": "object" }),
    );
    schemas
}

/// How lists in `metadata` are merged, which kubectl wants to know before it computes a patch and
/// which the generated schemas do not say.
fn tell_merges(properties: &mut Value) {
    properties["finalizers"]["x-kubernetes-list-type"] = "set".into();
    properties["finalizers"]["x-kubernetes-patch-strategy"] = "merge".into();
    properties["managedFields"]["x-kubernetes-list-type"] = "atomic".into();
    let owners = &mut properties["ownerReferences"];
    owners["x-kubernetes-list-type"] = "map".into();
    owners["x-kubernetes-list-map-keys"] = json!(["uid"]);
    owners["x-kubernetes-patch-merge-key"] = "uid".into();
    owners["x-kubernetes-patch-strategy"] = "merge".into();
}

/// The schemas of a kind and of its list.
pub(super) fn schemas(resource: &Resource) -> [(String, Value); 2] {
    let own = (schema_name(resource), own_schema(resource));
    [own, (list_name(resource), list_schema(resource))]
}

fn own_schema(resource: &Resource) -> Value {
    let mut schema = resource.openapi.as_object().cloned().unwrap_or_default();
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["apiVersion"] = json!({ "description": API_VERSION, "type": "string" });
    properties["kind"] = json!({ "description": KIND, "type": "string" });
    properties["metadata"] = json!({
        "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        "allOf": [reference(OBJECT_META)],
    });
    schema.insert("type".to_owned(), "object".into());
    schema.insert(
        GROUP_VERSION_KIND.to_owned(),
        kinds(resource, &resource.names.kind),
    );
    if resource.origin == Origin::Custom && !resource.selectable_fields.is_empty() {
        let field = |field: &String| json!({ "fieldPath": field });
        let fields: Value = resource.selectable_fields.iter().map(field).collect();
        schema.insert("x-kubernetes-selectable-fields".to_owned(), fields);
    }
    Value::Object(schema)
}

fn list_schema(resource: &Resource) -> Value {
    let names = &resource.names;
    let about = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
    json!({
        "description": format!("{} is a list of {}", names.list_kind, names.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": { "description": API_VERSION, "type": "string" },
            "kind": { "description": KIND, "type": "string" },
            "metadata": {
                "description": format!("Standard list metadata. {about}#types-kinds"),
                "allOf": [reference(LIST_META)],
            },
            "items": {
                "description": format!("List of {}. {about}", names.plural),
                "type": "array",
                "items": reference(&schema_name(resource)),
            },
        },
        GROUP_VERSION_KIND: kinds(resource, &names.list_kind),
    })
}

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

fn kinds(resource: &Resource, kind: &str) -> Value {
    json!([{ "group": resource.names.group, "kind": kind, "version": resource.version }])
}

/// `org.example.views` from `views.example.org`
fn reversed(group: &str) -> String {
    let mut labels: Vec<&str> = group.split('.').collect();
    labels.reverse();
    labels.join(".")
}
