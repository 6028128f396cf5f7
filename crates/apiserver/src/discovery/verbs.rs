//! What can be done with a kind, and what lies below its objects.

use crate::resource::{Origin, Resource};

/// A path below an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Subresource {
    pub(crate) name: &'static str,
    /// The kind of its bodies, where it is not that of the object.
    pub(crate) kind: Option<&'static str>,
    pub(crate) group_version: Option<(&'static str, &'static str)>,
    pub(crate) verbs: &'static [&'static str],
}

const STATUS: Subresource = Subresource {
    name: "status",
    kind: None,
    group_version: None,
    verbs: &["get", "patch", "update"],
};
const FINALIZE: Subresource = Subresource {
    name: "finalize",
    verbs: &["update"],
    ..STATUS
};
const SCALE: Subresource = Subresource {
    name: "scale",
    kind: Some("Scale"),
    group_version: Some(("autoscaling", "v1")),
    ..STATUS
};
const TOKEN: Subresource = Subresource {
    name: "token",
    kind: Some("TokenRequest"),
    group_version: Some(("authentication.k8s.io", "v1")),
    verbs: &["create"],
};

/// The verbs of the objects themselves, in the order in which the real API lists them.
pub(crate) fn verbs(resource: &Resource) -> &'static [&'static str] {
    match (
        resource.origin,
        resource.names.group.as_str(),
        resource.names.plural.as_str(),
    ) {
        // Namespaces go one by one, because everything in them goes too.
        (Origin::Builtin, "", "namespaces") => &[
            "create", "delete", "get", "list", "patch", "update", "watch",
        ],
        // Reviews are questions: they are asked, answered and forgotten.
        (Origin::Builtin, "authentication.k8s.io" | "authorization.k8s.io", _) => &["create"],
        (Origin::Builtin, _, _) => &[
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch",
        ],
        (Origin::Custom, _, _) => &[
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "create",
            "update",
            "watch",
        ],
    }
}

/// The subresources: by name, but those of custom kinds in the order in which the real API adds them.
pub(crate) fn subresources(resource: &Resource) -> Vec<Subresource> {
    let own = match (
        resource.origin,
        resource.names.group.as_str(),
        resource.names.plural.as_str(),
    ) {
        (Origin::Builtin, "", "namespaces") => Some(FINALIZE),
        (Origin::Builtin, "", "serviceaccounts") => Some(TOKEN),
        (Origin::Builtin | Origin::Custom, _, _) => None,
    };
    let status = resource.subresources.status.then_some(STATUS);
    let scale = resource.subresources.scale.as_ref().map(|_| SCALE);
    match resource.origin {
        Origin::Builtin => own.into_iter().chain(scale).chain(status).collect(),
        Origin::Custom => status.into_iter().chain(scale).collect(),
    }
}
