//! Services.
//!
//! No address is handed out: no proxy would answer at it, and DNS records must not point to an
//! address that nobody serves. An address that the writer gives is kept, and so is `None`.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::builtin::fields::{Fields as _, Fill as _};
use crate::object::Object;

/// How long a client stays with one endpoint: kube-apiserver's default of three hours.
const AFFINITY_SECONDS: i64 = 10_800;

pub(super) fn fill(object: &mut Object) {
    let balanced = object.text("spec.type") == "LoadBalancer";
    let status = object.below("status");
    if let Some(balancer) = status.and_then(|status| status.below("loadBalancer"))
        && balanced
    {
        let addressed = |point: &&mut Object| !point.text("ip").is_empty();
        let points = balancer.each("ingress").filter(addressed);
        points.for_each(|point| point.fill("ipMode", "VIP"));
    }
    if let Some(spec) = object.below("spec") {
        policies(spec);
        spec.each("ports").for_each(port);
    }
}

/// What the API itself decides about the addresses, after the writer's fields have been noted.
pub(in crate::builtin) fn settle_addresses(object: &mut Object) {
    if let Some(spec) = object.below("spec") {
        // Even where there may be no address: then both fields are refused.
        let given = spec.text("clusterIP").to_owned();
        if spec.text("type") == "ExternalName" && !given.is_empty() {
            spec.fill("clusterIPs", vec![Value::from(given)]);
        }
        addresses(spec);
    }
}

fn policies(spec: &mut Map<String, Value>) {
    spec.fill_text("sessionAffinity", "None");
    spec.fill_text("type", "ClusterIP");
    match spec.text("sessionAffinity") {
        "ClientIP" => {
            let config = spec.below("sessionAffinityConfig");
            if let Some(client) = config.and_then(|config| config.below("clientIP")) {
                client.fill("timeoutSeconds", AFFINITY_SECONDS);
            }
        }
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        _ => {}
    }
    let kind = spec.text("type").to_owned();
    let outside = matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        || kind == "ClusterIP" && !spec.list("externalIPs").is_empty();
    if outside {
        spec.fill_text("externalTrafficPolicy", "Cluster");
    }
    if kind != "ExternalName" {
        spec.fill("internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        spec.fill("allocateLoadBalancerNodePorts", true);
    }
}

fn port(port: &mut Map<String, Value>) {
    port.fill_text("protocol", "TCP");
    let number = port.field("port").cloned().unwrap_or(json!(0));
    match port.field("targetPort") {
        None => port.fill("targetPort", number),
        Some(target) if target == 0 || target == "" => {
            port.insert("targetPort".to_owned(), number);
        }
        Some(_) => {}
    }
}

/// The one address and the list of addresses say the same, and the families follow from them.
fn addresses(spec: &mut Map<String, Value>) {
    if spec.text("type") == "ExternalName" {
        return;
    }
    let first = spec.text("clusterIP").to_owned();
    if !first.is_empty() && spec.list("clusterIPs").is_empty() {
        spec.insert("clusterIPs".to_owned(), json!([first]));
    }
    // Whoever writes the endpoints of a headless Service by hand may write any address.
    if spec.texts("clusterIPs") == ["None"]
        && spec.entries("selector").next().is_none()
        && !spec.has("ipFamilyPolicy")
    {
        let families = match spec.texts("ipFamilies").first() {
            Some(&"IPv6") => json!(["IPv6", "IPv4"]),
            Some(_) | None => json!(["IPv4", "IPv6"]),
        };
        spec.insert("ipFamilies".to_owned(), families);
        spec.fill("ipFamilyPolicy", "RequireDualStack");
        return;
    }
    let addresses = spec.texts("clusterIPs").into_iter();
    let families: Vec<&str> = addresses.filter_map(family).collect();
    let families = match families.as_slice() {
        [] => vec!["IPv4"],
        _ => families,
    };
    let policy = match families.len() {
        1 => "SingleStack",
        _ => "RequireDualStack",
    };
    spec.fill("ipFamilies", json!(families));
    spec.fill("ipFamilyPolicy", policy);
}

fn family(address: &str) -> Option<&'static str> {
    Some(match address.parse().ok()? {
        IpAddr::V4(_) => "IPv4",
        IpAddr::V6(_) => "IPv6",
    })
}
