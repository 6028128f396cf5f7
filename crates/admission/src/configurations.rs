//! PURE. What makes the Kubernetes API ask us: webhook configurations, and a policy that needs nobody to be asked.
//!
//! Every field that the API would fill in is written out, so that what is read back is equal to what was written exactly if nobody has
//! changed it. The border: answering is not done here, and nothing is written here either.

mod locks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use api::well_known::label;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations,
    ServiceReference, ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::Resource;
use kube::api::ObjectMeta;

pub use locks::{BOOKKEEPERS, POLICY, binding, policy};

/// The name of the Secret with our certificates, and of the Service that leads to us.
pub const NAME: &str = "zonewright-webhook";
/// The name of the configuration of mutating webhooks.
pub const MUTATING: &str = "zonewright-ingresses";
/// The name of the configuration of validating webhooks.
pub const VALIDATING: &str = "zonewright";
/// What everything that we make is labelled with.
const MANAGED_BY: &str = "zonewright";
/// The port of the Service.
const PORT: i32 = 443;
/// How long the API waits for us, in seconds: we look into memory, and make one object at most.
const TIMEOUT_SECONDS: i32 = 10;

/// The paths that questions come to.
pub mod path {
    /// Ingresses, to be changed.
    pub const MUTATE_INGRESSES: &str = "/mutate/ingresses";
    /// Ingresses as they are about to be written.
    pub const VALIDATE_INGRESSES: &str = "/validate/ingresses";
    /// `DomainVerification`s and their status.
    pub const VALIDATE_DOMAIN_VERIFICATIONS: &str = "/validate/domainverifications";
    /// Every other kind of ours.
    pub const VALIDATE_OBJECTS: &str = "/validate/objects";
}

/// What is installed, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Installation {
    /// The namespace with our Service and Secret.
    pub namespace: String,
    /// The name under which the API knows us, such as `system:serviceaccount:zonewright-system:zonewright`.
    pub user: String,
    /// Where the API finds us.
    pub target: Target,
    /// Whether Ingresses are asked about: custom domains are on.
    pub ingresses: bool,
}

/// Where the API finds us.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// By a Service of the cluster.
    Service,
    /// At an address, such as `https://192.0.2.1:9443`: for an API server that is not in the cluster.
    Url(String),
    /// In the process of the API itself, without a socket and without certificates.
    InProcess,
}

impl Installation {
    /// What a certificate has to be for, so that the API believes it; nothing if it needs none.
    pub fn names(&self) -> Option<BTreeSet<String>> {
        let namespace = &self.namespace;
        match &self.target {
            Target::Service => Some(BTreeSet::from([
                NAME.to_owned(),
                format!("{NAME}.{namespace}"),
                format!("{NAME}.{namespace}.svc"),
                format!("{NAME}.{namespace}.svc.cluster.local"),
            ])),
            Target::Url(url) => Some(host(url).into_iter().collect()),
            Target::InProcess => None,
        }
    }

    fn client(&self, path: &str, bundle: Option<&str>) -> WebhookClientConfig {
        let ca_bundle = bundle.map(|bundle| ByteString(bundle.as_bytes().to_vec()));
        match &self.target {
            Target::Service | Target::InProcess => WebhookClientConfig {
                ca_bundle,
                service: Some(ServiceReference {
                    name: NAME.to_owned(),
                    namespace: self.namespace.clone(),
                    path: Some(path.to_owned()),
                    port: Some(PORT),
                }),
                url: None,
            },
            Target::Url(base) => WebhookClientConfig {
                ca_bundle,
                service: None,
                url: Some(format!("{}{path}", base.trim_end_matches('/'))),
            },
        }
    }

    /// Whoever is not us. What we write was decided by the same rules, and must not wait for us.
    fn others(&self) -> Vec<MatchCondition> {
        let expression = format!("request.userInfo.username != {}", quoted(&self.user));
        let name = "not-zonewright".to_owned();
        vec![MatchCondition { expression, name }]
    }
}

