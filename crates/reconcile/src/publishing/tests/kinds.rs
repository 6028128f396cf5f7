//! Ingresses, Services, Gateways and routes (S8).

use serde_json::{Value, json};

use super::cluster::{Cluster, GRACE, ingress};
use super::leaving::ingress_object;
use crate::publishing::{SourceKey, SourceKind};

fn key(kind: SourceKind, name: &str) -> SourceKey {
    SourceKey::new(kind, "web", name)
}

/// A Gateway that is not exported, unless `labels` say so; listeners are `name host port`.
fn gateway(
    cluster: &mut Cluster,
    listeners: &[(&str, &str, i64)],
    addresses: &Value,
    exported: bool,
) {
    let listener = |(name, host, port): &(&str, &str, i64)| match *host {
        "" => json!({ "name": name, "port": port }),
        host => json!({ "name": name, "hostname": host, "port": port }),
    };
    let listeners: Vec<Value> = listeners.iter().map(listener).collect();
    let mut object =
        json!({ "spec": { "listeners": listeners }, "status": { "addresses": addresses } });
    if !exported {
        object["metadata"] = json!({ "labels": null });
    }
    cluster.source(&key(SourceKind::Gateway, "gw"), &object);
}

fn route(
    cluster: &mut Cluster,
    kind: SourceKind,
    hosts: &[&str],
    parent: &Value,
    accepted: Option<&str>,
) {
    let conditions = |status: &str| json!([{ "type": "Accepted", "status": status }]);
    let parents = accepted.map(|it| json!([{ "parentRef": parent, "conditions": conditions(it) }]));
    let object = json!({
        "spec": { "parentRefs": [parent], "hostnames": hosts },
        "status": { "parents": parents },
    });
    cluster.source(&key(kind, "route"), &object);
}

#[test]
fn an_ingress_publishes_the_hosts_of_its_rules() {
    let mut cluster = Cluster::new();
    let mut object = ingress_object(
        &["a.example.com", "b.example.com", "a.example.com", ""],
        "192.0.2.1",
    );
    object["spec"]["tls"] = json!([{ "hosts": ["b.example.com"] }]);
    object["spec"]["rules"]
        .as_array_mut()
        .unwrap()
        .push(json!({}));
    cluster.source(&key(SourceKind::Ingress, "app"), &object);
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/a.example.com", "central/b.example.com"]
    );
    assert_eq!(cluster.endpoints("a.example.com"), ["192.0.2.1 80"]);
    assert_eq!(cluster.endpoints("b.example.com"), ["192.0.2.1 443"]);
    let annotations = cluster
        .service_record("a.example.com")
        .metadata
        .annotations
        .clone()
        .unwrap();
    assert_eq!(
        annotations["connectivity.tanzu.vmware.com/service-port"],
        "80"
    );
    object["spec"]["tls"] = json!([{ "hosts": ["*.example.com"] }]);
    cluster.source(&key(SourceKind::Ingress, "app"), &object);
    cluster.settle();
    assert_eq!(cluster.endpoints("a.example.com"), ["192.0.2.1 443"]);
}

#[test]
fn a_wildcard_of_an_ingress_is_published_and_told_to_reach_further() {
    // S6.
    let mut cluster = Cluster::new();
    let app = key(SourceKind::Ingress, "app");
    cluster.source(&app, &ingress_object(&["*.example.com"], "192.0.2.1"));
    cluster.settle();
    assert_eq!(cluster.answers(), ["web *.example.com. A 192.0.2.1"]);
    assert!(cluster.told(&app)[0].starts_with("WildcardScopeMismatch"));
    cluster.source(&app, &ingress_object(&[], "192.0.2.1"));
    cluster.settle();
    assert!(cluster.told(&app)[0].starts_with("NoHost"));
}

