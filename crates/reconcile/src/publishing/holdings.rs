//! The ServiceRecords and Records that stand, by host, and whom they were made for.

use std::collections::{BTreeMap, BTreeSet};

use api::Decoded;
use api::service_record::Source;
use dns::Name;
use kube::Resource as _;

use super::{SourceKey, SourceKind, StandingRecord, StandingServiceRecord, names};
use crate::{ObjectKey, RecordKey};

/// What stands.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    service_records: BTreeMap<ObjectKey, StandingServiceRecord>,
    /// ServiceRecords of others, and the hosts that they stand in the way of.
    foreign: BTreeMap<ObjectKey, Option<Name>>,
    records: BTreeMap<RecordKey, StandingRecord>,
    /// Records of others that have names like ours.
    others: BTreeSet<RecordKey>,
    /// What stands for each host.
    by_host: BTreeMap<Name, BTreeSet<Thing>>,
    /// Who is named by what stands for a host.
    named: BTreeSet<(SourceKey, Name, Thing)>,
}

/// Something that stands.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Thing {
    ServiceRecord(ObjectKey),
    Record(RecordKey),
}

impl Holdings {
    /// A ServiceRecord as it is now. The hosts for which something else stands.
    pub(super) fn apply_service_record(
        &mut self,
        object: Decoded<api::ServiceRecord>,
        central: &str,
    ) -> BTreeSet<Name> {
        let key = key(object.meta());
        let before = self.take_service_record(&key);
        let after = StandingServiceRecord::read(object, central);
        let touched = match (&before, &after) {
            (Ok(before), Ok(after)) if says_the_same(before, after) => BTreeSet::new(),
            (Err(before), Err(after)) if before == after => BTreeSet::new(),
            (before, after) => hosts(before).chain(hosts(after)).collect(),
        };
        match after {
            Ok(after) => {
                let thing = Thing::ServiceRecord(key.clone());
                self.link(&thing, &after.host, after.sources.iter().cloned());
                self.service_records.insert(key, after);
            }
            Err(host) => {
                self.foreign.insert(key, host);
            }
        }
        touched
    }

    /// A ServiceRecord is gone.
    pub(super) fn delete_service_record(&mut self, key: &ObjectKey) -> BTreeSet<Name> {
        hosts(&self.take_service_record(key)).collect()
    }

    /// A Record as it is now.
    pub(super) fn apply_record(&mut self, object: Decoded<api::Record>) -> BTreeSet<Name> {
        let key = key(object.meta());
        let before = self.take_record(&key);
        let after = StandingRecord::read(object);
        let same = before.as_ref().zip(after.as_ref());
        let same = same.is_some_and(|(before, after)| same_record(before, after));
        let touched = before.iter().chain(&after).map(|it| it.host.clone());
        let touched = if same {
            BTreeSet::new()
        } else {
            touched.collect()
        };
        match after {
            Some(after) => {
                let thing = Thing::Record(key.clone());
                self.link(&thing, &after.host, after.sources());
                self.records.insert(key, after);
            }
            None if names::is_like_ours(&key.name) => {
                self.others.insert(key);
            }
            None => {}
        }
        touched
    }

    /// A Record is gone.
    pub(super) fn delete_record(&mut self, key: &RecordKey) -> BTreeSet<Name> {
        self.take_record(key)
            .map(|it| it.host)
            .into_iter()
            .collect()
    }

