//! Requests: what a method, a path and a query ask for.
//!
//! Paths of objects all have one shape, whatever the kind, so they are taken apart here and looked up in the
//! catalog later. What is not understood is refused here, with the words of kube-apiserver.

mod options;
mod path;

pub(crate) use options::{
    DeleteOptions, FieldValidation, ListOptions, Match, Propagation, Query, WriteOptions,
};
pub(crate) use path::Target;

use http::Method;

use crate::refusal::Refusal;

/// What a path leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Route {
    /// `/livez`, `/readyz`, `/healthz` and what is below them.
    Health,
    /// `/version`
    Version,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/GROUP`
    Group(String),
    /// `/api/v1`, `/apis/GROUP/VERSION`
    Resources { group: String, version: String },
    /// `/openapi/v3`
    OpenApi,
    /// `/openapi/v2`
    OpenApiV2,
    /// `/openapi/v3/…`: a group and a version
    OpenApiOf { group: String, version: String },
    /// `/metrics`
    Metrics,
    /// `/zonewright/backup`: every object, as a file that can be restored
    Backup,
    /// An object, or all of a kind.
    Objects(Target),
}

/// What is to be done with objects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Route {
    /// Where a path leads; nothing where nothing is.
    pub(crate) fn of(path: &str) -> Option<Self> {
        path::route(path)
    }
}

impl Route {
    /// Whether a document may be asked for with this method. The list of groups does not look at it.
    pub(crate) fn is_readable(&self, method: &Method) -> bool {
        method == Method::GET || matches!(self, Self::Groups | Self::Health)
    }
}

impl Verb {
    /// What a method asks of a target.
    pub(crate) fn of(method: &Method, target: &Target, query: &Query) -> Result<Self, Refusal> {
        let named = target.name.is_some();
        match (method.as_str(), named) {
            ("GET", true) => Ok(Self::Get),
            ("GET", false) if query.flag("watch") => Ok(Self::Watch),
            ("GET", false) => Ok(Self::List),
            ("POST", false) => Ok(Self::Create),
            ("POST", true) if target.subresource.is_some() => Ok(Self::Create),
            ("PUT", true) => Ok(Self::Update),
            ("PATCH", true) => Ok(Self::Patch),
            ("DELETE", true) => Ok(Self::Delete),
            ("DELETE", false) => Ok(Self::DeleteCollection),
            _ => Err(Refusal::method_not_allowed()),
        }
    }
}

#[cfg(test)]
mod tests;
