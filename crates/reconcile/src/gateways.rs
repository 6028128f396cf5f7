//! Every Gateway, the DNSPolicies on it and the DNSRecords made from them, indexed: whom a change concerns.
//!
//! Objects go in as they are watched; out come the policies and Gateways that have to be looked at because of it, and a
//! view of each. A policy concerns those with the same target, and the policy of the whole Gateway if it is for one
//! listener; a Gateway those on the listeners that changed, or all if its addresses did; a Secret those that name it,
//! unless it went (D2); a DNSRecord the policy it was made from.

mod heirs;
mod object;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::foreign::Gateway;
use api::parse::provider_secret::{self, Domain};
use api::well_known::listener_label;
use api::{Condition, Decoded};
use k8s_openapi::api::core::v1::Secret;

use crate::dns_policy::{
    DnsPolicyView, GatewayView, ListenerView, MadeRecord, Refusal, TargetRef, endpoints, names,
};
use crate::gateway::AffectedView;
use crate::{DnsRecordKey, GatewayKey, PolicyKey, SecretKey};
use object::{GatewayNode, ListenerNode, PolicyNode};

/// Every Gateway, DNSPolicy, and what bears on them.
#[derive(Debug, Default)]
pub struct Gateways {
    policies: BTreeMap<PolicyKey, PolicyNode>,
    nodes: BTreeMap<GatewayKey, GatewayNode>,
    /// The types of provider Secrets, and their domains, if they say.
    domains: BTreeMap<SecretKey, (String, Option<Domain>)>,
    /// DNSRecords that say that they were made from a policy.
    records: BTreeMap<DnsRecordKey, MadeRecord>,
    /// The names of all others.
    others: BTreeSet<DnsRecordKey>,
    /// Policies by what they are for: those of a Gateway lie side by side.
    targets: BTreeMap<TargetRef, BTreeSet<PolicyKey>>,
    /// Policies by the Secrets that they name.
    secrets: BTreeMap<SecretKey, BTreeSet<PolicyKey>>,
    /// DNSRecords by the policy that they were made from.
    made: BTreeMap<PolicyKey, BTreeSet<DnsRecordKey>>,
    /// DNSRecords by the policies that get them when the one they were made from goes.
    promised: BTreeMap<PolicyKey, BTreeSet<DnsRecordKey>>,
    /// Since when records have had no source, by policy.
    lapsing: BTreeMap<PolicyKey, BTreeMap<String, Duration>>,
    /// Records that have not been looked at since they were made or changed.
    waiting: BTreeSet<DnsRecordKey>,
    /// Whether the cluster has the kind Gateway.
    installed: bool,
    /// What stands for the cluster.
    cluster: String,
}

/// Whom a change concerns.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Concerned {
    /// The policies to look at.
    pub policies: BTreeSet<PolicyKey>,
    /// The Gateways to look at.
    pub gateways: BTreeSet<GatewayKey>,
}

impl Gateways {
    /// Every policy.
    pub fn policies(&self) -> impl Iterator<Item = &PolicyKey> {
        self.policies.keys()
    }

    /// Every Gateway.
    pub fn gateways(&self) -> impl Iterator<Item = &GatewayKey> {
        self.nodes.keys()
    }

    /// Every Secret of a type.
    pub fn secrets<'a>(&'a self, type_: &'a str) -> impl Iterator<Item = &'a SecretKey> {
        let secrets = self.domains.iter();
        let of_type = secrets.filter(move |(_, (it, _))| it == type_);
        of_type.map(|(key, _)| key)
    }

    /// Every DNSRecord, whoever made it.
    pub fn records(&self) -> impl Iterator<Item = &DnsRecordKey> {
        self.records.keys().chain(&self.others)
    }

    /// The version of a policy that is known.
    pub fn policy_version(&self, key: &PolicyKey) -> Option<&str> {
        self.policies.get(key)?.resource_version.as_deref()
    }

    /// The version of a Gateway that is known.
    pub fn gateway_version(&self, key: &GatewayKey) -> Option<&str> {
        self.nodes.get(key)?.resource_version.as_deref()
    }

    /// The version of a DNSRecord that is known.
    pub fn record_version(&self, key: &DnsRecordKey) -> Option<&str> {
        self.records.get(key)?.resource_version.as_deref()
    }

