//! A house: objects, the index of them, and everything that is due done at once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::Decoded;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::core::DynamicObject;
use serde_json::{Map, Value, json};

use crate::dns_policy::{conclude, decide};
use crate::gateway;
use crate::gateways::{Concerned, Gateways};
use crate::{ObjectKey, PolicyKey};

const NAMESPACE: &str = "web";

/// When the first policy was created.
const START: i64 = 1_800_000_000;

pub(super) struct House {
    index: Gateways,
    policies: BTreeMap<String, Value>,
    gateways: BTreeMap<String, Value>,
    records: BTreeMap<String, api::DnsRecord>,
    secrets: BTreeMap<String, Secret>,
    due: Concerned,
    /// When policies are to be looked at without anybody asking.
    alarms: BTreeMap<PolicyKey, Duration>,
    now: Duration,
    version: u64,
    installed: bool,
    pub(super) passes: usize,
    pub(super) writes: usize,
    pub(super) created: usize,
    /// Records made and removed, in order.
    pub(super) order: Vec<String>,
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(NAMESPACE, name)
}

impl House {
    pub(super) fn new() -> House {
        let mut house = House {
            index: Gateways::default(),
            policies: BTreeMap::new(),
            gateways: BTreeMap::new(),
            records: BTreeMap::new(),
            secrets: BTreeMap::new(),
            due: Concerned::default(),
            alarms: BTreeMap::new(),
            now: Duration::from_hours(1),
            version: 0,
            installed: true,
            passes: 0,
            writes: 0,
            created: 0,
            order: Vec::new(),
        };
        house.restart();
        house
    }

    /// Forgets everything but the objects, and hears of them again.
    pub(super) fn restart(&mut self) {
        self.index = Gateways::default();
        self.alarms.clear();
        self.due = Concerned::default();
        let mut due = self
            .index
            .set_cluster("9c8f876c-4ddc-44a3-9842-460f97e6c037");
        due.extend(self.index.set_installed(self.installed));
        for (name, secret) in &self.secrets {
            due.extend(self.index.apply_secret(&key(name), secret));
        }
        for (name, record) in &self.records {
            due.extend(
                self.index
                    .apply_record(&key(name), Decoded::Object(record.clone())),
            );
        }
        for (name, object) in &self.gateways {
            due.extend(self.index.apply_gateway(&key(name), &decoded(object)));
        }
        for (name, object) in &self.policies {
            due.extend(self.index.apply_policy(&key(name), decoded(object)));
        }
        self.due = due;
        self.settle();
    }

    pub(super) fn installed(&mut self, installed: bool) {
        self.installed = installed;
        let due = self.index.set_installed(installed);
        self.due.extend(due);
    }

    pub(super) fn secret(&mut self, name: &str, domain: &str) {
        let secret: Secret = serde_json::from_value(json!({
            "metadata": { "name": name },
            "type": "kuadrant.io/inmemory",
            "stringData": { "DOMAIN_NAME": domain },
        }))
        .unwrap();
        let due = self.index.apply_secret(&key(name), &secret);
        self.secrets.insert(name.to_owned(), secret);
        self.due.extend(due);
    }

    pub(super) fn delete_secret(&mut self, name: &str) {
        self.secrets.remove(name);
        self.index.delete_secret(&key(name));
    }

    /// A Gateway; listeners are `name host routes`, of which the last two may be missing.
    pub(super) fn gateway(&mut self, name: &str, listeners: &[&str], addresses: &[&str]) {
        let words = listeners.iter().map(|it| it.split(' ').collect::<Vec<_>>());
        let words: Vec<Vec<&str>> = words.collect();
        let spec: Vec<Value> = words
            .iter()
            .map(|it| json!({ "name": it[0], "hostname": it.get(1), "port": 80 }))
            .collect();
        let routes = |it: &Vec<&str>| it.get(2).map_or(1, |it| it.parse::<i64>().unwrap());
        let statuses: Vec<Value> = words
            .iter()
            .map(|it| json!({ "name": it[0], "attachedRoutes": routes(it) }))
            .collect();
        let addresses: Vec<Value> = addresses.iter().map(|it| json!({ "value": it })).collect();
        let before = self.gateways.get(name);
        let conditions = before.map_or(Value::Null, |it| it["status"]["conditions"].clone());
        let mut status = json!({ "addresses": addresses, "listeners": statuses });
        if !conditions.is_null() {
            status["conditions"] = conditions;
        }
        let object = json!({
            "metadata": self.metadata(name, 1),
            "spec": { "gatewayClassName": "any", "listeners": spec },
            "status": status,
        });
        self.put_gateway(name, object);
    }

