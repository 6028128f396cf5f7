//! The names of a kind.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionNames;

use super::text;
use crate::refusal::{FieldError, FieldPath};

/// Names that must be there. Two of them have defaults, so that they are missing only with the
/// kind.
pub(super) fn required(names: &CustomResourceDefinitionNames, at: &FieldPath) -> Vec<FieldError> {
    let fields = [
        ("plural", names.plural.as_str()),
        ("singular", names.singular.as_deref().unwrap_or_default()),
        ("kind", names.kind.as_str()),
        ("listKind", names.list_kind.as_deref().unwrap_or_default()),
    ];
    let missing = fields.into_iter().filter(|(_, name)| name.is_empty());
    missing
        .map(|(field, _)| FieldError::required(at.field(field), ""))
        .collect()
}

/// Names that are there must be labels, kinds in any case.
pub(super) fn validate(names: &CustomResourceDefinitionNames, at: &FieldPath) -> Vec<FieldError> {
    let singular = names.singular.as_deref().unwrap_or_default();
    let list_kind = names.list_kind.as_deref().unwrap_or_default();
    let mut errors = Vec::new();
    errors.extend(present(&names.plural).and_then(|name| word(name, at.field("plural"))));
    errors.extend(present(singular).and_then(|name| word(name, at.field("singular"))));
    errors.extend(present(&names.kind).and_then(|name| kind(name, at.field("kind"))));
    errors.extend(present(list_kind).and_then(|name| kind(name, at.field("listKind"))));
    errors.extend(words(names.short_names.as_deref(), &at.field("shortNames")));
    if !list_kind.is_empty() && list_kind == names.kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(at.field("listKind"), list_kind, detail));
    }
    errors.extend(words(names.categories.as_deref(), &at.field("categories")));
    errors
}

fn present(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn words(names: Option<&[String]>, at: &FieldPath) -> Vec<FieldError> {
    let names = names.unwrap_or_default().iter().enumerate();
    names
        .filter_map(|(index, name)| word(name, at.index(index)))
        .collect()
}

fn word(name: &str, path: FieldPath) -> Option<FieldError> {
    let wrong = text::label_1035(name);
    (!wrong.is_empty()).then(|| FieldError::invalid(path, name, wrong.join(",")))
}

fn kind(name: &str, path: FieldPath) -> Option<FieldError> {
    let wrong = text::label_1035(&name.to_lowercase());
    (!wrong.is_empty()).then(|| {
        let rule = wrong.join(",");
        let detail = format!("may have mixed case, but should otherwise match: {rule}");
        FieldError::invalid(path, name, detail)
    })
}
