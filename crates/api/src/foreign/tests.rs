use kube::ResourceExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// The object after it was read and written back.
fn round_trip<K: DeserializeOwned + Serialize>(object: &Value) -> Value {
    let read: K = serde_json::from_value(object.clone()).unwrap();
    serde_json::to_value(read).unwrap()
}

fn gateway() -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": { "name": "prod-web", "namespace": "web", "annotations": { "a": "b" } },
        "spec": {
            "gatewayClassName": "istio", "infrastructure": { "labels": { "x": "y" } },
            "listeners": [
                { "name": "api", "hostname": "*.example.com", "port": 443, "protocol": "HTTPS",
                  "tls": { "mode": "Terminate", "certificateRefs": [{ "name": "cert" }] },
                  "allowedRoutes": { "namespaces": { "from": "All" } } },
                { "name": "any", "port": 80, "protocol": "HTTP" }
            ]
        },
        "status": {
            "addresses": [
                { "type": "IPAddress", "value": "192.0.2.1", "future": [1, 2] },
                { "value": "192.0.2.2" },
                { "type": "Hostname", "value": "lb.example.net" }
            ],
            "conditions": [{ "type": "Programmed", "status": "True" }],
            "listeners": [
                { "name": "api", "attachedRoutes": 2, "supportedKinds": [], "conditions": [] }
            ]
        }
    })
}

fn route(kind: &str) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": kind,
        "metadata": { "name": "route" },
        "spec": {
            "parentRefs": [{ "name": "prod-web", "namespace": "web", "sectionName": "api", "port": 443 }],
            "hostnames": ["app.example.com"],
            "rules": [{ "backendRefs": [{ "name": "app", "port": 8080, "weight": 1 }] }]
        },
        "status": {
            "parents": [
                { "parentRef": { "name": "prod-web", "namespace": "web", "port": 443 },
                  "controllerName": "istio.io/gateway-controller",
                  "conditions": [{ "type": "Accepted", "status": "True", "reason": "Accepted",
                                   "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" }] },
                { "parentRef": { "name": "other" }, "controllerName": "x",
                  "conditions": [{ "type": "Accepted", "status": "False" }] }
            ]
        }
    })
}

fn http_proxy() -> Value {
    json!({
        "apiVersion": "projectcontour.io/v1", "kind": "HTTPProxy",
        "metadata": { "name": "proxy", "labels": { "connectivity.tanzu.vmware.com/export": "" } },
        "spec": {
            "ingressClassName": "contour",
            "virtualhost": { "fqdn": "app.example.com", "tls": { "secretName": "cert" } },
            "routes": [{ "services": [{ "name": "app", "port": 80 }] }]
        },
        "status": {
            "currentStatus": "valid", "description": "Valid HTTPProxy",
            "conditions": [{ "type": "Valid", "status": "True", "errors": [] }],
            "loadBalancer": {
                "ingress": [{ "ip": "192.0.2.1", "ipMode": "VIP" }, { "hostname": "lb.example.net" }]
            }
        }
    })
}

#[test]
fn what_is_read_and_written_back_loses_nothing() {
    assert_eq!(round_trip::<Gateway>(&gateway()), gateway());
    assert_eq!(
        round_trip::<HttpRoute>(&route("HTTPRoute")),
        route("HTTPRoute")
    );
    assert_eq!(
        round_trip::<GrpcRoute>(&route("GRPCRoute")),
        route("GRPCRoute")
    );
    assert_eq!(
        round_trip::<TlsRoute>(&route("TLSRoute")),
        route("TLSRoute")
    );
    assert_eq!(round_trip::<HttpProxy>(&http_proxy()), http_proxy());

    // Neither is an empty list the same as none.
    let mut empty = gateway();
    empty["spec"]["listeners"] = json!([]);
    empty["status"] = json!({ "addresses": [] });
    assert_eq!(round_trip::<Gateway>(&empty), empty);
    let bare = json!({
        "apiVersion": "projectcontour.io/v1", "kind": "HTTPProxy", "metadata": {}, "spec": {}
    });
    assert_eq!(round_trip::<HttpProxy>(&bare), bare);
}