    /// What a policy says about itself.
    pub fn conditions(&self, key: &PolicyKey) -> Option<&[Condition]> {
        let node = self.policies.get(key)?;
        Some(&node.status.conditions)
    }

    /// Whether there are records that nobody has looked at since they were made or changed.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A DNSPolicy as it is now.
    pub fn apply_policy(&mut self, key: &PolicyKey, object: Decoded<api::DnsPolicy>) -> Concerned {
        let node = PolicyNode::read(object);
        let mut concerned = Concerned::default();
        let before = self.policies.remove(key);
        if before.as_ref().is_none_or(|it| it.asks_for_more(&node)) {
            concerned.policies.insert(key.clone());
        }
        let others = before.as_ref().is_none_or(|it| it.concerns_others(&node));
        if let Some(before) = &before {
            self.unlink(key, before);
            self.note_rivals(before.target.as_ref().filter(|_| others), &mut concerned);
        }
        self.note_rivals(node.target.as_ref().filter(|_| others), &mut concerned);
        if others {
            self.note_promised(key, &mut concerned);
        }
        self.link(key, &node);
        self.policies.insert(key.clone(), node);
        concerned
    }

    /// A DNSPolicy is gone. What was made from it goes with it, by its owner references, unless it was promised to another.
    pub fn delete_policy(&mut self, key: &PolicyKey) -> Concerned {
        let mut concerned = Concerned::default();
        if let Some(node) = self.policies.remove(key) {
            self.unlink(key, &node);
            self.lapsing.remove(key);
            self.note_rivals(node.target.as_ref(), &mut concerned);
            self.note_promised(key, &mut concerned);
        }
        concerned
    }

    /// A Gateway as it is now. One that cannot be read says nothing new.
    pub fn apply_gateway(&mut self, key: &GatewayKey, object: &Decoded<Gateway>) -> Concerned {
        let Decoded::Object(gateway) = object else {
            return Concerned::default();
        };
        let node = GatewayNode::read(gateway);
        let concerned = match self.nodes.get(key) {
            None => self.everyone_on(key),
            Some(before) => self.concerned_by(key, before, &node),
        };
        self.nodes.insert(key.clone(), node);
        concerned
    }

    /// A Gateway is gone.
    pub fn delete_gateway(&mut self, key: &GatewayKey) -> Concerned {
        match self.nodes.remove(key) {
            Some(_) => self.everyone_on(key),
            None => Concerned::default(),
        }
    }

    /// Whether the cluster has the kind Gateway.
    pub fn set_installed(&mut self, installed: bool) -> Concerned {
        let before = std::mem::replace(&mut self.installed, installed);
        self.everyone_if(before != installed)
    }

    /// What stands for the cluster: the uid of its namespace kube-system.
    pub fn set_cluster(&mut self, uid: &str) -> Concerned {
        let before = std::mem::replace(&mut self.cluster, uid.to_owned());
        self.everyone_if(before != self.cluster)
    }

    /// A provider's Secret as it is now.
    pub fn apply_secret(&mut self, key: &SecretKey, secret: &Secret) -> Concerned {
        let type_ = secret.type_.clone().unwrap_or_default();
        let node = (type_, provider_secret::domain(secret));
        let before = self.domains.insert(key.clone(), node.clone());
        let mut concerned = Concerned::default();
        if before != Some(node) {
            let named = self.secrets.get(key).into_iter().flatten();
            concerned.policies.extend(named.cloned());
        }
        concerned
    }

    /// A provider's Secret is gone. Nobody is concerned: the DNSRecords say what that means (D2).
    pub fn delete_secret(&mut self, key: &SecretKey) {
        self.domains.remove(key);
    }

