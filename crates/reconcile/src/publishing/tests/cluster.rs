//! A cluster: sources, what is made for them, an index of both, and everything that is due done at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::condition::find;
use api::{ConditionType, Decoded};
use dns::Name;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::{DynamicObject, ObjectMeta};
use serde_json::{Value, json};

use crate::ObjectKey;
use crate::domains::{Keyring, Proofs};
use crate::publishing::{
    Hosts, Note, Placement, Policy, Proof, Publishing, Seen, SourceKey, SourceKind, Version, Write,
    conclude, decide,
};

pub(super) const GRACE: Duration = Duration::from_mins(5);

/// When the first object was created.
const START: i64 = 1_800_000_000;

pub(super) struct Cluster {
    pub(super) policy: Policy,
    pub(super) index: Publishing,
    pub(super) sources: BTreeMap<SourceKey, Value>,
    pub(super) service_records: BTreeMap<ObjectKey, api::ServiceRecord>,
    pub(super) records: BTreeMap<ObjectKey, api::Record>,
    /// DomainVerifications of namespaces whose uid is their name.
    verifications: BTreeMap<ObjectKey, api::DomainVerification>,
    /// Objects of others, as they were made: nobody may write them.
    pub(super) foreign: BTreeSet<ObjectKey>,
    /// Kinds that can neither be watched nor fetched.
    pub(super) unreadable: BTreeSet<SourceKind>,
    /// Whether zones take every Record at once.
    pub(super) serves: bool,
    /// How many writes are left until we are killed.
    pub(super) writes_left: Option<usize>,
    pub(super) due: Hosts,
    alarms: BTreeMap<Name, Duration>,
    now: Duration,
    version: u64,
    notes: BTreeMap<Name, Vec<Note>>,
    endpoint_service: Option<Value>,
    nodes: BTreeMap<String, Value>,
    /// Every write, in order.
    pub(super) order: Vec<String>,
    /// Every object that was got or listed for a proof.
    pub(super) lookups: Vec<String>,
}

pub(super) fn host(text: &str) -> Name {
    api::parse::fqdn::parse(text).unwrap()
}

/// The installation's.
fn key() -> Keyring {
    Keyring::new(&[1; Keyring::BYTES]).unwrap()
}

pub(super) fn proxy(namespace: &str, name: &str) -> SourceKey {
    SourceKey::new(SourceKind::HttpProxy, namespace, name)
}

