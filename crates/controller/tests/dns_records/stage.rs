//! The loop over DNSRecords with a provider in memory: on an API in the same process, where the clock waits for nobody, or
//! on kube-apiserver, where everything takes its time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::dns_record::DnsRecordStatus;
use api::parse::provider_secret::{Credentials, ProviderKind, ProviderSecret};
use apiserver::Apiserver;
use controller::health::Pulse;
use controller::{
    Clock, DnsRecordOptions, DnsRecords, Metrics, Neighbour, Open, Opened, Running, Surroundings,
};
use dns::hosted::{Held, HostedKey, HostedSet};
use dns::{Name, Rdata, RecordSet, Rtype, Ttl};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use prometheus_client::registry::Registry;
use provider::{Boxed, Error, InMemory, Provider, ZoneId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::dns_record::Pace;
use reconcile::hosted::GuardRules;
use reconcile::hosting::HostingPolicy;
use reconcile::probing::Probing;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// When the clock starts.
const START: &str = "2026-03-04T05:06:07Z";

/// How often something is looked at that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// More than anything takes on the clock of these tests.
const SOON: Duration = Duration::from_mins(2);

/// Which API.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Embedded,
    Real,
}

pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// The way that the loop takes to the API.
    pub(crate) way: Client,
    pub(crate) provider: Arc<InMemory>,
    pub(crate) zone: ZoneId,
    /// The credentials that the provider was opened with, one after the other.
    pub(crate) opened: Arc<Mutex<Vec<Credentials>>>,
    pub(crate) options: DnsRecordOptions,
    pub(crate) registry: Registry,
    pub(crate) neighbours: Option<mpsc::Sender<Neighbour>>,
    clock: Clock,
    running: Option<Running>,
    _apiserver: Option<Apiserver>,
}

/// Leads every Secret to the provider of the test, and remembers with which credentials.
struct Always {
    provider: Arc<InMemory>,
    opened: Arc<Mutex<Vec<Credentials>>>,
}

impl Open for Always {
    fn open<'a>(
        &'a self,
        _: &'a str,
        access: &'a ProviderSecret,
    ) -> Boxed<'a, Result<Opened, Error>> {
        let zone = access.place.as_ref().map(|place| place.zone.clone());
        let credentials = access.credentials.clone();
        self.opened.lock().unwrap().push(credentials);
        Box::pin(std::future::ready(Ok(Opened {
            provider: Arc::clone(&self.provider) as Arc<dyn Provider>,
            zone: ZoneId(zone.unwrap_or_default()),
        })))
    }
}

pub(crate) fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

impl Stage {
    /// A namespace with a Secret `dns` for `example.org`, whose zone is there, and nobody running.
    pub(crate) async fn open() -> Stage {
        Stage::at(Home::Embedded).await
    }

