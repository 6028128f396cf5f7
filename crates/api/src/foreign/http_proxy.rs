//! HTTPProxy of Contour: its host, and the addresses it got (S1–S7).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Other, lens};

/// What Contour takes for a host: lower case, optionally with a leftmost `*`.
const FQDN_PATTERN: &str =
    r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// What the proxy is for.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "projectcontour.io",
    version = "v1",
    kind = "HTTPProxy",
    root = "HttpProxy",
    plural = "httpproxies",
    namespaced,
    status = "HttpProxyStatus",
    schema = "disabled",
    derive = "PartialEq",
    doc = "An HTTPProxy of Contour.",
    shortname = "proxy",
    shortname = "proxies",
    printcolumn(name = "FQDN", type_ = "string", json_path = ".spec.virtualhost.fqdn"),
    printcolumn(
        name = "TLS Secret",
        type_ = "string",
        json_path = ".spec.virtualhost.tls.secretName"
    ),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.currentStatus"),
    printcolumn(
        name = "Status Description",
        type_ = "string",
        json_path = ".status.description"
    )
)]
pub struct HttpProxySpec {
    /// The host. Absent on proxies that others include.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualhost: Option<VirtualHost>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// The host of a proxy.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct VirtualHost {
    /// The host, optionally with a leftmost `*`.
    pub fqdn: String,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// What became of the proxy.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpProxyStatus {
    /// `valid`, `invalid` or `orphaned`, as Contour sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_status: Option<String>,

    /// Where the proxy is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<LoadBalancer>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// Where a proxy is reached.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct LoadBalancer {
    /// The addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<Vec<LoadBalancerIngress>>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

/// One address: an IP address or a host name.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct LoadBalancerIngress {
    /// The IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,

    /// The host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,

    /// Everything else.
    #[serde(flatten)]
    pub other: Other,
}

impl HttpProxy {
    /// The host, unless this is a proxy that others include.
    pub fn fqdn(&self) -> Option<&str> {
        self.spec
            .virtualhost
            .as_ref()
            .map(|virtualhost| virtualhost.fqdn.as_str())
    }

    /// Where the proxy is reached.
    pub fn addresses(&self) -> &[LoadBalancerIngress] {
        let load_balancer = self
            .status
            .as_ref()
            .and_then(|status| status.load_balancer.as_ref());
        load_balancer
            .and_then(|balancer| balancer.ingress.as_deref())
            .unwrap_or_default()
    }
}

/// The definition of the kind, with the fields above.
pub fn crd() -> CustomResourceDefinition {
    let fqdn = json!({ "type": "string", "pattern": FQDN_PATTERN });
    let virtualhost = lens::required(lens::object([("fqdn", fqdn)]), &["fqdn"]);
    let ingress = lens::object([("ip", lens::text()), ("hostname", lens::text())]);
    let load_balancer = lens::object([("ingress", lens::list(&ingress))]);
    let status = lens::object([
        ("currentStatus", lens::text()),
        ("loadBalancer", load_balancer),
    ]);
    lens::complete(
        HttpProxy::crd(),
        &lens::object([("virtualhost", virtualhost)]),
        &status,
    )
}
