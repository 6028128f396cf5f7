//! Objects as they are kept: parsed once, when they arrive.

use std::collections::BTreeMap;

use api::dns_record::DnsRecordStatus;
use api::parse::dns_record;
use api::parse::provider_secret::{self, Credentials, ProviderKind, ProviderSecret};
use api::well_known::{annotation, finalizer, label};
use api::{Decoded, Problem, ZoneKey};
use dns::hosted::HostedKey;
use dns::ownership::OwnerId;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Resource as _;
use kube::core::ObjectMeta;

use super::Inputs;
use crate::dns_record::{has_failed, key_of};
use crate::probing::Standing;
use crate::world::Faults;
use crate::{DnsRecordKey, ProbeKey};

const TRUE: &str = "true";
const ALL: &str = "all";

/// A DNSRecord.
#[derive(Clone, Debug)]
pub(super) struct RecordNode {
    pub(super) uid: String,
    pub(super) generation: Option<i64>,
    pub(super) resource_version: Option<String>,
    pub(super) claim: Result<dns_record::DnsRecord, Faults>,
    pub(super) status: DnsRecordStatus,
    pub(super) deleting: bool,
    pub(super) finalizers: Vec<String>,
    pub(super) provider_label: Option<String>,
    pub(super) approve: Option<String>,
    pub(super) abandoned: bool,
    pub(super) check: Option<String>,
    /// The Secret that the spec names.
    pub(super) secret: Option<String>,
    pub(super) owner: OwnerId,
    pub(super) wanted: Vec<HostedKey>,
    /// What it depended on in its last full pass.
    pub(super) seen: Option<Inputs>,
}

impl RecordNode {
    pub(super) fn read(object: Decoded<api::DnsRecord>) -> RecordNode {
        let meta = object.meta().clone();
        let (claim, status) = match object.into_result() {
            Ok(object) => {
                let claim = dns_record::parse(&object).map_err(Faults::of_spec);
                (claim, object.status.unwrap_or_default())
            }
            Err(undecodable) => (
                Err(Faults::of_shape(undecodable.problems)),
                DnsRecordStatus::default(),
            ),
        };
        let uid = meta.uid.clone().unwrap_or_default();
        let read = claim.as_ref().ok();
        let chosen = read.and_then(|claim| claim.owner_id.clone());
        let owner = status.owner_id.clone().or(chosen);
        let endpoints = read.map(|claim| claim.endpoints.as_slice());
        let labels = meta.labels.as_ref();
        let annotated = |key: &str| annotation_of(&meta, key).map(str::to_owned);
        RecordNode {
            owner: owner.map_or_else(|| OwnerId::of_uid(&uid), OwnerId::new),
            uid,
            generation: meta.generation,
            deleting: meta.deletion_timestamp.is_some(),
            finalizers: meta.finalizers.clone().unwrap_or_default(),
            provider_label: labels
                .and_then(|all| all.get(label::PROVIDER_NAME))
                .cloned(),
            approve: annotated(annotation::APPROVE),
            abandoned: annotated(annotation::ABANDON).as_deref() == Some(TRUE),
            check: annotated(annotation::CHECK),
            secret: read.and_then(|claim| claim.provider.clone()),
            wanted: endpoints.unwrap_or_default().iter().map(key_of).collect(),
            resource_version: meta.resource_version,
            claim,
            status,
            seen: None,
        }
    }

    /// Whether a later state of the object is to be looked at. What we write ourselves is known before it is watched, so
    /// a difference here is somebody else's doing. One that has failed is looked at whatever it is that they did (C5).
    pub(super) fn asks_for_more(&self, later: &RecordNode) -> bool {
        if has_failed(&self.status) && self.resource_version != later.resource_version {
            return true;
        }
        let essence = |node: &RecordNode| {
            (
                node.uid.clone(),
                node.generation,
                (node.deleting, node.others_finalizers(), node.abandoned),
                (node.approve.clone(), node.check.clone()),
                (node.status.queued_at.clone(), node.status.valid_for.clone()),
            )
        };
        // Ours appear because we put them there.
        let let_go = self.is_kept() && !later.is_kept()
            || self.provider_label.is_some() && self.provider_label != later.provider_label;
        essence(self) != essence(later) || let_go
    }

    /// The Secret that it was last published with.
    pub(super) fn used(&self) -> Option<&str> {
        let used = self.status.provider_ref.as_ref()?;
        Some(&used.name)
    }

    /// Whether it was never published with another Secret than the one it is to be published with now.
    pub(super) fn has_one_secret(&self) -> bool {
        let named = self.secret.as_deref().zip(self.used());
        named.is_none_or(|(named, used)| named == used)
    }

