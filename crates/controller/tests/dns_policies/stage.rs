//! The loop over DNSPolicies on an API, and somebody who says how DNSRecords stand.

use std::net::IpAddr;
use std::slice;
use std::time::Duration;

use api::dns_policy::DnsPolicyStatus;
use api::foreign::Gateway;
use apiserver::Apiserver;
use controller::health::Pulse;
use controller::{Clock, DnsPolicies, DnsPolicyOptions, Metrics, Running, Surroundings};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use prometheus_client::registry::Registry;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity, gateway_api};
use testkit::eventually;
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

/// When the clock of the embedded stage starts.
const START: &str = "2026-03-04T05:06:07Z";

/// What is waited for takes a moment; the rest is for a machine that is busy building.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// What the control plane that all tests share has been taught.
static OUR_KINDS: OnceCell<()> = OnceCell::const_new();
static GATEWAY_API: OnceCell<()> = OnceCell::const_new();

#[derive(Clone, Copy)]
pub(crate) enum Home {
    Embedded,
    Real,
}

pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// Other namespaces that are watched.
    pub(crate) neighbours: Vec<String>,
    pub(crate) registry: Registry,
    clock: Clock,
    running: Option<Running>,
    _apiserver: Option<Apiserver>,
}

impl Stage {
    /// A namespace with a Secret `dns` for `example.org`, and nobody running.
    pub(crate) async fn open(home: Home) -> Stage {
        let stage = Stage::bare(home).await;
        match home {
            Home::Embedded => install(&stage.client, &api::foreign::crds()).await,
            // As a cluster has it, with all its rules.
            Home::Real => {
                let installed = GATEWAY_API.get_or_init(async || {
                    let read = tokio::task::spawn_blocking(gateway_api::crds);
                    install(&stage.client, &read.await.unwrap().unwrap()).await;
                });
                installed.await;
            }
        }
        stage
    }

