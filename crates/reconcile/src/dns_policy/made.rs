//! DNSRecords that were made from a policy, as they stand.

use std::collections::BTreeMap;

use api::dns_record::DnsRecordSpec;
use api::parse::fqdn;
use api::well_known::label;
use api::{Condition, ConditionType, Decoded, Reason, condition};
use dns::Name;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource as _;

use super::owners;
use crate::PolicyKey;
use crate::dns_record::is_ready;

/// What we write into the label that says whose such records are.
const APP: &str = "kuadrant";

/// A DNSRecord that says that it was made from a policy.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each can be so by itself, and means something else to the policy"
)]
pub struct MadeRecord {
    /// Its name; its namespace is the policy's.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The version of all of it.
    pub resource_version: Option<String>,
    /// The policy that it was made from, or that has inherited it.
    pub policy: String,
    /// The uid of that policy.
    pub policy_uid: String,
    /// Whether it carries the label of those that are ours.
    pub marked: bool,
    /// The listener that its label names.
    pub listener: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Whom it belongs to.
    pub owner_references: Vec<OwnerReference>,
    /// What it says, if it can be read.
    pub spec: Option<DnsRecordSpec>,
    /// Its host, if that can be read.
    pub host: Option<Name>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// Whether its conditions speak about its spec as it is.
    pub observed: bool,
    /// Whether anything of it may be at a provider.
    pub published: bool,
    /// Whether it is on its way out.
    pub deleting: bool,
}

/// How a record stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Progress {
    /// It is published as wanted.
    Ready,
    /// It is on its way.
    UnderWay,
    /// Something is in the way.
    Troubled,
}

impl MadeRecord {
    /// A record that belongs to a DNSPolicy; nothing for any other.
    pub fn read(object: Decoded<api::DnsRecord>) -> Option<MadeRecord> {
        let meta = object.meta().clone();
        let app = meta.labels.as_ref().and_then(|it| it.get(label::APP));
        let marked = app.is_some_and(|app| app == APP);
        let maker = owners::maker(&meta, marked)?.clone();
        let labels = meta.labels.unwrap_or_default();
        let object = object.into_result().ok();
        let status = object.as_ref().and_then(|object| object.status.clone());
        let status = status.unwrap_or_default();
        let spec = object.map(|object| object.spec);
        let host = spec.as_ref().and_then(|it| fqdn::parse(&it.root_host).ok());
        Some(MadeRecord {
            name: meta.name.unwrap_or_default(),
            uid: meta.uid.unwrap_or_default(),
            resource_version: meta.resource_version,
            policy: maker.name,
            policy_uid: maker.uid,
            marked,
            listener: labels
                .get(label::LISTENER_NAME)
                .cloned()
                .unwrap_or_default(),
            labels,
            owner_references: meta.owner_references.unwrap_or_default(),
            spec,
            host,
            published: is_ready(&status) || status.may_be_published(),
            conditions: status.conditions,
            observed: status.observed_generation == meta.generation,
            deleting: meta.deletion_timestamp.is_some(),
        })
    }

    /// The policy that it was made from.
    pub fn owner(&self, namespace: &str) -> PolicyKey {
        PolicyKey::new(namespace, &self.policy)
    }

    /// Those that get it when that policy goes.
    pub(crate) fn heirs(&self) -> impl Iterator<Item = &OwnerReference> {
        owners::heirs(&self.owner_references, &self.policy_uid)
    }

    /// Whether nothing that matters differs.
    pub fn says_the_same(&self, other: &MadeRecord) -> bool {
        let essence = |it: &MadeRecord| MadeRecord {
            resource_version: None,
            ..it.clone()
        };
        essence(self) == essence(other)
    }

    /// How it stands. What a record says about an earlier spec does not count.
    pub fn progress(&self) -> Progress {
        let ready = condition::find(&self.conditions, ConditionType::Ready);
        let Some(ready) = ready.filter(|_| self.observed) else {
            return Progress::UnderWay;
        };
        let awaiting = Reason::AwaitingValidation.as_str();
        match condition::is_bad(ready) {
            false => Progress::Ready,
            true if ready.reason == awaiting => Progress::UnderWay,
            true => Progress::Troubled,
        }
    }
}

/// The labels of everything that is made from policies: the peer's, by which its users find them.
pub(super) fn labels(listener: &str) -> BTreeMap<String, String> {
    let common = [
        (label::APP, APP),
        (label::COMPONENT, APP),
        (label::INSTANCE, APP),
        (label::NAME, APP),
        (label::PART_OF, APP),
        (label::MANAGED_BY, "kuadrant-operator"),
    ];
    let own = (
        label::LISTENER_NAME,
        api::well_known::listener_label(listener),
    );
    let common = common.map(|(key, value)| (key, value.to_owned()));
    let all = common.into_iter().chain([own]);
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}