    /// A DNSRecord as it is now.
    pub fn apply_record(
        &mut self,
        key: &DnsRecordKey,
        object: Decoded<api::DnsRecord>,
    ) -> Concerned {
        let record = MadeRecord::read(object);
        let before = self.records.remove(key);
        self.others.remove(key);
        let mut concerned = Concerned::default();
        let same = before.as_ref().zip(record.as_ref());
        if same.is_none_or(|(before, after)| !before.says_the_same(after)) {
            for record in before.iter().chain(&record) {
                self.note_users(key, record, &mut concerned);
            }
        }
        let owner = |it: &MadeRecord| (it.owner(&key.namespace), it.deleting);
        if before.as_ref().map(owner) != record.as_ref().map(owner) {
            self.note_wider(key, before.iter().chain(&record), &mut concerned);
        }
        self.unmake(key, before.as_ref());
        match record {
            Some(record) => {
                if !record.observed && !record.deleting {
                    self.waiting.insert(key.clone());
                }
                let made = self.made.entry(record.owner(&key.namespace)).or_default();
                made.insert(key.clone());
                self.promise(key, &record);
                self.records.insert(key.clone(), record);
            }
            None => {
                self.others.insert(key.clone());
            }
        }
        concerned
    }

    /// A DNSRecord is gone.
    pub fn delete_record(&mut self, key: &DnsRecordKey) -> Concerned {
        let mut concerned = Concerned::default();
        self.others.remove(key);
        let record = self.records.remove(key);
        if let Some(record) = &record {
            self.note_users(key, record, &mut concerned);
            self.note_wider(key, [record], &mut concerned);
        }
        self.unmake(key, record.as_ref());
        concerned
    }

    /// Remembers since when records of a policy have had no source.
    pub fn passed(&mut self, key: &PolicyKey, lapsing: BTreeMap<String, Duration>) {
        if lapsing.is_empty() {
            self.lapsing.remove(key);
        } else {
            self.lapsing.insert(key.clone(), lapsing);
        }
    }

    /// Everything that bears on a policy.
    pub fn view(&self, key: &PolicyKey) -> Option<DnsPolicyView> {
        let node = self.policies.get(key)?;
        let standing = self.standing(key, node);
        let gateway = node.target.as_ref().and_then(|target| {
            let gateway = self.nodes.get(&target.gateway)?;
            let listeners = match standing {
                Ok(()) => self.listeners(key, node, target, gateway),
                Err(_) => Vec::new(),
            };
            Some(GatewayView {
                addresses: gateway.addresses.clone(),
                odd: gateway.odd.clone(),
                listeners,
            })
        });
        let domain = |name: &String| {
            let secret = SecretKey::new(&key.namespace, name);
            Some((name.clone(), self.domains.get(&secret)?.1.clone()?))
        };
        let borrowed = gateway.iter().flat_map(|it| self.borrowed(key, node, it));
        Some(DnsPolicyView {
            key: key.clone(),
            uid: node.age.uid().to_owned(),
            generation: node.generation,
            resource_version: node.resource_version.clone(),
            deleting: node.deleting,
            status: node.status.clone(),
            claim: node.claim.clone(),
            target: node.target.clone(),
            health_check: node.health_check.clone(),
            standing,
            domains: node.providers.iter().filter_map(domain).collect(),
            own: self.own(key, node).cloned().collect(),
            borrowed: borrowed.collect(),
            passed_on: self.passed_on(key, node),
            heir: self.heir(key, node),
            lapsing: self.lapsing.get(key).cloned().unwrap_or_default(),
            code: self.code(node.target.as_ref()),
            gateway,
        })
    }

    /// Everything that bears on what we say about a Gateway.
    pub fn affected(&self, key: &GatewayKey) -> Option<AffectedView> {
        let node = self.nodes.get(key)?;
        let accepted = self.on(key).filter(|policy| self.is_accepted(policy));
        Some(AffectedView {
            generation: node.generation,
            resource_version: node.resource_version.clone(),
            conditions: node.conditions.clone(),
            by: accepted.cloned().collect(),
        })
    }

    fn code(&self, target: Option<&TargetRef>) -> String {
        let gateway = target.map(|target| &target.gateway);
        gateway.map_or_else(String::new, |it| {
            endpoints::code(&self.cluster, &it.name, &it.namespace)
        })
    }

    fn link(&mut self, key: &PolicyKey, node: &PolicyNode) {
        if let Some(target) = &node.target {
            let at = self.targets.entry(target.clone()).or_default();
            at.insert(key.clone());
        }
        for name in &node.providers {
            let secret = SecretKey::new(&key.namespace, name);
            self.secrets.entry(secret).or_default().insert(key.clone());
        }
    }