    /// Every host for which something stands.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &Name> {
        self.by_host.keys()
    }

    /// The ServiceRecords of ours for a host, oldest first.
    pub(super) fn service_records(&self, host: &Name) -> Vec<&StandingServiceRecord> {
        let all = self.things(host).filter_map(|thing| match thing {
            Thing::ServiceRecord(key) => self.service_records.get(key),
            Thing::Record(_) => None,
        });
        let mut all: Vec<&StandingServiceRecord> = all.collect();
        all.sort_by(|one, other| one.age.cmp(&other.age));
        all
    }

    /// The Records that were made for a host, oldest first.
    pub(super) fn records(&self, host: &Name) -> Vec<&StandingRecord> {
        let all = self.things(host).filter_map(|thing| match thing {
            Thing::Record(key) => self.records.get(key),
            Thing::ServiceRecord(_) => None,
        });
        let mut all: Vec<&StandingRecord> = all.collect();
        all.sort_by(|one, other| one.age.cmp(&other.age));
        all
    }

    /// One ServiceRecord of ours.
    pub(super) fn service_record(&self, key: &ObjectKey) -> Option<&StandingServiceRecord> {
        self.service_records.get(key)
    }

    /// One Record of ours.
    pub(super) fn record(&self, key: &RecordKey) -> Option<&StandingRecord> {
        self.records.get(key)
    }

    /// Whether there is a ServiceRecord that is not ours, or not this host's.
    pub(super) fn is_occupied(&self, key: &ObjectKey, host: &Name) -> bool {
        let ours = self.service_records.get(key);
        self.foreign.contains_key(key) || ours.is_some_and(|it| it.host != *host)
    }

    /// The Records of others in a namespace that have names as those of a host.
    pub(super) fn others(&self, namespace: &str, stem: &str) -> impl Iterator<Item = &RecordKey> {
        let from = self.others.range(ObjectKey::new(namespace, stem)..);
        let (namespace, stem) = (namespace.to_owned(), stem.to_owned());
        from.take_while(move |it| it.namespace == namespace && it.name.starts_with(&stem))
    }

    /// The namespaces whose sources the ServiceRecords of a host name: who holds it.
    pub(super) fn holders(&self, host: &Name) -> BTreeSet<String> {
        let service_records = self.service_records(host).into_iter();
        let sources = service_records.flat_map(|it| &it.sources);
        sources.map(|it| it.namespace.clone()).collect()
    }

    /// The hosts for which something stands that was made for a source.
    pub(super) fn named_by(&self, source: &SourceKey) -> BTreeSet<Name> {
        let from = self
            .named
            .range((source.clone(), Name::root(), Thing::first())..);
        let own = from.take_while(|it| it.0 == *source);
        own.map(|it| it.1.clone()).collect()
    }

    /// The hosts for which something stands that was made for sources of a kind.
    pub(super) fn named_by_kind(&self, kind: SourceKind) -> BTreeSet<Name> {
        let first = SourceKey::new(kind, "", "");
        let from = self.named.range((first, Name::root(), Thing::first())..);
        let own = from.take_while(|it| it.0.kind == kind);
        own.map(|it| it.1.clone()).collect()
    }

    /// The hosts for which something stands that does not say whom it was made for.
    pub(super) fn anonymous_hosts(&self) -> impl Iterator<Item = &Name> {
        self.hosts().filter(|host| self.is_anonymous(host))
    }

    /// Whether something stands for a host that does not say whom it was made for.
    pub(super) fn is_anonymous(&self, host: &Name) -> bool {
        let service_records = self.service_records(host);
        let records = self.records(host);
        let mut unnamed = service_records.iter().map(|it| it.sources.is_empty());
        let mut orphans = records.iter().map(|it| it.sources().next().is_none());
        if service_records.is_empty() {
            !records.is_empty() && orphans.all(|it| it)
        } else {
            unnamed.any(|it| it)
        }
    }

    fn things(&self, host: &Name) -> impl Iterator<Item = &Thing> {
        self.by_host.get(host).into_iter().flatten()
    }

    fn take_service_record(
        &mut self,
        key: &ObjectKey,
    ) -> Result<StandingServiceRecord, Option<Name>> {
        let Some(node) = self.service_records.remove(key) else {
            return Err(self.foreign.remove(key).flatten());
        };
        let thing = Thing::ServiceRecord(key.clone());
        self.unlink(&thing, &node.host, node.sources.iter().cloned());
        Ok(node)
    }

    fn take_record(&mut self, key: &RecordKey) -> Option<StandingRecord> {
        self.others.remove(key);
        let node = self.records.remove(key)?;
        self.unlink(&Thing::Record(key.clone()), &node.host, node.sources());
        Some(node)
    }

    fn link(&mut self, thing: &Thing, host: &Name, sources: impl Iterator<Item = Source>) {
        let at = self.by_host.entry(host.clone()).or_default();
        at.insert(thing.clone());
        for source in sources.filter_map(|it| SourceKey::of(&it)) {
            self.named.insert((source, host.clone(), thing.clone()));
        }
    }

    fn unlink(&mut self, thing: &Thing, host: &Name, sources: impl Iterator<Item = Source>) {
        if let Some(things) = self.by_host.get_mut(host) {
            things.remove(thing);
            if things.is_empty() {
                self.by_host.remove(host);
            }
        }
        for source in sources.filter_map(|it| SourceKey::of(&it)) {
            self.named.remove(&(source, host.clone(), thing.clone()));
        }
    }
}

impl Thing {
    /// What comes before all others.
    fn first() -> Thing {
        Thing::ServiceRecord(ObjectKey::new("", ""))
    }
}

fn key(meta: &kube::core::ObjectMeta) -> ObjectKey {
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    ObjectKey::new(namespace, meta.name.as_deref().unwrap_or_default())
}

fn hosts(node: &Result<StandingServiceRecord, Option<Name>>) -> impl Iterator<Item = Name> + use<> {
    let host = match node {
        Ok(node) => Some(node.host.clone()),
        Err(host) => host.clone(),
    };
    host.into_iter()
}

/// Whether nothing that matters differs.
fn says_the_same(one: &StandingServiceRecord, other: &StandingServiceRecord) -> bool {
    let mut one = one.clone();
    one.version
        .resource_version
        .clone_from(&other.version.resource_version);
    one == *other
}

fn same_record(one: &StandingRecord, other: &StandingRecord) -> bool {
    let mut one = one.clone();
    one.version
        .resource_version
        .clone_from(&other.version.resource_version);
    one == *other
}