    /// Whether all that it has published is Records of this cluster, which it owns: its label says so before anything is
    /// written. Whoever sets the label by hand only leaves something behind, as with an annotation.
    pub(super) fn is_in_cluster(&self) -> bool {
        self.has_one_secret() && self.provider_label.as_deref() == Some(ProviderKind::Zone.name())
    }

    fn is_kept(&self) -> bool {
        self.finalizers.iter().any(|it| it == finalizer::DNS_RECORD)
    }

    fn others_finalizers(&self) -> Vec<String> {
        let all = self.finalizers.iter();
        all.filter(|it| *it != finalizer::DNS_RECORD)
            .cloned()
            .collect()
    }
}

/// A DNSHealthCheckProbe.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProbeNode {
    /// The DNSRecord that it belongs to.
    pub(super) owner: Option<DnsRecordKey>,
    pub(super) standing: Standing,
}

impl ProbeNode {
    pub(super) fn read(key: &ProbeKey, object: Decoded<api::DnsHealthCheckProbe>) -> ProbeNode {
        let meta = object.meta().clone();
        let owner = meta.owner_references.iter().flatten().find(|owner| {
            owner.controller == Some(true) && owner.kind == api::DnsRecord::kind(&())
        });
        // One that cannot be read asks for nothing, and tells nothing.
        let (spec, status) = match object.into_result() {
            Ok(object) => (object.spec, object.status.unwrap_or_default()),
            Err(_) => Default::default(),
        };
        ProbeNode {
            owner: owner.map(|owner| DnsRecordKey::new(&key.namespace, &owner.name)),
            standing: Standing {
                owner: owner.map(|owner| owner.uid.clone()),
                uid: meta.uid.unwrap_or_default(),
                resource_version: meta.resource_version,
                spec,
                healthy: status.healthy,
                deleting: meta.deletion_timestamp.is_some(),
            },
        }
    }

    /// Whether it says anything about its target.
    pub(super) fn tells_anything(&self) -> bool {
        self.standing.healthy.is_some()
    }

    /// Whether a later state of it says the same. How often its target has failed is nobody's business but its own.
    pub(super) fn tells_as(&self, later: &ProbeNode) -> bool {
        let version = later.standing.resource_version.clone();
        let mut now = self.clone();
        now.standing.resource_version = version;
        now == *later
    }
}

/// A Secret of a provider.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct SecretNode {
    pub(super) type_: String,
    pub(super) access: Result<ProviderSecret, Vec<Problem>>,
    /// Whether it is for records that name none.
    pub(super) default: bool,
    /// Its uid and resourceVersion.
    pub(super) version: String,
    /// Whether a zone was reached with what it says.
    pub(super) worked: bool,
}

impl SecretNode {
    pub(super) fn read(secret: &Secret, discovery: bool) -> SecretNode {
        let labels = secret.metadata.labels.as_ref();
        let default = labels.and_then(|all| all.get(label::DEFAULT_PROVIDER));
        SecretNode {
            type_: secret.type_.clone().unwrap_or_default(),
            access: provider_secret::parse(secret, discovery),
            default: default.is_some_and(|value| value == TRUE),
            version: format!(
                "{}/{}",
                secret.metadata.uid.as_deref().unwrap_or_default(),
                secret
                    .metadata
                    .resource_version
                    .as_deref()
                    .unwrap_or_default()
            ),
            worked: false,
        }
    }

    /// Whether it says the same as another version of it.
    pub(super) fn says_as(&self, other: &SecretNode) -> bool {
        (&self.type_, &self.access, self.default) == (&other.type_, &other.access, other.default)
    }

    /// The Zone of this cluster that it leads to.
    pub(super) fn zone(&self, namespace: &str) -> Option<ZoneKey> {
        let access = self.access.as_ref().ok()?;
        let Credentials::Zone = access.credentials else {
            return None;
        };
        let zone = &access.place.as_ref()?.zone;
        let (namespace, name) = zone.split_once('/').unwrap_or((namespace, zone));
        Some(ZoneKey::new(namespace, name))
    }
}

/// What of a Namespace bears on records.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct NamespaceNode {
    /// Whether everything in it is approved (P10).
    pub(super) approves: bool,
    /// Its uid, if it is being deleted (P6).
    pub(super) ending: Option<String>,
}

impl NamespaceNode {
    pub(super) fn read(namespace: &Namespace) -> NamespaceNode {
        let meta = &namespace.metadata;
        let uid = meta.uid.clone().unwrap_or_default();
        NamespaceNode {
            approves: annotation_of(meta, annotation::APPROVE) == Some(ALL),
            ending: meta.deletion_timestamp.is_some().then_some(uid),
        }
    }
}

fn annotation_of<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let annotations: Option<&BTreeMap<String, String>> = meta.annotations.as_ref();
    annotations?.get(key).map(String::as_str)
}
