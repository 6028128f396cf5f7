//! Every DNSRecord and every Secret that a provider can be reached with, indexed: whom a change concerns.
//!
//! Objects go in as they are watched; out come the records that have to be looked at because of it, and a view of each.
//! A Secret concerns the records that name it, those it could be the default of, and those that were last published with
//! it; a zone those whose Secret leads there; a name those who want something there; a probe the record that it belongs to.

mod index;
mod kept;
mod object;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::parse::provider_secret::{Credentials, Domain, Place, ProviderKind, ProviderSecret};
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
use kept::Kept;
use object::{NamespaceNode, ProbeNode, RecordNode, SecretNode};

pub use kept::{KEPT_FOR, KEPT_MAX};

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
    /// Namespaces that bear on their records.
    namespaces: BTreeMap<String, NamespaceNode>,
    /// What Secrets said that are gone.
    kept: Kept,
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
            namespaces: BTreeMap::new(),
            kept: Kept::default(),
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

    /// Namespaces that bear on their records: everything in them is approved, or they are being deleted.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.keys().map(String::as_str)
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
        let Some(node) = self.records.remove(key) else {
            return;
        };
        self.index.remove(key, &node);
        if let Some(used) = node.used() {
            let secret = SecretKey::new(&key.namespace, used);
            if self.index.concerned_by(&secret, false).is_empty() {
                self.kept.remove(&secret);
            }
        }
    }

    /// A Secret as it is now.
    pub fn apply_secret(&mut self, key: &SecretKey, secret: &Secret) -> BTreeSet<DnsRecordKey> {
        let mut node = SecretNode::read(secret, self.policy.discovery);
        // What it says now counts, whatever one of the same name has said (P6).
        self.kept.remove(key);
        let before = self.secrets.get(key);
        node.worked = before.is_some_and(|before| before.worked && before.access == node.access);
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

    /// A Secret of a type is gone, `now` after the process began. What was published with it stays; what it said is kept
    /// for a while if it is of use (P6).
    pub fn delete_secret(
        &mut self,
        key: &SecretKey,
        type_: &str,
        now: Duration,
    ) -> BTreeSet<DnsRecordKey> {
        // One of another type may have its name already.
        let is_it = |node: &SecretNode| node.type_ == type_;
        if !self.secrets.get(key).is_some_and(is_it) {
            return BTreeSet::new();
        }
        let Some(node) = self.secrets.remove(key) else {
            return BTreeSet::new();
        };
        let zone = node.zone(&key.namespace);
        self.index.lead(key, zone.as_ref(), None);
        let concerned = self.index.concerned_by(key, node.default);
        if self.is_worth_keeping(key, &node, &concerned)
            && let Ok(access) = node.access
        {
            self.kept.keep(key.clone(), access, node.version, now);
        }
        concerned
    }

    /// Whether something is published with what a Secret said, and it was good for that. Of passes that another process
    /// made, the records tell.
    fn is_worth_keeping(
        &self,
        key: &SecretKey,
        secret: &SecretNode,
        concerned: &BTreeSet<DnsRecordKey>,
    ) -> bool {
        let needed = |access: &ProviderSecret| access.credentials != Credentials::Zone;
        let records = concerned.iter().filter_map(|key| self.records.get(key));
        let mut users = records.filter(|node| node.used() == Some(&*key.name));
        let worked = |node: &RecordNode| {
            let seen = node.status.secret_version.as_ref();
            secret.worked || seen == Some(&secret.version) && is_ready(&node.status)
        };
        secret.access.as_ref().is_ok_and(needed) && users.any(worked)
    }

    /// When the first of what Secrets said that are gone is to be forgotten.
    pub fn kept_until(&self) -> Option<Duration> {
        self.kept.until()
    }

    /// Forgets what Secrets said that have been gone for too long, and tells whom that concerns.
    pub fn expire(&mut self, now: Duration) -> BTreeSet<DnsRecordKey> {
        let expired = self.kept.expire(now);
        let concerned = expired
            .iter()
            .flat_map(|secret| self.index.concerned_by(secret, true));
        let concerned: BTreeSet<DnsRecordKey> = concerned.collect();
        for key in &concerned {
            if let Some(node) = self.records.get_mut(key) {
                // It may hold what is to be forgotten.
                node.seen = None;
            }
        }
        concerned
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
        let node = object.map(NamespaceNode::read).unwrap_or_default();
        let before = self.namespaces.remove(name).unwrap_or_default();
        let (approval, end) = (
            before.approves != node.approves,
            before.ending != node.ending,
        );
        if node != NamespaceNode::default() {
            self.namespaces.insert(name.to_owned(), node);
        }
        let all = within(&self.records, name);
        let concerned = all.filter(|(_, record)| approval || end && record.deleting);
        concerned.map(|(key, _)| key.clone()).collect()
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

    /// Remembers what a record depended on in a full pass, and whether a zone was reached with it.
    pub fn passed(&mut self, key: &DnsRecordKey, inputs: Inputs, reached: bool) {
        if let Ok(used) = &inputs.provider {
            let secret = SecretKey::new(&key.namespace, &used.secret);
            if let Some(node) = self.secrets.get_mut(&secret)
                && node.access.as_ref() == Ok(&used.access)
            {
                node.worked |= reached;
            }
        }
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
        let key = self.secret_of(key, node)?;
        let secret = self.secrets.get(&key).map(|secret| &secret.version);
        let kept = self.kept.get(&key).filter(|_| node.deleting);
        secret.or(kept.map(|kept| &kept.version)).cloned()
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
            in_cluster: node.is_in_cluster(),
            ending: self.ending(&key.namespace),
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
        let namespace = self.namespaces.get(&key.namespace);
        if namespace.is_some_and(|namespace| namespace.approves) {
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

    fn ending(&self, namespace: &str) -> Option<String> {
        self.namespaces.get(namespace)?.ending.clone()
    }

    fn secret_of(&self, key: &DnsRecordKey, node: &RecordNode) -> Option<SecretKey> {
        let name = self.secret_name(key, node).ok()?;
        Some(SecretKey::new(&key.namespace, &name))
    }

    /// The Secret that a record names, or that is the default where it lives. What is to be withdrawn is withdrawn from
    /// where it is.
    fn secret_name(&self, key: &DnsRecordKey, node: &RecordNode) -> Result<String, Trouble> {
        if let Some(name) = &node.secret {
            return Ok(name.clone());
        }
        self.default_of(&key.namespace).or_else(|trouble| {
            let used = node.used().filter(|_| node.deleting);
            used.map(str::to_owned).ok_or(trouble)
        })
    }

    /// The provider that a record is to be published at, or withdrawn from.
    fn provider(&self, key: &DnsRecordKey, node: &RecordNode) -> Result<Provider, Trouble> {
        self.provider_of_secret(key, node).or_else(|trouble| {
            let zone = node.deleting.then(|| zone_of(node)).flatten();
            zone.ok_or(trouble)
        })
    }

    /// The Secret that a record is to be published with (P1).
    fn provider_of_secret(
        &self,
        key: &DnsRecordKey,
        node: &RecordNode,
    ) -> Result<Provider, Trouble> {
        let name = self.secret_name(key, node)?;
        let provider = self.open(key, node, &name)?;
        let domain = provider.access.place.as_ref().map(|place| &place.domain);
        let host = node.claim.as_ref().ok().map(|claim| &claim.root_host);
        match domain.zip(host) {
            Some((domain, host)) if !domain.contains(host) => Err(Trouble::Outside {
                secret: provider.secret.clone(),
                domain: domain.to_string().trim_end_matches('.').to_owned(),
            }),
            Some(_) | None => Ok(provider),
        }
    }

    /// What a Secret leads to. What one that is gone said last serves those alone who are being deleted, were published
    /// with it, and have nothing but that to withdraw (P6).
    fn open(
        &self,
        record: &DnsRecordKey,
        node: &RecordNode,
        name: &str,
    ) -> Result<Provider, Trouble> {
        let key = SecretKey::new(&record.namespace, name);
        let access = if let Some(secret) = self.secrets.get(&key) {
            let access = secret.access.clone();
            access.map_err(|problems| Trouble::BadSecret(name.to_owned(), problems))?
        } else {
            let may_use = node.deleting && node.used() == Some(name);
            let kept = self.kept.get(&key).filter(|_| may_use);
            let kept = kept.ok_or_else(|| Trouble::NoSecret(name.to_owned()))?;
            kept.access.clone()
        };
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
            let former = self.open(key, node, &was.name);
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

/// The Zone of this cluster that a record was published in: nothing but its name is needed to withdraw from it (P6).
fn zone_of(node: &RecordNode) -> Option<Provider> {
    if !node.is_in_cluster() {
        return None;
    }
    let claim = node.claim.as_ref().ok()?;
    Some(Provider {
        secret: node.used()?.to_owned(),
        access: ProviderSecret {
            place: Some(Place {
                zone: node.status.zone_id.clone()?,
                domain: Domain::AtOrBelow(claim.root_host.clone()),
            }),
            credentials: Credentials::Zone,
        },
    })
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