    /// Somebody says something about a Gateway.
    pub(super) fn gateway_condition(&mut self, name: &str, type_: &str) {
        let mut object = self.gateways[name].clone();
        object["metadata"] = self.metadata(name, 1);
        let conditions = object["status"]["conditions"].as_array().cloned();
        let mut conditions = conditions.unwrap_or_default();
        conditions.push(json!({ "type": type_, "status": "True" }));
        object["status"]["conditions"] = json!(conditions);
        self.put_gateway(name, object);
    }

    fn put_gateway(&mut self, name: &str, object: Value) {
        let due = self.index.apply_gateway(&key(name), &decoded(&object));
        self.gateways.insert(name.to_owned(), object);
        self.due.extend(due);
    }

    pub(super) fn delete_gateway(&mut self, name: &str) {
        self.gateways.remove(name);
        let due = self.index.delete_gateway(&key(name));
        self.due.extend(due);
    }

    /// A policy on Gateway `gw` with the provider `dns`, unless `spec` says otherwise.
    pub(super) fn policy(&mut self, name: &str, spec: &Value) {
        let mut whole = json!({
            "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw" },
            "providerRefs": [{ "name": "dns" }],
        });
        for (field, value) in spec.as_object().unwrap() {
            match (whole[field].as_object_mut(), value.as_object()) {
                (Some(base), Some(more)) => base.extend(more.clone()),
                (Some(_) | None, _) => whole[field] = value.clone(),
            }
        }
        let before = self.policies.get(name).cloned();
        let generation = before
            .as_ref()
            .map_or(0, |it| it["metadata"]["generation"].as_i64().unwrap());
        let mut metadata = self.metadata(name, generation + 1);
        let created = before
            .as_ref()
            .map(|it| it["metadata"]["creationTimestamp"].clone());
        metadata["creationTimestamp"] = created.unwrap_or_else(|| {
            let second = START + i64::try_from(self.policies.len()).unwrap();
            json!(Timestamp::from_second(second).unwrap().to_string())
        });
        let status = before.map_or_else(|| json!({}), |it| it["status"].clone());
        let object = json!({ "metadata": metadata, "spec": whole, "status": status });
        let due = self.index.apply_policy(&key(name), decoded(&object));
        self.policies.insert(name.to_owned(), object);
        self.due.extend(due);
    }

    /// Deletes a policy; what belongs to nobody else goes at once.
    pub(super) fn delete_policy(&mut self, name: &str) {
        self.remove_policy(name);
        self.collect();
    }

    /// Deletes a policy, while Kubernetes' collector is slow.
    pub(super) fn remove_policy(&mut self, name: &str) {
        self.policies.remove(name).unwrap();
        let due = self.index.delete_policy(&key(name));
        self.due.extend(due);
    }

    /// What Kubernetes' collector does: of whatever has an owner still, references to others go; the rest goes itself.
    pub(super) fn collect(&mut self) {
        let policies = self.policies.values();
        let there = policies.map(|it| it["metadata"]["uid"].as_str().unwrap().to_owned());
        let there: BTreeSet<String> = there.collect();
        for name in self.records.keys().cloned().collect::<Vec<_>>() {
            let mut record = self.record(&name);
            let owners = record.metadata.owner_references.get_or_insert_default();
            let before = owners.len();
            owners.retain(|owner| there.contains(&owner.uid));
            match (before, owners.len()) {
                (before, now) if before == now => {}
                (_, 0) => self.delete_record(&name),
                (_, _) => self.put_record(record, None),
            }
        }
    }

    /// A record of somebody else's.
    pub(super) fn foreign(&mut self, name: &str) {
        let spec = json!({ "rootHost": "theirs.example.org" });
        let record = json!({ "metadata": self.metadata(name, 1), "spec": spec });
        self.put_record(serde_json::from_value(record).unwrap(), None);
    }

    /// A record with our label, and a policy that it names.
    pub(super) fn labelled(&mut self, name: &str, policy: Option<(&str, &str)>) {
        let mut metadata = self.metadata(name, 1);
        metadata["labels"] = json!({ "app": "kuadrant", "kuadrant.io/listener-name": "web" });
        if let Some((policy, uid)) = policy {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "kuadrant.io/v1", "kind": "DNSPolicy", "controller": true,
                "name": policy, "uid": uid,
            }]);
        }
        let spec = json!({ "rootHost": "theirs.example.org" });
        let record = json!({ "metadata": metadata, "spec": spec });
        self.put_record(serde_json::from_value(record).unwrap(), None);
    }

    pub(super) fn tamper(&mut self, name: &str, change: impl FnOnce(&mut api::DnsRecord)) {
        let mut record = self.record(name);
        change(&mut record);
        self.put_record(record, None);
    }

    pub(super) fn delete_record(&mut self, name: &str) {
        self.records.remove(name);
        let due = self.index.delete_record(&key(name));
        self.due.extend(due);
    }

    pub(super) fn ready(&mut self, name: &str) {
        self.stand(name, &[("Ready", "True", "ProviderSuccess", "fine")]);
    }

    pub(super) fn failed(&mut self, name: &str, why: &str) {
        let bad = [
            ("Held", "True", "Held", why),
            ("Ready", "False", "ProviderError", why),
        ];
        self.stand(name, &bad);
    }

    pub(super) fn health(&mut self, name: &str, healthy: bool) {
        let healthy = if healthy { "True" } else { "False" };
        self.stand(
            name,
            &[
                ("Ready", "True", "ProviderSuccess", "fine"),
                ("Healthy", healthy, "Any", ""),
            ],
        );
    }

    fn stand(&mut self, name: &str, conditions: &[(&str, &str, &str, &str)]) {
        let mut record = self.record(name);
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|(type_, status, reason, message)| {
                json!({
                    "type": type_, "status": status, "reason": reason, "message": message,
                    "lastTransitionTime": "2026-03-04T05:06:07Z",
                })
            })
            .collect();
        let status = json!({
            "observedGeneration": record.metadata.generation,
            "conditions": conditions,
        });
        record.status = serde_json::from_value(status).unwrap();
        self.put_record(record, None);
    }

    /// Stores a record, and tells everybody but the policy that did it.
    fn put_record(&mut self, mut record: api::DnsRecord, by: Option<&PolicyKey>) {
        let name = record.metadata.name.clone().unwrap();
        let before = self.records.get(&name);
        let generation = before
            .and_then(|it| it.metadata.generation)
            .unwrap_or_default();
        let changed = before.is_none_or(|it| it.spec != record.spec);
        record.metadata.generation = Some(generation + i64::from(changed));
        self.version += 1;
        record.metadata.resource_version = Some(self.version.to_string());
        let mut due = self
            .index
            .apply_record(&key(&name), Decoded::Object(record.clone()));
        if let Some(by) = by {
            due.policies.remove(by);
        }
        self.records.insert(name, record);
        self.due.extend(due);
    }

    fn metadata(&mut self, name: &str, generation: i64) -> Value {
        self.version += 1;
        json!({
            "name": name, "namespace": NAMESPACE, "uid": format!("uid-of-{name}"),
            "generation": generation, "resourceVersion": self.version.to_string(),
        })
    }

    /// Does everything that is due.
    pub(super) fn settle(&mut self) {
        for _ in 0..10_000 {
            if let Some(gateway) = self.due.gateways.pop_first() {
                self.passes += 1;
                self.look_at_gateway(&gateway);
            } else if let Some(policy) = self.due.policies.pop_first() {
                self.passes += 1;
                self.look_at(&policy);
            } else {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    pub(super) fn pass_time(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some((policy, at)) = self
            .alarms
            .iter()
            .min_by_key(|it| *it.1)
            .map(|(key, at)| (key.clone(), *at))
            && at <= until
        {
            self.now = self.now.max(at);
            self.alarms.remove(&policy);
            self.due.policies.insert(policy);
            self.settle();
        }
        self.now = until;
    }

    fn look_at_gateway(&mut self, key: &ObjectKey) {
        let Some(view) = self.index.affected(key) else {
            return;
        };
        if let Some(conditions) = gateway::conditions(&view, time()) {
            self.writes += 1;
            let mut object = self.gateways[&key.name].clone();
            object["status"]["conditions"] = json!(conditions);
            // We know what we have written.
            self.index.apply_gateway(key, &decoded(&object));
            self.gateways.insert(key.name.clone(), object);
        }
    }

    fn look_at(&mut self, policy: &PolicyKey) {
        let Some(view) = self.index.view(policy) else {
            return;
        };
        let decision = decide(&view, super::GRACE, self.now);
        for mut record in decision.create.clone() {
            let name = record.metadata.name.clone().unwrap();
            assert!(!self.records.contains_key(&name), "{name} is there");
            self.order.push(format!("+{name}"));
            self.created += 1;
            self.writes += 1;
            record.metadata.uid = Some(format!("uid-{}", self.created));
            self.put_record(record, Some(policy));
        }
        for update in decision.update.clone() {
            self.writes += 1;
            let mut record = self.records[&update.before.name].clone();
            assert_eq!(
                record.spec.root_host, update.spec.root_host,
                "it cannot change"
            );
            record.spec = update.spec;
            record
                .metadata
                .labels
                .get_or_insert_default()
                .extend(update.labels);
            record.metadata.owner_references = Some(update.owner_references);
            self.put_record(record, Some(policy));
        }
        for record in &decision.delete {
            self.writes += 1;
            self.order.push(format!("-{}", record.name));
            self.delete_record(&record.name);
        }
        if let Some(status) = conclude(&view, &decision, &[], time()) {
            self.writes += 1;
            let object = self.policies.get_mut(&policy.name).unwrap();
            object["status"] = serde_json::to_value(status).unwrap();
            self.index.apply_policy(policy, decoded(object));
        }
        self.alarms.remove(policy);
        self.alarms
            .extend(decision.next.map(|at| (policy.clone(), at)));
        self.index.passed(policy, decision.lapsing);
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.records.keys().map(String::as_str).collect()
    }

    pub(super) fn record(&self, name: &str) -> api::DnsRecord {
        let record = self.records.get(name);
        record
            .unwrap_or_else(|| panic!("no {name} among {:?}", self.names()))
            .clone()
    }

    /// `record policy`, of each record: the policy that controls it.
    pub(super) fn owners(&self) -> Vec<String> {
        let shown = self.records.keys().map(|name| {
            let owners = self.record(name).metadata.owner_references.unwrap();
            let mut controllers = owners.iter().filter(|it| it.controller == Some(true));
            format!("{name} {}", controllers.next().unwrap().name)
        });
        shown.collect()
    }

    /// The policies that get a record when the one it was made from goes.
    pub(super) fn heirs(&self, name: &str) -> Vec<String> {
        let owners = self.record(name).metadata.owner_references.unwrap();
        let heirs = owners.into_iter().filter(|it| it.controller != Some(true));
        heirs.map(|it| it.name).collect()
    }

    /// `name TYPE target…`, of the endpoints of a record.
    pub(super) fn targets(&self, name: &str) -> String {
        let record = self.record(name);
        let endpoint = |it: &api::dns_record::Endpoint| {
            format!(
                "{} {} {}",
                it.dns_name,
                it.record_type,
                it.targets.join(" ")
            )
        };
        record
            .spec
            .endpoints
            .iter()
            .map(endpoint)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn conditions(&self, policy: &str) -> Vec<Value> {
        let conditions = self.policies[policy]["status"]["conditions"].as_array();
        conditions.cloned().unwrap_or_default()
    }

    /// `True/Accepted`, of one condition.
    pub(super) fn condition(&self, policy: &str, type_: &str) -> Option<String> {
        let conditions = self.conditions(policy);
        let condition = conditions.iter().find(|it| it["type"] == type_)?;
        assert_eq!(
            condition["observedGeneration"],
            self.policies[policy]["metadata"]["generation"]
        );
        let text = |field: &str| condition[field].as_str().unwrap();
        Some(format!("{}/{}", text("status"), text("reason")))
    }

    /// Checks a condition, and that its message contains something.
    pub(super) fn says(&self, policy: &str, type_: &str, expected: &str, told: &str) {
        let conditions = self.conditions(policy);
        assert_eq!(
            self.condition(policy, type_).as_deref(),
            Some(expected),
            "{conditions:#?}"
        );
        let condition = conditions.iter().find(|it| it["type"] == type_).unwrap();
        let message = condition["message"].as_str().unwrap();
        assert!(message.contains(told), "{told} is not in {message}");
    }

    pub(super) fn total(&self, policy: &str) -> i64 {
        self.policies[policy]["status"]["totalRecords"]
            .as_i64()
            .unwrap()
    }

    /// `host Type=Status message`, of everything that is wrong with records.
    pub(super) fn troubles(&self, policy: &str) -> Vec<String> {
        let empty = Map::new();
        let hosts = self.policies[policy]["status"]["recordConditions"].as_object();
        let mut troubles = BTreeSet::new();
        for (host, conditions) in hosts.unwrap_or(&empty) {
            for it in conditions.as_array().unwrap() {
                let text = |field: &str| it[field].as_str().unwrap().to_owned();
                troubles.insert(format!(
                    "{host} {}={} {}",
                    text("type"),
                    text("status"),
                    text("message")
                ));
            }
        }
        troubles.into_iter().collect()
    }

    /// Everything there is, but for versions.
    pub(super) fn shown(&self) -> String {
        let records = self.records.iter().map(|(name, record)| {
            let owners = record.metadata.owner_references.iter().flatten();
            let owners: Vec<String> = owners.map(|it| it.name.clone()).collect();
            let (labels, spec) = (&record.metadata.labels, &record.spec);
            format!("{name} {owners:?} {labels:?} {spec:?}")
        });
        let policies = self.policies.iter();
        let policies = policies.map(|(name, policy)| format!("{name} {}", policy["status"]));
        records.chain(policies).collect::<Vec<_>>().join("\n")
    }
}

fn time() -> Timestamp {
    "2026-03-04T05:06:07Z".parse().unwrap()
}

fn decoded<K: kube::Resource + serde::de::DeserializeOwned>(object: &Value) -> Decoded<K> {
    let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
    Decoded::of_parts(object.metadata, object.data)
}
