//! The rows of the tables that kubectl prints, one function per kind.
//!
//! Cells are in the order of [`super::columns`]; those of `-o wide` are always there, as the API
//! server sends them.

mod rbac;
mod selector;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::fields::Fields as _;
use super::kind::Kind;
use crate::duration::age;
use crate::object::{Object, ObjectExt as _};

const NONE: &str = "<none>";
const UNKNOWN: &str = "<unknown>";
/// An Ingress shows this many hosts and counts the rest.
const MOST_HOSTS: usize = 3;

/// The row of an object.
pub(super) fn of(kind: Kind, object: &Object, now: Timestamp) -> Vec<Value> {
    let since = since(object.text("metadata.creationTimestamp"), now);
    let mut row = vec![Value::from(object.name())];
    match kind {
        Kind::Event | Kind::NewEvent => return event(&super::event::to_core(object), now),
        Kind::Role | Kind::ClusterRole | Kind::CustomResourceDefinition => {
            row.push(object.text("metadata.creationTimestamp").into());
            return row;
        }
        Kind::ServiceAccount => {}
        Kind::Namespace => row.push(object.text("status.phase").into()),
        Kind::ConfigMap => {
            let count = object.entries("data").count() + object.entries("binaryData").count();
            row.push(count.into());
        }
        Kind::Secret => {
            row.push(object.text("type").into());
            row.push(object.entries("data").count().into());
        }
        Kind::Lease => row.push(object.text("spec.holderIdentity").into()),
        Kind::IngressClass => return ingress_class(object, since),
        Kind::Ingress => row.extend(ingress(object)),
        Kind::NetworkPolicy => {
            let selector = selector::shown(object.at("spec.podSelector"));
            row.push(or(&selector, NONE).into());
        }
        Kind::PodDisruptionBudget => {
            row.push(int_or_text(object.at("spec.minAvailable")).into());
            row.push(int_or_text(object.at("spec.maxUnavailable")).into());
            row.push(object.number("status.disruptionsAllowed").into());
        }
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => {
            row.push(object.list("webhooks").len().into());
        }
        Kind::Service => row.extend(service(object)),
        Kind::Node => return node(object, since),
        Kind::Deployment => return deployment(object, since),
        Kind::RoleBinding | Kind::ClusterRoleBinding => return rbac::binding(object, since),
    }
    row.push(since.into());
    if kind == Kind::Service {
        row.push(or(&labels(object, "spec.selector"), NONE).into());
    }
    row
}

fn service(object: &Object) -> [Value; 4] {
    let address = object
        .texts("spec.clusterIPs")
        .first()
        .copied()
        .unwrap_or(NONE);
    let ports: Vec<String> = object.list("spec.ports").iter().map(port).collect();
    [
        object.text("spec.type").into(),
        address.into(),
        external_address(object).into(),
        or(&ports.join(","), NONE).into(),
    ]
}

fn port(port: &Value) -> String {
    let (number, protocol) = (port.number("port"), port.text("protocol"));
    match port.number("nodePort") {
        0 => format!("{number}/{protocol}"),
        node => format!("{number}:{node}/{protocol}"),
    }
}

