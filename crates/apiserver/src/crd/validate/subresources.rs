//! The paths below an object, and where `scale` finds its numbers.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
};

use crate::refusal::{FieldError, FieldPath};

pub(super) fn validate(
    version: &CustomResourceDefinitionVersion,
    at: &FieldPath,
) -> Vec<FieldError> {
    let subresources = version.subresources.as_ref();
    let scale = subresources.and_then(|subresources| subresources.scale.as_ref());
    scale.map_or_else(Vec::new, |scale| scale_errors(scale, &at.field("scale")))
}

fn scale_errors(scale: &CustomResourceSubresourceScale, at: &FieldPath) -> Vec<FieldError> {
    let CustomResourceSubresourceScale {
        spec_replicas_path,
        status_replicas_path,
        label_selector_path,
    } = scale;
    let selector = label_selector_path
        .as_deref()
        .filter(|path| !path.is_empty());
    let required = [
        (spec_replicas_path, "specReplicasPath", ".spec."),
        (status_replicas_path, "statusReplicasPath", ".status."),
    ];
    let mut errors: Vec<FieldError> = required
        .into_iter()
        .filter_map(|(path, field, root)| replicas(path, at.field(field), root))
        .collect();
    errors.extend(selector.and_then(|path| label_selector(path, at.field("labelSelectorPath"))));
    errors
}

/// A JSON path as printer columns and `scale` take it: it begins with a dot. What follows the dot
/// is read when the path is used.
pub(super) fn simple_json_path(path: &str, at: FieldPath) -> Option<FieldError> {
    (!path.starts_with('.'))
        .then(|| FieldError::invalid(at, path, "must be a simple json path starting with ."))
}

fn replicas(path: &str, at: FieldPath, root: &str) -> Option<FieldError> {
    if path.is_empty() {
        return Some(FieldError::required(at, ""));
    }
    let detail = format!("should be a json path under {}", root.trim_end_matches('.'));
    judge(path, at, &[root], &detail)
}

fn label_selector(path: &str, at: FieldPath) -> Option<FieldError> {
    let detail = "should be a json path under either .spec or .status";
    judge(path, at, &[".spec.", ".status."], detail)
}

/// A path that must lead below one of the roots.
fn judge(path: &str, at: FieldPath, roots: &[&str], detail: &str) -> Option<FieldError> {
    let not_simple = simple_json_path(path, at.clone());
    let is_below = roots.iter().any(|root| path.starts_with(root));
    not_simple.or_else(|| (!is_below).then(|| FieldError::invalid(at, path, detail)))
}
