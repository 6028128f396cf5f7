//! Every DNSRecord and every Secret that a provider can be reached with, indexed: whom a change concerns.
//!
//! Objects go in as they are watched; out come the records that have to be looked at because of it, and a view of each.
//! A Secret concerns the records that name it, those it could be the default of, and those that were last published with
//! it; a zone those whose Secret leads there; a name those who want something there; a probe the record that it belongs to.

mod index;
mod object;

use std::collections::{BTreeMap, BTreeSet};

use api::parse::provider_secret::{Place, ProviderKind};
use api::parse::target::Target;
use api::{Decoded, ZoneKey};
use dns::Name;
use dns::hosted::HostedKey;
use k8s_openapi::api::core::v1::{Namespace, Secret};

use crate::dns_record::{DnsRecordView, Provider, Trouble, Wake, is_ready};
use crate::hosted::{Approval, NamesWanted};
use crate::probing::{self, Checked, Health, Patient, Probing};
use crate::{DnsRecordKey, ObjectKey, ProbeKey, SecretKey};

use index::Index;
use object::{ProbeNode, RecordNode, SecretNode};

/// What the operator has chosen.
#[derive(Clone, Debug)]
pub struct HostingPolicy {
    /// The providers that may be used.
    pub enabled: BTreeSet<ProviderKind>,
    /// Whether zones are found by asking, where a Secret names none.
    pub discovery: bool,
    /// How targets are probed.
    pub probing: Probing,
}

/// Every DNSRecord and provider Secret.
#[derive(Debug)]
pub struct Hosting {
    policy: HostingPolicy,
    records: BTreeMap<DnsRecordKey, RecordNode>,
    secrets: BTreeMap<SecretKey, SecretNode>,
    probes: BTreeMap<ProbeKey, ProbeNode>,
    /// Namespaces in which everything is approved.
    approved: BTreeSet<String>,
    index: Index,
}

/// What a record depends on beside its own spec and status.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inputs {
    provider: Result<Provider, Trouble>,
    approval: Approval,
    abandoned: bool,
    check: Option<String>,
    /// What is known of its targets.
    health: BTreeMap<Target, Health>,
}

/// How a record stands, in numbers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stand {
    /// Its host; empty if its spec cannot be read.
    pub root_host: String,
    /// How often it was written in a row without having become as wanted.
    pub writes: i64,
    /// Whether it is ready.
    pub ready: bool,
}

impl Hosting {
    /// Without objects.
    pub fn new(policy: HostingPolicy) -> Hosting {
        Hosting {
            policy,
            records: BTreeMap::new(),
            secrets: BTreeMap::new(),
            probes: BTreeMap::new(),
            approved: BTreeSet::new(),
            index: Index::default(),
        }
    }

    /// Every record.
    pub fn keys(&self) -> impl Iterator<Item = &DnsRecordKey> {
        self.records.keys()
    }

    /// Every Secret of a type.
    pub fn secrets<'a>(&'a self, type_: &'a str) -> impl Iterator<Item = &'a SecretKey> {
        let of_type = self.secrets.iter().filter(move |(_, it)| it.type_ == type_);
        of_type.map(|(key, _)| key)
    }

    /// Every probe.
    pub fn probes(&self) -> impl Iterator<Item = &ProbeKey> {
        self.probes.keys()
    }

    /// Namespaces in which everything is approved.
    pub fn approved(&self) -> impl Iterator<Item = &str> {
        self.approved.iter().map(String::as_str)
    }

    /// How a record stands.
    pub fn stand(&self, key: &DnsRecordKey) -> Option<Stand> {
        let node = self.records.get(key)?;
        let host = node.claim.as_ref().map(|claim| claim.root_host.to_string());
        let host = host.unwrap_or_default();
        Some(Stand {
            root_host: host.trim_end_matches('.').to_owned(),
            writes: node.status.write_counter.unwrap_or_default(),
            ready: is_ready(&node.status),
        })
    }

    /// The other records that want something at the names of a record, or have something there.
    pub fn sharers(&self, key: &DnsRecordKey) -> BTreeSet<DnsRecordKey> {
        let node = self.records.get(key);
        let mut sharers = node.map_or_else(BTreeSet::new, |node| self.index.sharers(node));
        sharers.remove(key);
        sharers
    }

