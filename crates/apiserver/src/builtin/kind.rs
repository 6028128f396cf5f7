//! The built-in kinds: what they are called, where they live and what they have.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{
    ConfigMap, Event, Namespace, Node, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::events::v1::Event as NewEvent;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass, NetworkPolicy};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use schemars::{Schema, SchemaGenerator};

use crate::resource::{Origin, Resource, Scope};

/// A kind that is compiled in.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    Namespace,
    Node,
    ConfigMap,
    Event,
    Secret,
    Service,
    ServiceAccount,
    /// `events.k8s.io`: the same objects as [`Kind::Event`], in a younger form.
    NewEvent,
    Lease,
    Deployment,
    ClusterRoleBinding,
    ClusterRole,
    RoleBinding,
    Role,
    IngressClass,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    CustomResourceDefinition,
}

/// What is fixed about a kind.
pub(super) struct Facts {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: &'static [&'static str],
    pub(super) categories: &'static [&'static str],
    pub(super) scope: Scope,
    /// Whether there is a `/status` path.
    pub(super) status: bool,
    /// Whether `metadata.generation` counts changes of what is asked for.
    pub(super) generation: bool,
    /// What field selectors may name besides name and namespace.
    pub(super) selectable: &'static [&'static str],
    /// Tells schemars of the type.
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// All kinds, group by group in the order in which kubectl lists them.
pub(super) const ALL: [Kind; 21] = [
    Kind::Namespace,
    Kind::Node,
    Kind::ConfigMap,
    Kind::Event,
    Kind::Secret,
    Kind::Service,
    Kind::ServiceAccount,
    Kind::NewEvent,
    Kind::Lease,
    Kind::Deployment,
    Kind::ClusterRoleBinding,
    Kind::ClusterRole,
    Kind::RoleBinding,
    Kind::Role,
    Kind::IngressClass,
    Kind::Ingress,
    Kind::NetworkPolicy,
    Kind::PodDisruptionBudget,
    Kind::MutatingWebhookConfiguration,
    Kind::ValidatingWebhookConfiguration,
    Kind::CustomResourceDefinition,
];

/// Every built-in kind is served in one version.
pub(super) const VERSION: &str = "v1";