    fn unlink(&mut self, key: &PolicyKey, node: &PolicyNode) {
        if let Some(target) = &node.target {
            take(&mut self.targets, target, key);
        }
        for name in &node.providers {
            take(
                &mut self.secrets,
                &SecretKey::new(&key.namespace, name),
                key,
            );
        }
    }

    fn unmake(&mut self, key: &DnsRecordKey, before: Option<&MadeRecord>) {
        if let Some(before) = before {
            take(&mut self.made, &before.owner(&key.namespace), key);
            self.take_back(key, before);
            self.waiting.remove(key);
        }
    }

    /// Those who are judged by what a policy with this target is, and the Gateway that says who affects it.
    fn note_rivals(&self, target: Option<&TargetRef>, concerned: &mut Concerned) {
        let Some(target) = target else {
            return;
        };
        if target.listener.is_some() {
            let whole = target.whole();
            let rivals = self.at(target).chain(self.at(&whole));
            concerned.policies.extend(rivals.cloned());
        } else {
            concerned.policies.extend(self.on(&target.gateway).cloned());
        }
        if self.nodes.contains_key(&target.gateway) {
            concerned.gateways.insert(target.gateway.clone());
        }
    }

    /// The policy that a record was made from, and others whom its listener belongs to now: usually nobody.
    fn note_users(&self, key: &DnsRecordKey, record: &MadeRecord, concerned: &mut Concerned) {
        self.note_heirs(key, record, concerned);
        let owner = record.owner(&key.namespace);
        let Some(node) = self.policies.get(&owner) else {
            return;
        };
        concerned.policies.insert(owner);
        if let Some(target) = &node.target {
            let own = target.listener.as_deref().map(listener_label);
            let listener = TargetRef {
                listener: Some(record.listener.clone()),
                ..target.clone()
            };
            let wider = (own.as_ref() != Some(&record.listener)).then(|| target.whole());
            let users = [&listener]
                .into_iter()
                .chain(&wider)
                .flat_map(|it| self.at(it));
            concerned.policies.extend(users.cloned());
        }
    }

