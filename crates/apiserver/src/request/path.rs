//! Paths, taken apart.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::Route;
use crate::key::Key;
use crate::resource::Resource;

/// The part of a path that names objects.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) place: Place,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

/// Whether a path says where its objects live.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum Place {
    /// It does not: all namespaces, or a kind that has none.
    #[default]
    Everywhere,
    Namespace(String),
}

impl Target {
    /// The path of an object.
    pub(crate) fn of_object(resource: &Resource, key: &Key) -> Self {
        let place = match &*key.place.namespace {
            "" => Place::Everywhere,
            namespace => Place::Namespace(namespace.to_owned()),
        };
        Self {
            group: resource.names.group.clone(),
            version: resource.version.clone(),
            plural: resource.names.plural.clone(),
            place,
            name: Some(key.place.name.to_string()),
            subresource: None,
        }
    }
}

impl Place {
    pub(crate) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Everywhere => None,
            Self::Namespace(namespace) => Some(namespace),
        }
    }
}

pub(super) fn route(path: &str) -> Option<Route> {
    if path.contains("//") {
        return None;
    }
    let decode = |part| percent_decode_str(part).decode_utf8().ok();
    let parts: Vec<Cow<'_, str>> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(decode)
        .collect::<Option<_>>()?;
    let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
    match parts.as_slice() {
        ["livez" | "readyz" | "healthz", ..] => Some(Route::Health),
        ["version"] => Some(Route::Version),
        ["metrics"] => Some(Route::Metrics),
        ["api"] => Some(Route::CoreVersions),
        ["apis"] => Some(Route::Groups),
        ["apis", group] => Some(Route::Group((*group).to_owned())),
        ["api", version] => Some(Route::Resources {
            group: String::new(),
            version: (*version).to_owned(),
        }),
        ["apis", group, version] => Some(Route::Resources {
            group: (*group).to_owned(),
            version: (*version).to_owned(),
        }),
        ["openapi", "v2"] => Some(Route::OpenApiV2),
        ["openapi", "v3"] => Some(Route::OpenApi),
        ["openapi", "v3", "api", version] => Some(Route::OpenApiOf {
            group: String::new(),
            version: (*version).to_owned(),
        }),
        ["openapi", "v3", "apis", group, version] => Some(Route::OpenApiOf {
            group: (*group).to_owned(),
            version: (*version).to_owned(),
        }),
        ["zonewright", "backup"] => Some(Route::Backup),
        ["api", version, rest @ ..] => objects("", version, rest),
        ["apis", group, version, rest @ ..] => objects(group, version, rest),
        _ => None,
    }
}

/// `namespaces` is a kind of its own and also says where other kinds live: `namespaces/a` is an object, as
/// are `namespaces/a/status` and `namespaces/a/finalize`; everything else below it is in it.
fn objects(group: &str, version: &str, parts: &[&str]) -> Option<Route> {
    let (place, parts) = match parts {
        ["namespaces", _, "status" | "finalize"] => (Place::Everywhere, parts),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
            (Place::Namespace((*namespace).to_owned()), rest)
        }
        _ => (Place::Everywhere, parts),
    };
    let target = |plural: &str, name: Option<&str>, subresource: Option<&str>| {
        Some(Route::Objects(Target {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            place,
            name: name.map(str::to_owned),
            subresource: subresource.map(str::to_owned),
        }))
    };
    match parts {
        [plural] => target(plural, None, None),
        [plural, name] => target(plural, Some(name), None),
        [plural, name, subresource] => target(plural, Some(name), Some(subresource)),
        _ => None,
    }
}
