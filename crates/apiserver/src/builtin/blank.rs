//! The object of a kind that has nothing in it, as Go writes it.
//!
//! Structs are always there, and so are lists, texts and numbers that may not be left out. A creation is
//! compared with it to find out which fields the sender wrote.

use serde_json::{Value, json};

use super::defaults;
use super::kind::Kind;

/// A kind's empty object.
pub(super) fn of(kind: Kind) -> Value {
    match kind {
        Kind::Namespace => json!({ "spec": {}, "status": {} }),
        Kind::PodDisruptionBudget => json!({ "spec": {}, "status": defaults::budget_status() }),
        Kind::Node => json!({ "spec": {}, "status": { "daemonEndpoints": {}, "nodeInfo": {} } }),
        Kind::Service | Kind::Ingress => json!({ "spec": {}, "status": { "loadBalancer": {} } }),
        Kind::Deployment => json!({
            "spec": {
                "selector": null,
                "strategy": {},
                "template": { "metadata": {}, "spec": { "containers": null } },
            },
            "status": {},
        }),
        Kind::Lease | Kind::IngressClass => json!({ "spec": {} }),
        Kind::NetworkPolicy => json!({ "spec": { "podSelector": {} } }),
        Kind::Event => json!({
            "eventTime": null,
            "firstTimestamp": null,
            "involvedObject": {},
            "lastTimestamp": null,
            "reportingComponent": "",
            "reportingInstance": "",
            "source": {},
        }),
        Kind::NewEvent => json!({
            "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": null,
            "deprecatedSource": {},
            "eventTime": null,
            "regarding": {},
        }),
        Kind::ClusterRoleBinding | Kind::RoleBinding => json!({ "roleRef": {} }),
        Kind::CustomResourceDefinition => json!({
            "spec": { "names": {}, "versions": null },
            "status": { "acceptedNames": {}, "conditions": null, "storedVersions": null },
        }),
        Kind::ClusterRole | Kind::Role => json!({ "rules": null }),
        Kind::ConfigMap
        | Kind::Secret
        | Kind::ServiceAccount
        | Kind::MutatingWebhookConfiguration
        | Kind::ValidatingWebhookConfiguration => json!({}),
    }
}