    /// The version of a record that is known.
    pub fn resource_version(&self, key: &DnsRecordKey) -> Option<&str> {
        self.records.get(key)?.resource_version.as_deref()
    }

    /// A DNSRecord as it is now. Tells whom that concerns: nobody, if only we could have done it.
    pub fn apply_record(
        &mut self,
        key: &DnsRecordKey,
        object: Decoded<api::DnsRecord>,
    ) -> BTreeSet<DnsRecordKey> {
        let mut node = RecordNode::read(object);
        let mut touched = BTreeSet::new();
        match self.records.get(key) {
            Some(before) => {
                node.seen.clone_from(&before.seen);
                if before.asks_for_more(&node) {
                    touched.insert(key.clone());
                }
                self.index.remove(key, before);
            }
            None => {
                touched.insert(key.clone());
            }
        }
        self.index.insert(key, &node);
        self.records.insert(key.clone(), node);
        touched
    }

    /// A DNSRecord as we have written it: nothing follows.
    pub fn written(&mut self, key: &DnsRecordKey, object: Decoded<api::DnsRecord>) {
        self.apply_record(key, object);
    }

    /// A DNSRecord is gone.
    pub fn delete_record(&mut self, key: &DnsRecordKey) {
        if let Some(node) = self.records.remove(key) {
            self.index.remove(key, &node);
        }
    }

    /// A Secret as it is now.
    pub fn apply_secret(&mut self, key: &SecretKey, secret: &Secret) -> BTreeSet<DnsRecordKey> {
        let node = SecretNode::read(secret, self.policy.discovery);
        let before = self.secrets.get(key);
        let zone = node.zone(&key.namespace);
        let touched = if before.is_some_and(|before| before.says_as(&node)) {
            BTreeSet::new()
        } else {
            let default = node.default || before.is_some_and(|before| before.default);
            self.index.concerned_by(key, default)
        };
        let before = before.and_then(|before| before.zone(&key.namespace));
        self.index.lead(key, before.as_ref(), zone.as_ref());
        self.secrets.insert(key.clone(), node);
        touched
    }

    /// A Secret is gone. What was published with it stays.
    pub fn delete_secret(&mut self, key: &SecretKey) -> BTreeSet<DnsRecordKey> {
        let Some(node) = self.secrets.remove(key) else {
            return BTreeSet::new();
        };
        let zone = node.zone(&key.namespace);
        self.index.lead(key, zone.as_ref(), None);
        self.index.concerned_by(key, node.default)
    }

    /// A DNSHealthCheckProbe as it is now. Tells whom that concerns: nobody, as long as it says the same about its target.
    pub fn apply_probe(
        &mut self,
        key: &ProbeKey,
        object: Decoded<api::DnsHealthCheckProbe>,
    ) -> BTreeSet<DnsRecordKey> {
        let node = ProbeNode::read(key, object);
        let before = self.probes.insert(key.clone(), node.clone());
        let newly = before.is_none() && !node.tells_anything();
        if newly || before.as_ref().is_some_and(|before| before.tells_as(&node)) {
            self.index.probe(key, before.as_ref(), Some(&node));
            return BTreeSet::new();
        }
        self.probe_changed(key, before.as_ref(), Some(&node))
    }

    /// A DNSHealthCheckProbe is gone.
    pub fn delete_probe(&mut self, key: &ProbeKey) -> BTreeSet<DnsRecordKey> {
        let before = self.probes.remove(key);
        self.probe_changed(key, before.as_ref(), None)
    }

    fn probe_changed(
        &mut self,
        key: &ProbeKey,
        before: Option<&ProbeNode>,
        after: Option<&ProbeNode>,
    ) -> BTreeSet<DnsRecordKey> {
        self.index.probe(key, before, after);
        let owners = before.into_iter().chain(after);
        let owners: BTreeSet<DnsRecordKey> = owners.filter_map(|node| node.owner.clone()).collect();
        let concerned = |owner: &DnsRecordKey| {
            let view = self.view(owner);
            self.wake(owner).inputs || view.is_some_and(|view| view.health_is_news())
        };
        owners.into_iter().filter(concerned).collect()
    }

    /// A Namespace as it is now.
    pub fn apply_namespace(
        &mut self,
        name: &str,
        object: Option<&Namespace>,
    ) -> BTreeSet<DnsRecordKey> {
        let approved = object.is_some_and(object::approves_all);
        let changed = if approved {
            self.approved.insert(name.to_owned())
        } else {
            self.approved.remove(name)
        };
        if changed {
            let all = within(&self.records, name);
            all.map(|(key, _)| key.clone()).collect()
        } else {
            BTreeSet::new()
        }
    }