fn external_address(object: &Object) -> String {
    let named = object.texts("spec.externalIPs");
    match object.text("spec.type") {
        "ClusterIP" | "NodePort" => or(&named.join(","), NONE).to_owned(),
        "LoadBalancer" => {
            let given = load_balancer(object);
            let all: Vec<&str> = given.iter().map(String::as_str).chain(named).collect();
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => object.text("spec.externalName").to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Addresses, or names where there is no address, of a load balancer.
fn load_balancer(object: &Object) -> BTreeSet<String> {
    let points = object.list("status.loadBalancer.ingress").iter();
    let shown = points.map(|point| or(point.text("ip"), point.text("hostname")).to_owned());
    shown.filter(|point| !point.is_empty()).collect()
}

fn ingress(object: &Object) -> [Value; 4] {
    let class = object.at("spec.ingressClassName").and_then(Value::as_str);
    let rules = object.list("spec.rules");
    let hosts = rules
        .iter()
        .map(|rule| rule.text("host"))
        .filter(|host| !host.is_empty());
    let shown: Vec<&str> = hosts.take(MOST_HOSTS).collect();
    let address: Vec<String> = load_balancer(object).into_iter().collect();
    let ports = if object.list("spec.tls").is_empty() {
        "80"
    } else {
        "80, 443"
    };
    [
        class.unwrap_or(NONE).into(),
        hosts_cell(&shown, rules).into(),
        address.join(",").into(),
        ports.into(),
    ]
}

/// What is counted are rules, with or without a host, after the last one that is shown.
fn hosts_cell(shown: &[&str], rules: &[Value]) -> String {
    let named = |rule: &&Value| !rule.text("host").is_empty();
    let last_shown = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| named(rule))
        .nth(MOST_HOSTS - 1);
    let more = last_shown.is_some_and(|(index, _)| index + 1 < rules.len());
    match shown {
        [] => "*".to_owned(),
        shown if more => {
            format!("{} + {} more...", shown.join(","), rules.len() - MOST_HOSTS)
        }
        shown => shown.join(","),
    }
}

fn ingress_class(object: &Object, since: String) -> Vec<Value> {
    let annotations = object.entries("metadata.annotations");
    let mut defaults = annotations.filter(|(key, value)| {
        *key == "ingressclass.kubernetes.io/is-default-class" && *value == "true"
    });
    let name = match defaults.next() {
        Some(_) => format!("{} (default)", object.name()),
        None => object.name().to_owned(),
    };
    let parameters = object.at("spec.parameters").map(|parameters| {
        let (kind, name) = (parameters.text("kind"), parameters.text("name"));
        match parameters.at("apiGroup").and_then(Value::as_str) {
            Some(group) => format!("{kind}.{group}/{name}"),
            None => format!("{kind}/{name}"),
        }
    });
    let parameters = parameters.unwrap_or_else(|| NONE.to_owned());
    vec![
        name.into(),
        object.text("spec.controller").into(),
        parameters.into(),
        since.into(),
    ]
}

fn node(object: &Object, since: String) -> Vec<Value> {
    let info = |field: &str| object.text(&format!("status.nodeInfo.{field}"));
    let mut kernel = or(info("kernelVersion"), UNKNOWN).to_owned();
    if !info("architecture").is_empty() {
        kernel = format!("{kernel} ({})", info("architecture"));
    }
    vec![
        object.name().into(),
        node_status(object).into(),
        or(&node_roles(object).join(","), NONE).into(),
        since.into(),
        info("kubeletVersion").into(),
        node_address(object, "InternalIP").into(),
        node_address(object, "ExternalIP").into(),
        or(info("osImage"), UNKNOWN).into(),
        kernel.into(),
        or(info("containerRuntimeVersion"), UNKNOWN).into(),
    ]
}

fn node_status(object: &Object) -> String {
    let mut conditions = object.list("status.conditions").iter();
    let ready = conditions.rfind(|condition| condition.text("type") == "Ready");
    let status = match ready.map(|condition| condition.text("status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    if object.truth("spec.unschedulable") {
        format!("{status},SchedulingDisabled")
    } else {
        status.to_owned()
    }
}

fn node_roles(object: &Object) -> Vec<&str> {
    let roles = object
        .entries("metadata.labels")
        .filter_map(|(key, value)| match key {
            "kubernetes.io/role" => value.as_str(),
            key => key.strip_prefix("node-role.kubernetes.io/"),
        });
    let roles: BTreeSet<&str> = roles.filter(|role| !role.is_empty()).collect();
    roles.into_iter().collect()
}

fn node_address<'a>(object: &'a Object, kind: &str) -> &'a str {
    let mut addresses = object.list("status.addresses").iter();
    let found = addresses.find(|address| address.text("type") == kind);
    found.map_or(NONE, |address| address.text("address"))
}

fn deployment(object: &Object, since: String) -> Vec<Value> {
    let (ready, wanted) = (
        object.number("status.readyReplicas"),
        object.number("spec.replicas"),
    );
    let containers = object.list("spec.template.spec.containers").iter();
    let joined = |field: &str| {
        let texts: Vec<&str> = containers
            .clone()
            .map(|container| container.text(field))
            .collect();
        texts.join(",")
    };
    vec![
        object.name().into(),
        format!("{ready}/{wanted}").into(),
        object.number("status.updatedReplicas").into(),
        object.number("status.availableReplicas").into(),
        since.into(),
        joined("name").into(),
        joined("image").into(),
        selector::shown(object.at("spec.selector")).into(),
    ]
}

/// An Event in its older form.
fn event(object: &Object, now: Timestamp) -> Vec<Value> {
    let time = |path: &str| since(object.text(path), now);
    let first = match object.text("firstTimestamp") {
        "" => time("eventTime"),
        _ => time("firstTimestamp"),
    };
    let (last, count) = match (object.has("series"), object.text("lastTimestamp")) {
        (true, _) => (
            time("series.lastObservedTime"),
            object.number("series.count"),
        ),
        (false, "") => (first.clone(), object.number("count").max(1)),
        (false, _) => (time("lastTimestamp"), object.number("count").max(1)),
    };
    let kind = object.text("involvedObject.kind").to_lowercase();
    let target = match object.text("involvedObject.name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = or(
        object.text("source.component"),
        object.text("reportingComponent"),
    );
    let source = match or(object.text("source.host"), object.text("reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    vec![
        last.into(),
        object.text("type").into(),
        object.text("reason").into(),
        target.into(),
        object.text("involvedObject.fieldPath").into(),
        source.into(),
        object.text("message").trim().into(),
        first.into(),
        json!(count),
        object.name().into(),
    ]
}

/// How long ago a time of an object was.
fn since(time: &str, now: Timestamp) -> String {
    match time.parse() {
        Ok(then) => age(then, now),
        Err(_) => UNKNOWN.to_owned(),
    }
}

fn labels(object: &Object, path: &str) -> String {
    let pair =
        |(key, value): (&str, &Value)| format!("{key}={}", value.as_str().unwrap_or_default());
    let pairs: Vec<String> = object.entries(path).map(pair).collect();
    pairs.join(",")
}

fn int_or_text(value: Option<&Value>) -> String {
    match value {
        None => "N/A".to_owned(),
        Some(value) => value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// `text`, or `other` where it is empty.
fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}