impl Cluster {
    pub(super) fn new() -> Cluster {
        Cluster::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Policy)) -> Cluster {
        let mut policy = Policy {
            namespace: "central".to_owned(),
            placement: Placement::Central,
            endpoint_service: Some(ObjectKey::new("projectcontour", "envoy")),
            node_endpoints: false,
        };
        change(&mut policy);
        let mut cluster = Cluster {
            index: Publishing::new(policy.clone(), None),
            policy,
            sources: BTreeMap::new(),
            service_records: BTreeMap::new(),
            records: BTreeMap::new(),
            verifications: BTreeMap::new(),
            foreign: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            serves: true,
            writes_left: None,
            due: Hosts::new(),
            alarms: BTreeMap::new(),
            now: Duration::from_hours(1),
            version: 0,
            notes: BTreeMap::new(),
            endpoint_service: None,
            nodes: BTreeMap::new(),
            order: Vec::new(),
            lookups: Vec::new(),
        };
        cluster.restart();
        cluster
    }

    /// Forgets everything but the objects, and hears of them again.
    pub(super) fn restart(&mut self) {
        self.index = self.nothing();
        self.alarms.clear();
        self.notes.clear();
        for (kind, object) in self.readable_sources() {
            self.index.apply_object(kind, object);
        }
        for object in self.service_records.values() {
            self.index
                .apply_service_record(Decoded::Object(object.clone()));
        }
        for object in self.records.values() {
            self.index.apply_record(Decoded::Object(object.clone()));
        }
        self.tell_proofs();
        self.tell_fallback();
        for kind in SourceKind::ALL {
            let readable = !self.unreadable.contains(&kind);
            self.index.set_readable(kind, readable);
        }
        self.index.set_fallback_readable(true);
        self.due = self.index.hosts();
    }

    /// An index of nothing.
    pub(super) fn nothing(&self) -> Publishing {
        Publishing::new(self.policy.clone(), Some(Proofs::new(key())))
    }

    pub(super) fn tell_proofs(&mut self) {
        for (key, object) in &self.verifications {
            let object = Some(Decoded::Object(object.clone()));
            self.index.apply_verification(key, object);
            let namespace = &key.namespace;
            self.index.apply_namespace(namespace, Some(namespace));
        }
    }

    fn readable_sources(&self) -> Vec<(SourceKind, DynamicObject)> {
        let all = self.sources.iter();
        let readable = all.filter(|it| !self.unreadable.contains(&it.0.kind));
        readable
            .map(|(key, object)| (key.kind, serde_json::from_value(object.clone()).unwrap()))
            .collect()
    }

    pub(super) fn set_readable(&mut self, kind: SourceKind, readable: bool) {
        if readable {
            self.unreadable.remove(&kind);
            for (key, object) in self.sources.clone() {
                if key.kind == kind {
                    self.show(&key, &object);
                }
            }
        } else {
            self.unreadable.insert(kind);
        }
        let due = self.index.set_readable(kind, readable);
        self.due.extend(due);
    }

    /// A namespace has proven a domain, as another's proof or its own has it.
    pub(super) fn prove(&mut self, namespace: &str, domain: &str, proof_of: &str) {
        let object = json!({
            "metadata": { "name": domain, "namespace": namespace },
            "spec": { "domain": domain },
            "status": { "proof": key().proof(proof_of, &host(domain)) },
        });
        let object: api::DomainVerification = serde_json::from_value(object).unwrap();
        let key = ObjectKey::new(namespace, domain);
        self.verifications.insert(key.clone(), object.clone());
        let due = self
            .index
            .apply_verification(&key, Some(Decoded::Object(object)));
        self.due.extend(due);
        let due = self.index.apply_namespace(namespace, Some(namespace));
        self.due.extend(due);
    }

    /// Whether a namespace has proven a host, by what the objects say.
    pub(super) fn has_proven(&self, namespace: &str, of: &str) -> bool {
        let mut verifications = self.verifications.iter();
        verifications.any(|(at, object)| {
            let domain = host(&object.spec.domain);
            let proof = object.status.as_ref().and_then(|it| it.proof.clone());
            at.namespace == namespace
                && host(of).is_at_or_below(&domain)
                && proof == Some(key().proof(namespace, &domain))
        })
    }

    pub(super) fn forget_proof(&mut self, namespace: &str, domain: &str) {
        let key = ObjectKey::new(namespace, domain);
        self.verifications.remove(&key);
        let due = self.index.apply_verification(&key, None);
        self.due.extend(due);
    }

    /// A source as it is now; a new one unless it is there. `more` is merged over it.
    pub(super) fn source(&mut self, key: &SourceKey, more: &Value) {
        let before = self.sources.get(key).map(|it| it["metadata"].clone());
        self.version += 1;
        let mut object = json!({ "metadata": {
            "name": key.key.name, "namespace": key.key.namespace,
            "uid": format!("uid-{}", self.version), "creationTimestamp": self.date(),
            "labels": { "connectivity.tanzu.vmware.com/export": "" },
        }});
        if let Some(before) = before {
            object["metadata"]["uid"] = before["uid"].clone();
            object["metadata"]["creationTimestamp"] = before["creationTimestamp"].clone();
        }
        merge(&mut object, more);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.sources.insert(key.clone(), object.clone());
        self.show(key, &object);
    }

    fn show(&mut self, key: &SourceKey, object: &Value) {
        if self.unreadable.contains(&key.kind) {
            return;
        }
        let object = serde_json::from_value(object.clone()).unwrap();
        let (due, _) = self.index.apply_object(key.kind, object);
        self.due.extend(due);
    }

    /// An HTTPProxy with a host, reached at these addresses.
    pub(super) fn proxy(&mut self, namespace: &str, name: &str, host: &str, addresses: &[&str]) {
        let object = proxy_object(host, addresses);
        self.source(&proxy(namespace, name), &object);
    }

    pub(super) fn delete_source(&mut self, key: &SourceKey) {
        self.sources.remove(key);
        if !self.unreadable.contains(&key.kind) {
            let due = self.index.delete_source(key);
            self.due.extend(due);
        }
    }

    /// Takes the label off.
    pub(super) fn unlabel(&mut self, key: &SourceKey) {
        self.sources.get_mut(key).unwrap()["metadata"]["labels"] = json!({});
        // As a watch by label has it.
        let due = self.index.delete_source(key);
        self.due.extend(due);
    }

    /// Objects whose owners are all gone go, as Kubernetes has it.
    pub(super) fn collect_garbage(&mut self) {
        let uids = self
            .sources
            .values()
            .map(|it| it["metadata"]["uid"].clone());
        let uids: BTreeSet<String> = uids.map(|it| it.as_str().unwrap().to_owned()).collect();
        let orphaned = |owners: Option<&Vec<OwnerReference>>| {
            let owners = owners.filter(|it| !it.is_empty());
            owners.is_some_and(|it| it.iter().all(|owner| !uids.contains(&owner.uid)))
        };
        let records = self.records.clone();
        for (key, record) in records {
            if orphaned(record.metadata.owner_references.as_ref()) {
                self.delete_record(&key);
            }
        }
        for (key, record) in self.service_records.clone() {
            if orphaned(record.metadata.owner_references.as_ref()) {
                self.delete_service_record(&key);
            }
        }
    }

    pub(super) fn endpoint_service(&mut self, addresses: &[&str]) {
        self.endpoint_service = Some(json!({
            "metadata": { "name": "envoy", "namespace": "projectcontour" },
            "spec": { "type": "LoadBalancer", "ports": [{ "port": 8443 }] },
            "status": { "loadBalancer": { "ingress": ingress(addresses) } },
        }));
        self.tell_fallback();
    }

    pub(super) fn node(&mut self, name: &str, address: &str, ready: bool) {
        let ready = if ready { "True" } else { "False" };
        let node = json!({
            "metadata": { "name": name },
            "status": {
                "conditions": [{ "type": "Ready", "status": ready }],
                "addresses": [{ "type": "InternalIP", "address": address }],
            },
        });
        self.nodes.insert(name.to_owned(), node);
        self.tell_fallback();
    }

    pub(super) fn tell_fallback(&mut self) {
        let service = self.endpoint_service.clone();
        let service = service.map(|it| serde_json::from_value(it).unwrap());
        let mut due = self.index.set_endpoint_service(service.as_ref());
        for node in self.nodes.values() {
            let node = serde_json::from_value(node.clone()).unwrap();
            due.extend(self.index.apply_node(&node));
        }
        self.due.extend(due);
    }

    /// A ServiceRecord made by somebody else.
    pub(super) fn foreign(&mut self, namespace: &str, name: &str, metadata: &Value) {
        let mut object = json!({
            "apiVersion": "connectivity.tanzu.vmware.com/v1alpha1", "kind": "ServiceRecord",
            "metadata": { "name": name, "namespace": namespace },
            "spec": { "fqdn": name, "endpoints": [{ "address": "203.0.113.9", "port": 443 }] },
        });
        merge(&mut object["metadata"], metadata);
        let object: api::ServiceRecord = serde_json::from_value(object).unwrap();
        self.put_service_record(object);
        self.foreign.insert(ObjectKey::new(namespace, name));
    }

    pub(super) fn put_service_record(&mut self, mut object: api::ServiceRecord) {
        let key = key_of(&object.metadata);
        let before = self.service_records.get(&key);
        let same = before.is_some_and(|it| it.spec == object.spec);
        self.stamp(
            &mut object.metadata,
            before.map(|it| it.metadata.clone()),
            same,
        );
        let due = self
            .index
            .apply_service_record(Decoded::Object(object.clone()));
        self.service_records.insert(key, object);
        self.due.extend(due);
    }

    pub(super) fn delete_service_record(&mut self, key: &ObjectKey) {
        self.service_records.remove(key);
        self.foreign.remove(key);
        let due = self.index.delete_service_record(key);
        self.due.extend(due);
    }

    pub(super) fn put_record(&mut self, mut object: api::Record) {
        let key = key_of(&object.metadata);
        let before = self.records.get(&key);
        let same = before.is_some_and(|it| it.spec == object.spec);
        self.stamp(
            &mut object.metadata,
            before.map(|it| it.metadata.clone()),
            same,
        );
        if self.serves {
            judge(&mut object, "True", "Served", "");
        }
        let due = self.index.apply_record(Decoded::Object(object.clone()));
        self.records.insert(key, object);
        self.due.extend(due);
    }

    pub(super) fn delete_record(&mut self, key: &ObjectKey) {
        self.records.remove(key);
        let due = self.index.delete_record(key);
        self.due.extend(due);
    }

    /// A zone says something about every Record of a host.
    pub(super) fn zone_says(&mut self, host: &str, accepted: &str, reason: &str, message: &str) {
        for mut record in self.records.clone().into_values() {
            if record.spec.domain_name == format!("{host}.") {
                judge(&mut record, accepted, reason, message);
                let serves = std::mem::replace(&mut self.serves, false);
                self.put_record(record);
                self.serves = serves;
            }
        }
    }

    pub(super) fn tamper(&mut self, name: &str, change: impl FnOnce(&mut api::ServiceRecord)) {
        let mut object = self.service_record(name).clone();
        change(&mut object);
        self.put_service_record(object);
    }

    fn date(&self) -> String {
        let seconds = i64::try_from(self.version).unwrap();
        Timestamp::from_second(START + seconds).unwrap().to_string()
    }

    fn stamp(&mut self, meta: &mut ObjectMeta, before: Option<ObjectMeta>, same: bool) {
        self.version += 1;
        meta.resource_version = Some(self.version.to_string());
        let generation = before
            .as_ref()
            .and_then(|it| it.generation)
            .unwrap_or_default();
        meta.generation = Some(generation + i64::from(!same));
        let date = Timestamp::from_second(START + i64::try_from(self.version).unwrap()).unwrap();
        let uid = format!("uid-{}", self.version);
        meta.uid = before.as_ref().map_or(Some(uid), |it| it.uid.clone());
        let time = k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(date);
        meta.creation_timestamp = before.map_or(Some(time), |it| it.creation_timestamp);
    }

    /// Does everything that is due, or is killed on the way.
    pub(super) fn settle(&mut self) {
        for _ in 0..10_000 {
            let Some(host) = self.due.pop_first() else {
                return;
            };
            if !self.look_at(&host) {
                self.writes_left = None;
                return self.restart();
            }
        }
        panic!(
            "it does not come to rest: {:#?}",
            &self.order[self.order.len() - 20..]
        );
    }

    pub(super) fn pass_time(&mut self, time: Duration) {
        let until = self.now + time;
        let alarm = |alarms: &BTreeMap<Name, Duration>| {
            let first = alarms.iter().min_by_key(|it| *it.1);
            first.map(|(host, at)| (host.clone(), *at))
        };
        while let Some((host, at)) = alarm(&self.alarms).filter(|it| it.1 <= until) {
            self.now = self.now.max(at);
            self.alarms.remove(&host);
            self.due.insert(host);
            self.settle();
        }
        self.now = until;
    }

    /// One pass. Whether we live.
    fn look_at(&mut self, host: &Name) -> bool {
        let view = self.index.view(host);
        let decision = decide(&view, GRACE, self.now);
        self.notes.insert(host.clone(), decision.notes.clone());
        self.alarms.remove(host);
        self.alarms
            .extend(decision.next.map(|at| (host.clone(), at)));
        self.index.passed(host, decision.lapsing);
        if !decision.writes.iter().all(|write| self.write(write)) {
            return false;
        }
        if let Some(withdrawal) = &decision.withdrawal
            && self.proves(&withdrawal.proof)
        {
            return withdrawal.writes.iter().all(|write| self.write(write));
        }
        if let Some(update) = conclude(&view, &decision, time()) {
            // Somebody may have written since: then there will be another pass.
            let object = self.service_records.get(&update.version.key).cloned();
            let object =
                object.filter(|it| it.metadata.resource_version == update.version.resource_version);
            if let Some(mut object) = object {
                object.status = Some(update.status);
                self.put_service_record(object);
            }
        }
        true
    }

    /// Looks at what a proof asks for, truthfully.
    fn proves(&mut self, proof: &Proof) -> bool {
        let sources = proof.sources.iter().map(|it| SourceKey::of(it).unwrap());
        let gateways = proof.gateways.iter();
        let gateways =
            gateways.map(|it| SourceKey::new(SourceKind::Gateway, &it.namespace, &it.name));
        let mut keys: BTreeSet<SourceKey> = sources.chain(gateways).collect();
        let listed = self
            .sources
            .keys()
            .filter(|it| proof.kinds.contains(&it.kind));
        keys.extend(listed.cloned());
        self.lookups.extend(keys.iter().map(ToString::to_string));
        if keys.iter().any(|it| self.unreadable.contains(&it.kind)) {
            return false;
        }
        let found = keys
            .iter()
            .filter_map(|key| Some((key.kind, self.sources.get(key)?)));
        let mut seen = Seen::default();
        for (kind, object) in found {
            seen.show(kind, serde_json::from_value(object.clone()).unwrap());
        }
        proof.is_given(&seen)
    }

    /// One write. Whether we live.
    fn write(&mut self, write: &Write) -> bool {
        match self.writes_left.as_mut() {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        let answered = self.answered();
        match write {
            Write::CreateServiceRecord(object) => self.create_service_record(object),
            Write::CreateRecord(object) => self.create_record(object),
            Write::UpdateServiceRecord(update) => {
                self.said(&format!("~{}", update.version.key));
                let mut object = self.service_records[&update.version.key].clone();
                guard(&object.metadata, &update.version);
                object.spec = update.spec.clone();
                set(
                    &mut object.metadata,
                    &update.labels,
                    &update.annotations,
                    &update.owner_references,
                );
                self.not_foreign(&update.version);
                self.put_service_record(object);
            }
            Write::UpdateRecord(update) => {
                self.said(&format!("~{} {}", update.version.key, update.spec.rdata));
                let mut object = self.records[&update.version.key].clone();
                guard(&object.metadata, &update.version);
                object.spec = update.spec.clone();
                set(
                    &mut object.metadata,
                    &update.labels,
                    &update.annotations,
                    &update.owner_references,
                );
                self.put_record(object);
            }
            Write::DeleteServiceRecord(version) => {
                self.said(&format!("-{}", version.key));
                guard(&self.service_records[&version.key].metadata, version);
                self.not_foreign(version);
                self.delete_service_record(&version.key);
            }
            Write::DeleteRecord(version) => {
                self.said(&format!("-{}", version.key));
                guard(&self.records[&version.key].metadata, version);
                self.delete_record(&version.key);
            }
        }
        self.check_answers(&answered, write);
        true
    }

    fn create_service_record(&mut self, object: &api::ServiceRecord) {
        let key = key_of(&object.metadata);
        self.said(&format!("+{key}"));
        assert!(!self.service_records.contains_key(&key), "{key} is there");
        self.put_service_record(object.clone());
    }

    fn create_record(&mut self, object: &api::Record) {
        let key = key_of(&object.metadata);
        self.said(&format!("+{key} {}", object.spec.rdata));
        assert!(!self.records.contains_key(&key), "{key} is there");
        self.put_record(object.clone());
    }

    fn said(&mut self, what: &str) {
        self.order.push(what.to_owned());
    }

    /// Unless it was handed over, nobody else's object is written.
    fn not_foreign(&self, version: &Version) {
        assert!(
            !self.foreign.contains(&version.key),
            "{} is not ours",
            version.key
        );
    }

    /// Hosts that are answered in the namespace that has them, where somebody asks for them and has addresses.
    fn answered(&self) -> BTreeSet<String> {
        let records = self.records.values();
        let asked = records.filter(|record| {
            let at = api::parse::fqdn::parse(&record.spec.domain_name);
            let namespace = record.metadata.namespace.clone().unwrap();
            at.is_ok_and(|host| self.is_asked_for(&host, &namespace))
        });
        asked.map(|it| it.spec.domain_name.clone()).collect()
    }

    fn is_asked_for(&self, host: &Name, namespace: &str) -> bool {
        let view = self.index.view(host);
        let sources = view.standing.iter().flat_map(|it| &it.sources);
        let holders: BTreeSet<&str> = sources.map(|it| it.namespace.as_str()).collect();
        let has = holders.is_empty() || holders.contains(namespace);
        let mut claims = view.claims.iter();
        has && claims.any(|it| it.namespace() == namespace && !it.targets.is_empty())
    }

    /// No write takes the last Record of a host that somebody asks for.
    fn check_answers(&self, before: &BTreeSet<String>, write: &Write) {
        for host in before {
            let mut records = self.records.values();
            let answered = records.any(|it| it.spec.domain_name == *host);
            assert!(answered, "{host} is not answered after {write:?}");
        }
    }

    /// The ServiceRecord of a name, wherever it is.
    pub(super) fn service_record(&self, name: &str) -> &api::ServiceRecord {
        let mut all = self.service_records.iter();
        let found = all.find(|(key, _)| key.name == name);
        found
            .unwrap_or_else(|| panic!("no {name} among {:?}", self.names()))
            .1
    }

    /// `namespace/name` of every ServiceRecord.
    pub(super) fn names(&self) -> Vec<String> {
        self.service_records
            .keys()
            .map(ToString::to_string)
            .collect()
    }

    /// `address:port` of every endpoint.
    pub(super) fn endpoints(&self, name: &str) -> Vec<String> {
        let endpoints = self.service_record(name).spec.endpoints.iter();
        endpoints
            .map(|it| format!("{} {}", it.address, it.port))
            .collect()
    }

    /// `namespace domain type data` of every Record.
    pub(super) fn answers(&self) -> Vec<String> {
        let shown = |it: &api::Record| {
            let namespace = it.metadata.namespace.as_deref().unwrap();
            let spec = &it.spec;
            format!(
                "{namespace} {} {} {}",
                spec.domain_name, spec.type_, spec.rdata
            )
        };
        let mut all: Vec<String> = self.records.values().map(shown).collect();
        all.sort();
        all
    }

    /// `True/Published message`, of one condition.
    pub(super) fn condition(&self, name: &str, type_: ConditionType) -> String {
        let object = self.service_record(name);
        let status = object.status.clone().unwrap_or_default();
        let Some(it) = find(&status.conditions, type_) else {
            return "none".to_owned();
        };
        assert_eq!(it.observed_generation, object.metadata.generation);
        format!("{}/{} {}", it.status, it.reason, it.message)
    }

    /// Checks a condition, and that its message contains something.
    pub(super) fn says(&self, name: &str, type_: ConditionType, expected: &str, told: &str) {
        let said = self.condition(name, type_);
        assert!(said.starts_with(expected) && said.contains(told), "{said}");
    }

    /// `Reason message`, of everything that a source is told.
    pub(super) fn told(&self, key: &SourceKey) -> Vec<String> {
        let by_host = self.notes.values().flatten();
        let own = self.index.troubles(key);
        let all = by_host.filter(|it| it.source == *key).chain(&own);
        all.map(|it| format!("{} {}", it.reason, it.message))
            .collect()
    }
}

