//! HTTPRoute of the Gateway API: the hosts it is for, and the Gateways it attaches to (S8).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt as _};
use serde::{Deserialize, Serialize};

use super::route::{self, ParentRef, RouteStatus};
use super::{Other, lens};

/// What the route is for.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "gateway.networking.k8s.io",
    version = "v1",
    kind = "HTTPRoute",
    root = "HttpRoute",
    plural = "httproutes",
    namespaced,
    status = "RouteStatus",
    schema = "disabled",
    derive = "PartialEq",
    doc = "An HTTPRoute of the Gateway API.",
    category = "gateway-api",
    printcolumn(name = "Hostnames", type_ = "string", json_path = ".spec.hostnames"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct HttpRouteSpec {
    /// The Gateways it attaches to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_refs: Option<Vec<ParentRef>>,

    /// The hosts it is for. Absent or empty: those of the listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostnames: Option<Vec<String>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// The definition of the kind, with the fields above.
pub fn crd() -> CustomResourceDefinition {
    lens::complete(
        HttpRoute::crd(),
        &route::spec_schema(),
        &route::status_schema(),
    )
}