    /// Something about a Zone of this cluster has changed.
    pub fn zone_changed(&self, zone: &ZoneKey) -> BTreeSet<DnsRecordKey> {
        let leading = self.index.leading_to(zone);
        let concerned = leading.flat_map(|secret| {
            let node = self.secrets.get(secret);
            let default = node.is_some_and(|node| node.default);
            self.index.concerned_by(secret, default)
        });
        concerned.collect()
    }

    /// Something at these names has changed at a provider.
    pub fn names_changed(&self, names: &BTreeSet<Name>) -> BTreeSet<DnsRecordKey> {
        self.index.at_names(names)
    }

    /// Remembers what a record depended on in a full pass.
    pub fn passed(&mut self, key: &DnsRecordKey, inputs: Inputs) {
        if let Some(node) = self.records.get_mut(key) {
            node.seen = Some(inputs);
        }
    }

    /// What a record depends on now.
    pub fn inputs(&self, key: &DnsRecordKey) -> Option<Inputs> {
        let node = self.records.get(key)?;
        Some(Inputs {
            provider: self.provider(key, node),
            approval: self.approval(key, node),
            abandoned: node.abandoned,
            check: node.check.clone(),
            health: self.checked(key, node).health,
        })
    }

    /// Whether what a record depends on is another than at its last full pass. Of a pass that was another process's it is
    /// known which version of the Secret it had.
    pub fn wake(&self, key: &DnsRecordKey) -> Wake {
        let changed = |node: &RecordNode| match (&node.seen, &node.status.secret_version) {
            (Some(seen), _) => Some(seen) != self.inputs(key).as_ref(),
            (None, Some(version)) => self.secret_version(key, node).as_ref() != Some(version),
            (None, None) => false,
        };
        Wake {
            inputs: self.records.get(key).is_some_and(changed),
            ..Wake::default()
        }
    }

    fn secret_version(&self, key: &DnsRecordKey, node: &RecordNode) -> Option<String> {
        let secret = self.secrets.get(&self.secret_of(key, node)?)?;
        Some(secret.version.clone())
    }

    /// Everything that bears on a record.
    pub fn view(&self, key: &DnsRecordKey) -> Option<DnsRecordView> {
        let node = self.records.get(key)?;
        let provider = self.provider(key, node);
        Some(DnsRecordView {
            key: key.clone(),
            uid: node.uid.clone(),
            generation: node.generation,
            resource_version: node.resource_version.clone(),
            claim: node.claim.clone(),
            status: node.status.clone(),
            deleting: node.deleting,
            finalizers: node.finalizers.clone(),
            provider_label: node.provider_label.clone(),
            former: self.former(key, node, &provider),
            provider,
            secret_version: self.secret_version(key, node),
            abandoned: node.abandoned,
            approval: self.approval(key, node),
            spared: self.spared(key, node),
            names_wanted: self.names_wanted(),
            owned_total: self
                .index
                .published_with(self.secret_of(key, node).as_ref()),
            checked: self.checked(key, node),
        })
    }

    /// What the health of its targets comes to. A record that cannot be read keeps its probes, as it keeps what it published.
    fn checked(&self, key: &DnsRecordKey, node: &RecordNode) -> Checked {
        let Ok(claim) = &node.claim else {
            return Checked::default();
        };
        let own = self.index.probes_of(key);
        let possible = claim.health_check.is_some() || own.is_some();
        if !possible {
            return Checked::default();
        }
        let named = probing::names(&key.name, claim);
        let keys = named
            .iter()
            .map(|name| ProbeKey::new(&key.namespace, name))
            .chain(own.into_iter().flatten().cloned());
        let probes = keys.filter_map(|key| {
            let node = self.probes.get(&key)?;
            Some((key.name, node.standing.clone()))
        });
        let patient = Patient {
            name: &key.name,
            uid: &node.uid,
            claim,
            status: &node.status,
            deleting: node.deleting,
            probes: &probes.collect(),
        };
        probing::check(patient, self.policy.probing)
    }

    /// The names that any record wants.
    pub fn names_wanted(&self) -> NamesWanted {
        self.index.names_wanted()
    }