/// The mutating webhook on Ingresses. Without custom domains there is none in it.
pub fn mutating(installation: &Installation, bundle: Option<&str>) -> MutatingWebhookConfiguration {
    let ingresses = MutatingWebhook {
        admission_review_versions: vec!["v1".to_owned()],
        client_config: installation.client(path::MUTATE_INGRESSES, bundle),
        failure_policy: Some("Fail".to_owned()),
        match_conditions: None,
        match_policy: Some("Equivalent".to_owned()),
        name: "ingresses.zonewright.dev".to_owned(),
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(LabelSelector::default()),
        // Whatever another webhook adds after us is looked at as well.
        reinvocation_policy: Some("IfNeeded".to_owned()),
        rules: Some(vec![ingress_rule()]),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(TIMEOUT_SECONDS),
    };
    MutatingWebhookConfiguration {
        metadata: metadata(MUTATING),
        webhooks: Some(
            installation
                .ingresses
                .then_some(ingresses)
                .into_iter()
                .collect(),
        ),
    }
}

/// The validating webhooks.
pub fn validating(
    installation: &Installation,
    bundle: Option<&str>,
) -> ValidatingWebhookConfiguration {
    let webhook = |name: &str, path: &str, failure: &str, rules| ValidatingWebhook {
        admission_review_versions: vec!["v1".to_owned()],
        client_config: installation.client(path, bundle),
        failure_policy: Some(failure.to_owned()),
        match_conditions: None,
        match_policy: Some("Equivalent".to_owned()),
        name: format!("{name}.zonewright.dev"),
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(LabelSelector::default()),
        rules: Some(rules),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(TIMEOUT_SECONDS),
    };
    let verifications = ValidatingWebhook {
        match_conditions: Some(installation.others()),
        ..webhook(
            "domainverifications",
            path::VALIDATE_DOMAIN_VERIFICATIONS,
            "Fail",
            vec![verification_rule()],
        )
    };
    // Controllers judge the same objects by the same rules, and DNS goes on while we are down.
    let objects = ValidatingWebhook {
        match_conditions: Some(installation.others()),
        ..webhook("objects", path::VALIDATE_OBJECTS, "Ignore", own_rules())
    };
    // Another webhook may have put back what ours took out, and nobody is exempt from that.
    let ingresses = webhook(
        "ingresses",
        path::VALIDATE_INGRESSES,
        "Fail",
        vec![ingress_rule()],
    );
    let mut webhooks = vec![verifications, objects];
    webhooks.extend(installation.ingresses.then_some(ingresses));
    ValidatingWebhookConfiguration {
        metadata: metadata(VALIDATING),
        webhooks: Some(webhooks),
    }
}

fn ingress_rule() -> RuleWithOperations {
    rule(
        "networking.k8s.io",
        "v1",
        &["ingresses"],
        &["CREATE", "UPDATE"],
    )
}

fn verification_rule() -> RuleWithOperations {
    let plural = api::DomainVerification::plural(&());
    rule(
        &api::DomainVerification::group(&()),
        &api::DomainVerification::version(&()),
        &[&plural, &format!("{plural}/status")],
        &["CREATE", "UPDATE", "DELETE"],
    )
}

/// Kinds that people write, and that may be wrong in ways that no schema can say.
fn own_rules() -> Vec<RuleWithOperations> {
    fn of<K: Resource<DynamicType = ()>>() -> RuleWithOperations {
        rule(
            &K::group(&()),
            &K::version(&()),
            &[&K::plural(&())],
            &["CREATE", "UPDATE"],
        )
    }
    vec![
        of::<api::Zone>(),
        of::<api::Record>(),
        of::<api::DnsRecord>(),
        of::<api::DnsPolicy>(),
        of::<api::DnsHealthCheckProbe>(),
        of::<api::ServiceRecord>(),
    ]
}

fn rule(group: &str, version: &str, resources: &[&str], operations: &[&str]) -> RuleWithOperations {
    let owned = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
    RuleWithOperations {
        api_groups: owned(&[group]),
        api_versions: owned(&[version]),
        operations: owned(operations),
        resources: owned(resources),
        scope: Some("Namespaced".to_owned()),
    }
}

fn metadata(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some([(label::MANAGED_BY.to_owned(), MANAGED_BY.to_owned())].into()),
        ..ObjectMeta::default()
    }
}

/// The host of a URL, as a certificate has it: a name, or an address without brackets.
fn host(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    Some(host.to_ascii_lowercase())
}

/// A text as CEL has it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('\'', r"\'");
    format!("'{escaped}'")
}
