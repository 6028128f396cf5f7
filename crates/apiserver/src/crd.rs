//! CustomResourceDefinitions: what turns such an object into kinds that are served.
//!
//! The engine calls these functions around its own work on a definition, in this order:
//!
//! 1. [`default`], [`prepare`], [`validate()`] and [`warnings()`] when a definition is written;
//! 2. [`settle`] after every write and after every deletion, for all definitions of the group until
//!    none changes, because a name that one gives up may be what another waits for;
//! 3. [`resources`] for what it serves from then on;
//! 4. [`mark_for_deletion`] when its deletion is asked for, then [`next`] and [`record`] until it
//!    is gone.
//!
//! Everything here is a function of objects and the time. Nothing stores, serves or deletes.

mod approval;
mod condition;
mod deletion;
mod selectable;
mod status;
mod validate;
mod warnings;

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
};
use serde_json::{Value, json};

pub(crate) use condition::{is_established, is_terminating};
pub(crate) use deletion::{Step, mark_for_deletion, next, record};
pub(crate) use status::{Taken, settle};
pub(crate) use validate::{validate, validate_status};
pub(crate) use warnings::warnings;

use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};
use crate::resource::{Column, Names, Origin, Resource, Scale, Scope, Subresources};
use crate::schema::Schema;

/// Fills in what a definition may leave out.
pub(crate) fn default(definition: &mut Object) {
    let spec = section(definition, "spec");
    if spec.get("preserveUnknownFields") == Some(&Value::Bool(false)) {
        // The API does not tell false from absent, and shows neither.
        spec.remove("preserveUnknownFields");
    }
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({ "strategy": "None" }));
    }
    let names = section(spec, "names");
    let kind = text(names, "kind").to_owned();
    if kind.is_empty() {
        return;
    }
    for (field, value) in [
        ("singular", kind.to_lowercase()),
        ("listKind", format!("{kind}List")),
    ] {
        if text(names, field).is_empty() {
            names.insert(field.to_owned(), value.into());
        }
    }
}

/// Puts the status in place of what the writer sent: a new definition has none yet, a changed one
/// keeps what it has. Either way the storage version counts as stored from now on.
pub(crate) fn prepare(definition: &mut Object, old: Option<&Object>) {
    let status = old.and_then(|old| old.get("status")).cloned();
    let status = status.unwrap_or_else(
        || json!({ "conditions": null, "acceptedNames": { "plural": "", "kind": "" } }),
    );
    definition.insert("status".to_owned(), status);
    let Some(storage) = storage_version(definition) else {
        return;
    };
    let stored = section(definition, "status")
        .entry("storedVersions")
        .or_insert_with(|| json!([]));
    if let Value::Array(stored) = stored
        && !stored.contains(&storage)
    {
        stored.push(storage);
    }
}

/// The kinds that a definition makes: one per served version, none before it is established.
pub(crate) fn resources(definition: &Object) -> Result<Vec<Resource>, Vec<FieldError>> {
    if !is_established(definition) {
        return Ok(Vec::new());
    }
    let parsed = parse(definition)?;
    let served = parsed
        .spec
        .versions
        .iter()
        .enumerate()
        .filter(|(_, version)| version.served);
    served
        .map(|(index, version)| resource(definition, &parsed, index, version))
        .collect()
}

fn resource(
    definition: &Object,
    parsed: &CustomResourceDefinition,
    index: usize,
    version: &CustomResourceDefinitionVersion,
) -> Result<Resource, Vec<FieldError>> {
    let path = FieldPath::of("spec.versions")
        .index(index)
        .field("schema")
        .field("openAPIV3Schema");
    let openapi = schema_of(definition, index).cloned().unwrap_or_default();
    let selectable = version.selectable_fields.iter().flatten();
    Ok(Resource {
        names: accepted_names(parsed),
        scope: scope(&parsed.spec),
        version: version.name.clone(),
        schema: Arc::new(Schema::compile_at(&openapi, &path)?),
        openapi: Arc::new(openapi),
        columns: columns(version),
        selectable_fields: selectable
            .map(|field| field.json_path.trim_start_matches('.').to_owned())
            .collect(),
        subresources: Subresources {
            status: has_status(version),
            scale: scale(version),
        },
        deprecation: deprecation(parsed, version),
        has_siblings: parsed.spec.versions.len() > 1,
        origin: Origin::Custom,
    })
}

/// Where `/scale` finds its numbers.
fn scale(version: &CustomResourceDefinitionVersion) -> Option<Arc<Scale>> {
    let scale = version.subresources.as_ref()?.scale.as_ref()?;
    let path = |path: &String| path.trim_start_matches('.').to_owned();
    Some(Arc::new(Scale {
        wanted: path(&scale.spec_replicas_path),
        found: path(&scale.status_replicas_path),
        selector: scale.label_selector_path.as_ref().map(path),
    }))
}