    fn approval(&self, key: &DnsRecordKey, node: &RecordNode) -> Approval {
        if self.approved.contains(&key.namespace) {
            return Approval::All;
        }
        node.approve.clone().map_or(Approval::None, Approval::Of)
    }

    /// What other records with the same owner want.
    fn spared(&self, key: &DnsRecordKey, node: &RecordNode) -> BTreeSet<HostedKey> {
        let others = self
            .index
            .of_owner(&node.owner)
            .filter(|other| *other != key);
        let others = others.filter_map(|other| self.records.get(other));
        let live = others.filter(|other| !other.deleting);
        live.flat_map(|other| other.wanted.iter().cloned())
            .collect()
    }

    fn secret_of(&self, key: &DnsRecordKey, node: &RecordNode) -> Option<SecretKey> {
        let named = node.secret.clone();
        let name = named.or_else(|| self.default_of(&key.namespace).ok())?;
        Some(SecretKey::new(&key.namespace, &name))
    }

    /// The Secret that a record is to be published with (P1).
    fn provider(&self, key: &DnsRecordKey, node: &RecordNode) -> Result<Provider, Trouble> {
        let name = match &node.secret {
            Some(name) => name.clone(),
            None => self.default_of(&key.namespace)?,
        };
        let provider = self.open(&key.namespace, &name)?;
        let domain = provider.access.place.as_ref().map(|place| &place.domain);
        let host = node.claim.as_ref().ok().map(|claim| &claim.root_host);
        match domain.zip(host) {
            Some((domain, host)) if !domain.contains(host) => Err(Trouble::Outside {
                secret: name,
                domain: domain.to_string().trim_end_matches('.').to_owned(),
            }),
            Some(_) | None => Ok(provider),
        }
    }

    fn open(&self, namespace: &str, name: &str) -> Result<Provider, Trouble> {
        let secret = self.secrets.get(&SecretKey::new(namespace, name));
        let secret = secret.ok_or_else(|| Trouble::NoSecret(name.to_owned()))?;
        let access = secret.access.clone();
        let access = access.map_err(|problems| Trouble::BadSecret(name.to_owned(), problems))?;
        let kind = access.credentials.kind();
        if !self.policy.enabled.contains(&kind) {
            return Err(Trouble::NotEnabled(name.to_owned(), kind.name()));
        }
        Ok(Provider {
            secret: name.to_owned(),
            access,
        })
    }

    fn default_of(&self, namespace: &str) -> Result<String, Trouble> {
        let defaults = within(&self.secrets, namespace).filter(|(_, secret)| secret.default);
        let mut names: Vec<String> = defaults.map(|(key, _)| key.name.clone()).collect();
        match names.len() {
            0 => Err(Trouble::NoDefault),
            1 => Ok(names.remove(0)),
            _ => Err(Trouble::SeveralDefaults(names)),
        }
    }

    /// Where a record was published before, if it is to be somewhere else now (P9).
    fn former(
        &self,
        key: &DnsRecordKey,
        node: &RecordNode,
        now: &Result<Provider, Trouble>,
    ) -> Option<Result<Provider, Trouble>> {
        let now = now.as_ref().ok()?;
        let was = node.status.provider_ref.as_ref()?;
        let zone = node.status.zone_id.as_ref()?;
        if was.name != now.secret {
            let former = self.open(&key.namespace, &was.name);
            // What is out of reach and not to be waited for is left where it is.
            let abandoned = former.is_err() && node.abandoned;
            return (!abandoned).then(|| former.map(|former| at_zone(former, zone)));
        }
        let place = now.access.place.as_ref()?;
        (place.zone != *zone).then(|| Ok(at_zone(now.clone(), zone)))
    }
}

/// The objects of a namespace.
fn within<'a, V>(
    objects: &'a BTreeMap<ObjectKey, V>,
    namespace: &'a str,
) -> impl Iterator<Item = (&'a ObjectKey, &'a V)> {
    let from = ObjectKey::new(namespace, "");
    objects
        .range(from..)
        .take_while(move |(key, _)| key.namespace == namespace)
}

/// The same credentials for another zone.
fn at_zone(provider: Provider, zone: &str) -> Provider {
    let Provider { secret, mut access } = provider;
    access.place = access.place.map(|place| Place {
        zone: zone.to_owned(),
        ..place
    });
    Provider { secret, access }
}

#[cfg(test)]
mod tests;