#[test]
fn a_service_publishes_the_hosts_of_its_annotations() {
    let mut cluster = Cluster::new();
    let app = key(SourceKind::Service, "app");
    let service = |type_: &str, annotations: Value| {
        json!({
            "metadata": { "annotations": annotations },
            "spec": { "type": type_, "ports": [{ "port": 8443 }, { "port": 80 }] },
            "status": { "loadBalancer": { "ingress": ingress(&["192.0.2.1"]) } },
        })
    };
    let annotations = json!({
        "connectivity.tanzu.vmware.com/fqdn": "a.example.com",
        "external-dns.alpha.kubernetes.io/hostname": "b.example.com, a.example.com.,",
    });
    cluster.source(&app, &service("LoadBalancer", annotations.clone()));
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/a.example.com", "central/b.example.com"]
    );
    assert_eq!(cluster.endpoints("a.example.com"), ["192.0.2.1 8443"]);
    cluster.source(&app, &service("NodePort", annotations));
    cluster.settle();
    assert!(cluster.names().is_empty());
    assert!(cluster.told(&app)[0].starts_with("NotSupported spec.type"));
    cluster.source(&app, &service("LoadBalancer", Value::Null));
    cluster.settle();
    assert!(cluster.told(&app)[0].starts_with("NoHost metadata.annotations"));
}

#[test]
fn another_kind_never_takes_the_address_of_the_configured_service() {
    // S7: behind it there is something else.
    let mut cluster = Cluster::new();
    cluster.endpoint_service(&["192.0.2.99"]);
    let annotations = json!({ "connectivity.tanzu.vmware.com/fqdn": "a.example.com" });
    let spec = json!({ "type": "LoadBalancer" });
    let service = json!({ "metadata": { "annotations": annotations }, "spec": spec });
    cluster.source(&key(SourceKind::Service, "app"), &service);
    cluster.source(
        &key(SourceKind::Ingress, "app"),
        &json!({ "spec": { "rules": [{ "host": "b.example.com" }] } }),
    );
    gateway(
        &mut cluster,
        &[("l", "c.example.com", 443)],
        &json!([]),
        true,
    );
    cluster.settle();
    assert!(cluster.endpoints("a.example.com").is_empty());
    assert_eq!(cluster.endpoints("b.example.com"), ["192.0.2.99 80"]);
    assert!(cluster.endpoints("c.example.com").is_empty());
}

#[test]
fn a_gateway_publishes_the_hosts_of_its_listeners() {
    let mut cluster = Cluster::new();
    let addresses = json!([
        { "type": "IPAddress", "value": "192.0.2.1" }, { "value": "192.0.2.2" },
        { "type": "example.com/private", "value": "192.0.2.3" },
    ]);
    let listeners = [
        ("a", "a.example.com", 8080),
        ("b", "b.example.com", 0),
        ("any", "", 80),
    ];
    gateway(&mut cluster, &listeners, &addresses, true);
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/a.example.com", "central/b.example.com"]
    );
    assert_eq!(
        cluster.endpoints("a.example.com"),
        ["192.0.2.1 8080", "192.0.2.2 8080"]
    );
    assert_eq!(
        cluster.endpoints("b.example.com"),
        ["192.0.2.1 443", "192.0.2.2 443"]
    );
    gateway(&mut cluster, &listeners, &addresses, false);
    cluster.settle();
    assert!(
        cluster.names().is_empty(),
        "a Gateway without the label publishes nothing"
    );
}

#[test]
fn a_route_is_reached_where_its_gateway_is() {
    for kind in [
        SourceKind::HttpRoute,
        SourceKind::GrpcRoute,
        SourceKind::TlsRoute,
    ] {
        let mut cluster = Cluster::new();
        let listeners = [
            ("plain", "*.example.com", 80),
            ("tls", "app.example.com", 8443),
        ];
        gateway(
            &mut cluster,
            &listeners,
            &json!([{ "value": "192.0.2.1" }]),
            false,
        );
        let parent = json!({ "name": "gw", "sectionName": "tls" });
        route(
            &mut cluster,
            kind,
            &["app.example.com"],
            &parent,
            Some("True"),
        );
        cluster.settle();
        assert_eq!(cluster.endpoints("app.example.com"), ["192.0.2.1 8443"]);
        gateway(
            &mut cluster,
            &listeners,
            &json!([{ "value": "192.0.2.2" }]),
            false,
        );
        cluster.settle();
        assert_eq!(cluster.endpoints("app.example.com"), ["192.0.2.2 8443"]);
        assert_eq!(cluster.answers(), ["web app.example.com. A 192.0.2.2"]);
    }
}

