//! The columns of the tables that kubectl prints.

use serde_json::Value;

use super::definitions::{self, Definitions};
use super::kind::Kind;
use crate::resource::Column;

/// A column, with where its description is.
struct Plan {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    wide: bool,
    about: About,
}

/// Where a column's description comes from.
enum About {
    /// A field of the kind itself.
    Field(&'static str),
    /// A sentence of its own.
    Words(&'static str),
}

/// The columns of a kind. Their `source` is empty: [`super::cells()`] fills whole rows.
pub(super) fn of(kind: Kind) -> Vec<Column> {
    let definitions = definitions::all();
    let column = |plan: Plan| Column {
        name: plan.name.to_owned(),
        kind: plan.kind.to_owned(),
        format: plan.format.to_owned(),
        description: match plan.about {
            About::Field(path) => described(definitions, kind, path),
            About::Words(words) => words.to_owned(),
        },
        priority: i32::from(plan.wide),
        source: String::new(),
    };
    plans(kind).into_iter().map(column).collect()
}

/// The description of an older version of the field, which tables still have.
const ROLE_REF: &str = "RoleRef can reference a Role in the current namespace or a ClusterRole in \
                        the global namespace. If the RoleRef cannot be resolved, the Authorizer \
                        must return an error.";
const CLUSTER_ROLE_REF: &str = "RoleRef can only reference a ClusterRole in the global namespace. \
                                If the RoleRef cannot be resolved, the Authorizer must return an \
                                error.";

#[expect(clippy::too_many_lines, reason = "a table with one row per kind")]
fn plans(kind: Kind) -> Vec<Plan> {
    match kind {
        Kind::Namespace => vec![
            name(),
            words("Status", "The status of the namespace"),
            age(),
        ],
        Kind::Node => vec![
            name(),
            words("Status", "The status of the node"),
            words("Roles", "The roles of the node"),
            age(),
            field("Version", "status.nodeInfo.kubeletVersion"),
            wide(field("Internal-IP", "status.addresses")),
            wide(field("External-IP", "status.addresses")),
            wide(field("OS-Image", "status.nodeInfo.osImage")),
            wide(field("Kernel-Version", "status.nodeInfo.kernelVersion")),
            wide(field(
                "Container-Runtime",
                "status.nodeInfo.containerRuntimeVersion",
            )),
        ],
        Kind::ConfigMap => vec![name(), field("Data", "data"), age()],
        // The younger form is printed with the older one's words.
        Kind::Event | Kind::NewEvent => vec![
            field("Last Seen", "lastTimestamp"),
            field("Type", "type"),
            field("Reason", "reason"),
            field("Object", "involvedObject"),
            wide(field("Subobject", "involvedObject.fieldPath")),
            wide(field("Source", "source")),
            field("Message", "message"),
            wide(field("First Seen", "firstTimestamp")),
            wide(field("Count", "count")),
            wide(name()),
        ],
        Kind::Secret => vec![name(), field("Type", "type"), field("Data", "data"), age()],
        Kind::Service => vec![
            name(),
            field("Type", "spec.type"),
            field("Cluster-IP", "spec.clusterIP"),
            field("External-IP", "spec.externalIPs"),
            field("Port(s)", "spec.ports"),
            age(),
            wide(field("Selector", "spec.selector")),
        ],
        Kind::ServiceAccount => vec![name(), age()],
        Kind::Lease => vec![name(), field("Holder", "spec.holderIdentity"), age()],
        Kind::Deployment => vec![
            name(),
            words("Ready", "Number of the pod with ready state"),
            field("Up-to-date", "status.updatedReplicas"),
            field("Available", "status.availableReplicas"),
            age(),
            wide(words(
                "Containers",
                "Names of each container in the template.",
            )),
            wide(words(
                "Images",
                "Images referenced by each container in the template.",
            )),
            wide(field("Selector", "spec.selector")),
        ],
        Kind::ClusterRoleBinding => vec![
            name(),
            words("Role", CLUSTER_ROLE_REF),
            age(),
            wide(words("Users", "Users in the clusterRoleBinding")),
            wide(words("Groups", "Groups in the clusterRoleBinding")),
            wide(words(
                "ServiceAccounts",
                "ServiceAccounts in the clusterRoleBinding",
            )),
        ],
        Kind::RoleBinding => vec![
            name(),
            words("Role", ROLE_REF),
            age(),
            wide(words("Users", "Users in the roleBinding")),
            wide(words("Groups", "Groups in the roleBinding")),
            wide(words(
                "ServiceAccounts",
                "ServiceAccounts in the roleBinding",
            )),
        ],
        Kind::ClusterRole | Kind::Role | Kind::CustomResourceDefinition => {
            vec![
                name(),
                typed("date", field("Created At", "metadata.creationTimestamp")),
            ]
        }
        Kind::IngressClass => vec![
            name(),
            words(
                "Controller",
                "Controller that is responsible for handling this class",
            ),
            words(
                "Parameters",
                "A reference to a resource with additional parameters",
            ),
            age(),
        ],
        Kind::Ingress => vec![
            name(),
            words(
                "Class",
                "The name of the IngressClass resource that should be used for additional \
                 configuration",
            ),
            words(
                "Hosts",
                "Hosts that incoming requests are matched against before the ingress rule",
            ),
            words(
                "Address",
                "Address is a list containing ingress points for the load-balancer",
            ),
            words("Ports", "Ports of TLS configurations that open"),
            age(),
        ],
        Kind::NetworkPolicy => vec![name(), field("Pod-Selector", "spec.podSelector"), age()],
        Kind::PodDisruptionBudget => vec![
            name(),
            words(
                "Min Available",
                "The minimum number of pods that must be available.",
            ),
            words(
                "Max Unavailable",
                "The maximum number of pods that may be unavailable.",
            ),
            typed(
                "integer",
                words(
                    "Allowed Disruptions",
                    "Calculated number of pods that may be disrupted at this time.",
                ),
            ),
            age(),
        ],
        Kind::MutatingWebhookConfiguration | Kind::ValidatingWebhookConfiguration => vec![
            name(),
            typed(
                "integer",
                words(
                    "Webhooks",
                    "Webhooks indicates the number of webhooks registered in this configuration",
                ),
            ),
            age(),
        ],
    }
}

fn name() -> Plan {
    let format = "name";
    Plan {
        format,
        ..field("Name", "metadata.name")
    }
}

fn age() -> Plan {
    field("Age", "metadata.creationTimestamp")
}

fn field(name: &'static str, path: &'static str) -> Plan {
    let about = About::Field(path);
    Plan {
        name,
        kind: "string",
        format: "",
        wide: false,
        about,
    }
}

fn words(name: &'static str, words: &'static str) -> Plan {
    let about = About::Words(words);
    Plan {
        about,
        ..field(name, "")
    }
}

fn wide(plan: Plan) -> Plan {
    Plan { wide: true, ..plan }
}

fn typed(kind: &'static str, plan: Plan) -> Plan {
    Plan { kind, ..plan }
}

/// The description of a field such as `spec.type`.
fn described(definitions: &Definitions, kind: Kind, path: &str) -> String {
    let kind = if kind == Kind::NewEvent {
        Kind::Event
    } else {
        kind
    };
    let root = definitions
        .get(definitions.root(kind))
        .expect("every kind has a type");
    let found = path.split('.').try_fold(root, |schema, field| {
        let whole = definitions
            .resolve(schema)
            .map_or(schema, |(_, definition)| definition);
        whole.get("properties")?.get(field)
    });
    let description = found.and_then(|schema| schema.get("description"));
    description
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