    /// The policies of whole Gateways, some of whose listeners are kept from them by records of others.
    fn note_wider<'a>(
        &self,
        key: &DnsRecordKey,
        records: impl IntoIterator<Item = &'a MadeRecord>,
        concerned: &mut Concerned,
    ) {
        for record in records {
            let owner = self.policies.get(&record.owner(&key.namespace));
            let target = owner.and_then(|owner| owner.target.as_ref());
            if let Some(target) = target.filter(|target| target.listener.is_some()) {
                concerned.policies.extend(self.at(&target.whole()).cloned());
            }
        }
    }

    /// Who has to look because a Gateway is another than before.
    fn concerned_by(
        &self,
        key: &GatewayKey,
        before: &GatewayNode,
        after: &GatewayNode,
    ) -> Concerned {
        if before.reach() != after.reach() {
            return self.everyone_on(key);
        }
        let mut concerned = Concerned::default();
        let names = before.listeners.keys().chain(after.listeners.keys());
        let names: BTreeSet<&String> = names.collect();
        for name in names {
            let (was, is) = (before.listeners.get(name), after.listeners.get(name));
            if was != is {
                let target = TargetRef {
                    gateway: key.clone(),
                    listener: Some(name.clone()),
                };
                self.note_rivals(Some(&target), &mut concerned);
            }
        }
        if before.affected() != after.affected() {
            concerned.gateways.insert(key.clone());
        }
        concerned
    }

    fn everyone_on(&self, key: &GatewayKey) -> Concerned {
        Concerned {
            policies: self.on(key).cloned().collect(),
            gateways: [key.clone()].into(),
        }
    }

    fn everyone_if(&self, holds: bool) -> Concerned {
        if !holds {
            return Concerned::default();
        }
        Concerned {
            policies: self.policies.keys().cloned().collect(),
            gateways: self.nodes.keys().cloned().collect(),
        }
    }

    /// The policies with exactly this target.
    fn at(&self, target: &TargetRef) -> impl Iterator<Item = &PolicyKey> {
        self.targets.get(target).into_iter().flatten()
    }

    /// The policies on a Gateway and on its listeners.
    fn on<'a>(&'a self, gateway: &'a GatewayKey) -> impl Iterator<Item = &'a PolicyKey> {
        let from = TargetRef {
            gateway: gateway.clone(),
            listener: None,
        };
        let targets = self.targets.range(from..);
        let own = targets.take_while(|(target, _)| target.gateway == *gateway);
        own.flat_map(|(_, policies)| policies)
    }

    fn is_accepted(&self, key: &PolicyKey) -> bool {
        let node = self.policies.get(key);
        node.is_some_and(|node| !node.deleting && self.standing(key, node).is_ok())
    }

    /// Whether a policy may do what it says (D1, D8).
    fn standing(&self, key: &PolicyKey, node: &PolicyNode) -> Result<(), Refusal> {
        let Some(target) = &node.target else {
            let faults = node.claim.as_ref().err().cloned();
            return Err(faults.map_or(Refusal::NotInstalled, Refusal::Faulty));
        };
        if !self.installed {
            return Err(Refusal::NotInstalled);
        }
        let Some(gateway) = self.nodes.get(&target.gateway) else {
            return Err(Refusal::NoGateway);
        };
        if let Some(listener) = &target.listener
            && !gateway.listeners.contains_key(listener)
        {
            let listeners = gateway.listeners.keys().cloned().collect();
            return Err(Refusal::NoListener(listeners));
        }
        if let Some(older) = self.older(key, node, target) {
            return Err(Refusal::Conflicted(older));
        }
        match &node.claim {
            Err(faults) => Err(Refusal::Faulty(faults.clone())),
            Ok(claim) if claim.delegate => Err(Refusal::Delegated),
            Ok(_) => Ok(()),
        }
    }

    /// The oldest of those with the same target, if it is another one (D8).
    fn older(&self, key: &PolicyKey, node: &PolicyNode, target: &TargetRef) -> Option<PolicyKey> {
        let rivals = self.at(target).filter(|other| *other != key);
        let rivals = rivals.filter_map(|other| Some((self.policies.get(other)?, other)));
        let older = rivals.filter(|(other, _)| !other.deleting && other.age < node.age);
        let oldest = older.min_by(|(one, _), (other, _)| one.age.cmp(&other.age));
        oldest.map(|(_, key)| key.clone())
    }

    /// The listeners that a policy is for: its own, or all that no other has.
    fn listeners(
        &self,
        key: &PolicyKey,
        node: &PolicyNode,
        target: &TargetRef,
        gateway: &GatewayNode,
    ) -> Vec<ListenerView> {
        let mut listeners = Vec::new();
        let mut named = BTreeSet::new();
        for (name, listener) in self.candidates(target, gateway) {
            let names = node.providers.iter().map(|provider| {
                let free = |name: &str| !named.contains(name) && self.is_free(key, name);
                let host = listener.host.as_ref().ok().and_then(Option::as_ref);
                let seed = format!(
                    "{}/{provider}/{}",
                    node.age.uid(),
                    host.map_or_else(String::new, ToString::to_string)
                );
                let name = names::free(&target.gateway.name, name, &seed, free);
                named.insert(name.clone());
                (provider.clone(), name)
            });
            let names = names.collect();
            listeners.push(ListenerView {
                name: name.clone(),
                host: listener.host.clone(),
                attached: listener.attached,
                names,
            });
        }
        listeners
    }

    fn candidates<'a>(
        &'a self,
        target: &'a TargetRef,
        gateway: &'a GatewayNode,
    ) -> Vec<(&'a String, &'a ListenerNode)> {
        if let Some(name) = &target.listener {
            return gateway.listeners.get_key_value(name).into_iter().collect();
        }
        let all = gateway.listeners.iter();
        all.filter(|(name, _)| !self.is_taken(&target.gateway, name))
            .collect()
    }

    /// Whether a listener has a policy of its own that may do what it says, or one that has published something there
    /// and must not lose it because something is wrong with it now.
    fn is_taken(&self, gateway: &GatewayKey, listener: &str) -> bool {
        let target = TargetRef {
            gateway: gateway.clone(),
            listener: Some(listener.to_owned()),
        };
        let label = listener_label(listener);
        let mut own = self.at(&target);
        own.any(|key| {
            let node = self.policies.get(key).filter(|node| !node.deleting);
            node.is_some_and(|node| {
                let mut made = self.marked(key, node);
                self.standing(key, node).is_ok() || made.any(|it| it.listener == label)
            })
        })
    }

    fn is_free(&self, policy: &PolicyKey, name: &str) -> bool {
        let key = DnsRecordKey::new(&policy.namespace, name);
        !self.others.contains(&key) && !self.records.contains_key(&key)
    }

    /// The records that were made from a policy, carry the label that says so, and are not on their way out.
    fn marked<'a>(
        &'a self,
        key: &'a PolicyKey,
        node: &'a PolicyNode,
    ) -> impl Iterator<Item = &'a MadeRecord> {
        self.own(key, node).filter(|record| record.marked)
    }

    /// The records that name a policy as their controller, and are not on their way out.
    fn own<'a>(
        &'a self,
        key: &'a PolicyKey,
        node: &'a PolicyNode,
    ) -> impl Iterator<Item = &'a MadeRecord> {
        let keys = self.made.get(key).into_iter().flatten();
        let records = keys.filter_map(|key| self.records.get(key));
        let own = records.filter(|record| record.policy_uid == node.age.uid());
        own.filter(|record| !record.deleting)
    }

    /// Own records for listeners that another policy has now.
    fn passed_on(&self, key: &PolicyKey, node: &PolicyNode) -> BTreeSet<String> {
        let own = self.marked(key, node);
        let passed_on = own.filter(|record| {
            let target = node.target.as_ref();
            target.is_some_and(|target| self.is_passed_on(target, record))
        });
        passed_on.map(|record| record.name.clone()).collect()
    }

    fn is_passed_on(&self, target: &TargetRef, record: &MadeRecord) -> bool {
        let gateway = &target.gateway;
        let listeners = self.nodes.get(gateway).map(|it| &it.listeners);
        let mut listeners = listeners.into_iter().flatten();
        let listener = listeners.find(|(name, listener)| {
            let host = listener.host.as_ref().ok().and_then(Option::as_ref);
            listener_label(name) == record.listener && host == record.host.as_ref()
        });
        let Some((name, _)) = listener else {
            return false;
        };
        let made = names::is_made_for(&record.name, &gateway.name, &record.listener);
        let by_whole = target.listener.as_ref().is_some_and(|own| own != name)
            && self.at(&target.whole()).any(|it| self.is_accepted(it));
        let by_another = target.listener.as_ref() != Some(name) && self.is_taken(gateway, name);
        made && (by_whole || by_another)
    }

    /// Records of other policies, there or gone, for listeners that are this one's now.
    fn borrowed(
        &self,
        key: &PolicyKey,
        node: &PolicyNode,
        gateway: &GatewayView,
    ) -> Vec<MadeRecord> {
        let Some(target) = &node.target else {
            return Vec::new();
        };
        let others: BTreeSet<&PolicyKey> = match &target.listener {
            Some(_) => self.at(target).chain(self.at(&target.whole())).collect(),
            None => self.on(&target.gateway).collect(),
        };
        let labels: BTreeSet<String> = gateway
            .listeners
            .iter()
            .map(|it| listener_label(&it.name))
            .collect();
        let others = others.into_iter().filter(|other| *other != key);
        let others = others.filter_map(|other| Some((other, self.policies.get(other)?)));
        // What belongs to one that is on its way out goes with it, unless it was promised.
        let others = others.filter(|(_, node)| !node.deleting);
        let records = others.flat_map(|(other, node)| self.marked(other, node));
        let records = records.chain(self.inherited(key, node));
        let fitting = records.filter(|record| {
            labels.contains(&record.listener)
                && names::is_made_for(&record.name, &target.gateway.name, &record.listener)
        });
        fitting.cloned().collect()
    }
}

impl Concerned {
    /// Adds those whom something else concerns.
    pub fn extend(&mut self, more: Concerned) {
        self.policies.extend(more.policies);
        self.gateways.extend(more.gateways);
    }
}

fn take<K: Ord, V: Ord>(map: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = map.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