impl Kind {
    /// The kind of a resource; nothing if it was declared by a CustomResourceDefinition.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        let (group, kind) = (&resource.names.group, &resource.names.kind);
        let same = |facts: Facts| facts.group == group && facts.kind == kind;
        let found = || ALL.into_iter().find(|kind| same(kind.facts()));
        (resource.origin == Origin::Builtin).then(found).flatten()
    }

    #[expect(clippy::too_many_lines, reason = "a table with one row per kind")]
    pub(super) fn facts(self) -> Facts {
        match self {
            Self::Namespace => Facts {
                short_names: &["ns"],
                scope: Scope::Cluster,
                status: true,
                selectable: &["status.phase"],
                ..core(
                    "Namespace",
                    "namespaces",
                    SchemaGenerator::subschema_for::<Namespace>,
                )
            },
            Self::Node => Facts {
                short_names: &["no"],
                scope: Scope::Cluster,
                status: true,
                selectable: &["spec.unschedulable"],
                ..core("Node", "nodes", SchemaGenerator::subschema_for::<Node>)
            },
            Self::ConfigMap => Facts {
                short_names: &["cm"],
                ..core(
                    "ConfigMap",
                    "configmaps",
                    SchemaGenerator::subschema_for::<ConfigMap>,
                )
            },
            Self::Event => Facts {
                short_names: &["ev"],
                selectable: &[
                    "involvedObject.kind",
                    "involvedObject.namespace",
                    "involvedObject.name",
                    "involvedObject.uid",
                    "involvedObject.apiVersion",
                    "involvedObject.resourceVersion",
                    "involvedObject.fieldPath",
                    "reason",
                    "reportingComponent",
                    "source",
                    "type",
                ],
                ..core("Event", "events", SchemaGenerator::subschema_for::<Event>)
            },
            Self::Secret => Facts {
                selectable: &["type"],
                ..core(
                    "Secret",
                    "secrets",
                    SchemaGenerator::subschema_for::<Secret>,
                )
            },
            Self::Service => Facts {
                short_names: &["svc"],
                categories: &["all"],
                status: true,
                selectable: &["spec.clusterIP", "spec.type"],
                ..core(
                    "Service",
                    "services",
                    SchemaGenerator::subschema_for::<Service>,
                )
            },
            Self::ServiceAccount => Facts {
                short_names: &["sa"],
                ..core(
                    "ServiceAccount",
                    "serviceaccounts",
                    SchemaGenerator::subschema_for::<ServiceAccount>,
                )
            },
            Self::NewEvent => Facts {
                group: "events.k8s.io",
                short_names: &["ev"],
                selectable: &[
                    "reason",
                    "regarding.kind",
                    "regarding.namespace",
                    "regarding.name",
                    "regarding.uid",
                    "regarding.apiVersion",
                    "regarding.resourceVersion",
                    "regarding.fieldPath",
                    "reportingController",
                    "type",
                ],
                ..core(
                    "Event",
                    "events",
                    SchemaGenerator::subschema_for::<NewEvent>,
                )
            },
            Self::Lease => Facts {
                group: "coordination.k8s.io",
                ..core("Lease", "leases", SchemaGenerator::subschema_for::<Lease>)
            },
            Self::Deployment => Facts {
                group: "apps",
                short_names: &["deploy"],
                categories: &["all"],
                status: true,
                generation: true,
                ..core(
                    "Deployment",
                    "deployments",
                    SchemaGenerator::subschema_for::<Deployment>,
                )
            },
            Self::ClusterRoleBinding => Facts {
                scope: Scope::Cluster,
                ..rbac(
                    "ClusterRoleBinding",
                    "clusterrolebindings",
                    SchemaGenerator::subschema_for::<ClusterRoleBinding>,
                )
            },
            Self::ClusterRole => Facts {
                scope: Scope::Cluster,
                ..rbac(
                    "ClusterRole",
                    "clusterroles",
                    SchemaGenerator::subschema_for::<ClusterRole>,
                )
            },
            Self::RoleBinding => rbac(
                "RoleBinding",
                "rolebindings",
                SchemaGenerator::subschema_for::<RoleBinding>,
            ),
            Self::Role => rbac("Role", "roles", SchemaGenerator::subschema_for::<Role>),
            Self::IngressClass => Facts {
                scope: Scope::Cluster,
                generation: true,
                ..networking(
                    "IngressClass",
                    "ingressclasses",
                    SchemaGenerator::subschema_for::<IngressClass>,
                )
            },
            Self::Ingress => Facts {
                short_names: &["ing"],
                status: true,
                generation: true,
                ..networking(
                    "Ingress",
                    "ingresses",
                    SchemaGenerator::subschema_for::<Ingress>,
                )
            },
            Self::NetworkPolicy => Facts {
                short_names: &["netpol"],
                generation: true,
                ..networking(
                    "NetworkPolicy",
                    "networkpolicies",
                    SchemaGenerator::subschema_for::<NetworkPolicy>,
                )
            },
            Self::PodDisruptionBudget => Facts {
                group: "policy",
                short_names: &["pdb"],
                status: true,
                generation: true,
                ..core(
                    "PodDisruptionBudget",
                    "poddisruptionbudgets",
                    SchemaGenerator::subschema_for::<PodDisruptionBudget>,
                )
            },
            Self::MutatingWebhookConfiguration => webhooks(
                "MutatingWebhookConfiguration",
                "mutatingwebhookconfigurations",
                SchemaGenerator::subschema_for::<MutatingWebhookConfiguration>,
            ),
            Self::ValidatingWebhookConfiguration => webhooks(
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                SchemaGenerator::subschema_for::<ValidatingWebhookConfiguration>,
            ),
            Self::CustomResourceDefinition => Facts {
                group: "apiextensions.k8s.io",
                short_names: &["crd", "crds"],
                status: true,
                ..webhooks(
                    "CustomResourceDefinition",
                    "customresourcedefinitions",
                    SchemaGenerator::subschema_for::<CustomResourceDefinition>,
                )
            },
        }
    }
}

type Describe = fn(&mut SchemaGenerator) -> Schema;

fn core(kind: &'static str, plural: &'static str, schema: Describe) -> Facts {
    Facts {
        group: "",
        kind,
        plural,
        short_names: &[],
        categories: &[],
        scope: Scope::Namespaced,
        status: false,
        generation: false,
        selectable: &[],
        schema,
    }
}

fn rbac(kind: &'static str, plural: &'static str, schema: Describe) -> Facts {
    Facts {
        group: "rbac.authorization.k8s.io",
        ..core(kind, plural, schema)
    }
}

fn networking(kind: &'static str, plural: &'static str, schema: Describe) -> Facts {
    Facts {
        group: "networking.k8s.io",
        ..core(kind, plural, schema)
    }
}

/// Kinds that change what the API itself does.
fn webhooks(kind: &'static str, plural: &'static str, schema: Describe) -> Facts {
    Facts {
        group: "admissionregistration.k8s.io",
        categories: &["api-extensions"],
        scope: Scope::Cluster,
        generation: true,
        ..core(kind, plural, schema)
    }
}
