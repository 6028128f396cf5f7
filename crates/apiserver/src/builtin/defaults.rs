//! What kube-apiserver fills in after reading an object.
//!
//! Two sorts of things: values that the API assumes, and fields that Go's types always write out
//! although nothing is in them, such as `status: {}`.

mod empty;
mod pod;
mod service;

pub(super) use service::settle_addresses;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::fields::{Fields as _, Fill as _};
use super::kind::Kind;
use crate::object::{Object, ObjectExt as _};

const RBAC: &str = "rbac.authorization.k8s.io";
/// The label by which selectors find a namespace by name.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Fills in what was left out.
pub(super) fn fill(kind: Kind, object: &mut Object) {
    empty::drop(kind, object);
    match kind {
        Kind::Namespace => namespace(object),
        Kind::Node => node(object),
        Kind::Event => event(object),
        Kind::NewEvent => new_event(object),
        Kind::Secret => secret(object),
        Kind::Service => service::fill(object),
        Kind::Lease => {
            object.below("spec");
        }
        Kind::Deployment => deployment(object),
        Kind::ClusterRoleBinding | Kind::RoleBinding => binding(object),
        // A list that Go writes as `null` when nothing was given.
        Kind::ClusterRole | Kind::Role => object.fill("rules", Value::Null),
        Kind::IngressClass => ingress_class(object),
        Kind::Ingress => {
            object.below("spec");
            if let Some(status) = object.below("status") {
                status.below("loadBalancer");
            }
        }
        Kind::NetworkPolicy => network_policy(object),
        Kind::PodDisruptionBudget => {
            object.below("spec");
            object.fill("status", budget_status());
            // Numbers that somebody has taken away are zero.
            let zeroes = budget_status();
            let zeroes = zeroes.as_object().into_iter().flatten();
            if let Some(status) = object.below("status") {
                zeroes.for_each(|(field, zero)| status.fill(field, zero.clone()));
            }
        }
        Kind::MutatingWebhookConfiguration => webhooks(object, true),
        Kind::ValidatingWebhookConfiguration => webhooks(object, false),
        Kind::ConfigMap | Kind::ServiceAccount | Kind::CustomResourceDefinition => {}
    }
}

/// The status of a budget that nobody has looked at.
pub(super) fn budget_status() -> Value {
    json!({
        "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0
    })
}

fn namespace(object: &mut Object) {
    object.below("spec");
    if let Some(status) = object.below("status") {
        status.fill_text("phase", "Active");
    }
    let name = object.name().to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = object.metadata_mut().below("labels") {
        labels.insert(NAMESPACE_LABEL.to_owned(), name.into());
    }
}

fn node(object: &mut Object) {
    object.below("spec");
    let Some(status) = object.below("status") else {
        return;
    };
    if let Some(capacity) = status.field("capacity").cloned() {
        status.fill("allocatable", capacity);
    }
    for condition in status.each("conditions") {
        condition.fill("lastHeartbeatTime", Value::Null);
        condition.fill("lastTransitionTime", Value::Null);
    }
    if let Some(endpoints) = status.below("daemonEndpoints")
        && let Some(kubelet) = endpoints.below("kubeletEndpoint")
    {
        kubelet.fill("Port", 0);
    }
    if let Some(info) = status.below("nodeInfo") {
        for field in NODE_INFO {
            info.fill_text(field, "");
        }
    }
}

/// What a machine tells about itself, written out even where it tells nothing.
const NODE_INFO: [&str; 10] = [
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
];

fn event(object: &mut Object) {
    object.below("involvedObject");
    object.below("source");
    for time in ["firstTimestamp", "lastTimestamp", "eventTime"] {
        object.fill(time, Value::Null);
    }
    object.fill("reportingComponent", "");
    object.fill("reportingInstance", "");
}

fn new_event(object: &mut Object) {
    object.below("regarding");
    object.below("deprecatedSource");
    for time in [
        "deprecatedFirstTimestamp",
        "deprecatedLastTimestamp",
        "eventTime",
    ] {
        object.fill(time, Value::Null);
    }
}

/// `stringData` is a convenience for writers: it ends up in `data`.
fn secret(object: &mut Object) {
    object.fill_text("type", "Opaque");
    let texts = object.remove("stringData");
    let Some(Value::Object(texts)) = texts.filter(|texts| texts != &json!({})) else {
        return;
    };
    let encoded = texts.into_iter().map(|(key, text)| {
        let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
        (key, Value::from(encoded))
    });
    if let Some(data) = object.below("data") {
        data.extend(encoded);
    }
}

fn deployment(object: &mut Object) {
    object.below("status");
    let Some(spec) = object.below("spec") else {
        return;
    };
    spec.fill("replicas", 1);
    spec.fill("revisionHistoryLimit", 10);
    spec.fill("progressDeadlineSeconds", 600);
    spec.fill("selector", Value::Null);
    if let Some(strategy) = spec.below("strategy") {
        strategy.fill_text("type", "RollingUpdate");
        if strategy.text("type") == "RollingUpdate"
            && let Some(rolling) = strategy.below("rollingUpdate")
        {
            rolling.fill("maxUnavailable", "25%");
            rolling.fill("maxSurge", "25%");
        }
    }
    if let Some(template) = spec.below("template") {
        pod::template(template);
    }
}

fn binding(object: &mut Object) {
    if let Some(role) = object.below("roleRef") {
        role.fill_text("apiGroup", RBAC);
        role.fill("kind", "");
        role.fill("name", "");
    }
    for subject in object.each("subjects") {
        if matches!(subject.text("kind"), "User" | "Group") {
            subject.fill_text("apiGroup", RBAC);
        }
    }
}

fn ingress_class(object: &mut Object) {
    let spec = object.below("spec");
    if let Some(parameters) = spec.and_then(|spec| spec.present("parameters")) {
        parameters.fill("scope", "Cluster");
    }
}

fn network_policy(object: &mut Object) {
    let Some(spec) = object.below("spec") else {
        return;
    };
    spec.below("podSelector");
    for direction in ["ingress", "egress"] {
        for rule in spec.each(direction) {
            rule.each("ports")
                .for_each(|port| port.fill("protocol", "TCP"));
        }
    }
    if spec.list("policyTypes").is_empty() {
        let types = if spec.list("egress").is_empty() {
            json!(["Ingress"])
        } else {
            json!(["Ingress", "Egress"])
        };
        spec.insert("policyTypes".to_owned(), types);
    }
}

fn webhooks(object: &mut Object, mutating: bool) {
    for webhook in object.each("webhooks") {
        webhook.below("clientConfig").map(client_config);
        webhook.fill("failurePolicy", "Fail");
        webhook.fill("matchPolicy", "Equivalent");
        webhook.fill("timeoutSeconds", 10);
        webhook.below("namespaceSelector");
        webhook.below("objectSelector");
        if mutating {
            webhook.fill("reinvocationPolicy", "Never");
        }
        webhook
            .each("rules")
            .for_each(|rule| rule.fill("scope", "*"));
    }
}

fn client_config(config: &mut Map<String, Value>) {
    if let Some(service) = config.present("service") {
        service.fill("port", 443);
    }
}
