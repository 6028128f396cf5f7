//! What is to be done for a host.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::parse::service_record::Endpoint;
use api::record::RecordSpec;
use api::service_record::{ServiceRecordSpec, Source};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ObjectMeta;

use super::{Note, Proof};
use crate::ObjectKey;

/// What is to be done for a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Writes in order. Each counts on those before it: if one fails, the rest waits for the next pass.
    pub writes: Vec<Write>,
    /// What is to be done once it was seen live that sources have left. Only where there is nothing else to do.
    pub withdrawal: Option<Withdrawal>,
    /// What sources are to be told because of others.
    pub notes: Vec<Note>,
    /// Since when the host has had no address.
    pub lapsing: Option<Duration>,
    /// When to look again without anybody asking.
    pub next: Option<Duration>,
    /// What was seen on the way.
    pub(super) sights: Sights,
}

/// Writes that need a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Withdrawal {
    /// What is to be seen live before.
    pub proof: Proof,
    /// Writes in order, as those of a [`Decision`].
    pub writes: Vec<Write>,
}

/// One write. Updates and deletions are of that version and no other: what changed since is looked at again first.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A ServiceRecord comes. Its namespace may have to come first.
    CreateServiceRecord(Box<api::ServiceRecord>),
    /// A ServiceRecord changes.
    UpdateServiceRecord(Box<Update<ServiceRecordSpec>>),
    /// A ServiceRecord goes.
    DeleteServiceRecord(Version),
    /// A Record comes.
    CreateRecord(Box<api::Record>),
    /// A Record changes.
    UpdateRecord(Box<Update<RecordSpec>>),
    /// A Record goes.
    DeleteRecord(Version),
}

/// An object, and what it is to be. Everything is said in full: what is missing here is to be missing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Update<S> {
    /// Which object, in which version.
    pub version: Version,
    /// Its spec.
    pub spec: S,
    /// Its labels, those of others among them.
    pub labels: BTreeMap<String, String>,
    /// Its annotations, those of others among them.
    pub annotations: BTreeMap<String, String>,
    /// Whom it belongs to.
    pub owner_references: Vec<OwnerReference>,
}

/// One version of one object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Version {
    /// Which object.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: String,
    /// The version.
    pub resource_version: Option<String>,
}

impl Version {
    pub(super) fn of(meta: &ObjectMeta) -> Version {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        Version {
            key: ObjectKey::new(namespace, name),
            uid: meta.uid.clone().unwrap_or_default(),
            resource_version: meta.resource_version.clone(),
        }
    }
}

/// What is to be told about a host beside how its Records fare.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sights {
    /// Where its ServiceRecord is to be, if it is to be anywhere.
    pub(super) home: Option<ObjectKey>,
    /// Whom it is published for.
    pub(super) sources: Vec<Source>,
    /// Where it is reached.
    pub(super) endpoints: BTreeSet<Endpoint>,
    /// How many namespaces ask for it in vain.
    pub(super) refused: usize,
    /// Whether somebody else's object is in the way.
    pub(super) taken: bool,
    /// Why something stays that nobody asks for.
    pub(super) kept: Vec<String>,
}
