//! Routes of the Gateway API: the hosts they are for, the Gateways they attach to, and whether those let them (S8).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Other, lens};
use crate::condition::{ConditionType, Status};

/// Declares kinds of routes. In what we read they differ by their names only.
macro_rules! routes {
    ($($root:ident $name:tt, $spec:ident, $kind:tt, $plural:tt;)+) => {$(
        /// What a route is for.
        #[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[kube(
            group = "gateway.networking.k8s.io",
            version = "v1",
            kind = $kind,
            root = $name,
            plural = $plural,
            namespaced,
            status = "RouteStatus",
            schema = "disabled",
            derive = "PartialEq",
            doc = "A route of the Gateway API.",
            category = "gateway-api",
            printcolumn(name = "Hostnames", type_ = "string", json_path = ".spec.hostnames"),
            printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
        )]
        #[serde(rename_all = "camelCase")]
        pub struct $spec {
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
    )+

        /// A definition for each kind of route, with the fields above.
        pub(super) fn crds() -> Vec<CustomResourceDefinition> {
            let (spec, status) = (spec_schema(), status_schema());
            vec![$(lens::complete($root::crd(), &spec, &status),)+]
        }
    };
}

routes! {
    HttpRoute "HttpRoute", HttpRouteSpec, "HTTPRoute", "httproutes";
    GrpcRoute "GrpcRoute", GrpcRouteSpec, "GRPCRoute", "grpcroutes";
    TlsRoute "TlsRoute", TlsRouteSpec, "TLSRoute", "tlsroutes";
}

/// A Gateway, or one of its listeners, that a route attaches to.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParentRef {
    /// The group of the parent. Absent: gateway.networking.k8s.io.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,

    /// The kind of the parent. Absent: Gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,

    /// The namespace of the parent. Absent: the route's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,

    /// The name of the parent.
    pub name: String,

    /// The name of one listener. Absent: all that fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_name: Option<String>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

impl ParentRef {
    /// Whether the parent is a Gateway, written out or not.
    pub fn is_gateway(&self) -> bool {
        let group = self.group.as_deref().unwrap_or("gateway.networking.k8s.io");
        let kind = self.kind.as_deref().unwrap_or("Gateway");
        group == "gateway.networking.k8s.io" && kind == "Gateway"
    }
}

/// What became of a route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RouteStatus {
    /// What became of it at each parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parents: Option<Vec<RouteParentStatus>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

impl RouteStatus {
    /// The parents that let the route attach.
    pub fn accepted_by(&self) -> impl Iterator<Item = &ParentRef> {
        let parents = self.parents.as_deref().unwrap_or_default();
        parents
            .iter()
            .filter(|parent| parent.is_accepted())
            .map(|parent| &parent.parent_ref)
    }
}

/// What became of a route at one parent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteParentStatus {
    /// The parent.
    pub parent_ref: ParentRef,

    /// The state of the route there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<RouteCondition>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

impl RouteParentStatus {
    fn is_accepted(&self) -> bool {
        let accepted = |condition: &RouteCondition| {
            condition.type_ == ConditionType::Accepted.as_str()
                && condition.status == Status::True.as_str()
        };
        self.conditions
            .as_deref()
            .unwrap_or_default()
            .iter()
            .any(accepted)
    }
}

/// One condition of a route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct RouteCondition {
    /// What is being said.
    #[serde(rename = "type")]
    pub type_: String,

    /// Whether it holds.
    pub status: String,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// The schema of a route's spec, with the fields we read.
fn spec_schema() -> Value {
    lens::object([
        ("parentRefs", lens::list(&parent_ref_schema())),
        ("hostnames", lens::list(&lens::text())),
    ])
}

/// The schema of a route's status, with the fields we read.
fn status_schema() -> Value {
    let condition = lens::object([("type", lens::text()), ("status", lens::text())]);
    let condition = lens::required(condition, &["status", "type"]);
    let parent = lens::object([
        ("parentRef", parent_ref_schema()),
        ("conditions", lens::list(&condition)),
    ]);
    lens::object([(
        "parents",
        lens::list(&lens::required(parent, &["parentRef"])),
    )])
}

fn parent_ref_schema() -> Value {
    let parent_ref = lens::object([
        ("group", lens::text()),
        ("kind", lens::text()),
        ("namespace", lens::text()),
        ("name", lens::text()),
        ("sectionName", lens::text()),
    ]);
    lens::required(parent_ref, &["name"])
}
