//! The built-in kinds: what they are called, where they live and what they have.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{
    ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume,
    PersistentVolumeClaim, Pod, ResourceQuota, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::events::v1::Event as NewEvent;
use k8s_openapi::api::networking::v1::{Ingress, IngressClass, NetworkPolicy};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use schemars::{JsonSchema, Schema, SchemaGenerator};

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
    /// A kind that is kept as its schema says, and about which no more is known: a row of [`STORED`].
    Stored(usize),
}

/// What is fixed about a kind.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: &'static [&'static str],
    pub(super) categories: &'static [&'static str],
    pub(super) scope: Scope,
    /// Whether there is a `/status` path.
    pub(super) status: bool,
    /// Whether `metadata.generation` counts changes of what is asked for.
    pub(super) generation: bool,
    /// Whether there is a `/scale` path.
    pub(super) scale: bool,
    /// What those who use the kind are warned with.
    pub(super) deprecation: Option<&'static str>,
    /// What field selectors may name besides name and namespace.
    pub(super) selectable: &'static [&'static str],
    /// Tells schemars of the type.
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// The kinds that something more is known about than their facts.
const JUDGED: [Kind; 21] = [
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

/// The kinds that are only kept: nobody here runs what they ask for.
const STORED: [Facts; 15] = [
    Facts {
        short_names: &["po"],
        categories: ALL_CATEGORY,
        status: true,
        generation: true,
        selectable: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ..of::<Pod>()
    },
    Facts {
        short_names: &["ep"],
        deprecation: Some(
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        ),
        ..of::<Endpoints>()
    },
    Facts {
        short_names: &["quota"],
        status: true,
        ..of::<ResourceQuota>()
    },
    Facts {
        short_names: &["limits"],
        ..of::<LimitRange>()
    },
    Facts {
        short_names: &["pv"],
        status: true,
        ..of::<PersistentVolume>()
    },
    Facts {
        short_names: &["pvc"],
        status: true,
        ..of::<PersistentVolumeClaim>()
    },
    Facts {
        short_names: &["rs"],
        scale: true,
        ..workload::<ReplicaSet>()
    },
    Facts {
        short_names: &["sts"],
        scale: true,
        ..workload::<StatefulSet>()
    },
    Facts {
        short_names: &["ds"],
        ..workload::<DaemonSet>()
    },
    Facts {
        selectable: &["status.successful"],
        ..workload::<Job>()
    },
    Facts {
        short_names: &["cj"],
        ..workload::<CronJob>()
    },
    Facts {
        short_names: &["hpa"],
        generation: false,
        ..workload::<HorizontalPodAutoscaler>()
    },
    Facts {
        short_names: &["sc"],
        ..of::<StorageClass>()
    },
    Facts {
        short_names: &["pc"],
        generation: true,
        ..of::<PriorityClass>()
    },
    Facts {
        generation: true,
        ..of::<EndpointSlice>()
    },
];

/// What `kubectl get all` shows.
const ALL_CATEGORY: &[&str] = &["all"];

impl Kind {
    /// All kinds.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        JUDGED
            .into_iter()
            .chain((0..STORED.len()).map(Self::Stored))
    }

    /// The kind of a resource; nothing if it was declared by a CustomResourceDefinition.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        let (group, kind) = (&resource.names.group, &resource.names.kind);
        let same = |facts: Facts| facts.group == group && facts.kind == kind;
        let found = || Self::all().find(|kind| same(kind.facts()));
        (resource.origin == Origin::Builtin).then(found).flatten()
    }

    #[expect(clippy::too_many_lines, reason = "a table with one row per kind")]
    pub(super) fn facts(self) -> Facts {
        match self {
            Self::Namespace => Facts {
                short_names: &["ns"],
                status: true,
                selectable: &["status.phase"],
                ..of::<Namespace>()
            },
            Self::Node => Facts {
                short_names: &["no"],
                status: true,
                selectable: &["spec.unschedulable"],
                ..of::<Node>()
            },
            Self::ConfigMap => Facts {
                short_names: &["cm"],
                ..of::<ConfigMap>()
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
                ..of::<Event>()
            },
            Self::Secret => Facts {
                selectable: &["type"],
                ..of::<Secret>()
            },
            Self::Service => Facts {
                short_names: &["svc"],
                categories: ALL_CATEGORY,
                status: true,
                selectable: &["spec.clusterIP", "spec.type"],
                ..of::<Service>()
            },
            Self::ServiceAccount => Facts {
                short_names: &["sa"],
                ..of::<ServiceAccount>()
            },
            Self::NewEvent => Facts {
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
                ..of::<NewEvent>()
            },
            Self::Lease => of::<Lease>(),
            Self::Deployment => Facts {
                short_names: &["deploy"],
                scale: true,
                ..workload::<Deployment>()
            },
            Self::ClusterRoleBinding => of::<ClusterRoleBinding>(),
            Self::ClusterRole => of::<ClusterRole>(),
            Self::RoleBinding => of::<RoleBinding>(),
            Self::Role => of::<Role>(),
            Self::IngressClass => Facts {
                generation: true,
                ..of::<IngressClass>()
            },
            Self::Ingress => Facts {
                short_names: &["ing"],
                status: true,
                generation: true,
                ..of::<Ingress>()
            },
            Self::NetworkPolicy => Facts {
                short_names: &["netpol"],
                generation: true,
                ..of::<NetworkPolicy>()
            },
            Self::PodDisruptionBudget => Facts {
                short_names: &["pdb"],
                status: true,
                generation: true,
                ..of::<PodDisruptionBudget>()
            },
            Self::MutatingWebhookConfiguration => extension::<MutatingWebhookConfiguration>(),
            Self::ValidatingWebhookConfiguration => extension::<ValidatingWebhookConfiguration>(),
            Self::CustomResourceDefinition => Facts {
                short_names: &["crd", "crds"],
                status: true,
                ..extension::<CustomResourceDefinition>()
            },
            Self::Stored(row) => STORED[row],
        }
    }
}

/// What the type itself tells.
const fn of<T>() -> Facts
where
    T: k8s_openapi::Resource<Scope: Place> + JsonSchema,
{
    Facts {
        group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        short_names: &[],
        categories: &[],
        scope: <T::Scope as Place>::SCOPE,
        status: false,
        generation: false,
        scale: false,
        deprecation: None,
        selectable: &[],
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

/// What `kubectl get all` shows, with a status.
const fn workload<T>() -> Facts
where
    T: k8s_openapi::Resource<Scope: Place> + JsonSchema,
{
    Facts {
        categories: ALL_CATEGORY,
        status: true,
        generation: true,
        ..of::<T>()
    }
}

/// Kinds that change what the API itself does.
const fn extension<T>() -> Facts
where
    T: k8s_openapi::Resource<Scope: Place> + JsonSchema,
{
    Facts {
        categories: &["api-extensions"],
        generation: true,
        ..of::<T>()
    }
}

/// The scope of a type, as a value.
trait Place {
    const SCOPE: Scope;
}

impl Place for k8s_openapi::ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl Place for k8s_openapi::NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}