#[test]
fn a_gateway_tells_its_hosts_addresses_and_routes() {
    let gateway: Gateway = serde_json::from_value(gateway()).unwrap();
    let hosts: Vec<(&str, Option<&str>)> = gateway
        .listeners()
        .iter()
        .map(|listener| (listener.name.as_str(), listener.hostname.as_deref()))
        .collect();
    assert_eq!(hosts, [("api", Some("*.example.com")), ("any", None)]);
    let addresses: Vec<(Option<&str>, &str)> = gateway
        .addresses()
        .iter()
        .map(|address| (address.type_.as_deref(), address.value.as_str()))
        .collect();
    let expected = [
        (Some("IPAddress"), "192.0.2.1"),
        (None, "192.0.2.2"),
        (Some("Hostname"), "lb.example.net"),
    ];
    assert_eq!(addresses, expected);
    assert_eq!(
        (
            gateway.attached_routes("api"),
            gateway.attached_routes("any")
        ),
        (2, 0)
    );

    let new = Gateway::new("new", GatewaySpec::default());
    assert!(new.listeners().is_empty() && new.addresses().is_empty());
    assert_eq!(new.attached_routes("api"), 0);
}

#[test]
fn a_route_tells_who_let_it_attach() {
    let route: HttpRoute = serde_json::from_value(route("HTTPRoute")).unwrap();
    let status = route.status.unwrap();
    let accepted: Vec<&str> = status
        .accepted_by()
        .map(|parent| parent.name.as_str())
        .collect();
    assert_eq!(accepted, ["prod-web"]);

    let parent = |group: Option<&str>, kind: Option<&str>| route::ParentRef {
        group: group.map(str::to_owned),
        kind: kind.map(str::to_owned),
        name: "a".to_owned(),
        ..route::ParentRef::default()
    };
    assert!(parent(None, None).is_gateway());
    assert!(parent(Some("gateway.networking.k8s.io"), Some("Gateway")).is_gateway());
    assert!(!parent(Some(""), Some("Service")).is_gateway());
    assert!(!parent(None, Some("ListenerSet")).is_gateway());
}

#[test]
fn a_proxy_tells_its_host_and_addresses() {
    let proxy: HttpProxy = serde_json::from_value(http_proxy()).unwrap();
    assert_eq!(proxy.fqdn(), Some("app.example.com"));
    let addresses: Vec<(Option<&str>, Option<&str>)> = proxy
        .addresses()
        .iter()
        .map(|address| (address.ip.as_deref(), address.hostname.as_deref()))
        .collect();
    assert_eq!(
        addresses,
        [(Some("192.0.2.1"), None), (None, Some("lb.example.net"))]
    );

    // S6: a proxy that others include has no host.
    let included = HttpProxy::new("included", HttpProxySpec::default());
    assert_eq!(included.fqdn(), None);
    assert!(included.addresses().is_empty());
}

#[test]
fn the_definitions_describe_what_is_read_and_leave_the_rest_open() {
    let names: Vec<String> = crds().iter().map(ResourceExt::name_any).collect();
    let expected = [
        "gateways.gateway.networking.k8s.io",
        "httproutes.gateway.networking.k8s.io",
        "grpcroutes.gateway.networking.k8s.io",
        "tlsroutes.gateway.networking.k8s.io",
        "httpproxies.projectcontour.io",
        "gatewayclasses.gateway.networking.k8s.io",
        "referencegrants.gateway.networking.k8s.io",
        "listenersets.gateway.networking.k8s.io",
    ];
    assert_eq!(names, expected);
    let approval = |crd: &CustomResourceDefinition| {
        crd.annotations().contains_key("api-approved.kubernetes.io")
    };
    assert!(
        crds()
            .iter()
            .all(|crd| approval(crd) == crd.spec.group.ends_with(".k8s.io"))
    );
    for crd in crds() {
        let version = &crd.spec.versions[0];
        let status = version.subresources.as_ref();
        let status = status.is_some_and(|sub| sub.status.is_some());
        // Grants are as they are: no controller says anything of them.
        assert_eq!(status, crd.spec.names.kind != "ReferenceGrant");
        let schema = serde_json::to_value(version.schema.as_ref().unwrap()).unwrap();
        let properties = &schema["openAPIV3Schema"]["properties"];
        for part in ["spec", "status"] {
            assert_eq!(
                properties[part]["x-kubernetes-preserve-unknown-fields"], true,
                "{part}"
            );
        }
    }
    let schema = serde_json::to_value(&http_proxy::crd().spec.versions[0].schema).unwrap();
    let virtualhost = &schema["openAPIV3Schema"]["properties"]["spec"]["properties"]["virtualhost"];
    assert_eq!(virtualhost["required"], json!(["fqdn"]));
    let pattern = regex::Regex::new(
        virtualhost["properties"]["fqdn"]["pattern"]
            .as_str()
            .unwrap(),
    )
    .unwrap();
    assert!(pattern.is_match("app.example.com") && pattern.is_match("*.example.com"));
    assert!(!pattern.is_match("App.example.com") && !pattern.is_match("a.*.example.com"));
}