    /// The same on either API.
    pub(crate) async fn at(home: Home) -> Stage {
        let (client, apiserver) = match home {
            Home::Embedded => {
                let options = apiserver::Options::default();
                let apiserver = Apiserver::open(options).await.unwrap();
                (apiserver.client(), Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                (plane.client(Identity::Admin), None)
            }
        };
        testkit::crds::install(&client, &api::crds::all())
            .await
            .unwrap();
        let (namespace, narrowed) = match home {
            Home::Embedded => (own_namespace(&client).await, Vec::new()),
            // Others use it, too.
            Home::Real => {
                let namespace = testkit::namespace(&client, "web").await.unwrap();
                (namespace.clone(), vec![namespace])
            }
        };
        let stage = Stage {
            way: client.clone(),
            client,
            provider: Arc::new(InMemory::default()),
            zone: ZoneId("example.org".to_owned()),
            opened: Arc::default(),
            options: DnsRecordOptions {
                namespaces: narrowed,
                ..options()
            },
            namespace,
            registry: Registry::default(),
            neighbours: None,
            clock: Clock::starting_at(START.parse().unwrap()),
            running: None,
            _apiserver: apiserver,
        };
        stage
            .provider
            .create_zone(&stage.zone, &name("example.org."));
        stage
            .secret(
                "dns",
                &[("ZONE_ID", "example.org"), ("DOMAIN_NAME", "example.org")],
            )
            .await;
        stage
    }

    /// A second zone for `example.org`, and a Secret for it.
    pub(crate) async fn second_zone(&self, zone: &str, secret: &str) {
        let id = ZoneId(zone.to_owned());
        self.provider.create_zone(&id, &name("example.org."));
        let place = [("ZONE_ID", zone), ("DOMAIN_NAME", "example.org")];
        self.secret(secret, &place).await;
    }

    /// Where everything runs already.
    pub(crate) async fn running() -> Stage {
        let mut stage = Stage::open().await;
        stage.run();
        stage
    }

    pub(crate) fn run(&mut self) {
        let (neighbours, noticed) = mpsc::channel(16);
        self.neighbours = Some(neighbours);
        let mut registry = Registry::default();
        let metrics = Metrics::new(&mut registry);
        self.registry = registry;
        let records = DnsRecords {
            around: Surroundings {
                client: self.way.clone(),
                clock: self.clock,
                chance: StdRng::seed_from_u64(1),
                leading: watch::channel(true).1,
                metrics,
                pulse: Pulse::new(Instant::now()),
                identity: "test".to_owned(),
            },
            options: self.options.clone(),
            open: Arc::new(Always {
                provider: Arc::clone(&self.provider),
                opened: Arc::clone(&self.opened),
            }),
            neighbours: noticed,
            after: Box::pin(std::future::ready(())),
        };
        self.running = Some(records.start());
    }

    pub(crate) async fn stop(&mut self) {
        assert!(self.running.take().unwrap().shutdown(SOON).await);
    }

    /// Waits until nothing is due.
    pub(crate) async fn settled(&mut self) {
        assert!(self.running.as_mut().unwrap().settled(SOON).await);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn secret(&self, name: &str, data: &[(&str, &str)]) {
        self.typed_secret(name, "kuadrant.io/inmemory", data).await;
    }

    pub(crate) async fn typed_secret(&self, name: &str, kind: &str, data: &[(&str, &str)]) {
        let data: BTreeMap<_, _> = data.iter().copied().collect();
        let secret: Secret = serde_json::from_value(json!({
            "metadata": { "name": name },
            "type": kind,
            "stringData": data,
        }))
        .unwrap();
        self.secrets()
            .create(&PostParams::default(), &secret)
            .await
            .unwrap();
    }

    /// Changes what a Secret says.
    pub(crate) async fn patch_secret(&self, name: &str, patch: Value) {
        let (secrets, patch) = (self.secrets(), Patch::Merge(patch));
        let patched = secrets.patch(name, &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    pub(crate) async fn delete_secret(&self, name: &str) {
        let secrets = self.secrets();
        secrets
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn records(&self) -> Api<api::DnsRecord> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates a DNSRecord below `example.org`, published with the Secret `dns`. `endpoints` are `name TTL TYPE target…`.
    pub(crate) async fn create(&self, record: &str, endpoints: &[&str]) {
        self.create_with(record, json!({}), endpoints).await;
    }

    pub(crate) async fn create_with(&self, record: &str, more: Value, endpoints: &[&str]) {
        let mut spec = json!({
            "rootHost": format!("{record}.example.org"),
            "providerRef": { "name": "dns" },
            "endpoints": shown(endpoints),
        });
        merge(&mut spec, more);
        let object = serde_json::from_value(json!({
            "metadata": { "name": record },
            "spec": spec,
        }));
        let created = self
            .records()
            .create(&PostParams::default(), &object.unwrap())
            .await;
        created.unwrap();
    }

    pub(crate) async fn edit(&self, record: &str, endpoints: &[&str]) {
        self.patch(record, json!({ "spec": { "endpoints": shown(endpoints) } }))
            .await;
    }

    pub(crate) async fn patch(&self, record: &str, patch: Value) {
        let (records, patch) = (self.records(), Patch::Merge(patch));
        let patched = records.patch(record, &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    pub(crate) async fn patch_status(&self, record: &str, patch: Value) {
        let (records, patch) = (self.records(), Patch::Merge(json!({ "status": patch })));
        let patched = records
            .patch_status(record, &PatchParams::default(), &patch)
            .await;
        patched.unwrap();
    }

    pub(crate) async fn annotate(&self, record: &str, key: &str, value: &str) {
        self.patch(
            record,
            json!({ "metadata": { "annotations": { key: value } } }),
        )
        .await;
    }

    pub(crate) async fn delete(&self, record: &str) {
        self.records()
            .delete(record, &DeleteParams::default())
            .await
            .unwrap();
    }

    pub(crate) async fn status(&self, record: &str) -> DnsRecordStatus {
        let object = self.records().get(record).await.unwrap();
        object.status.unwrap_or_default()
    }

    /// `Ready=False/AwaitingValidation`, of one condition.
    pub(crate) async fn condition(&self, record: &str, type_: &str) -> Option<String> {
        let status = self.status(record).await;
        let condition = status.conditions.iter().find(|it| it.type_ == type_)?;
        Some(format!("{}/{}", condition.status, condition.reason))
    }

    pub(crate) async fn message(&self, record: &str, type_: &str) -> String {
        let status = self.status(record).await;
        let condition = status.conditions.iter().find(|it| it.type_ == type_);
        condition.map(|it| it.message.clone()).unwrap_or_default()
    }

    /// Waits until a condition says so, and tells how long that took.
    pub(crate) async fn until(&self, record: &str, type_: &str, says: &str) -> Duration {
        let began = Instant::now();
        let mut last = None;
        while began.elapsed() < minutes(60) {
            last = self.condition(record, type_).await;
            if last.as_deref() == Some(says) {
                return began.elapsed();
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        panic!(
            "{record} says {type_} {last:?}, not {says}: {}",
            self.message(record, type_).await
        );
    }

    pub(crate) async fn until_ready(&self, record: &str) -> Duration {
        self.until(record, "Ready", "True/ProviderSuccess").await
    }

    /// Waits until a record is gone.
    pub(crate) async fn until_gone(&self, record: &str) {
        let began = Instant::now();
        while self.records().get_opt(record).await.unwrap().is_some() {
            assert!(began.elapsed() < minutes(60), "{record} does not go");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Lets time pass.
    pub(crate) async fn pass_time(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// The data that the provider holds at a name below `example.org`, marks left out.
    pub(crate) fn held(&self, label: &str, rtype: Rtype) -> Option<String> {
        let key = HostedKey::plain(name(&format!("{label}.example.org.")), rtype);
        let holdings = self.provider.holdings(&self.zone);
        let set = holdings.get(&key)?.set()?;
        let data: Vec<String> = set.records.data().iter().map(ToString::to_string).collect();
        Some(format!("{} {}", set.records.ttl(), data.join(" ")))
    }

    pub(crate) fn addresses(&self, label: &str) -> Option<String> {
        self.held(label, Rtype::A)
    }

    /// How many sets the provider holds, the SOA left out.
    pub(crate) fn sets(&self) -> usize {
        self.provider.holdings(&self.zone).len() - 1
    }

    /// Somebody else writes to the provider.
    pub(crate) fn tamper(&self, label: &str, addresses: &[&str]) {
        let ttl = Ttl::from_secs(60).unwrap();
        let data = addresses.iter().map(|text| {
            let data = Rdata::parse(Rtype::A, text, &Name::root());
            (ttl, data.unwrap())
        });
        let set = RecordSet::new(data).ok();
        let key = HostedKey::plain(name(&format!("{label}.example.org.")), Rtype::A);
        let held = set.map(|set| Held::Set(HostedSet::plain(set)));
        self.provider.tamper(&self.zone, &key, held);
    }

    /// Whether a name below `example.org` has an address in a zone.
    pub(crate) fn is_in(&self, zone: &str, label: &str) -> bool {
        let key = HostedKey::plain(name(&format!("{label}.example.org.")), Rtype::A);
        let holdings = self.provider.holdings(&ZoneId(zone.to_owned()));
        holdings.contains_key(&key)
    }

    /// When the last full pass over a record began.
    pub(crate) async fn queued_at(&self, record: &str) -> Timestamp {
        self.status(record).await.queued_at.unwrap().0
    }

    /// Waits until the next full pass over a record, and tells how long that took. The longer it may take, the less often
    /// it is looked at.
    pub(crate) async fn until_passed(&self, record: &str, within: Duration) -> Option<Duration> {
        let (began, before) = (Instant::now(), self.queued_at(record).await);
        let every = LOOK_EVERY.max(within / 600);
        while began.elapsed() < within {
            if self.queued_at(record).await != before {
                return Some(began.elapsed());
            }
            tokio::time::sleep(every).await;
        }
        None
    }

    /// What is measured, as it is shown.
    pub(crate) fn measured(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).unwrap();
        text
    }

    /// The version of a record.
    pub(crate) async fn version(&self, record: &str) -> String {
        self.records()
            .get(record)
            .await
            .unwrap()
            .resource_version()
            .unwrap()
    }
}

async fn own_namespace(client: &Client) -> String {
    let namespace = serde_json::from_value(json!({ "metadata": { "name": "web" } }));
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let created = namespaces
        .create(&PostParams::default(), &namespace.unwrap())
        .await;
    created.unwrap().name_any()
}

pub(crate) fn options() -> DnsRecordOptions {
    DnsRecordOptions {
        namespaces: Vec::new(),
        pace: Pace {
            valid_for: minutes(14),
            requeue: minutes(15),
            write_limit: 20,
            retry: true,
        },
        validation: Duration::from_secs(5),
        debounce: Duration::from_millis(50),
        policy: HostingPolicy {
            enabled: ProviderKind::ALL.into(),
            discovery: false,
            probing: Probing {
                enabled: true,
                insecure: false,
            },
        },
        guard: GuardRules {
            percent_max: 30,
            deletions: false,
        },
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn shown(endpoints: &[&str]) -> Value {
    let endpoint = |text: &&str| {
        let words: Vec<&str> = text.split(' ').collect();
        json!({
            "dnsName": format!("{}.example.org", words[0]),
            "recordTTL": words[1].parse::<i64>().unwrap(),
            "recordType": words[2],
            "targets": &words[3..],
        })
    };
    endpoints.iter().map(endpoint).collect()
}

fn merge(into: &mut Value, more: Value) {
    let (Value::Object(into), Value::Object(more)) = (into, more) else {
        return;
    };
    into.extend(more);
}