#[test]
fn a_route_without_hosts_has_those_of_its_listeners() {
    let mut cluster = Cluster::new();
    let listeners = [("a", "a.example.com", 80), ("b", "b.example.com", 443)];
    gateway(
        &mut cluster,
        &listeners,
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    route(
        &mut cluster,
        SourceKind::HttpRoute,
        &[],
        &json!({ "name": "gw" }),
        None,
    );
    cluster.settle();
    assert_eq!(
        cluster.names(),
        ["central/a.example.com", "central/b.example.com"]
    );
    assert_eq!(cluster.endpoints("a.example.com"), ["192.0.2.1 80"]);
    let parent = json!({ "name": "gw", "sectionName": "b" });
    route(&mut cluster, SourceKind::HttpRoute, &[], &parent, None);
    cluster.settle();
    assert_eq!(cluster.names(), ["central/b.example.com"]);
    gateway(
        &mut cluster,
        &listeners[..1],
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    cluster.settle();
    assert!(
        cluster.names().is_empty(),
        "the listener is gone, and with it the host"
    );
    assert!(cluster.lookups.contains(&"Gateway web/gw".to_owned()));
}

#[test]
fn a_route_that_its_gateway_refuses_is_not_reached_there() {
    let mut cluster = Cluster::new();
    gateway(
        &mut cluster,
        &[("any", "", 443)],
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    let parent = json!({ "name": "gw" });
    let hosts = ["app.example.com"];
    route(
        &mut cluster,
        SourceKind::HttpRoute,
        &hosts,
        &parent,
        Some("False"),
    );
    cluster.settle();
    assert!(cluster.endpoints("app.example.com").is_empty());
    route(&mut cluster, SourceKind::HttpRoute, &hosts, &parent, None);
    cluster.settle();
    assert_eq!(
        cluster.endpoints("app.example.com"),
        ["192.0.2.1 443"],
        "nobody has said yet"
    );
}

#[test]
fn a_route_to_a_listener_for_other_hosts_is_not_reached_there() {
    let mut cluster = Cluster::new();
    gateway(
        &mut cluster,
        &[("l", "other.example.com", 443)],
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    let parent = json!({ "name": "gw" });
    route(
        &mut cluster,
        SourceKind::HttpRoute,
        &["*.example.com"],
        &parent,
        None,
    );
    cluster.settle();
    assert!(cluster.answers().is_empty());
}

#[test]
fn a_route_whose_gateway_cannot_be_read_keeps_its_addresses() {
    // S10: for longer than any grace.
    let mut cluster = Cluster::new();
    gateway(
        &mut cluster,
        &[("any", "", 443)],
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    let parent = json!({ "name": "gw" });
    route(
        &mut cluster,
        SourceKind::HttpRoute,
        &["app.example.com"],
        &parent,
        None,
    );
    cluster.settle();
    cluster.set_readable(SourceKind::Gateway, false);
    cluster.restart();
    cluster.settle();
    cluster.pass_time(GRACE * 3);
    assert_eq!(cluster.endpoints("app.example.com"), ["192.0.2.1 443"]);
    assert_eq!(cluster.answers().len(), 1);
}

#[test]
fn a_route_without_hosts_keeps_them_while_its_gateway_cannot_be_read() {
    // S10.
    let mut cluster = Cluster::new();
    gateway(
        &mut cluster,
        &[("l", "app.example.com", 443)],
        &json!([{ "value": "192.0.2.1" }]),
        false,
    );
    route(
        &mut cluster,
        SourceKind::HttpRoute,
        &[],
        &json!({ "name": "gw" }),
        None,
    );
    cluster.settle();
    cluster.set_readable(SourceKind::Gateway, false);
    cluster.restart();
    cluster.settle();
    assert_eq!(cluster.names(), ["central/app.example.com"]);
    assert_eq!(cluster.answers().len(), 1);
}

#[test]
fn the_addresses_of_a_service_that_cannot_be_read_are_kept() {
    // S10.
    let mut cluster = Cluster::new();
    cluster.endpoint_service(&["192.0.2.1"]);
    cluster.proxy("web", "app", "app.example.com", &[]);
    cluster.settle();
    cluster.endpoint_service(&[]);
    cluster.restart();
    cluster.index.set_fallback_readable(false);
    cluster.settle();
    cluster.pass_time(GRACE * 3);
    assert_eq!(cluster.endpoints("app.example.com"), ["192.0.2.1 443"]);
    let due = cluster.index.set_fallback_readable(true);
    cluster.due.extend(due);
    cluster.settle();
    cluster.pass_time(GRACE * 3);
    assert!(cluster.endpoints("app.example.com").is_empty());
}