pub(super) fn proxy_object(host: &str, addresses: &[&str]) -> Value {
    json!({
        "spec": { "virtualhost": { "fqdn": host } },
        "status": { "loadBalancer": { "ingress": ingress(addresses) } },
    })
}

/// Entries of a load balancer: addresses, and what is none as a host name.
pub(super) fn ingress(addresses: &[&str]) -> Vec<Value> {
    let entry = |it: &&str| match it.parse::<std::net::IpAddr>() {
        Ok(_) => json!({ "ip": it }),
        Err(_) => json!({ "hostname": it }),
    };
    addresses.iter().map(entry).collect()
}

/// Objects are merged, everything else is replaced.
fn merge(base: &mut Value, more: &Value) {
    if let (Some(base), Some(more)) = (base.as_object_mut(), more.as_object()) {
        for (key, value) in more {
            merge(base.entry(key.clone()).or_insert(Value::Null), value);
        }
    } else {
        *base = more.clone();
    }
}

fn key_of(meta: &ObjectMeta) -> ObjectKey {
    ObjectKey::new(
        meta.namespace.as_deref().unwrap(),
        meta.name.as_deref().unwrap(),
    )
}

fn guard(meta: &ObjectMeta, version: &Version) {
    assert_eq!(
        meta.resource_version, version.resource_version,
        "{}",
        version.key
    );
    assert_eq!(meta.uid.as_deref(), Some(version.uid.as_str()));
}

fn set(
    meta: &mut ObjectMeta,
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
    owners: &[OwnerReference],
) {
    meta.labels = Some(labels.clone());
    meta.annotations = Some(annotations.clone());
    meta.owner_references = (!owners.is_empty()).then(|| owners.to_vec());
}

fn judge(record: &mut api::Record, accepted: &str, reason: &str, message: &str) {
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": accepted, "reason": reason, "message": message,
            "observedGeneration": record.metadata.generation,
            "lastTransitionTime": "2026-03-04T05:06:07Z",
        })
    };
    let conditions = [condition("Accepted"), condition("Published")];
    record.status = serde_json::from_value(json!({ "conditions": conditions })).unwrap();
}

fn time() -> Timestamp {
    "2026-03-04T05:06:07Z".parse().unwrap()
}
