//! Kinds of the Gateway API that nothing here reads. They are kept, so that manifests with them apply as a whole.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::lens;

/// What is fixed about a kind.
struct Kind {
    name: &'static str,
    plural: &'static str,
    short_name: &'static str,
    scope: &'static str,
    /// All that are served; objects are stored in the last.
    versions: &'static [&'static str],
    /// Fields of the spec that must be there.
    required: &'static [&'static str],
    /// Name and path of the columns before the age.
    columns: &'static [(&'static str, &'static str)],
    has_status: bool,
}

const ACCEPTED: &str = ".status.conditions[?(@.type==\"Accepted\")].status";
const PROGRAMMED: &str = ".status.conditions[?(@.type==\"Programmed\")].status";

const KINDS: [Kind; 3] = [
    Kind {
        name: "GatewayClass",
        plural: "gatewayclasses",
        short_name: "gc",
        scope: "Cluster",
        versions: &["v1beta1", "v1"],
        required: &["controllerName"],
        columns: &[
            ("Controller", ".spec.controllerName"),
            ("Accepted", ACCEPTED),
        ],
        has_status: true,
    },
    Kind {
        name: "ReferenceGrant",
        plural: "referencegrants",
        short_name: "refgrant",
        scope: "Namespaced",
        versions: &["v1", "v1beta1"],
        required: &["from", "to"],
        columns: &[],
        has_status: false,
    },
    Kind {
        name: "ListenerSet",
        plural: "listenersets",
        short_name: "lset",
        scope: "Namespaced",
        versions: &["v1"],
        required: &["listeners", "parentRef"],
        columns: &[("Accepted", ACCEPTED), ("Programmed", PROGRAMMED)],
        has_status: true,
    },
];

/// A definition for each of these kinds.
pub(super) fn crds() -> Vec<CustomResourceDefinition> {
    KINDS.iter().map(crd).collect()
}

fn crd(kind: &Kind) -> CustomResourceDefinition {
    let group = "gateway.networking.k8s.io";
    let column =
        |(name, path): &(&str, &str)| json!({ "name": name, "type": "string", "jsonPath": path });
    let age = json!({ "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" });
    let columns: Value = kind.columns.iter().map(column).chain([age]).collect();
    let subresources = if kind.has_status {
        json!({ "status": {} })
    } else {
        json!({})
    };
    let last = kind.versions.last();
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": Some(name) == last,
            "additionalPrinterColumns": columns, "subresources": subresources,
        })
    };
    let versions: Value = kind.versions.iter().map(version).collect();
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{}.{group}", kind.plural) },
        "spec": {
            "group": group,
            "scope": kind.scope,
            "names": {
                "kind": kind.name, "plural": kind.plural, "singular": kind.name.to_lowercase(),
                "shortNames": [kind.short_name], "categories": ["gateway-api"],
            },
            "versions": versions,
        },
    });
    let crd = serde_json::from_value(crd).expect("a definition built here is a definition");
    let spec = lens::required(lens::object([]), kind.required);
    lens::complete(crd, &spec, &lens::object([]))
}
