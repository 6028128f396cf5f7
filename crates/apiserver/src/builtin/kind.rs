//! The built-in kinds: what they are called, where they live and what they have. `kinds.txt` says what their types do not.

use std::sync::LazyLock;

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
use wire::TypeMeta;

use crate::resource::{Origin, Resource, Scope};

/// A variant for each of the kinds that something more is known about than their facts, and the types of all.
macro_rules! kinds {
    (judged: $($kind:ident),+; stored: $($stored:ident),+;) => {
        /// A kind that is compiled in.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub(crate) enum Kind {
            $($kind,)+
            /// A kind that is kept as its schema says, and about which no more is known.
            Stored(usize),
        }

        fn described() -> Vec<(Kind, Facts)> {
            let judged = [$((Kind::$kind, of::<$kind>()),)+];
            let stored = [$(of::<$stored>(),)+].into_iter().enumerate();
            let stored = stored.map(|(row, facts)| (Kind::Stored(row), facts));
            judged.into_iter().chain(stored).collect()
        }
    };
}

// A `NewEvent` is the same object as an Event, in a younger form.
kinds! {
    judged:
        Namespace, ConfigMap, Event, Secret, Service, ServiceAccount, NewEvent, Lease, ClusterRoleBinding,
        ClusterRole, RoleBinding, Role, Ingress, MutatingWebhookConfiguration,
        ValidatingWebhookConfiguration, CustomResourceDefinition;
    stored:
        Node, Pod, Endpoints, ResourceQuota, LimitRange, PersistentVolume, PersistentVolumeClaim,
        Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, HorizontalPodAutoscaler,
        IngressClass, NetworkPolicy, PodDisruptionBudget, StorageClass, PriorityClass, EndpointSlice;
}

/// What is fixed about a kind.
pub(super) struct Facts {
    api_version: &'static str,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: Vec<&'static str>,
    pub(super) categories: Vec<&'static str>,
    pub(super) scope: Scope,
    /// What the table says in a word each.
    words: &'static str,
    /// What those who use the kind are warned with.
    pub(super) deprecation: Option<&'static str>,
    /// What those who write one are warned with.
    pub(super) told: Option<&'static str>,
    /// What field selectors may name besides name and namespace, and what it is where it is not there.
    pub(super) selectable: Vec<(&'static str, &'static str)>,
    /// Tells schemars of the type.
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

static ALL: LazyLock<Vec<(Kind, Facts)>> = LazyLock::new(described);

impl Kind {
    /// All kinds.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|(kind, _)| *kind)
    }

    /// The kind of a resource; nothing if it was declared by a CustomResourceDefinition.
    pub(crate) fn of(resource: &Resource) -> Option<Self> {
        let (group, name) = (&resource.names.group, &resource.names.kind);
        let same = |facts: &Facts| facts.kind == name && facts.group == group;
        let found = || ALL.iter().find(|(_, facts)| same(facts));
        let found = (resource.origin == Origin::Builtin).then(found).flatten();
        found.map(|(kind, _)| *kind)
    }

    /// What its objects say that they are.
    pub(super) fn type_meta(self) -> TypeMeta<'static> {
        let Facts {
            api_version, kind, ..
        } = self.facts();
        TypeMeta { api_version, kind }
    }

    pub(super) fn facts(self) -> &'static Facts {
        let found = ALL.iter().find(|(kind, _)| *kind == self);
        found
            .map(|(_, facts)| facts)
            .expect("every kind is in the table")
    }
}

impl Facts {
    /// Whether the table says a word of the kind.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.split_whitespace().any(|one| one == word)
    }
}

/// What the type itself tells, and the table.
fn of<T>() -> Facts
where
    T: k8s_openapi::Resource<Scope: Place> + JsonSchema,
{
    let mut table = include_str!("kinds.txt").lines();
    let words = |line: &'static str| {
        let rest = line.strip_prefix(T::API_VERSION)?.strip_prefix(' ')?;
        let (kind, words) = rest.split_once(' ').unwrap_or((rest, ""));
        (kind == T::KIND).then_some(words)
    };
    let line = table
        .find_map(words)
        .expect("the table has a line for every kind");
    let last = |line: &'static str, about| match line.split_once(about) {
        Some((words, text)) => (words, Some(text)),
        None => (line, None),
    };
    let (words, deprecation) = last(line, "warn:");
    let (words, told) = last(words, "tell:");
    let list = |about: &str| {
        let mut words = words.split_whitespace();
        let found = words.find_map(|word| word.strip_prefix(about));
        found
            .map(|list| list.split(',').collect())
            .unwrap_or_default()
    };
    let selectable: Vec<&str> = list("select:");
    let or_nothing = |field: &'static str| field.split_once('=').unwrap_or((field, ""));
    Facts {
        api_version: T::API_VERSION,
        group: T::GROUP,
        version: T::VERSION,
        kind: T::KIND,
        plural: T::URL_PATH_SEGMENT,
        short_names: list("short:"),
        categories: list("in:"),
        scope: <T::Scope as Place>::SCOPE,
        words,
        deprecation,
        told,
        selectable: selectable.into_iter().map(or_nothing).collect(),
        schema: SchemaGenerator::subschema_for::<T>,
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
