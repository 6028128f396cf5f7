//! Gateway of the Gateway API: the hosts of its listeners, and the addresses it got (D1–D5, S8).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt as _};
use serde::{Deserialize, Serialize};

use super::{Other, lens};

/// What the Gateway listens for.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "gateway.networking.k8s.io",
    version = "v1",
    kind = "Gateway",
    plural = "gateways",
    namespaced,
    status = "GatewayStatus",
    schema = "disabled",
    derive = "PartialEq",
    doc = "A Gateway of the Gateway API.",
    shortname = "gtw",
    category = "gateway-api",
    printcolumn(name = "Class", type_ = "string", json_path = ".spec.gatewayClassName"),
    printcolumn(
        name = "Address",
        type_ = "string",
        json_path = ".status.addresses[*].value"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct GatewaySpec {
    /// The listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listeners: Option<Vec<Listener>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// One thing a Gateway listens for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Listener {
    /// The name of the listener, unique in its Gateway.
    pub name: String,

    /// The host, optionally with a leftmost `*`. Absent: any host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,

    /// The port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// What became of the Gateway.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct GatewayStatus {
    /// Where the Gateway is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Vec<GatewayAddress>>,

    /// What became of each listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listeners: Option<Vec<ListenerStatus>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// One place a Gateway is reached at.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct GatewayAddress {
    /// What the value is: `IPAddress`, which is also meant by absence, `Hostname`, or a name of the implementation's own.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,

    /// The address or host name.
    pub value: String,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// What became of a listener.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// The name of the listener.
    pub name: String,

    /// How many routes are attached to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached_routes: Option<i64>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

impl Gateway {
    /// The listeners in the order of the spec.
    pub fn listeners(&self) -> &[Listener] {
        self.spec.listeners.as_deref().unwrap_or_default()
    }

    /// Where the Gateway is reached.
    pub fn addresses(&self) -> &[GatewayAddress] {
        self.status
            .as_ref()
            .and_then(|status| status.addresses.as_deref())
            .unwrap_or_default()
    }

    /// How many routes are attached to the listener, as far as the Gateway's controller has said.
    pub fn attached_routes(&self, listener: &str) -> i64 {
        let statuses = self
            .status
            .as_ref()
            .and_then(|status| status.listeners.as_deref());
        let status = statuses
            .unwrap_or_default()
            .iter()
            .find(|status| status.name == listener);
        status
            .and_then(|status| status.attached_routes)
            .unwrap_or_default()
    }
}

/// The definition of the kind, with the fields above.
pub fn crd() -> CustomResourceDefinition {
    let listener = lens::object([
        ("name", lens::text()),
        ("hostname", lens::text()),
        ("port", lens::number()),
    ]);
    let address = lens::object([("type", lens::text()), ("value", lens::text())]);
    let listener_status =
        lens::object([("name", lens::text()), ("attachedRoutes", lens::number())]);
    let spec = lens::object([(
        "listeners",
        lens::list(&lens::required(listener, &["name"])),
    )]);
    let status = lens::object([
        (
            "addresses",
            lens::list(&lens::required(address, &["value"])),
        ),
        (
            "listeners",
            lens::list(&lens::required(listener_status, &["name"])),
        ),
    ]);
    lens::complete(
        Gateway::crd(),
        &lens::required(spec, &["listeners"]),
        &status,
    )
}
