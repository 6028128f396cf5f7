//! The kinds that are compiled in, as far as Zonewright and its users touch them.
//!
//! [`resources`] describes them the way CustomResourceDefinitions describe theirs, so that the
//! engine serves both alike. What only built-in kinds have is asked of the functions here, in the
//! order of a write: [`decode_error`], [`default`], [`prepare_create`] or [`prepare_update`],
//! [`validate_create`] or [`validate_update`]. All of them are pure; for a resource that is not
//! built in they do nothing.
//!
//! What holds for the metadata of every kind is in [`crate::metadata`], and
//! CustomResourceDefinitions are only described here: their rules are a module of their own.

pub(crate) mod event;
pub(crate) mod published;

mod cells;
mod columns;
mod defaults;
mod definitions;
mod extensions;
mod fields;
mod kind;
mod prepare;
mod rows;
mod validate;
mod warnings;

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use serde_json::Value;

use crate::object::Object;
use crate::patch::go_word;
use crate::refusal::{FieldError, Refusal};
use crate::resource::{Names, Origin, Resource, Scale, Subresources};
use crate::schema::Schema;
use fields::Fields as _;
pub(crate) use kind::Kind;

/// All built-in kinds, group by group. Made once: what they are does not change while the program runs.
static ALL: LazyLock<Vec<Resource>> = LazyLock::new(|| Kind::all().map(resource).collect());

/// All built-in kinds, group by group.
pub(crate) fn resources() -> Vec<Resource> {
    ALL.clone()
}

/// The cells of an object's row; nothing if the kind is not built in.
pub(crate) fn cells(resource: &Resource, object: &Object, now: Timestamp) -> Option<Vec<Value>> {
    Kind::of(resource).map(|kind| cells::of(kind, object, now))
}

/// A label selector as people write it.
pub(crate) fn selector_text(selector: &Value) -> String {
    cells::selector::shown(Some(selector))
}

/// The value that a field selector compares; nothing if the kind is not built in or has no such
/// field to select by.
pub(crate) fn selected(resource: &Resource, object: &Object, field: &str) -> Option<String> {
    let kind = Kind::of(resource)?;
    let text = |path: &str| Some(object.text(path).to_owned());
    match (kind, field) {
        (_, "metadata.name" | "metadata.namespace") => text(field),
        (Kind::Event, "source") => match object.text("source.component") {
            "" => text("reportingComponent"),
            component => Some(component.to_owned()),
        },
        (kind, field) => {
            let mut known = kind.facts().selectable.iter();
            let (_, nothing) = known.find(|(name, _)| *name == field)?;
            let value = object.at(field);
            Some(value.map_or_else(|| (*nothing).to_owned(), |value| cells::text(Some(value))))
        }
    }
}

/// Whether `metadata.generation` counts the changes of a kind's objects.
pub(crate) fn has_generation(resource: &Resource) -> bool {
    Kind::of(resource).is_some_and(|kind| kind.facts().has("generation"))
}

/// Whether a change is one that `metadata.generation` counts: one of what is asked for, not of what
/// was found. Compares what came out of [`prepare_update`].
pub(crate) fn changes_generation(resource: &Resource, new: &Object, old: &Object) -> bool {
    let Some(kind) = Kind::of(resource).filter(|kind| kind.facts().has("generation")) else {
        return false;
    };
    let differs = |path: &str| new.at(path) != old.at(path);
    let asked = |field: &&String| !matches!(field.as_str(), "metadata" | "status");
    let mut fields = new.keys().chain(old.keys()).filter(asked);
    fields.any(|field| differs(field))
        || kind.facts().has("annotations") && differs("metadata.annotations")
}

/// The refusal of an object some field of which has the wrong JSON type: it is not read at all. Code and reason are the API
/// server's; which field is at fault is told in words of our own.
pub(crate) fn decode_error(resource: &Resource, object: &Object) -> Option<Refusal> {
    let (kind, version) = (Kind::of(resource)?, &resource.version);
    let misfit = wire::normalise(kind.type_meta(), &mut object.clone()).err()?;
    let (kind, found) = (&resource.names.kind, go_word(&misfit.found));
    let wire::Misfit { path, wanted, .. } = misfit;
    Some(Refusal::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: the field {path} is not {wanted}, but {found}"
    )))
}

