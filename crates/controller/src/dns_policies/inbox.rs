//! From watched objects to the index of Gateways: what is new, what is gone, and what is known already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use api::Decoded;
use api::foreign::Gateway;
use api::parse::provider_secret::ProviderKind;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::Resource as _;
use kube::api::{ApiResource, DynamicObject};
use reconcile::gateways::Concerned;
use reconcile::{Gateways, ObjectKey, PolicyKey};

use super::Key;
use super::pass::Written;
use crate::feed::{
    CLUSTER_NAMESPACE, Event, Fed, Happened, Source, Told, built_in, is_newer, key_of,
};

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Watched {
    DnsPolicy,
    Gateway,
    /// All of them: a name that somebody else has is not to be had.
    DnsRecord,
    /// Secrets of one type.
    Secret(&'static str),
    /// The one that stands for the cluster.
    Namespace,
}

impl Watched {
    /// What to watch, in some namespaces or everywhere.
    pub(super) fn sources(namespaces: &[String]) -> Vec<Source<Watched>> {
        let secrets = ProviderKind::ALL.map(|kind| Watched::Secret(kind.secret_type()));
        let kinds = [
            Watched::DnsPolicy,
            Watched::Gateway,
            Watched::DnsRecord,
            Watched::Namespace,
        ];
        let source = |kind: Watched| Source {
            kind,
            resource: kind.resource(),
            namespaces: kind.narrowed(namespaces),
            fields: kind.fields(),
            labels: None,
        };
        kinds.into_iter().chain(secrets).map(source).collect()
    }

    /// The kind, as in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Watched::DnsPolicy => "DNSPolicy",
            Watched::Gateway => "Gateway",
            Watched::DnsRecord => "DNSRecord",
            Watched::Secret(_) => "Secret",
            Watched::Namespace => "Namespace",
        }
    }

    fn resource(self) -> ApiResource {
        match self {
            Watched::DnsPolicy => ApiResource::erase::<api::DnsPolicy>(&()),
            Watched::Gateway => ApiResource::erase::<Gateway>(&()),
            Watched::DnsRecord => ApiResource::erase::<api::DnsRecord>(&()),
            Watched::Secret(_) => ApiResource::erase::<Secret>(&()),
            Watched::Namespace => ApiResource::erase::<Namespace>(&()),
        }
    }

    /// Namespaces are in no namespace.
    fn narrowed(self, namespaces: &[String]) -> Vec<String> {
        match self {
            Watched::DnsPolicy | Watched::Gateway | Watched::DnsRecord | Watched::Secret(_) => {
                namespaces.to_vec()
            }
            Watched::Namespace => Vec::new(),
        }
    }

    fn fields(self) -> Option<String> {
        match self {
            Watched::Secret(type_) => Some(format!("type={type_}")),
            Watched::Namespace => Some(format!("metadata.name={CLUSTER_NAMESPACE}")),
            Watched::DnsPolicy | Watched::Gateway | Watched::DnsRecord => None,
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watched::Secret(type_) => write!(f, "Secret of type {type_} for DNSPolicy"),
            Watched::DnsRecord | Watched::Namespace => write!(f, "{} for DNSPolicy", self.name()),
            Watched::DnsPolicy | Watched::Gateway => f.write_str(self.name()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Inbox {
    told: Told<Watched>,
    /// What a pass is under way over, and what was last watched of it since it began. It waits until the pass has told
    /// what it wrote: what we have done ourselves is known before it is watched.
    passing: BTreeMap<Key, Option<Box<DynamicObject>>>,
    /// Policies that have gone since somebody asked.
    gone: BTreeSet<PolicyKey>,
}

impl Inbox {
    pub(super) fn new(sources: &[Source<Watched>]) -> Inbox {
        Inbox {
            told: Told::new(sources),
            passing: BTreeMap::new(),
            gone: BTreeSet::new(),
        }
    }

    /// Whether every watch has told everything once.
    pub(super) fn is_synced(&self) -> bool {
        self.told.is_synced()
    }

    /// The policies that have gone since this was last asked.
    pub(super) fn take_gone(&mut self) -> BTreeSet<PolicyKey> {
        std::mem::take(&mut self.gone)
    }

    /// Takes in what a watch tells.
    pub(super) fn take_in(&mut self, fed: Fed<Watched>, gateways: &mut Gateways) -> Concerned {
        let kind = fed.kind;
        let installed = self.presence(&fed);
        let mut concerned = Concerned::default();
        for happened in self.told.take_in(fed, |kind| known(*kind, gateways)) {
            concerned.extend(match happened {
                Happened::Applied { key, object, anew } => {
                    self.applied(kind, &key, object, anew, gateways)
                }
                Happened::Gone(key) => self.delete(kind, &key, gateways),
            });
        }
        if let Some(installed) = installed {
            concerned.extend(gateways.set_installed(installed));
        }
        concerned
    }

    /// Whether the cluster has Gateways, if that is what a watch tells. A cluster that has none is not waited for.
    fn presence(&mut self, fed: &Fed<Watched>) -> Option<bool> {
        match (&fed.event, fed.kind) {
            (Event::Absent, Watched::Gateway) => {
                self.told.waive(&(fed.kind, fed.namespace.clone()));
                Some(false)
            }
            (Event::Synced, Watched::Gateway) => Some(true),
            _ => None,
        }
    }

    fn applied(
        &mut self,
        kind: Watched,
        key: &ObjectKey,
        object: Box<DynamicObject>,
        anew: bool,
        gateways: &mut Gateways,
    ) -> Concerned {
        let passing = passed_over(kind, key).and_then(|it| self.passing.get_mut(&it));
        match passing {
            Some(later) => {
                *later = Some(object);
                Concerned::default()
            }
            None => apply(kind, key, *object, anew, gateways),
        }
    }

    /// A pass begins.
    pub(super) fn begin(&mut self, key: &Key) {
        self.passing.insert(key.clone(), None);
    }

    /// A pass has ended: takes in what it has written, from which nothing follows for itself, and then what was watched
    /// meanwhile.
    pub(super) fn end(
        &mut self,
        over: &Key,
        written: Written,
        gateways: &mut Gateways,
    ) -> Concerned {
        let mut concerned = Concerned::default();
        for record in written.records {
            let key = key_of(record.meta());
            let told = record.meta().resource_version.clone();
            if is_newer(gateways.record_version(&key), told.as_deref()) {
                concerned.extend(gateways.apply_record(&key, record));
            }
        }
        match over {
            Key::Policy(key) => {
                let known = gateways.policy_version(key);
                // What is gone meanwhile does not come back.
                let newer = written.policy.filter(|it| {
                    known.is_some() && is_newer(known, it.meta().resource_version.as_deref())
                });
                if let Some(policy) = newer {
                    concerned.extend(gateways.apply_policy(key, policy));
                }
                concerned.policies.remove(key);
            }
            Key::Gateway(key) => {
                let known = gateways.gateway_version(key);
                let newer = written.gateway.filter(|it| {
                    known.is_some() && is_newer(known, it.meta().resource_version.as_deref())
                });
                if let Some(gateway) = newer {
                    concerned.extend(gateways.apply_gateway(key, &gateway));
                }
                concerned.gateways.remove(key);
            }
        }
        if let Some(later) = self.passing.remove(over).flatten() {
            let (kind, key) = match over {
                Key::Policy(key) => (Watched::DnsPolicy, key),
                Key::Gateway(key) => (Watched::Gateway, key),
            };
            concerned.extend(apply(kind, key, *later, false, gateways));
        }
        concerned
    }

    fn delete(&mut self, kind: Watched, key: &ObjectKey, gateways: &mut Gateways) -> Concerned {
        let passing = passed_over(kind, key).and_then(|it| self.passing.get_mut(&it));
        if let Some(later) = passing {
            *later = None;
        }
        match kind {
            Watched::DnsPolicy => {
                self.gone.insert(key.clone());
                gateways.delete_policy(key)
            }
            Watched::Gateway => gateways.delete_gateway(key),
            Watched::DnsRecord => gateways.delete_record(key),
            Watched::Secret(_) => {
                gateways.delete_secret(key);
                Concerned::default()
            }
            // A cluster stays the one it is.
            Watched::Namespace => Concerned::default(),
        }
    }
}

/// What passes are made over.
fn passed_over(kind: Watched, key: &ObjectKey) -> Option<Key> {
    match kind {
        Watched::DnsPolicy => Some(Key::Policy(key.clone())),
        Watched::Gateway => Some(Key::Gateway(key.clone())),
        Watched::DnsRecord | Watched::Secret(_) | Watched::Namespace => None,
    }
}

fn apply(
    kind: Watched,
    key: &ObjectKey,
    object: DynamicObject,
    anew: bool,
    gateways: &mut Gateways,
) -> Concerned {
    let told = object.metadata.resource_version.clone();
    let news = |known: Option<&str>| anew || known.is_none() || is_newer(known, told.as_deref());
    match kind {
        Watched::DnsPolicy if news(gateways.policy_version(key)) => {
            gateways.apply_policy(key, Decoded::of_parts(object.metadata, object.data))
        }
        Watched::Gateway if news(gateways.gateway_version(key)) => {
            gateways.apply_gateway(key, &Decoded::of_parts(object.metadata, object.data))
        }
        Watched::DnsRecord if news(gateways.record_version(key)) => {
            gateways.apply_record(key, Decoded::of_parts(object.metadata, object.data))
        }
        Watched::DnsPolicy | Watched::Gateway | Watched::DnsRecord => Concerned::default(),
        Watched::Secret(_) => built_in(object).map_or_else(Concerned::default, |secret| {
            gateways.apply_secret(key, &secret)
        }),
        Watched::Namespace => {
            let uid = object.metadata.uid.unwrap_or_default();
            gateways.set_cluster(&uid)
        }
    }
}

/// The objects of a kind that are known.
fn known(kind: Watched, gateways: &Gateways) -> Vec<ObjectKey> {
    match kind {
        Watched::DnsPolicy => gateways.policies().cloned().collect(),
        Watched::Gateway => gateways.gateways().cloned().collect(),
        Watched::DnsRecord => gateways.records().cloned().collect(),
        Watched::Secret(type_) => gateways.secrets(type_).cloned().collect(),
        Watched::Namespace => Vec::new(),
    }
}
