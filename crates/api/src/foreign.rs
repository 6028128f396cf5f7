//! Kinds of others: lenses on the fields that we need of those that we read, and a few that are only kept.
//!
//! Each type names only those fields and carries everything else along in `other`, so that an object that is read,
//! changed and written back loses nothing. The definitions in [`crds`] describe the same fields and leave the rest
//! open. They are for API servers that have none of their own, such as the embedded one and those of tests; a cluster
//! gets them from the projects the kinds belong to.

pub mod gateway;
pub mod http_proxy;
mod lens;
pub mod route;
mod unread;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

pub use gateway::{Gateway, GatewaySpec, GatewayStatus};
pub use http_proxy::{HttpProxy, HttpProxySpec, HttpProxyStatus};
pub use route::{GrpcRoute, HttpRoute, RouteStatus, TlsRoute};

/// The fields of an object that nobody here looks at.
pub type Other = BTreeMap<String, Value>;

/// A definition for each of these kinds, for API servers that have none.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut definitions = vec![gateway::crd()];
    definitions.extend(route::crds());
    definitions.push(http_proxy::crd());
    definitions.extend(unread::crds());
    definitions
}

#[cfg(test)]
mod tests;