    /// The same in a cluster that has no Gateways.
    pub(crate) async fn bare(home: Home) -> Stage {
        let (client, clock, apiserver) = match home {
            Home::Embedded => {
                let start = START.parse().unwrap();
                let options = apiserver::Options {
                    clock: apiserver::Clock::starting_at(start),
                    ..apiserver::Options::default()
                };
                let apiserver = Apiserver::open(options).await.unwrap();
                let clock = Clock::starting_at(start);
                (apiserver.client(), clock, Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                (plane.client(Identity::Admin), Clock::System, None)
            }
        };
        let kinds = async || install(&client, &api::crds::all()).await;
        match home {
            Home::Embedded => kinds().await,
            Home::Real => *OUR_KINDS.get_or_init(kinds).await,
        }
        let namespace = testkit::namespace(&client, "web").await.unwrap();
        let stage = Stage {
            client,
            namespace,
            neighbours: Vec::new(),
            registry: Registry::default(),
            clock,
            running: None,
            _apiserver: apiserver,
        };
        stage.secret("dns", "example.org").await;
        stage
    }

    pub(crate) fn run(&mut self) {
        let mut registry = Registry::default();
        let policies = DnsPolicies {
            around: Surroundings {
                client: self.client.clone(),
                clock: self.clock,
                chance: StdRng::seed_from_u64(1),
                leading: watch::channel(true).1,
                metrics: Metrics::new(&mut registry),
                pulse: Pulse::new(Instant::now()),
                identity: "test".to_owned(),
            },
            options: DnsPolicyOptions {
                namespaces: [slice::from_ref(&self.namespace), &self.neighbours].concat(),
                grace: Duration::from_mins(5),
            },
        };
        self.registry = registry;
        self.running = Some(policies.start());
    }

    pub(crate) async fn stop(&mut self) {
        assert!(self.running.take().unwrap().shutdown(SOON).await);
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn policies(&self) -> Api<api::DnsPolicy> {
        self.api()
    }

    pub(crate) fn gateways(&self) -> Api<Gateway> {
        self.api()
    }

    pub(crate) fn records(&self) -> Api<api::DnsRecord> {
        self.api()
    }

    pub(crate) async fn secret(&self, name: &str, domain: &str) {
        self.secret_in(&self.namespace, name, domain).await;
    }

    pub(crate) async fn secret_in(&self, namespace: &str, name: &str, domain: &str) {
        let secret: Secret = serde_json::from_value(json!({
            "metadata": { "name": name },
            "type": "kuadrant.io/inmemory",
            "stringData": { "ZONE_ID": "zone", "DOMAIN_NAME": domain },
        }))
        .unwrap();
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        secrets
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
    }

    pub(crate) async fn patch_secret(&self, name: &str, domain: &str) {
        let patch = Patch::Merge(json!({ "stringData": { "DOMAIN_NAME": domain } }));
        let secrets: Api<Secret> = self.api();
        let patched = secrets.patch(name, &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    /// Creates Gateway `gw`; listeners are `name host`, of which the last may be missing.
    pub(crate) async fn gateway(&self, listeners: &[&str]) {
        let object = json!({
            "metadata": { "name": "gw" },
            "spec": { "gatewayClassName": "any", "listeners": spec(listeners) },
        });
        let object = serde_json::from_value(object).unwrap();
        let gateways = self.gateways();
        gateways
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }

    pub(crate) async fn listeners(&self, listeners: &[&str]) {
        let patch = Patch::Merge(json!({ "spec": { "listeners": spec(listeners) } }));
        let gateways = self.gateways();
        let patched = gateways.patch("gw", &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    /// What the Gateway's own controller would say: where it is reached, and that routes are attached.
    pub(crate) async fn reached(&self, addresses: &[&str], routes: i64) {
        let gateway = self.gateways().get("gw").await.unwrap();
        let listeners = gateway.listeners().iter();
        let listeners = listeners.map(|it| {
            json!({
                "name": it.name, "attachedRoutes": routes, "conditions": [],
                "supportedKinds": [{ "kind": "HTTPRoute" }],
            })
        });
        let listeners: Vec<Value> = listeners.collect();
        let addresses: Vec<Value> = addresses
            .iter()
            .map(|it| json!({ "type": address_type(it), "value": it }))
            .collect();
        self.gateway_status(json!({ "addresses": addresses, "listeners": listeners }))
            .await;
    }

    pub(crate) async fn gateway_status(&self, status: Value) {
        let (gateways, patch) = (self.gateways(), Patch::Merge(json!({ "status": status })));
        let by = PatchParams::default();
        gateways.patch_status("gw", &by, &patch).await.unwrap();
    }

    /// A Gateway that is reached, with a policy on it, and everything that follows.
    pub(crate) async fn published(listeners: &[&str], home: Home) -> Stage {
        let mut stage = Stage::open(home).await;
        stage.gateway(listeners).await;
        stage.reached(&["192.0.2.1"], 1).await;
        stage.policy("all", json!({})).await;
        stage.run();
        for listener in listeners {
            let name = listener.split(' ').next().unwrap();
            stage.until_record(&format!("gw-{name}"), "192.0.2.1").await;
        }
        stage
    }

    /// Returns when whatever is created next is younger than every policy: ages are counted in seconds.
    async fn next_second(&self) {
        let policies = self.policies().list(&ListParams::default()).await.unwrap();
        let created = policies.iter().filter_map(ResourceExt::creation_timestamp);
        let youngest = created.map(|it| it.0.as_second()).max();
        let seen = eventually(SOON, "the next second", async || {
            let now = self.clock.now().as_second();
            youngest.is_none_or(|it| it < now).then_some(())
        });
        seen.await.unwrap();
    }

    /// Creates a policy on Gateway `gw` with the provider `dns`, younger than all others.
    pub(crate) async fn policy(&self, name: &str, more: Value) {
        self.next_second().await;
        let mut spec = json!({
            "targetRef": { "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw" },
            "providerRefs": [{ "name": "dns" }],
        });
        for (field, value) in more.as_object().unwrap() {
            match (spec[field].as_object_mut(), value.as_object()) {
                (Some(base), Some(more)) => base.extend(more.clone()),
                (Some(_) | None, _) => spec[field] = value.clone(),
            }
        }
        if let Some(fields) = spec.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let object = json!({ "metadata": { "name": name }, "spec": spec });
        let object = serde_json::from_value(object).unwrap();
        let policies = self.policies();
        policies
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }

    pub(crate) async fn edit(&self, policy: &str, spec: Value) {
        self.try_edit(policy, spec).await.unwrap();
    }

    /// Changes a policy, unless the API does not take it.
    pub(crate) async fn try_edit(&self, policy: &str, spec: Value) -> Result<(), String> {
        let (policies, patch) = (self.policies(), Patch::Merge(json!({ "spec": spec })));
        let by = PatchParams::default();
        let patched = policies.patch(policy, &by, &patch).await;
        patched.map(drop).map_err(|error| error.to_string())
    }

    pub(crate) async fn status(&self, policy: &str) -> DnsPolicyStatus {
        let object = self.policies().get(policy).await.unwrap();
        object.status.unwrap_or_default()
    }

    /// Waits until a condition of a policy is `True/Accepted` and its message contains something.
    pub(crate) async fn until(&self, policy: &str, type_: &str, says: &str, told: &str) {
        let what = format!("{policy} {type_} {says} {told}");
        let seen = eventually(SOON, &what, async || {
            let status = self.status(policy).await;
            let condition = status.conditions.iter().find(|it| it.type_ == type_);
            match condition {
                Some(it)
                    if format!("{}/{}", it.status, it.reason) == says
                        && it.message.contains(told) =>
                {
                    Ok(())
                }
                Some(_) | None => Err(format!("{:#?}", status.conditions)),
            }
        });
        seen.await.unwrap();
    }

    /// Waits until a condition of a policy is `True/Accepted` with exactly this message.
    pub(crate) async fn until_exactly(&self, policy: &str, type_: &str, says: &str, told: &str) {
        let what = format!("{policy} {type_} {says} {told}");
        let seen = eventually(SOON, &what, async || {
            let is = self.condition(policy, type_).await;
            let is = is.map(|it| (format!("{}/{}", it.status, it.reason), it.message));
            if is
                .as_ref()
                .is_some_and(|(is, message)| is == says && message == told)
            {
                Ok(())
            } else {
                Err(format!("{is:?}"))
            }
        });
        seen.await.unwrap();
    }

    pub(crate) async fn condition(&self, policy: &str, type_: &str) -> Option<api::Condition> {
        let conditions = self.status(policy).await.conditions;
        conditions.into_iter().find(|it| it.type_ == type_)
    }

    /// Waits until a record has exactly these endpoints.
    pub(crate) async fn until_endpoints(&self, name: &str, expected: &[&str]) {
        let what = format!("{name} with {expected:?}");
        let seen = eventually(SOON, &what, async || {
            let record = self.records().get_opt(name).await.unwrap();
            let is = record.as_ref().map(endpoints);
            if is.as_ref().is_some_and(|is| is == expected) {
                Ok(())
            } else {
                Err(format!("{is:?}"))
            }
        });
        seen.await.unwrap();
    }

    /// Waits until a record is there and one of its endpoints has a target.
    pub(crate) async fn until_record(&self, name: &str, target: &str) -> api::DnsRecord {
        let what = format!("{name} with {target}");
        let seen = eventually(SOON, &what, async || {
            let record = self.records().get_opt(name).await.unwrap();
            let record = record.ok_or("nothing")?;
            let mut targets = record.spec.endpoints.iter().flat_map(|it| &it.targets);
            if targets.any(|it| it == target) {
                Ok(record)
            } else {
                Err("another target")
            }
        });
        seen.await.unwrap()
    }

    pub(crate) async fn until_gone(&self, name: &str) {
        let what = format!("{name} to go");
        let seen = eventually(SOON, &what, async || {
            let record = self.records().get_opt(name).await.unwrap();
            record.is_none().then_some(())
        });
        seen.await.unwrap();
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let records = self.records().list(&ListParams::default()).await.unwrap();
        let mut names: Vec<String> = records.iter().map(ResourceExt::name_any).collect();
        names.sort();
        names
    }

    /// Somebody says how a record stands.
    pub(crate) async fn stand(&self, record: &str, status: &str, reason: &str) {
        self.say(record, &[("Ready", status, reason)]).await;
    }

    /// Somebody says something about a record: types, statuses and reasons of its conditions.
    pub(crate) async fn say(&self, record: &str, conditions: &[(&str, &str, &str)]) {
        let object = self.records().get(record).await.unwrap();
        let conditions = conditions.iter().map(|(type_, status, reason)| {
            json!({
                "type": type_, "status": status, "reason": reason, "message": reason,
                "lastTransitionTime": START,
            })
        });
        let patch = json!({ "status": {
            "observedGeneration": object.metadata.generation,
            "conditions": conditions.collect::<Vec<Value>>(),
        }});
        let (records, patch) = (self.records(), Patch::Merge(patch));
        let by = PatchParams::default();
        records.patch_status(record, &by, &patch).await.unwrap();
    }

    /// How often a record was written, or was to be.
    pub(crate) async fn written(&self, record: &str, times: i64) {
        let patch = Patch::Merge(json!({ "status": { "writeCounter": times } }));
        let (records, by) = (self.records(), PatchParams::default());
        records.patch_status(record, &by, &patch).await.unwrap();
    }

    pub(crate) async fn ready(&self, record: &str) {
        self.stand(record, "True", "ProviderSuccess").await;
    }

    pub(crate) async fn delete_policy(&self, name: &str) {
        self.delete_policy_as(name, &DeleteParams::default()).await;
    }

    pub(crate) async fn delete_policy_as(&self, name: &str, how: &DeleteParams) {
        self.policies().delete(name, how).await.unwrap();
    }

    /// Waits until a record belongs to these.
    pub(crate) async fn until_owned(&self, record: &str, expected: &[&str]) -> api::DnsRecord {
        let what = format!("{record} of {expected:?}");
        let seen = eventually(SOON, &what, async || {
            let record = self.records().get_opt(record).await.unwrap();
            let record = record.ok_or("nothing")?;
            let owners = owners(&record);
            if owners == expected {
                Ok(record)
            } else {
                Err(format!("{owners:?}"))
            }
        });
        seen.await.unwrap()
    }

    pub(crate) async fn delete_gateway(&self) {
        let gateways = self.gateways();
        gateways
            .delete("gw", &DeleteParams::default())
            .await
            .unwrap();
    }

    /// The types of the Gateway's conditions, and who affects it.
    pub(crate) async fn gateway_conditions(&self) -> Vec<String> {
        let gateway = self.gateways().get("gw").await.unwrap();
        let status = gateway.status.unwrap_or_default();
        let conditions = status.other.get("conditions").and_then(Value::as_array);
        let conditions = conditions.cloned().unwrap_or_default();
        let shown = conditions.iter().map(|it| {
            let (type_, message) = (it["type"].as_str().unwrap(), it["message"].as_str());
            format!("{type_}: {}", message.unwrap_or_default())
        });
        shown.collect()
    }

    /// Waits until the Gateway says so.
    pub(crate) async fn until_affected(&self, by: Option<&str>) {
        let ours = by.map(|by| {
            let namespace = &self.namespace;
            format!(
                "kuadrant.io/DNSPolicyAffected: Object affected by DNSPolicy [{namespace}/{by}]"
            )
        });
        let what = format!("{ours:?}");
        let seen = eventually(SOON, &what, async || {
            let all = self.gateway_conditions().await;
            let is = all
                .iter()
                .find(|it| it.starts_with("kuadrant.io/"))
                .cloned();
            if is == ours {
                Ok(())
            } else {
                Err(format!("{all:?}"))
            }
        });
        seen.await.unwrap();
    }

    /// What is measured, as it is shown.
    pub(crate) fn measured(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }

    /// Waits until all these lines are measured.
    pub(crate) async fn until_measured(&self, lines: &[String]) {
        let seen = eventually(SOON, "what is measured", async || {
            let measured = self.measured();
            let missing = lines
                .iter()
                .find(|line| !measured.lines().any(|it| it == *line));
            match missing {
                None => Ok(()),
                Some(line) => Err(format!("no {line} in {measured}")),
            }
        });
        seen.await.unwrap();
    }

    /// Waits until there are exactly these Events: about whom, and why.
    pub(crate) async fn until_told(&self, expected: &[&str]) {
        let events: Api<Event> = self.api();
        let seen = eventually(SOON, "Events", async || {
            let events = events.list(&ListParams::default()).await.unwrap();
            let told = events.into_iter().map(|it| {
                let about = it.regarding.and_then(|it| it.name).unwrap_or_default();
                format!("{about} {}", it.reason.unwrap_or_default())
            });
            let told: Vec<String> = told.collect();
            if told == expected {
                Ok(())
            } else {
                Err(format!("{told:?}"))
            }
        });
        seen.await.unwrap();
    }

    pub(crate) async fn version(&self, policy: &str) -> String {
        let object = self.policies().get(policy).await.unwrap();
        object.resource_version().unwrap()
    }
}

async fn install(client: &Client, definitions: &[CustomResourceDefinition]) {
    let installed = testkit::crds::install(client, definitions);
    installed.await.unwrap();
}

fn address_type(address: &str) -> &'static str {
    match address.parse::<IpAddr>() {
        Ok(_) => "IPAddress",
        Err(_) => "Hostname",
    }
}

/// `name TYPE target…`, of the endpoints of a record.
pub(crate) fn endpoints(record: &api::DnsRecord) -> Vec<String> {
    let endpoints = record.spec.endpoints.iter();
    let shown = endpoints.map(|it| {
        let targets = it.targets.join(" ");
        format!("{} {} {targets}", it.dns_name, it.record_type)
    });
    shown.collect()
}

/// Whom a record belongs to, and how.
pub(crate) fn owners(record: &api::DnsRecord) -> Vec<String> {
    let owners = record.metadata.owner_references.iter().flatten();
    let shown = owners.map(|it| match it.controller {
        Some(true) => format!("{} controls", it.name),
        Some(false) | None => format!("{} inherits", it.name),
    });
    shown.collect()
}

fn spec(listeners: &[&str]) -> Vec<Value> {
    let listener = |(text, port): (&&str, u16)| {
        let mut words = text.split(' ');
        let mut listener = json!({ "name": words.next(), "port": port, "protocol": "HTTP" });
        if let Some(host) = words.next() {
            listener["hostname"] = json!(host);
        }
        listener
    };
    listeners.iter().zip(80..).map(listener).collect()
}
