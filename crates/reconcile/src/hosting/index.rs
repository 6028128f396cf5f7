//! Who is concerned by what, found without looking at everybody.

use std::collections::{BTreeMap, BTreeSet};

use api::ZoneKey;
use dns::Name;
use dns::ownership::OwnerId;

use super::object::{ProbeNode, RecordNode};
use crate::hosted::NamesWanted;
use crate::{DnsRecordKey, ProbeKey, SecretKey};

#[derive(Debug, Default)]
pub(super) struct Index {
    /// Records by the Secrets that they name or were published with.
    secrets: BTreeMap<SecretKey, BTreeSet<DnsRecordKey>>,
    /// Records that name none, by namespace.
    defaults: BTreeMap<String, BTreeSet<DnsRecordKey>>,
    /// Records by the names that they want or were published at.
    names: BTreeMap<Name, BTreeSet<DnsRecordKey>>,
    /// How many records want something at a name.
    wanted: NamesWanted,
    owners: BTreeMap<OwnerId, BTreeSet<DnsRecordKey>>,
    /// Secrets by the Zones that they lead to.
    zones: BTreeMap<ZoneKey, BTreeSet<SecretKey>>,
    /// How many sets were published with a Secret.
    published: BTreeMap<SecretKey, usize>,
    /// Probes by the records that they belong to.
    probes: BTreeMap<DnsRecordKey, BTreeSet<ProbeKey>>,
}

impl Index {
    pub(super) fn insert(&mut self, key: &DnsRecordKey, node: &RecordNode) {
        for secret in secrets(key, node) {
            self.secrets.entry(secret).or_default().insert(key.clone());
        }
        if node.secret.is_none() {
            let defaults = self.defaults.entry(key.namespace.clone()).or_default();
            defaults.insert(key.clone());
        }
        for name in names(node) {
            self.names.entry(name).or_default().insert(key.clone());
        }
        for name in wanted(node) {
            let count = self.wanted.get(&name).copied().unwrap_or_default();
            self.wanted.insert(name, count + 1);
        }
        self.owners
            .entry(node.owner.clone())
            .or_default()
            .insert(key.clone());
        if let Some(secret) = published_with(key, node) {
            *self.published.entry(secret).or_default() += node.status.endpoints.len();
        }
    }

    pub(super) fn remove(&mut self, key: &DnsRecordKey, node: &RecordNode) {
        for secret in secrets(key, node) {
            take(&mut self.secrets, &secret, key);
        }
        take(&mut self.defaults, &key.namespace, key);
        for name in names(node) {
            take(&mut self.names, &name, key);
        }
        for name in wanted(node) {
            match self.wanted.get(&name).copied() {
                Some(count) if count > 1 => {
                    self.wanted.insert(name, count - 1);
                }
                Some(_) | None => {
                    self.wanted.remove(&name);
                }
            }
        }
        take(&mut self.owners, &node.owner, key);
        if let Some(secret) = published_with(key, node)
            && let Some(count) = self.published.get_mut(&secret)
        {
            *count = count.saturating_sub(node.status.endpoints.len());
            if *count == 0 {
                self.published.remove(&secret);
            }
        }
    }

    /// A Secret leads to another Zone, or no longer to one.
    pub(super) fn lead(
        &mut self,
        secret: &SecretKey,
        from: Option<&ZoneKey>,
        to: Option<&ZoneKey>,
    ) {
        if let Some(from) = from {
            take(&mut self.zones, from, secret);
        }
        if let Some(to) = to {
            self.zones
                .entry(to.clone())
                .or_default()
                .insert(secret.clone());
        }
    }

    /// A probe has another owner, or none any more.
    pub(super) fn probe(
        &mut self,
        probe: &ProbeKey,
        before: Option<&ProbeNode>,
        after: Option<&ProbeNode>,
    ) {
        if let Some(owner) = before.and_then(|before| before.owner.as_ref()) {
            take(&mut self.probes, owner, probe);
        }
        if let Some(owner) = after.and_then(|after| after.owner.as_ref()) {
            let own = self.probes.entry(owner.clone()).or_default();
            own.insert(probe.clone());
        }
    }

    pub(super) fn probes_of(&self, record: &DnsRecordKey) -> Option<&BTreeSet<ProbeKey>> {
        self.probes.get(record)
    }

    /// The records that a Secret concerns: also those whose default it is or was.
    pub(super) fn concerned_by(&self, secret: &SecretKey, default: bool) -> BTreeSet<DnsRecordKey> {
        let named = self.secrets.get(secret).into_iter().flatten();
        let default = default
            .then(|| self.defaults.get(&secret.namespace))
            .flatten();
        named
            .chain(default.into_iter().flatten())
            .cloned()
            .collect()
    }

    pub(super) fn leading_to(&self, zone: &ZoneKey) -> impl Iterator<Item = &SecretKey> {
        self.zones.get(zone).into_iter().flatten()
    }

    pub(super) fn at_names(&self, names: &BTreeSet<Name>) -> BTreeSet<DnsRecordKey> {
        let records = names.iter().filter_map(|name| self.names.get(name));
        records.flatten().cloned().collect()
    }

    /// The records at the names of a record, itself among them.
    pub(super) fn sharers(&self, node: &RecordNode) -> BTreeSet<DnsRecordKey> {
        self.at_names(&names(node))
    }

    pub(super) fn of_owner(&self, owner: &OwnerId) -> impl Iterator<Item = &DnsRecordKey> {
        self.owners.get(owner).into_iter().flatten()
    }

    pub(super) fn names_wanted(&self) -> NamesWanted {
        self.wanted.clone()
    }

    pub(super) fn published_with(&self, secret: Option<&SecretKey>) -> usize {
        let count = secret.and_then(|secret| self.published.get(secret));
        count.copied().unwrap_or_default()
    }
}

fn secrets(key: &DnsRecordKey, node: &RecordNode) -> BTreeSet<SecretKey> {
    let used = node
        .status
        .provider_ref
        .as_ref()
        .map(|used| used.name.clone());
    let names = node.secret.iter().cloned().chain(used);
    names
        .map(|name| SecretKey::new(&key.namespace, &name))
        .collect()
}

fn published_with(key: &DnsRecordKey, node: &RecordNode) -> Option<SecretKey> {
    let used = node.status.provider_ref.as_ref()?;
    Some(SecretKey::new(&key.namespace, &used.name))
}

fn wanted(node: &RecordNode) -> BTreeSet<Name> {
    let live = (!node.deleting).then_some(&node.wanted);
    live.into_iter()
        .flatten()
        .map(|key| key.name.clone())
        .collect()
}

fn names(node: &RecordNode) -> BTreeSet<Name> {
    let wanted = node.wanted.iter().map(|key| key.name.clone());
    let published = crate::dns_record::published(&node.status.endpoints);
    wanted
        .chain(published.into_keys().map(|key| key.name))
        .collect()
}

fn take<K: Ord, V: Ord>(map: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = map.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            map.remove(key);
        }
    }
}
