//! One webhook, as its configuration describes it: read once, when the configuration is written.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use super::condition::Condition;
use super::registry::Phase;
use crate::object::{Object, ObjectExt as _};
use crate::resource::{Resource, Scope};
use crate::selector::LabelSelector;

/// A webhook.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) name: String,
    /// Tells it from all others, whatever they are called.
    pub(crate) id: String,
    pub(crate) rules: Vec<Rule>,
    /// Whether another version of the same kind is a match, too.
    pub(crate) equivalent: bool,
    pub(crate) failure: FailurePolicy,
    pub(crate) namespaces: LabelSelector,
    pub(crate) objects: LabelSelector,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) timeout: Duration,
    /// Whether it wants to see what those after it made of the object.
    pub(crate) reinvocable: bool,
    /// Whether a request that changes nothing may be shown to it.
    pub(crate) knows_dry_run: bool,
    /// The form of review that is sent; nothing if it knows none that is spoken here.
    pub(crate) review: Option<ReviewVersion>,
    pub(crate) address: Address,
}

/// What happens if it cannot be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
}

/// A version of `admission.k8s.io`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReviewVersion {
    V1,
    V1Beta1,
}

/// Where a webhook is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Address {
    Url {
        url: String,
        /// Certificates of the authorities that it is believed by, in PEM; nothing if those of the machine are.
        authorities: Option<Arc<[u8]>>,
    },
    Service {
        namespace: String,
        name: String,
        path: String,
        port: u16,
    },
}

/// Which requests are shown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rule {
    operations: Vec<String>,
    pub(super) api_groups: Vec<String>,
    api_versions: Vec<String>,
    pub(super) resources: Vec<String>,
    scope: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Described {
    name: String,
    rules: Vec<Rule>,
    match_policy: String,
    failure_policy: String,
    namespace_selector: Option<Value>,
    object_selector: Option<Value>,
    match_conditions: Vec<DescribedCondition>,
    timeout_seconds: u64,
    reinvocation_policy: String,
    side_effects: String,
    admission_review_versions: Vec<String>,
    client_config: ClientConfig,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DescribedCondition {
    expression: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClientConfig {
    url: Option<String>,
    service: Option<ServiceReference>,
    ca_bundle: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServiceReference {
    namespace: String,
    name: String,
    path: String,
    port: Option<u16>,
}

impl Default for Described {
    fn default() -> Self {
        Self {
            name: String::new(),
            rules: Vec::new(),
            match_policy: "Equivalent".to_owned(),
            failure_policy: "Fail".to_owned(),
            namespace_selector: None,
            object_selector: None,
            match_conditions: Vec::new(),
            timeout_seconds: 10,
            reinvocation_policy: "Never".to_owned(),
            side_effects: String::new(),
            admission_review_versions: Vec::new(),
            client_config: ClientConfig::default(),
        }
    }
}

/// The webhooks of a configuration, in their order. What was accepted can be read; should one not, it asks for nothing.
pub(crate) fn of_configuration(phase: Phase, configuration: &Object) -> Vec<Hook> {
    let listed = configuration.get("webhooks").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().enumerate();
    let read = listed.filter_map(|(index, webhook)| {
        let described: Described = serde_json::from_value(webhook.clone()).ok()?;
        let id = format!("{}/{}/{index}", configuration.name(), described.name);
        Some(Hook::new(phase, id, described))
    });
    read.collect()
}

impl Hook {
    fn new(phase: Phase, id: String, described: Described) -> Self {
        let selector = |selector: Option<Value>| {
            LabelSelector::of_object(selector.as_ref().unwrap_or(&Value::Null))
        };
        let expressions = described.match_conditions.into_iter();
        Self {
            name: described.name,
            id,
            rules: described.rules,
            equivalent: described.match_policy == "Equivalent",
            failure: match described.failure_policy.as_str() {
                "Ignore" => FailurePolicy::Ignore,
                _ => FailurePolicy::Fail,
            },
            namespaces: selector(described.namespace_selector),
            objects: selector(described.object_selector),
            conditions: expressions
                .map(|condition| Condition::new(condition.expression))
                .collect(),
            timeout: Duration::from_secs(described.timeout_seconds),
            reinvocable: phase == Phase::Mutating && described.reinvocation_policy == "IfNeeded",
            knows_dry_run: matches!(described.side_effects.as_str(), "None" | "NoneOnDryRun"),
            review: described
                .admission_review_versions
                .iter()
                .find_map(|version| ReviewVersion::of(version)),
            address: Address::of(described.client_config),
        }
    }
}

impl ReviewVersion {
    fn of(version: &str) -> Option<Self> {
        match version {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }
}

impl Address {
    fn of(config: ClientConfig) -> Self {
        let bundle = config.ca_bundle.filter(|bundle| !bundle.is_empty());
        match (config.url, config.service) {
            (url, None) => Self::Url {
                url: url.unwrap_or_default(),
                // What cannot be read believes nobody.
                authorities: bundle
                    .map(|bundle| STANDARD.decode(bundle).unwrap_or_default().into()),
            },
            (_, Some(service)) => Self::Service {
                namespace: service.namespace,
                name: service.name,
                path: service.path,
                port: service.port.unwrap_or(HTTPS),
            },
        }
    }
}

/// The port of a service that names none.
const HTTPS: u16 = 443;

impl Rule {
    /// Whether a request is shown that does `operation` to a kind, or to something below its objects.
    pub(crate) fn matches(&self, resource: &Resource, subresource: &str, operation: &str) -> bool {
        let names = &resource.names;
        self.scope_matches(resource.scope)
            && any(&self.operations, operation)
            && any(&self.api_groups, &names.group)
            && any(&self.api_versions, &resource.version)
            && self.resources.iter().any(|listed| {
                let (above, below) = listed.split_once('/').unwrap_or((listed, ""));
                (above == "*" || above == names.plural) && (below == "*" || below == subresource)
            })
    }

    fn scope_matches(&self, scope: Scope) -> bool {
        match self.scope.as_deref() {
            None | Some("*") => true,
            Some("Namespaced") => scope == Scope::Namespaced,
            Some("Cluster") => scope == Scope::Cluster,
            Some(_) => false,
        }
    }
}

fn any(listed: &[String], asked: &str) -> bool {
    listed.iter().any(|listed| listed == "*" || listed == asked)
}
