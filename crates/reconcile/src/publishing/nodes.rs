//! Where nodes are reached, for installations without a load balancer (S7).

use std::collections::BTreeSet;
use std::net::IpAddr;

use api::parse::target::Target;
use k8s_openapi::api::core::v1::Node;

/// Taints that the pods of a `DaemonSet` live with: the ingress runs there all the same.
const TOLERATED: [&str; 7] = [
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
];

/// Nodes that run the cluster itself, by the labels of today and of yesterday.
const ROLES: [&str; 2] = [
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
];

/// The first internal address of each family; none if the node does not serve.
pub(super) fn targets(node: &Node) -> BTreeSet<Target> {
    if !serves(node) {
        return BTreeSet::new();
    }
    let status = node.status.as_ref();
    let addresses = status
        .and_then(|it| it.addresses.as_ref())
        .into_iter()
        .flatten();
    let internal = addresses.filter(|it| it.type_ == "InternalIP");
    let internal: Vec<IpAddr> = internal.filter_map(|it| it.address.parse().ok()).collect();
    let first = |of: fn(&&IpAddr) -> bool| internal.iter().find(of).copied();
    let families = [first(|it| it.is_ipv4()), first(|it| it.is_ipv6())];
    families
        .into_iter()
        .flatten()
        .map(Target::Address)
        .collect()
}

fn serves(node: &Node) -> bool {
    let labels = node.metadata.labels.as_ref();
    let has = |role: &&str| labels.is_some_and(|labels| labels.contains_key(*role));
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
    let mut taints = taints.into_iter().flatten();
    let tolerated = taints.all(|taint| TOLERATED.contains(&taint.key.as_str()));
    is_ready(node) && tolerated && !ROLES.iter().any(has)
}

fn is_ready(node: &Node) -> bool {
    let status = node.status.as_ref();
    let mut conditions = status
        .and_then(|it| it.conditions.as_ref())
        .into_iter()
        .flatten();
    conditions.any(|it| it.type_ == "Ready" && it.status == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(
        labels: &Value,
        taint: Option<&str>,
        ready: &str,
        addresses: &[(&str, &str)],
    ) -> Vec<String> {
        let taints: Vec<Value> = taint
            .iter()
            .map(|key| json!({ "key": key, "effect": "NoExecute" }))
            .collect();
        let addresses: Vec<Value> = addresses
            .iter()
            .map(|(type_, address)| json!({ "type": type_, "address": address }))
            .collect();
        let node = json!({
            "metadata": { "name": "n", "labels": labels },
            "spec": { "taints": taints },
            "status": { "conditions": [{ "type": "Ready", "status": ready }], "addresses": addresses },
        });
        let node: Node = serde_json::from_value(node).unwrap();
        targets(&node).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_node_is_reached_at_its_first_internal_address_of_each_family() {
        let addresses = [
            ("Hostname", "n"),
            ("ExternalIP", "203.0.113.1"),
            ("InternalIP", "10.0.0.1"),
            ("InternalIP", "fd00::1"),
            ("InternalIP", "10.0.0.2"),
        ];
        assert_eq!(
            check(&json!({}), None, "True", &addresses),
            ["10.0.0.1", "fd00::1"]
        );
        assert!(check(&json!({}), None, "True", &addresses[..2]).is_empty());
    }

    #[test]
    fn a_node_that_does_not_serve_is_not_published() {
        // Not ready; with a taint that keeps others out; of the control plane, by either label.
        let own = [("InternalIP", "10.0.0.1")];
        let none = json!({});
        assert!(check(&none, None, "False", &own).is_empty());
        assert!(check(&none, None, "Unknown", &own).is_empty());
        assert!(check(&none, Some("dedicated"), "True", &own).is_empty());
        for role in ROLES {
            assert!(
                check(&json!({ role: "" }), None, "True", &own).is_empty(),
                "{role}"
            );
        }
        for taint in TOLERATED {
            assert_eq!(
                check(&none, Some(taint), "True", &own),
                ["10.0.0.1"],
                "{taint}"
            );
        }
    }
}
