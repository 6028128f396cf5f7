//! Which definitions are refused, and with which words.
//!
//! kube-apiserver judges definitions in an older form of them, in which what all versions have in
//! common stands once, beside the list of versions. That form shows in the paths of its errors
//! (`spec.validation.openAPIV3Schema`), and in a rule or two that hold only because of it. Users
//! know these messages from elsewhere, so [`version::Versions`] keeps track of what is common.

mod columns;
mod names;
mod subresources;
mod version;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinitionSpec, CustomResourceDefinitionVersion,
};
use serde_json::Value;

use super::{CLUSTER, NAMESPACED, approval, condition, parse};
use crate::metadata::text;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{Fault, FieldError, FieldPath};

/// Every rule that a definition breaks, besides those that hold for the metadata of any object.
/// Defaults and the status must be in place.
pub(crate) fn validate(definition: &Object, old: Option<&Object>) -> Vec<FieldError> {
    let parsed = match parse(definition) {
        Ok(parsed) => parsed,
        Err(errors) => return errors,
    };
    let spec = &parsed.spec;
    let mut errors = Vec::new();
    if old.is_none() {
        errors.extend(wrong_name(definition.name(), spec));
    }
    errors.extend(spec_errors(definition, spec));
    if let Some(old) = old {
        errors.extend(immutable(definition, old));
    }
    let status = parsed.status.unwrap_or_default();
    let accepted = status.accepted_names.unwrap_or_default();
    errors.extend(names::validate(
        &accepted,
        &FieldPath::of("status.acceptedNames"),
    ));
    errors.extend(stored_versions(
        &status.stored_versions.unwrap_or_default(),
        &spec.versions,
    ));
    errors.extend(approval::validate(definition, old));
    errors.extend(preserving_unknown(spec));
    errors
}

/// Every rule that a definition breaks whose status alone is written.
pub(crate) fn validate_status(definition: &Object) -> Vec<FieldError> {
    let parsed = match parse(definition) {
        Ok(parsed) => parsed,
        Err(errors) => return errors,
    };
    let accepted = parsed
        .status
        .unwrap_or_default()
        .accepted_names
        .unwrap_or_default();
    names::validate(&accepted, &FieldPath::of("status.acceptedNames"))
}

fn wrong_name(name: &str, spec: &CustomResourceDefinitionSpec) -> Option<FieldError> {
    let right = format!("{}.{}", spec.names.plural, spec.group);
    (name != right && !name.is_empty()).then(|| {
        let path = FieldPath::of("metadata.name");
        FieldError::invalid(path, name, "must be spec.names.plural+\".\"+spec.group")
    })
}

fn spec_errors(definition: &Object, spec: &CustomResourceDefinitionSpec) -> Vec<FieldError> {
    let at = FieldPath::of("spec");
    let mut errors: Vec<FieldError> = group(&spec.group, &at).into_iter().collect();
    errors.extend(one_of(
        &spec.scope,
        &[CLUSTER, NAMESPACED],
        at.field("scope"),
    ));
    errors.extend(missing_schemas(&spec.versions));
    let versions = version::Versions {
        definition,
        all: &spec.versions,
    };
    errors.extend(versions.each());
    errors.extend(version_list(definition, &spec.versions));
    errors.extend(names::required(&spec.names, &at.field("names")));
    errors.extend(names::validate(&spec.names, &at.field("names")));
    errors.extend(versions.common());
    if let Some(conversion) = &spec.conversion {
        errors.extend(conversion_errors(conversion, &at.field("conversion")));
    }
    errors
}

fn group(group: &str, at: &FieldPath) -> Option<FieldError> {
    let path = at.field("group");
    if group.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    let errors = text::subdomain(group);
    if !errors.is_empty() {
        return Some(FieldError::invalid(path, group, errors.join(",")));
    }
    (!group.contains('.'))
        .then(|| FieldError::invalid(path, group, "should be a domain with at least one dot"))
}

/// A word out of a list, which has to be there.
fn one_of(value: &str, supported: &[&str], path: FieldPath) -> Option<FieldError> {
    if value.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    if supported.contains(&value) {
        return None;
    }
    let quoted: Vec<String> = supported.iter().map(|word| format!("\"{word}\"")).collect();
    let detail = format!("supported values: {}", quoted.join(", "));
    Some(FieldError::new(
        path,
        Fault::NotSupported(value.into()),
        detail,
    ))
}

fn missing_schemas(
    versions: &[CustomResourceDefinitionVersion],
) -> impl Iterator<Item = FieldError> {
    let bare = |version: &CustomResourceDefinitionVersion| {
        version
            .schema
            .as_ref()
            .is_none_or(|schema| schema.open_api_v3_schema.is_none())
    };
    let missing = versions
        .iter()
        .enumerate()
        .filter(move |(_, version)| bare(version));
    missing.map(|(index, _)| {
        let path = FieldPath::of("spec.versions").index(index);
        FieldError::required(path.field("schema").field("openAPIV3Schema"), "")
    })
}