/// Fills in what was left out, as kube-apiserver does after reading an object.
pub(crate) fn default(resource: &Resource, object: &mut Object) {
    if let Some(kind) = Kind::of(resource) {
        defaults::fill(kind, object);
    }
}

/// The object of a kind that has nothing in it; nothing if the kind is not built in.
pub(crate) fn blank(resource: &Resource) -> Option<Object> {
    Kind::of(resource).map(defaults::blank)
}

/// Whether there is such a kind.
pub(crate) fn is_known(api_version: &str, kind: &str) -> bool {
    let mut known = ALL
        .iter()
        .filter(|resource| resource.api_version() == api_version);
    known.any(|resource| resource.names.kind == kind)
}

/// What kube-apiserver calls the objects of a kind in its own memory, as some refusals do.
pub(crate) fn go_type(group: &str, kind: &str) -> Option<String> {
    let package = match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next()?,
    };
    Some(format!("{package}.{kind}"))
}

/// What those who write an object are told although it is taken.
pub(crate) fn warnings(resource: &Resource, object: &Object, is_new: bool) -> Vec<String> {
    match Kind::of(resource) {
        Some(Kind::Service) => warnings::service(object),
        Some(Kind::Ingress) if is_new => warnings::ingress(object),
        Some(kind) => kind.facts().told.into_iter().map(str::to_owned).collect(),
        None => Vec::new(),
    }
}

/// Takes away what a new object may not bring and adds what it must have.
pub(crate) fn prepare_create(resource: &Resource, object: &mut Object) {
    if let Some(kind) = Kind::of(resource) {
        prepare::create(kind, object);
    }
}

/// Puts back what a change of the object itself, or of its `subresource`, does not reach.
pub(crate) fn prepare_update(
    resource: &Resource,
    new: &mut Object,
    old: &Object,
    subresource: Option<&str>,
) {
    if let Some(kind) = Kind::of(resource) {
        prepare::update(kind, new, old, subresource);
    }
}

/// What an object loses on its way into the store, after everybody has seen it.
pub(crate) fn store(resource: &Resource, object: &mut Object) {
    if let Some(kind) = Kind::of(resource) {
        prepare::store(kind, object);
    }
}

/// Judges a new object, but for its metadata.
pub(crate) fn validate_create(resource: &Resource, object: &Object) -> Vec<FieldError> {
    let kind = Kind::of(resource);
    kind.map(|kind| validate::create((resource, kind), object))
        .unwrap_or_default()
}

/// Judges a change of an object or of its `subresource` by the rules of the kind, those on metadata among them.
pub(crate) fn validate_update(
    resource: &Resource,
    new: &Object,
    old: &Object,
    subresource: Option<&str>,
) -> Vec<FieldError> {
    match (Kind::of(resource), subresource) {
        (None, _) => Vec::new(),
        (Some(kind), None) => validate::update((resource, kind), new, old),
        (Some(kind), Some(_)) => validate::status(kind, new, old),
    }
}

fn resource(kind: Kind) -> Resource {
    let facts = kind.facts();
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let selectable = facts.selectable.iter();
    let selectable: Vec<String> = selectable.map(|(field, _)| (*field).to_owned()).collect();
    Resource {
        names: Names {
            group: facts.group.to_owned(),
            plural: facts.plural.to_owned(),
            singular: facts.kind.to_lowercase(),
            kind: facts.kind.to_owned(),
            list_kind: format!("{}List", facts.kind),
            short_names: owned(&facts.short_names),
            categories: owned(&facts.categories),
        },
        scope: facts.scope,
        version: facts.version.to_owned(),
        schema: Arc::new(Schema::of_published(&definitions::all().inlined(kind))),
        openapi: Arc::new(published::of(kind)),
        columns: columns::of(kind).into(),
        selectable_fields: selectable.into(),
        subresources: Subresources {
            status: facts.has("status"),
            scale: facts.has("scale").then(|| Arc::new(Scale::of_workload())),
        },
        deprecation: facts.deprecation.map(str::to_owned),
        has_siblings: false,
        origin: Origin::Builtin,
    }
}