/// What users of a version are warned with: the definition's words, or a hint at the version to use.
fn deprecation(
    parsed: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
) -> Option<String> {
    if version.deprecated != Some(true) {
        return None;
    }
    let (group, kind) = (&parsed.spec.group, &parsed.spec.names.kind);
    let plain = format!("{group}/{} {kind} is deprecated", version.name);
    let good =
        |other: &&CustomResourceDefinitionVersion| other.served && other.deprecated != Some(true);
    let better = parsed
        .spec
        .versions
        .iter()
        .filter(good)
        .map(|other| other.name.as_str());
    let better = better.max_by_key(|name| kube::core::Version::parse(name).priority());
    let hinted = match better {
        Some(better) => format!("{plain}; use {group}/{better} {kind}"),
        None => plain,
    };
    Some(version.deprecation_warning.clone().unwrap_or(hinted))
}

/// What the kind is called: the names that were accepted, which may be older than those asked for.
fn accepted_names(parsed: &CustomResourceDefinition) -> Names {
    let status = parsed.status.as_ref();
    let accepted = status.and_then(|status| status.accepted_names.clone());
    let names = accepted.unwrap_or_else(|| parsed.spec.names.clone());
    Names {
        group: parsed.spec.group.clone(),
        plural: names.plural,
        singular: names.singular.unwrap_or_default(),
        kind: names.kind,
        list_kind: names.list_kind.unwrap_or_default(),
        short_names: names.short_names.unwrap_or_default(),
        categories: names.categories.unwrap_or_default(),
    }
}

fn scope(spec: &CustomResourceDefinitionSpec) -> Scope {
    if spec.scope == CLUSTER {
        Scope::Cluster
    } else {
        Scope::Namespaced
    }
}

/// The columns after the name, which every table begins with.
fn columns(version: &CustomResourceDefinitionVersion) -> Arc<[Column]> {
    match version.additional_printer_columns.as_deref() {
        Some([]) | None => Arc::new([age()]),
        Some(columns) => columns.iter().map(column).collect(),
    }
}

fn column(column: &CustomResourceColumnDefinition) -> Column {
    let source = &column.json_path;
    let told = column.description.clone().filter(|text| !text.is_empty());
    Column {
        name: column.name.clone(),
        kind: column.type_.clone(),
        format: column.format.clone().unwrap_or_default(),
        description: told.unwrap_or_else(|| {
            format!("Custom resource definition column (in JSONPath format): {source}")
        }),
        priority: column.priority.unwrap_or_default(),
        source: source.clone(),
    }
}

/// What kinds without columns of their own show.
fn age() -> Column {
    Column {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        format: String::new(),
        description: CREATION_TIMESTAMP.to_owned(),
        priority: 0,
        source: ".metadata.creationTimestamp".to_owned(),
    }
}

/// How the API describes `metadata.creationTimestamp`; tables repeat it to their readers.
const CREATION_TIMESTAMP: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The two scopes, as definitions spell them.
const CLUSTER: &str = "Cluster";
const NAMESPACED: &str = "Namespaced";

fn has_status(version: &CustomResourceDefinitionVersion) -> bool {
    let subresources = version.subresources.as_ref();
    subresources.is_some_and(|subresources| subresources.status.is_some())
}

/// The definition as a typed value. Built-in kinds are checked against their own schema before they
/// come here, so that a definition of the wrong shape is the exception.
fn parse(definition: &Object) -> Result<CustomResourceDefinition, Vec<FieldError>> {
    let parsed = serde_json::from_value(Value::Object(definition.clone()));
    parsed.map_err(|error| {
        vec![FieldError::invalid(
            FieldPath::root(),
            Value::Null,
            error.to_string(),
        )]
    })
}

/// The schema of a version as it was written: what types of ours would lose stays in it.
fn schema_of(definition: &Object, index: usize) -> Option<&Value> {
    let versions = definition.get("spec")?.get("versions")?;
    let schema = versions.get(index)?.get("schema")?.get("openAPIV3Schema")?;
    (!schema.is_null()).then_some(schema)
}

fn storage_version(definition: &Object) -> Option<Value> {
    let versions = definition.get("spec")?.get("versions")?.as_array()?;
    let storage = versions
        .iter()
        .find(|version| version.get("storage") == Some(&Value::Bool(true)))?;
    storage.get("name").cloned()
}

/// A field that is an object, made if it is missing or something else.
fn section<'a>(object: &'a mut Object, field: &str) -> &'a mut Object {
    let value = object.entry(field).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut().expect("made an object just now")
}

fn text<'a>(object: &'a Object, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;