/// Rules of the list of versions as a whole. Where kube-apiserver shows all versions with their
/// schemas, tens of thousands of characters, this shows their names.
fn version_list(
    definition: &Object,
    versions: &[CustomResourceDefinitionVersion],
) -> Vec<FieldError> {
    let path = FieldPath::of("spec.versions");
    let shown = match definition.get("spec").and_then(|spec| spec.get("versions")) {
        Some(Value::Array(_)) => versions
            .iter()
            .map(|version| version.name.as_str())
            .collect(),
        Some(_) | None => Value::Null,
    };
    let mut errors = Vec::new();
    if !are_unique(versions.iter().map(|version| version.name.as_str())) {
        errors.push(FieldError::invalid(
            path.clone(),
            shown.clone(),
            "must contain unique version names",
        ));
    }
    if versions.iter().filter(|version| version.storage).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(path, shown, detail));
    }
    if let Some(first) = versions.first().filter(|first| !first.name.is_empty()) {
        let wrong = text::label_1035(&first.name);
        if !wrong.is_empty() {
            let path = FieldPath::of("spec.version");
            errors.push(FieldError::invalid(
                path,
                first.name.as_str(),
                wrong.join(","),
            ));
        }
    }
    errors
}

fn are_unique<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    names.all(|name| seen.insert(name))
}

/// Only conversion without a webhook is served: nothing is called from here.
fn conversion_errors(conversion: &CustomResourceConversion, at: &FieldPath) -> Vec<FieldError> {
    let path = at.field("strategy");
    match conversion.strategy.as_str() {
        "Webhook" => {
            let detail = "supported values: \"None\": this server calls no conversion webhooks";
            vec![FieldError::new(
                path,
                Fault::NotSupported("Webhook".into()),
                detail,
            )]
        }
        strategy => {
            let mut errors: Vec<FieldError> = one_of(strategy, &["None", "Webhook"], path)
                .into_iter()
                .collect();
            errors.extend(needless_webhook(conversion, at));
            errors
        }
    }
}

fn needless_webhook(conversion: &CustomResourceConversion, at: &FieldPath) -> Vec<FieldError> {
    let Some(webhook) = &conversion.webhook else {
        return Vec::new();
    };
    let fields = [
        ("webhookClientConfig", webhook.client_config.is_some()),
        (
            "conversionReviewVersions",
            !webhook.conversion_review_versions.is_empty(),
        ),
    ];
    let set = fields.into_iter().filter(|(_, is_set)| *is_set);
    let detail = "should not be set when strategy is not set to Webhook";
    set.map(|(field, _)| FieldError::forbidden(at.field(field), detail))
        .collect()
}

/// What cannot change because objects are stored under it: scope and kind once objects can exist,
/// and always what the definition's own name is made of.
fn immutable(definition: &Object, old: &Object) -> Vec<FieldError> {
    let always = ["/group", "/names/plural"];
    let once_established: &[&str] = if condition::is_established(old) {
        &["/scope", "/names/kind"]
    } else {
        &[]
    };
    let changed = once_established
        .iter()
        .copied()
        .chain(always)
        .filter_map(|pointer| {
            let of = |object: &Object| {
                object
                    .get("spec")
                    .and_then(|spec| spec.pointer(pointer))
                    .cloned()
            };
            let (new, old) = (of(definition), of(old));
            (new != old).then(|| {
                let path = FieldPath::of(format!("spec{}", pointer.replace('/', ".")));
                FieldError::invalid(path, new.unwrap_or("".into()), "field is immutable")
            })
        });
    changed.collect()
}

/// Versions that objects were stored in must stay until someone says that none is left.
fn stored_versions(
    stored: &[String],
    versions: &[CustomResourceDefinitionVersion],
) -> Vec<FieldError> {
    let path = FieldPath::of("status.storedVersions");
    if stored.is_empty() {
        return vec![FieldError::invalid(
            path,
            Value::Null,
            "must have at least one stored version",
        )];
    }
    let mut gone: Vec<&str> = stored.iter().map(String::as_str).collect();
    let mut errors = Vec::new();
    for version in versions {
        let place = gone.iter().position(|name| *name == version.name);
        if version.storage && place.is_none() {
            let detail = format!("must have the storage version {}", version.name);
            errors.push(FieldError::invalid(path.clone(), stored, detail));
        }
        gone.retain(|name| *name != version.name);
    }
    let missing = stored
        .iter()
        .enumerate()
        .filter(|(_, name)| gone.contains(&name.as_str()));
    errors.extend(missing.map(|(index, name)| {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in \
             spec.versions until a storage migration ensures no data remains persisted in {name} and \
             removes {name} from status.storedVersions"
        );
        FieldError::invalid(path.index(index), name.as_str(), detail)
    }));
    errors
}

fn preserving_unknown(spec: &CustomResourceDefinitionSpec) -> Option<FieldError> {
    spec.preserve_unknown_fields.unwrap_or_default().then(|| {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        FieldError::invalid(FieldPath::of("spec.preserveUnknownFields"), true, detail)
    })
}
